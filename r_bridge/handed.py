"""Models of Python, handed to R: R's code and ours run on the identical prediction function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.errors import DataError, OptionError, did_you_mean
from pyinterp.estimands.scales import scaled
from pyinterp.fitted import FittedModel
from pyinterp.interpretable import Interpretable
from pyinterp.r_style import classes_in_order
from pyinterp.sample import FloatArray, as_frame
from r_bridge.conversion import frame_from_r
from r_bridge.session import SESSION

__all__ = ["Handed", "Rows", "hand_over"]

Rows: TypeAlias = pd.DataFrame | Any


@dataclass(frozen=True)
class Handed:
    """A prediction function with the rows that R is given as training data.

    Attributes
    ----------
    rows : pandas.DataFrame
        The model's variables.
    classes : tuple of str or None
        Names of the classes, in order.
    counted : tuple of str
        The classes in the order in which pdp counts them: of binomial models, as of R's glm, the
        event first.
    """

    rows: pd.DataFrame
    classes: tuple[str, ...] | None
    counted: tuple[str, ...]
    _predict: Callable[[pd.DataFrame], FloatArray]

    @property
    def task(self) -> str:
        """What R calls it."""
        return "regression" if self.classes is None else "classification"

    def predict(self, variables: pd.DataFrame) -> FloatArray:
        """Return predictions, shape (n,) or (n, number of classes); missing where a value is."""
        own = self.restored(variables[list(self.rows.columns)])
        complete = ~own.isna().any(axis=1).to_numpy(dtype=bool)
        if complete.all():
            return self._predict(own)
        shape = (len(own),) if self.classes is None else (len(own), len(self.classes))
        predicted = np.full(shape, np.nan)
        if complete.any():
            predicted[complete] = self._predict(own[complete].reset_index(drop=True))
        return predicted

    def restored(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame that comes from R with the dtypes that the rows have."""
        return pd.DataFrame(
            {
                name: _restored(column, self.rows[name]) if name in self.rows else column
                for name, column in frame.items()
            }
        )

    def log_odds(self, position: int) -> Handed:
        """Return a regression whose predictions are the log-odds of one of two classes.

        Raises
        ------
        OptionError
            If there are not two classes.
        """
        if self.classes is None or len(self.classes) != 2:
            raise OptionError(
                'The `type="regression"` of a classifier is its log-odds, which need two classes; '
                f"this one has {len(self.classes or ())}."
            )

        def predict(variables: pd.DataFrame) -> FloatArray:
            values: FloatArray = scaled(self._predict(variables), (position,), "logit")[0]
            return values

        return replace(self, classes=None, counted=(), _predict=predict)

    def in_r(self) -> Any:
        """Return the model as an object of R with a `predict` method."""
        called = SESSION.function(self.predict, ["newdata"], convert=frame_from_r)
        classes = None if self.classes is None else list(self.classes)
        model = SESSION.helper("model_of", called, classes)
        model.kept_alive = called
        return model


def hand_over(model: Any, data: Rows, classes: Sequence[Any] | None = None) -> Handed:
    """Return a model's prediction function.

    Parameters
    ----------
    model : estimator, function, statsmodels results, FittedModel or LearnerResults
        Of a learner, the mean over its refits.
    data : DataFrame or array, optional
        Rows with the model's variables; those that `model` brings along by default.
    classes : sequence, optional
        For a function that returns class probabilities.
    """
    if not isinstance(model, Interpretable):
        if data is None:
            raise OptionError("`data` must be given: the model does not bring along its rows.")
        analysis = FittedModel(model, data, classes=classes)._analysis
    else:
        analysis = model._analysis
    own = analysis.subject.population.variables
    refits = analysis.estimating

    def predict(variables: pd.DataFrame) -> FloatArray:
        predicted = [r.predictor(r.design.encode(variables)) for r in refits]
        return predicted[0] if len(predicted) == 1 else np.mean(predicted, axis=0)

    rows = own if data is None else _rows(data, list(own.columns))
    predictor = analysis.subject.predictor
    counted = tuple(map(str, classes_in_order(predictor)))
    known = None if predictor.classes is None else tuple(map(str, predictor.classes))
    return Handed(rows, known, counted, predict)


def _rows(data: Rows, names: list[str]) -> pd.DataFrame:
    frame = as_frame(data)
    absent = [name for name in names if name not in frame]
    if absent and len(absent) == len(names) == frame.shape[1]:
        return frame.set_axis(names, axis=1)  # an array: the model knows the columns' names
    if absent:
        raise DataError(
            f"`data` must have the variable `{absent[0]}`." + did_you_mean(absent[0], frame)
        )
    return frame[names]


def _restored(column: pd.Series[Any], like: pd.Series[Any]) -> pd.Series[Any]:
    dtype = like.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        known = {str(level): level for level in dtype.categories}
        values = [known.get(str(v)) if pd.notna(v) else None for v in column]
        return pd.Series(pd.Categorical(values, dtype=dtype), index=column.index)
    exact = isinstance(dtype, pd.StringDtype) or column.dtype.kind in "iub"
    if exact and not column.isna().any():
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_float_dtype(dtype):
            return column.astype(dtype)
        if not pd.api.types.is_numeric_dtype(dtype):
            return column.astype(dtype)
    return column
