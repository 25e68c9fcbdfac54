"""A file that is written over an old one is the old or the new one, whole, whatever happens."""

import errno
import os
import socket
import stat
import sys
import zipfile
from pathlib import Path

import matplotlib as mpl
import pytest
from fits import fit_of
from shared import normal_rows
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import FileError, OptionError
from pyinterp.resampling.checkpoint import Checkpoint
from pyinterp.simulation.records import StudyFile
from pyinterp.storage import whole_file

mpl.use("Agg")
OLD = b"the old file"
FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(scope="module")
def fit():
    rng, data = normal_rows(40, "x z")
    data["y"] = data["x"] + rng.normal(size=40)
    return fit_of("y ~ x + z", data, LinearRegression(), pi.HalfSampling(3, pairs=5))


WRITERS = {
    "results": ("a.pyinterp", lambda fit, path: fit.pfi().save(path)),
    "refits": ("a.pyinterp", lambda fit, path: fit.save(path)),
    "tests": ("a.pyinterp", lambda fit, path: fit.pfi().t_test("x = z").save(path)),
    "excel": ("a.xlsx", lambda fit, path: fit.pfi().to(path)),
    "page": ("a.html", lambda fit, path: pi.report(fit, path, features=["x"])),
}
every_writer = pytest.mark.parametrize("name", WRITERS)


def fail_at(turn, function, error):
    """Return the function, whose call of that number does half of its work and raises."""
    left = [turn]

    def failing(*arguments, **options):
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
def test_an_error_half_way_leaves_the_old_file(name, error, turn, fit, tmp_path, monkeypatch):
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
def test_what_can_not_be_flushed_or_moved_leaves_the_old_file(name, fit, tmp_path, monkeypatch):
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
def test_the_new_file_takes_the_place_of_the_old(name, fit, tmp_path):
    file, write = WRITERS[name]
    path = tmp_path / file
    path.write_bytes(OLD)
    write(fit, path)
    assert path.read_bytes() != OLD
    assert [each.name for each in tmp_path.iterdir()] == [file]


def test_files_are_flushed_before_they_move(tmp_path, monkeypatch):
    acts = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (acts.append("flush"), fsync(handle)))
    monkeypatch.setattr(Path, "replace", lambda a, b: (acts.append("move"), replace(a, b)))
    with whole_file(tmp_path / "a.txt") as temporary:
        temporary.write_bytes(b"new")
    assert acts == ["flush", "move", "flush"]  # the file, then the folder that names it


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
def test_modes_and_links_stay(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_bytes(OLD)
    path.chmod(0o640)
    link.symlink_to(path)
    with whole_file(link) as temporary:
        temporary.write_bytes(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_suffix_stays_and_long_names_fit(tmp_path):
    """Writers choose the format by the suffix; a name may have 255 bytes."""
    path = tmp_path / ("é" * 120 + ".xlsx")
    with whole_file(path) as temporary:
        assert temporary.suffix == ".xlsx"
        temporary.write_bytes(b"new")
    assert path.read_bytes() == b"new"


posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and modes of POSIX")


@posix
@pytest.mark.parametrize("old", [None, 0o600, 0o640, 0o644, 0o666])
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_only_the_owner_reads_temporary_files(old, mask, tmp_path, monkeypatch):
    path, seen = tmp_path / "a.txt", []
    if old is not None:
        path.write_bytes(OLD)
        path.chmod(old)
    chmod = Path.chmod

    def watched(file, mode):
        seen.append((stat.S_IMODE(file.stat().st_mode), file.stat().st_size))
        chmod(file, mode)

    monkeypatch.setattr(Path, "chmod", watched)
    usual = os.umask(mask)
    try:
        with whole_file(path) as temporary:
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
            temporary.write_bytes(b"new")
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    finally:
        os.umask(usual)
    assert stat.S_IMODE(path.stat().st_mode) == (0o666 & ~mask if old is None else old)
    # A new file has its mode from the first, while it is empty; one of an old file never.
    first = 0o666 & ~mask if old is None else 0o600 & ~mask
    assert seen == [(first, 0), (0o600, 3)]


@every_writer
@pytest.mark.parametrize("letter", ["x", "é"])
def test_every_writer_takes_the_longest_names(name, letter, fit, tmp_path):
    file, write = WRITERS[name]
    suffix = Path(file).suffix
    path = tmp_path / (letter * ((255 - len(suffix)) // len(letter.encode())) + suffix)
    write(fit, path)
    write(fit, path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


NO_NAMES = {
    "long": "x" * 300,
    "long path": "x/" * 3000 + "x",
    "NUL": "a\0b",
    "half a letter": "a\ud800b",
    "circle": "circle.xlsx",
    "two links": "one.xlsx",
    "in a circle": "circle.xlsx/x",
    "in a file": "file/x",
    "unknown user": "~no-such-user-here/x",
}
no_name = pytest.mark.parametrize("kind", NO_NAMES)


@pytest.fixture
def odd_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(OLD)
    (tmp_path / "circle.xlsx").symlink_to("circle.xlsx")
    (tmp_path / "one.xlsx").symlink_to("two")
    (tmp_path / "two").symlink_to("one.xlsx")
    return tmp_path


@posix
@no_name
@every_writer
def test_names_that_no_file_can_have_are_refused(kind, name, fit, odd_folder):
    _, write = WRITERS[name]
    end = "" if NO_NAMES[kind].endswith(".xlsx") else ".xlsx"
    before = sorted(odd_folder.iterdir())
    with pytest.raises(OptionError, match=r"`path` must .* but '.*: give another") as caught:
        write(fit, NO_NAMES[kind] + end)
    assert len(str(caught.value)) < 500
    assert sorted(odd_folder.iterdir()) == before


@posix
@no_name
def test_nor_are_they_read(kind, fit, odd_folder):
    odd = NO_NAMES[kind]
    for read in (pi.load, pi.join, StudyFile, Checkpoint.at):
        with pytest.raises(OptionError, match=r"`(path|checkpoint)` must be a path that"):
            read(odd)
    with pytest.raises(OptionError, match="`checkpoint` must be a path that"):
        fit.model.fit(pi.Holdout(0.5), seed=1, checkpoint=odd)
    with pytest.raises(OptionError, match="`path` must be a text"):
        pi.load(3)


@posix
def test_folders_pipes_and_devices_are_not_loaded(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # nobody writes: to wait for it would not end
    for path in (tmp_path, tmp_path / "pipe", os.devnull, "/dev/zero"):
        with pytest.raises(FileError, match="it is a folder, a pipe or a device"):
            pi.load(path)


@posix
def test_only_files_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for path in (tmp_path, "socket", "pipe", os.devnull, "/dev/stdout", "", ".", ".."):
            with pytest.raises(OptionError, match=f"must name a file, but .*{path}' is a folder"):
                whole_file(path)
    for path in ("none/x", tmp_path / "none" / "x"):
        with pytest.raises(OptionError, match=r"The folder of `path` must exist.*make it first"):
            whole_file(path)


@posix
def test_what_one_may_not_write_is_refused(tmp_path, monkeypatch):
    """`os.access` says so; for the superuser, who may all, in its place a look at the mode."""
    if not os.geteuid():
        monkeypatch.setattr(os, "access", lambda p, _: bool(Path(p).stat().st_mode & 0o200))
    path = tmp_path / "kept.txt"
    path.write_bytes(OLD)
    for closed, mode in ((path, 0o444), (tmp_path, 0o555)):
        closed.chmod(mode)
        try:
            with pytest.raises(OptionError, match=r"must be allowed to write '.*kept\.txt'"):
                whole_file(path)
        finally:
            closed.chmod(0o755)
    assert path.read_bytes() == OLD


def test_links_to_nothing_yet_are_followed(tmp_path):
    (tmp_path / "link").symlink_to("new")
    with whole_file(tmp_path / "link") as temporary:
        temporary.write_bytes(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new").read_bytes() == b"new"
