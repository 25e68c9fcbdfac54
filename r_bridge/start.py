"""Start of R: on first use, in one place, with a sentence for everything that can be missing."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
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
RETICULATE = (1, 31)  # 1.28 ends R when rpy2 calls it, 1.31 does not


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
    _check_reticulate()
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


def _check_reticulate() -> None:
    """Refuse to run inside an R whose reticulate would end it."""
    inside = sys.modules.get("rpytools")  # reticulate's own module
    if inside is None or inside.__file__ is None:
        return
    about = Path(inside.__file__).parents[2] / "DESCRIPTION"
    said = re.search(r"^Version: (\d+)\.(\d+)", about.read_text("utf-8"), re.MULTILINE)
    if said is not None and (int(said[1]), int(said[2])) < RETICULATE:
        raise RMissingError(
            f"`r_bridge` inside R needs reticulate {'.'.join(map(str, RETICULATE))} or later, and "
            f"{said[1]}.{said[2]} would end this R with its data; update reticulate, or use the R "
            "package in r_package/, which calls R's learners without rpy2."
        )


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
def _holding_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C wait, and leave the program's handler of it as it was."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        yield
        return
    pressed: list[int] = []
    former = signal.set_wakeup_fd(-1)  # which a loop of events listens to
    if callable(handler):
        signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.set_wakeup_fd(former)
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
    with _holding_ctrl_c(), warnings.catch_warnings():
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
    version = _version_of_r()
    if version is None:
        home = os.environ.get("R_HOME")
        where = f"R_HOME is {home!r}, where there is no R" if home else "there is no `R` in PATH"
        return (
            f"`r_bridge` needs R, but {where}; install R (Debian: apt-get install r-base-core; "
            f"else https://cran.r-project.org), or set R_HOME to the folder that `R RHOME` prints. "
            f"({reason})"
        )
    return (
        f"rpy2 can't use {version}: their versions or builds do not fit; for R before 4.5 run "
        'pip install "rpy2-rinterface<3.6.6", set RPY2_CFFI_MODE=ABI if rpy2 was built for another '
        f"R, and see `python -m rpy2.situation`. ({reason})"
    )


def _version_of_r() -> str | None:
    """Return the first line of ``R --version``, of the R that rpy2 would use."""
    home = os.environ.get("R_HOME")
    program = str(Path(home, "bin", "R")) if home else "R"
    try:
        done = subprocess.run(  # noqa: S603 - the user's own R
            [program, "--version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith("R version")]
    return lines[0].strip() if lines else None
