"""Section on hidimstat and R's vip (PFI), woodelf (PD), shap and R's hstats."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from cases import FOREST, TRAIN, Case, draw, ensembles
from paired import Line, table
from sklearn.base import clone

import pyinterp as pi

REPEATS, POINTS, BACKGROUND, ROWS = 30, 20, 100, 300
NAMES = [f"x{j + 1}" for j in range(10)]
R = {
    "vip": f"""vi_permute(model, train = d, target = "y", metric = "rmse", nsim = {REPEATS},
        pred_wrapper = function(object, newdata) predict(object, newdata))""",
    "hstats": f'perm_importance(model, X = d, y = "y", m_rep = {REPEATS})',
}
SCRIPT = "library(randomForest); library({}); d <- read.csv('{}'); set.seed(1)\n"
SCRIPT += "model <- randomForest(y ~ ., data = d, ntree = 100); {}"


def peers() -> str:
    parts = [
        _part("hidimstat", "hidimstat", _hidimstat),
        _part("woodelf", "woodelf", _woodelf),
        _part("shap", "shap", _shap),
        *[_of_r(package) for package in R],
    ]
    body = "\n\n".join(parts)
    return f"""
hidimstat: `PFI(n_permutations={REPEATS})`. woodelf: exact PD of all features at {POINTS} points,
without ICE curves, in double precision; both sides agree to 1e-6. shap: `TreeExplainer` with
`feature_perturbation="interventional"` and {BACKGROUND} background rows, for {ROWS} rows: another
estimand, and a bound, for which ours is PFI over all pairs of {ROWS} rows. vip and hstats: a
randomForest of 100 by R and its {REPEATS} permutations, against our forest and PFI; R starts in it.

{body}
"""


def _part(module: str, peer: str, lines: Callable[[], Iterator[Line]]) -> str:
    if find_spec(module) is None:
        return f"{peer} was not installed."
    return table(lines(), peer)


def _hidimstat() -> Iterator[Line]:
    peer = import_module("hidimstat")
    for name, one in ensembles().items():

        def theirs(one: Case = one) -> Any:
            pfi = peer.PFI(one.model, n_permutations=REPEATS, random_state=0)
            return pfi.fit(one.X, one.y).importance(one.X, one.y)

        yield Line(f"{name}: PFI", lambda one=one: pi.FittedModel(*one).pfi().bse, theirs)


def _woodelf() -> Iterator[Line]:
    peer, one = import_module("woodelf.pdp"), ensembles()["forest of 100"]
    frame = pd.DataFrame(one.X, columns=NAMES)
    # In single precision: it does not round inputs as scikit-learn does.
    grid = frame.quantile(np.linspace(0.01, 0.99, POINTS)).astype(np.float32).astype(np.float64)

    def ours() -> Any:
        model = pi.FittedModel(*one)
        return [model.pd(name, grid=grid[name].to_numpy()).params.to_numpy() for name in NAMES]

    def theirs() -> Any:
        with warnings.catch_warnings():  # it gives a frame to a model of arrays
            warnings.simplefilter("ignore")
            curves = peer.woodelf_fast_pdp(
                one.model, grid.reset_index(drop=True), frame, centered=False,
                use_woodelfhd=True, verbose=False,
            )  # fmt: skip
        return [curves[name] for name in NAMES]

    yield Line(f"forest of 100: PD, 10 x {POINTS}", ours, theirs, rtol=1e-6)


def _shap() -> Iterator[Line]:
    peer = import_module("shap")
    for name in ("forest of 100", "XGBoost", "LightGBM"):
        one = ensembles()[name]

        def theirs(one: Case = one) -> Any:
            explainer = peer.TreeExplainer(
                one.model, one.X[:BACKGROUND], feature_perturbation="interventional"
            )
            return explainer.shap_values(one.X[:ROWS], check_additivity=False)

        def ours(one: Case = one) -> Any:
            return pi.FittedModel(one.model, one.X[:ROWS], one.y[:ROWS]).pfi().bse

        yield Line(name, ours, theirs)


def _of_r(package: str) -> str:
    ask = "library({}); library(randomForest)"
    if shutil.which("Rscript") is None or _rscript(ask.format(package)).returncode:
        return f"R, or its {package} or randomForest, was not installed."
    X, y = draw(TRAIN)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "d.csv")
        pd.DataFrame(X, columns=NAMES).assign(y=y).to_csv(path, index=False)
        script = SCRIPT.format(package, path, R[package])
        line = Line(
            "forest of 100: fit and PFI",
            lambda: pi.FittedModel(clone(FOREST).fit(X, y), X, y).pfi().bse,
            lambda: _rscript(script).check_returncode(),
        )
        return table([line], package)


def _rscript(code: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["Rscript", "-e", code], capture_output=True, check=False)  # noqa: S603, S607
