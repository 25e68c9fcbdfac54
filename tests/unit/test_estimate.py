"""The door for estimands of one's own: ``estimate``, and means over rows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import OptionError

ROOT = Path(__file__).parents[2]


def squared(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return (y - prediction) ** 2


def both(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.column_stack([prediction - y, np.abs(prediction - y)])


@pytest.fixture
def learner(data: pd.DataFrame) -> pi.Learner:
    return pi.Learner.from_formula("y ~ x + z", data, LinearRegression())


@pytest.mark.parametrize("plan", [pi.HalfSampling(5, pairs=5), pi.CrossValidation(5)], ids=str)
def test_a_mean_of_squared_errors_is_the_loss(learner: pi.Learner, plan: Any) -> None:
    """With every option of inference, at both levels, what the package's own estimand gives."""
    own = pi.mean_over_rows(squared, "squared error")
    for fitted in (learner.fit(plan, seed=1), learner.fit_model(seed=1)):
        for options in ({}, {"alternative": "less"}, {"p_adjust": "bonferroni"}):
            got, loss = fitted.estimate(own, **options), fitted.loss(**options)
            columns = ["estimate", "std_error", "conf_low", "conf_high"]
            np.testing.assert_allclose(
                got.summary_frame()[columns], loss.summary_frame()[columns], rtol=1e-12
            )
            assert got.df_resid == loss.df_resid


def test_several_terms_have_tests_a_table_a_plot_and_hypotheses(learner: pi.Learner) -> None:
    estimand = pi.mean_over_rows(
        both, "error", names=["signed", "absolute"], title="Errors", note="In units of y.", null=0.0
    )
    errors = learner.fit(pi.CrossValidation(5), seed=1).estimate(estimand)
    assert list(errors.params.index) == ["signed", "absolute"]
    assert abs(errors.params["signed"]) < errors.params["absolute"]
    assert errors.pvalues["absolute"] < 0.05 < errors.pvalues["signed"]
    table = str(errors.summary())
    assert "Errors, learner" in table
    assert "In units of y." in table
    assert len(errors.plot().data) == 2
    assert float(errors.t_test("absolute = 0").pvalue) == errors.pvalues["absolute"]


def test_classes_are_codes_and_probabilities(data: pd.DataFrame) -> None:
    two = data.assign(y=np.where(data["x"] + data["z"] > 2, "yes", "no"))
    learner = pi.Learner.from_formula("y ~ x", two, LogisticRegression())
    calibration = pi.mean_over_rows(lambda y, p: p[:, 1] - y, "calibration", null=0.0)
    fitted = learner.fit(pi.CrossValidation(5), seed=1)
    assert abs(fitted.estimate(calibration).params.iloc[0]) < 0.1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda *given: given[0][:3], r"shape \(\d+, 1\).*got shape \(3, 1\)"),
        (lambda *given: given[0] * np.nan, "finite numbers"),
        (lambda *_: "text", "got something else"),
        (lambda *_: 1 / 0, "can't be computed: ZeroDivisionError"),
    ],
)
def test_a_function_that_does_not_return_a_number_per_row(
    learner: pi.Learner, wrong: Any, said: str
) -> None:
    with pytest.raises(OptionError, match=said):
        learner.fit_model(seed=1).estimate(pi.mean_over_rows(wrong, "wrong"))


def test_wrong_arguments() -> None:
    with pytest.raises(OptionError, match="`function` must be a function"):
        pi.mean_over_rows(3, "bias")  # type: ignore[arg-type]  # the mistake that is tested
    with pytest.raises(OptionError, match="`label` must be a text"):
        pi.mean_over_rows(squared, "")
    with pytest.raises(OptionError, match="`names` must be different"):
        pi.mean_over_rows(both, "error", names=["a", "a"])


def _private(file: Path) -> list[str]:
    """Return the private names of other objects that a file uses."""
    named_tuple = {"_asdict", "_replace", "_fields"}
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            mine = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            if not mine and not node.attr.startswith("__") and node.attr not in named_tuple:
                found.append(f"{file.name}:{node.lineno} {node.attr}")
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pyinterp"):
            found += [f"{file.name}:{node.lineno} {a.name}" for a in node.names if a.name[0] == "_"]
    return found


@pytest.mark.parametrize("folder", ["r_bridge", "pyinterp/r_style", "studies", "benchmarks"])
def test_others_use_public_names_only(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    allowed = {"_getframe", "_cdata"}  # of Python and cffi, which have no other name for it
    found = [name for file in files for name in _private(file)]
    assert [name for name in found if name.rpartition(" ")[2] not in allowed] == []
