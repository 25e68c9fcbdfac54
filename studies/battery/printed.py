"""Rows of the battery that are judged by what tables print: comparisons, contrasts, bands, plug-in.

Their intervals need covariances of terms, or two learners, so that there is one candidate, the
default. They were added after it was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

import pyinterp as pi
from battery import processes
from battery.processes import Draw
from battery.rows import BOOST, LEAF_5, LM, NORMAL
from pyinterp.estimands.causal import causal_importance

GRID = np.array(NORMAL)
FEATURES = ("x1", "x2", "x3")
FIELDS = ("estimate", "conf_low", "conf_high", "p_value")
# Terms that begin so are the points of one band, which covers if all of its points do.
BAND = "band of "
# Terms that are 0 whatever the learner, and the level of tests.
NULLS, LEVEL = ("AMVIM x3",), 0.05

Ask = Callable[[pi.LearnerResults, pi.LearnerResults], pd.DataFrame]


@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """One setting: a learner, and another with which it is compared.

    Attributes
    ----------
    draw : callable
    learner, other : estimator
    n : int
    family : str
        Of the learner.
    repetitions : int
    """

    draw: Draw
    learner: Any
    other: Any
    n: int
    family: Literal["stable", "tree", "boosting"]
    repetitions: int


def contrasts(results: pi.EstimandResults, *hypotheses: str) -> pd.DataFrame:
    """Return the table of contrasts."""
    return results.t_test(list(hypotheses)).summary_frame()


def plug_in(results: pi.LearnerResults, _: pi.LearnerResults) -> pd.DataFrame:
    """Return MVIM and CVIM of a feature as mean squared effects."""
    importance = causal_importance(results.analysis.problem, "x2")
    return results.estimate(replace(importance, diagnostic=None)).summary_frame()


ASKS: Mapping[str, Ask] = {
    "compare": lambda one, other: pi.compare(one, other).summary_frame(),
    "compare PFI": lambda one, other: pi.compare(one.pfi(), other.pfi()).summary_frame(),
    "contrast": lambda one, _: contrasts(
        one.pfi(), "x1 - x2", "x1 - x3", "x2 - x3", "x1 + x2 + x3"
    ),
    "contrast of PD": lambda one, _: contrasts(
        one.pd("x1", grid=GRID), "x1[1.3] - x1[-1.3]", "x1[0.6] - x1[0]"
    ),
    f"{BAND}PD": lambda one, _: one.pd("x1", grid=GRID, simultaneous=True).summary_frame(),
    f"{BAND}PFI": lambda one, _: one.pfi(simultaneous=True).summary_frame(),
    "AMVIM": lambda one, _: one.amvim().summary_frame(),
    "additive AMVIM": lambda one, _: one.amvim(method="additive").summary_frame(),
    "vint": lambda one, _: one.vint(grid=dict.fromkeys(FEATURES, GRID[::2])).summary_frame(),
    "FIRM given grid": lambda one, _: one.firm(grid=dict.fromkeys(FEATURES, GRID)).summary_frame(),
    "plug-in": plug_in,
}

P = processes
PRINTED: Mapping[str, PrintedRow] = {
    f"printed {name}": PrintedRow(
        draw=partial(P.normal, p=3),
        learner=learner,
        other=other,
        n=n,
        family=family,
        repetitions=repetitions,
    )
    for name, learner, other, n, family, repetitions in (
        ("lm", LM, LEAF_5, 100, "stable", 400),
        ("tree", LEAF_5, BOOST, 150, "tree", 200),
        ("boosting", BOOST, LM, 120, "boosting", 200),
    )
}


def one(row: PrintedRow, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return what tables print of one data set, all terms side by side, and the terms' names."""
    frame = row.draw(rng, row.n)
    seed = int(rng.integers(2**31))
    results, other = (
        pi.Learner.from_formula("y ~ .", frame, learner).fit(seed=seed, progress=False)
        for learner in (row.learner, row.other)
    )
    frames = {asked: ask(results, other) for asked, ask in ASKS.items()}
    names = [f"{asked} {term}" for asked, f in frames.items() for term in f.index]
    return {
        name: np.concatenate(
            [f[name] if name in f else np.full(len(f), np.nan) for f in frames.values()]
        )
        for name in FIELDS
    }, names


def judge(
    name: str, row: PrintedRow, d: Mapping[str, np.ndarray], terms: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield coverage and width of every term, and of every band as a whole.

    `excludes_bound` is the share of tests of 0 with P below 5%.
    """
    estimate, low, high, p = (d[field] for field in FIELDS)
    truth, sd = np.nanmean(estimate, axis=0), np.nanstd(estimate, axis=0, ddof=1)
    printed = ~np.isnan(low)
    holds = (low <= truth) & (truth <= high)
    # No interval is printed where nothing varies, as interactions of a linear model.
    width = np.full(len(terms), np.nan)
    some = printed.any(axis=0)
    width[some] = np.nanmedian((high - low)[:, some], axis=0) / (3.92 * sd[some])
    bands = {
        asked: [j for j, t in enumerate(terms) if t.startswith(asked)]
        for asked in ASKS
        if asked.startswith(BAND)
    }
    groups = {t: [j] for j, t in enumerate(terms) if not t.startswith(BAND)} | bands
    for term, columns in groups.items():
        among = printed[:, columns].any(axis=1)
        if not among.any():
            continue
        inside = (holds | ~printed)[:, columns].all(axis=1)
        tested = not np.isnan(p[:, columns]).all()
        yield {
            "row": name,
            "held": True,
            "family": row.family,
            "paper": False,
            "term": term,
            "null": term in NULLS,
            "candidate": "default",
            "data_sets": len(low),
            "warned": 0.0,
            "truth": truth[columns].mean(),
            "coverage": inside[among].mean(),
            "above": (truth > high)[:, columns].any(axis=1)[among].mean(),
            "width": np.nanmedian(width[columns]),
            "excludes_bound": (p[:, columns] < LEVEL).any(axis=1).mean() if tested else np.nan,
            "growth": np.nan,
        }
