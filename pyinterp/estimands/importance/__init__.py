"""How much predictions need a feature.

`permutation` is the general one, of losses, likelihoods and entropy. `variable_importance` has
MVIM, CVIM and adjusted MVIM, by CVIM or by an accumulated effect. `loco` trains without the
feature. `sage` has Shapley shares of the loss. `flatness` is the spread of partial dependence.
`native` is the importance that a fitted model reports, and `measures` puts several of them side by
side.
`losses` measures the losses of rows whose feature is replaced, and compares two expected losses;
`metric_importance` is for metrics that are no mean over rows.
"""
