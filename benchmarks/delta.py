"""Section on the delta method: marginal effects of statsmodels' models, PD against loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from paired import Line, table
from patsy import build_design_matrices
from scipy.special import expit

import pyinterp as pi

POINTS = 20
NAMES = [f"x{j}" for j in range(1, 6)]
PLAIN = " + ".join(NAMES)
FORMULAS = {
    "plain": PLAIN,
    "np.log, I()": "np.log(x1 + 9) + I(x2**2) + x3 + x4 + x5",
    "bs, C()": "bs(x1, df=4) + C(g) + x3 + x4 + x5",
    "interaction": "x1 * C(g) + x3 + x4 + x5",
}
SIZES = 1_000, 10_000
LARGE = 100_000


def delta() -> str:
    effects = [
        _effects(n, kind, read=read)
        for n in (*SIZES, LARGE)
        for kind in ("logit", "mnlogit")
        for read in (False, True)
        if (n, kind) != (LARGE, "mnlogit")
    ]
    curves = [_curve(kind, n) for n in SIZES for kind in FORMULAS]
    curves += [_column(n) for n in (*SIZES, LARGE)]
    theirs = "marginaleffects is not installed."
    if find_spec("marginaleffects") is not None:
        theirs = table([line for n in SIZES for line in _slopes(n)], "marginaleffects")
    return f"""
A logit of 5 numbers with standard errors over its coefficients, which both sides give alike: to
1e-6 (1e-2 for marginaleffects, whose derivatives are differences). Ours and marginaleffects take
other models and estimands too; `get_margeff` has the derivatives of these models.

{table(effects, "get_margeff")}

{theirs}

"Read before" leaves out `pi.FittedModel(results, data)`, which reads the formula and checks it on
the results' own predictions.

PD of {POINTS} points against an analytic loop by hand: at each point the rows' matrix by patsy, the
mean of its rows times the derivative of the link, and the product with the covariance. "One column"
is the loop that takes the matrix of the fit and sets one column, against a model that was read
before.

{table(curves, "by hand")}
"""


def _effects(n: int, kind: str, *, read: bool) -> Line:
    data = _draw(n)
    results = getattr(smf, kind)(f"{'hit' if kind == 'logit' else 'kind'} ~ {PLAIN}", data)
    fitted = results.fit(disp=0)
    return Line(
        f"{kind}, {n:,} rows: AME" + (", read before" if read else ""),
        lambda *model: np.sort((model[0] if read else pi.FittedModel(fitted, data)).ame().bse),
        lambda *_: np.sort(fitted.get_margeff().margeff_se, axis=None),
        (lambda: (pi.FittedModel(fitted, data),)) if read else tuple,
        rtol=1e-6,
    )


def _slopes(n: int) -> Iterator[Line]:
    peer, data = import_module("marginaleffects"), _draw(n)
    fitted, grid = smf.logit(f"hit ~ {PLAIN}", data).fit(disp=0), _grid(data)
    points = {"x1": list(grid)}
    yield Line(
        f"logit, {n:,} rows: AME",
        lambda: np.asarray(pi.FittedModel(fitted, data).ame().bse),
        lambda: np.asarray(peer.avg_slopes(fitted)["std_error"]),
        rtol=1e-2,
    )
    yield Line(
        f"logit, {n:,} rows: PD",
        lambda: np.asarray(pi.FittedModel(fitted, data).pd("x1", grid=grid).bse),
        lambda: np.asarray(peer.avg_predictions(fitted, variables=points, by="x1")["std_error"]),
        rtol=1e-2,
    )


def _curve(kind: str, n: int) -> Line:
    data = _draw(n)
    fitted, grid = smf.logit(f"hit ~ {FORMULAS[kind]}", data).fit(disp=0), _grid(data)
    return Line(
        f"logit, {kind}, {n:,} rows: PD",
        lambda: np.asarray(pi.FittedModel(fitted, data).pd("x1", grid=grid).bse),
        lambda: _by_hand(fitted, data, grid),
        rtol=1e-6,
    )


def _column(n: int) -> Line:
    data = _draw(n)
    fitted, grid = smf.logit(f"hit ~ {PLAIN}", data).fit(disp=0), _grid(data)
    return Line(
        f"logit, one column, {n:,} rows: PD",
        lambda model: np.asarray(model.pd("x1", grid=grid).bse),
        lambda _: _by_column(fitted, grid),
        lambda: (pi.FittedModel(fitted, data),),
        rtol=1e-6,
    )


def _by_hand(results: Any, data: pd.DataFrame, grid: np.ndarray) -> np.ndarray:
    """Return the standard errors of PD, as an econometrician writes them."""
    spec = getattr(results.model.data, "model_spec", None) or results.model.data.design_info
    matrices = (build_design_matrices([spec], data.assign(x1=value))[0] for value in grid)
    return _sandwich(results, map(np.asarray, matrices))


def _by_column(results: Any, grid: np.ndarray) -> np.ndarray:
    """Return the same from the matrix of the fit, whose second column is the variable."""
    exog = results.model.exog.copy()

    def matrices() -> Iterator[np.ndarray]:
        for value in grid:
            exog[:, 1] = value
            yield exog

    return _sandwich(results, matrices())


def _sandwich(results: Any, matrices: Iterable[np.ndarray]) -> np.ndarray:
    gradients = []
    for matrix in matrices:
        p = expit(matrix @ results.params.to_numpy())
        gradients.append((p * (1 - p)) @ matrix / len(matrix))
    jacobian = np.array(gradients)
    return np.asarray(np.sqrt(np.diag(jacobian @ results.cov_params().to_numpy() @ jacobian.T)))


def _grid(data: pd.DataFrame) -> np.ndarray:
    return np.quantile(data["x1"], np.linspace(0.05, 0.95, POINTS))


def _draw(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(n, len(NAMES))), columns=NAMES)
    linear = 0.5 * data["x1"] * data["x2"] + 0.4 * data["x3"]
    hit = (linear + rng.logistic(size=n) > 0.3).astype(int)
    return data.assign(hit=hit, kind=rng.integers(0, 3, n), g=rng.integers(1, 5, n))
