"""The variance estimators by name, and the default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from pyinterp.checks import check_choice
from pyinterp.inference.bootstrap import bootstrap, bootstrap_bca
from pyinterp.inference.delta import delta
from pyinterp.inference.half_sample.variance import half_sample, half_sample_t
from pyinterp.inference.nested_cv import nested_cv
from pyinterp.inference.replicates import Replicates
from pyinterp.inference.variance import Variance, corrected_variance, naive, rows, ustat

__all__ = ["COV_TYPES", "CovType", "default", "variance"]

CovType: TypeAlias = Literal[
    "half-sample",
    "half-sample-t",
    "nested-cv",
    "bootstrap",
    "bootstrap-bca",
    "corrected",
    "naive",
    "delta",
    "rows",
    "ustat",
]
COV_TYPES: Mapping[CovType, Callable[[Replicates], Variance]] = {
    "half-sample": half_sample,
    "half-sample-t": half_sample_t,
    "nested-cv": nested_cv,
    "bootstrap": bootstrap,
    "bootstrap-bca": bootstrap_bca,
    "corrected": corrected_variance,
    "naive": naive,
    "delta": delta,
    "rows": rows,
    "ustat": ustat,
}


def default(replicates: Replicates) -> CovType:
    """Return the default type of variance for the plan of the refits.

    "half-sample" if there are pairs of halves, "nested-cv" if there are folds within folds,
    "bootstrap" if there are splits of bootstrap samples, "delta" for an effect of one model that
    states the covariance of its coefficients, "ustat" for another one, "naive" for fresh data, else
    "corrected".
    """
    if replicates.pairs:
        return "half-sample"
    if replicates.folds:
        return "nested-cv"
    if replicates.bootstraps is not None:
        return "bootstrap"
    if replicates.coefficient_errors is not None:
        return "delta"
    if len(replicates.estimates) == 1:
        return "ustat"
    return "corrected" if replicates.correction > 0 else "naive"


def variance(replicates: Replicates, cov_type: CovType | None) -> Variance:
    """Return the variance of type `cov_type`, by default the one that suits the plan."""
    name = default(replicates) if cov_type is None else cov_type
    check_choice("cov_type", name, COV_TYPES)
    return COV_TYPES[name](replicates)
