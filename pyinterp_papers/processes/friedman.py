r"""Friedman's first regression problem, with any number of noise features.

J. H. Friedman (1991). Multivariate adaptive regression splines. Annals of Statistics 19(1), 1-67.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from scipy import special

from pyinterp.simulation import Process
from pyinterp_papers.processes.parts import FloatArray, columns, uniform


def friedman1(noise_features: int = 5) -> Process:
    r"""Friedman 1: an interaction, a quadratic and two linear effects.

    .. math:: Y = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + \epsilon

    Features are independent and uniform on [0, 1], :math:`\epsilon \sim N(0, 1)` (Friedman 1991;
    Greenwell et al. 2018, section 4). Closed forms: PD and PFI of all features.

    Parameters
    ----------
    noise_features : int
        Features that f does not depend on, x6 and following; Friedman has 5.

    Examples
    --------
    >>> from pyinterp_papers.processes import friedman1
    >>> process = friedman1()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         x9   x10      y
    0  0.55  0.03  23.58
    1  0.20  0.26  19.27
    """
    noise = [f"x{j}" for j in range(6, 6 + noise_features)]
    names = ("x1", "x2", "x3", "x4", "x5", *noise)
    si, si2 = special.sici(np.pi)[0], special.sici(2 * np.pi)[0]
    square = 1 / 2 - si2 / (4 * np.pi)
    of_mean = (2 * si - si2 - 4 / np.pi) / np.pi
    wave = float(200 * (square - of_mean))  # 2 100 (E[sin^2] - E[E[sin | x1]^2])
    pfi = {
        "x1": wave,
        "x2": wave,
        "x3": 800 * (1 / 80 - 1 / 144),  # 2 20^2 V((x - 1/2)^2)
        "x4": 2 * 100 / 12,
        "x5": 2 * 25 / 12,
    }
    return Process(
        name=f"friedman1, {noise_features} noise features",
        source="Friedman (1991)",
        features=names,
        covariates=partial(uniform, names=names),
        function=_f1,
        noise="N(0, 1)",
        noise_sd=1.0,
        closed_pd=_f1_pd,
        closed_pfi=(pfi | dict.fromkeys(noise, 0.0)).get,
    )


def _f1(frame: pd.DataFrame) -> FloatArray:
    x1, x2, x3, x4, x5 = columns(frame, "x1", "x2", "x3", "x4", "x5")
    return np.asarray(10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5)


# E sin(pi U V) = (gamma + log(pi) - Ci(pi)) / pi
F1_SINE = 10 / np.pi * (np.euler_gamma + np.log(np.pi) - special.sici(np.pi)[1])
F1_MEAN = F1_SINE + 20 / 12 + 10 / 2 + 5 / 2


def _f1_pd(feature: str, x: FloatArray) -> FloatArray:
    """Return the mean of f and the effect of a feature, which has mean 0."""
    # E sin(pi x U) over a uniform U is (1 - cos(pi x)) / (pi x), 0 at 0.
    wave = 10 * (np.pi * x / 2 * np.sinc(x / 2) ** 2) - F1_SINE
    effects = {
        "x1": wave,
        "x2": wave,
        "x3": 20 * (x - 0.5) ** 2 - 20 / 12,
        "x4": 10 * (x - 0.5),
        "x5": 5 * (x - 0.5),
    }
    return np.asarray(F1_MEAN + effects.get(feature, np.zeros(len(x))))
