"""Models with an offset: the last column of their rows is a part of the linear predictor.

The column travels with the rows like any other, through designs, resamples and what-if copies, and
reaches the model as the offset that its library calls `offset`, `base_margin` or `init_score`.

Without an offset XGBoost and LightGBM start at the mean of the response. With one they start at the
offset itself, a rate of 1 per unit of exposure, so that the unit would decide what few trees learn.
They are therefore given the offset and a constant, which balances totals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from pyinterp._typing import FloatArray, Matrix
from pyinterp.errors import OptionError, quote
from pyinterp.models.aims import aim_of
from pyinterp.models.copies import fresh
from pyinterp.models.early_stopping import booster_of
from pyinterp.models.final_step import innermost
from pyinterp.models.libraries import library_of
from pyinterp.models.library import Aim, Offset
from pyinterp.models.links import Link, exponential, only_sum
from pyinterp.models.objectives import CANONICAL, OBJECTIVES, links_of, objective_of, start_of
from pyinterp.models.predictor import Kind, is_classifier, learner_name
from pyinterp.models.sample_weight import weight_option

# How far predictions may add up from responses, of the sum of the response's sizes.
FAR = 0.05
# Learners that take weights alone learn rates.
RATES = Offset("rates")


def check_takes_offset(estimator: Any, *, exposure: bool, trained: bool = False) -> None:
    """Raise `OptionError` unless an estimator, or a trained model, takes offsets or exposures."""
    offset, booster = _offset_of(estimator), booster_of(estimator)
    rates = library_of(innermost(estimator)).rates
    if offset is RATES and not (exposure and (rates == "all" or trained)):
        raise OptionError(_refusal(estimator))
    if offset.linear and not (trained and offset.base) and objective_of(booster) not in OBJECTIVES:
        raise OptionError(
            f"With an offset the objective of {learner_name(estimator)} must be one of "
            f"{', '.join(OBJECTIVES)}, not {quote(objective_of(booster))}."
        )
    if exposure and offset is not RATES and not aim_of(estimator).family:
        raise OptionError(
            "`exposure` is for models with a logarithmic link, where its logarithm is the offset, "
            f"but {learner_name(estimator)} has another; pass `offset` on the scale of the linear "
            "predictor."
        )


class OffsetModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """An estimator, or a fitted model, that is given the last column of rows as its offset.

    Parameters
    ----------
    estimator : estimator
        Takes the other columns.
    name : str
        What tables call the offset.
    fitted : bool
        Whether `estimator` is fitted already.
    """

    def __init__(self, estimator: Any, name: str, *, fitted: bool = False) -> None:
        self.estimator = estimator
        self.name = name
        self.fitted = fitted

    @property
    def inside(self) -> Any:
        """The fitted model."""
        return self.estimator if self.fitted else self.estimator_

    @property
    def note(self) -> str:
        """Footnote on a model that knows no offset; empty if it takes one."""
        name, offset = learner_name(self.estimator), _offset_of(self.inside)
        if offset is RATES:
            return f"{name} is taken to predict rates: predictions are these times the exposure."
        if offset.base:
            return (
                f"{name} is taken to be trained with `{offset.keyword}`, which replaces its base "
                "score."
            )
        return ""

    @property
    def log_link(self) -> bool:
        """Whether predictions are rates times the exposure, whose logarithm the offset is."""
        return _offset_of(self.inside) is RATES or bool(aim_of(self.inside).family)

    @property
    def aim(self) -> Aim:
        """What predictions are."""
        aim = aim_of(self.inside)
        rate = self.log_link and not aim.no_mean
        return replace(aim, name="rate per exposure", words=self.learner_name) if rate else aim

    def link(self, kind: Kind) -> Link | None:
        """Return the inverse link, from a linear predictor with the offset; None if not known."""
        if self.log_link:
            return exponential
        results = getattr(self.inside, "results_", self.inside)
        of_results = library_of(results).link(results, kind)
        return only_sum if _offset_of(self.inside).linear else of_results

    @property
    def learner_name(self) -> str:
        """What tables call it."""
        return f"{learner_name(self.estimator)}, offset {self.name}"

    @property
    def classes_(self) -> Any:
        """The classes of the fitted model, if it has some."""
        return self.inside.classes_

    def fit(self, X: Matrix, y: npt.ArrayLike, **options: Any) -> OffsetModel:
        """Fit a copy of the estimator, with options of its own `fit`.

        Learners that take weights alone are fitted to rates, count / exposure, each weighted by its
        exposure: a Poisson model of counts with the offset has the same score. Boosters are trained
        at the offset and a constant, `base_`. `total_` is the sum of their predictions by that of
        responses, if these are far apart although the loss balances them, and 1 otherwise.
        """
        model = self.estimator_ = fresh(self.estimator)
        rows, offset = _apart(X)
        given = _offset_of(model)
        if given.linear:
            booster = booster_of(model)
            response = np.asarray(y, np.float64)
            weights = options.get("sample_weight", np.ones(len(response)))
            self.base_ = start_of(booster, response, offset, weights)
            if given.base:  # `predict` adds it, so that it is to be 0
                booster.set_params(**{given.base: float(links_of(booster)[1](0.0))})
            model.fit(rows, y, **{given.keyword: offset + self.base_}, **options)
            sums = weights @ np.column_stack([self._mean(X), response, np.abs(response)])
            far = objective_of(booster) in CANONICAL and abs(sums[0] - sums[1]) > FAR * sums[2]
            self.total_ = float(sums[0] / sums[1]) if far and sums[1] else 1.0
        elif given is RATES:
            weight = str(weight_option(model))
            sampling = options.pop(weight, np.ones(len(offset)))
            # In units of the mean exposure: penalties and base scores then see no other.
            self.unit_ = float(np.average(np.exp(offset), weights=sampling))
            exposure = np.exp(offset) / self.unit_
            weights = exposure * sampling
            model.fit(rows, np.asarray(y) / exposure, **{weight: weights}, **options)
        else:
            model.fit(rows, y, **{given.keyword: offset}, **options)
        return self

    def predict(self, X: Matrix) -> Any:
        """Predict with the offset."""
        return self._predictions(X, "predict")

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]  # as above
    def predict_proba(self, X: Matrix) -> Any:
        """Predict probabilities of classes with the offset."""
        return self._predictions(X, "predict_proba")

    def _predictions(self, X: Matrix, method: str) -> Any:
        """Return predictions by a method of the model for rows with the offset as last column."""
        model, (rows, offset) = self.inside, _apart(X)
        given, predict = _offset_of(model), getattr(model, method)
        if given is RATES:
            unit = 1.0 if self.fitted else self.unit_
            return np.exp(offset) / unit * np.asarray(predict(rows)).reshape(-1)
        if not given.linear or (self.fitted and given.base):
            return predict(rows, **{given.keyword: offset}, **given.beside)
        return self._mean(X)

    def _mean(self, X: Matrix) -> FloatArray:
        """Return the mean that a booster predicts.

        The offset is added here: LightGBM leaves it out, and XGBoost has single precision.
        """
        model, (rows, offset) = self.inside, _apart(X)
        linear = model.predict(rows, **{_offset_of(model).linear: True})
        start = 0.0 if self.fitted else self.base_
        return np.asarray(
            links_of(booster_of(model))[1](np.asarray(linear, np.float64) + offset + start)
        )

    def __sklearn_tags__(self) -> Tags:
        if hasattr(self.estimator, "__sklearn_tags__"):
            return self.estimator.__sklearn_tags__()
        return super().__sklearn_tags__()


def _offset_of(estimator: Any) -> Offset:
    """Return how an estimator, or a fitted model, is given an offset.

    `RATES` for regressors that take weights. Others raise `OptionError`.
    """
    model = booster_of(estimator)
    library = library_of(model)
    offset = Offset("offset") if getattr(model, "takes_offset", False) else library.offset(model)
    if offset is not None:
        return offset
    predicts = callable(getattr(model, "predict", None)) and not is_classifier(model)
    trained = not hasattr(model, "fit") or weight_option(model) is not None
    if not library.rates or not predicts or not trained:
        raise OptionError(_refusal(model))
    return RATES


def _refusal(estimator: Any) -> str:
    """Return the sentence on a learner that takes no offset, with those that do."""
    return (
        f"{learner_name(estimator)} takes no offset; those that do are statsmodels_learner of GLM, "
        "Logit, Poisson or NegativeBinomial, and regressors of XGBoost and LightGBM; in R's glm, "
        "gam and lm `offset(...)` is a term. Other regressors that take `sample_weight` take an "
        "`exposure`, but CatBoost, which starts at a rate of 1 in any unit."
    )


def _apart(matrix: Matrix) -> tuple[Matrix, FloatArray]:
    """Return the columns of the model, and the offset."""
    if isinstance(matrix, pd.DataFrame):
        return matrix.iloc[:, :-1], matrix.iloc[:, -1].to_numpy(np.float64)
    if not isinstance(matrix, np.ndarray):
        frame = nw.from_native(cast(Any, matrix), eager_only=True)
        return frame[:, :-1].to_native(), frame[:, -1].to_numpy().astype(np.float64)
    # Copies, as LightGBM warns of slices.
    return matrix[:, :-1].copy(), matrix[:, -1].astype(np.float64)
