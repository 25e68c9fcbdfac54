"""How the progress of jobs is shown: bars on terminals and in notebooks, or lines in a log."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Generator, Iterable
from typing import Literal, TypeAlias, TypeVar

T = TypeVar("T")
ProgressOption: TypeAlias = bool | Literal["log"]

LOG = logging.getLogger("pyinterp")
# Seconds that work takes at least of which progress is shown, and between lines of a log.
DELAY, PERIOD = 2.0, 10.0


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
