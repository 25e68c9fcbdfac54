"""Progress: nothing where nobody looks, bars on terminals and in notebooks, lines in a log."""

from __future__ import annotations

import builtins
import io
import logging
import sys
from types import SimpleNamespace

import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.parallel import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def learner(data: pd.DataFrame) -> pi.Learner:
    return pi.Learner.from_formula("y ~ x + z", data, LinearRegression())


def test_lines_of_a_log_say_what_is_left(monkeypatch, caplog) -> None:
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


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (3599, "59:59"), (3723, "1:02:03")]
)
def test_times_are_read_as_on_a_clock(seconds: float, text: str) -> None:
    assert progress.clock(seconds) == text


def test_a_fit_writes_to_the_log(monkeypatch, learner: pi.Learner, caplog) -> None:
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 0.0))
    with caplog.at_level(logging.INFO, "pyinterp"):
        results = learner.fit(pi.Bootstrap(3), seed=1, progress="log")
        results.pfi()
    text = [record.getMessage() for record in caplog.records]
    assert text[:2] == ["Refits: 3 of 3 fits in 0:00", "PFI: 3 of 3 fits in 0:00"]


@pytest.mark.parametrize(("option", "shown"), [(True, True), (False, False)])
def test_bars_on_a_terminal(monkeypatch, learner: pi.Learner, option: bool, shown: bool) -> None:
    terminal = Terminal()
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    learner.fit(pi.Bootstrap(3), seed=1, progress=option)
    assert ("Refits" in terminal.getvalue()) == shown


def test_no_bars_elsewhere(capsys, learner: pi.Learner) -> None:
    learner.fit(pi.Bootstrap(3), seed=1, progress=True)
    assert capsys.readouterr().err == ""


def test_notebooks_show_bars_unless_the_environment_says_no(monkeypatch) -> None:
    assert progress._no_bars() is None
    notebook = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setattr(builtins, "get_ipython", lambda: notebook, raising=False)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    assert progress._no_bars() is False
    monkeypatch.setenv("TQDM_DISABLE", "1")
    assert progress._no_bars() is True


def test_other_values_are_refused(learner: pi.Learner) -> None:
    with pytest.raises(OptionError, match='`progress` must be True, False or "log", not 1'):
        learner.fit(pi.Bootstrap(3), seed=1, progress=1)
