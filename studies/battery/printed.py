"""Rows of the battery that are judged by what tables print: comparisons, contrasts, bands.

Their intervals need covariances of terms, or two learners, so that there is one candidate, the
default. All were added after it was chosen, and are held back in that sense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import pyinterp as pi
from battery import processes
from battery.processes import Draw
from battery.rows import BOOST, LEAF_5, LM, NORMAL

GRID = np.array(NORMAL)


class Printed(NamedTuple):
    """What a table prints of some terms, side by side; one term for a band of several."""

    names: list[str]
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray


Ask = Callable[[pi.LearnerResults, pi.LearnerResults], Printed]


@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """One setting: what is drawn, what learns, what it is compared with, and what is asked."""

    draw: Draw
    learner: Any
    other: Any
    n: int
    family: str
    asks: Mapping[str, Ask]
    nulls: tuple[str, ...] = ()
    repetitions: int = 400
    formula: str = "y ~ ."


def of_results(results: pi.EstimandResults) -> Printed:
    """Return what the table of an estimand prints."""
    limits = results.conf_int().to_numpy()
    names = [str(term) for term in results.params.index]
    return Printed(
        names, results.params.to_numpy(), limits[:, 0], limits[:, 1], results.pvalues.to_numpy()
    )


def of_contrasts(results: pi.EstimandResults, hypotheses: list[str]) -> Printed:
    """Return what the table of contrasts prints."""
    tests = results.t_test(hypotheses)
    limits = tests.conf_int()
    p = np.atleast_1d(tests.pvalue)
    return Printed(hypotheses, np.atleast_1d(tests.effect), limits[:, 0], limits[:, 1], p)


def curve(results: pi.LearnerResults, other: pi.LearnerResults) -> Printed:
    """Return the band of a partial dependence, of all points together."""
    return of_results(results.pd("x1", grid=GRID, simultaneous=True))


def plug_in(results: pi.LearnerResults, other: pi.LearnerResults) -> Printed:
    """Return MVIM and CVIM of three features by plug-in of causal effects."""
    every = [of_results(results.causal(x, points=3).importance) for x in ("x1", "x2", "x3")]
    names = [
        f"{name} {x}"
        for x, one in zip(("x1", "x2", "x3"), every, strict=True)
        for name in one.names
    ]
    return Printed(names, *(np.concatenate([one[k] for one in every]) for k in range(1, 5)))


ASKS: Mapping[str, Ask] = {
    "compare": lambda results, other: of_results(pi.compare(results, other)),
    "compare PFI": lambda results, other: of_results(pi.compare(results.pfi(), other.pfi())),
    "contrast": lambda results, other: of_contrasts(
        results.pfi(), ["x1 - x2", "x1 - x3", "x2 - x3", "x1 + x2 + x3"]
    ),
    "contrast of PD": lambda results, other: of_contrasts(
        results.pd("x1", grid=GRID), ["x1[1.3] - x1[-1.3]", "x1[0.6] - x1[0]"]
    ),
    "band of PD": curve,
    "band of PFI": lambda results, other: of_results(results.pfi(simultaneous=True)),
    "AMVIM": lambda results, other: of_results(results.amvim()),
    "additive AMVIM": lambda results, other: of_results(results.amvim(method="additive")),
    "vint": lambda results, other: of_results(
        results.vint(grid={x: GRID[::2] for x in ("x1", "x2", "x3")})
    ),
    "FIRM on a grid": lambda results, other: of_results(
        results.firm(grid={x: GRID for x in ("x1", "x2", "x3")})
    ),
    "plug-in": plug_in,
}


def one(row: PrintedRow, rng: np.random.Generator) -> dict[str, Printed]:
    """Return what is printed for one data set, by what is asked."""
    frame = row.draw(rng, row.n)
    seed = int(rng.integers(2**31))
    results, other = (
        pi.Learner.from_formula(row.formula, frame, learner).fit(seed=seed, progress=False)
        for learner in (row.learner, row.other)
    )
    return {name: ask(results, other) for name, ask in row.asks.items()}


def judge(
    name: str, row: PrintedRow, found: Mapping[str, Mapping[str, np.ndarray]]
) -> Iterator[dict[str, Any]]:
    """Yield coverage and width of every term, and of bands as a whole."""
    for asked, d in found.items():
        low, high, estimate = d["low"], d["high"], d["estimate"]
        truth, sd = estimate.mean(axis=0), estimate.std(axis=0, ddof=1)
        holds = (low <= truth) & (truth <= high)
        names = [f"{asked} {term}" for term in d["names"]]
        if asked.startswith("band"):
            # Terms without an interval vary in no data set.
            holds = (holds | np.isnan(low)).all(axis=1, keepdims=True)
            names, low, high = [asked], low[:, :1], high[:, :1]
        for j, term in enumerate(names):
            printed = ~np.isnan(low[:, j])
            yield {
                "row": name,
                "held": True,
                "family": row.family,
                "paper": False,
                "term": term,
                "null": any(term.endswith(f" {x}") for x in row.nulls),
                "candidate": "default",
                "data_sets": len(low),
                "warned": 0.0,
                "truth": truth[j],
                "coverage": float(holds[printed, j].mean()) if printed.any() else np.nan,
                "above": float((truth[j] > high[printed, j]).mean()) if printed.any() else np.nan,
                "width": float(np.nanmedian((high - low)[:, j]) / (3.92 * sd[j])),
                "excludes_bound": float((d["p_value"][:, j] < 0.05).mean()),
                "growth": np.nan,
            }


P = processes
PRINTED: Mapping[str, PrintedRow] = {
    "printed lm": PrintedRow(
        draw=partial(P.normal, p=3),
        learner=LM,
        other=LEAF_5,
        n=100,
        family="stable",
        asks=ASKS,
        nulls=("x3",),
    ),
    "printed tree": PrintedRow(
        draw=partial(P.normal, p=3),
        learner=LEAF_5,
        other=BOOST,
        n=150,
        family="tree",
        asks=ASKS,
        nulls=("x3",),
        repetitions=200,
    ),
    "printed boosting": PrintedRow(
        draw=partial(P.normal, p=3),
        learner=BOOST,
        other=LM,
        n=120,
        family="boosting",
        asks=ASKS,
        nulls=("x3",),
        repetitions=200,
    ),
}
