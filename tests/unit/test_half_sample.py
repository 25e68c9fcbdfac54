"""Half-sampling: the plan, and the variance from its refits."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from by_refit import failing, pairs_of, refits_of, separate_of
from fits import words_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from shared import normal_rows
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from test_square import reference

import pyinterp as pi
from pyinterp.errors import DataError, OptionError, RefitError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import COV_TYPES, RefitEstimate, Replicates, SquareVariance, Variance
from pyinterp.inference.half_sample.variance import variance_parts
from pyinterp.resampling import Group

EXACT = 1e-12


def make_estimate(rng, n, q, donors):
    rows = rng.normal(size=(n, q)) + rng.normal(size=q)
    given_ = rng.normal(size=(n, q))
    own = given_ - given_.mean(axis=0) if donors else None
    return replace(Estimate.of_rows(rows), donors=own)


def make_refits(seed, n=41, q=3, pairs=6, donors=True):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(1000)[:n]  # rows have gaps where some were dropped
    found = []
    for pair in range(pairs):
        shuffled = rng.permutation(labels)
        halves = shuffled[: n // 2], shuffled[n // 2 :]
        # The first refit trains on the first half and is evaluated on the second.
        found += [
            RefitEstimate(make_estimate(rng, len(h), q, donors), h, Group("pair", pair))
            for h in halves[::-1]
        ]
    separate = [RefitEstimate(make_estimate(rng, 15, q, donors), labels[:15]) for _ in range(7)]
    return [*separate, *found]


def evidence_of(refits, **options):
    return Replicates.of(refits, correction=0.58, **options)


def variance_of(refits, cov_type="half-sample", **options):
    return COV_TYPES[cov_type](evidence_of(refits, **options))


def arrays_of(refits):
    """T_main, T and bm of the reference; effects of rows by regression on all dummies."""
    pairs = pairs_of(refits)
    halves = [half for pair in pairs for half in pair]
    labels = sorted({row for half in halves for row in half.rows})
    design, response = [], []
    for f, half in enumerate(halves):
        for k, row in enumerate(half.rows):
            line = np.zeros(len(halves) + len(labels))
            line[f] = line[len(halves) + labels.index(row)] = 1.0
            t = half.estimate.rows[k].copy()
            if half.estimate.donors is not None:
                t += half.estimate.donors[k]
            design.append(line)
            response.append(t)
    effects = np.linalg.lstsq(np.array(design), np.array(response))[0][len(halves) :]
    bhat = dict(zip(labels, effects, strict=True))
    T = np.array([[half.estimate.value for half in pair] for pair in pairs])
    bm = np.array(
        [
            # half 0 evaluated the second refit, half 1 the first
            [np.mean([bhat[r] for r in pair[1 - h].rows], axis=0) for h in (0, 1)]
            for pair in pairs
        ]
    )
    return np.array([one.estimate.value for one in separate_of(refits)]), T, bm


def parts_of(refits):
    """A, S, s²/m and M of every term, by the reference."""
    T_main, T, bm = arrays_of(refits)
    return [reference.parts(T_main[:, k], T[..., k], bm[..., k]) for k in range(T_main.shape[1])]


@pytest.mark.parametrize("cov_type", ["half-sample", "half-sample-t"])
@pytest.mark.parametrize("donors", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_the_variance_of_means_is_that_of_the_reference(seed, donors, cov_type):
    refits = make_refits(seed, donors=donors)
    replicates, expected = evidence_of(refits), parts_of(refits)
    found = COV_TYPES[cov_type](replicates)
    assert_allclose(np.diag(found.cov), [A + s for A, _, s, _ in expected], rtol=1e-10)
    assert {found.df} == {M for *_, M in expected}
    assert type(found) is Variance
    assert found.cov_type == cov_type
    assert np.linalg.eigvalsh(found.cov).min() > 0
    parts = variance_parts(replicates)
    assert_allclose(parts.S, [S for _, S, *_ in expected], rtol=1e-10)
    assert_allclose(np.diag(parts.A), [A for A, *_ in expected], rtol=1e-10)


@pytest.mark.parametrize("share", [0.5, 0.3])
@pytest.mark.parametrize("pairs", [5, 15])
def test_rows_that_train_and_evaluate_are_counted_in_full(pairs, share):
    """A law: if T = mean of a over training rows + mean of b over evaluation rows, D = z0 - z1.

    z_h is the mean of a + b over half h. Over random splits D² / 4 is S²(a + b) / n on average, the
    variance of a mean over n rows. PFI of least squares is such a statistic, with a = b.
    """
    rng = np.random.default_rng(8)
    n = 40
    a, b = rng.normal(size=(2, n, 3)) + rng.normal(size=(n, 3))
    b[:, 1], a[:, 2] = a[:, 1], 0.0
    found, expected = [], np.zeros(3)
    for pair in range(pairs):
        shuffled = rng.permutation(n)
        first = int(share * n)  # of unequal size, as with clusters
        halves = shuffled[:first], shuffled[first:]
        for train, rest in (halves, halves[::-1]):
            rows = a[train].mean(axis=0) + b[rest]
            found.append(RefitEstimate(Estimate.of_rows(rows), rest, Group("pair", pair)))
        means = [(a + b)[half].mean(axis=0) for half in halves]
        expected += (means[0] - means[1]) ** 2 / (4 * pairs)
    same = found[0]._replace(group=None)  # estimates that do not differ: nothing is added
    replicates = Replicates.of((same, same, *found), correction=0.0)
    found_ = np.diag(COV_TYPES["half-sample"](replicates).cov)
    assert_allclose(found_, expected, rtol=1e-10)


def test_the_variance_of_a_contrast_is_the_contrast_of_the_covariance():
    refits = make_refits(3)
    weights = np.array([[1.0, -2.0, 0.5]])
    contrasts = [one._replace(estimate=one.estimate.linear(weights)) for one in refits]
    one, whole = variance_of(contrasts), variance_of(refits)
    assert_allclose(one.cov, weights @ whole.cov @ weights.T, rtol=1e-10)


def test_estimates_that_agree_have_no_variance():
    refits = make_refits(4, n=57, pairs=9)
    for half in (half for pair in pairs_of(refits) for half in pair):
        half.estimate.value[:] = half.estimate.rows[:] = 0.1
        half.estimate.donors[:] = 0.0
    for one in separate_of(refits):
        one.estimate.value[:] = 0.1
    assert (np.diag(variance_of(refits).cov) < 1e-30).all()


def test_a_missing_term_leaves_the_others_alone():
    whole, refits = make_refits(3), make_refits(3)
    for half in pairs_of(refits)[0]:
        half.estimate.value[1] = half.estimate.rows[:, 1] = np.nan
    found, expected = (np.diag(variance_of(part).cov) for part in (refits, whole))
    assert_array_equal(np.isnan(found), [False, True, False])
    assert_allclose(found[[0, 2]], expected[[0, 2]], rtol=EXACT)


class Fit(NamedTuple):
    """What `half_sample` takes of a `HalfRefits`."""

    growth: float = 1.0
    mean_share: float = 1.0
    reason: str = ""
    warning: str = ""

    @property
    def verdict(self):
        return self


FITS = [(), (Fit(1.3),), (Fit(1.0, 0.4),), (Fit(1.2, 0.7),), (Fit(1.2, 0.1), Fit(1.1, 0.6))]


@pytest.mark.parametrize("fits", FITS)
@pytest.mark.parametrize("seed", range(3))
def test_variances_of_squares_are_those_of_the_reference(seed, fits):
    """Of several learners, as a LOCO has, the largest growth and share count."""
    refits = make_refits(seed)
    g = max((fit.growth for fit in fits), default=1.0)
    r = max((fit.mean_share for fit in fits), default=1.0)
    expected = np.array([reference.variances(*p[:3], g, r) for p in parts_of(refits)])
    found = variance_of(refits, no_effect=0.0, half_refits=fits)
    assert_allclose(np.diag(found.cov), expected[:, 0], rtol=1e-10)
    assert_allclose(found.at_no_effect**2, expected[:, 1], rtol=1e-10)
    assert (found.at_no_effect**2 <= np.diag(found.cov) * (1 + EXACT)).all()
    assert (found.no_effect, found.df) == (0.0, 6)
    assert np.linalg.eigvalsh(found.cov).min() > 0


@pytest.mark.parametrize("seed", range(6))
def test_ratios_vary_in_proportion_to_their_size(seed):
    refits = make_refits(seed)
    ratios = [
        one._replace(estimate=replace(one.estimate, below=np.ones_like(one.estimate.rows)))
        for one in refits
    ]
    T_main, T, _ = arrays_of(refits)
    size = [
        min(max(c / half, 1.0), 1.5) if half > 0 else 1.0
        for c, half in zip(T_main.mean(axis=0), T.mean(axis=(0, 1)), strict=True)
    ]
    of_ratio, parts = reference.variances_of_ratio, zip(parts_of(refits), size, strict=True)
    expected = np.array([of_ratio(*p[:3], more, 1.1, 0.6) for p, more in parts])
    found = variance_of(ratios, no_effect=1.0, half_refits=(Fit(1.1, 0.6),))
    assert_allclose(np.diag(found.cov), expected[:, 0], rtol=1e-10)
    assert_allclose(found.at_no_effect**2, expected[:, 1], rtol=1e-10)


def test_correlations_of_squares_are_those_of_the_pairs():
    """The part by the refits of the estimate aside, which all variances have."""
    between = np.cov(evidence_of(make_refits(1)).per_refit, rowvar=False) / 7
    covs = [variance_of(make_refits(1), no_effect=value).cov - between for value in (None, 0.0)]
    one, other = (cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov))) for cov in covs)
    assert_allclose(one, other, rtol=1e-9)


def test_terms_keep_the_monte_carlo_error_of_their_standard_error():
    whole = variance_of(make_refits(2), no_effect=0.0)
    some = whole.of(np.array([2, 0]))
    assert_array_equal(some.bse_error, whole.bse_error[[2, 0]])
    assert_array_equal(some.at_no_effect, whole.at_no_effect[[2, 0]])


ROWS = np.array([[0, 1], [2, 3]])


@pytest.mark.parametrize("no_effect", [None, 0.0])
def test_the_error_of_the_standard_error_is_that_over_plans(no_effect):
    """A law: standard errors of independent plans scatter as each of them says.

    By the delta method, so at 40 pairs and 40 refits. Of 400 plans the standard deviation has a
    standard error of 3.5%, and 4 of these are allowed, with 5% for the delta method.
    """
    rng = np.random.default_rng(11)
    bse, told = [], []
    for _ in range(400):
        refits = []
        for pair in range(40):
            shared, away = rng.normal(size=(2, 2)) * [1.0, 0.3] + [[30.0], [0.0]]
            refits += [
                RefitEstimate(Estimate.of_rows(np.tile(value, (2, 1))), rows, Group("pair", pair))
                for value, rows in zip((shared + away, shared - away), ROWS, strict=True)
            ]
        refits += [
            RefitEstimate(Estimate.of_rows(value[None]), ROWS[0, :1])
            for value in 30 + rng.normal(size=(40, 2)) * 4
        ]
        variance = variance_of(refits, no_effect=no_effect)
        bse.append(np.sqrt(np.diag(variance.cov)))
        told.append(variance.bse_error)
    scatter, told_ = np.std(bse, axis=0, ddof=1), np.sqrt(np.square(told).mean(axis=0))
    assert_allclose(scatter, told_, rtol=4 * 0.035 + 0.05)


def rows_of(n=61):
    _, data = normal_rows(n, "y x z")
    data["id"] = np.arange(n) // 2
    data["g"] = np.where(data["x"] > 0.8, "rare", "usual")
    return data


ROWS_61, LINEAR = rows_of(), LinearRegression()


def fit_of(plan=None, formula="y ~ x + z", learner=LINEAR, data=ROWS_61, **options):
    return pi.Learner.from_formula(formula, data, learner).fit(plan, seed=1, **options)


@pytest.fixture(scope="module")
def results():
    return fit_of()


@pytest.fixture(scope="module")
def classes():
    return fit_of(formula="g ~ x + z", learner=LogisticRegression())


class TestPlan:
    def test_it_is_the_default(self, results):
        assert isinstance(results.resampling, pi.HalfSampling)
        assert (len(results.refits), len(results.halves)) == (15, 30)
        pfi = results.pfi()
        assert (pfi.cov_type, pfi.df_resid) == ("half-sample", 15)
        assert "15, and 15 pairs" in str(pfi.summary())

    def test_halves_are_complementary_and_random_in_size_and_order(self):
        results = fit_of(pi.HalfSampling(2, pairs=20))
        sizes = set()
        for first, second in zip(results.halves[::2], results.halves[1::2], strict=True):
            assert first.group == second.group
            assert_array_equal(first.train_rows, second.evaluation.rows)
            assert_array_equal(second.train_rows, first.evaluation.rows)
            both = np.concatenate([first.train_rows, second.train_rows])
            assert_array_equal(np.sort(both), np.arange(61))
            sizes.add(len(first.train_rows))
        assert sizes == {30, 31}

    def test_the_estimate_is_that_of_subsampling(self, results):
        subsamples = fit_of(pi.Subsampling(15)).pfi()
        pd.testing.assert_series_equal(results.pfi().params, subsamples.params)
        pd.testing.assert_series_equal(results.pfi(cov_type="corrected").bse, subsamples.bse)

    def test_clusters_stay_whole(self):
        data = rows_of(121)
        results = fit_of(pi.HalfSampling(2, pairs=5, cluster="id"), data=data)
        for refit in (*results.refits, *results.halves):
            train = set(data["id"].iloc[refit.train_rows])
            assert not train & set(data["id"].iloc[refit.evaluation.rows])

    def test_every_half_has_every_class_but_shares_vary(self, classes):
        shares = [np.mean(r.evaluation.y) for r in classes.halves]
        assert len(set(shares)) > 3
        assert all(0 < share < 1 for share in shares)

    def test_pairs_alone_estimate_at_half_the_size(self):
        results = fit_of(pi.HalfSampling(refits=0, pairs=6))
        pfi = results.pfi()
        assert len(results.refits) == 12
        T = pfi.replicates.of_pairs
        assert T.shape == (6, 2, 2)
        assert_allclose(pfi.params, T.mean(axis=(0, 1)), rtol=EXACT)
        (fit,) = pfi.replicates.half_refits
        assert fit.verdict.growth == 1.0  # of which size is the estimate, and of which the halves?
        S = T.mean(axis=1).var(axis=0, ddof=1)
        parts = zip(parts_of(refits_of(results, pfi)), S, strict=True)
        expected = [reference.variances(A, s, s / 6, 1.0, fit.mean_share) for (A, *_), s in parts]
        assert_allclose(pfi.bse**2, [V for V, _ in expected], rtol=1e-9)
        assert "6 pairs" in str(pfi.summary())
        assert "trained on half the" in words_of(pfi)

    def test_a_pair_of_which_one_refit_failed_is_left_out(self):
        with pytest.warns(pi.errors.RefitWarning, match="1 of 16 refits failed"):
            found = fit_of(pi.HalfSampling(2, pairs=7), learner=failing([4]), on_error="drop")
        assert found.pfi().df_resid == 6

    @pytest.mark.parametrize(
        ("refits", "fails", "message"),
        [
            # 2 refits, then 7 pairs: all refits of pairs; a refit of 3 pairs; all for the estimate
            (2, range(2, 16), "2 of 2 refits succeeded and 0 of 7 pairs are whole"),
            (2, (3, 4, 6), "2 of 2 refits succeeded and 4 of 7 pairs are whole"),
            (2, (0, 1), "0 of 2 refits succeeded and 7 of 7 pairs are whole"),
            (0, (1, 3, 5), "at least 5 pairs of which both succeed, but 4 of 7 pairs are whole"),
        ],
    )
    def test_too_many_failures_are_counted(self, refits, fails, message):
        plan = pi.HalfSampling(refits, pairs=7)
        with pytest.raises(RefitError, match=f"Half-sampling needs .*{message}.*ValueError: no"):
            fit_of(plan, learner=failing(fails), on_error="drop")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"pairs": 4}, "`pairs` must be at least 5, not 4: with fewer, intervals"),
            ({"pairs": 5.0}, "`pairs` must be a whole number"),
            ({"strata": "g"}, "`strata` can't be given to half-sampling, which draws"),
            ({"refits": 1}, "`refits` must be 0 or at least 2"),
            ({"refits": -1}, "`refits` must be a whole number of at least 0"),
        ],
    )
    def test_bad_numbers(self, options, message):
        with pytest.raises(OptionError, match=message):
            pi.HalfSampling(**options)

    def test_few_rows_are_refused_with_the_reason(self):
        with pytest.raises(DataError, match=r"at least 40 rows.*got 39.*pi.Bootstrap\(15\)"):
            fit_of(data=rows_of(39))
        assert fit_of(data=rows_of(40)).pfi().cov_type == "half-sample"
        few = rows_of(60).assign(id=np.arange(60) % 11)
        with pytest.raises(DataError, match=r"at least 12 clusters.*got 11.*15, cluster="):
            fit_of(pi.HalfSampling(cluster="id"), data=few)

    def test_advice_for_an_unseen_level_can_be_followed(self):
        data = rows_of().assign(g=["rare", *["usual"] * 60])
        with pytest.raises(RefitError, match=r"draw within levels \(`strata=`\)"):
            fit_of(pi.CrossValidation(3), formula="y ~ x + g", data=data)

    def test_a_feature_that_is_never_used_has_no_interval(self):
        class OnlyFirst(LinearRegression):
            def fit(self, X, y):
                return super().fit(X[:, :1], y)

            def predict(self, X):
                return super().predict(X[:, :1])

        pfi = fit_of(learner=OnlyFirst()).pfi()
        assert pfi.params["z"] == pfi.bse["z"] == 0
        assert pfi.conf_int().loc["z"].isna().all()
        assert "in no refit do predictions of evaluation rows change with it" in words_of(pfi)

    @pytest.mark.parametrize("relation", ["difference", "ratio"])
    def test_the_parts_of_a_table_are_those_of_the_reference(self, relation):
        """And the table follows from them, by the formulas alone."""
        results = fit_of(learner=RandomForestRegressor(5))
        pfi = results.pfi(relation=relation)
        (fit,) = pfi.replicates.half_refits
        taken = pfi.variance_parts()
        assert list(taken.index) == list(pfi.params.index)
        for (name, row), (A, S, s2_m, M) in zip(
            taken.iterrows(), parts_of(refits_of(results, pfi)), strict=True
        ):
            assert_allclose(row[["A", "S", "s2_m"]].tolist(), [A, S, s2_m], rtol=1e-9)
            assert (row["m"], row["M"]) == (15, M)
            assert (row["g"], row["r"]) == (fit.verdict.growth, fit.mean_share)
            if relation == "difference":
                V, V0 = reference.variances(*row[["A", "S", "s2_m", "g", "r"]])
                assert np.isnan(row["growth_ratio"])
            else:
                V, V0 = reference.variances_of_ratio(
                    *row[["A", "S", "s2_m", "growth_ratio", "g", "r"]]
                )
            assert_allclose(row[["variance", "variance_null"]].tolist(), [V, V0])
            c, null = row["estimate"], pfi.null
            given = c - null, V, np.sqrt(V0)
            assert pfi.bse[name] == pytest.approx(np.sqrt(V), rel=1e-9)
            assert pfi.bse_null[name] == pytest.approx(reference.null_error(*given), rel=1e-9)
            assert pfi.tvalues[name] == pytest.approx((c - null) / pfi.bse_null[name], rel=1e-9)
            p = reference.p_value(*given, row["M"])
            assert pfi.pvalues[name] == pytest.approx(p, rel=1e-7)
            for alpha in (0.2, 0.05, 0.01):
                limits = null + np.array(reference.limits(*given, row["M"], alpha))
                # A ratio of losses is above 0, and its interval ends there.
                limits = np.maximum(limits, 0.0) if relation == "ratio" else limits
                assert_allclose(pfi.conf_int(alpha).loc[name], limits, rtol=1e-7)

    def test_plain_t_with_all_of_a_stays_beside_it(self, results):
        """V = A + s²/m and Student's t, whatever the size of the effect."""
        pfi = results.pfi(cov_type="half-sample-t")
        V = np.array([A + s for A, _, s, _ in parts_of(refits_of(results, pfi))])
        assert_allclose(pfi.bse, np.sqrt(V), rtol=1e-9)
        assert_array_equal(pfi.bse, pfi.bse_null)
        assert_allclose(pfi.tvalues, pfi.params / np.sqrt(V), rtol=1e-9)
        p = 2 * stats.t.sf(np.abs(pfi.tvalues), 15)
        assert_allclose(pfi.pvalues, p, rtol=1e-9)
        for alpha in (0.3, 0.05, 0.001):
            half = stats.t.isf(alpha / 2, 15) * np.sqrt(V)
            expected = np.column_stack([pfi.params - half, pfi.params + half])
            assert_allclose(pfi.conf_int(alpha), expected, rtol=1e-9)
        one = results.pfi(cov_type="half-sample-t", alternative="greater")
        assert_allclose(one.pvalues, stats.t.sf(one.tvalues, 15), rtol=1e-9)

    def test_what_is_no_square_has_plain_t_by_default(self, results, classes):
        fit, other = results, fit_of(formula="y ~ x")
        entropy = classes.entropy_pfi()
        answers = [(entropy, refits_of(classes, entropy))]  # more of them in tests/oracles
        differences = [
            mine._replace(estimate=mine.estimate.minus(its.estimate))
            for mine, its in zip(
                refits_of(fit, fit.loss()), refits_of(other, other.loss()), strict=True
            )
        ]
        answers.append((pi.compare(fit.loss(), other.loss()), differences))
        for answer, refits in answers:
            assert type(answer.variance) is Variance
            assert answer.cov_type == "half-sample"
            V = [A + s for A, _, s, _ in parts_of(refits)]
            assert_allclose(answer.bse**2, V, rtol=1e-8)
        squares = [fit.pfi(), fit.loco(), fit.cvim(), fit.pfi(relation="ratio"), classes.pfi()]
        squares += [fit.pfi(metric="rmse"), fit.amvim(), fit.mvim()]
        assert {type(answer.variance) for answer in squares} == {SquareVariance}

    def test_more_features_change_nothing(self):
        results = fit_of(learner=RandomForestRegressor(5))
        one, both = results.pfi("x"), results.pfi()
        assert one.bse["x"] == pytest.approx(both.bse["x"], rel=EXACT)
        assert one.params["x"] == both.params["x"]
