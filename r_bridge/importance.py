"""R's package vip on models of Python: FIRM and permutation importance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.data.frames import as_frame, check_aligned
from pyinterp.errors import OptionError, quote
from pyinterp.learner.interpretable import Interpretable
from pyinterp.r_style.arguments import Curve
from pyinterp.r_style.r_functions import VI_FIRM, VI_PERMUTE
from r_bridge.conversion import RCode, frame_from_r, from_r
from r_bridge.model_for_r import ModelForR, Rows, hand_over
from r_bridge.packages import need
from r_bridge.partial_dependence import RFunction, in_r, model_and_curve, variables_of
from r_bridge.session import SESSION

__all__ = ["vi_firm", "vi_permute"]

Metric: TypeAlias = str | RCode | Callable[[Any, Any], float]

# Metrics of vip that compare classes; all others of a classifier compare probabilities.
LABELS = {"accuracy", "bal_accuracy", "youden"}


@VI_FIRM.keywords("r_bridge", Curve)
def vi_firm(
    model: Any,
    data: Rows,
    feature_names: str | Sequence[str] | None = None,
    *,
    var_continuous: RFunction | None = None,
    var_categorical: RFunction | None = None,
    pred_fun: RCode | None = None,
    ice: bool = False,
    center: bool = False,
    approx: bool = False,
    classes: Sequence[Any] | None = None,
    **curve: Any,  # of `Curve`
) -> pd.DataFrame:
    """Importance by the flatness of PD, by R's ``vip::vi_firm``, of a model of Python.

    Parameters
    ----------
    model, data, classes
        As for `partial`.
    var_continuous, var_categorical : RCode or function, optional
        Spread of the PD values; by default the standard deviation, and the range / 4.
    {arguments}

    Returns
    -------
    pandas.DataFrame
        ``Variable`` and ``Importance``, in the order of `feature_names`.
    """
    need("pdp", "`r_bridge.vi_firm`")
    need("vip", "`r_bridge.vi_firm`")
    r_model = hand_over(model, data, classes)
    flags = {"ice": ice, "center": center, "approx": approx}
    arguments: list[tuple[str, Any]] = [
        *model_and_curve(r_model, Curve(**curve), pred_fun, flags),
        ("feature_names", r_model.words(_features(feature_names, r_model))),
        ("train", r_model.train),
    ]
    for name, spread in (("var_continuous", var_continuous), ("var_categorical", var_categorical)):
        if spread is not None:
            arguments.append((name, in_r(spread, ["x"])))
    return _rename(SESSION.call_with("vip::vi_firm", arguments), r_model)


@VI_PERMUTE.keywords("r_bridge")
def vi_permute(
    model: Any,
    data: Rows,
    feature_names: str | Sequence[str] | None = None,
    *,
    target: str | npt.ArrayLike | None = None,
    metric: Metric,
    smaller_is_better: bool | None = None,
    type: Literal["difference", "ratio"] = "difference",  # noqa: A002 - R's name
    nsim: int = 1,
    keep: bool = True,
    sample_size: int | None = None,
    sample_frac: float | None = None,
    event_level: Literal["first", "second"] | None = None,
    pred_wrapper: RCode | None = None,
    classes: Sequence[Any] | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """Permutation importance by R's ``vip::vi_permute``, of a model of Python.

    Parameters
    ----------
    model, data, classes
        As for `partial`.
    metric : str, RCode or callable
        A metric of vip ("rmse", "mae", "rsq", "roc_auc", "logloss", ...), or a function of truth
        and estimate, which needs `smaller_is_better`.
    {arguments}
    seed : int, optional
        R's ``set.seed``, for this call.

    Returns
    -------
    pandas.DataFrame
        ``Variable``, ``Importance`` and, if `nsim` is above 1, ``StDev`` over permutations, which
        is Monte Carlo error and no standard error.
    """
    need("vip", "`r_bridge.vi_permute`")
    options = {
        "smaller_is_better": smaller_is_better,
        "type": type,
        "nsim": nsim,
        "keep": keep,
        "sample_size": sample_size,
        "sample_frac": sample_frac,
        "event_level": event_level,
    }
    VI_PERMUTE.check(options)
    rows, response = _rows_and_response(model, data, target)
    r_model = hand_over(model, rows, classes)
    names = _features(feature_names, r_model)
    arguments: list[tuple[str, Any]] = [
        ("", r_model.in_r()),
        ("feature_names", r_model.words(names)),
        ("train", r_model.train),
        ("target", _truth(response, r_model)),
        ("metric", in_r(metric, ["truth", "estimate"])),
        *options.items(),
        ("pred_wrapper", pred_wrapper or _predictions(metric, r_model, event_level)),
    ]
    value = SESSION.call_with("vip::vi_permute", arguments, seed=seed)
    frame = _rename(value, r_model)
    scores = from_r(SESSION.call("attr", value, "raw_scores"), SESSION.r)
    if scores is not None:
        columns = [f"permutation_{k + 1}" for k in range(scores.shape[1])]
        frame.attrs["raw_scores"] = pd.DataFrame(scores, index=names, columns=columns)
    return frame


def _rename(value: Any, r_model: ModelForR) -> pd.DataFrame:
    """Return a frame of R with the names of variables."""
    frame = frame_from_r(value, SESSION.r)
    return frame.assign(Variable=[r_model.names.from_r(word) for word in frame["Variable"]])


def _features(names: str | Sequence[str] | None, r_model: ModelForR) -> list[str]:
    if names is None:
        return list(r_model.rows.columns)
    return variables_of(names, r_model, "feature_names")


def _rows_and_response(model: Any, data: Rows, target: Any) -> tuple[Any, Any]:
    """Return the rows and the response: a column of theirs, or that of results."""
    if data is not None:
        frame = as_frame(data)
        if isinstance(target, str) and target in frame:
            return frame.drop(columns=target), frame[target]
        index = data.index if isinstance(data, pd.DataFrame) else None
        check_aligned(target, index, "target", "data")
        return frame, target
    if target is None and isinstance(model, Interpretable):
        sample = model.analysis.problem.sample
        if sample.y is not None and sample.response is not None:
            return None, sample.response.labels(sample.y)
    return None, target


def _truth(target: Any, r_model: ModelForR) -> Any:
    """Return the response as R wants it: numbers, or a factor with the model's classes."""
    values = pd.Series(np.asarray(target).ravel())
    if len(values) != len(r_model.rows):
        raise OptionError(
            f"`target` must be the response of all {len(r_model.rows)} rows, or the name of its "
            f"column in `data`, not {quote(target)}."
        )
    if r_model.classes is None:
        return values.to_numpy(dtype=np.float64)
    labels = values.astype(str)
    unknown = sorted(set(labels) - set(r_model.classes))
    if unknown:
        raise OptionError(
            f"`target` must have the model's classes {list(r_model.classes)}; got {unknown[0]!r}."
        )
    return pd.Categorical(labels, categories=list(r_model.classes))


def _predictions(metric: Metric, r_model: ModelForR, event_level: str | None) -> RCode:
    """Return a function of R that gives what a metric compares with the truth."""
    value = "predict(object, newdata)"
    if r_model.classes is not None and isinstance(metric, str) and metric in LABELS:
        value = 'predict(object, newdata, type = "class")'
    elif r_model.classes is not None:
        value = 'predict(object, newdata, type = "prob")'
        if len(r_model.classes) == 2:
            value += f"[, {2 if event_level == 'second' else 1}]"
    return RCode(f"function(object, newdata) {value}")
