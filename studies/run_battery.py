"""Run rows of the battery and keep the components of every data set, resumable.

python studies/run_battery.py FOLDER [--held] [--rows NAME ...] [--jobs 2] [--share 1]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
import zlib
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from battery import printed
from battery.components import EveryFit, one
from battery.printed import PRINTED
from battery.rows import ROWS
from joblib import Parallel, delayed

from pyinterp.errors import LossError

BLOCK = 10


def data_set(
    name: str, rng: np.random.Generator, plan: EveryFit
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the components of one data set of a row, or what is printed of it."""
    if name in PRINTED:
        return printed.one(PRINTED[name], rng)
    row = ROWS[name]
    while True:
        frame = row.draw(rng, row.n)
        seed = int(rng.integers(2**31))
        try:
            return one(frame, row.formula, row.estimator(), row.asks, plan, seed)
        except LossError:  # an area without events among the rows of a refit, which is refused
            continue


def block(
    name: str, first: int, size: int, *, few: bool = False
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the components of some data sets of a row, or what is printed."""
    plan = EveryFit(cluster=ROWS[name].cluster if name in ROWS else None)
    if few:
        plan = replace(plan, copies=0, overlapping=0)
    found, names = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for repetition in range(first, first + size):
            rng = np.random.default_rng([zlib.crc32(name.encode()), repetition])
            values, names = data_set(name, rng, plan)
            found.append(values)
    return {key: np.array([values[key] for values in found]) for key in found[0]}, names


def run(name: str, folder: Path, jobs: int, share: float, *, few: bool) -> None:
    """Run what a row lacks."""
    path = folder / f"{name.replace(' ', '_').replace('%', '')}.npz"
    kept = dict(np.load(path)) if path.exists() else {}
    done = len(kept["A" if name in ROWS else "estimate"]) if kept else 0
    total = int((ROWS | PRINTED)[name].repetitions * share) // BLOCK * BLOCK
    start = time.time()
    while done < total:
        size = min(2 * jobs, (total - done) // BLOCK)
        parts = Parallel(jobs)(
            delayed(block)(name, done + k * BLOCK, BLOCK, few=few) for k in range(size)
        )
        for values, names in parts:
            terms = kept.pop("names", np.array(names))
            if list(terms) != names:
                raise ValueError(f"{name}: terms differ, {list(terms)} and {names}")
            kept = {k: np.concatenate([kept[k], v]) if kept else v for k, v in values.items()}
            kept["names"] = terms
            done += BLOCK
        np.savez_compressed(path.with_suffix(".tmp.npz"), **kept)
        path.with_suffix(".tmp.npz").rename(path)
    print(f"{name}: {done} data sets, {time.time() - start:.0f} s", flush=True)


def main() -> None:
    """Run the rows named on the command line, or one side of the battery."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--rows", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--share", type=float, default=1.0, help="of the data sets of each row")
    parser.add_argument("--few", action="store_true", help="the fits of today's plan only")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    side = [name for name, row in ROWS.items() if row.held == arguments.held]
    side += PRINTED if arguments.held else []
    for name in arguments.rows or side:
        try:
            run(name, arguments.folder, arguments.jobs, arguments.share, few=arguments.few)
        except Exception as error:  # noqa: BLE001  a row that fails must not stop the others
            print(f"{name}: {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
