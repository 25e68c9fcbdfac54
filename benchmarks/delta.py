"""Section on the delta method: marginal effects against statsmodels, PD against a loop by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from paired import Pairs, pairs_of, table
from patsy import build_design_matrices
from statsmodels.tools.numdiff import approx_fprime

import pyinterp as pi

__all__ = ["delta"]

POINTS = 20
NAMES = [f"x{j}" for j in range(1, 6)]
PLAIN = " + ".join(NAMES)
FORMULAS = {
    "plain": PLAIN,
    "np.log, I()": "np.log(x1 + 9) + I(x2**2) + x3 + x4 + x5",
    "bs, C()": "bs(x1, df=4) + C(g) + x3 + x4 + x5",
    "interaction": "x1 * C(g) + x3 + x4 + x5",
}
RTOL = 1e-6  # of derivatives by central differences of second order


def delta(pairs: int) -> str:
    effects = [*_effects(pairs)]
    curves = [_curve(kind, n, pairs) for n in (1_000, 10_000) for kind in FORMULAS]
    return f"""## Delta-method errors against statsmodels

A logit of 5 numbers with standard errors over its coefficients. Ours takes any estimand by
differences; `get_margeff` has the derivatives of these models. Tests hold them equal to 1e-8.
Seconds are of the processor.

{table(effects, "get_margeff")}

PD of {POINTS} points against a loop by hand: at each point the rows' matrix, the mean prediction,
and its gradient by central differences of `model.predict` in the coefficients. Standard errors
differ by at most {RTOL:.0e}.

{table(curves, "by hand")}
"""


def _effects(pairs: int) -> Iterator[Pairs]:
    for n, goal in ((1_000, 0.03), (10_000, 0.1)):
        for kind in ("logit", "mnlogit"):
            data = _draw(n)
            results = _fit(kind, PLAIN, data)
            yield pairs_of(
                f"{kind}, {n:,} rows: AME",
                lambda results=results, data=data: pi.FittedModel(results, data).ame().bse,
                lambda results=results: results.get_margeff().margeff_se,
                pairs=pairs,
                goal=goal,
                clock=time.process_time,
            )


def _curve(kind: str, n: int, pairs: int) -> Pairs:
    data = _draw(n)
    results, grid = _fit("logit", FORMULAS[kind], data), _grid(data)
    row = pairs_of(
        f"logit, {kind}, {n:,} rows: PD",
        lambda: np.asarray(pi.FittedModel(results, data).pd("x1", grid=grid).bse),
        lambda: _by_hand(results, data, grid),
        pairs=pairs,
        goal=2,
        clock=time.process_time,
    )
    worst = float(np.abs(np.divide(*row.last) - 1).max())
    if not worst <= RTOL:
        raise SystemExit(f"{row.work}: standard errors differ by {worst:.1e}.")
    return row


def _by_hand(results: Any, data: pd.DataFrame, grid: np.ndarray) -> np.ndarray:
    """Return the standard errors of PD, as a user writes them."""
    model, params, gradients = results.model, results.params.to_numpy(), []
    spec = getattr(model.data, "model_spec", None) or model.data.design_info
    for value in grid:
        (exog,) = build_design_matrices([spec], data.assign(x1=value))
        matrix = np.asarray(exog)
        gradients.append(
            approx_fprime(params, lambda b, x=matrix: model.predict(b, x).mean(), centered=True)
        )
    jacobian = np.array(gradients).reshape(len(grid), -1)
    cov = jacobian @ results.cov_params().to_numpy() @ jacobian.T
    return np.asarray(np.sqrt(np.diag(cov)))


def _fit(kind: str, formula: str, data: pd.DataFrame) -> Any:
    response = "hit" if kind == "logit" else "kind"
    return getattr(smf, kind)(f"{response} ~ {formula}", data).fit(disp=0)


def _grid(data: pd.DataFrame) -> np.ndarray:
    return np.quantile(data["x1"], np.linspace(0.05, 0.95, POINTS))


def _draw(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(n, len(NAMES))), columns=NAMES)
    linear = 0.5 * data["x1"] * data["x2"] + 0.4 * data["x3"]
    hit = (linear + rng.logistic(size=n) > 0.3).astype(int)
    return data.assign(hit=hit, kind=rng.integers(0, 3, n), g=rng.integers(1, 5, n))
