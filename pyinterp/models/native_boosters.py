"""Boosters that XGBoost, LightGBM and CatBoost train without their scikit-learn classes."""

from __future__ import annotations

import json
import re
from typing import Any

from pyinterp.errors import OptionError

# Losses of CatBoost whose `predict` is on another scale than the response, by the kind of
# prediction that is not.
SCORES = {
    "Probability": {"CrossEntropy", "Focal", "Logloss", "MultiClass", "MultiClassOneVsAll"},
    "Exponent": {"Poisson", "Tweedie"},
}
PROBABILITIES = {"binary:logistic", "binary", "multi:softprob", "multiclass"}


class Booster:
    """A booster of XGBoost or LightGBM as a function of rows.

    Parameters
    ----------
    booster : xgboost.Booster or lightgbm.Booster

    Attributes
    ----------
    feature_names_in_ : list of str or None
        Names of its columns; None if it was trained on an array.
    n_features_in_ : int
    classes : tuple of int or None
        0, 1, ..., if it predicts probabilities.
    code : str
        How the booster is asked for predictions.
    """

    learner_name = "Booster"

    def __init__(self, booster: Any) -> None:
        self.booster = booster
        self._of_xgboost = _package(booster) == "xgboost"
        self.code = f"model.predict({'xgboost.DMatrix(X)' if self._of_xgboost else 'X'})"
        if self._of_xgboost:
            self.feature_names_in_ = booster.feature_names
            self.n_features_in_ = booster.num_features()
        else:
            names = booster.feature_name()
            numbered = names == [f"Column_{j}" for j in range(len(names))]
            self.feature_names_in_ = None if numbered else names
            self.n_features_in_ = booster.num_feature()
        objective, k = _objective(booster)
        if objective == "multi:softmax":
            raise OptionError(
                "A native booster must predict numbers or probabilities, but with the objective "
                'multi:softmax it predicts labels; train it with "multi:softprob".'
            )
        self.classes = tuple(range(max(k, 2))) if objective in PROBABILITIES else None

    def __call__(self, X: Any) -> Any:
        """Return what the booster predicts of rows."""
        if not self._of_xgboost:
            return self.booster.predict(X)
        from xgboost import DMatrix  # noqa: PLC0415 - not a dependency

        return self.booster.predict(DMatrix(X, enable_categorical=True))


def as_function(fitted: Any) -> Any:
    """Return a native booster of XGBoost or LightGBM as a function of rows, others as they are."""
    check_scores(fitted)
    return Booster(fitted) if _is_booster(fitted) else fitted


def check_not_native(estimator: Any) -> None:
    """Raise `OptionError` if a learner is a native booster, which is fitted already."""
    check_scores(estimator)
    if _is_booster(estimator):
        kind = {"xgboost": "XGB", "lightgbm": "LGBM"}[_package(estimator)]
        raise OptionError(
            "A learner must be trained again on other rows, but a native Booster is fitted and has "
            f"no `fit`; use {kind}Regressor or {kind}Classifier, or explain this fit by "
            "`pi.FittedModel(booster, X, y)`."
        )


def check_scores(model: Any) -> None:
    """Raise `OptionError` if a model of CatBoost's general class predicts scores."""
    if _package(model) != "catboost" or type(model).__name__ != "CatBoost":
        return
    # Read from a file, it has no parameters of its own.
    params = model.get_all_params() if model.is_fitted() else model.get_params()
    loss = str(params.get("loss_function", params.get("objective", "RMSE")))
    for kind, losses in SCORES.items():
        if loss.partition(":")[0] in losses:
            classes = ", with `classes=`" if kind == "Probability" else ""
            raise OptionError(
                f"Predictions must be on the scale of the response, but CatBoost with the loss "
                f"{loss} predicts scores; use CatBoostClassifier or CatBoostRegressor, or give "
                "pi.FittedModel the function "
                f'`lambda X: model.predict(X, prediction_type="{kind}")`{classes}.'
            )


def _objective(booster: Any) -> tuple[str, int]:
    """Return the name of a booster's objective, empty if it has none, and its number of classes."""
    if _package(booster) == "xgboost":
        learner = json.loads(booster.save_config())["learner"]
        return learner["objective"]["name"], int(learner["learner_model_param"]["num_class"])
    text = booster.model_to_string(num_iteration=1)
    name = re.search(r"^objective=(\S+)", text, re.MULTILINE)
    classes = re.search(r"^num_class=(\d+)", text, re.MULTILINE)
    return name[1] if name else "", int(classes[1]) if classes else 1


def _is_booster(model: Any) -> bool:
    return type(model).__name__ == "Booster" and _package(model) in ("xgboost", "lightgbm")


def _package(model: Any) -> str:
    return type(model).__module__.partition(".")[0]
