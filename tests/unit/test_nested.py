"""Nested cross-validation: the plan, and the variance against the authors' algorithm."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from by_refit import refits_of
from fits import fit_of, words_of
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import DataError, InferenceError, OptionError, RefitError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import COV_TYPES, RefitEstimate, Replicates
from pyinterp.resampling import Group

K = 4


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "z"])
    data["y"] = data["x"] + rng.normal(size=60)
    data["g"] = np.where(data["y"] > 0.7, "a", "b")
    return data


@pytest.fixture(scope="module")
def fitted(data: pd.DataFrame) -> pi.LearnerResults:
    return fit_of("y ~ x + z", data, LinearRegression(), pi.NestedCrossValidation(K, repeats=3))


def test_folds_are_left_out_one_and_two_at_a_time(fitted: pi.LearnerResults):
    refits = fitted.analysis.refits
    assert len(refits) == K * K * 3
    for start in range(0, len(refits), K):
        outer, *inner = refits[start : start + K]
        assert len(outer.train_rows) == 45
        for refit in inner:
            assert len(refit.train_rows) == 30
            left_out = {*outer.evaluation.rows, *refit.evaluation.rows}
            assert not left_out & set(refit.train_rows)
        covered = np.concatenate([outer.evaluation.rows, *(r.evaluation.rows for r in inner)])
        assert sorted(covered) == list(range(60))


def test_the_estimate_is_that_of_cross_validation(fitted: pi.LearnerResults):
    loss = fitted.loss()
    assert len(fitted.refits) == K * 3
    outer = [r for r in fitted.analysis.refits if not r.group.inner]
    expected = np.mean(
        [np.mean((r.evaluation.y - r.predictor(r.design.encode(r.evaluation.variables))) ** 2)
         for r in outer]
    )  # fmt: skip
    assert loss.params.iloc[0] == pytest.approx(expected, rel=1e-12)


def algorithm_1(errors: list[list[np.ndarray]]) -> tuple[float, float]:
    """Bates, Hastie and Tibshirani (2024), algorithm 1, as their package has it, by loops.

    Parameters
    ----------
    errors : list of lists of ndarray
        Of every fold, of all repeats: the errors of the fold, and of every other one without it.

    Returns
    -------
    standard_error, ratio : float
        The ratio as it is before it is kept between 1 and the root of K.
    """
    k = len(errors[0])
    a_list, b_list, pooled = [], [], []
    for out, *within in errors:
        e_in = np.concatenate(within)
        a_list.append((e_in.mean() - out.mean()) ** 2)
        b_list.append(out.var(ddof=1) / len(out))
        pooled.extend(e_in)
    n = len(np.concatenate([out for out, *_ in errors])) / (len(errors) / k)
    ugp = np.std(pooled, ddof=1)
    mse = max(0.0, np.mean(a_list) - np.mean(b_list))
    ratio = np.sqrt(mse) / (ugp / np.sqrt(n * (k - 1) / k))
    return ugp / np.sqrt(n) * max(1.0, min(np.sqrt(k), ratio)), ratio


# How far folds differ, and where that puts the ratio: below 1, between, above the root of K.
@pytest.mark.parametrize(
    ("apart", "low", "high"),
    [(0.0, 0, 0.5), (0.42, 1.1, 0.9 * np.sqrt(K)), (2.0, 1.1 * np.sqrt(K), np.inf)],
)
@pytest.mark.parametrize("sizes", [(15,) * K, (16, 15, 15, 14)])
def test_the_formula_is_that_of_the_algorithm(
    apart: float, low: float, high: float, sizes: tuple[int, ...]
):
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(20):
        for k in range(K):
            within = [rng.chisquare(1, size=sizes[j]) for j in range(K) if j != k]
            own = rng.chisquare(1, size=sizes[k])
            own += np.concatenate(within).mean() - own.mean() + apart * rng.normal()
            errors.append([own, *within])
    expected, ratio = algorithm_1(errors)
    assert low <= ratio < high
    # Another term beside it, which is -2 times the first, and one that does not vary.
    terms = np.array([1.0, -2.0, 0.0])
    refits = tuple(
        RefitEstimate(
            Estimate.of_rows(e[:, None] * terms),
            np.arange(len(e)),
            Group("fold", number, inner=j > 0, size=K),
        )
        for number, fold in enumerate(errors)
        for j, e in enumerate(fold)
    )
    replicates = Replicates.of(refits, correction=0.0)
    found = COV_TYPES["nested-cv"](replicates)
    assert_allclose(found.cov, expected**2 * np.outer(terms, terms), rtol=1e-10, atol=1e-15)
    assert found.df == np.inf


def test_refits_that_differ_have_the_standard_error_of_the_algorithm():
    """10 slopes of 60 rows: what training does to the loss is seen in all folds."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(60, 10))).add_prefix("x")
    data["y"] = data["x0"] + rng.normal(size=60)
    results = fit_of("y ~ .", data, LinearRegression(), pi.NestedCrossValidation(K, repeats=10))
    refits = results.analysis.refits
    errors = [
        (r.evaluation.y - r.predictor(r.design.encode(r.evaluation.variables))) ** 2 for r in refits
    ]
    expected, ratio = algorithm_1([errors[s : s + K] for s in range(0, len(errors), K)])
    assert 1.1 < ratio < 0.9 * np.sqrt(K)
    loss = results.loss()
    assert loss.cov_type == "nested-cv"
    assert "nested cross-validation, normal" in words_of(loss)
    assert loss.bse.iloc[0] == pytest.approx(expected, rel=1e-10)
    half = stats.norm.isf(0.025) * expected
    limits = loss.conf_int().to_numpy()[0]
    assert_allclose(limits, loss.params.iloc[0] + np.array([-half, half]))


def test_simultaneous_intervals_are_wider_and_normal(fitted: pi.LearnerResults):
    point, joint = fitted.pfi().conf_int(), fitted.pfi(simultaneous=True).conf_int()
    ratio = (joint[1] - joint[0]) / (point[1] - point[0])
    # Between one term and Bonferroni's two.
    assert ratio.between(1, stats.norm.isf(0.0125) / stats.norm.isf(0.025) + 1e-9).all()


class Counting(LinearRegression):
    """Fails in the refits named, counted from 0."""

    fails: ClassVar[set[int]] = set()
    count: ClassVar[int] = -1

    def fit(self, X: np.ndarray, y: np.ndarray) -> Counting:
        type(self).count += 1
        if type(self).count in type(self).fails:
            raise ValueError("no")
        return super().fit(X, y)


def dropped(data: pd.DataFrame, fails: set[int], repeats: int = 1) -> pi.LearnerResults:
    Counting.fails, Counting.count = fails, -1
    learner = pi.Learner.from_formula("y ~ x + z", data, Counting())
    plan = pi.NestedCrossValidation(3, repeats=repeats)
    return learner.fit(plan, seed=1, on_error="drop")


def test_folds_whose_inner_refits_failed_do_not_count(data: pd.DataFrame):
    # An inner refit of every fold of the second repeat: the first has what it has alone.
    with pytest.warns(pi.errors.RefitWarning, match="3 of 18 refits failed"):
        found = dropped(data, {10, 13, 16}, repeats=2).loss()
    full = dropped(data, set(), repeats=2)
    first = Replicates.of(refits_of(full, full.loss())[:9])
    expected = COV_TYPES["nested-cv"](first)
    assert_allclose(found.variance.cov, expected.cov, rtol=1e-12)
    assert "trained on 67% of the data" in found.variance.note


@pytest.mark.parametrize(
    ("fails", "found"),
    [
        ({1, 4, 7}, "there are 3 and 0"),  # an inner refit of every fold
        ({1, 2, 4, 5, 7, 8}, "there are 3 and 0"),  # all of them
        ({0, 3, 6}, "there are 0 and 0"),  # the folds' own
        ({0, 3}, "there are 1 and 1"),
    ],
)
def test_too_many_failures_are_counted(data: pd.DataFrame, fails: set[int], found: str):
    with pytest.raises(RefitError, match=rf"Nested cross-validation needs.*of 3 folds {found}\."):
        dropped(data, fails)


def test_a_variance_needs_a_whole_fold(data: pd.DataFrame):
    full = dropped(data, set())
    # Of every fold its refit and one of two inner ones.
    refits = [one for k, one in enumerate(refits_of(full, full.loss())) if k % 3 < 2]
    with pytest.raises(InferenceError, match="without which all 3 refits succeeded, but each of"):
        COV_TYPES["nested-cv"](Replicates.of(refits))


def test_both_sides_of_donors_count(fitted: pi.LearnerResults):
    pfi = fitted.pfi()
    (fold, *_) = pfi.replicates.folds
    assert fold.outer.donors is not None
    rows = np.concatenate([e.rows + e.donors for f in pfi.replicates.folds for e in f.inner])
    least = rows.var(axis=0, ddof=1) / 60
    assert (pfi.bse**2 >= least * (1 - 1e-12)).all()
    assert (pfi.bse**2 <= least * K * (1 + 1e-12)).all()


def test_comparisons_are_paired_in_every_fold(data: pd.DataFrame, fitted):
    plan = pi.NestedCrossValidation(K, repeats=3)
    other = fit_of("y ~ z", data, LinearRegression(), plan)
    found = pi.compare(fitted, other)
    assert found.cov_type == "nested-cv"
    first, second = fitted.loss().replicates.folds[5], other.loss().replicates.folds[5]
    mine = found.replicates.folds[5]
    assert mine.outer.value == pytest.approx(first.outer.value - second.outer.value)
    assert_allclose(mine.inner[1].rows, first.inner[1].rows - second.inner[1].rows, rtol=1e-12)


def test_classifiers_have_every_class_in_training(data: pd.DataFrame):
    plan = pi.NestedCrossValidation(3, repeats=1)
    assert (fit_of("g ~ x + z", data, LogisticRegression(), plan).pfi().bse > 0).all()


def test_bad_options(data: pd.DataFrame, fitted: pi.LearnerResults):
    with pytest.raises(OptionError, match="`folds` must be a whole number of at least 3"):
        pi.NestedCrossValidation(2)
    with pytest.raises(OptionError, match="`repeats` must be a whole number of at least 1"):
        pi.NestedCrossValidation(repeats=0)
    learner = pi.Learner.from_formula("y ~ x", data, LinearRegression())
    with pytest.raises(DataError, match="at least 2 rows per fold"):
        learner.fit(pi.NestedCrossValidation(31, repeats=1))
    with pytest.raises(InferenceError, match="needs folds within folds"):
        learner.fit(pi.Bootstrap(3), seed=1).pfi(cov_type="nested-cv")
    with pytest.raises(InferenceError, match="needs at least 5 pairs"):
        fitted.pfi(cov_type="half-sample")
