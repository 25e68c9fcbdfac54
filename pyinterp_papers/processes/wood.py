r"""Wood et al. (2024), with redundant features and on a ring, and Mease & Wyner (2008).

D. Mease, A. Wyner (2008). Evidence contrary to the statistical view of boosting. Journal of Machine
Learning Research 9(2).
D. Wood, T. Papamarkou, M. Benatan, R. Allmendinger (2024). Model-agnostic variable importance for
predictive uncertainty: an entropy-based approach.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy import integrate, interpolate

from pyinterp.simulation import Process
from pyinterp_papers.choices import check_one_of
from pyinterp_papers.processes.parts import FloatArray, Values, columns, uniform

CopiedFeature: TypeAlias = Literal["x1", "x5"]

# Of the classification: the error rate of the best classifier, and features, of which some matter.
LABEL_NOISE = 0.1
NAMES = tuple(f"x{j}" for j in range(1, 11))
RELEVANT = NAMES[:4]
HALF = len(RELEVANT) / 2
# Density of the sum of the other three (Irwin-Hall): the cardinal B-spline.
DENSITY = interpolate.BSpline.basis_element(np.arange(len(RELEVANT)), extrapolate=False)

CORRELATION = 0.8
# Of the ring: half the side of the hole, and of the square around it.
INNER, OUTER = 1.5, 2.5
PARTNER = {"X1": "X2", "X2": "X1", "X3": "X4", "X4": "X3"}
# 2 V(X), and 2 0.9^2 V(X3^2)
REGRESSION_PFI = {"X1": 2.0, "X2": 2.0, "X3": 2 * 0.9**2 * 2, "X4": 2.0, "X5": 2.0}
# Two draws of a feature given its partner have correlation rho^2, and their squares have rho^4.
SHARES = {"X1": CORRELATION**2, "X2": CORRELATION**2, "X3": CORRELATION**4, "X4": CORRELATION**2}
REGRESSION_CVIM = {x: pfi * (1 - SHARES.get(x, 0.0)) for x, pfi in REGRESSION_PFI.items()}


def wood_classification(copied: CopiedFeature | None = None) -> Process:
    r"""Two classes on either side of a hyperplane, with label noise; feature 10 may be a copy.

    .. math:: P(Y = 1 | x) = \epsilon + (1 - 2 \epsilon) \, 1(x_1 + \dots + x_4 > 2)

    with :math:`x` uniform on :math:`[0, 1]^{10}` and :math:`\epsilon = 0.1` (Mease & Wyner 2008, as
    in Wood et al. 2024, section 3.4.1): features 1 to 4 matter, 5 to 10 do not. Classes are "0" and
    "1". Closed forms: PFI and CVIM under the Brier score, and likelihood-PFI, of all features.

    Parameters
    ----------
    copied : {None, "x1", "x5"}
        The feature that x10 copies, a relevant or an irrelevant one. The true f takes x1 and never
        x10, although with a copy the data can't tell which: PFI is the PFI of this f, and the
        CVIM of both is 0.

    Examples
    --------
    >>> from pyinterp_papers.processes import wood_classification
    >>> process = wood_classification()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         x9   x10  y
    0  0.55  0.03  1
    1  0.20  0.26  1
    """
    check_one_of("copied", copied or "x1", ("x1", "x5"))
    pfi = dict.fromkeys(NAMES, 0.0) | dict.fromkeys(RELEVANT, _pfi())
    return Process(
        name=f"wood classification, x10 = {copied}" if copied else "wood classification",
        source="Wood et al. (2024), section 3.4.1",
        features=NAMES,
        covariates=partial(_covariates, copied=copied),
        function=_probability,
        noise="the class is that of the larger probability, wrong with probability 0.1",
        noise_sd=float(np.sqrt(LABEL_NOISE * (1 - LABEL_NOISE))),
        classes=("0", "1"),
        conditional=partial(_copy_conditional, copied=copied) if copied else None,
        closed_pfi=pfi.get,
        closed_cvim=(pfi | {copied: 0.0, "x10": 0.0}).get if copied else None,
    )


def _covariates(n: int, rng: np.random.Generator, *, copied: str | None) -> pd.DataFrame:
    frame = uniform(n, rng, names=NAMES)
    return frame.assign(x10=frame[copied]) if copied else frame


def _copy_conditional(
    feature: str, frame: pd.DataFrame, rng: np.random.Generator, *, copied: str
) -> Values:
    twin = {copied: "x10", "x10": copied}.get(feature)
    return rng.random(len(frame)) if twin is None else frame[twin].to_numpy()


def _probability(frame: pd.DataFrame) -> FloatArray:
    total = np.sum(columns(frame, *RELEVANT), axis=0)
    return np.asarray(LABEL_NOISE + (1 - 2 * LABEL_NOISE) * (total > HALF))


def _pfi() -> float:
    r"""Return :math:`(1 - 2 \epsilon)^2 E[2 q (1 - q)]`, q = P(class 1 | the other features)."""
    # q lies between 0 and 1 only if the others' sum is within 1/2 of 3/2.
    flips, _ = integrate.quad(
        lambda s: 2 * (s - HALF + 1) * (HALF - s) * float(DENSITY(s)),
        HALF - 1,
        HALF,
        points=[HALF - 0.5],
        epsabs=1e-13,
    )
    return float((1 - 2 * LABEL_NOISE) ** 2 * flips)


def wood_regression() -> Process:
    r"""Regression on two pairs of correlated features and one independent feature.

    .. math:: Y = X_1 + X_2 + 0.9 X_3^2 + X_4 + X_5 + \epsilon

    with :math:`(X_1, X_2)` and :math:`(X_3, X_4)` standard normal with correlation 0.8,
    :math:`X_5 \sim N(0, 1)`, and :math:`\epsilon \sim N(0, 2)` (Wood et al. 2024, section 3.4.1).
    Closed forms: PFI and CVIM of all features. The paper's N(0, 2) is taken as variance 2, since
    its normal features have covariances.

    Examples
    --------
    >>> from pyinterp_papers.processes import wood_regression
    >>> process = wood_regression()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         X4    X5     y
    0 -0.52  0.91  1.64
    1  0.68  0.29  2.54
    """
    return Process(
        name="wood regression",
        source="Wood et al. (2024), section 3.4.1",
        features=tuple(REGRESSION_PFI),
        covariates=_pairs,
        function=_regression,
        noise="N(0, 2), the variance",
        noise_sd=float(np.sqrt(2.0)),
        conditional=_partner_conditional,
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


def wood_ring() -> Process:
    r"""Two features on a square ring, so that the middle of their range was never observed.

    .. math:: Y = (X_1 + X_2)^2 + 0.1 \epsilon

    with :math:`(X_1, X_2)` uniform where :math:`1.5 \le \max(|x_1|, |x_2|) \le 2.5` and
    :math:`\epsilon \sim N(0, 1)` (Wood et al. 2024, section 3.5, who show the hole and not the
    outer side).

    Examples
    --------
    >>> from pyinterp_papers.processes import wood_ring
    >>> process = wood_ring()
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


def _square_of_sum(frame: pd.DataFrame) -> FloatArray:
    x1, x2 = columns(frame, "X1", "X2")
    return np.asarray((x1 + x2) ** 2)
