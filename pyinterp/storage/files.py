"""Files that appear whole or not at all, whatever ends the writing of them."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from pyinterp._typing import FilePath
from pyinterp.errors import OptionError, quote, reason

# A name there may be that of an open file, which nothing may take the place of.
SYSTEM = ("/dev/", "/proc/")


def whole_file(path: FilePath) -> AbstractContextManager[Path]:
    """Yield the path of a temporary file, which takes the place of `path` at the end.

    It is flushed to the disk before. An error, a kill or a full disk leaves the old file as it was.
    The new one has its mode. Links stay, and what they lead to is written.

    Parameters
    ----------
    path : path
        The temporary file is in the same folder and has the same suffix. Only its owner reads it.

    Raises
    ------
    OptionError
        If no file, or none that you may write, can have this name.
    """
    return _in_place_of(*target_of(path))


def target_of(path: FilePath) -> tuple[Path, int]:
    """Return the place to which `path` leads, with its type and mode; 0 if nothing is there."""
    place, mode = place_of(path)
    target, name = place.resolve(), quote(str(path), 100)
    if (mode and not stat.S_ISREG(mode)) or str(place.absolute()).startswith(SYSTEM):
        raise OptionError(
            f"`path` must name a file, but {name} is a folder, a pipe or a device: give another "
            "path."
        )
    if not target.parent.is_dir():
        raise OptionError(f"The folder of `path` must exist, but {name} is in none: make it first.")
    if not all(os.access(each, os.W_OK) for each in [target.parent] + [target] * bool(mode)):
        raise OptionError(f"You must be allowed to write {name} and its folder: give another path.")
    return target, mode


def place_of(path: FilePath, option: str = "path") -> tuple[Path, int]:
    """Return the path of an option, with the type and mode of the file there; 0 without one.

    Raises
    ------
    OptionError
        If the system can't have it: for NUL characters, long names and links in a circle.
    """
    if not isinstance(path, str | os.PathLike):
        raise OptionError(f"`{option}` must be a text or a pathlib.Path, not {quote(path)}.")
    try:
        place = Path(path).expanduser()
        with suppress(FileNotFoundError):
            return place, place.stat().st_mode
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise OptionError(
            f"`{option}` must be a path that the system can have, but {quote(str(path), 100)} is "
            f"none ({reason(error)}): give another one."
        ) from error
    return place, 0


@contextmanager
def _in_place_of(target: Path, old: int) -> Iterator[Path]:
    """Yield the path of a file for nobody else, of a short name, which is moved to another."""
    end = f"{secrets.token_hex(4)}{target.suffix[:9]}"
    temporary = target.with_name(f".{target.stem[:6]}-{end}")
    first = 0o600 if old else 0o666  # of which the system takes what the mask has
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL, first))
        mode = stat.S_IMODE(old or temporary.stat().st_mode) & 0o777
        temporary.chmod(0o600)
        yield temporary
        _flush(temporary)
        temporary.chmod(mode)
        temporary.replace(target)
    except UnicodeEncodeError as error:
        raise OptionError(
            f"Files hold whole characters, but {quote(error.object[error.start :], 60)} begins "
            "with half of one: give another name or title."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    with suppress(OSError):  # not every system can flush a folder
        _flush(target.parent)


def _flush(path: Path) -> None:
    """Wait until a folder or file is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
