"""The predictor of a model that was fitted elsewhere, and its response as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import is_list
from pyinterp.data.sample import Response, read_response
from pyinterp.errors import DataError, OptionError, list_of, quote, short
from pyinterp.models.model_reader import is_statsmodels
from pyinterp.models.native_boosters import Booster
from pyinterp.models.offset_model import OffsetModel, mean_family
from pyinterp.models.predictor import Predictor, check_kind, learner_name, plain


def predictor_of(
    fitted: Any,
    classes: Sequence[Any] | None,
    response: pd.Series[Any] | None,
    name: str,
    weighted: bool,
) -> tuple[Predictor, Response | None, FloatArray | None]:
    """Return the predictor, and name, classes and numbers of the response if there is one."""
    results = fitted.inside if isinstance(fitted, OffsetModel) else fitted
    kind = type(results.model).__name__ if is_statsmodels(results) else ""
    if kind == "PHReg":
        raise OptionError(
            "Results of PHReg predict hazards of several kinds: pass a function of the rows that "
            'returns one number, such as the log hazard; the page "Survival" has one.'
        )
    family = type(getattr(results.model, "family", None)).__name__ if kind else ""
    binomial = kind in {"Logit", "Probit", "MNLogit", "OrderedModel"} or family == "Binomial"
    shares = binomial and _predicts_shares(results)
    dtype = None if response is None else response.dtype
    levels = list(dtype.categories) if isinstance(dtype, pd.CategoricalDtype) else []
    ordered = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    if binomial and not shares:
        predictor = _of_probabilities(results, fitted, classes, response)
    else:
        if classes is None and isinstance(fitted, Booster):
            classes = _as_booleans(fitted.classes, response)
        elif classes is None and ordered:  # a classifier's own, in the order of the response
            labels = [plain(label) for label in getattr(fitted, "classes_", ())]
            if labels and set(labels) <= set(levels):
                classes = [level for level in levels if level in labels]
        check_kind(fitted)
        predictor = Predictor.of(fitted, classes)
    ordered = ordered or kind == "OrderedModel" or getattr(fitted, "ordered_", False)
    predictor = replace(predictor, ordinal=ordered and predictor.classes is not None)
    if response is None:
        return predictor, None, None
    if predictor.classes is None:
        numbers, about = read_response(
            response, name, classifier=False, learner=learner_name(fitted), constant_ok=True
        )
        if shares:
            _check_shares(results, numbers, name, weighted=weighted)
        return predictor, replace(about, shares=shares, family=mean_family(fitted)), numbers
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


def _of_probabilities(
    fitted: Any, estimator: Any, classes: Sequence[Any] | None, response: pd.Series[Any] | None
) -> Predictor:
    """Return the predictor of class probabilities of statsmodels results, with the right labels.

    `estimator` are the results, or these with an offset.

    statsmodels predicts the probability of 1 if the response was numbers. If a formula turned a
    response with two levels into two columns, it predicts the first.
    """
    levels = [] if response is None else sorted(response.unique().tolist(), key=str)
    label_of = {str(level): level for level in levels}
    kind, predict = type(fitted.model).__name__, estimator.predict
    names = getattr(fitted.model, "endog_names", "the response")  # gone if data were removed
    if kind == "OrderedModel":
        classes = classes or [plain(label) for label in fitted.model.labels]
    elif kind == "MNLogit":
        classes = classes or _classes_of_mnlogit(fitted, label_of)
    elif classes is None and not isinstance(names, str):
        texts = [str(n)[str(n).rfind("[") + 1 : -1] for n in names]
        classes = [label_of.get(text, text) for text in reversed(texts)]  # the first is the event
    elif classes is None:
        if not set(levels) <= {0, 1}:
            raise OptionError(
                f"The model predicts the probability that `{names}` is 1, but the response has "
                f"{list_of(levels)}; pass the 0/1 response, or `classes=(label of 0, label of 1)`."
            )
        classes = _as_booleans((0, 1), response)
    return replace(Predictor.of(predict, classes), estimator=estimator)


def _as_booleans(
    classes: Sequence[Any] | None, response: pd.Series[Any] | None
) -> Sequence[Any] | None:
    """Return the classes 0 and 1 as False and True if the response is booleans."""
    booleans = response is not None and response.dtype == bool and classes == (0, 1)
    return (False, True) if booleans else classes


def _classes_of_mnlogit(fitted: Any, label_of: Mapping[str, Any]) -> list[Any]:
    """Return the classes that a multinomial model was fitted to, as the response writes them.

    statsmodels keeps their names; evaluation rows need not have all of them.
    """
    names = [str(name) for _, name in sorted(fitted.model._ynames_map.items())]
    numbers = all(isinstance(level, int | float) for level in label_of.values())
    return [
        label_of.get(name, int(name) if numbers and name.lstrip("-").isdigit() else name)
        for name in names
    ]


def _predicts_shares(results: Any) -> bool:
    """Whether results of a binomial model are of shares: of two columns of counts, or of numbers.

    A response with two levels is also two columns, of 0 and 1, named after the levels.
    """
    model = results.model
    if type(model).__name__ in ("MNLogit", "OrderedModel"):
        return False
    endog = getattr(model, "endog", None)  # a share once the model is made; gone with its data
    fractions = endog is not None and not np.isin(endog, (0, 1)).all()
    return fractions or _counts_trials(model)


def _check_shares(results: Any, y: FloatArray, name: str, *, weighted: bool) -> None:
    """Raise unless a response is shares, weighted by trials where the model counts these."""
    if (y < 0).any() or (y > 1).any():
        wrong = float(y[(y < 0) | (y > 1)][0])
        raise DataError(
            "The model predicts shares of successes, so the response must be between 0 and 1, but "
            f"`{short(name)}` is {wrong:g} in some row; pass successes / trials."
        )
    if _counts_trials(results.model) and not weighted:
        raise OptionError(
            "The model was fitted to counts of successes and failures, so losses must weigh rows "
            'by trials; pass `weights=` successes + failures, and `weights_type="sampling"`.'
        )


def _counts_trials(model: Any) -> bool:
    """Whether a model was fitted to two columns, successes and failures."""
    names = getattr(model, "endog_names", None)
    trials = getattr(model, "n_trials", None)
    if trials is not None and np.any(np.asarray(trials) != 1):
        return True
    # Levels are named "sex[female]" and so on, by either version of statsmodels.
    return isinstance(names, list) and not all(str(name).endswith("]") for name in names)
