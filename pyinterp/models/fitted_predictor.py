"""The predictor of a model that was fitted elsewhere, and its response as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import is_list
from pyinterp.data.sample import Response, read_response
from pyinterp.errors import DataError, OptionError, list_of, quote, short
from pyinterp.models.column_names import is_statsmodels
from pyinterp.models.native_boosters import Booster
from pyinterp.models.offset_model import OffsetModel
from pyinterp.models.predictor import Predictor, learner_name, plain
from pyinterp.models.shares import check_shares, predicts_shares

__all__ = ["check_classes", "predictor_of"]


def predictor_of(
    fitted: Any,
    classes: Sequence[Any] | None,
    response: pd.Series[Any] | None,
    name: str,
    weighted: bool,
) -> tuple[Predictor, Response | None, FloatArray | None]:
    """Return the predictor, and name, classes and numbers of the response if there is one."""
    results = fitted.inside if isinstance(fitted, OffsetModel) else fitted
    if is_statsmodels(results) and type(results.model).__name__ == "PHReg":
        raise OptionError(
            "Results of PHReg predict hazards of several kinds: pass a function of the rows that "
            'returns one number, such as the log hazard; the page "Survival" has one.'
        )
    binomial = is_statsmodels(results) and _predicts_probability(results)
    shares = binomial and predicts_shares(results)
    ordered = _is_ordered(response) or getattr(fitted, "ordered_", False)
    if binomial and not shares:
        predictor = _of_probabilities(results, fitted, classes, response)
        ordered = ordered or _is_ordinal(results)
    else:
        if classes is None and isinstance(fitted, Booster):
            classes = _as_booleans(fitted.classes, response)
        elif classes is None and _is_ordered(response):
            classes = _in_order(getattr(fitted, "classes_", ()), response)
        predictor = Predictor.of(fitted, classes)
    predictor = replace(predictor, ordinal=ordered and predictor.classes is not None)
    if response is None:
        return predictor, None, None
    if predictor.classes is None:
        numbers, about = read_response(
            response, name, classifier=False, learner=learner_name(fitted), constant_ok=True
        )
        if shares:
            check_shares(results, numbers, name, weighted=weighted)
        return predictor, replace(about, shares=shares), numbers
    codes = response.map({c: k for k, c in enumerate(predictor.classes)}).astype(np.float64)
    if codes.isna().any():
        raise DataError(
            f"The response `{short(name)}` has class {quote(response[codes.isna()].iloc[0])}, "
            f"which {learner_name(fitted)} does not predict; it predicts "
            f"{list_of(predictor.classes)}."
        )
    about = Response(name=name, classes=predictor.classes, ordinal=predictor.ordinal)
    return predictor, about, np.asarray(codes, dtype=np.float64)


def check_classes(classes: object) -> None:
    """Raise `OptionError` unless there are two labels or more, all different."""
    labels = list(classes) if is_list(classes) else []
    plain = [x for x in labels if isinstance(x, Hashable) and not pd.isna(x)]  # type: ignore[call-overload]  # a label
    if len(set(plain)) < max(2, len(labels)):
        raise OptionError(
            "`classes` must be a list of two or more different labels, such as ['no', 'yes'], not "
            f"{quote(classes)}."
        )


def _predicts_probability(fitted: Any) -> bool:
    family = getattr(fitted.model, "family", None)
    return type(fitted.model).__name__ in {"Logit", "Probit", "MNLogit", "OrderedModel"} or (
        family is not None and type(family).__name__ == "Binomial"
    )


def _is_ordinal(results: Any) -> bool:
    return type(results.model).__name__ == "OrderedModel"


def _is_ordered(response: pd.Series[Any] | None) -> bool:
    """Whether a response is an ordered category."""
    dtype = None if response is None else response.dtype
    return isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)


def _in_order(own: Any, response: pd.Series[Any] | None) -> list[Any] | None:
    """Return a classifier's classes in the order of the response; None if they are others."""
    levels = [] if response is None else list(response.cat.categories)
    classes = [plain(label) for label in own]
    return [c for c in levels if c in classes] if classes and set(classes) <= set(levels) else None


def _of_probabilities(
    fitted: Any,
    estimator: Any,
    classes: Sequence[Any] | None,
    response: pd.Series[Any] | None,
) -> Predictor:
    """Return the predictor of class probabilities of statsmodels results, with the right labels.

    `estimator` are the results, or these with an offset.

    statsmodels predicts the probability of 1 if the response was numbers. If a formula turned a
    response with two levels into two columns, it predicts that of the first.
    """
    levels = [] if response is None else sorted(response.unique().tolist(), key=str)
    if _is_ordinal(fitted):
        labels = tuple(classes or (plain(label) for label in fitted.model.labels))
        return replace(Predictor.of(_Probabilities(fitted), labels), estimator=estimator)
    if type(fitted.model).__name__ == "MNLogit":
        labels = tuple(classes or _classes_of_mnlogit(fitted, levels))
        return replace(Predictor.of(estimator.predict, labels), estimator=estimator)
    names = getattr(fitted.model, "endog_names", "the response")  # gone if data were removed
    if classes is None and not isinstance(names, str):
        texts = [str(n)[str(n).rfind("[") + 1 : -1] for n in names]
        label_of = {str(level): level for level in levels}
        classes = [label_of.get(text, text) for text in reversed(texts)]  # the first is the event
        return replace(Predictor.of(estimator.predict, classes), estimator=estimator)
    if classes is None:
        if not set(levels) <= {0, 1}:
            raise OptionError(
                f"The model predicts the probability that `{names}` is 1, but the response has "
                f"{list_of(levels)}; pass the 0/1 response, or `classes=(label of 0, label of 1)`."
            )
        classes = _as_booleans((0, 1), response)
    return replace(Predictor.of(estimator.predict, classes), estimator=estimator)


@dataclass(frozen=True)
class _Probabilities:
    """Predictions of an ordinal model as an array, its own or those of a copy of it."""

    results: Any

    def __call__(self, rows: Any) -> FloatArray:
        return np.asarray(self.results.predict(rows), dtype=np.float64)


def _as_booleans(
    classes: Sequence[Any] | None, response: pd.Series[Any] | None
) -> Sequence[Any] | None:
    """Return the classes 0 and 1 as False and True if the response is booleans."""
    booleans = response is not None and response.dtype == bool and classes == (0, 1)
    return (False, True) if booleans else classes


def _classes_of_mnlogit(fitted: Any, levels: Sequence[Any]) -> list[Any]:
    """Return the classes that a multinomial model was fitted to, as the response writes them.

    statsmodels keeps their names; evaluation rows need not have all of them.
    """
    names = [str(name) for _, name in sorted(fitted.model._ynames_map.items())]
    written = {str(level): level for level in levels}
    if all(isinstance(level, int | float) for level in levels):
        return [written.get(name, _number(name)) for name in names]
    return [written.get(name, name) for name in names]


def _number(name: str) -> Any:
    try:
        return int(name)
    except ValueError:
        return name
