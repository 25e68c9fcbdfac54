"""The kinds of learners of which simulations say how often intervals cover."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection._search import BaseSearchCV

__all__ = ["family_of"]

LINEAR, TREES, FORESTS, BOOSTING = "linear models", "single trees", "forests", "boosting"
LASSOS, NEIGHBORS = "lassos", "nearest neighbors"
# By the end of the class's name, or the package that it is from.
NAMES = {
    "DecisionTreeRegressor": TREES,
    "DecisionTreeClassifier": TREES,
    "ExtraTreeRegressor": TREES,
    "ExtraTreeClassifier": TREES,
    "RandomForestRegressor": FORESTS,
    "RandomForestClassifier": FORESTS,
    "ExtraTreesRegressor": FORESTS,
    "ExtraTreesClassifier": FORESTS,
    "GradientBoostingRegressor": BOOSTING,
    "GradientBoostingClassifier": BOOSTING,
    "HistGradientBoostingRegressor": BOOSTING,
    "HistGradientBoostingClassifier": BOOSTING,
    "Lasso": LASSOS,
    "LassoCV": LASSOS,
    "LassoLars": LASSOS,
    "LassoLarsCV": LASSOS,
    "LassoLarsIC": LASSOS,
    "ElasticNet": LASSOS,
    "ElasticNetCV": LASSOS,
    "MultiTaskLasso": LASSOS,
    "MultiTaskElasticNet": LASSOS,
    "StatsmodelsRegressor": LINEAR,
    "StatsmodelsClassifier": LINEAR,
}
PACKAGES = {
    "sklearn.linear_model": LINEAR,
    "sklearn.neighbors": NEIGHBORS,
    "lightgbm": BOOSTING,
    "xgboost": BOOSTING,
    "catboost": BOOSTING,
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
        if kind.__name__ in NAMES:
            return NAMES[kind.__name__]
        for package, family in PACKAGES.items():
            if kind.__module__.startswith(package):
                return family
    return ""
