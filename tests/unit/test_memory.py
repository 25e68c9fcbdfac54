"""A fit that needs more than half of the free memory says so before it starts."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.data.sample import Sample
from pyinterp.resampling import memory


@pytest.fixture(scope="module")
def learner() -> pi.Learner:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(1000, 3)), columns=["y", "a", "b"])
    return pi.Learner.from_formula("y ~ a + b", frame, LinearRegression())


@pytest.mark.parametrize(("most", "evaluate"), [(None, 1000), (200, 200)])
def test_the_sum_is_that_of_its_parts(learner: pi.Learner, most: int | None, evaluate: int):
    positions, copies = 4 * 10 * 1000, 4 * 8 * 1000 * 2
    predictions, sums = 8 * 10 * evaluate / 2, 3 * 8 * evaluate * 2
    need = memory.bytes_of(pi.CrossValidation(10), learner.population, 2, most)
    assert need == positions + copies + predictions + sums


def test_a_million_rows_are_gigabytes():
    """45 refits of a million rows: 0.36 GB, and 1.12 GB by 20 features."""
    rows = np.arange(1_000_000)
    frame = pd.DataFrame(np.zeros((len(rows), 20), np.float32))
    population = Sample(variables=frame, y=None, response=None, rows=rows)
    assert memory.bytes_of(pi.HalfSampling(), population, 20, None) == pytest.approx(1.48e9)


@pytest.mark.parametrize(("free", "said"), [(10.7e9, False), (10.5e9, True)])
def test_more_than_half_of_the_free_memory_is_said(
    learner: pi.Learner, monkeypatch: pytest.MonkeyPatch, free: float, said: bool
):
    monkeypatch.setattr(memory, "bytes_of", lambda *_: 5_300_000_000)
    monkeypatch.setattr(memory, "free_bytes", lambda: int(free))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        learner.fit(pi.CrossValidation(10), seed=1)
    assert [str(w.message) for w in told if w.category is pi.errors.RefitWarning] == said * [
        "This fit and one importance of all features need about 5.3 GB, models not counted, "
        "and 10.5 GB are free. `max_evaluation_rows=` needs less, or a plan of fewer refits; "
        "`keep_models=False` keeps no models."
    ]
    assert all(w.filename == __file__ for w in told)


def test_fewer_rows_need_less(learner: pi.Learner, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 300_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.fit(pi.CrossValidation(10), seed=1, max_evaluation_rows=100)


def test_free_memory_is_that_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, learner: pi.Learner
):
    def unknown(name: str) -> int:
        raise ValueError(name)

    told = tmp_path / "meminfo"
    told.write_text("MemTotal: 99 kB\nMemAvailable:   24 kB\nBuffers: 7 kB\n")
    monkeypatch.setattr(memory, "MEMORY", told)
    assert memory.free_bytes() == 24 * 1024
    monkeypatch.setattr(memory, "MEMORY", tmp_path / "none")
    monkeypatch.setattr(memory.os, "sysconf", {"SC_AVPHYS_PAGES": 3, "SC_PAGE_SIZE": 7}.__getitem__)
    assert memory.free_bytes() == 21
    monkeypatch.setattr(memory.os, "sysconf", unknown)
    assert memory.free_bytes() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.fit(pi.CrossValidation(10), seed=1)
