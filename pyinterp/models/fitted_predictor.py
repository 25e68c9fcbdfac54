"""The predictor of a model that was fitted elsewhere, and its response as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import Column, FloatArray
from pyinterp.checks import is_list
from pyinterp.data.sample import Response, read_response
from pyinterp.data.weights import WeightsType
from pyinterp.errors import DataError, OptionError, list_of, quote, short
from pyinterp.models.libraries import library_of
from pyinterp.models.library import Booster
from pyinterp.models.offset_model import OffsetModel
from pyinterp.models.predictor import Predictor, check_kind, learner_name, plain


def predictor_of(
    fitted: Any,
    classes: Sequence[Any] | None,
    response: Column | None,
    name: str,
    weights: WeightsType | None,
) -> tuple[Predictor, Response | None, FloatArray | None]:
    """Return the predictor, and name, classes and numbers of the response if there is one."""
    results = fitted.inside if isinstance(fitted, OffsetModel) else fitted
    stated = library_of(results).prediction(results, classes, response)
    dtype = None if response is None else response.dtype
    levels = list(dtype.categories) if isinstance(dtype, pd.CategoricalDtype) else []
    ordered = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    if stated.probabilities:
        labels = stated.classes if classes is not None else _as_booleans(stated.classes, response)
        predictor = replace(Predictor.of(fitted.predict, labels), estimator=fitted)
    else:
        if classes is None and isinstance(fitted, Booster):
            classes = _as_booleans(fitted.classes, response)
        elif classes is None and ordered:  # a classifier's own, in the order of the response
            labels = [plain(label) for label in getattr(fitted, "classes_", ())]
            if labels and set(labels) <= set(levels):
                classes = [level for level in levels if level in labels]
        check_kind(fitted)
        predictor = Predictor.of(fitted, classes)
    ordered = ordered or stated.ordinal or getattr(fitted, "ordered_", False)
    predictor = replace(predictor, ordinal=ordered and predictor.classes is not None)
    if response is None:
        return predictor, None, None
    if predictor.classes is None:
        numbers, about = read_response(
            response, name, classifier=False, learner=learner_name(fitted), constant_ok=True
        )
        if stated.shares:
            wrong = stated.trials if weights is None else bool((numbers % 1 > 0).any())
            _check_shares(numbers, name, wrong=wrong and weights != "sampling")
        return predictor, replace(about, shares=stated.shares), numbers
    codes = response.map({c: k for k, c in enumerate(predictor.classes)}).astype(np.float64)
    if codes.isna().any():
        raise DataError(
            f"The response `{short(name)}` has class {quote(response[codes.isna()].iloc[0])}, "
            f"which {learner_name(fitted)} does not predict; it predicts "
            f"{list_of(predictor.classes)}."
        )
    about = Response(name=name, classes=predictor.classes, ordinal=predictor.ordinal)
    return predictor, about, np.asarray(codes, np.float64)


def check_classes(classes: object) -> None:
    """Raise `OptionError` unless there are two labels or more, all different."""
    labels = list(classes) if is_list(classes) else []
    plain = [x for x in labels if isinstance(x, Hashable) and not pd.isna(x)]  # type: ignore[call-overload]  # a label
    if len(set(plain)) < max(2, len(labels)):
        raise OptionError(
            "`classes` must be a list of two or more different labels, such as ['no', 'yes'], not "
            f"{quote(classes)}."
        )


def _as_booleans(classes: Sequence[Any] | None, response: Column | None) -> Sequence[Any] | None:
    """Return the classes 0 and 1 as False and True if the response is booleans."""
    booleans = response is not None and response.dtype == bool and classes == (0, 1)
    return (False, True) if booleans else classes


def _check_shares(y: FloatArray, name: str, *, wrong: bool) -> None:
    """Raise unless a response is shares, and not with wrong weights."""
    if (y < 0).any() or (y > 1).any():
        value = float(y[(y < 0) | (y > 1)][0])
        raise DataError(
            "The model predicts shares of successes, so the response must be between 0 and 1, but "
            f"`{short(name)}` is {value:g} in some row; pass successes / trials."
        )
    if wrong:
        raise OptionError(
            "The response is shares of successes, so losses must weigh rows by trials; pass "
            '`weights=` successes + failures, and `weights_type="sampling"`. Trials of a row are '
            "not independent observations of its share."
        )
