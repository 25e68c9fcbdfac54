"""How the progress of jobs is shown: bars on terminals and in notebooks, or lines in a log."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from pyinterp.errors import OptionError, quote

__all__ = ["ProgressOption", "check_progress", "clock", "count_jobs", "tell"]

ProgressOption: TypeAlias = bool | Literal["log"]

LOG = logging.getLogger("pyinterp")
# Seconds between lines of a log, at least.
PERIOD = 10.0


def check_progress(progress: object) -> None:
    """Raise `OptionError` unless this is True, False or "log"."""
    if not isinstance(progress, bool) and progress != "log":
        raise OptionError(f'`progress` must be True, False or "log", not {quote(progress)}.')


@contextmanager
def count_jobs(
    total: int, label: str, unit: str, progress: ProgressOption
) -> Iterator[Callable[[], object]]:
    """Yield a function to call after each job.

    Parameters
    ----------
    total : int
        How many jobs there are.
    label : str
        What is done.
    unit : str
        What is counted.
    progress : bool or "log"
        True shows a bar on a terminal and in a notebook, and nothing elsewhere. "log" writes lines
        with the time left to the logger "pyinterp", at level INFO.
    """
    if progress is False:
        yield lambda: None
    elif progress == "log":
        yield _Lines(total, label, unit).advance
    else:
        with _bar()(total=total, desc=label, unit=unit, disable=_no_bars()) as bar:
            yield bar.update


def tell(text: str, progress: ProgressOption) -> None:
    """Write a line of text where `count_jobs` shows its progress."""
    if progress == "log":
        LOG.info("%s", text)
    elif progress:
        with _bar()(desc=text, bar_format="{desc}", disable=_no_bars()) as line:
            line.refresh()


def _bar() -> type:
    """Return tqdm's class of bars for where this runs."""
    with warnings.catch_warnings():
        # It warns in notebooks without ipywidgets, where it then draws bars of characters.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm  # noqa: PLC0415 - not needed without bars
    return tqdm


def _no_bars() -> bool | None:
    """Return whether bars are hidden: in a notebook no; None leaves it to tqdm, for terminals.

    tqdm's own variable of the environment hides all of them.
    """
    if os.environ.get("TQDM_DISABLE"):
        return True
    try:
        shell = get_ipython()  # type: ignore[name-defined]  # IPython defines it where it runs
    except NameError:
        return None
    return False if "IPKernelApp" in shell.config else None


class _Lines:
    """Lines of a log, one in ten seconds at most, and one at the end."""

    def __init__(self, total: int, label: str, unit: str) -> None:
        self.total, self.label, self.unit = total, label, unit
        self.done = 0
        self.start = self.last = time.monotonic()

    def advance(self) -> None:
        """Count one job."""
        self.done += 1
        now = time.monotonic()
        if self.done < self.total and now - self.last < PERIOD:
            return
        self.last = now
        spent = now - self.start
        left = spent / self.done * (self.total - self.done)
        rest = f", {clock(left)} left" if self.done < self.total else ""
        LOG.info(
            "%s: %d of %d %s in %s%s",
            self.label, self.done, self.total, f"{self.unit}s", clock(spent), rest,
        )  # fmt: skip


def clock(seconds: float) -> str:
    """Return ``1:02:03`` or ``2:03``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
