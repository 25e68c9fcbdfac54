"""What tables print of one data set of a setting, and the judgment of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

import pyinterp as pi
from battery.rows import BAND, Answer, Ask, Row
from pyinterp.errors import DataError, LossError
from pyinterp.inference.half_sample.constants import LARGEST_IDLE_SHARE, LARGEST_SKEWNESS

LEVEL = 0.05
TRUTHS = 400  # fresh data sets, of other seeds, from which the truth of a term comes
FIELDS = ("estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high", "warned")


def one(row: Row, rng: np.random.Generator) -> dict[str, Answer]:
    """Return the answers of one data set.

    Data sets of the rarest class in which an area can't be computed are drawn again.
    """
    plan = pi.HalfSampling(cluster=row.cluster)
    while True:
        frame = row.draw(rng, row.n)
        seed = int(rng.integers(2**31))
        try:
            results = row.specified(frame).fit(plan, seed=seed, progress=False)
            return {name: ask(results) for name, ask in row.asks.items()}
        except LossError:  # an area without events among the rows of a refit, which is refused
            continue


def truth_of(row: Row, rng: np.random.Generator) -> pd.Series:
    """Return the truth of every term: the mean over fresh refits of the size that tables print.

    Every refit has data of its own, `TRUTHS` in all. Fresh draws have no clusters, weights or
    subgroups, and some lack a rare class: of these there are as many data sets, with two refits
    each.
    """

    def draw(stream: np.random.Generator) -> pd.DataFrame:
        return row.draw(stream, row.n)

    def fit(plan: pi.Resampling) -> pi.LearnerResults:
        return row.specified(draw(rng)).fit(plan, seed=int(rng.integers(2**31)), progress=False)

    def answers(asks: Mapping[str, Ask], plan: pi.Resampling) -> pd.Series:
        results = fit(plan)
        return printed({name: ask(results) for name, ask in asks.items()})["estimate"]

    def drawn_again(asks: Mapping[str, Ask], plan: pi.Resampling) -> pd.Series:
        while True:
            try:
                return answers(asks, plan)
            except (DataError, LossError):  # as in `one`, or a draw without a class
                continue

    known = row.cluster is None and row.weights is None
    fresh = {name: ask for name, ask in row.asks.items() if known and name != "by"}
    others = {name: ask for name, ask in row.asks.items() if name not in fresh}
    try:
        parts = [answers(fresh, pi.FreshDraws(draw, TRUTHS))] if fresh else []
    except (DataError, LossError):  # fresh draws are not drawn again one by one
        parts, others = [], dict(row.asks)
    if others:
        plan = pi.Subsampling(2, cluster=row.cluster)
        each = [drawn_again(others, plan) for _ in range(TRUTHS)]
        parts.append(pd.concat(each, axis=1).mean(axis=1))
    return pd.concat(parts).rename("estimate")


def printed(answers: Mapping[str, Answer]) -> pd.DataFrame:
    """Return the numbers of the tables, a line per term; `warned` is 1 for marked rows."""
    frames = []
    for name, answer in answers.items():
        frame = answer if isinstance(answer, pd.DataFrame) else answer.summary_frame()
        frame = frame.assign(warned=0.0 if isinstance(answer, pd.DataFrame) else _warned(answer))
        frames.append(frame.set_axis([f"{name} {term}" for term in frame.index]))
    return pd.concat(frames).reindex(columns=list(FIELDS))


def _warned(results: pi.EstimandResults) -> np.ndarray:
    marked = (results.replicates.skewness > LARGEST_SKEWNESS) | (
        results.replicates.idle_share > LARGEST_IDLE_SHARE
    )
    return np.where(marked | bool(results.variance.warning), 1.0, 0.0)


def judge(name: str, row: Row, d: Mapping[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    """Yield coverage, width, size and power of every term, and of every band as a whole.

    Widths are over the width of an interval with the true standard deviation.

    Parameters
    ----------
    name : str
    row : Row
    d : mapping of str to ndarray
        Numbers of `printed`, shape (data sets, terms), "names", and "truth" of `truth_of`.
    """
    terms = [str(term) for term in d["names"]]
    estimate, low, high, p = (d[f] for f in ("estimate", "conf_low", "conf_high", "p_value"))
    t = d["statistic"]
    varies = np.nanstd(estimate, axis=0) > 1e-12 * np.nanmax(np.abs(estimate), axis=0)
    truth = d["truth"]
    sd = np.nanstd(estimate, axis=0, ddof=1)
    has = ~np.isnan(low)
    missed_low, missed_high = (truth < low) & has, (truth > high) & has
    groups = {t: [j] for j, t in enumerate(terms) if not t.startswith(BAND)}
    for asked in row.asks:
        if asked.startswith(BAND):
            groups[asked] = [j for j, t in enumerate(terms) if t.startswith(f"{asked} ")]
    for term, columns in groups.items():
        among = has[:, columns].any(axis=1)
        if not varies[columns].any() or among.sum() < 2:
            continue
        if np.isnan(truth[columns]).any():  # which no interval would miss
            raise ValueError(f"{name}: the truth of {term} is not known")
        below, above = (m[:, columns].any(axis=1)[among] for m in (missed_low, missed_high))
        tested = ~np.isnan(p[:, columns]).all(axis=1)
        rejected = (p[:, columns] < LEVEL).any(axis=1)
        widths = (high - low)[:, columns] / (3.92 * sd[columns])
        plain = estimate + 2.131 * np.multiply.outer([-1, 1], d["std_error"])
        contradicts = ((plain[0] <= 0) & (plain[1] >= 0)) != (p >= LEVEL)
        yield {
            "row": name,
            "held": row.held,
            "family": row.family,
            "n": row.n,
            "term": term,
            "null": not term.startswith("contrast")
            and any(term.split(" | ")[0].endswith(f" {x}") for x in row.nulls),
            "data_sets": int(among.sum()),
            "refused": float(1 - among.mean()),
            "warned": float(d["warned"][:, columns].max(axis=1)[among].mean()),
            "truth": float(truth[columns].mean()),
            "truths": TRUTHS,
            "coverage": float(1 - (below | above).mean()),
            "below": float(below.mean()),
            "above": float(above.mean()),
            "width": float(np.nanmedian(widths)),
            "rejects": float(rejected[tested].mean()) if tested.any() else np.nan,
            "harm": float((rejected & (t[:, columns[0]] < 0))[tested].mean())
            if tested.any()
            else np.nan,
            "contradicts": float(contradicts[:, columns][tested].mean())
            if tested.any()
            else np.nan,
        }
