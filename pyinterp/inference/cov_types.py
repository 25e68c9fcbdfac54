"""Variance estimators by name: how they are registered, which is the default, and the options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from pyinterp.checks import check_callable, check_choice, check_flag, check_text
from pyinterp.errors import InferenceError, OptionError, quote
from pyinterp.inference.intervals import ALTERNATIVES, Alternative, check_adjustment
from pyinterp.inference.replicates import Replicates
from pyinterp.inference.variance import Variance
from pyinterp.resampling.plans import LEAST_CLUSTERS, LEAST_PAIRS

CovType = (
    Literal["half-sample", "half-sample-t", "bootstrap"]
    | Literal["corrected", "naive", "delta", "rows", "ustat", "influence"]
    | str
)
Estimator = Callable[[Replicates], Variance]

# What replicates may have, by the name that `register_variance` takes, and where it comes from.
NEEDS: Mapping[str, tuple[Callable[[Replicates], bool], str, str]] = {
    "refits": (
        lambda found: found.number > 1,
        "at least 2 refits",
        'it is not defined for one refit. Fit with `resampling=pi.Bootstrap(15)`, or use "ustat", '
        "which is for one fitted model",
    ),
    "pairs": (
        lambda found: found.number > 1 and len(found.evaluations.pairs) >= LEAST_PAIRS,
        f"at least {LEAST_PAIRS} pairs of refits on complementary halves",
        "fit with `pi.HalfSampling()`",
    ),
    "bootstraps": (
        lambda found: found.evaluations.bootstraps is not None,
        "the means of bootstrap samples over their splits",
        "fit with `pi.NestedBootstrap()`",
    ),
    "pool": (
        lambda found: found.pool,
        "rows that are pooled over refits, as those of `population()`",
        "leave `cov_type` out",
    ),
    "model": (
        lambda found: found.number == 1,
        "one fitted model, not several refits",
        "use `pi.FittedModel(...)`, or leave `cov_type` out",
    ),
    "coefficients": (
        lambda found: found.coefficient_errors is not None,
        "one fitted model that states the covariance of its coefficients, as statsmodels does, and "
        "an estimand of that model alone",
        "leave `cov_type` out",
    ),
}

# The estimators that are registered, by name; each checks its needs.
COV_TYPES: dict[str, Estimator] = {}
_PLACES: dict[str, tuple[str, str]] = {}  # module and name of each
_NEEDS_OF: dict[str, str] = {}


def register_variance(
    name: str, estimator: Estimator, *, label: str = "", needs: str = ""
) -> Estimator:
    """Give a variance estimator a name, by which every ``cov_type=`` finds it.

    Parameters
    ----------
    name : str
        The value of `cov_type`.
    estimator : callable
        ``estimator(replicates)`` returns a ``Variance`` of the q estimates of a ``Replicates``:
        their covariance, the degrees of freedom of t, and a note on the target of the intervals.
    label : str
        What headers of tables call it; by default the name.
    needs : {"", "refits", "pairs", "folds", "bootstraps", "pool", "model", "coefficients"}
        Without which it is refused, with the plan of resampling that gives it: at least two refits,
        pairs of halves, splits of bootstrap samples, rows that are pooled over
        refits, one fitted model, or the covariance of its coefficients.

    Returns
    -------
    callable
        The estimator, as it was.

    Raises
    ------
    OptionError
        If another estimator has the name. The same function may be defined and registered again.

    Notes
    -----
    A study of coverage in several processes finds the name if the module of its estimands, which
    they import, registers it.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> from pyinterp.inference import Variance
    >>> from sklearn.linear_model import LinearRegression
    >>> def over_refits(replicates):
    ...     spread = np.cov(replicates.per_refit, rowvar=False)
    ...     return Variance(cov=spread / len(replicates.per_refit), df=np.inf, note="Too short.")
    >>> register = pi.register_variance("over refits", over_refits, needs="refits")
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> learner.fit(pi.Subsampling(5), seed=1).pfi(cov_type="over refits").bse.round().to_dict()
    {'bmi': 103.0, 'bp': 71.0}
    """
    check_text("name", name)
    check_callable("estimator", estimator, "estimator(replicates), which returns a Variance")
    check_choice("needs", needs, ("", *NEEDS))
    if name in ("auto", "none"):
        raise OptionError(f'`name` must say which variance it is, not "{name}"; choose another.')
    place = getattr(estimator, "__module__", ""), getattr(estimator, "__qualname__", "")
    if _PLACES.setdefault(name, place) != place:
        raise OptionError(
            f'`name` must be new, but "{name}" is the name of another variance; choose another.'
        )
    COV_TYPES[name] = partial(_estimate, name, estimator, label)
    _NEEDS_OF[name] = needs
    return estimator


def needs_coefficients(cov_type: CovType) -> bool:
    """Whether a variance is made of the covariance of a model's coefficients."""
    return _NEEDS_OF.get(cov_type) == "coefficients"


def _estimate(name: str, estimator: Estimator, label: str, replicates: Replicates) -> Variance:
    """Return the variance of a registered estimator, with its name and label."""
    if needs := _NEEDS_OF[name]:
        present, what, remedy = NEEDS[needs]
        if not present(replicates):
            raise InferenceError(f'`cov_type="{name}"` needs {what}: {remedy}.')
    found = estimator(replicates)
    q = replicates.per_refit.shape[1]
    if not isinstance(found, Variance) or np.shape(found.cov) != (q, q):
        raise InferenceError(
            f'The estimator of `cov_type="{name}"` must return a `pyinterp.inference.Variance` '
            f"whose `cov` has shape ({q}, {q}), not {quote(found)}."
        )
    cov = np.asarray(found.cov, np.float64)
    rounding = 1e-8 * np.fmax.reduce(np.abs(cov), axis=None, initial=0.0)
    known = np.isfinite(cov).any()  # else there is none, and `reason` or a note says why
    if (
        (np.diag(cov) < 0).any()
        or (np.abs(cov - cov.T) > rounding).any()
        or (known and found.df <= 0)
    ):
        raise InferenceError(
            f'The estimator of `cov_type="{name}"` must return a symmetric covariance without '
            f"negative variances and a positive `df`, not {quote(found.cov)} and {found.df}."
        )
    cov_type = found.cov_type or name
    return replace(found, cov=cov, cov_type=cov_type, label=found.label or label or cov_type)


def default(replicates: Replicates) -> CovType:
    """Return the default type of variance for the plan of the refits.

    "influence" of rows that are pooled over refits. "half-sample" if there are pairs of halves,
    "bootstrap" if there are splits of bootstrap samples, "delta" for an effect of one model that
    states the covariance of its coefficients, "ustat" for another one, "naive" for fresh data,
    else "corrected".
    """
    if replicates.pool or replicates.evaluations.pairs:
        return "influence" if replicates.pool else "half-sample"
    if replicates.evaluations.bootstraps is not None:
        return "bootstrap"
    if replicates.coefficient_errors is not None:
        return "delta"
    if replicates.number == 1:
        return "ustat"
    return "corrected" if replicates.evaluations.correction > 0 else "naive"


def variance(replicates: Replicates, cov_type: CovType | None) -> Variance:
    """Return the variance of type `cov_type`, by default the one that suits the plan."""
    name = default(replicates) if cov_type is None else cov_type
    check_choice("cov_type", name, COV_TYPES)
    if replicates.pool and _NEEDS_OF[name] != "pool":
        raise InferenceError(
            f'Rows that are pooled over refits have `cov_type="influence"`, not "{name}": no refit '
            "has an estimate of its own; leave it out."
        )
    found, count = COV_TYPES[name](replicates), replicates.evaluations.cluster_count
    refused = replicates.no_intervals
    if count is not None and count < LEAST_CLUSTERS and replicates.number > 1:
        refused = refused or (
            f"there are {count} clusters, and with fewer than {LEAST_CLUSTERS} intervals are too "
            'narrow; see the page "A field trial of 3 to 11 blocks"'
        )
    if not refused or found.reason:
        return found
    return replace(found, cov=found.cov + np.nan, label="none", reason=refused)


def check_inference(
    cov_type: CovType | None, alternative: Alternative, p_adjust: str | None, simultaneous: bool
) -> None:
    """Raise `OptionError` unless the options of inference are possible and go together."""
    check_choice("alternative", alternative, ALTERNATIVES)
    if cov_type is not None:
        check_choice("cov_type", cov_type, COV_TYPES)
    if p_adjust is not None:
        check_adjustment(p_adjust)
    check_flag("simultaneous", simultaneous)
    if simultaneous and p_adjust is not None:
        raise OptionError(
            "Give `simultaneous` or `p_adjust`, not both: simultaneous intervals have p-values "
            "that are adjusted for the same number of terms."
        )
