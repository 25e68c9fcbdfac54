"""One kept refit is made again: edits that move it are refused, others go on, chance is named."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from shared import normal_rows
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, Ridge

import pyinterp as pi
from pyinterp.errors import OptionError, RefitError, RefitWarning
from pyinterp.resampling import refits as module_of_refits

PLAN = pi.Subsampling(6)
LOST = 3  # refits that a kill took


@pytest.fixture
def data():
    _, frame = normal_rows(60, "y x z")
    return frame.assign(y=frame["y"] + frame["x"])


def kill(folder):
    """Remove the last refits, as a kill does that comes before them."""
    files = sorted((folder / "refits").glob("*.pickle"))
    for file in files[len(files) - LOST :]:
        file.unlink()


def made(data, estimator, formula="y ~ x + z"):
    return pi.Learner.from_formula(formula, data, estimator)


def refusal(fit):
    with pytest.raises(OptionError, match="keeps refits of another learner") as error:
        fit()
    assert len(str(error.value)) <= 500
    return str(error.value)


class Scaled(Ridge):
    FACTOR = 1.0

    def fit(self, X, y):
        return super().fit(X, y * self.FACTOR)


def test_another_learner_is_refused_and_rounding_is_not(data, tmp_path, monkeypatch):
    fit = partial(made(data, Scaled()).fit, PLAN, seed=1, checkpoint=tmp_path)
    fit()
    monkeypatch.setattr(Scaled, "FACTOR", 1 + 1e-6)
    text = refusal(fit)
    assert " standard deviations). A setting, its code, a file that it reads, a version" in text
    monkeypatch.setattr(Scaled, "FACTOR", 1 + 1e-13)  # as threads that add in another order
    assert fit().analysis.context.folder == "6 of 6 refits, proven"


class Noisy(LinearRegression):
    """Learns from responses with noise of its own, which no seed repeats."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        return super().fit(X, y + np.random.default_rng().normal(size=len(y)))


def test_a_learner_that_never_repeats_has_a_footnote(data, tmp_path, monkeypatch):
    monkeypatch.setattr(Noisy, "fits", 0)
    fit = partial(made(data, Noisy()).fit, PLAN, seed=1, checkpoint=tmp_path)
    new = str(fit().pfi().summary())
    assert "folder" not in new
    kill(tmp_path)
    monkeypatch.setattr(Noisy, "fits", 0)
    results = fit()
    assert Noisy.fits == 3 + LOST
    again = results.pfi()
    tables = [again.summary(), results.pd("x").summary(), results.importance(["pfi", "loco"])]
    tables += [pi.compare([again, made(data, Ridge()).fit(PLAN, seed=1).pfi()], names=["a", "b"])]
    columns = " ".join(str(pi.summary_col([again, results.pd("x")])).split())
    assert "From a folder 3 of 6 refits, not proven" in columns
    assert "Nothing could be proven of the refits from a folder" in columns
    again.save(tmp_path / "pfi.pyinterp")
    tables.append(pi.load(tmp_path / "pfi.pyinterp").summary())
    for table in tables:
        text = " ".join(str(table if "summary" not in dir(table) else table.summary()).split())
        assert "From a folder: 3 of 6 refits, not proven" in text
        assert "Nothing could be proven of the refits from a folder: trained again on the" in text


def test_tables_of_a_proven_fit_say_so_without_a_footnote(data, tmp_path):
    fit = partial(made(data, Ridge()).fit, pi.HalfSampling(3, pairs=5), seed=1)
    assert fit(checkpoint=tmp_path).analysis.context.folder == ""
    kill(tmp_path)
    table = str(fit(checkpoint=tmp_path).pfi().summary())
    assert "From a folder:" in table
    assert "10 of 13 refits, proven" in table
    assert "could be proven" not in table


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_proof_is_one_refit(n_jobs, data, tmp_path, monkeypatch):
    """It is trained as the others are, and three times if it is refused or never repeats."""
    trained = []
    jobs = module_of_refits._Work._jobs

    def counted(self, numbers):
        trained.extend(numbers)
        return jobs(self, numbers)

    monkeypatch.setattr(module_of_refits._Work, "_jobs", counted)
    fit = partial(made(data, Ridge()).fit, PLAN, seed=1, n_jobs=n_jobs)
    fit(checkpoint=tmp_path)
    assert trained == [1, 2, 3, 4, 5, 6]
    trained.clear()
    fit(checkpoint=tmp_path)
    assert trained == [6]
    trained.clear()
    (tmp_path / "refits" / "000006.pickle").unlink()
    fit(checkpoint=tmp_path)
    assert trained == [5, 6]
    trained.clear()
    for number in (2, 1):
        fit(checkpoint=tmp_path / "shards", shard=(number, 2))
    pi.join(tmp_path / "shards")
    assert trained == [1, 2, 4, 6, 6, 3, 5, 6]


def test_shards_of_two_learners_are_refused(data, tmp_path):
    fit = partial(pi.Learner.fit, resampling=PLAN, seed=1, checkpoint=tmp_path)
    fit(made(data, Ridge(1)), shard=(2, 3))
    refusal(partial(fit, made(data, Ridge(2)), shard=(3, 3)))
    names = sorted(file.name for file in (tmp_path / "refits").glob("*.pickle"))
    assert names == ["000001.pickle", "000002.pickle", "000005.pickle"]


def test_join_proves_a_whole_folder(data, tmp_path, monkeypatch):
    fit = partial(made(data, Scaled()).fit, PLAN, seed=1, checkpoint=tmp_path)
    for number in (1, 2):
        fit(shard=(number, 2))
    assert pi.join(tmp_path).analysis.context.folder == "6 of 6 refits, proven"
    monkeypatch.setattr(Scaled, "FACTOR", 2.0)
    refusal(partial(pi.join, tmp_path))


def test_dropped_models_are_proven_by_what_was_measured(data, tmp_path, monkeypatch):
    options = {"resampling": PLAN, "seed": 1, "progress": False}
    options |= {"checkpoint": tmp_path, "keep_models": False}
    scale = [1.0]
    mine = pi.Loss("mine", lambda y, p: scale[0] * abs(y - p))
    fit = partial(made(data, Scaled()).fit, measure=pi.ask("pfi", loss=mine), **options)
    fit()
    kill(tmp_path)
    there, alone = fit(), made(data, Scaled()).fit(PLAN, seed=1)
    assert there.analysis.context.folder == "3 of 6 refits, proven"
    pd.testing.assert_frame_equal(
        there.pfi(loss=mine).tidy(), alone.pfi(loss=mine).tidy(), check_exact=True
    )
    with monkeypatch.context() as changed:
        changed.setattr(Scaled, "FACTOR", 2.0)
        refusal(fit)
    # Predictions are the same, numbers are not.
    scale[0] = 2.0
    refusal(fit)
    text = refusal(partial(fit, measure=pi.ask("pfi", "x", loss=mine)))
    assert "other names or shapes" in text


class Moody(Ridge):
    """Fails in fits that are chosen."""

    fails: Any = staticmethod(lambda _: False)

    def fit(self, X, y):
        if self.fails(y):
            raise ArithmeticError("no luck")
        return super().fit(X, y)


def test_a_kept_refit_that_fails_now(data, tmp_path, monkeypatch):
    fit = partial(made(data, Moody()).fit, PLAN, seed=1, checkpoint=tmp_path)
    fit()
    calls = iter(range(100))
    monkeypatch.setattr(Moody, "fails", staticmethod(lambda _: next(calls) < 1))
    with pytest.raises(RefitError, match=r"Refit 6 of 6 failed: .*no luck"):
        fit()
    calls = iter(range(100))
    assert fit(on_error="drop").analysis.context.folder == "6 of 6 refits, proven"  # once more
    monkeypatch.setattr(Moody, "fails", staticmethod(lambda _: True))
    refusal(partial(fit, on_error="drop"))
    calls = iter(range(100))
    monkeypatch.setattr(Moody, "fails", staticmethod(lambda _: next(calls) < 1))
    with pytest.warns(RefitWarning, match="1 of 6 refits failed"):  # what is new may fail still
        made(data, Moody()).fit(PLAN, seed=1, on_error="drop")


class Constant(RegressorMixin, BaseEstimator):
    """Predicts a mean whose last bit changes with every fit, as sums of threads may."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.mean_ = 1e6 * (1 + type(self).fits * 2e-16) + y.mean()
        return self

    def predict(self, X):
        return self.mean_ + 1e-10 * np.arange(len(X))


def test_rounding_of_equal_predictions_is_no_difference(data, tmp_path):
    fit = partial(made(data, Constant()).fit, PLAN, seed=1, checkpoint=tmp_path)
    fit()
    assert fit().analysis.context.folder == "6 of 6 refits, proven"
