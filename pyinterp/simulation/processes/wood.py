r"""Wood et al. (2024), with redundant features and on a ring, and Mease & Wyner (2008).

D. Mease, A. Wyner (2008). Evidence contrary to the statistical view of boosting. Journal of Machine
Learning Research 9(2).
D. Wood, T. Papamarkou, M. Benatan, R. Allmendinger (2024). Model-agnostic variable importance for
predictive uncertainty: an entropy-based approach.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import integrate, interpolate

from pyinterp._typing import FloatArray
from pyinterp.checks import NOT_NEGATIVE, check_choice, check_count, check_number
from pyinterp.simulation.processes.process import (
    LABEL_NOISE,
    MOST_FEATURES,
    OF_LABELS,
    Process,
    Values,
    columns,
    uniform,
)


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

    Examples
    --------
    >>> import pyinterp as pi
    >>> process = pi.simulation.mease_wyner_classification()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         x9   x10  y
    0  0.55  0.03  1
    1  0.20  0.26  1
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


CopiedFeature: TypeAlias = Literal["x1", "x5"] | None

CORRELATION = 0.8
# Of the ring: half the side of the hole, and of the square around it.
INNER, OUTER = 1.5, 2.5
PARTNER = {"X1": "X2", "X2": "X1", "X3": "X4", "X4": "X3"}
# 2 V(X), and 2 0.9^2 V(X3^2)
REGRESSION_PFI = {"X1": 2.0, "X2": 2.0, "X3": 2 * 0.9**2 * 2, "X4": 2.0, "X5": 2.0}
# Two draws of a feature given its partner have correlation rho^2, and their squares have rho^4.
SHARES = {"X1": CORRELATION**2, "X2": CORRELATION**2, "X3": CORRELATION**4, "X4": CORRELATION**2}
REGRESSION_CVIM = {x: pfi * (1 - SHARES.get(x, 0.0)) for x, pfi in REGRESSION_PFI.items()}


def wood_classification(copied: CopiedFeature = None) -> Process:
    r"""The process of Mease & Wyner (2008) in which feature 10 may copy another one.

    `mease_wyner_classification` with d = 10, J = 4 and noise 0.1 (Wood et al. 2024, section 3.4.1):
    features 1 to 4 matter, 5 to 10 do not. Closed forms: PD of the probability, PFI and CVIM under
    the Brier score, and likelihood-PFI, of all features.

    Parameters
    ----------
    copied : {None, "x1", "x5"}
        The feature that x10 copies, a relevant or an irrelevant one. The true f takes x1 and never
        x10, although with a copy the data can't tell which: PFI is the PFI of this f, and the
        CVIM of both is 0.

    Examples
    --------
    >>> import pyinterp as pi
    >>> process = pi.simulation.wood_classification()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         x9   x10  y
    0  0.55  0.03  1
    1  0.20  0.26  1
    """
    if copied is not None:
        check_choice("copied", copied, ("x1", "x5"))
    plain = mease_wyner_classification(features=10, relevant=4, noise=0.1)
    source = "Wood et al. (2024), section 3.4.1"
    if copied is None:
        return replace(plain, name="wood classification", source=source)
    pfi = {name: plain.pfi(name) for name in plain.features}
    return replace(
        plain,
        name=f"wood classification, x10 = {copied}",
        source=source,
        covariates=partial(_with_copy, names=plain.features, copied=copied),
        conditional=partial(_copy_conditional, copied=copied),
        closed_cvim=(pfi | {copied: 0.0, "x10": 0.0}).get,
    )


def _with_copy(
    n: int, rng: np.random.Generator, *, names: tuple[str, ...], copied: str
) -> pd.DataFrame:
    frame = uniform(n, rng, names=names)
    return frame.assign(x10=frame[copied])


def _copy_conditional(
    feature: str, frame: pd.DataFrame, rng: np.random.Generator, *, copied: str
) -> Values:
    twin = {copied: "x10", "x10": copied}.get(feature)
    return rng.random(len(frame)) if twin is None else frame[twin].to_numpy()


def wood_regression(noise_variance: float = 2.0) -> Process:
    r"""Regression on two pairs of correlated features and one independent feature.

    .. math:: Y = X_1 + X_2 + 0.9 X_3^2 + X_4 + X_5 + \epsilon

    with :math:`(X_1, X_2)` and :math:`(X_3, X_4)` standard normal with correlation 0.8,
    :math:`X_5 \sim N(0, 1)`, and :math:`\epsilon \sim N(0, 2)` (Wood et al. 2024, section 3.4.1).
    Closed forms: PD, PFI and CVIM of all features.

    Parameters
    ----------
    noise_variance : float
        The paper's N(0, 2) is taken as variance 2, since its normal features have covariances;
        with 4, 2 would be the standard deviation.

    Examples
    --------
    >>> import pyinterp as pi
    >>> process = pi.simulation.wood_regression()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         X4    X5     y
    0 -0.52  0.91  1.64
    1  0.68  0.29  2.54
    """
    check_number("noise_variance", noise_variance, NOT_NEGATIVE)
    more = "" if noise_variance == 2 else f", noise variance {noise_variance:g}"
    return Process(
        name=f"wood regression{more}",
        source="Wood et al. (2024), section 3.4.1",
        features=tuple(REGRESSION_PFI),
        covariates=_pairs,
        function=_regression,
        noise=f"N(0, {noise_variance:g}), the variance",
        noise_sd=float(np.sqrt(noise_variance)),
        conditional=_partner_conditional,
        closed_pd=_regression_pd,
        closed_pfi=REGRESSION_PFI.get,
        closed_cvim=REGRESSION_CVIM.get,
    )


def _pairs(n: int, rng: np.random.Generator) -> pd.DataFrame:
    z = rng.standard_normal((n, 5))
    spread = np.sqrt(1 - CORRELATION**2)
    z[:, 1] = CORRELATION * z[:, 0] + spread * z[:, 1]
    z[:, 3] = CORRELATION * z[:, 2] + spread * z[:, 3]
    return pd.DataFrame(z, columns=list(REGRESSION_PFI))


def _partner_conditional(feature: str, frame: pd.DataFrame, rng: np.random.Generator) -> Values:
    z = rng.standard_normal(len(frame))
    if feature == "X5":
        return z
    (partner,) = columns(frame, PARTNER[feature])
    return np.asarray(CORRELATION * partner + np.sqrt(1 - CORRELATION**2) * z)


def _regression(frame: pd.DataFrame) -> FloatArray:
    x1, x2, x3, x4, x5 = columns(frame, "X1", "X2", "X3", "X4", "X5")
    return np.asarray(x1 + x2 + 0.9 * x3**2 + x4 + x5)


def _regression_pd(feature: str, x: FloatArray) -> FloatArray:
    return np.asarray(0.9 * x**2 if feature == "X3" else x + 0.9)


def wood_ring() -> Process:
    r"""Two features on a square ring, so that the middle of their range was never observed.

    .. math:: Y = (X_1 + X_2)^2 + 0.1 \epsilon

    with :math:`(X_1, X_2)` uniform where :math:`1.5 \le \max(|x_1|, |x_2|) \le 2.5` and
    :math:`\epsilon \sim N(0, 1)` (Wood et al. 2024, section 3.5, who show the hole and not the
    outer side). Closed forms: PD, PFI and CVIM of both features.

    Examples
    --------
    >>> import pyinterp as pi
    >>> process = pi.simulation.wood_ring()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         X1    X2     y
    0 -0.45  1.64  1.46
    1  2.45 -1.30  1.26
    """
    return Process(
        name="wood ring",
        source="Wood et al. (2024), section 3.5",
        features=("X1", "X2"),
        covariates=_ring,
        function=_square_of_sum,
        noise="N(0, 0.01), the variance",
        noise_sd=0.1,
        conditional=_side_conditional,
        closed_pd=_ring_pd,
        closed_pfi=_ring_pfi,
        closed_cvim=_ring_cvim,
    )


def _ring(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw one side of four, a place along it (each corner belongs to one side) and a depth."""
    along = rng.uniform(-OUTER, INNER, n)
    depth = rng.uniform(INNER, OUTER, n)
    turns = rng.integers(4, size=n)
    x, y = along, depth
    for turn in (1, 2, 3):
        x, y = np.where(turns >= turn, y, x), np.where(turns >= turn, -x, y)
    return pd.DataFrame({"X1": x, "X2": y})


def _side_conditional(feature: str, frame: pd.DataFrame, rng: np.random.Generator) -> Values:
    (other,) = columns(frame, "X2" if feature == "X1" else "X1")
    whole = rng.uniform(-OUTER, OUTER, len(frame))
    sides = rng.choice([-1.0, 1.0], len(frame)) * rng.uniform(INNER, OUTER, len(frame))
    return np.asarray(np.where(np.abs(other) >= INNER, whole, sides))


def _square_of_sum(frame: pd.DataFrame) -> FloatArray:
    x1, x2 = columns(frame, "X1", "X2")
    return np.asarray((x1 + x2) ** 2)


def _ring_pd(_: str, x: FloatArray) -> FloatArray:
    """Return x^2 + E X^2, the other feature having mean 0."""
    return np.asarray(x**2 + (OUTER**2 + INNER**2) / 3)


def _ring_pfi(_: str) -> float:
    """Return 2 (m4 - m2^2) + 4 (m2^2 + m22), of moments of one feature and of both."""
    a, b = OUTER**2, INNER**2
    m2, m4, m22 = (a + b) / 3, (a**2 + a * b + b**2) / 5, (a**2 + a * b + b**2) / 9
    return 2 * (m4 - m2**2) + 4 * (m2**2 + m22)


def _ring_cvim(_: str) -> float:
    """Return twice the mean variance of the response given the other feature.

    Where the other is beyond the hole, a feature is uniform on a whole side, else around the hole.
    """
    beyond = OUTER / (OUTER + INNER)  # the probability
    q2 = (OUTER**2 + OUTER * INNER + INNER**2) / 3  # moments between hole and side
    q4 = (OUTER**5 - INNER**5) / 5 / (OUTER - INNER)
    whole = 4 * OUTER**4 / 45 + 4 * q2 * OUTER**2 / 3
    sides = q4 - q2**2 + 4 * INNER**2 / 3 * q2
    return 2 * (beyond * whole + (1 - beyond) * sides)
