"""What every candidate is made of, from one data set: fits of a plan that holds all of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import pyinterp as pi
from pyinterp._typing import FloatArray
from pyinterp.inference.half_sample import training_parts
from pyinterp.inference.learning import signal_and_spread
from pyinterp.inference.replicates import Half, Replicates
from pyinterp.inference.skewness import skewness
from pyinterp.resampling.halves import FRACTION, complementary
from pyinterp.resampling.plans import subsample
from pyinterp.resampling.resampling import Group, Split, Splitting, redraw
from pyinterp.resampling.units import Units

Ask = Callable[[pi.LearnerResults], pi.EstimandResults]


@dataclass(frozen=True, eq=False)
class EveryFit(Splitting):
    """Refits for the estimate, halves, two copies of a share of each, overlapping pairs."""

    refits: int = 15
    pairs: int = 15
    share: float = 0.9
    copies: int = 2
    overlapping: int = 19
    cluster: str | None = None

    @property
    def number(self) -> int:
        """Number of refits."""
        return self.refits + 2 * (1 + self.copies) * self.pairs + 2 * self.overlapping

    @property
    def label(self) -> str:
        """Name of the plan."""
        return "battery"

    def split(
        self, units: Units, rng: np.random.Generator, classes: FloatArray | None
    ) -> Iterator[Split]:
        """Yield the units of every refit."""
        number = 0
        for _ in range(self.refits):
            yield redraw(lambda: subsample(units, FRACTION, rng), units, classes, self.label)
        for _ in range(self.pairs):
            halves = complementary(units, rng, classes)
            for share in (1.0, *[self.share] * self.copies):
                for half, other in (halves, halves[::-1]):
                    size = round(share * len(half))
                    yield redraw(
                        lambda h=half, o=other, s=size, k=number: Split(
                            np.sort(rng.permutation(h)[:s]), o, Group("pair", k)
                        ),
                        units,
                        classes,
                        self.label,
                    )
                number += 1
        rest = units.count - round(FRACTION * units.count)
        for _ in range(self.overlapping):
            order = rng.permutation(units.count)
            for left in (np.sort(order[:rest]), np.sort(order[rest : 2 * rest])):
                train = np.setdiff1d(np.arange(units.count), left)
                yield Split(train, left, Group("pair", number))
            number += 1


def deviations(pairs: Sequence[tuple[Half, Half]]) -> tuple[FloatArray, FloatArray]:
    """Return the parts by training and by evaluation of pairs, each of shape (pairs, 2, q)."""
    flat = [half for pair in pairs for half in pair]
    value = np.array([half.estimate.value for half in flat])
    training = training_parts(flat)
    shape = (len(pairs), 2, value.shape[1])
    return training.reshape(shape), (value - training).reshape(shape)


def components(replicates: Replicates, plan: EveryFit, n: int) -> Mapping[str, FloatArray]:
    """Return arrays of shape (q,) by name."""
    main, M = replicates.per_refit, plan.pairs
    each = 1 + plan.copies
    pairs, over = replicates.pairs[: each * M], replicates.pairs[each * M :]
    out: dict[str, FloatArray] = {}
    for m in (8, 10, 12, 15):
        out[f"c{m}"], out[f"s{m}"] = main[:m].mean(axis=0), main[:m].var(axis=0, ddof=1) / m
    tau, eps = deviations(pairs[::each])
    D = (tau[:, 0] - tau[:, 1]) - (eps[:, 0] - eps[:, 1])
    values = tau + eps
    out["A"], out["ch"] = (D**2).mean(axis=0) / 4, values.mean(axis=(0, 1))
    out["middle"] = values.mean(axis=1).var(axis=0, ddof=1)
    out["A largest"] = (D**2).max(axis=0) / 4
    if plan.copies:
        out |= _of_copies(D, [*pairs[1::each], *pairs[2::each]], M)
    if over:
        out |= _of_overlapping(over, n)
    out["skewness"] = skewness(replicates)
    return out


def _of_copies(
    D: FloatArray, pairs: Sequence[tuple[Half, Half]], M: int
) -> Mapping[str, FloatArray]:
    out: dict[str, FloatArray] = {}
    tau, eps = deviations(pairs)
    E = ((tau[:, 0] - tau[:, 1]) - (eps[:, 0] - eps[:, 1])).reshape(2, M, -1)
    values = (tau + eps).reshape(2, M, 2, -1)
    for k in (10, 11, 12, 15):
        out[f"P{k}"] = (E[0, :k] * E[1, :k]).mean(axis=0) / 4
        out[f"PA{k}"] = (E[:, :k] ** 2).mean(axis=(0, 1)) / 4
    out["X"] = (D * E.mean(axis=0)).mean(axis=0) / 4
    both = values.mean(axis=2)
    out["cr"] = values.mean(axis=(0, 1, 2))
    out["Sr"] = both.mean(axis=0).var(axis=0, ddof=1) / M
    centered = both - both.mean(axis=1, keepdims=True)
    out["middle product"] = (centered[0] * centered[1]).sum(axis=0) / (M - 1)
    return out


def _of_overlapping(pairs: Sequence[tuple[Half, Half]], n: int) -> Mapping[str, FloatArray]:
    tau, eps = deviations(pairs)
    size, rest = round(FRACTION * n), n - round(FRACTION * n)
    Q = size * (tau[:, 0] - tau[:, 1]) - rest * (eps[:, 0] - eps[:, 1])
    mean = (tau + eps).mean(axis=1)
    return {
        "O": (Q**2).mean(axis=0) / (2 * rest * n),
        "co": mean.mean(axis=0),
        "So": mean.var(axis=0, ddof=1) / len(pairs),
    }


def one(
    frame: Any, formula: str, learner: Any, asks: Mapping[str, Ask], plan: EveryFit, seed: int
) -> tuple[dict[str, FloatArray], list[str]]:
    """Return the components of all estimands, side by side, and the names of the terms."""
    results = pi.Learner.from_formula(formula, frame, learner).fit(plan, seed=seed, progress=False)
    parts, names = [], []
    for name, ask in asks.items():
        answer = ask(results)
        found = dict(components(answer.replicates, plan, len(frame)))
        bounded = answer.replicates.lower_bound
        found["bound"] = np.full(len(found["A"]), np.nan if bounded is None else bounded)
        (learning,) = answer.replicates.learning
        found["mean share"] = np.resize(learning.mean_share, len(found["A"]))
        parts.append(found)
        names += [f"{name} {term}" for term in answer.params.index]
    out = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    cases = results.analysis.cases
    every = np.array([signal_and_spread(c.y, c.whatif.factual) for c in cases])
    kinds: dict[str, npt.NDArray[np.intp]] = {}
    m, each = plan.refits, 1 + plan.copies
    position = np.arange(2 * each * plan.pairs).reshape(plan.pairs, each, 2) + m
    kinds["main"], kinds["half"] = np.arange(m), position[:, 0].ravel()
    if plan.copies:
        kinds["copy"] = position[:, 1:].ravel()
    for kind, index in kinds.items():
        for column, what in enumerate(("signal", "spread")):
            out[f"{what} {kind}"] = np.full(len(names), every[index, column].mean())
            out[f"{what} {kind} median"] = np.full(len(names), np.median(every[index, column]))
            out[f"{what} {kind} sd"] = np.full(len(names), every[index, column].std(ddof=1))
    return out, names
