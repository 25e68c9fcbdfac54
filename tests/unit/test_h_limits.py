"""Limits of H and H²: shares end at 1, and few degrees of freedom have none, with the reason."""

import numpy as np
import pytest
from fits import words_of
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.ensemble import HistGradientBoostingRegressor

import pyinterp as pi
from pyinterp.inference import IntervalScale, TermInference, Variance
from pyinterp.ranges import POSITIVE

PAIRS = [("a", "b"), ("c", "d"), ("c", "e")]


@pytest.fixture(scope="module")
def learner():
    rng, data = normal_rows(120, "a b c d e", 3)
    data["y"] = data["a"] * data["b"] + data["c"] + rng.normal(size=120)
    boosting = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=10)
    return pi.Learner.from_formula("y ~ .", data, boosting)


@pytest.mark.parametrize("options", [{}, {"squared": False}, {"simultaneous": True}])
@pytest.mark.parametrize("refits", [3, 4, 5, 8])
def test_upper_limits_end_at_1_or_a_reason_stands_for_them(learner, refits, options):
    fit = learner.fit(pi.Subsampling(refits), seed=1)
    found = fit.h_statistic(PAIRS, order="pairwise", **options)
    limits, few = found.conf_int(), refits < 5
    assert (found.bse > 0).all()
    assert limits.isna().to_numpy().all() == few
    assert few or ((limits[1] <= 1) & (limits[1] > found.params)).all()
    reason = (
        f"No intervals: limits of a share need 4 degrees of freedom, but there are {refits - 1}"
    )
    assert (reason in words_of(found)) == few
    assert "Intervals (" not in words_of(found) or not few


@pytest.mark.parametrize("order", ["overall", "three-way", "total", "importance"])
def test_all_orders_have_them(learner, order):
    fit = learner.fit(pi.Subsampling(3), seed=1)
    features = ["a", "b", "c"]
    assert "limits of a share" in words_of(fit.h_statistic(features, order=order))
    mean_squares = fit.h_statistic(features, order=order, normalize=False)
    assert mean_squares.conf_int().notna().all().all()  # no share, so no end


def test_an_estimate_above_1_keeps_its_limits():
    shares = TermInference(
        estimate=np.array([0.9, 1.2]),
        bse=np.array([0.3, 0.3]),
        null=np.full(2, np.nan),
        variance=Variance(cov=np.eye(2) * 0.09, df=10.0, note=""),
        scale=IntervalScale(POSITIVE),
        share=True,
    )
    plain = shares.variance.interval(shares.estimate, shares.bse, 0.05, "two-sided")
    assert_allclose(shares.interval(0.05), [[plain[0, 0], 1.0], plain[1]])


def test_other_squares_keep_theirs(learner):
    fit = learner.fit(pi.Subsampling(3), seed=1)
    assert fit.pfi().conf_int().notna().all().all()
    assert "No intervals" not in words_of(fit.pfi())
