"""How the progress of jobs is shown: bars on terminals and in notebooks, or lines in a log."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Generator, Iterable
from typing import Literal, TypeVar

from pyinterp.errors import RefitWarning, level_of_caller

T = TypeVar("T")
SLOW = (
    "{} will take about {} more, for {} models. `fit(max_evaluation_rows=...)` makes that "
    "short and `bse` larger, and `progress=True` shows a bar."
)
ProgressOption = bool | Literal["log"]

LOG = logging.getLogger("pyinterp")
# Seconds that work takes at least of which progress is shown, and between lines of a log; and those
# that are left when a warning says so.
DELAY, PERIOD, LONG = 2.0, 10.0, 120.0


def with_progress(
    outcomes: Iterable[T], total: int, label: str, unit: str, progress: Literal[True, "log"]
) -> Generator[T, None, None]:
    """Yield the outcomes of jobs, and show after each how many there are.

    Work that is done within two seconds shows nothing.

    Parameters
    ----------
    outcomes : iterable
    total : int
        How many jobs there are.
    label : str
        What is done.
    unit : str
        What is counted.
    progress : True or "log"
        True shows a bar on a terminal and in a notebook, and nothing elsewhere. "log" writes lines
        with the time left to the logger "pyinterp", at level INFO.
    """
    if progress == "log":
        start = last = time.monotonic()
        for done, outcome in enumerate(outcomes, start=1):
            yield outcome
            now = time.monotonic()
            if now - last >= PERIOD or (done == total and now - start >= DELAY):
                last = now
                left = (now - start) / done * (total - done)
                rest = f", {clock(left)} left" if done < total else ""
                LOG.info(
                    "%s: %d of %d %ss in %s%s", label, done, total, unit, clock(now - start), rest
                )
    else:
        options = {"total": total, "desc": label, "unit": unit, "delay": DELAY}
        with _bar()(**options, disable=_no_bars()) as bar:
            for outcome in outcomes:  # tqdm's loop would close them too
                yield outcome
                bar.update()


def with_warning(
    outcomes: Iterable[T], total: int, at_once: int, label: str
) -> Generator[T, None, None]:
    """Yield the outcomes of jobs, and warn when those that are left will take minutes.

    The first outcome of every worker is not counted, as loops are compiled before it.

    Parameters
    ----------
    outcomes : iterable
    total, at_once : int
        How many jobs there are, and how many of them are done at the same time.
    label : str
        What is done.
    """
    start = time.monotonic()
    for done, outcome in enumerate(outcomes, start=1):
        yield outcome
        if done == at_once:
            start = time.monotonic()
        left = (time.monotonic() - start) / at_once * (total - done)
        if done == 2 * at_once and left > LONG:
            warnings.warn(SLOW.format(label, clock(left), total - done), RefitWarning,
                          level_of_caller())  # fmt: skip


def _bar() -> type:
    """Return tqdm's class of bars for where this runs."""
    with warnings.catch_warnings():
        # It warns in notebooks without ipywidgets, where it then draws bars of characters.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm  # noqa: PLC0415 - not needed without bars
    return tqdm


def _no_bars() -> bool | None:
    """Return whether bars are hidden: in a notebook no; None leaves it to tqdm, for terminals.

    tqdm's variable of the environment hides all of them.
    """
    if os.environ.get("TQDM_DISABLE"):
        return True
    try:
        shell = get_ipython()  # type: ignore[name-defined]  # IPython defines it where it runs
    except NameError:
        return None
    return False if "IPKernelApp" in shell.config else None


def clock(seconds: float) -> str:
    """Return ``1:02:03`` or ``2:03``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
