"""Variance of cross-validation from nested cross-validation."""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag

from pyinterp._typing import FloatArray
from pyinterp.errors import InferenceError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.cov_types import register_variance
from pyinterp.inference.replicates import Replicates, covariance
from pyinterp.inference.tally import contributions
from pyinterp.inference.variance import Variance


def nested_cv(replicates: Replicates) -> Variance:
    r"""Variance of a cross-validated mean (Bates, Hastie and Tibshirani 2024, algorithm 1), normal.

    .. math:: V = \frac{\hat\sigma^2}{n}\, r^2, \quad
        r^2 = \frac{\mathrm{mean}\,(\bar e^{in} - \bar e^{out})^2 - \mathrm{mean}\, b}
        {\hat\sigma^2 / (n (K - 1) / K)}

    For every fold, :math:`\bar e^{out}` is its estimate, :math:`\bar e^{in}` the one of the
    cross-validation among the other folds, and b the variance of the former over its rows;
    :math:`\hat\sigma^2` is the variance of all rows' contributions. r, by which cross-validation
    errs more than a mean of independent rows, is kept between 1 and the root of K. Only folds
    count of which no inner refit failed. Groups of rows are independent of each other.
    """
    blocks = [_covariance(group) for group in replicates.parts]
    each = "; groups count as independent" if len(blocks) > 1 else ""
    count = replicates.evaluations.folds[0].number
    return Variance(
        cov=block_diag(*blocks),
        df=np.inf,
        rescales=False,
        note=(
            "Intervals (nested cross-validation, normal) are for the learner trained on "
            f"{1 - 1 / count:.0%} of the data{each}."
        ),
    )


def _covariance(replicates: Replicates) -> FloatArray:
    """Return the covariance of the estimates of one group of rows, or of all."""
    folds = replicates.folds
    count = folds[0].number
    whole = [fold for fold in folds if len(fold.inner) == count - 1]
    if not whole:
        raise InferenceError(
            f'`cov_type="nested-cv"` needs a fold without which all {count} refits succeeded, but '
            f"each of the {len(folds)} folds lacks some."
        )
    difference = np.array([_mean(fold.inner) - fold.outer.value for fold in whole])
    variances = np.array(
        [contributions(f.outer).var(axis=0, ddof=1) / len(f.outer.rows) for f in whole]
    )
    inner = np.concatenate([contributions(e) for fold in whole for e in fold.inner])
    n = count * float(np.mean([len(fold.outer.rows) for fold in whole]))
    cov = covariance(inner)
    spread = np.diag(cov) / (n * (count - 1) / count)
    error = np.clip(np.square(difference).mean(axis=0) - variances.mean(axis=0), 0.0, None)
    ratio = np.sqrt(np.divide(error, spread, out=np.ones(len(spread)), where=spread > 0))
    ratio = np.clip(ratio, 1.0, np.sqrt(count))
    return np.asarray(cov / n * np.outer(ratio, ratio))


def _mean(estimates: tuple[Estimate, ...]) -> FloatArray:
    sizes = [len(e.rows) for e in estimates]
    return np.asarray(np.average([e.value for e in estimates], axis=0, weights=sizes))


register_variance("nested-cv", nested_cv, label="nested CV", needs="folds")
