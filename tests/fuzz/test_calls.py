"""The fuzz asks every public callable, with every argument that it takes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import specimens
from calls import CALLS, DISTRIBUTIONAL
from data_oddities import DATA_KINDS
from inputs import full

import pyinterp as pi

LEAST = 5000
# Made by the package, not by users; or modules, whose members are listed below.
NOT_CALLED = {
    "CausalResults", "CurveResults", "EstimandResults", "ImportanceResults", "LearnerResults",
    "datasets", "UncertaintyResults", "r_style", "samplers", "simulation",
    "EarlyStopping",  # libraries' own boosters, of other packages
    "distributions", "Distributional",  # the user's own function says what is right
    "register_variance",  # a function of a user, which serves the whole session
    "estimators",  # scikit-learn's, whose options are its own, and networks, which need PyTorch
    # Parts of an estimand, which measure and read what their author says; and metrics, likewise.
    "Estimand", "Estimate", "Metric", "Parameter", "Terms", "Words",
    # Classes that their author writes, with errors that `tests/unit/test_register_engine.py` has.
    "ExactWhatIf", "register_engine",
    "replicate",  # names of papers and cells: tests/papers
    "join", "load",  # folders and files: tests/unit/test_{checkpoint,saving}.py
}  # fmt: skip
# Results, types and constants; loaders of data that need a folder.
NO_CALLS = {
    "pi.r_style": {"classes_in_order", "factors"},
    "pi.simulation": {
        "Certificate",
        "CoverageResults",
        "Decomposition",
        "ImportanceStudyResults",
        "Process",
        "Truth",
        "molnar_figure2",
        "molnar_linear",
        "wood_ring",
    },
    "pi.datasets": {"load_airfoil", "load_ames", "load_boston"},
}


def text() -> str:
    return " ".join(call.callee for call in CALLS.values())


def test_public_names() -> None:
    assert [n for n in set(pi.__all__) - NOT_CALLED if f"pi.{n}" not in text()] == []


@pytest.mark.parametrize("module", NO_CALLS)
def test_members_of_modules(module: str) -> None:
    members = set(getattr(pi, module.removeprefix("pi.")).__all__) - NO_CALLS[module]
    assert [name for name in members if f"{module}.{name}" not in text()] == []


@pytest.mark.parametrize(
    ("cls", "who"),
    [
        (pi.LearnerResults, "res"),
        (pi.FittedModel, "fm"),
        (pi.EstimandResults, "pf pdx pfg pfc"),
        (pi.Learner, "learner"),
    ],
)
def test_methods(cls: type[Any], who: str) -> None:
    methods = {n for n, _ in inspect.getmembers(cls, inspect.isfunction) if not n.startswith("_")}
    callees = [call.callee.partition(".") for call in CALLS.values()]
    asked = {method for name, _, method in callees if name in who.split()}
    # A fitted model does not answer the first three; means are no distribution for the others;
    # files have tests of their own, and Word's need an extra.
    assert methods - asked <= {
        "loco",
        "population",
        "compare_targets",
        *DISTRIBUTIONAL,
        "save",
        "check_state",
        "read_models",
        "state_on_file",
    }


@pytest.mark.parametrize("name", CALLS)
def test_arguments(name: str) -> None:
    call = CALLS[name]
    callee = eval(call.callee, specimens.names())  # noqa: S307 - our own table of expressions
    taken = inspect.signature(callee).parameters.values()
    open_ended = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    named = {p.name for p in taken if p.kind not in open_ended}
    some = SOME_ARGUMENTS.get(name, set())
    assert named - set(call.kinds) == some
    assert set(call.kinds.values()) <= set(DATA_KINDS)


PLOT, OF_ROWS = {"kind", "top"}, {"sort", "color", "observed", "curves"}
# Arguments that another call of the same callable has.
SOME_ARGUMENTS = {
    "from_formula, PD": {
        "design",
        "design_state",
        "missing",
        "unseen_levels",
        "trusted",
        "subset",
        "weights",
        "weights_type",
        "offset",
        "exposure",
    },
    "Contrasts.summary": {"xname", "title"},  # statsmodels' own
    "nested.pfi": {"sampler"},
    # Folders, and models that are dropped: tests/unit/test_{checkpoint,keep_models}.py.
    "fit": {"checkpoint", "shard", "keep_models", "measure", "max_evaluation_rows"},
    **dict.fromkeys(("pf.plot", "pdx.plot", "pfg.plot", "pdxg.plot"), PLOT | OF_ROWS),
    "ice.plot": PLOT,
    "plot of values": OF_ROWS | {"alpha"},
    "imp.plot": {"sort", "top"},
    **dict.fromkeys(("res.plot", "fm.plot"), PLOT | OF_ROWS),
}


def test_every_kind_is_an_argument() -> None:
    assert {kind for call in CALLS.values() for kind in call.kinds.values()} == set(DATA_KINDS)


def test_full_run_is_large_enough() -> None:
    assert sum(len(full(name)) for name in CALLS) >= LEAST
