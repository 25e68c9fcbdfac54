"""Papers behind the methods of a page."""

from __future__ import annotations

__all__ = ["BY_METHOD"]

BY_METHOD = {
    "pfi": (
        "Breiman (2001). Random forests. Machine Learning 45(1), 5-32.",
        "Fisher, Rudin, Dominici (2019). All models are wrong, but many are useful: learning a "
        "variable's importance by studying an entire class of prediction models simultaneously. "
        "Journal of Machine Learning Research 20(177), 1-81.",
    ),
    "firm": (
        "Greenwell, Boehmke, McCarthy (2018). A simple and effective model-based variable "
        "importance measure. arXiv 1805.04755.",
    ),
    "pd": (
        "Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of "
        "Statistics 29(5), 1189-1232.",
    ),
    "h": (
        "Friedman, Popescu (2008). Predictive learning via rule ensembles. Annals of Applied "
        "Statistics 2(3), 916-954.",
    ),
    "learner": (
        "Molnar, Freiesleben, König, Casalicchio, Wright, Bischl (2021). Relating the partial "
        "dependence plot and permutation feature importance to the data generating process. arXiv "
        "2109.01433.",
    ),
    "corrected": (
        "Nadeau, Bengio (2003). Inference for the generalization error. Machine Learning 52(3), "
        "239-281.",
    ),
    "nested-cv": (
        "Bates, Hastie, Tibshirani (2024). Cross-validation: what does it estimate and how well "
        "does it do it? Journal of the American Statistical Association 119(546), 1434-1445.",
    ),
    "bootstrap": (
        "Khan, Saarela, Kustra (2025). Marginal and conditional importance measures from machine "
        "learning models and their relationship with conditional average treatment effect. "
        "Preprint.",
    ),
}
