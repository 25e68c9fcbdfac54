"""The kinds of learners of which simulations say how often intervals cover."""

from __future__ import annotations

import re
from typing import Any

from sklearn.model_selection._search import BaseSearchCV

__all__ = ["family_of"]

# The first that matches package and name of a class.
FAMILIES = {
    "single trees": r".*\.(DecisionTree|ExtraTree)(Regressor|Classifier)",
    "forests": r".*\.(RandomForest|ExtraTrees)(Regressor|Classifier)",
    "boosting": r"(lightgbm|xgboost|catboost)\..*|.*\.(Hist)?GradientBoosting\w+",
    "lassos": r".*\.((MultiTask)?(Lasso|ElasticNet)|(Lasso|LassoLars|ElasticNet)CV|LassoLars(IC)?)",
    "linear models": r".*\.Statsmodels(Regressor|Classifier)|sklearn\.linear_model\..*",
    "nearest neighbors": r"sklearn\.neighbors\..*",
}


def family_of(estimator: Any) -> str:
    """Return the kind of a learner, of the last step of pipelines; empty for all others.

    A search is what it searches among; a bag of trees that is not called a forest is no forest.
    """
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        return family_of(steps[-1][1])
    if isinstance(estimator, BaseSearchCV):
        return family_of(estimator.estimator)
    for kind in type(estimator).__mro__:
        for family, pattern in FAMILIES.items():
            if re.fullmatch(pattern, f"{kind.__module__}.{kind.__name__}"):
                return family
    return ""
