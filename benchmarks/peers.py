"""Sections against woodelf (PD of tree ensembles) and hidimstat (PFI)."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import TypeAlias

import numpy as np
import pandas as pd
from cases import EVALUATE, FEATURES, FOREST, NAMES, Case, forest, trees
from ensembles import REPEATS
from paired import Pairs, pairs_of, table

import pyinterp as pi

__all__ = ["hidimstat", "woodelf"]

Curves: TypeAlias = dict[str, np.ndarray]

POINTS = 100
MANY = 100_000
RTOL = 1e-6  # of woodelf's sums in double precision


def woodelf(pairs: int) -> str:
    title = "## Partial dependence against woodelf"
    if find_spec("woodelf") is None:
        return f"{title}\n\nwoodelf is not installed.\n"
    few, many = min(pairs, 3), 1  # theirs takes most of a minute
    rows = [
        *_woodelf_pairs(forest(EVALUATE), pairs=few, goal=10),
        *_woodelf_pairs(forest(MANY), pairs=many, goal=1),
    ]
    return f"""{title}

The {FOREST}, {FEATURES} features, {POINTS} grid points each, the same for both. woodelf's exact
(background) PD either adds up in single precision, its choice for deep trees, or in double
precision (`use_woodelfhd=True`). The last column is the largest relative difference from ours; in
double precision it has to be below {RTOL:.0e}. Ours includes every row's ICE curve.

{table(rows, "woodelf", ("largest difference",))}
"""


def _woodelf_pairs(case: Case, *, pairs: int, goal: float) -> list[Pairs]:
    frame = pd.DataFrame(case.X, columns=NAMES)
    grid = _grid(frame)
    rows = []
    for double in (True, False):
        name = f"{len(frame):,} rows, woodelf in {'double' if double else 'single'} precision"
        row = pairs_of(
            name,
            lambda: _our_pd(case, grid),
            lambda double=double: _their_pd(case, frame, grid, double=double),
            pairs=pairs,
            goal=goal,
            warm=not rows,
        )
        rows.append(_largest_difference(row, RTOL if double else None))
    return rows


def _grid(frame: pd.DataFrame) -> pd.DataFrame:
    """Return quantiles in single precision: woodelf does not round inputs as scikit-learn does."""
    at = np.linspace(0.01, 0.99, POINTS)
    return frame.quantile(at).astype(np.float32).astype(np.float64).reset_index(drop=True)


def _our_pd(case: Case, grid: pd.DataFrame) -> Curves:
    model = pi.FittedModel(*case)
    return {name: model.pd(name, grid=grid[name].to_numpy()).params.to_numpy() for name in NAMES}


def _their_pd(case: Case, frame: pd.DataFrame, grid: pd.DataFrame, *, double: bool) -> Curves:
    pdp = import_module("woodelf.pdp")
    with warnings.catch_warnings():  # it gives a frame to a model of arrays
        warnings.simplefilter("ignore")
        curves: Curves = pdp.woodelf_fast_pdp(
            case.model, grid, frame, centered=False, use_woodelfhd=double, verbose=False
        )
    return curves


def _largest_difference(row: Pairs, rtol: float | None) -> Pairs:
    """Return the row with the largest relative difference, an error if it is too large."""
    ours, theirs = row.last
    worst = max(float(np.abs(theirs[n] / ours[n] - 1).max()) for n in NAMES)
    if rtol is not None and not worst <= rtol:
        raise SystemExit(f"{row.work}: PD differs by {worst:.1e}, more than {rtol:.0e}.")
    return Pairs(row.work, row.ours, row.theirs, row.goal, (f"{worst:.0e}",), (None, None))


def hidimstat(pairs: int) -> str:
    title = "## Permutation importance against hidimstat"
    if find_spec("hidimstat") is None:
        return f"{title}\n\nhidimstat is not installed.\n"
    rows = [
        pairs_of(
            f"{name}: exact PFI",
            lambda case=case: pi.FittedModel(*case).pfi().params,
            lambda case=case: _their_pfi(case),
            pairs=pairs,
        )
        for name, case in trees().items()
    ]
    return f"""{title}

Models and rows as against scikit-learn; `hidimstat.PFI(n_permutations={REPEATS})`. Ours is the mean
over all pairs of rows.

{table(rows, "hidimstat")}
"""


def _their_pfi(case: Case) -> np.ndarray:
    peer = import_module("hidimstat").PFI(case.model, n_permutations=REPEATS, random_state=0)
    importances: np.ndarray = peer.fit(case.X, case.y).importance(case.X, case.y)
    return importances
