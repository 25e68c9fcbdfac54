"""Compare candidates of the default rule with the one in the package, on the same data sets.

    python studies/rule/simulate.py FOLDER [--worlds NAME ...] [--edition 2] [--seconds 300]
    python studies/rule/simulate.py FOLDER --check 2
    python studies/rule/simulate.py FOLDER --judge

The first adds data sets to each world's file in FOLDER, for at most so many seconds; data set k of
a world is the same whenever it is drawn. The second compares data sets with the package's numbers.
The third writes `terms.csv` and `nulls.csv` beside this file, and prints what fails by the protocol
of `README.md`.
"""

from __future__ import annotations

import argparse
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
import sklearn
from rules import PRINTED, RULES, judge
from worlds import WORLDS, Estimator, World, replaced

import pyinterp as pi
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.half_sample.half_refits import (
    MIXTURES,
    HalfRefits,
    share_in_mean,
    signal_and_spread,
)
from pyinterp.inference.half_sample.variance import variance_parts
from pyinterp.inference.replicates import RefitEstimate, Replicates
from pyinterp.random import Seeds
from pyinterp.resampling import Group

EDITIONS = ("rule 2026, first seeds", "rule 2026, second seeds")
PAIRS = REFITS = 15
SHARE = 0.632
PARTS = ("c", "A", "S", "s2", "g", "r")
Split = tuple[np.ndarray, np.ndarray, Group | None]


def splits(n: int, rng: np.random.Generator) -> Iterator[Split]:
    """Yield training and evaluation rows of the default plan."""
    size = round(SHARE * n)
    for _ in range(REFITS):
        rows = rng.permutation(n)
        yield np.sort(rows[:size]), np.sort(rows[size:]), None
    for pair in range(PAIRS):
        rows = rng.permutation(n)
        halves = np.sort(rows[: n // 2]), np.sort(rows[n // 2 :])
        yield *halves, Group("pair", pair)
        yield *halves[::-1], Group("pair", pair)


def importance(model: Estimator, X: np.ndarray, y: np.ndarray) -> Estimate:
    """Return the PFI of all features over all pairs of rows, squared loss."""
    n, loss = len(y), np.square(y - model.predict(X))
    rows, donors = np.empty_like(X), np.empty_like(X)
    for j in range(X.shape[1]):
        more = np.square(y[:, None] - replaced(model, X, j)) - loss[:, None]
        rows[:, j], donors[:, j] = more.sum(axis=1) / (n - 1), more.sum(axis=0) / (n - 1)
    value = rows.mean(axis=0)
    return Estimate(value=value, rows=rows, donors=donors - value, mc_variance=np.zeros_like(value))


def measure(
    world: World, X: np.ndarray, y: np.ndarray, plan: Iterator[Split], mixing: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return the estimate and the parts of its variance on one data set."""
    mixed = np.column_stack([column[mixing.integers(len(X), size=MIXTURES)] for column in X.T])
    refits, signals, mixtures = [], [], []
    for train, rows, group in plan:
        model = world.train(X[train], y[train])
        refits.append(RefitEstimate(importance(model, X[rows], y[rows]), rows, group))
        signals.append(signal_and_spread(y[rows], model.predict(X[rows])))
        if group is not None:
            mixtures.append((group.number, model.predict(mixed)))
    halves = np.array([one.group is not None for one in refits])
    found = np.array(signals)
    fits = HalfRefits(found[~halves], found[halves], share_in_mean(mixtures))
    replicates = Replicates.of(tuple(refits), correction=0, no_effect=0.0, half_refits=(fits,))
    parts = variance_parts(replicates)
    values = (
        replicates.per_refit.mean(axis=0),
        np.diag(parts.A),
        parts.S,
        np.diag(parts.by_refits),
        parts.growth,
        parts.mean_share,
    )
    return {name: np.asarray(value) for name, value in zip(PARTS, values, strict=True)}


def stream(name: str, edition: int, number: int) -> np.random.Generator:
    """Return the generator of a data set; number -1 is the truth's."""
    return np.random.default_rng([zlib.crc32(f"{EDITIONS[edition]}, {name}".encode()), number + 1])


def truth(name: str, world: World) -> tuple[np.ndarray, np.ndarray]:
    """Return the importance of the learner on 0.632 n fresh rows, and its error.

    Exactly 0 for features that are independent of everything else.
    """
    size, rng = round(SHARE * world.n), stream(name, 0, -1)
    if world.exact:
        return 2 * np.square(world.slopes), np.zeros(len(world.slopes))
    found = []
    for _ in range(world.fits):
        model = world.train(*world.draw(size, rng))
        found.append(importance(model, *world.draw(100, rng)).value)
    values = np.array(found)
    null = np.isin(np.arange(values.shape[1]), world.nulls)
    return np.where(null, 0.0, values.mean(axis=0)), np.where(
        null, 0.0, values.std(axis=0, ddof=1) / np.sqrt(len(values))
    )


def run(name: str, folder: Path, edition: int, seconds: float) -> None:
    """Add data sets of a world to its file."""
    world, path, start = WORLDS[name], folder / f"{name}.{edition + 1}.npz", time.monotonic()
    kept = (
        dict(np.load(path))
        if path.exists()
        else dict(zip(("truth", "error"), truth(name, world), strict=True))
    )
    done = len(kept.get("c", ()))
    first = done
    while done < world.sets and time.monotonic() - start < seconds:
        batch = []
        for number in range(done, min(done + 25, world.sets)):
            rng = stream(name, edition, number)
            X, y = world.draw(world.n, rng)
            batch.append(measure(world, X, y, splits(world.n, rng), rng))
        for part in PARTS:
            new = np.array([one[part] for one in batch])
            kept[part] = np.concatenate([kept[part], new]) if part in kept else new
        done += len(batch)
        np.savez_compressed(path.with_suffix(".tmp.npz"), **kept)
        path.with_suffix(".tmp.npz").rename(path)
    spent = time.monotonic() - start
    print(f"{name}: {done} data sets, {done - first} new in {spent:.0f} s", flush=True)


def check(name: str, number: int) -> float:
    """Return the largest difference from the package's own numbers, relative to them.

    The package draws the splits and the mixtures. The estimate, the parts of the variance and both
    standard errors are compared.
    """
    world = WORLDS[name]
    X, y = world.draw(world.n, stream(name, 0, number))
    columns = [f"x{j + 1}" for j in range(X.shape[1])]
    data = pd.DataFrame(X, columns=columns).assign(y=y)
    learner = pi.Learner.from_formula("y ~ .", data, world.estimator)
    results = learner.fit(seed=number, progress=False)
    plan = ((r.train_rows, r.evaluation.rows, r.group) for r in results.analysis.refits)
    mixing = Seeds(number).stream("draws", name="mixtures of rows")
    ours = measure(world, X, y, plan, mixing)
    pfi = results.pfi(columns)
    theirs = pfi.variance_parts()
    error, at_zero = RULES[PRINTED](**ours)
    pairs = [
        (ours["c"], theirs["estimate"]),
        (ours["A"], theirs["A"]),
        (ours["S"], theirs["S"]),
        (ours["s2"], theirs["s2_m"]),
        (ours["g"], theirs["g"]),
        (ours["r"], theirs["r"]),
        (error, pfi.bse),
        (at_zero, np.sqrt(theirs["variance_null"])),
    ]
    return max(float(np.max(np.abs(a / np.asarray(b) - 1))) for a, b in pairs)


def main() -> None:
    """Simulate, check or judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--edition", type=int, default=1, choices=[1, 2])
    parser.add_argument("--seconds", type=float, default=300.0, help="for each world")
    parser.add_argument("--check", type=int, default=0, help="data sets of each world")
    parser.add_argument("--judge", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
    if arguments.judge:
        judge(arguments.folder, {k: w.nulls for k, w in WORLDS.items()}, Path(__file__).parent)
        return
    for name in arguments.worlds:
        if arguments.check:
            worst = max(check(name, number) for number in range(arguments.check))
            print(f"{name}: differs from the package by {worst:.1e}", flush=True)
        else:
            run(name, arguments.folder, arguments.edition - 1, arguments.seconds)


if __name__ == "__main__":
    main()
