"""R's package vip on models of Python: FIRM, permutation importance, interactions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.data.sample import as_frame, check_aligned
from pyinterp.errors import DataError, OptionError, did_you_mean
from pyinterp.learner.interpretable import Interpretable
from r_bridge.checks import check_whole
from r_bridge.conversion import RCode, frame_from_r, from_r
from r_bridge.errors import RMissingError
from r_bridge.handed import ModelForR, Rows, hand_over
from r_bridge.packages import need
from r_bridge.partial_dependence import (
    PdpOptions,
    RFunction,
    in_r,
    model_and_options,
    variables_of,
)
from r_bridge.session import SESSION

__all__ = ["vi_firm", "vi_permute", "vint"]

Metric: TypeAlias = str | RCode | Callable[[Any, Any], float]

# Metrics of vip that compare classes; all others of a classifier compare probabilities.
LABELS = {"accuracy", "bal_accuracy", "youden"}


def vi_firm(
    model: Any,
    data: Rows,
    feature_names: str | Sequence[str] | None = None,
    *,
    var_continuous: RFunction | None = None,
    var_categorical: RFunction | None = None,
    classes: Sequence[Any] | None = None,
    **options: Unpack[PdpOptions],
) -> pd.DataFrame:
    """Importance by the flatness of PD, by R's ``vip::vi_firm``, of a model of Python.

    Parameters
    ----------
    model, data, classes
        As for `partial`.
    feature_names : str or sequence of str, optional
        By default all variables.
    var_continuous, var_categorical : RCode or callable, optional
        Spread of the PD values; by default the standard deviation, and the range / 4.
    **options
        Of ``pdp::partial``; see `PdpOptions`.

    Returns
    -------
    pandas.DataFrame
        ``Variable`` and ``Importance``, in the order of `feature_names`.
    """
    need("pdp", "`r_bridge.vi_firm`")
    need("vip", "`r_bridge.vi_firm`")
    handed = hand_over(model, data, classes)
    arguments: list[tuple[str, Any]] = [
        *model_and_options(handed, options),
        ("feature_names", handed.words(_features(feature_names, handed))),
        ("train", handed.train),
    ]
    for name, spread in (("var_continuous", var_continuous), ("var_categorical", var_categorical)):
        if spread is not None:
            arguments.append((name, in_r(spread, ["x"])))
    return _named(SESSION.call_with("vip::vi_firm", arguments), handed, "Variable")


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
    feature_names : str or sequence of str, optional
        By default all variables.
    target : str or array of shape (n,), optional
        The response, or the name of its column in `data`; by default the response that a
        `FittedModel` or a learner's results bring along, for the rows that they bring along.
    metric : str, RCode or callable
        A metric of vip ("rmse", "mae", "rsq", "roc_auc", "logloss", ...), or a function of truth
        and estimate, which needs `smaller_is_better`.
    smaller_is_better : bool, optional
        For a metric that is a function.
    type : {"difference", "ratio"}
        How permuted and original metric are compared.
    nsim : int
        Permutations per feature.
    keep : bool
        Keep every permutation's score, in ``frame.attrs["raw_scores"]``.
    sample_size, sample_frac : int, float, optional
        Rows to sample, without replacement.
    event_level : {"first", "second"}, optional
        The class whose probability is meant, for two classes.
    pred_wrapper : RCode, optional
        ``function(object, newdata)``, in R. By default the model's predictions; of a classifier the
        classes or probabilities that the metric compares.
    seed : int, optional
        R's ``set.seed``, for this call.

    Returns
    -------
    pandas.DataFrame
        ``Variable``, ``Importance`` and, if `nsim` is above 1, ``StDev`` over permutations, which
        is Monte Carlo error and no standard error.
    """
    need("vip", "`r_bridge.vi_permute`")
    check_whole("nsim", nsim, 1)
    frame = None if data is None else as_frame(data)
    if isinstance(target, str) and frame is not None:
        if target not in frame:
            raise DataError(
                f"`target` must be the response or the name of its column in `data`; got "
                f"{target!r}, but the columns are {', '.join(map(str, frame))}."
                + did_you_mean(target, frame)
            )
        frame, target = frame.drop(columns=target), frame[target]
    elif data is not None:
        check_aligned(target, data, "target", "data")
    handed = hand_over(model, frame, classes)
    wanted = _features(feature_names, handed)
    if target is None or isinstance(target, str):
        target = _own_response(model, target, handed)
    truth = _truth(target, handed)
    wrapper = pred_wrapper or RCode(
        f"function(object, newdata) {_predictions(metric, handed, event_level)}"
    )
    arguments: list[tuple[str, Any]] = [
        ("", handed.in_r()),
        ("feature_names", handed.words(wanted)),
        ("train", handed.train),
        ("target", truth),
        ("metric", in_r(metric, ["truth", "estimate"])),
        ("smaller_is_better", smaller_is_better),
        ("type", type),
        ("nsim", nsim),
        ("keep", keep),
        ("sample_size", sample_size),
        ("sample_frac", sample_frac),
        ("event_level", event_level),
        ("pred_wrapper", wrapper),
    ]
    value = SESSION.call_with("vip::vi_permute", arguments, seed=seed)
    found = _named(value, handed, "Variable")
    scores = from_r(SESSION.call("attr", value, "raw_scores"), SESSION.r)
    if scores is not None:
        columns = [f"permutation_{k + 1}" for k in range(scores.shape[1])]
        found.attrs["raw_scores"] = pd.DataFrame(scores, index=wanted, columns=columns)
    return found


def vint(
    model: Any,
    data: Rows,
    feature_names: str | Sequence[str] | None = None,
    *,
    classes: Sequence[Any] | None = None,
    **options: Unpack[PdpOptions],
) -> pd.DataFrame:
    """Interaction strengths by R's ``vip::vint``, of a model of Python; vip had it before 0.4.

    Parameters
    ----------
    model, data, classes
        As for `partial`.
    feature_names : str or sequence of str, optional
        Features whose pairs are measured; by default all variables.
    **options
        Of ``pdp::partial``; see `PdpOptions`.

    Returns
    -------
    pandas.DataFrame
        ``Variables`` ("x1*x2") and ``Interaction``, the largest first.
    """
    need("pdp", "`r_bridge.vint`")
    version = need("vip", "`r_bridge.vint`")
    if version >= (0, 4):
        raise RMissingError(
            "`vint` left R's package vip in version 0.4, and "
            f"{'.'.join(map(str, version))} is installed; for an older one run "
            'remotes::install_version("vip", "0.3.2") in R, or use `vint` of results, which needs '
            "no R."
        )
    handed = hand_over(model, data, classes)
    arguments = [
        *model_and_options(handed, options),
        ("feature_names", handed.words(_features(feature_names, handed))),
        ("train", handed.train),
    ]
    return _named(SESSION.call_with("vip::vint", arguments), handed, "Variables")


def _named(value: Any, handed: ModelForR, column: str) -> pd.DataFrame:
    """Return a frame of R whose `column` has names of variables, of pairs "x1*x2"."""
    frame = frame_from_r(value, SESSION.r)
    names = [handed.names.parts_from_r(text, "*") for text in frame[column]]
    return frame.assign(**{column: names})


def _features(names: str | Sequence[str] | None, handed: ModelForR) -> list[str]:
    if names is None:
        return list(handed.rows.columns)
    return variables_of(names, handed, "feature_names")


def _own_response(model: Any, name: str | None, handed: ModelForR) -> Any:
    """Return the response that results bring along, if R is given their own rows."""
    own = model.analysis.problem.population if isinstance(model, Interpretable) else None
    if own is None or own.y is None or own.response is None:
        raise OptionError(
            "`target` must be given: the response, or the name of its column in `data`."
        )
    if name is not None and name != own.response.name:
        raise DataError(
            f"`target` must be the response, or the name of its column: of the model's own rows it "
            f"is {own.response.name!r}, not {name!r}."
        )
    if not handed.rows.reset_index(drop=True).equals(own.variables):
        raise OptionError(
            "`target` must be given for `data` that are not the model's own rows, whose response "
            "it brings along: the response, or the name of its column in `data`."
        )
    return own.response.labels(own.y)


def _truth(target: Any, handed: ModelForR) -> Any:
    """Return the response as R wants it: numbers, or a factor with the model's classes."""
    values = pd.Series(np.asarray(target))
    if len(values) != len(handed.rows):
        raise OptionError(
            f"`target` must have one value per row; got {len(values)} for {len(handed.rows)} rows."
        )
    if handed.classes is None:
        return values.to_numpy(dtype=np.float64)
    labels = values.astype(str)
    unknown = sorted(set(labels) - set(handed.classes))
    if unknown:
        raise OptionError(
            f"`target` must have the model's classes {list(handed.classes)}; got {unknown[0]!r}."
        )
    return pd.Categorical(labels, categories=list(handed.classes))


def _predictions(metric: Metric, handed: ModelForR, event_level: str | None) -> str:
    """Return R's code for what a metric compares with the truth."""
    if handed.classes is None:
        return "predict(object, newdata)"
    if isinstance(metric, str) and metric in LABELS:
        return 'predict(object, newdata, type = "class")'
    probabilities = 'predict(object, newdata, type = "prob")'
    if len(handed.classes) > 2:
        return probabilities
    return f"{probabilities}[, {2 if event_level == 'second' else 1}]"
