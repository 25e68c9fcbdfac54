"""Intervals of contrasts of importances, against the sums of Zou and Donner (2008) one by one."""

from itertools import pairwise

import numpy as np
import pytest
from fits import fit_of
from scipy import stats
from shared import normal_rows
from sklearn.linear_model import LinearRegression, Ridge

import pyinterp as pi

WEIGHTS = np.array(
    [[1.0, -1, 0, 0], [1, 0, -1, 0], [0, 1, 1, -2], [-0.5, 0, 0, 3], [0.25, 0.25, 0.25, 0.25]]
)


@pytest.fixture(scope="module")
def fitted():
    rng, data = normal_rows(80, "a b c d", 1)
    data["y"] = data["a"] + data["b"] / 2 + rng.normal(size=80)
    return fit_of("y ~ .", data, LinearRegression(), pi.HalfSampling(5, pairs=8))


def naive(pfi, weights, low, high):
    cov, c = pfi.cov_params().to_numpy(), pfi.params.to_numpy()
    below = above = 0.0
    for i in range(len(c)):
        for j in range(len(c)):
            rho = cov[i, j] / np.sqrt(cov[i, i] * cov[j, j])
            down = [w * ((c - low)[k] if w > 0 else (high - c)[k]) for k, w in enumerate(weights)]
            up = [w * ((high - c)[k] if w > 0 else (c - low)[k]) for k, w in enumerate(weights)]
            below += rho * down[i] * down[j]
            above += rho * up[i] * up[j]
    # No side is further from that of a symmetric interval than one of the sides of the terms is.
    used = weights != 0
    plain = stats.t.isf(0.025, 8) * np.sqrt(weights @ cov @ weights)
    each = stats.t.isf(0.025, 8) * pfi.bse.to_numpy()
    ratios = [1.0, *((c - low) / each)[used], *((high - c) / each)[used]]
    sides = np.clip(np.sqrt([below, above]) / plain, min(ratios), max(ratios)) * plain
    return weights @ c - sides[0], weights @ c + sides[1]


def test_limits_are_made_of_those_of_the_terms(fitted):
    pfi = fitted.pfi()
    low, high = pfi.conf_int().to_numpy().T
    test = pfi.t_test(WEIGHTS)
    both = np.stack([test.conf_int(), test.conf_int(0.2)], axis=1)
    for weights, (limits, other) in zip(WEIGHTS, both, strict=True):
        np.testing.assert_allclose(limits, naive(pfi, weights, low, high), rtol=1e-10)
        # At other levels by the quantile of t.
        center = float(weights @ pfi.params.to_numpy())
        less = stats.t.isf(0.1, 8) / stats.t.isf(0.025, 8)
        np.testing.assert_allclose(other - center, less * (limits - center), rtol=1e-10)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.2, 0.45, 0.6, 0.9])
def test_p_is_below_alpha_if_the_interval_excludes_the_value(fitted, alternative, alpha):
    pfi = fitted.pfi(alternative=alternative)
    for weights in WEIGHTS:
        limits = pfi.t_test(weights[None]).conf_int(alpha).iloc[0]
        for limit in limits[np.isfinite(limits)]:
            for target in (limit - 1e-6, limit + 1e-6):
                test = pfi.t_test((weights[None], np.array([target])))
                outside = not limits[0] <= target <= limits[1]
                assert (float(test.pvalue) < alpha) == outside


def test_p_falls_with_the_distance(fitted):
    pfi = fitted.pfi()
    center = float((WEIGHTS[:1] @ pfi.params.to_numpy())[0])
    values = [
        float(pfi.t_test((WEIGHTS[:1], np.array([center + step]))).pvalue)
        for step in np.linspace(0, 5, 21)
    ]
    assert values[0] == 1
    assert all(a >= b for a, b in pairwise(values))


def test_the_table_says_so_and_others_are_t_tests(fitted):
    note = "the standard error on the side of the hypothesis"
    assert note in " ".join(str(fitted.pfi().t_test("a = b").summary()).split())
    curve = fitted.pd("a", grid=[-1.0, 1.0]).t_test("a[1] - a[-1]")
    half = np.ptp(curve.conf_int().iloc[0]) / 2
    assert half / curve.sd == pytest.approx(2.306004, rel=1e-6)  # t with 8 df


def test_terms_that_are_nearly_the_same_have_no_certain_difference():
    """Their limits cancel: a side is bounded by the ratios of the terms' own sides."""
    rng, data = normal_rows(90, "a b c", 1)
    data["b"] = data["a"] + 1e-3 * rng.normal(size=90)
    data["y"] = data["a"] + data["b"] / 2 + rng.normal(size=90)
    pfi = fit_of("y ~ .", data, Ridge(5.0), pi.HalfSampling(5, pairs=8)).pfi()
    low, high = pfi.conf_int().loc[["a", "b"]].to_numpy().T
    c, t = pfi.params[["a", "b"]].to_numpy(), stats.t.isf(0.025, 8)
    ratios = np.concatenate([c - low, high - c]) / np.tile(t * pfi.bse[["a", "b"]], 2)
    weight = float((high[1] - c[1]) / (c[0] - low[0]))
    for hypothesis in (f"{weight!r} * a = b", "1.5 * a = b", "a = b"):
        test = pfi.t_test(hypothesis)
        center, sides = float(test.effect[0]), test.conf_int().iloc[0]
        found = np.array([center - sides[0], sides[1] - center]) / t / float(test.sd[0])
        assert (found > (1 - 1e-9) * min(1.0, *ratios)).all()
        assert (found < (1 + 1e-9) * max(1.0, *ratios)).all()
        assert 0 < float(test.pvalue) <= 1
