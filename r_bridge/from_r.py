"""What the R package in r_package/ calls; learners of R are called back, without rpy2.

Columns cross as doubles and levels: no converter of reticulate chooses their types.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import check_random_state

from pyinterp._typing import FloatArray
from pyinterp.errors import OptionError, did_you_mean
from r_bridge.errors import RCallError, RWarning
from r_bridge.fits import state

__all__ = ["ask", "attempt", "columns", "estimator", "frame", "learner_of_r", "on_columns"]

Column: TypeAlias = Mapping[str, Any]  # kind, values, and levels or tz if it has some
Function: TypeAlias = Callable[..., Mapping[str, Any]]  # of R: its value, or why there is none

UNITS = {"Date": ("s", 86400), "POSIXct": ("us", 1_000_000)}  # R counts days, and seconds
DTYPES: Mapping[str, tuple[Any, Any]] = {  # without missing values, and with some
    "logical": ("bool", "boolean"),
    "integer": ("int64", "Int64"),
}
LARGEST = 2**31 - 1  # of R's integers


def attempt(owner: Any, name: str, *args: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Return what `ask` returns, and its kind, the warnings and the error, for R's conditions."""
    value, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        try:
            value = ask(owner, name, *args, **options)
        except Exception as failure:  # noqa: BLE001 - becomes a condition of R
            error = [_classes(type(failure)), str(failure)]
    if isinstance(value, np.ndarray | pd.Series | pd.Index):
        value = value.tolist()
    kind = "plain" if isinstance(value, str | int | float | list | None) else "object"
    if isinstance(value, pd.DataFrame):
        kind, value = "frame", columns(value if value.index.name is None else value.reset_index())
    warned = [[_classes(w.category), str(w.message)] for w in caught]
    return value, {"kind": kind, "error": error, "warned": warned}


def ask(owner: Any, name: str, *args: Any, **options: Any) -> Any:
    """Return a value by its name, or what the function of this name returns."""
    if name not in dir(owner):
        raise OptionError(f"There is no `{name}` to ask for.{did_you_mean(name, dir(owner))}")
    value = getattr(owner, name)
    return value(*args, **options) if callable(value) else value


def estimator(path: str, **options: Any) -> Any:
    """Return an estimator by its path, such as "sklearn.linear_model.Ridge"."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)(**options)
    except (AttributeError, ImportError, ValueError) as error:
        raise OptionError(
            "`learner` must be a function of R, or the path of a class of Python such as "
            f'"sklearn.linear_model.Ridge", not "{path}" ({error}).'
        ) from error


def frame(data: Mapping[str, Column]) -> pd.DataFrame:
    """Return columns of R as a data frame."""
    return pd.DataFrame({name: _from_r(**column) for name, column in data.items()})


def columns(data: pd.DataFrame) -> dict[str, Column]:
    """Return the columns of a data frame for R."""
    return {str(name): _to_r(data.iloc[:, j]) for j, name in enumerate(data)}


def _classes(kind: type) -> list[str]:
    return [c.__name__ for c in kind.__mro__ if c not in (Exception, BaseException, object)]


def _from_r(kind: str, values: Any, levels: Sequence[str] = (), tz: str = "") -> pd.Series[Any]:
    numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    absent = np.isnan(numbers)
    if kind in UNITS:
        unit, size = UNITS[kind]
        stamps = np.full(len(numbers), "NaT", dtype=f"datetime64[{unit}]")
        stamps[~absent] = np.round(numbers[~absent] * size).astype(np.int64).astype(stamps.dtype)
        times = pd.Series(stamps)
        return times.dt.tz_localize("UTC").dt.tz_convert(tz) if tz else times
    if kind in ("factor", "ordered", "character"):
        codes = np.where(absent, 0, numbers).astype(np.intp) - 1
        if kind == "character":
            return pd.Series(np.array([*levels, None], dtype=object)[codes])
        factor = pd.Categorical.from_codes(codes, pd.Index(list(levels)), ordered=kind == "ordered")
        return pd.Series(factor)
    series = pd.Series(numbers)
    return series.astype(DTYPES[kind][int(absent.any())]) if kind in DTYPES else series


def _to_r(series: pd.Series[Any]) -> Column:
    dtype = series.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        kind = "Date" if str(dtype) == "datetime64[s]" else "POSIXct"
        unit, size = UNITS[kind]
        stamps = series.to_numpy(dtype=f"datetime64[{unit}]")
        values = np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / size)
        tz = str(getattr(dtype, "tz", None) or "")
        return {"kind": kind, "values": values.tolist(), "tz": tz}
    if pd.api.types.is_numeric_dtype(dtype):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        whole = pd.api.types.is_integer_dtype(dtype) and not (np.abs(values) > LARGEST).any()
        logical = pd.api.types.is_bool_dtype(dtype)
        kind = "logical" if logical else "integer" if whole else "double"
        return {"kind": kind, "values": values.tolist()}
    known = series.astype("category").cat
    codes = np.where(known.codes < 0, np.nan, known.codes + 1.0)
    factor = "ordered" if known.ordered else "factor"
    kind = factor if isinstance(dtype, pd.CategoricalDtype) else "character"
    return {"kind": kind, "values": codes.tolist(), "levels": [str(c) for c in known.categories]}


def _call(function: Function, name: str, *args: Any) -> Any:
    """Call a function of R, which returns its warnings, errors and interrupts."""
    answer = function(*args)
    for sentence in answer["warned"]:
        warnings.warn(sentence, RWarning, stacklevel=2)
    if answer["ended"] == "interrupt":
        raise KeyboardInterrupt
    if answer["ended"] == "error":
        raise RCallError(answer["value"], called=name)
    return answer["value"]


class _Functions(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A learner of two functions of R: one fits and returns a key, one predicts by it."""

    wants_frames = one_thread = True

    def __init__(
        self, to_fit: Function, to_predict: Function, learner_name: str, random_state: Any = None
    ) -> None:
        self.to_fit, self.to_predict = to_fit, to_predict
        self.learner_name, self.random_state = learner_name, random_state

    def fit(self, X: pd.DataFrame, y: pd.Series[Any]) -> _Functions:
        seed = int(check_random_state(self.random_state).randint(LARGEST))
        response = _to_r(self._response(y))
        self.key_ = _call(self.to_fit, self.learner_name, columns(X), response, seed)
        return self

    def _response(self, y: pd.Series[Any]) -> pd.Series[Any]:
        return pd.Series(y)

    def predict(self, X: pd.DataFrame) -> npt.NDArray[Any]:
        own = [self.params.tolist()] if hasattr(self, "params") else []
        values = _call(self.to_predict, self.learner_name, self.key_, columns(X), *own)
        return np.atleast_1d(np.asarray(values, dtype=np.float64))


class _Regression(RegressorMixin, _Functions):  # type: ignore[misc]
    pass


class _Classifier(ClassifierMixin, _Functions):  # type: ignore[misc]
    def _response(self, y: pd.Series[Any]) -> pd.Series[Any]:
        labels = pd.Series(y).astype("category").cat.remove_unused_categories()
        self.classes_ = np.array(labels.cat.categories.tolist())
        return labels

    def predict_proba(self, X: pd.DataFrame) -> FloatArray:
        return super().predict(X).reshape(-1, len(X)).T

    def predict(self, X: pd.DataFrame) -> npt.NDArray[Any]:
        labels: npt.NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels


def learner_of_r(
    to_fit: Function,
    to_predict: Function,
    name: str,
    classes: Any = None,
    key: str | None = None,
    stated: Sequence[Any] = (),
) -> _Functions:
    """Return a learner of R: a classifier if there are classes, fitted if there is a key.

    Of lm and glm, `stated` are coefficients, their covariance and degrees of freedom.
    """
    learner = (_Regression if classes is None else _Classifier)(to_fit, to_predict, name)
    if key is not None:
        learner.key_ = key
        if classes:
            learner.classes_ = np.array(classes)
    if stated:
        state(learner, *stated)
    return learner


class _Columns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns of a formula, which R computes; knots and centers are of the rows of `fit`."""

    def __init__(self, encode: Function, learner_name: str) -> None:
        self.encode, self.learner_name = encode, learner_name

    def fit(self, X: pd.DataFrame, y: object = None) -> _Columns:
        self.key_ = _call(self.encode, "model.matrix", columns(X))
        return self

    def transform(self, X: pd.DataFrame) -> FloatArray:
        values = _call(self.encode, "model.matrix", columns(X), self.key_)
        return np.asarray(values, dtype=np.float64).reshape(-1, len(X)).T


def on_columns(encode: Function, terms: str, learner: Any) -> Pipeline:
    """Return a learner of the columns that R computes of terms."""
    return make_pipeline(_Columns(encode, terms), learner)
