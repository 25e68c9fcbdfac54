"""Models of Python, handed to R: R's code and ours run on the identical prediction function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.frames import as_frame
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.scales import rescale
from pyinterp.learner.fitted_model import FittedModel
from pyinterp.learner.interpretable import Interpretable
from pyinterp.models.model_reader import training_names
from pyinterp.r_style import classes_in_order
from r_bridge.conversion import frame_from_r, level_texts
from r_bridge.names import Translation, columns_by_name
from r_bridge.session import SESSION

__all__ = ["ModelForR", "Rows", "hand_over"]

Rows: TypeAlias = pd.DataFrame | Any

OF_PDP = ("yhat", "yhat.id")  # columns of what pdp returns


@dataclass(frozen=True)
class ModelForR:
    """A prediction function with the rows that R is given as training data.

    Attributes
    ----------
    rows : pandas.DataFrame
        The model's variables.
    classes : tuple of str or None
        Names of the classes, in order.
    class_names : tuple of str
        The classes in the order in which pdp counts them: of binomial models, as of R's glm, the
        event first.
    """

    rows: pd.DataFrame
    classes: tuple[str, ...] | None
    class_names: tuple[str, ...]
    _predict: Callable[[pd.DataFrame], FloatArray]

    @cached_property
    def names(self) -> Translation:
        """R's words for the variables, none of them a column that pdp makes."""
        return Translation(self.rows.columns, taken=OF_PDP)

    @cached_property
    def train(self) -> pd.DataFrame:
        """The rows as R is given them."""
        return self.names.frame_to_r(self.rows)

    def words(self, names: Iterable[str]) -> list[str]:
        """Return R's words for variables."""
        return [self.names.to_r(name) for name in names]

    def predict(self, variables: pd.DataFrame) -> FloatArray:
        """Return predictions, shape (n,) or (n, number of classes)."""
        return self._predict(self.restore(variables[list(self.train.columns)]))

    def restore(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame that comes from R with the names and dtypes that the rows have."""
        restored = {}
        for word, column in frame.items():
            name = self.names.from_r(str(word))
            restored[name] = _restore(column, self.rows[name]) if word in self.names else column
        return pd.DataFrame(restored)

    def log_odds(self, position: int) -> ModelForR:
        """Return a regression whose predictions are the log-odds of one of two classes."""

        def predict(variables: pd.DataFrame) -> FloatArray:
            values: FloatArray = rescale(self._predict(variables), (position,), "logit")[0]
            return values

        return replace(self, classes=None, class_names=(), _predict=predict)

    def in_r(self) -> Any:
        """Return the model as an object of R with a `predict` method."""
        called = SESSION.function(self.predict, ["newdata"], convert=frame_from_r)
        classes = None if self.classes is None else list(self.classes)
        model = SESSION.helper("model_of", called, classes)
        model.kept_alive = called
        return model


def hand_over(model: Any, data: Rows, classes: Sequence[Any] | None = None) -> ModelForR:
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
        analysis = FittedModel(model, _select(model, data), classes=classes).analysis
    else:
        analysis = model.analysis
    rows = analysis.problem.sample.variables
    refits = analysis.estimating

    def predict(variables: pd.DataFrame) -> FloatArray:
        predictions = [r.predictor(r.design.encode(variables)) for r in refits]
        return predictions[0] if len(predictions) == 1 else np.mean(predictions, axis=0)

    if data is not None:
        rows = columns_by_name(data, as_frame(data), list(rows.columns), "data")
    predictor = analysis.problem.predictor
    counted = tuple(map(str, classes_in_order(predictor)))
    labels = None if predictor.classes is None else tuple(level_texts(predictor.classes))
    return ModelForR(rows, labels, counted, predict)


def _restore(column: pd.Series[Any], like: pd.Series[Any]) -> pd.Series[Any]:
    dtype = like.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = {str(level): level for level in dtype.categories}
        values = [levels.get(str(v)) if pd.notna(v) else None for v in column]
        return pd.Series(pd.Categorical(values, dtype=dtype), index=column.index)
    exact = isinstance(dtype, pd.StringDtype) or column.dtype.kind in "iub"
    if exact and not column.isna().any() and not pd.api.types.is_float_dtype(dtype):
        return column.astype(dtype)
    return column


def _select(model: Any, data: Rows) -> Rows:
    """Return rows with the model's columns alone, if it has their names and all are there."""
    names = training_names(model)
    if names is None or not isinstance(data, pd.DataFrame):
        return data
    mask = [str(column) in names for column in data.columns]
    return data.loc[:, mask] if sum(mask) == len(names) else data
