"""How much predictions need a feature.

`permutation` is the general one, `variable_importance` has MVIM, CVIM and adjusted MVIM, `loco`
trains without the feature, `flatness` is the spread of partial dependence, and `native` is what a
fitted model reports.
`marginal_losses`, `weighted_losses` and `conditional_losses` are those of rows whose feature is
replaced;
`relation` compares two risks; `metric_importance` is for metrics that are no mean over rows.
"""
