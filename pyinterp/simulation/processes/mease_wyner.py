r"""The classification process of Mease & Wyner (2008), in which only a sum matters.

D. Mease, A. Wyner (2008). Evidence contrary to the statistical view of boosting. Journal of Machine
Learning Research 9(2).
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import integrate, interpolate

from pyinterp._typing import FloatArray
from pyinterp.checks import check_count, check_number
from pyinterp.simulation.processes.process import (
    LABEL_NOISE,
    MOST_FEATURES,
    OF_LABELS,
    Process,
    columns,
    uniform,
)

__all__ = ["mease_wyner_classification"]


def mease_wyner_classification(
    features: int = 10, relevant: int = 4, noise: float = 0.1
) -> Process:
    r"""Two classes on either side of a hyperplane, with label noise.

    .. math:: P(Y = 1 | x) = \epsilon + (1 - 2 \epsilon) \, 1(x_1 + \dots + x_J > J / 2)

    with :math:`x` uniform on :math:`[0, 1]^d` (Mease & Wyner 2008, as in Wood et al. 2024, section
    3.4.1, whose d, J and :math:`\epsilon` are the defaults). Classes are "0" and "1". Closed forms:
    PD of the probability, PFI under the Brier score, and likelihood-PFI, of all features.

    Parameters
    ----------
    features : int
        d, number of features.
    relevant : int
        J, number of features that matter, equally.
    noise : float
        :math:`\epsilon`, the error rate of the best classifier, in [0, 0.5).
    """
    check_count("relevant", relevant, 1, MOST_FEATURES)
    check_count("features", features, relevant, MOST_FEATURES)
    check_number("noise", noise, LABEL_NOISE, OF_LABELS)
    names = tuple(f"x{j}" for j in range(1, features + 1))
    return Process(
        name=f"mease & wyner, d = {features}, J = {relevant}, noise {noise:g}",
        source="Mease & Wyner (2008); Wood et al. (2024), section 3.4.1",
        features=names,
        covariates=partial(uniform, names=names),
        function=partial(_probability, relevant=names[:relevant], noise=noise),
        noise=f"the class is that of the larger probability, wrong with probability {noise:g}",
        noise_sd=float(np.sqrt(noise * (1 - noise))),
        classes=("0", "1"),
        closed_pd=partial(_pd, relevant=names[:relevant], noise=noise),
        closed_pfi=partial(_pfi, relevant=names[:relevant], noise=noise),
        label_noise=float(noise),
    )


def _probability(frame: pd.DataFrame, *, relevant: tuple[str, ...], noise: float) -> FloatArray:
    total = np.sum(columns(frame, *relevant), axis=0)
    return np.asarray(noise + (1 - 2 * noise) * (total > len(relevant) / 2))


def _pd(feature: str, x: FloatArray, *, relevant: tuple[str, ...], noise: float) -> FloatArray:
    half = len(relevant) / 2
    share = (
        1 - _sum_cdf(half - x, len(relevant) - 1) if feature in relevant else np.full(len(x), 0.5)
    )
    return np.asarray(noise + (1 - 2 * noise) * share)


def _pfi(feature: str, *, relevant: tuple[str, ...], noise: float) -> float:
    r"""Return :math:`(1 - 2 \epsilon)^2 E[2 q (1 - q)]`, q = P(class 1 | the other features)."""
    if feature not in relevant:
        return 0.0
    others, half = len(relevant) - 1, len(relevant) / 2
    if not others:
        return float((1 - 2 * noise) ** 2 / 2)
    density = _sum_density(others)
    # q lies between 0 and 1 only if the others' sum is within 1/2 of (J - 1) / 2.
    flips, _ = integrate.quad(
        lambda s: 2 * (s - half + 1) * (half - s) * float(density(s)),
        half - 1,
        half,
        points=[half - 0.5],
        epsabs=1e-13,
    )
    return float((1 - 2 * noise) ** 2 * flips)


def _sum_density(number: int) -> interpolate.BSpline:
    """Density of the sum of independent uniforms (Irwin-Hall): the cardinal B-spline."""
    return interpolate.BSpline.basis_element(np.arange(number + 1), extrapolate=False)


def _sum_cdf(at: npt.ArrayLike, number: int) -> FloatArray:
    inside = np.clip(np.asarray(at, dtype=np.float64), 0, number)
    if number == 0:
        return np.asarray(np.asarray(at) >= 0, dtype=np.float64)
    return np.asarray(_sum_density(number).antiderivative()(inside))
