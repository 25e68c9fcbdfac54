"""Half-sampling: the plan, and the variance from its refits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from by_refit import pairs_of, refits_of, separate_of
from scipy import stats
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from test_square import reference

import pyinterp as pi
from pyinterp.errors import DataError, InferenceError, OptionError, RefitError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import COV_TYPES, RefitEstimate, Replicates, SquareVariance, Variance
from pyinterp.inference.half_sample.variance import variance_parts
from pyinterp.resampling import Group

EXACT = 1e-12


def make_estimate(rng: np.random.Generator, n: int, q: int, *, donors: bool) -> Estimate:
    rows = rng.normal(size=(n, q)) + rng.normal(size=q)
    given_ = rng.normal(size=(n, q))
    return Estimate(
        value=rows.mean(axis=0),
        rows=rows,
        donors=given_ - given_.mean(axis=0) if donors else None,
        mc_variance=np.zeros(q),
    )


def make_refits(
    seed: int, n: int = 41, q: int = 3, pairs: int = 6, *, donors: bool = True
) -> list[RefitEstimate]:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(1000)[:n]  # rows have gaps where some were dropped
    found = []
    for pair in range(pairs):
        shuffled = rng.permutation(labels)
        halves = shuffled[: n // 2], shuffled[n // 2 :]
        # The first refit trains on the first half and is evaluated on the second.
        found += [
            RefitEstimate(make_estimate(rng, len(h), q, donors=donors), h, Group("pair", pair))
            for h in halves[::-1]
        ]
    separate = [
        RefitEstimate(make_estimate(rng, 15, q, donors=donors), labels[:15]) for _ in range(7)
    ]
    return [*separate, *found]


def evidence_of(refits: list[RefitEstimate], **options: Any) -> Replicates:
    return Replicates.of(refits, correction=0.58, **options)


def arrays_of(refits: list[RefitEstimate]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


def parts_of(refits: list[RefitEstimate]) -> list[tuple[float, float, float, int]]:
    """A, S, s²/m and M of every term, by the reference."""
    T_main, T, bm = arrays_of(refits)
    return [reference.parts(T_main[:, k], T[..., k], bm[..., k]) for k in range(T_main.shape[1])]


@pytest.mark.parametrize("cov_type", ["half-sample", "half-sample-t"])
@pytest.mark.parametrize("donors", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_the_variance_of_means_is_that_of_the_reference(
    seed: int, donors: bool, cov_type: Any
) -> None:
    refits = make_refits(seed, donors=donors)
    replicates, expected = evidence_of(refits), parts_of(refits)
    found = COV_TYPES[cov_type](replicates)
    np.testing.assert_allclose(np.diag(found.cov), [A + s for A, _, s, _ in expected], rtol=1e-10)
    assert {found.df} == {M for *_, M in expected}
    assert type(found) is Variance
    assert found.cov_type == cov_type
    assert np.linalg.eigvalsh(found.cov).min() > 0
    parts = variance_parts(replicates)
    np.testing.assert_allclose(parts.S, [S for _, S, *_ in expected], rtol=1e-10)
    np.testing.assert_allclose(np.diag(parts.A), [A for A, *_ in expected], rtol=1e-10)


@pytest.mark.parametrize("share", [0.5, 0.3])
@pytest.mark.parametrize("pairs", [5, 15])
def test_rows_that_train_and_evaluate_are_counted_in_full(pairs: int, share: float) -> None:
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
            value = rows.mean(axis=0)
            estimate = Estimate(value=value, rows=rows, donors=None, mc_variance=np.zeros(3))
            found.append(RefitEstimate(estimate, rest, Group("pair", pair)))
        means = [(a + b)[half].mean(axis=0) for half in halves]
        expected += (means[0] - means[1]) ** 2 / (4 * pairs)
    same = found[0]._replace(group=None)  # estimates that do not differ: nothing is added
    replicates = Replicates.of((same, same, *found), correction=0.0)
    found_ = np.diag(COV_TYPES["half-sample"](replicates).cov)
    np.testing.assert_allclose(found_, expected, rtol=1e-10)


def test_the_variance_of_a_contrast_is_the_contrast_of_the_covariance() -> None:
    refits = make_refits(3)
    weights = np.array([[1.0, -2.0, 0.5]])
    contrasts = [one._replace(estimate=one.estimate.linear(weights)) for one in refits]
    one, whole = (COV_TYPES["half-sample"](evidence_of(part)) for part in (contrasts, refits))
    np.testing.assert_allclose(one.cov, weights @ whole.cov @ weights.T, rtol=1e-10)


def test_estimates_that_agree_have_no_variance() -> None:
    refits = make_refits(4, n=57, pairs=9)
    for half in (half for pair in pairs_of(refits) for half in pair):
        half.estimate.value[:] = half.estimate.rows[:] = 0.1
        half.estimate.donors[:] = 0.0
    for one in separate_of(refits):
        one.estimate.value[:] = 0.1
    assert (np.diag(COV_TYPES["half-sample"](evidence_of(refits)).cov) < 1e-30).all()


def test_a_missing_term_leaves_the_others_alone() -> None:
    whole, refits = make_refits(3), make_refits(3)
    for half in pairs_of(refits)[0]:
        half.estimate.value[1] = half.estimate.rows[:, 1] = np.nan
    found, expected = (
        np.diag(COV_TYPES["half-sample"](evidence_of(part)).cov) for part in (refits, whole)
    )
    np.testing.assert_array_equal(np.isnan(found), [False, True, False])
    np.testing.assert_allclose(found[[0, 2]], expected[[0, 2]], rtol=EXACT)


class Fit(NamedTuple):
    """What `half_sample` takes of a `HalfFits`."""

    growth: float = 1.0
    mean_share: float = 1.0
    reason: str = ""
    warning: str = ""


FITS = [(), (Fit(1.3),), (Fit(1.0, 0.4),), (Fit(1.2, 0.7),), (Fit(1.2, 0.1), Fit(1.1, 0.6))]


@pytest.mark.parametrize("fits", FITS)
@pytest.mark.parametrize("seed", range(3))
def test_variances_of_squares_are_those_of_the_reference(seed: int, fits: tuple[Fit, ...]) -> None:
    """Of several learners, as a LOCO has, the largest growth and share count."""
    refits = make_refits(seed)
    replicates = evidence_of(refits, no_effect=0.0, half_fits=fits)
    g = max((fit.growth for fit in fits), default=1.0)
    r = max((fit.mean_share for fit in fits), default=1.0)
    expected = np.array([reference.variances(*p[:3], g, r) for p in parts_of(refits)])
    found = COV_TYPES["half-sample"](replicates)
    np.testing.assert_allclose(np.diag(found.cov), expected[:, 0], rtol=1e-10)
    np.testing.assert_allclose(found.at_no_effect**2, expected[:, 1], rtol=1e-10)
    assert (found.at_no_effect**2 <= np.diag(found.cov) * (1 + EXACT)).all()
    assert (found.no_effect, found.df) == (0.0, 6)
    assert np.linalg.eigvalsh(found.cov).min() > 0


def test_both_branches_of_the_variance_are_there() -> None:
    """A - S/2 is the larger in some of these, S in others."""
    larger = [p[0] - p[1] / 2 > p[1] for seed in range(3) for p in parts_of(make_refits(seed))]
    assert {bool(value) for value in larger} == {True, False}


def as_ratio(estimate: Estimate) -> Estimate:
    return replace(estimate, below=np.ones_like(estimate.rows))


@pytest.mark.parametrize("seed", range(6))
def test_ratios_vary_in_proportion_to_their_size(seed: int) -> None:
    refits = make_refits(seed)
    ratios = [one._replace(estimate=as_ratio(one.estimate)) for one in refits]
    relative = evidence_of(ratios, no_effect=1.0, half_fits=(Fit(1.1, 0.6),))
    T_main, T, _ = arrays_of(refits)
    size = [
        min(max(c / half, 1.0), 1.5) if half > 0 else 1.0
        for c, half in zip(T_main.mean(axis=0), T.mean(axis=(0, 1)), strict=True)
    ]
    expected = np.array(
        [
            reference.variances_of_ratio(*p[:3], more, 1.1, 0.6)
            for p, more in zip(parts_of(refits), size, strict=True)
        ]
    )
    found = COV_TYPES["half-sample"](relative)
    np.testing.assert_allclose(np.diag(found.cov), expected[:, 0], rtol=1e-10)
    np.testing.assert_allclose(found.at_no_effect**2, expected[:, 1], rtol=1e-10)


def test_correlations_of_squares_are_those_of_the_pairs() -> None:
    """The part by the refits of the estimate aside, which all variances have."""
    between = np.cov(evidence_of(make_refits(1)).per_refit, rowvar=False) / 7
    covs = [
        COV_TYPES["half-sample"](evidence_of(make_refits(1), no_effect=value)).cov - between
        for value in (None, 0.0)
    ]
    one, other = (cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov))) for cov in covs)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_terms_keep_the_monte_carlo_error_of_their_standard_error() -> None:
    whole = COV_TYPES["half-sample"](evidence_of(make_refits(2), no_effect=0.0))
    some = whole.of(np.array([2, 0]))
    np.testing.assert_array_equal(some.bse_error, whole.bse_error[[2, 0]])
    np.testing.assert_array_equal(some.at_no_effect, whole.at_no_effect[[2, 0]])


@pytest.mark.parametrize("no_effect", [None, 0.0])
def test_the_error_of_the_standard_error_is_that_over_plans(no_effect: float | None) -> None:
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
            halves = [
                Estimate(
                    value=shared + sign * away,
                    rows=np.tile(shared + sign * away, (2, 1)),
                    donors=None,
                    mc_variance=np.zeros(2),
                )
                for sign in (1, -1)
            ]
            refits += [
                RefitEstimate(halves[0], np.array([0, 1]), Group("pair", pair)),
                RefitEstimate(halves[1], np.array([2, 3]), Group("pair", pair)),
            ]
        refits += [
            RefitEstimate(
                Estimate(value=v, rows=v[None], donors=None, mc_variance=np.zeros(2)), np.array([0])
            )
            for v in 30 + rng.normal(size=(40, 2)) * 4
        ]
        replicates = Replicates.of(tuple(refits), correction=0.58, no_effect=no_effect)
        variance = COV_TYPES["half-sample"](replicates)
        bse.append(np.sqrt(np.diag(variance.cov)))
        told.append(variance.bse_error)
    scatter, told_ = np.std(bse, axis=0, ddof=1), np.sqrt(np.square(told).mean(axis=0))
    np.testing.assert_allclose(scatter, told_, rtol=4 * 0.035 + 0.05)


class TestPlan:
    def data(self, n: int = 61) -> pd.DataFrame:
        rng = np.random.default_rng(0)
        data = pd.DataFrame(rng.normal(size=(n, 3)), columns=["y", "x", "z"])
        data["id"] = np.arange(n) // 2
        data["g"] = np.where(data["x"] > 0.8, "rare", "usual")
        return data

    def fit(self, plan: pi.HalfSampling | None = None, formula: str = "y ~ x + z", **options):
        learner = options.pop("learner", LinearRegression())
        data = options.pop("data", self.data())
        return pi.Learner.from_formula(formula, data, learner).fit(plan, seed=1, **options)

    def test_it_is_the_default(self) -> None:
        results = self.fit()
        assert isinstance(results.resampling, pi.HalfSampling)
        assert (len(results.refits), len(results.halves)) == (15, 30)
        pfi = results.pfi()
        assert (pfi.cov_type, pfi.df_resid) == ("half-sample", 15)
        assert "15, and 15 pairs" in str(pfi.summary())

    def test_halves_are_complementary_and_random_in_size_and_order(self) -> None:
        results = self.fit(pi.HalfSampling(2, pairs=20))
        sizes = set()
        for first, second in zip(results.halves[::2], results.halves[1::2], strict=True):
            assert first.group == second.group
            np.testing.assert_array_equal(first.train_rows, second.evaluation.rows)
            np.testing.assert_array_equal(second.train_rows, first.evaluation.rows)
            both = np.concatenate([first.train_rows, second.train_rows])
            np.testing.assert_array_equal(np.sort(both), np.arange(61))
            sizes.add(len(first.train_rows))
        assert sizes == {30, 31}

    def test_the_estimate_does_not_depend_on_the_number_of_pairs(self) -> None:
        few, many = (self.fit(pi.HalfSampling(pairs=k)).pfi() for k in (5, 9))
        pd.testing.assert_series_equal(few.params, many.params)

    def test_the_estimate_is_that_of_subsampling(self) -> None:
        halves = self.fit(pi.HalfSampling())
        subsamples = self.fit(pi.Subsampling(15))
        pd.testing.assert_series_equal(halves.pfi().params, subsamples.pfi().params)
        corrected = halves.pfi(cov_type="corrected")
        pd.testing.assert_series_equal(corrected.bse, subsamples.pfi().bse)

    def test_clusters_stay_whole(self) -> None:
        data = self.data(121)
        results = self.fit(pi.HalfSampling(2, pairs=5, cluster="id"), data=data)
        for refit in (*results.refits, *results.halves):
            train = set(data["id"].iloc[refit.train_rows])
            assert not train & set(data["id"].iloc[refit.evaluation.rows])

    def test_every_half_has_every_class_but_shares_vary(self) -> None:
        results = self.fit(formula="g ~ x + z", learner=LogisticRegression())
        shares = [np.mean(r.evaluation.y) for r in results.halves]
        assert len(set(shares)) > 3
        assert all(0 < share < 1 for share in shares)

    def test_pairs_alone_estimate_at_half_the_size(self) -> None:
        results = self.fit(pi.HalfSampling(refits=0, pairs=6))
        pfi = results.pfi()
        assert len(results.refits) == 12
        T = pfi.replicates.of_pairs
        assert T.shape == (6, 2, 2)
        np.testing.assert_allclose(pfi.params, T.mean(axis=(0, 1)), rtol=EXACT)
        (fit,) = pfi.replicates.half_fits
        assert fit.growth == 1.0  # of which size is the estimate, and of which the halves?
        S = T.mean(axis=1).var(axis=0, ddof=1)
        parts = [
            (A, S_, S_ / 6)
            for (A, _, _, _), S_ in zip(parts_of(refits_of(results, pfi)), S, strict=True)
        ]
        expected = [reference.variances(*p, 1.0, fit.mean_share) for p in parts]
        np.testing.assert_allclose(pfi.bse**2, [V for V, _ in expected], rtol=1e-9)
        assert "6 pairs" in str(pfi.summary())
        assert "trained on half the" in " ".join(str(pfi.summary()).split())

    def test_a_pair_of_which_one_refit_failed_is_left_out(self) -> None:
        class Fails(LinearRegression):
            count = 0

            def fit(self, X, y):
                type(self).count += 1
                if type(self).count == 5:
                    raise ValueError("no")
                return super().fit(X, y)

        with pytest.warns(pi.errors.RefitWarning, match="1 of 16 refits failed"):
            results = self.fit(pi.HalfSampling(2, pairs=7), learner=Fails(), on_error="drop")
        assert results.pfi().df_resid == 6

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
    def test_too_many_failures_are_counted(self, refits: int, fails: Any, message: str) -> None:
        class Fails(LinearRegression):
            count = -1

            def fit(self, X, y):
                type(self).count += 1
                if type(self).count in fails:
                    raise ValueError("no")
                return super().fit(X, y)

        plan = pi.HalfSampling(refits, pairs=7)
        with pytest.raises(RefitError, match=f"Half-sampling needs .*{message}.*ValueError: no"):
            self.fit(plan, learner=Fails(), on_error="drop")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"pairs": 4}, "`pairs` must be at least 5, not 4: with fewer, intervals"),
            ({"pairs": 5.0}, "`pairs` must be a whole number"),
            ({"strata": "g"}, "`strata` can't be given to half-sampling: halves with"),
            ({"refits": 1}, "`refits` must be 0 or at least 2"),
            ({"refits": -1}, "`refits` must be a whole number of at least 0"),
        ],
    )
    def test_bad_numbers(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(OptionError, match=message):
            pi.HalfSampling(**options)

    def test_few_rows_are_refused_with_the_reason(self) -> None:
        with pytest.raises(DataError, match=r"at least 40 rows.*got 39.*pi.Bootstrap\(15\)"):
            self.fit(data=self.data(39))
        assert self.fit(data=self.data(40)).pfi().cov_type == "half-sample"
        few = self.data(60).assign(id=np.arange(60) % 11)
        with pytest.raises(DataError, match=r"at least 12 clusters.*got 11.*15, cluster="):
            self.fit(pi.HalfSampling(cluster="id"), data=few)

    def test_advice_for_an_unseen_level_can_be_followed(self) -> None:
        data = self.data().assign(g=["rare", *["usual"] * 60])
        with pytest.raises(RefitError, match="Merge rare levels, or accept"):
            self.fit(formula="y ~ x + g", data=data)
        with pytest.raises(RefitError, match=r"draw within levels \(`strata=`\)"):
            self.fit(pi.CrossValidation(3), formula="y ~ x + g", data=data)

    def test_other_plans_can_not_serve_it(self) -> None:
        results = self.fit(pi.Bootstrap(5))
        with pytest.raises(InferenceError, match=r"needs at least 5 pairs.*HalfSampling\(\)"):
            results.pfi(cov_type="half-sample")

    def test_a_feature_that_is_never_used_has_no_interval(self) -> None:
        class OnlyFirst(LinearRegression):
            def fit(self, X, y):
                return super().fit(X[:, :1], y)

            def predict(self, X):
                return super().predict(X[:, :1])

        pfi = self.fit(learner=OnlyFirst()).pfi()
        assert pfi.params["z"] == pfi.bse["z"] == 0
        assert pfi.conf_int().loc["z"].isna().all()
        assert "never used by the learner in any refit" in " ".join(str(pfi.summary()).split())

    @pytest.mark.parametrize("relation", ["difference", "ratio"])
    def test_the_parts_of_a_table_are_those_of_the_reference(self, relation: Any) -> None:
        """And the table follows from them, by the formulas alone."""
        results = self.fit(learner=RandomForestRegressor(5))
        pfi = results.pfi(relation=relation)
        (fit,) = pfi.replicates.half_fits
        taken = pfi.variance_parts()
        assert list(taken.index) == list(pfi.params.index)
        for (name, row), (A, S, s2_m, M) in zip(
            taken.iterrows(), parts_of(refits_of(results, pfi)), strict=True
        ):
            np.testing.assert_allclose(row[["A", "S", "s2_m"]].tolist(), [A, S, s2_m], rtol=1e-9)
            assert (row["m"], row["M"]) == (15, M)
            assert (row["g"], row["r"]) == (fit.growth, fit.mean_share)
            if relation == "difference":
                V, V0 = reference.variances(*row[["A", "S", "s2_m", "g", "r"]])
                assert np.isnan(row["growth_ratio"])
            else:
                V, V0 = reference.variances_of_ratio(
                    *row[["A", "S", "s2_m", "growth_ratio", "g", "r"]]
                )
            np.testing.assert_allclose(row[["variance", "variance_null"]].tolist(), [V, V0])
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
                np.testing.assert_allclose(pfi.conf_int(alpha).loc[name], limits, rtol=1e-7)

    def test_plain_t_with_all_of_a_stays_beside_it(self) -> None:
        """V = A + s²/m and Student's t, whatever the size of the effect."""
        results = self.fit()
        pfi = results.pfi(cov_type="half-sample-t")
        V = np.array([A + s for A, _, s, _ in parts_of(refits_of(results, pfi))])
        np.testing.assert_allclose(pfi.bse, np.sqrt(V), rtol=1e-9)
        np.testing.assert_array_equal(pfi.bse, pfi.bse_null)
        np.testing.assert_allclose(pfi.tvalues, pfi.params / np.sqrt(V), rtol=1e-9)
        p = 2 * stats.t.sf(np.abs(pfi.tvalues), 15)
        np.testing.assert_allclose(pfi.pvalues, p, rtol=1e-9)
        for alpha in (0.3, 0.05, 0.001):
            half = stats.t.isf(alpha / 2, 15) * np.sqrt(V)
            expected = np.column_stack([pfi.params - half, pfi.params + half])
            np.testing.assert_allclose(pfi.conf_int(alpha), expected, rtol=1e-9)
        one = self.fit().pfi(cov_type="half-sample-t", alternative="greater")
        np.testing.assert_allclose(one.pvalues, stats.t.sf(one.tvalues, 15), rtol=1e-9)

    def test_what_is_no_square_has_plain_t_by_default(self) -> None:
        fit, other = self.fit(), self.fit(formula="y ~ x")
        classes = self.fit(formula="g ~ x + z", learner=LogisticRegression())
        asked = {
            "pd": (fit, fit.pd("x", points=3)),
            "loss": (fit, fit.loss()),
            "entropy": (classes, classes.entropy_pfi()),
        }
        answers = {name: (one, refits_of(of, one)) for name, (of, one) in asked.items()}
        differences = [
            mine._replace(estimate=mine.estimate.minus(its.estimate))
            for mine, its in zip(
                refits_of(fit, fit.loss()), refits_of(other, other.loss()), strict=True
            )
        ]
        answers["compare"] = pi.compare(fit.loss(), other.loss()), differences
        for name, (answer, refits) in answers.items():
            assert type(answer.variance) is Variance, name
            assert answer.cov_type == "half-sample"
            V = [A + s for A, _, s, _ in parts_of(refits)]
            np.testing.assert_allclose(answer.bse**2, V, rtol=1e-8, err_msg=name)
        squares = [fit.pfi(), fit.loco(), fit.cvim(), fit.pfi(relation="ratio"), classes.pfi()]
        squares += [fit.pfi(metric="rmse"), fit.amvim(), fit.mvim()]
        assert {type(answer.variance) for answer in squares} == {SquareVariance}

    def test_more_features_change_nothing(self) -> None:
        results = self.fit(learner=RandomForestRegressor(5))
        one, both = results.pfi("x"), results.pfi()
        assert one.bse["x"] == pytest.approx(both.bse["x"], rel=EXACT)
        assert one.params["x"] == both.params["x"]

    def test_comparisons_are_paired_in_every_half(self) -> None:
        first, second = self.fit(), self.fit(formula="y ~ x")
        found = pi.compare(first, second)
        assert found.cov_type == "half-sample"
        assert found.estimand.parameter.no_effect is None
        assert type(found.variance) is Variance
        mine, other = (r.loss().replicates for r in (first, second))
        assert (
            mine.evaluations.pairs == other.evaluations.pairs == found.replicates.evaluations.pairs
        )
        T = mine.of_pairs - other.of_pairs
        assert T.shape == (15, 2, 1)
        np.testing.assert_allclose(found.replicates.of_pairs, T, rtol=EXACT)

    def test_bands_contain_the_pointwise_intervals(self) -> None:
        results = self.fit()
        for ask in (lambda **o: results.pd("x", points=6, **o), results.pfi):
            point, band = ask().conf_int(), ask(simultaneous=True).conf_int()
            assert (band[0] < point[0]).all()
            assert (band[1] > point[1]).all()
            assert ask(simultaneous=True).summary_frame()["conf_low"].equals(band[0])
        table = " ".join(str(results.pd("x", simultaneous=True).summary()).split())
        assert "Intervals are simultaneous (sup-t)" in table
