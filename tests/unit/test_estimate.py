"""The door for estimands of one's own: ``estimate``, and means over rows."""

import ast
import inspect
import re
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import OptionError

ROOT = Path(__file__).parents[2]


def squared(y, prediction):
    return (y - prediction) ** 2


def both(y, prediction):
    return np.column_stack([prediction - y, np.abs(prediction - y)])


@pytest.fixture
def learner(data):
    return pi.Learner.from_formula("y ~ x + z", data, LinearRegression())


@pytest.mark.parametrize("plan", [pi.HalfSampling(5, pairs=5), pi.CrossValidation(5)], ids=str)
def test_a_mean_of_squared_errors_is_the_loss(learner, plan):
    """With every option of inference, at both levels, what the package's own estimand gives."""
    own = pi.mean_over_rows(squared, "squared error", range=(0, np.inf))
    for fitted in (learner.fit(plan, seed=1), learner.fit_model(seed=1)):
        for options in ({}, {"alternative": "less"}, {"p_adjust": "bonferroni"}):
            got, loss = fitted.estimate(own, **options), fitted.loss(**options)
            columns = ["estimate", "std_error", "conf_low", "conf_high"]
            if loss.replicates.no_intervals:
                columns = columns[:1]
            np.testing.assert_allclose(
                got.summary_frame()[columns], loss.summary_frame()[columns], rtol=1e-12
            )
            assert got.df_resid == loss.df_resid


def test_several_terms_have_tests_a_table_a_plot_and_hypotheses(learner):
    estimand = pi.mean_over_rows(both, "error", names=["signed", "absolute"], null=0.0)
    errors = learner.fit(pi.CrossValidation(5), seed=1).estimate(estimand)
    assert list(errors.params.index) == ["signed", "absolute"]
    assert abs(errors.params["signed"]) < errors.params["absolute"]
    assert errors.pvalues["absolute"] < 0.05 < errors.pvalues["signed"]
    table = str(errors.summary())
    assert "Mean error, learner" in table
    assert len(errors.plot().data) == 2
    assert float(errors.t_test("absolute = 0").pvalue) == errors.pvalues["absolute"]


def test_classes_are_codes_and_probabilities(data):
    two = data.assign(y=np.where(data["x"] + data["z"] > 2, "yes", "no"))
    calibration = pi.mean_over_rows(lambda y, p: p[:, 1] - y, "calibration", null=0.0)
    fitted = fit_of("y ~ x", two, LogisticRegression(), pi.CrossValidation(5))
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
def test_a_function_that_does_not_return_a_number_per_row(learner, wrong, said):
    with pytest.raises(OptionError, match=said):
        learner.fit_model(seed=1).estimate(pi.mean_over_rows(wrong, "wrong"))


@pytest.mark.parametrize(
    ("function", "label", "options", "words"),
    [
        (3, "bias", {}, "`function` must be a function"),
        (squared, "", {}, "`label` must be a text"),
        (both, "error", {"names": ["a", "a"]}, "`names` must be different"),
    ],
)
def test_wrong_arguments(function, label, options, words):
    with pytest.raises(OptionError, match=words):
        pi.mean_over_rows(function, label, **options)


def _private(file):
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
def test_others_use_public_names_only(folder):
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    allowed = {"_getframe", "_cdata"}  # of Python and cffi, which have no other name for it
    found = [name for file in files for name in _private(file)]
    assert [name for name in found if name.rpartition(" ")[2] not in allowed] == []


class TestTheDoorIsGuarded:
    """What is written outside of the package gets a sentence, not a number or an IndexError."""

    @pytest.fixture
    def fitted(self, learner):
        return learner.fit(pi.CrossValidation(3), seed=1)

    def own(self, measure):
        words = pi.Words(label="a", title="a", meaning="A.")
        terms = pi.Terms.plain(["a"])
        return pi.Estimand(
            key="own", terms=terms, measure=measure, read=itemgetter("a"), words=words
        )

    def test_a_key_that_is_used_again_for_another_function_is_another_measurement(self, fitted):
        first = fitted.estimate(self.own(lambda case: {"a": of(np.ones((len(case.y), 1)))}))
        second = fitted.estimate(self.own(lambda case: {"a": of(np.zeros((len(case.y), 1)))}))
        assert (first.params["a"], second.params["a"]) == (1.0, 0.0)

    @pytest.mark.parametrize(
        ("result", "sentence"),
        [
            (lambda _: of(np.ones((5, 1))), r"shape \(5, 1\)|\(5, 1\)"),
            (lambda n: of(np.ones((n, 2))), "1 terms"),
            (lambda _: None, "must return an Estimate"),
        ],
    )
    def test_an_estimate_has_the_rows_and_terms(self, fitted, result, sentence):
        own = self.own(lambda case: {"a": result(len(case.y))})
        with pytest.raises(OptionError, match=sentence):
            fitted.estimate(own)

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"key": ["a"]}, "must be hashable"),
            ({"words": pi.Words(label="a", title="", meaning="A.")}, "`title` must be a text"),
            ({"parameter": pi.Parameter(null="0")}, "`null` must be a number"),
            ({"parameter": pi.Parameter(null=float("nan"))}, "`null` must be a number"),
            ({"parameter": pi.Parameter(range=(1, 0))}, "`range` must be"),
            ({"terms": pi.Terms.plain(["a", "b", "a"])}, "'a' is repeated"),
        ],
    )
    def test_an_estimand_is_checked_when_it_is_made(self, options, sentence):
        own = self.own(len)
        with pytest.raises(OptionError, match=sentence):
            replace(own, **options)


def of(rows):
    return pi.Estimate.of_rows(rows)


def test_no_docstring_has_a_place_that_was_not_filled():
    for kind in (pi.LearnerResults, pi.FittedModel, pi.EstimandResults, pi.Learner):
        for name, member in inspect.getmembers(kind, callable):
            if not name.startswith("_"):
                assert not re.search(r"^\s*\{\w+\}\s*$", member.__doc__ or "", re.MULTILINE), name


def test_an_estimator_may_have_a_parameter_called_steps():
    class Net(LinearRegression):
        def __init__(self, steps=100):
            super().__init__()
            self.steps = steps

    rows = pd.DataFrame({"x": np.arange(10.0)})
    fitted = pi.FittedModel(Net().fit(rows, rows["x"]), rows, rows["x"])
    assert fitted.pfi().context.learner == "Net"
