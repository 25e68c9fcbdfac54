"""Progress: nothing where nobody looks, bars on terminals and in notebooks, lines in a log."""

import io
import logging
import sys
from types import SimpleNamespace

import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError, RefitWarning
from pyinterp.parallel import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def learner(data):
    return pi.Learner.from_formula("y ~ x + z", data, LinearRegression())


def test_lines_of_a_log_say_what_is_left(monkeypatch, caplog):
    """A clock of 7 seconds a job: lines after 14, 28, ... seconds, and at the end."""
    clock = iter(range(0, 7000, 7))
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with caplog.at_level(logging.INFO, "pyinterp"):
        assert list(progress.with_progress("abcde", 5, "Refits", "fit", "log")) == list("abcde")
    assert [record.getMessage() for record in caplog.records] == [
        "Refits: 2 of 5 fits in 0:14, 0:21 left",
        "Refits: 4 of 5 fits in 0:28, 0:07 left",
        "Refits: 5 of 5 fits in 0:35",
    ]


def terminal_of(monkeypatch):
    """Return a terminal, on which the shortest work is shown."""
    terminal = Terminal()
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    return terminal


def test_a_log_belongs_to_the_call_that_asked_for_it(monkeypatch, learner, caplog):
    """A clock of 2 seconds a look."""
    clock = iter(range(0, 7000, 2))
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with caplog.at_level(logging.INFO, "pyinterp"):
        results = learner.fit(pi.Bootstrap(3), seed=1, progress="log")
        results.pfi()
        results.pd("x", progress="log")
    text = [record.getMessage() for record in caplog.records]
    assert text == ["Refits: 3 of 3 fits in 0:06", "PD: 3 of 3 fits in 0:06"]


def test_short_work_writes_no_lines(monkeypatch, learner, caplog):
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 0.0))
    with caplog.at_level(logging.INFO, "pyinterp"):
        learner.fit(pi.Bootstrap(3), seed=1, progress="log")
    assert caplog.records == []


def test_a_warning_says_that_minutes_are_left(monkeypatch, learner):
    """A clock of 10 seconds a look, of which the first model has two."""
    clock = iter(range(0, 7000, 10))
    results = learner.fit(pi.Bootstrap(30), seed=1)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with pytest.warns(RefitWarning, match="PFI will take about 9:20 more, for 28 models"):
        results.pfi()
    monkeypatch.setattr(progress, "LONG", 560)
    results.pfi(loss="absolute")


@pytest.mark.parametrize(("option", "seen"), [(True, True), (False, False)])
def test_bars_on_a_terminal(monkeypatch, learner, option, seen):
    shown = terminal_of(monkeypatch)
    learner.fit(pi.Bootstrap(3), seed=1, progress=option)
    assert ("Refits: 100%" in shown.getvalue()) == seen
    assert ("3/3" in shown.getvalue()) == seen


def test_work_of_two_seconds_is_shown(monkeypatch, learner):
    assert progress.DELAY == 2.0
    shown = terminal_of(monkeypatch)
    monkeypatch.setattr(progress, "DELAY", 1e9)
    learner.fit(pi.Bootstrap(3), seed=1, progress=True)
    assert shown.getvalue() == ""


def test_a_bar_belongs_to_the_call_that_asked_for_it(monkeypatch, learner):
    shown = terminal_of(monkeypatch)
    results = learner.fit(pi.Bootstrap(3), seed=1)
    after_fit = shown.getvalue()
    asked = [results.pfi(), results.loco(), results.pd("x", by="g"), results.importance("mvim")]
    assert shown.getvalue() == after_fit
    for ask, label in (
        (lambda **o: results.loco(loss="absolute", **o), "LOCO"),
        (lambda **o: results.importance("amvim", **o), "AMVIM"),
    ):
        before = len(shown.getvalue())
        ask(progress=True)
        assert f"{label}: 100%" in shown.getvalue()[before:]
    before = len(shown.getvalue())
    results.pfi(progress=True)  # which is measured already
    assert len(shown.getvalue()) == before
    assert len(asked) == 4
    model = learner.fit_model(seed=1)
    model.pfi()
    assert len(shown.getvalue()) == before
    model.pd("x", progress=True)
    assert len(shown.getvalue()) > before


def test_no_bars_elsewhere(capsys, learner):
    learner.fit(pi.Bootstrap(3), seed=1, progress=True)
    assert capsys.readouterr().err == ""


def test_other_values_are_refused(learner):
    with pytest.raises(OptionError, match='`progress` must be True, False or "log", not 1'):
        learner.fit(pi.Bootstrap(3), seed=1, progress=1)
    with pytest.raises(OptionError, match="`progress` must be"):
        learner.fit(pi.Bootstrap(3), seed=1).pfi(progress="yes")
