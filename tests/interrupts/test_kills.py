"""SIGKILL at any time: a fit with a checkpoint goes on, loses nothing and makes nothing twice.

But for refits that prove the others, and what is measured, which is not kept.

A life is a process that fits and asks, and is killed: at a random time, or at a random touch of a
file in the folder. Lives follow each other in one folder until one ends by itself. No assertion
depends on when a kill comes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import multiprocessing
import os
import pickle
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shared import own_classes, plain_table
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# Processes are copies of one that has imported what takes seconds.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["pyinterp.learner.learner", "sklearn.tree", "pytest"])
PLAN = pi.HalfSampling(3, pairs=5)
REFITS, LOCO_REFITS = 13, 2 * 13
LOG = "PYINTERP_TEST_FITS"  # where fits are counted
LIMIT = 120.0  # seconds after which a life has hung
BALLAST = 2**20  # bytes of a model, so that kills come in the middle of writes


class Logged(DecisionTreeRegressor):
    """A tree that is large, and appends a line to a file whenever it is fitted."""

    def __init__(self, random_state=None):
        super().__init__(max_depth=2, random_state=random_state)

    def fit(self, X, y):
        log = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, f"{X.shape[1]} {self.random_state}\n".encode())
        os.close(log)
        self.ballast_ = np.random.default_rng(0).bytes(BALLAST)
        return super().fit(X, y)


def fitted(folder, n_jobs, checkpoint):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 3)), columns=["y", "x", "z"])
    learner = pi.Learner.from_formula("y ~ x + z", data, Logged())
    os.environ[LOG] = str(folder / "fits")  # for workers too
    return learner.fit(PLAN, seed=1, n_jobs=n_jobs, checkpoint=checkpoint, progress=False)


def answers(results):
    return [results.pfi(), results.loco(), results.pd("x")]


def live(folder, n_jobs, touches):
    """Fit and ask; end by SIGKILL at a touch of the checkpoint, if that is asked for."""
    os.setsid()
    kept, left = folder / "kept", touches

    def look(event, arguments):
        nonlocal left
        if left is not None and event in ("open", "os.rename") and str(kept) in str(arguments[0]):
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)
    answers(fitted(folder, n_jobs, kept))
    os._exit(0)  # a copy would wait for its workers for ever


@dataclass
class Story:
    """What the lives in one folder made, and the folder before each."""

    folder: Path
    before: list[dict[str, tuple[int, int]]] = field(default_factory=list)
    fits: list[list[tuple[int, int]]] = field(default_factory=list)
    kills: int = 0
    halves: int = 0

    @property
    def files(self):
        """The whole files of the checkpoint: which they are, and when they were written."""
        found = {}
        for part in ("refits", "left_out"):
            for file in (self.folder / "kept" / part).glob("[!.]*"):
                about = file.stat()
                found[f"{part}/{file.name}"] = about.st_ino, about.st_mtime_ns
        return found

    def live(self, n_jobs, seconds, touches):
        """Run a life, killed after so many seconds or touches; say whether it was killed."""
        log = self.folder / "fits"
        start = log.stat().st_size if log.exists() else 0
        self.before.append(self.files)
        process = CONTEXT.Process(target=live, args=(self.folder, n_jobs, touches))
        process.start()
        process.join(seconds)
        process.kill()
        with contextlib.suppress(ProcessLookupError):  # no group yet, or no worker
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        text = log.read_bytes()[start:].decode() if log.exists() else ""
        lines = [line.split() for line in text.splitlines()]
        self.fits.append([(int(columns), int(state)) for columns, state in lines])
        self.halves += len(list((self.folder / "kept").rglob(".*-*")))
        return process.exitcode != 0

    def check(self, plain):
        """Hold that nothing was lost, nothing was made twice, and the tables are the same."""
        after = [*self.before[1:], self.files]
        for old, new in zip(self.before, after, strict=True):
            assert old.items() <= new.items()  # neither lost nor written again
        states = {}
        for file in (self.folder / "kept" / "refits").glob("[!.]*.pickle"):
            states[f"refits/{file.name}"] = state_of(file)
        assert len(set(states.values())) == REFITS
        for kept, fits in zip(self.before, self.fits, strict=True):
            kept_states = {states[name] for name in kept if name in states}
            made = [state for columns, state in fits if columns == 2]
            assert set(made[: proofs_of(kept)]) <= kept_states
            new = made[proofs_of(kept) :]
            assert len({*new} - kept_states) == len(new)
        # The last life made what was missing, and no more.
        made = [columns for columns, _ in self.fits[-1]]
        before = sum(name.startswith("refits/") for name in self.before[-1])
        assert made.count(2) == REFITS - before + proofs_of(self.before[-1])
        assert len(set(self.files) - set(states)) == LOCO_REFITS
        again = fitted(self.folder, 1, self.folder / "kept")
        for one, other in zip(answers(again), plain, strict=True):
            pd.testing.assert_frame_equal(one.tidy(), other.tidy(), check_exact=True)
            assert plain_table(one) == plain_table(other)
        assert len((self.folder / "fits").read_text().splitlines()) == sum(map(len, self.fits)) + 3


def proofs_of(files):
    """Return how many fits prove a folder: one of each kind, twice if it is the only one."""
    numbers = [int(name[7:13]) for name in files if name.startswith("refits/")]
    kinds = [sum(number <= PLAN.refits for number in numbers)]
    kinds.append(len(numbers) - kinds[0])
    return sum(min(count, 1) + (count == 1) for count in kinds)


def state_of(file):
    """Return the seed of a refit that is kept."""
    return int(pickle.loads(file.read_bytes()[32:])[0].estimator.random_state)  # noqa: S301 - ours


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return answers(fitted(tmp_path_factory.mktemp("plain"), 1, None))


def stories(path, kills, n_jobs, seed):
    """Yield stories until there were so many kills, by time or by touches at random."""
    rng, count, number = np.random.default_rng(seed), 0, itertools.count()
    begin = time.monotonic()
    whole = Story(path / "undisturbed")
    whole.folder.mkdir()
    assert not whole.live(n_jobs, LIMIT, None)
    seconds = time.monotonic() - begin
    yield whole
    while count < kills:
        story = Story(path / str(next(number)))
        story.folder.mkdir()
        killed = True
        while killed:
            limit, touches = LIMIT, None
            if count + story.kills < kills:
                by_time = bool(rng.integers(2))
                limit = rng.uniform(0, seconds) if by_time else LIMIT
                touches = None if by_time else int(rng.integers(1, 120))
            killed = story.live(n_jobs, limit, touches)
            story.kills += killed
        count += story.kills
        yield story


def check_kills(path, kills, n_jobs, plain):
    told = list(stories(path, kills, n_jobs, seed=kills))
    for story in told:
        story.check(plain)
    done, halves = sum(s.kills for s in told), sum(s.halves for s in told)
    print(f"{done} kills in {len(told) - 1} folders, {halves} files half written")
    assert done == kills


@pytest.mark.parametrize(("kills", "n_jobs"), [(8, 1), (2, 2)])
def test_a_fit_survives_kills(kills, n_jobs, plain, tmp_path):
    check_kills(tmp_path, kills, n_jobs, plain)


@pytest.mark.torture
@pytest.mark.parametrize(("kills", "n_jobs"), [(180, 1), (20, 2)])
def test_a_fit_survives_many_kills(kills, n_jobs, plain, tmp_path):
    check_kills(tmp_path, kills, n_jobs, plain)


def test_the_checks_see_what_is_made_twice(tmp_path, plain):
    story = Story(tmp_path)
    assert story.live(1, LIMIT, 60)
    assert not story.live(1, LIMIT, None)
    story.check(plain)
    story.before[1].pop(next(name for name in story.before[1] if name.startswith("refits/")))
    with pytest.raises(AssertionError):
        story.check(plain)


@pytest.mark.skipif(importlib.util.find_spec("catboost") is None, reason="needs CatBoost")
def test_fits_of_own_classes_survive_kills(tmp_path):
    lives = [own_classes(tmp_path, seed, 10) for seed in range(4)]
    assert sum(done for done, _ in lives) == 40
    kept = lives[-1][1]
    assert len({*kept.values()}) > 2  # folders are of many lengths
    for name, ((fresh, resumed), said) in own_classes(tmp_path).items():
        assert fresh == resumed, name
        assert said == (f"{kept[name]} of 4 refits, proven" if kept[name] else ""), name
