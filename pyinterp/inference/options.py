"""What can be asked of inference, the same for every estimand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypedDict, TypeVar, cast

from pyinterp.checks import check_choice, check_flag
from pyinterp.errors import OptionError, did_you_mean, listed
from pyinterp.inference import ALTERNATIVES, COV_TYPES, Alternative, CovType, check_adjustment

__all__ = ["Options", "Reading", "options_of", "reading_of", "takes"]

P = ParamSpec("P")
R = TypeVar("R")

# What scikit-learn and R's packages call our options.
ELSEWHERE = {
    "class_": "which_class",
    "feature": "features",
    "feature_names": "features",
    "grid_resolution": "points",
    "method": "cov_type",
    "n_repeats": "permutations",
    "nsim": "permutations",
    "percentiles": "grid",
    "scoring": "metric",
    "target": "which_class",
    "type": "relation",
    "vars": "features",
}


class Reading(TypedDict, total=False):
    """Inference options of every estimand; none of them needs new predictions.

    Attributes
    ----------
    cov_type : str
        Variance estimator: "half-sample" (default after `HalfSampling`), "nested-cv" (after
        `NestedCrossValidation`), "bootstrap" (after `NestedBootstrap`; percentile intervals),
        "bootstrap-bca" (BCa intervals), "corrected" (after other plans whose refits share rows),
        "naive" (after fresh draws), "ustat" (for one fitted model) or "rows".
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis of the tests and side of the intervals.
    p_adjust : str
        Adjustment of the p-values for multiplicity, a method of statsmodels' ``multipletests``
        such as "holm" or "fdr_bh". "bonferroni" and "sidak" adjust intervals alike; others have no
        intervals, and those shown are for one term each.
    simultaneous : bool
        Whether intervals cover all terms at once with probability 1 - alpha (sup-t), not each of
        them: a band for a whole curve. p-values are then those of such intervals. Not with
        `p_adjust`.
    """

    cov_type: CovType | None
    alternative: Alternative
    p_adjust: str | None
    simultaneous: bool


@dataclass(frozen=True, kw_only=True)
class Options:
    """`Reading` with its defaults."""

    cov_type: CovType | None
    alternative: Alternative
    p_adjust: str | None
    simultaneous: bool


def options_of(reading: Reading) -> Options:
    """Return the inference options, checked."""
    cov_type, p_adjust = reading.get("cov_type"), reading.get("p_adjust")
    alternative = reading.get("alternative", "two-sided")
    check_choice("alternative", alternative, ALTERNATIVES)
    if cov_type is not None:
        check_choice("cov_type", cov_type, COV_TYPES)
    check_adjustment(p_adjust)
    simultaneous = reading.get("simultaneous", False)
    check_flag("simultaneous", simultaneous)
    if simultaneous and p_adjust is not None:
        raise OptionError(
            "Give `simultaneous` or `p_adjust`, not both: simultaneous intervals have p-values of "
            "their own, which are adjusted alike."
        )
    return Options(
        cov_type=cov_type,
        alternative=alternative,
        p_adjust=p_adjust,
        simultaneous=bool(simultaneous),
    )


def reading_of(options: Mapping[str, Any]) -> tuple[Reading, dict[str, Any]]:
    """Tell inference options from all others, which are the estimand's own."""
    known = Reading.__annotations__
    reading = {name: value for name, value in options.items() if name in known}
    rest = {name: value for name, value in options.items() if name not in known}
    return cast("Reading", reading), rest


def takes(*others: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse keywords that are neither options of a function nor of what it hands others to.

    Parameters
    ----------
    *others : TypedDict or callable
        What the function's ``**options`` may be: keys of a TypedDict such as `Reading`, or the
        keyword-only parameters of a function.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        known = [*_named(function), *(name for other in others for name in _options(other))]

        @wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> R:
            for name in options:
                _check_keyword(function.__name__, name, known)
            return function(*args, **options)

        return checked

    return decorated


def _named(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the names of parameters that can be given by keyword."""
    for name, parameter in signature(function).parameters.items():
        if name != "self" and parameter.kind in (
            Parameter.POSITIONAL_OR_KEYWORD,
            Parameter.KEYWORD_ONLY,
        ):
            yield name


def _options(other: Callable[..., Any]) -> list[str]:
    if isinstance(other, type):
        return list(other.__annotations__)
    parameters = signature(other).parameters.values()
    return [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]


def _check_keyword(method: str, name: str, known: list[str]) -> None:
    if name in known:
        return
    ours = ELSEWHERE.get(name)
    guess = f" Did you mean `{ours}`?" if ours in known else did_you_mean(name, known)
    raise TypeError(
        f"{method}() takes no keyword argument `{name}`; its options are "
        f"{listed(known, most=20, limit=300)}.{guess}"
    )
