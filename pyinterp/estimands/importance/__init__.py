"""How much predictions need a feature.

`permutation` is the general one, and `variable_importance` has MVIM, CVIM and adjusted MVIM. `loco`
trains without the feature. `flatness` is the spread of partial dependence. `native` is the
importance that a fitted model reports.
`losses` measures the losses of rows whose feature is replaced;
`relation` compares two risks; `metric_importance` is for metrics that are no mean over rows.
"""
