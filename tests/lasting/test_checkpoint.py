"""Checkpoints and shards: the same numbers, nothing made twice, and no refits of another call."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from shared import plain_table
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import FileError, OptionError, RefitError, RefitWarning
from pyinterp.resampling.checkpoint import Checkpoint

TREE = DecisionTreeRegressor(max_depth=3)


def draw(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["y", "x", "z"])
    return frame.assign(g=np.arange(60) % 3)


PLANS = {
    "half-sampling": pi.HalfSampling(3, pairs=5),
    "bootstrap": pi.Bootstrap(4, cluster="c"),
    "nested bootstrap": pi.NestedBootstrap(4, splits=2),
    "fresh": pi.FreshDraws(draw, 4),
    "list": [(np.arange(30), np.arange(30, 60)), (np.arange(20, 60), np.arange(20))],
}


@dataclass
class Counts:
    """Calls of a learner, by what they do."""

    fits: list[int] = field(default_factory=list)
    predicts: list[int] = field(default_factory=list)


class Counted(RegressorMixin, BaseEstimator):
    """Predicts by a weighted mean; counts calls, and fails or stops at chosen ones."""

    counts: ClassVar[Counts] = Counts()
    fails: ClassVar[Callable[[int], BaseException | None]] = staticmethod(lambda _: None)

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.counts.fits.append(len(y))
        error = type(self).fails(len(self.counts.fits))
        if error is not None:
            raise error
        self.slopes_ = np.random.default_rng(self.random_state).normal(size=X.shape[1])
        return self

    def predict(self, X):
        self.counts.predicts.append(len(X))
        return np.tanh(np.asarray(X) @ self.slopes_)


@pytest.fixture
def counts(monkeypatch):
    new = Counts()
    monkeypatch.setattr(Counted, "counts", new)
    monkeypatch.setattr(Counted, "fails", staticmethod(lambda _: None))
    return new


@pytest.fixture
def frame(data):
    return data.assign(g=np.arange(60) % 3, c=np.arange(60) % 20, w=1 + np.arange(60) % 2)


def learner(frame, estimator=TREE, **options):
    return pi.Learner.from_formula("y ~ x + z", frame, estimator, **options)


def same(one, other):
    """Hold that two results have the same numbers, to the last bit."""
    assert [r.number for r in one.analysis.refits] == [r.number for r in other.analysis.refits]
    for ask in (partial(pi.LearnerResults.pfi, cov_type="naive"), pi.LearnerResults.loss):
        a, b = ask(one), ask(other)
        pd.testing.assert_frame_equal(a.tidy(), b.tidy(), check_exact=True)
        assert plain_table(a) == plain_table(b)
        for name in ("values", "mc_variance", "effects", "alone", "halves"):
            sums = getattr(a.replicates.sums, name), getattr(b.replicates.sums, name)
            assert (sums[0] is None) == (sums[1] is None)
            np.testing.assert_array_equal(*sums)


def damage(file, how):
    data = file.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    file.write_bytes({"cut": data[:middle], "empty": b"", "flipped": flipped}[how])


def refit_files(folder):
    return sorted((folder / "refits").glob("*.pickle"))


@pytest.mark.parametrize("plan", PLANS)
def test_numbers_are_the_same_with_and_without(plan, frame, tmp_path):
    fit = partial(learner(frame).fit, PLANS[plan], seed=1)
    plain = fit()
    same(fit(checkpoint=tmp_path), plain)
    files = refit_files(tmp_path)
    assert len(files) == len(plain.analysis.refits)
    for file in files[1::2]:  # half of the work is lost
        file.unlink()
    same(fit(checkpoint=tmp_path), plain)
    same(fit(checkpoint=tmp_path), plain)


@pytest.mark.parametrize("plan", ["half-sampling", "fresh", "list"])
def test_shards_make_the_results_of_one_process(plan, frame, tmp_path):
    fit = partial(learner(frame).fit, PLANS[plan], seed=1)
    for number in (2, 1, 2):  # in any order, one of them repeated
        fit(checkpoint=tmp_path, shard=(number, 2))
    same(pi.join(tmp_path), fit())


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("formula", "options"),
    [
        ("y ~ x + z", {"weights": "w", "weights_type": "sampling"}),
        ("y ~ center(x) + C(g)", {"design_state": "refit", "design": "matrix"}),
    ],
)
def test_options_of_learners_and_jobs(formula, options, n_jobs, frame, tmp_path):
    made = pi.Learner.from_formula(formula, frame, LinearRegression(), **options)
    plain = made.fit(pi.Subsampling(4, fraction=0.8), seed=1)
    fit = partial(made.fit, pi.Subsampling(4, fraction=0.8), seed=1, n_jobs=n_jobs)
    same(fit(checkpoint=tmp_path), plain)
    refit_files(tmp_path)[0].unlink()
    same(fit(checkpoint=tmp_path), plain)


def test_arrays_have_checkpoints_too(frame, tmp_path):
    made = pi.Learner(frame["y"].to_numpy(), frame[["x", "z"]].to_numpy(), TREE)
    plain = made.fit(pi.Bootstrap(3), seed=1)
    for _ in range(2):
        same(made.fit(pi.Bootstrap(3), seed=1, checkpoint=tmp_path), plain)


def test_refits_that_failed_are_tried_again(frame, tmp_path, counts, monkeypatch):
    fit = partial(learner(frame, Counted()).fit, pi.Bootstrap(5), seed=1, on_error="drop")
    whole = fit()
    counts.fits.clear()
    monkeypatch.setattr(
        Counted, "fails", staticmethod(lambda n: ValueError("no") if n == 2 else None)
    )
    with pytest.warns(RefitWarning, match="1 of 5 refits failed"):
        first = fit(checkpoint=tmp_path)
    assert [r.number for r in first.refits] == [1, 3, 4, 5]
    second = fit(checkpoint=tmp_path)
    assert len(counts.fits) == 7  # the first one again too
    same(second, whole)


def test_shards_whose_refits_fail_are_joined(frame, tmp_path, counts, monkeypatch):
    fit = partial(learner(frame, Counted()).fit, pi.Bootstrap(4), seed=1, on_error="drop")
    always = staticmethod(lambda _: ValueError("no") if small(counts) else None)

    def small(counts):
        return counts.fits[-1] == 60 and counts_of_refit.pop(0) == 2

    # The second refit fails, whoever makes it.
    counts_of_refit = [1, 2, 3, 4]
    monkeypatch.setattr(Counted, "fails", always)
    with pytest.warns(RefitWarning, match="1 of 4"):
        plain = fit()
    counts_of_refit[:] = [1, 3]
    fit(checkpoint=tmp_path, shard=(1, 2))
    counts_of_refit[:] = [1, 2, 4]
    fit(checkpoint=tmp_path, shard=(2, 2))
    counts_of_refit[:] = [1, 2]
    with pytest.warns(RefitWarning, match="1 of 4"):
        same(pi.join(tmp_path), plain)
    counts_of_refit[:] = [1, 2]
    with pytest.raises(RefitError, match=r"No refit of this shard succeeded\. Refit 2 of 4"):
        fit(checkpoint=tmp_path, shard=(2, 4))


CHANGES = {
    "data": ("data", lambda f: learner(f.assign(x=f["x"] + 1e-9)).fit),
    "formula": (
        r"formula: y~x\+z there, y~x\*z here",
        lambda f: pi.Learner.from_formula("y ~ x * z", f, TREE).fit,
    ),
    "weights": ("data", lambda f: learner(f, weights="w", weights_type="sampling").fit),
    "plan": (
        r"plan: Bootstrap\(refits=4\) there, Bootstrap\(refits=5\) here",
        lambda f: partial(learner(f).fit, resampling=pi.Bootstrap(5)),
    ),
    "rows of the plan": (
        "rows that train or evaluate",
        lambda f: partial(learner(f).fit, resampling=pi.Bootstrap(4, strata=f["g"].to_numpy())),
    ),
    "seed": ("seed: 1 there, 2 here", lambda f: partial(learner(f).fit, seed=2)),
    "reseed": (
        "options.*reseed=True.*reseed=False",
        lambda f: partial(learner(f).fit, reseed=False),
    ),
    "design": (
        "options.*design_state='refit'",
        lambda f: learner(f, design="matrix", design_state="refit").fit,
    ),
    "models": (
        "options.*keep_models=True.*keep_models=False",
        lambda f: partial(learner(f).fit, keep_models=False, measure="pfi"),
    ),
    "response of one row": (
        "data",
        lambda f: learner(f.assign(y=f["y"].where(f.index != 7, f["y"] + 1e-9))).fit,
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_refits_of_another_call_are_refused(change, frame, tmp_path):
    plan = pi.Bootstrap(4)
    if change == "rows of the plan":
        plan = pi.Bootstrap(4, strata=frame["c"].to_numpy())
    learner(frame).fit(plan, seed=1, checkpoint=tmp_path)
    words, other = CHANGES[change]
    fit = partial(other(frame), checkpoint=tmp_path)
    fit = partial(fit, **{"resampling": plan, "seed": 1, **getattr(fit, "keywords", {})})
    with pytest.raises(
        OptionError, match=f"keeps refits of another call, which differs in its .*{words}"
    ):
        fit()


def test_rows_of_lists_and_of_fresh_draws_are_facts(frame, tmp_path):
    fit = partial(learner(frame).fit, seed=1, checkpoint=tmp_path)
    fit(PLANS["list"])
    with pytest.raises(OptionError, match="rows that train or evaluate"):
        fit([(np.arange(31), np.arange(31, 60)), PLANS["list"][1]])
    fresh = partial(learner(frame).fit, seed=1, checkpoint=tmp_path / "fresh")
    fresh(pi.FreshDraws(draw, 4))

    def moved(rng):
        return draw(rng) + 1e-9

    moved.__name__ = "draw"
    with pytest.raises(OptionError, match="rows that train or evaluate"):
        fresh(pi.FreshDraws(moved, 4))


def test_facts_that_can_not_be_read(frame, tmp_path):
    fit = partial(learner(frame).fit, seed=1, checkpoint=tmp_path)
    fit(PLANS["list"])
    for text in ("{", "[]"):
        (tmp_path / "facts.json").write_text(text)
        with pytest.raises(FileError, match=r"facts.json.* can't be read: .*another folder"):
            fit(PLANS["list"])


@pytest.mark.parametrize("how", ["cut", "empty", "flipped"])
def test_damaged_files_are_made_again(how, frame, tmp_path, counts):
    fit = partial(learner(frame, Counted()).fit, pi.Bootstrap(3), seed=1, checkpoint=tmp_path)
    plain = learner(frame, Counted()).fit(pi.Bootstrap(3), seed=1)
    fit().loco()
    for number in (0, 1):
        damage(refit_files(tmp_path)[number], how)
    damage(tmp_path / "call.pickle", how)
    for file in (tmp_path / "left_out").iterdir():
        damage(file, how)
    counts.fits.clear()
    again = fit()
    assert len(counts.fits) == 2 + 2  # the third is whole, and proves, twice
    same(again, plain)
    same(pi.join(tmp_path), plain)
    assert len(counts.fits) == 2 + 2 + 1
    again.loco()
    assert len(counts.fits) == 2 + 2 + 1 + 6


def test_refits_without_a_feature_are_kept(frame, tmp_path, counts):
    fit = partial(learner(frame, Counted()).fit, pi.Bootstrap(3), seed=1, checkpoint=tmp_path)
    first = fit().loco()
    counts.fits.clear()
    again = fit()
    pd.testing.assert_frame_equal(again.loco().tidy(), first.tidy(), check_exact=True)
    again.loco(loss="absolute")
    assert len(counts.fits) == 1 + 1  # the proofs alone
    names = [file.name for file in sorted((tmp_path / "left_out").iterdir())]
    assert len(names) == 6
    assert [name[:7] for name in names[::2]] == ["000001-", "000002-", "000003-"]
    grouped = learner(frame, Counted(), groups={"both": ["x", "z"]})  # other questions, one fit
    grouped.fit(pi.Bootstrap(3), seed=1, checkpoint=tmp_path).pfi()


def test_loco_goes_on_where_it_was_stopped(frame, tmp_path, counts, monkeypatch):
    fit = partial(learner(frame, Counted()).fit, pi.Bootstrap(3), seed=1)
    plain = fit().loco().tidy()
    results = fit(checkpoint=tmp_path)
    counts.fits.clear()
    monkeypatch.setattr(
        Counted, "fails", staticmethod(lambda n: KeyboardInterrupt() if n == 5 else None)
    )
    with pytest.raises(KeyboardInterrupt):
        results.loco()
    again = fit(checkpoint=tmp_path).loco().tidy()
    assert len(counts.fits) == 4 + 1 + 1 + 1 + 2  # of a refit and one without a feature: proofs
    pd.testing.assert_frame_equal(again, plain, check_exact=True)


def test_an_interrupt_says_what_was_done(frame, tmp_path, counts, monkeypatch):
    monkeypatch.setattr(
        Counted, "fails", staticmethod(lambda n: KeyboardInterrupt() if n == 3 else None)
    )
    fit = partial(learner(frame, Counted()).fit, pi.Bootstrap(5), seed=1)
    with pytest.raises(
        KeyboardInterrupt, match=r"2 of 5 refits were done\. With `fit\(checkpoint="
    ):
        fit()
    counts.fits.clear()
    with pytest.raises(
        KeyboardInterrupt, match=r"2 of 5 refits were done\. .* keeps them: the same"
    ):
        fit(checkpoint=tmp_path)
    assert len(refit_files(tmp_path)) == 2
    fit(checkpoint=tmp_path)
    assert len(counts.fits) == 2 + 1 + 1 + 3  # one is the proof


def test_no_seed_goes_on_with_that_of_the_folder(frame, tmp_path):
    fit = partial(learner(frame).fit, pi.Bootstrap(3), checkpoint=tmp_path)
    first, second = fit(), fit()
    assert first.seed == second.seed
    same(first, second)
    with pytest.raises(OptionError, match=f"seed: {first.seed} there, {first.seed + 1} here"):
        fit(seed=first.seed + 1)


@pytest.mark.parametrize("seed", [None, 1])
def test_shards_may_start_at_the_same_moment(seed, frame, tmp_path, monkeypatch):
    """Both see a new folder before either writes to it."""
    meeting = threading.Barrier(2)
    make = Checkpoint.make

    def met(self):
        made = make(self)
        meeting.wait()
        return made

    monkeypatch.setattr(Checkpoint, "make", met)
    made = learner(frame)
    errors = []

    def shard(number):
        try:
            made.fit(pi.Bootstrap(4), seed=seed, checkpoint=tmp_path, shard=(number, 2))
        except BaseException as error:  # noqa: BLE001 - for the main thread
            errors.append(error)

    threads = [threading.Thread(target=shard, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    monkeypatch.setattr(Checkpoint, "make", make)
    joined = pi.join(tmp_path)
    same(joined, made.fit(pi.Bootstrap(4), seed=joined.seed))


HOLDING = """
import sys
from pathlib import Path
from pyinterp.resampling.checkpoint import Checkpoint
with Checkpoint(Path(sys.argv[1])).lock(sys.argv[2], shared=len(sys.argv) > 3):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize(
    ("held", "asked"),
    [(("whole",), {}), (("whole", "shared"), {}), (("1 of 2",), {"shard": (1, 2)})],
)
def test_a_second_process_is_refused(held, asked, frame, tmp_path):
    fit = partial(learner(frame).fit, pi.Bootstrap(4), seed=1, checkpoint=tmp_path)
    with subprocess.Popen(  # noqa: S603 - this interpreter, on the code above
        [sys.executable, "-c", HOLDING, str(tmp_path), *held],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(FileError, match=r"Another process is at work in .* wait for it"):
            fit(**asked)
        if held != ("whole",):
            fit(shard=(2, 2))
        other.kill()  # whose lock ends with it
    fit(**asked)


def test_a_missing_shard_is_named(frame, tmp_path):
    fit = partial(learner(frame).fit, pi.Bootstrap(7), seed=1, checkpoint=tmp_path)
    shards = [fit(shard=(number, 3)) for number in (1, 3)]
    assert [[r.number for r in s.analysis.refits] for s in shards] == [[1, 4, 7], [3, 6]]
    with pytest.raises(FileError, match=r"lacks 2 of 7 refits: numbers 2, 5\. .*run it again"):
        pi.join(tmp_path)
    with pytest.raises(OptionError, match=r"of shard 1 of 3; `pi\.join` has all"):
        shards[0].pfi()


def test_what_shards_and_folders_must_be(frame, tmp_path):
    fit = partial(learner(frame).fit, pi.Bootstrap(3), seed=1)
    with pytest.raises(OptionError, match="`shard` needs a folder"):
        fit(shard=(1, 2))
    for wrong in ((0, 2), (3, 2), (1.0, 2), (True, 2), "12", 3, (1, 2, 3)):
        with pytest.raises(OptionError, match="`shard` must be a pair"):
            fit(shard=wrong, checkpoint=tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(OptionError, match=r"`shard` must be one of 3 at most, .* not \(4, 5\)"):
        fit(shard=(4, 5), checkpoint=tmp_path)
    (tmp_path / "file").write_text("")
    for wrong in (3, b"x"):
        with pytest.raises(OptionError, match="must be the path of a folder"):
            fit(checkpoint=wrong)
    with pytest.raises(OptionError, match="must be a folder to write to"):
        fit(checkpoint=tmp_path / "file")
    with pytest.raises(FileError, match="is no checkpoint"):
        pi.join(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


class Unpicklable(LinearRegression):
    """A learner with a lock, which no pickle holds, from its beginning or once it is fitted."""

    begins: ClassVar[int] = 0

    def __init__(self, *, early=False):
        super().__init__()
        self.early = early
        self.lock = threading.Lock() if early else None

    def fit(self, X, y):
        type(self).begins += 1
        self.lock = threading.Lock()
        return super().fit(X, y)


@pytest.mark.parametrize(("early", "fits"), [(True, 0), (False, 1)])
def test_learners_that_cannot_be_pickled(early, fits, frame, tmp_path, monkeypatch):
    made = learner(frame, LinearRegression())
    made.estimator = Unpicklable(early=early)
    monkeypatch.setattr(Unpicklable, "begins", 0)
    with pytest.raises(
        OptionError, match=r"can't be pickled \(TypeError: .*lock.*leave `checkpoint`"
    ):
        made.fit(pi.Bootstrap(5), seed=1, n_jobs=1, checkpoint=tmp_path)
    assert Unpicklable.begins == fits


def test_a_refit_whose_class_is_gone(frame, tmp_path, monkeypatch, counts):
    fit = partial(learner(frame, Counted()).fit, pi.Bootstrap(3), seed=1, checkpoint=tmp_path)
    fit()
    monkeypatch.setattr("pyinterp.parallel.pickles.pickle.loads", lambda _: 1 / 0)
    with pytest.raises(FileError, match=r"is whole, but can't be loaded here \(ZeroDivisionError"):
        fit()
