"""A file that is written over an old one is the old or the new one, whole, whatever happens."""

from __future__ import annotations

import errno
import os
import stat
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.storage import whole_file

mpl.use("Agg")
OLD = b"the old file"
FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(scope="module")
def fit() -> pi.LearnerResults:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "z"])
    data["y"] = data["x"] + rng.normal(size=40)
    learner = pi.Learner.from_formula("y ~ x + z", data, LinearRegression())
    return learner.fit(pi.HalfSampling(3, pairs=5), seed=1, progress=False)


WRITERS: dict[str, tuple[str, Callable[[Any, Path], Any]]] = {
    "results": ("a.pyinterp", lambda fit, path: fit.pfi().save(path)),
    "refits": ("a.pyinterp", lambda fit, path: fit.save(path)),
    "tests": ("a.pyinterp", lambda fit, path: fit.pfi().t_test("x = z").save(path)),
    "excel": ("a.xlsx", lambda fit, path: fit.pfi().to_excel(path)),
    "page": ("a.html", lambda fit, path: pi.report(fit, path, features=["x"])),
}
every_writer = pytest.mark.parametrize("name", WRITERS)


def fail_at(turn: int, function: Callable[..., Any], error: BaseException) -> Callable[..., Any]:
    """Return the function, whose call of that number does half of its work and raises."""
    left = [turn]

    def failing(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0]:
            return function(*arguments, **options)
        if function is Path.write_text:
            function(arguments[0], arguments[1][: len(arguments[1]) // 2], **options)
        raise error

    return failing


@every_writer
@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()], ids=["full disk", "Ctrl-C"])
@pytest.mark.parametrize("turn", [1, 3])
def test_an_error_half_way_leaves_the_old_file(
    name: str,
    error: BaseException,
    turn: int,
    fit: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file, write = WRITERS[name]
    path = tmp_path / file
    path.write_bytes(OLD)
    if name == "page":
        monkeypatch.setattr(Path, "write_text", fail_at(1, Path.write_text, error))
    else:
        writestr = fail_at(turn, zipfile.ZipFile.writestr, error)
        monkeypatch.setattr(zipfile.ZipFile, "writestr", writestr)
    with pytest.raises(type(error)):
        write(fit, path)
    assert path.read_bytes() == OLD
    assert [each.name for each in tmp_path.iterdir()] == [file]


@every_writer
def test_what_can_not_be_flushed_or_moved_leaves_the_old_file(
    name: str, fit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, write = WRITERS[name]
    path = tmp_path / file
    path.write_bytes(OLD)
    for place, function in ((os, "fsync"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(place, function, fail_at(1, getattr(place, function), FULL))
            with pytest.raises(OSError, match="No space left"):
                write(fit, path)
        assert path.read_bytes() == OLD
    assert [each.name for each in tmp_path.iterdir()] == [file]


@every_writer
def test_the_new_file_takes_the_place_of_the_old(name: str, fit: Any, tmp_path: Path) -> None:
    file, write = WRITERS[name]
    path = tmp_path / file
    path.write_bytes(OLD)
    write(fit, path)
    assert path.read_bytes() != OLD
    assert [each.name for each in tmp_path.iterdir()] == [file]


def test_files_are_flushed_before_they_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acts = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (acts.append("flush"), fsync(handle)))
    monkeypatch.setattr(Path, "replace", lambda a, b: (acts.append("move"), replace(a, b)))
    with whole_file(tmp_path / "a.txt") as temporary:
        temporary.write_bytes(b"new")
    assert acts == ["flush", "move", "flush"]  # the file, then the folder that names it


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
def test_modes_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_bytes(OLD)
    path.chmod(0o640)
    link.symlink_to(path)
    with whole_file(link) as temporary:
        temporary.write_bytes(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_suffix_stays_and_long_names_fit(tmp_path: Path) -> None:
    """Writers choose the format by the suffix; a name may have 255 bytes."""
    path = tmp_path / ("é" * 120 + ".xlsx")
    with whole_file(path) as temporary:
        assert temporary.suffix == ".xlsx"
        temporary.write_bytes(b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("path", [None, 3, b"x"])
def test_other_paths_are_refused(path: Any) -> None:
    with pytest.raises(OptionError, match="`path` must be a text"), whole_file(path):
        pass
