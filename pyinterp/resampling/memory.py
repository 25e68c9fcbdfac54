"""A word before a fit that needs much of the memory that is free."""

from __future__ import annotations

import os
import re
import warnings
from contextlib import suppress
from pathlib import Path

from pyinterp.data.sample import Sample
from pyinterp.errors import RefitWarning, level_of_caller
from pyinterp.resampling.resampling import Resampling

MEMORY = Path("/proc/meminfo")
COPIES = 4  # of one refit's rows as float64: encoded, and once more by learner and predictions


def warn_of_memory(plan: Resampling, population: Sample, features: int, most: int | None) -> None:
    """Warn if a fit and one PFI need more than half of the free memory; see `bytes_of`."""
    need, free = bytes_of(plan, population, features, most), free_bytes()
    if free is not None and need > free / 2:
        warnings.warn(
            f"This fit and one importance of all features need about {need / 1e9:.1f} GB, models "
            f"not counted, and {free / 1e9:.1f} GB are free. `max_evaluation_rows=` needs less, "
            "or a plan of fewer refits; `keep_models=False` keeps no models.",
            RefitWarning,
            stacklevel=level_of_caller(),
        )


def bytes_of(plan: Resampling, population: Sample, features: int, most: int | None) -> int:
    """Return the memory of a fit and one PFI, about, models left out: their size is not known.

    Positions of rows take 4 bytes; half of the rows, at `most` so many, evaluate a refit and have
    predictions; a PFI has three sums per row and feature; one refit's rows are copied.
    """
    rows, refits = population.nobs, plan.number
    evaluate = rows if most is None else min(most, rows)
    classes = population.response and population.response.classes
    per_evaluation_row = refits * 8 * len(classes or "1") // 2 + 3 * 8 * features
    columns = population.variables.shape[1]
    return rows * (4 * refits + COPIES * 8 * columns) + evaluate * per_evaluation_row


def free_bytes() -> int | None:
    """Return how much memory new work can have; None where the system does not tell."""
    with suppress(OSError):
        if told := re.search(r"MemAvailable: +(\d+) kB", MEMORY.read_text("ascii")):
            return 1024 * int(told[1])
    with suppress(OSError, AttributeError, ValueError):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
