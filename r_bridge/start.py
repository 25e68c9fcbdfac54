"""Start of R: on first use, in one place, with a sentence for everything that can be missing."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from r_bridge.errors import RMissingError

__all__ = ["R", "start_r"]

LIBRARIES = "LD_LIBRARY_PATH"
INSTALL_RPY2 = 'pip install "pyinterp-stats[r]"'


class R(NamedTuple):
    """R, running: rpy2's low-level interface, and the bridge's own functions in R.

    rpy2's converters are never used: whatever a program does with them, the bridge's frames stay
    the same.
    """

    interface: Any
    openrlib: Any
    callbacks: Any
    helpers: Any


def start_r() -> R:
    """Import rpy2 and start R.

    Raises
    ------
    RMissingError
        If rpy2 or R is absent, or if their versions do not fit.
    """
    quiet = logging.getLogger("rpy2")  # what fails is raised, in words of our own
    level = quiet.level
    quiet.setLevel(logging.CRITICAL)
    try:
        interface, openrlib, callbacks = _import_rpy2()
        _start(interface, openrlib)
    finally:
        quiet.setLevel(level)
    helpers = interface.baseenv["new.env"](parent=interface.baseenv)
    for file in ("bridge.R", "formulas.R", "fits.R"):
        code = resources.files("r_bridge").joinpath(file).read_text(encoding="utf-8")
        interface.evalr(code, envir=helpers)
    return R(interface, openrlib, callbacks, helpers)


def _import_rpy2() -> tuple[Any, Any, Any]:
    try:
        from rpy2 import rinterface  # noqa: PLC0415 - R is loaded on first use
        from rpy2.rinterface_lib import callbacks, openrlib  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "rpy2":
            raise RMissingError(
                f"`r_bridge` needs rpy2, which is not installed; install it with {INSTALL_RPY2}."
            ) from error
        raise RMissingError(_broken(error)) from error
    except Exception as error:  # ValueError, RuntimeError, OSError, ffi.error: it depends
        raise RMissingError(_broken(error)) from error
    return rinterface, openrlib, callbacks


@contextmanager
def holding_ctrl_c(rlib: Any) -> Iterator[None]:
    """Let Ctrl-C wait until R returns: no exception of Python may pass through frames of R.

    R is told where it looks, which is whenever it has called Python.
    """
    handler = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or handler in (signal.SIG_IGN, None):
        yield
        return
    pressed: list[int] = []

    def note(number: int, _: Any) -> None:
        pressed.append(number)
        rlib.R_interrupts_pending = 1

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        rlib.R_interrupts_pending = 0
        signal.signal(signal.SIGINT, handler)
        if pressed:
            signal.raise_signal(signal.SIGINT)


def _start(interface: Any, openrlib: Any) -> None:
    """Start R, unless the program has done so; after half a start, the next call would end it."""
    home = openrlib.R_HOME
    if home is None or not Path(home, "library", "base").is_dir():
        # R itself would end the process.
        raise RMissingError(_broken(FileNotFoundError(f"no library of R in {home}")))
    searched = os.environ.get(LIBRARIES)
    with holding_ctrl_c(openrlib.rlib), warnings.catch_warnings():
        # Ctrl-C does not arrive in another thread.
        warnings.filterwarnings("ignore", message="(?s).*not initialized by the main")
        try:
            interface.initr()
        except Exception as error:  # as above
            raise RMissingError(_broken(error)) from error
        finally:
            # Only programs started from now on would notice: with R's folders first in line a
            # Python, such as a worker of joblib, may load another Python's library.
            if searched is None:
                os.environ.pop(LIBRARIES, None)
            else:
                os.environ[LIBRARIES] = searched


def _broken(error: Exception) -> str:
    """Return why rpy2 can't start R, and what to do."""
    reason = f"{type(error).__name__}: {str(error).strip() or 'no reason given'}"
    home = os.environ.get("R_HOME")
    if shutil.which(str(Path(home, "bin", "R")) if home else "R") is None:
        where = f"R_HOME is {home!r}, where there is no R" if home else "there is no `R` in PATH"
        return (
            f"`r_bridge` needs R, but {where}; install R (Debian: apt-get install r-base-core; "
            f"else https://cran.r-project.org), or set R_HOME to the folder that `R RHOME` prints. "
            f"({reason})"
        )
    return (
        "rpy2 can't use R: their versions or builds do not fit; for R before 4.5 run "
        'pip install "rpy2-rinterface<3.6.6", set RPY2_CFFI_MODE=ABI if rpy2 was built for another '
        f"R, and see `python -m rpy2.situation`. ({reason})"
    )
