"""Fitted models of R, held so that they can be pickled, and asked for predictions."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils.metaestimators import available_if

from pyinterp._typing import FloatArray
from r_bridge.conversion import from_r, level_texts, text_from_r, texts
from r_bridge.session import SESSION

__all__ = ["Fit", "Reporting", "align", "levels_in", "state"]

_in_r: WeakSet[Fit] = WeakSet()


@atexit.register
def _let_go() -> None:
    """Let go of R's objects while there is still an R that can take them."""
    for fit in _in_r:
        fit.let_go()


class Fit:
    """A fitted model of R.

    Its bytes are made at once, in R's thread: joblib pickles in threads of its own. What is
    unpickled becomes a model of R again when it is first used.

    Parameters
    ----------
    value : object
        rpy2's view of the model.
    """

    def __init__(self, value: Any) -> None:
        self._value: Any = value
        self._bytes = _bytes_of(value)
        _in_r.add(self)

    @property
    def value(self) -> Any:
        """The model in R."""
        if self._value is None:
            self._value = SESSION.call("from_bytes", _raw(self._bytes))
            _in_r.add(self)
        return self._value

    def let_go(self) -> None:
        """Keep only the bytes."""
        self._value = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_bytes": self._bytes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._value, self._bytes = None, state["_bytes"]

    def predict(self, function: str, **named: Any) -> FloatArray:
        """Return means, probabilities of classes, or numbers of classes, counted from 1.

        Parameters
        ----------
        function : {"predict_fit", "predict_labels"}
        **named
            Arguments of these functions in ``fits.R``.
        """
        value = SESSION.call(function, fit=self.value, console=[], **named)
        return np.asarray(from_r(value, SESSION.r), dtype=np.float64)

    def importance(self, variables: Sequence[str]) -> tuple[str, FloatArray] | None:
        """Return the importances that it reports of variables, and what they are called in R."""
        value = SESSION.call("importance_of", self.value, texts(variables))
        if from_r(value, SESSION.r) is None:
            return None
        return text_from_r(value[0])[0], np.asarray(from_r(value[1], SESSION.r), dtype=np.float64)

    def counts_event_first(self) -> bool:
        """Return whether R's pdp has the second of two classes, the event, as its first."""
        return bool(SESSION.call("counts_event_first", self.value)[0])

    def log_family(self) -> str:
        """Return the family of a generalized linear or additive model of log link; else ""."""
        return text_from_r(SESSION.call("log_family_of", self.value))[0]

    def describe(self) -> dict[str, Any]:
        """Return its classes (or None), variables, levels of factors, and coefficients."""
        parts = SESSION.call("describe_fit", self.value)
        names = text_from_r(SESSION.call("names", parts))
        part = dict(zip(names, parts, strict=True))
        classes = from_r(part["classes"], SESSION.r)
        levels = map(text_from_r, part["levels"])
        return {
            "class": text_from_r(part["class"])[0],
            "classes": None if classes is None else [str(c) for c in classes],
            "variables": text_from_r(part["variables"]),
            "transformed": text_from_r(part["transformed"]),
            "stated": [from_r(value, SESSION.r) for value in part["stated"]],
            "levels": dict(zip(text_from_r(part["level_names"]), levels, strict=True)),
        }


class Reporting:
    """An estimator that holds a fit, `fit_`, of variables that R calls `_words`."""

    learns = False
    fit_: Fit
    classes_: npt.NDArray[Any]
    predict_args: Mapping[str, Any] | None
    classifier: bool | None
    _rows: Callable[[Any], pd.DataFrame]
    _words: list[str]
    _r_classes: list[str] | None

    def predict(self, X: pd.DataFrame | npt.ArrayLike) -> npt.NDArray[Any]:
        """Predict means, or the labels that R's `predict` says, else the most probable classes."""
        if not self.classifier:
            return self._ask("predict_fit", X)
        codes = self._ask("predict_labels", X).astype(np.intp)
        return np.asarray(self.classes_[codes - 1])

    @available_if(attrgetter("classifier"))  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def predict_proba(self, X: pd.DataFrame | npt.ArrayLike) -> FloatArray:
        """Predict the probability of every class."""
        return self._ask("predict_fit", X)

    def _ask(self, function: str, X: pd.DataFrame | npt.ArrayLike) -> FloatArray:
        rows = self._rows(X)  # which checks that it is fitted
        return self.fit_.predict(
            function,
            newdata=rows,
            classes=self._r_classes,
            options=self.predict_args,
            learner=self.learns,
            params=getattr(self, "params", None),
        )

    @property
    def feature_importances_(self) -> FloatArray:
        """What R's model reports as the importance of its variables, in R's units."""
        return self._report[1]

    @property
    def importance_name_(self) -> str:
        """What R calls the importances, such as "%IncMSE"."""
        return self._report[0]

    @property
    def _report(self) -> tuple[str, FloatArray]:
        found = self.fit_.importance(self._words)
        if found is None:
            raise AttributeError("The model of R reports no importances.")
        return found


def state(model: Any, params: Any, cov: Any, df: Any) -> None:
    """Give a model coefficients, their covariance and degrees of freedom, as statsmodels has."""
    model.params, model.df_resid, model.use_t = np.atleast_1d(params), np.sum(df), True
    model.cov_params = partial(np.reshape, cov, [len(model.params)] * 2)


def levels_in(rows: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the levels of the columns of categories and strings, in order."""
    return {
        str(name): list(column.dtype.categories)
        if isinstance(column.dtype, pd.CategoricalDtype)
        else sorted(column.dropna().unique())
        for name, column in rows.items()
        if isinstance(column.dtype, pd.CategoricalDtype | pd.StringDtype)
        or (column.dtype == object and not _logical(column))
    }


def align(rows: pd.DataFrame, levels: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Return rows whose categories and strings are factors with the levels of the training rows.

    Values beyond them become further levels, of which R may say what it thinks.
    """
    own = rows.copy(deep=False)
    for name, known in levels.items():
        column = rows[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            continue  # numbers in the place of a factor: R's error
        texts = column.astype(object).map(str, na_action="ignore")
        known_texts = level_texts(known)
        unseen = sorted(set(texts.dropna()) - set(known_texts))
        ordered = isinstance(column.dtype, pd.CategoricalDtype) and bool(column.dtype.ordered)
        own[name] = pd.Categorical(texts, categories=[*known_texts, *unseen], ordered=ordered)
    return own


def _logical(column: pd.Series[Any]) -> bool:
    return {type(v) for v in column.dropna()} <= {bool, np.bool_}


def _bytes_of(value: Any) -> bytes:
    raw = SESSION.call("to_bytes", value)
    library = SESSION.r.openrlib
    return bytes(library.ffi.buffer(library.RAW(raw.__sexp__._cdata), len(raw)))


def _raw(content: bytes) -> Any:
    return SESSION.r.interface.ByteSexpVector.from_memoryview(memoryview(content))
