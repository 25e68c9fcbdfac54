"""Ranks with their uncertainty: closed forms, symmetry, and what is refused."""

import numpy as np
import pytest
from fits import fit_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import InferenceError, OptionError
from pyinterp.inference.posterior import rank_probabilities

DRAWS = 100_000
ERROR = 4 * 0.5 / DRAWS**0.5  # four Monte Carlo errors


def test_two_terms_have_the_closed_form():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    shares = rank_probabilities(np.array([1.0, 0.3]), cov, 7)
    assert shares[0, 0] == pytest.approx(stats.t.cdf(0.7 / np.sqrt(2.0), 7), rel=1e-12)
    assert_allclose(shares.sum(axis=0), 1)


@pytest.mark.parametrize("df", [5.0, np.inf])
def test_a_third_term_far_away_changes_nothing(df):
    cov = np.array([[2.0, 0.5, 0], [0.5, 1.0, 0], [0, 0, 1e-8]])
    shares = rank_probabilities(np.array([1.0, 0.3, -1e4]), cov, df)
    assert shares[0, 0] == pytest.approx(stats.t.cdf(0.7 / np.sqrt(2.0), df), abs=ERROR)
    assert shares[2, 2] == 1


@pytest.mark.parametrize("cov", [np.eye(3), np.eye(3) + 2, np.zeros((3, 3))])
def test_terms_that_are_alike_have_every_rank_alike(cov):
    shares = rank_probabilities(np.zeros(3), cov, 15)
    tolerance = ERROR if cov.any() else 0.15  # ties take turns by chunks of draws
    assert_allclose(shares, 1 / 3, atol=tolerance)
    assert_allclose(shares.sum(axis=0), 1)
    assert_allclose(shares.sum(axis=1), 1)


def test_ranks_do_not_depend_on_last_bits():
    """Eigenvectors of equal eigenvalues turn with them; the draws must not."""
    noise = np.random.default_rng(0).normal(size=(4, 4))
    values = np.array([1.0, 1.2, 0.9, 1.1])
    for cov in (np.eye(4), np.eye(4) + 1):
        one, two = (
            rank_probabilities(values, each, 10.0)
            for each in (cov, cov + 1e-15 * (noise + noise.T))
        )
        assert_array_equal(one, two)


def test_results_have_ranks():
    data = pi.datasets.load_diabetes()
    res = fit_of("progression ~ bmi + bp + s5 + age", data, LinearRegression(), pi.Subsampling(5))
    ranks = res.pfi().ranks()
    expected = ranks @ ranks.columns
    assert expected.is_monotonic_increasing
    assert expected.sum() == pytest.approx(10)
    assert ranks.equals(res.pfi().ranks())
    reverse = res.pfi().ranks(largest_first=False) @ ranks.columns
    assert reverse["age"] == pytest.approx(5 - expected["age"], abs=0.05)
    with pytest.raises(OptionError, match="one value per feature"):
        res.pd("bmi").ranks()


def test_terms_without_errors_have_no_ranks():
    data = pi.datasets.load_diabetes()[["bmi", "bp", "progression"]]
    model = LinearRegression().fit(data[["bmi", "bp"]], data["progression"])
    native = pi.FittedModel(model, data[["bmi", "bp"]], data["progression"]).native_importance()
    with pytest.raises(InferenceError, match="standard error"):
        native.ranks()


def test_the_best_of_two_learners_has_the_p_value_of_their_difference():
    data = pi.datasets.load_diabetes()
    fits = {
        name: fit_of(f"progression ~ {formula}", data, LinearRegression(), pi.Subsampling(5))
        for name, formula in {"small": "age", "big": "bmi + bp + s5", "one": "s5"}.items()
    }
    two = pi.compare({name: fits[name] for name in ("one", "big")})
    ranks = two.ranks()
    less = pi.compare({"big": fits["big"], "one": fits["one"]}, alternative="less").pvalues.iloc[0]
    assert 1 - ranks.loc["big", 1] == pytest.approx(less, rel=1e-9)
    worst = two.ranks(largest_first=True)
    assert worst.loc["big", 2] == pytest.approx(ranks.loc["big", 1], rel=1e-12)

    every = [pi.compare(fits, reference=name).ranks() for name in fits]
    every.append(pi.compare(fits, contrasts="all").ranks())
    for ranks in every:  # whatever differences are shown
        assert list(ranks.index) == ["big", "one", "small"]
        assert_allclose(ranks, every[0].to_numpy(), atol=2 * ERROR)
    by_metric = pi.compare(fits, metric="r2").ranks()  # of which larger values are better
    assert by_metric.index[0] == "big"
    with pytest.raises(OptionError, match="largest_first"):
        pi.compare(fits, metric=lambda y, p: float(np.mean(y - p))).ranks()
    terms = pi.compare(*(fits[name].pfi("s5") for name in ("one", "big")), names=["a", "b"])
    assert set(terms.ranks(largest_first=False).index) == {"a", "b"}
