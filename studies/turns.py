"""Data sets of a study, cell by cell in turn, kept in a file that a study goes on with.

A study has cells of a learner, a number of rows and a world. Each is run by

    python studies/NAME.py RAW SECONDS [CELL ...]

Every data set adds lines to the file RAW, and what is there is not done again; after so many CPU
seconds it stops. The cells take turns, so that they have as many data sets; `CELL` is the begin of
their names, such as `boosting/`, `boosting/300/` or `boosting/300/linear`.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

import pyinterp as pi

KEY = ["learner", "n", "world"]
SETS = 400  # of a cell, at most
Cell: TypeAlias = tuple[str, int, str]


def add_sets(
    raw: Path, seconds: float, cells: Sequence[Cell], one_set: Callable[..., Any], columns: Any
) -> None:
    """Add ``one_set(learner, n, world, k)``, lines of a data set, to a file until time is over."""
    done: set[tuple[Any, ...]] = set()
    if raw.exists():
        before = pd.read_csv(raw, keep_default_na=False)[[*KEY, "set"]]
        done = set(before.itertuples(index=False, name=None))
    start = time.process_time()
    for k, cell in product(range(SETS), cells):
        if (*cell, k) in done:
            continue
        if time.process_time() - start > seconds:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lines = pd.DataFrame(one_set(*cell, k))
        lines = lines.assign(**dict(zip(KEY, cell, strict=True)), set=k)
        kept = lines.reindex(columns=[*KEY, "set", *columns])
        kept.to_csv(raw, mode="a", header=not raw.exists(), index=False)


def main(
    summary: Path,
    cells: Sequence[Cell],
    one_set: Callable[..., Any],
    columns: Sequence[str],
    summarize: Callable[[pd.DataFrame], pd.DataFrame],
) -> None:
    """Run what the command line asks for, and write the summary of all data sets there are."""
    raw, seconds, *chosen = sys.argv[1:]
    some = [cell for cell in cells if "/".join(map(str, cell)).startswith(tuple(chosen or [""]))]
    add_sets(Path(raw), float(seconds), some, one_set, columns)
    # A term is called "null".
    result = summarize(pd.read_csv(raw, keep_default_na=False, na_values=[""]))
    result.to_csv(summary, index=False)
    print(result.to_string())


def fitted(world: Any, learner: Any, n: int, k: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """Return a data set of a world, and five folds of a learner of all its variables."""
    data = world.draw(np.random.default_rng([n, k, seed]), n)
    model = pi.Learner.from_formula("y ~ .", data, learner[world.classifier])
    return data, model.fit(pi.CrossValidation(5), seed=k, progress=False)
