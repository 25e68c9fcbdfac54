r"""Processes of Molnar et al. (2021): Tables 1 and 2, and Figure 2.

C. Molnar, T. Freiesleben, G. König, G. Casalicchio, M. N. Wright, B. Bischl (2021). Relating the
Partial Dependence Plot and Permutation Feature Importance to the Data Generating Process.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.simulation import Process
from pyinterp_papers.choices import check_one_of
from pyinterp_papers.processes.parts import FloatArray, columns, uniform

Version: TypeAlias = Literal["code", "printed"]

FIGURE2_MEAN = float((1 - np.cos(10)) / 10 + 5 / 2)  # of sin(x1) + x1 / 2


def molnar_linear() -> Process:
    r"""Linear process, :math:`Y = x_1 - x_2 + \epsilon`.

    Features are independent and uniform on [0, 1], :math:`\epsilon \sim N(0, 1)` (Molnar et al.
    2021, section 8). Closed forms: PD and PFI of both features.

    Examples
    --------
    >>> from pyinterp_papers.processes import molnar_linear
    >>> process = molnar_linear()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         x1    x2     y
    0  0.51  0.95  0.47
    1  0.14  0.95 -0.36
    """
    names = ("x1", "x2")
    return Process(
        name="linear",
        source="Molnar et al. (2021), section 8",
        features=names,
        covariates=partial(uniform, names=names),
        function=_linear,
        noise="N(0, 1)",
        noise_sd=1.0,
        closed_pd=_linear_pd,
        closed_pfi={"x1": 2 / 12, "x2": 2 / 12}.get,  # twice the variance of a uniform
    )


def _linear(frame: pd.DataFrame) -> FloatArray:
    return np.asarray(frame["x1"] - frame["x2"], dtype=np.float64)


def _linear_pd(feature: str, x: FloatArray) -> FloatArray:
    return x - 0.5 if feature == "x1" else 0.5 - x


def molnar_nonlinear(version: Version = "code") -> Process:
    r"""Non-linear process of four features, of which two interact.

    .. math:: Y = x_1 - \sqrt{1 + x_2} + x_3 x_4 + (x_4 / 10)^2 + \epsilon

    Features are independent and uniform on [0, 1], :math:`\epsilon \sim N(0, 1)` (Molnar et al.
    2021, section 8). Closed forms: PD and PFI of all features.

    Parameters
    ----------
    version : {"code", "printed"}
        The code behind the paper's Tables 1 and 2 has :math:`\sqrt{1 + x_2}`; the text prints
        :math:`\sqrt{1 - x_2}`.

    Examples
    --------
    >>> from pyinterp_papers.processes import molnar_nonlinear
    >>> process = molnar_nonlinear()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         x3    x4     y
    0  0.14  0.95 -0.37
    1  0.83  0.41 -0.25
    """
    check_one_of("version", version, ("code", "printed"))
    names = ("x1", "x2", "x3", "x4")
    sign = 1 if version == "code" else -1
    pfi = {
        "x1": 2 / 12,
        "x2": 2 * (1 + sign / 2 - _mean_root(sign) ** 2),
        "x3": 1 / 3 * 2 / 12,  # E[x4^2] 2 V(x3)
        # 2 E V(x3 x4 + x4^2 / 100 | x3); Cov(x, x^2) = 1 / 12, V(x^2) = 4 / 45
        "x4": 2 * (1 / 3 / 12 + 2 / 2 / 12 / 100 + 4 / 45 / 100**2),
    }
    return Process(
        name="non-linear" if version == "code" else "non-linear (printed)",
        source=f"Molnar et al. (2021), section 8 ({version})",
        features=names,
        covariates=partial(uniform, names=names),
        function=partial(_nonlinear, sign=sign),
        noise="N(0, 1)",
        noise_sd=1.0,
        closed_pd=partial(_nonlinear_pd, sign=sign),
        closed_pfi=pfi.get,
    )


def _nonlinear(frame: pd.DataFrame, *, sign: int) -> FloatArray:
    x1, x2, x3, x4 = columns(frame, "x1", "x2", "x3", "x4")
    return np.asarray(x1 - np.sqrt(1 + sign * x2) + x3 * x4 + (x4 / 10) ** 2)


def _mean_root(sign: int) -> float:
    return 2 / 3 * (2**1.5 - 1) if sign == 1 else 2 / 3


def _nonlinear_pd(feature: str, x: FloatArray, *, sign: int) -> FloatArray:
    """Return the mean of f and the effect of a feature, which has mean 0."""
    mean = 1 / 2 - _mean_root(sign) + 1 / 4 + 1 / 300
    effects = {
        "x1": x - 1 / 2,
        "x2": _mean_root(sign) - np.sqrt(1 + sign * x),
        "x3": (x - 1 / 2) / 2,
        "x4": (x - 1 / 2) / 2 + (x / 10) ** 2 - 1 / 300,
    }
    return np.asarray(mean + effects[feature])


def molnar_figure2() -> Process:
    r"""Toy example with the PD curve of Figure 2, a wave and a slope.

    .. math:: Y = \sin(x_1) + x_1 / 2 + x_2 + x_2 x_3^2 + \epsilon

    with :math:`x_1` uniform on [0, 10], :math:`x_2, x_3 \sim N(0, 1)`, all independent, and
    :math:`\epsilon \sim N(0, 5^2)`. The paper doesn't print it; its code has it
    (compstat-lmu/code_relating_pdp_pfi_to_dgp). Closed forms: PD and PFI of all features.

    Examples
    --------
    >>> from pyinterp_papers.processes import molnar_figure2
    >>> process = molnar_figure2()
    >>> process.draw(2, seed=1).iloc[:, -3:].round(2)
         x2    x3     y
    0  0.33 -1.30 -0.15
    1  0.91  0.45  8.66
    """
    square = 1 / 2 - np.sin(20) / 40  # E[sin^2]
    cross = (np.sin(10) - 10 * np.cos(10)) / 10  # E[x sin x]
    pfi = {
        "x1": float(2 * (square + cross + 100 / 12 - FIGURE2_MEAN**2)),
        "x2": 2 * (1 + 2 + 3),  # 2 E[(1 + x3^2)^2]
        "x3": 4.0,  # E[x2^2] 2 V(x3^2)
    }
    return Process(
        name="figure 2",
        source="Molnar et al. (2021), code behind Figure 2",
        features=("x1", "x2", "x3"),
        covariates=_figure2_covariates,
        function=_figure2,
        noise="N(0, 5²)",
        noise_sd=5.0,
        closed_pd=_figure2_pd,
        closed_pfi=pfi.get,
    )


def _figure2_covariates(n: int, rng: np.random.Generator) -> pd.DataFrame:
    x1, normal = rng.uniform(0, 10, n), rng.standard_normal((n, 2))
    return pd.DataFrame({"x1": x1, "x2": normal[:, 0], "x3": normal[:, 1]})


def _figure2(frame: pd.DataFrame) -> FloatArray:
    x1, x2, x3 = columns(frame, "x1", "x2", "x3")
    return np.asarray(np.sin(x1) + x1 / 2 + x2 + x2 * x3**2)


def _figure2_pd(feature: str, x: FloatArray) -> FloatArray:
    # x2 has mean 0 and is independent of x3, whose square has mean 1.
    effects = {"x1": np.sin(x) + x / 2 - FIGURE2_MEAN, "x2": 2 * x, "x3": np.zeros(len(x))}
    return np.asarray(FIGURE2_MEAN + effects[feature])
