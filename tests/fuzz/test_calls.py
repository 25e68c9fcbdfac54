"""The fuzz asks every public callable, with every argument that it takes."""

import inspect

import pytest
from calls import CALLS
from data_oddities import DATA_KINDS
from inputs import full

import pyinterp as pi

LEAST, LEAST_WRONG = 5000, 1500
# Made by the package, not by users; modules, whose members are listed below; what has tests of its
# own: files, papers, variances, and what authors of estimands write.
NOT_CALLED = {
    "Question", "ask",  # what `answer` and `measure` take: methods are asked
    "CausalResults", "CurveResults", "Distributional", "EarlyStopping", "Estimand", "Estimate",
    "EstimandResults", "ImportanceResults", "LearnerResults", "Metric", "Parameter",
    "Terms", "UncertaintyResults", "Words", "datasets", "distributions", "estimators", "join",
    "load", "r_style", "register_variance", "replicate", "samplers",
    "simulation",
}  # fmt: skip
# Results, types and constants; loaders of data that need a folder; what papers study.
NO_CALLS = {
    "r_style": {"classes_in_order", "factors"},
    "simulation": {
        "Certificate", "CoverageResults", "Decomposition", "ImportanceStudy",
        "ImportanceStudyResults", "Process", "Truth", "decompose", "molnar_figure2",
        "molnar_linear", "wood_ring",
    },
    "datasets": {"load_airfoil", "load_ames", "load_boston"},
}  # fmt: skip
# Files, Word's among them, have tests of their own; the others are not for users.
NOT_ASKED = {"answer", "save", "state_on_file"}


def callees():
    return {call.callee for call in CALLS.values()}


@pytest.mark.parametrize("module", ["", *NO_CALLS])
def test_public_names(module):
    where, without = (getattr(pi, module), NO_CALLS[module]) if module else (pi, NOT_CALLED)
    names = {f"pi.{module}.{name}".replace("..", ".") for name in set(where.__all__) - without}
    assert names - callees() - {"pi.Learner"} == set()


@pytest.mark.parametrize(
    ("cls", "who"),
    [
        (pi.LearnerResults, "res clf"),
        (pi.FittedModel, "fm fclf clf res"),
        (pi.EstimandResults, "pf pdx pfg"),
        (pi.Learner, "learner"),
    ],
)
def test_methods(cls, who):
    methods = {n for n, _ in inspect.getmembers(cls, inspect.isfunction) if not n.startswith("_")}
    asked = {
        callee.partition(".")[2] for callee in callees() if callee.split(".")[0] in who.split()
    }
    assert methods - asked <= NOT_ASKED


def test_every_argument_is_of_a_kind():
    assert {kind for call in CALLS.values() for kind in call.kinds.values()} == set(DATA_KINDS)


def test_full_run_is_large_enough():
    inputs = [given for name in CALLS for given in full(name)]
    assert len(inputs) >= LEAST
    assert sum(given.must_fail for given in inputs) >= LEAST_WRONG
