"""Budgets of the house: tokens, classes, public names, and functions on the way of a call."""

import sys
from pathlib import Path

import counts
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pyinterp"
# Tokens that are no docstring, comment or layout. A number here only falls: a change that raises
# one lowers another, or says in its commit what it is for. The package had 240,160 before it said
# what a prediction is and proved what it resumes, and before `interactions` and `sage`.
TOKENS = {"pyinterp": 261_179, "pyinterp_papers": 18_159, "r_bridge": 18_746, "tests": 470_000}
CLASSES = 249  # of the package
NAMES, PARAMETERS = 137, 649  # public functions and methods, and their parameters
# The package's own functions that a later call runs, their files, and the deepest of them, with a
# few more where other libraries are loaded. `load` is of a table.
WAYS = {
    "load": (26, 7, 16),
    "pfi": (221, 47, 19),
    "fit": (100, 24, 9),
    "pd": (89, 21, 11),
    "table": (77, 14, 10),
    "formula to table": (524, 83, 19),
}


@pytest.mark.parametrize("folder", TOKENS)
def test_the_code_does_not_grow(folder):
    size = counts.size_of(sorted((ROOT / folder).rglob("*.py")))
    assert size.tokens <= TOKENS[folder]
    assert folder != "pyinterp" or size.classes <= CLASSES


def test_there_are_no_more_names_and_parameters():
    size = counts.size_of_api(pi)
    assert size.names <= NAMES
    assert size.parameters <= PARAMETERS


@pytest.mark.skipif(sys.gettrace() is not None, reason="coverage is measured")
def test_calls_do_not_walk_farther(tmp_path):
    data = pi.datasets.load_diabetes()

    def make():
        return pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())

    def fit():
        return learner.fit(seed=1, progress=False)

    def formula_to_table():
        return str(make().fit(seed=1, progress=False).pfi().summary())

    learner = make()
    formula_to_table()  # what the first call alone does
    results, fresh = fit(), fit()
    results.pd("bmi")
    importances = fresh.pfi()
    str(importances.summary())
    once_more = fit()
    importances.save(tmp_path / "a.pyinterp")
    pi.load(tmp_path / "a.pyinterp")
    ways = {
        "load": counts.way_of(lambda: pi.load(tmp_path / "a.pyinterp"), PACKAGE),
        "fit": counts.way_of(fit, PACKAGE),
        "pfi": counts.way_of(once_more.pfi, PACKAGE),
        "pd": counts.way_of(lambda: results.pd("bmi"), PACKAGE),
        "table": counts.way_of(lambda: str(importances.summary()), PACKAGE),
        "formula to table": counts.way_of(formula_to_table, PACKAGE),
    }
    beyond = {n: w for n, w in ways.items() if any(a > b for a, b in zip(w, WAYS[n], strict=True))}
    assert not beyond, ways
