"""Compiled loops are kept, and damaged files of theirs stop nothing."""

import warnings

import pytest
from shared import module_of

from pyinterp.parallel.loops import Loop

DAMAGE = {
    "cut off": lambda code: code[: len(code) // 2],
    "other": lambda code: b"\x80nonsense" + code,
}


@pytest.fixture
def loop(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "kept.py"
    path.write_text("def twice(x):\n    return 2 * x\n")
    return module_of(path).twice


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_thrown_away_with_one_warning(loop, tmp_path, kind, damage):
    assert Loop(loop)(2) == 4
    (file,) = (tmp_path / "cache").rglob(f"*.{kind}")
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    with pytest.warns(RuntimeWarning, match="can't be read .* compiled again") as caught:
        assert Loop(loop)(2) == 4
    assert len(caught) == 1
    again = Loop(loop)
    assert again(2) == 4
    assert sum(again.machine_code.stats.cache_hits.values()) == 1


def test_a_folder_that_can_not_be_written_stops_nothing(loop, tmp_path, monkeypatch):
    Loop(loop)(2)
    (file,) = (tmp_path / "cache").rglob("*.nbi")
    file.write_bytes(b"")
    damaged = Loop(loop)

    def refuse():
        raise PermissionError

    monkeypatch.setattr(damaged.machine_code._cache, "flush", refuse)
    with pytest.warns(RuntimeWarning):
        assert damaged(2) == 4


def test_sound_files_are_read_without_a_word(loop):
    Loop(loop)(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Loop(loop)
        assert again(2) == 4
    assert sum(again.machine_code.stats.cache_hits.values()) == 1


def test_no_folder_stops_nothing(loop, monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    assert Loop(loop)(2) == 4
