"""At most so many evaluation rows: one random sample for all refits, with its error in ``mcse``."""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from shared import normal_rows
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.data.sample import Sample
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference.replicates import RefitEstimate, Replicates
from pyinterp.resampling.resampling import RefitRows, some_rows

ROUNDING = 1e-12
CALLS = 300
# Four standard errors of a variance of so many draws.
CHANCE = 4 * np.sqrt(2 / CALLS)
DATA_SETS = 60


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_variance_is_unbiased_over_all_samples(n):
    values = np.random.default_rng(0).normal(size=(7, 2)) ** 3
    samples = [np.array(chosen) for chosen in combinations(range(7), n)]
    parts = [RefitEstimate(Estimate.of_rows(values[rows]), rows) for rows in samples]
    true = np.var([part.estimate.value for part in parts], axis=0)
    every = [Replicates.of((part,), correction=0.0, share=n / 7) for part in parts]
    stated = np.mean([replicates.mc_variance for replicates in every], axis=0)
    np.testing.assert_allclose(stated, true, rtol=ROUNDING)


@pytest.fixture(scope="module")
def learner():
    rng, frame = normal_rows(600, "a b", 1)
    frame["y"] = frame["a"] + rng.normal(size=600) ** 3
    return pi.Learner.from_formula("y ~ a + b", frame, LinearRegression())


PLAN = [(np.arange(k, k + 300), np.setdiff1d(np.arange(600), np.arange(k, k + 300)))
        for k in (0, 150, 300)]  # fmt: skip
QUIET = {"progress": False}


def test_estimates_of_samples_vary_as_mcse_says(learner):
    """The models and all evaluation rows are the same in every call: the sample alone varies."""
    estimates, stated = [], []
    for seed in range(CALLS):
        results = learner.fit(PLAN, seed=seed, max_evaluation_rows=200, **QUIET)
        terms = [results.loss(), results.pfi()]
        estimates.append(np.concatenate([each.params for each in terms]))
        stated.append(np.concatenate([each.mcse**2 for each in terms]))
    whole = learner.fit(PLAN, seed=1, **QUIET)
    true = np.concatenate([whole.loss().params, whole.pfi().params])
    variance = np.var(estimates, axis=0, ddof=1)
    ratio = variance / np.mean(stated, axis=0)
    assert (np.abs(ratio - 1) < CHANCE).all(), ratio
    assert (np.abs(np.mean(estimates, axis=0) - true) < 4 * np.sqrt(variance / CALLS)).all()


def test_standard_errors_are_those_of_so_many_rows():
    """With a sample for each refit the variance of the loss was 2.5 times too large."""
    params, squares = [], []
    for seed in range(DATA_SETS):
        rng = np.random.default_rng(1000 + seed)
        a = rng.normal(size=200)
        learner = pi.Learner(a + rng.normal(size=200), a[:, None], LinearRegression())
        results = learner.fit(seed=seed, max_evaluation_rows=40, **QUIET)
        terms = [results.loss(), results.pfi()]
        params.append(np.concatenate([each.params for each in terms]))
        squares.append(np.concatenate([each.bse**2 for each in terms]))
    ratio = np.mean(squares, axis=0) / np.var(params, axis=0, ddof=1)
    chance = 1 + 4 * np.sqrt(2 / DATA_SETS)
    assert ((ratio > 1 / chance) & (ratio < chance)).all(), ratio


@pytest.mark.parametrize("plan", [PLAN, pi.CrossValidation(5), pi.Holdout(0.5)])
def test_refits_share_one_sample(learner, plan):
    usual = learner.fit(plan, seed=1, **QUIET)
    some = learner.fit(plan, seed=1, max_evaluation_rows=150, **QUIET)
    rows = np.unique(np.concatenate([refit.evaluation.rows for refit in some.refits]))
    assert len(rows) == 150
    for before, after in zip(usual.refits, some.refits, strict=True):
        expected = before.evaluation.rows[np.isin(before.evaluation.rows, rows)]
        np.testing.assert_array_equal(after.evaluation.rows, expected)
    # Nadeau and Bengio's n2/n1 is the plan's.
    assert some.analysis.evaluations.correction == usual.analysis.evaluations.correction


def test_enough_rows_change_nothing(learner):
    usual = learner.fit(PLAN, seed=1, **QUIET).pfi().tidy()
    enough = learner.fit(PLAN, seed=1, max_evaluation_rows=600, **QUIET).pfi().tidy()
    pd.testing.assert_frame_equal(usual, enough, check_exact=True)


def test_the_error_of_a_difference_is_that_of_its_rows(learner):
    """Losses of the same rows have much of their error in common, which a difference is without."""
    options = {"seed": 1, "max_evaluation_rows": 200, **QUIET}
    other = pi.Learner.from_formula("y ~ b", learner.data.frame, LinearRegression())
    both = learner.fit(PLAN, **options), other.fit(PLAN, **options)
    alone = np.sqrt(sum(results.loss().mcse.iloc[0] ** 2 for results in both))
    assert 0 < pi.compare(*both, names=["a", "b"]).mcse.iloc[0] < alone / 2


def test_the_error_is_printed_saved_and_measured(learner, tmp_path):
    options = {"seed": 1, "max_evaluation_rows": 60, **QUIET}
    usual = learner.fit(PLAN, **options)
    dropped = learner.fit(PLAN, keep_models=False, measure="pfi", **options)
    dropped.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")
    assert (usual.pfi().mcse > 0).all()
    assert "as some of all evaluation rows" in " ".join(str(usual.pfi().summary()).split())
    for other in (dropped, loaded):
        pd.testing.assert_frame_equal(usual.pfi().tidy(), other.pfi().tidy(), check_exact=True)


def test_shards_have_the_sample_of_the_whole(learner, tmp_path):
    options = {"seed": 1, "max_evaluation_rows": 60, **QUIET}
    for number in (2, 1):
        learner.fit(PLAN, checkpoint=tmp_path / "shards", shard=(number, 2), **options)
    joined = pi.join(tmp_path / "shards").pfi().tidy()
    pd.testing.assert_frame_equal(
        joined, learner.fit(PLAN, **options).pfi().tidy(), check_exact=True
    )


def test_rows_that_contribute_alike_have_no_error(learner):
    """Of y ~ a every row has the partial dependence of the mean, up to rounding."""
    alone = pi.Learner.from_formula("y ~ a", learner.data.frame, LinearRegression())
    results = alone.fit(PLAN, seed=1, max_evaluation_rows=200, **QUIET)
    assert (results.pd("a").mcse == 0).all()


@pytest.mark.parametrize(
    ("plan", "most", "words"),
    [
        (PLAN, 1, "at least 2"),
        (PLAN, 39, "at least 40, .* not 39 of 600 rows"),
        (pi.CrossValidation(100), 60, "200 samples of 60 of 600 rows did not"),
    ],
)
def test_every_refit_needs_two_rows_and_all_forty(learner, plan, most, words):
    with pytest.raises(pi.errors.OptionError, match=f"max_evaluation_rows.*{words}"):
        learner.fit(plan, seed=1, max_evaluation_rows=most, **QUIET)


def test_few_data_need_no_forty_rows(learner):
    few = pi.Learner.from_formula("y ~ a + b", learner.data.frame[:30], LinearRegression())
    results = few.fit(pi.Holdout(0.5), seed=1, max_evaluation_rows=20, **QUIET)
    assert results.refits[0].share == 1


def test_a_sample_that_leaves_a_refit_too_few_rows_is_drawn_again(learner):
    """Of the samples of 60 rows for 10 folds, 14% leave a fold fewer than 2; none of 40 raises."""
    for seed in range(40):
        results = learner.fit(pi.CrossValidation(10), seed=seed, max_evaluation_rows=60, **QUIET)
        sizes = [refit.evaluation.nobs for refit in results.refits]
        assert (min(sizes), sum(sizes)) >= (2, 60)


def test_samples_are_uniform_given_that_all_refits_have_rows():
    """40 of 80 rows, of two refits with 2 and 78 rows: the first keeps both of its rows."""
    frame = pd.DataFrame({"a": np.arange(80.0)})
    whole = Sample(variables=frame, y=None, response=None, rows=np.arange(80))
    sides = [np.arange(2), np.arange(2, 80)]
    parts = [RefitRows(whole, whole.take(rows), 80, len(rows)) for rows in sides]
    counts = np.zeros(80)
    for seed in range(CALLS):
        kept = some_rows(parts, 40, np.random.default_rng(seed))
        for part in kept:
            counts[part.evaluation.rows] += 1
    assert (counts[:2] == CALLS).all()
    share = 38 / 78
    assert (np.abs(counts[2:] / CALLS - share) < 4 * np.sqrt(share * (1 - share) / CALLS)).all()


def test_less_than_a_tenth_of_the_rows_is_said(learner):
    with pytest.warns(pi.errors.RefitWarning, match="max_evaluation_rows=59.*a tenth of 600"):
        results = learner.fit(PLAN, seed=1, max_evaluation_rows=59, **QUIET)
    assert "less than a tenth of them" in " ".join(str(results.pfi().summary()).split())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.fit(PLAN, seed=1, max_evaluation_rows=60, **QUIET)
