"""Files that appear whole or not at all, whatever ends the writing of them."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyinterp.errors import OptionError, quote


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a temporary file, which takes the place of `path` at the end.

    It is flushed to the disk before. An error, a kill or a full disk leaves the old file as it was.

    Parameters
    ----------
    path : path
        The temporary file is in the same folder and has the same suffix.

    Raises
    ------
    OptionError
        If the folder does not exist, or `path` is a folder.
    """
    target = _target(path)
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield temporary
        _flush(temporary)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    with suppress(OSError):  # not every system can flush a folder
        _flush(target.parent)


def _target(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise OptionError(f"`path` must be a text or a pathlib.Path, not {quote(path)}.")
    target = Path(path).expanduser().resolve()  # a link stays one
    if target.is_dir():
        raise OptionError(f"`path` must name a file, but {str(path)!r} is a folder.")
    if not target.parent.is_dir():
        raise OptionError(f"The folder of `path` must exist, but {str(path)!r} is in none.")
    return target


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
