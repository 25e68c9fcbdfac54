"""What can be asked of inference, the same for every estimand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, cast

import numpy as np

from pyinterp.errors import OptionError, check_choice, shown
from pyinterp.inference import ALTERNATIVES, COV_TYPES, Alternative, CovType, check_adjustment

__all__ = ["Options", "Reading", "options_of", "reading_of"]


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
    unknown = set(reading) - set(Reading.__annotations__)
    if unknown:
        raise TypeError(f"Unexpected keyword argument {sorted(unknown)[0]!r}.")
    cov_type, p_adjust = reading.get("cov_type"), reading.get("p_adjust")
    alternative = reading.get("alternative", "two-sided")
    check_choice("alternative", alternative, ALTERNATIVES)
    if cov_type is not None:
        check_choice("cov_type", cov_type, COV_TYPES)
    check_adjustment(p_adjust)
    simultaneous = reading.get("simultaneous", False)
    if not isinstance(simultaneous, bool | np.bool_):
        raise OptionError(f"`simultaneous` must be True or False, not {shown(simultaneous)}.")
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
