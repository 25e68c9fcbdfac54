"""What is compared at the two sizes of training sets, and what tables say where halves fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import InferenceError
from pyinterp.inference.learning import Learning, mean_share, signal_and_spread


def frame(n: int, p: int = 3, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"x{j}" for j in range(p)])
    return X.assign(y=X["x0"] + X["x1"] / 2 + rng.normal(size=n))


def fit(data: pd.DataFrame, learner: Any, plan: Any = None, formula: str = "y ~ .") -> Any:
    return pi.Learner.from_formula(formula, data, learner).fit(plan, seed=1)


def words(results: Any) -> str:
    return " ".join(str(results.summary()).split())


@pytest.fixture(scope="module")
def cliff() -> Any:
    """20 rows per leaf: no split of 37 rows, splits of 47."""
    return fit(frame(75), HistGradientBoostingRegressor(max_iter=20))


def test_signal_and_spread_by_hand() -> None:
    rng = np.random.default_rng(1)
    y, f = rng.normal(size=50), rng.normal(size=50)
    expected = [np.cov(y, f, ddof=0)[0, 1], f.var()]
    np.testing.assert_allclose(signal_and_spread(y, f), expected)
    codes, p = rng.integers(0, 3, 50).astype(float), rng.dirichlet(np.ones(3), 50)
    signal = sum(np.cov(codes == k, p[:, k], ddof=0)[0, 1] for k in range(3))
    np.testing.assert_allclose(signal_and_spread(codes, p), [signal, p.var(axis=0).sum()])


def test_they_are_those_of_every_refit() -> None:
    results = fit(frame(60), LinearRegression(), pi.HalfSampling(4, pairs=5))
    learning = results.analysis.learning
    assert learning.estimating.shape == (4, 2)
    assert learning.halves.shape == (10, 2)
    for row, case in zip(learning.halves, results.analysis.cases[4:], strict=True):
        f = case.whatif.factual
        np.testing.assert_allclose(row, [np.cov(case.y, f, ddof=0)[0, 1], f.var()])


def test_no_interval_where_halves_find_nothing(cliff: Any) -> None:
    for answer in (cliff.pfi(), cliff.pd("x0", points=3), cliff.firm(), cliff.loss()):
        assert answer.params.notna().all()
        assert answer.bse.isna().all()
        assert answer.conf_int().isna().to_numpy().all()
        text = words(answer)
        assert "No standard errors and intervals: trained on half the rows the learner find" in text
        assert "nominal 95%" not in text
        assert "Intervals (half-sample" not in text


def test_no_interval_where_halves_predict_a_constant() -> None:
    """32 rows are not split into leaves of 20, 40 are, once: too noisy for a test of the signal."""
    learning = Learning(
        np.array([[0.2, 0.1], [-0.1, 0.0], [0.3, 0.2]]), np.array([[0.0, 0.001]] * 6)
    )
    assert "predicts nearly the same for every row" in learning.reason
    assert "is 1% of that on 63.2%" in learning.reason
    assert Learning(learning.estimating, np.array([[0.1, 0.02]] * 6)).reason == ""
    assert Learning(np.zeros((3, 2)), np.zeros((6, 2))).reason == ""  # nothing at either size


def test_strong_penalties_are_noted_and_scaled() -> None:
    rng = np.random.default_rng(2)
    main = 1.25 + 0.02 * rng.normal(size=(15, 2))
    halves = 1.0 + 0.02 * rng.normal(size=(30, 2))
    learning = Learning(main, halves)
    assert learning.growth == pytest.approx(1.25, abs=0.02)
    assert learning.reason == ""
    assert "finds 80% of what it finds on 63.2%" in learning.growth_warning
    assert learning.warning == ""
    level = Learning(halves[:15], halves[15:])
    assert level.growth < 1.02
    assert level.growth_warning == ""
    assert Learning(main * 4, halves).growth == 1.5
    assert Learning(main, halves * np.array([1, 4])).calm == pytest.approx(0.395, abs=0.01)


@pytest.mark.parametrize(("errors", "noted"), [(2.5, False), (3.5, True)])
def test_less_is_noted_beyond_three_standard_errors(errors: float, noted: bool) -> None:
    def about(mean: float, count: int) -> np.ndarray:
        away = np.resize([1.0, -1.0], (count, 1)) * np.sqrt((count - 1) / count)
        return mean + 0.25 / errors / np.sqrt(1 / 16 + 1 / 30) * np.hstack([away, away])

    learning = Learning(about(1.25, 16), about(1.0, 30))
    assert bool(learning.growth_warning) is noted
    assert learning.reason == ""


def test_ridge_says_that_it_is_scaled() -> None:
    results = fit(frame(100), Ridge(1000.0))
    text = words(results.pfi())
    assert "as strong penalties do: standard errors are scaled for it" in text
    assert "intervals of every term" not in text
    assert "strong penalties" not in words(results.pd("x0", points=3))


def test_tests_there_are_refused_with_the_reason(cliff: Any) -> None:
    pfi = cliff.pfi()
    for ask in (
        lambda: pfi.t_test("x0 = x1"),
        lambda: pfi.wald_test("x0 = x1"),
        lambda: cliff.pd("x0", points=3).flat_test(),
    ):
        with pytest.raises(InferenceError, match="trained on half the rows the learner finds"):
            ask()


def test_comparisons_and_subgroups_know_it_too(cliff: Any) -> None:
    other = fit(frame(75), LinearRegression())
    for pair in ((cliff, other), (other, cliff)):
        assert pi.compare(*pair).bse.isna().all()
    assert "trained on half the rows" in words(pi.compare(other, cliff))
    assert cliff.pfi(rows="x2 > -5").bse.isna().all()


def test_other_variances_of_the_same_refits_are_printed(cliff: Any) -> None:
    assert (cliff.pfi(cov_type="corrected").bse.dropna() > 0).any()


def test_halves_that_are_the_estimate_have_intervals() -> None:
    results = fit(frame(75), HistGradientBoostingRegressor(max_iter=20), pi.HalfSampling(0))
    assert results.analysis.learning is None
    assert not results.pfi().variance.reason


@pytest.mark.parametrize(
    "learner", [LinearRegression(), Ridge(10.0), DecisionTreeRegressor(min_samples_leaf=5)]
)
def test_learners_of_the_published_settings_keep_their_intervals(learner: Any) -> None:
    for seed in range(3):
        pfi = fit(frame(100, seed=seed), learner).pfi()
        assert not pfi.variance.reason
        assert not pfi.variance.warning
        assert (pfi.bse > 0).any()


def test_noise_alone_does_not_refuse_intervals() -> None:
    data = frame(80).assign(y=np.random.default_rng(3).normal(size=80))
    assert not fit(data, DecisionTreeRegressor()).pfi().variance.reason


def test_predictions_that_vary_too_much_on_halves_have_a_warning() -> None:
    results = fit(frame(60, p=30), LinearRegression())
    text = words(results.pfi(["x0", "x1"]))
    assert "standard errors are scaled for it" in text
    assert "covered" not in text
    assert (results.pfi(["x0"]).bse > 0).all()


def test_of_classes() -> None:
    data = frame(80)
    data["y"] = np.where(data["y"] > 0, "yes", "no")
    results = fit(data, LogisticRegression(), pi.HalfSampling(3, pairs=5))
    learning = results.analysis.learning
    assert (learning.estimating[:, 0] > 0).all()
    assert not learning.reason


def test_the_rule_is_that_of_the_documentation() -> None:
    rng = np.random.default_rng(0)

    def learning(signal: float, half: float, sd: float) -> Learning:
        parts = [rng.normal(mean, sd, size=(k, 1)) for mean, k in ((signal, 15), (half, 30))]
        return Learning(*(np.hstack([part, np.ones_like(part)]) for part in parts))

    assert learning(1.0, 0.5, 0.05).reason
    assert not learning(1.0, 0.8, 0.05).reason  # finds most of it
    assert not learning(1.0, 0.5, 2.0).reason  # within noise
    assert not learning(-1.0, -2.0, 0.05).reason  # finds nothing anywhere


def test_a_constant_prediction_has_no_signal_and_no_warning() -> None:
    """What rounding makes of a constant is no spread, of which halves might have more."""
    y = np.random.default_rng(0).normal(size=30)
    nearly = 0.1 * (1 + 1e-16 * y)
    assert (signal_and_spread(y, nearly) == 0).all()
    results = fit(frame(80), Lasso(100.0))
    assert not results.loss().variance.reason
    assert not results.loss().variance.warning


@pytest.mark.parametrize("ask", ["loss", "difference", "ratio"])
def test_comparisons_do_not_depend_on_the_order(ask: str) -> None:
    """Predictions of a linear model vary too much on halves, those of ridge regression do not."""
    data, plan = frame(60, p=29), pi.HalfSampling(5, pairs=8)
    both = [fit(data, learner, plan) for learner in (LinearRegression(), Ridge(5.0))]
    results = [r.loss() if ask == "loss" else r.pfi(["x0"], relation=ask) for r in both]
    one, other = pi.compare(*results), pi.compare(*reversed(results))
    np.testing.assert_allclose(one.bse, other.bse, rtol=1e-9)
    for compared in (one, other):
        assert "predictions vary" in words(compared)


def test_medians_have_no_standard_error_near_half_as_many_features_either() -> None:
    results = fit(frame(60, p=25), LinearRegression(), pi.HalfSampling(5, pairs=8))
    assert results.analysis.learning.calm < 1
    assert results.pfi(["x0"], metric="neg_median_absolute_error").bse.isna().all()


def effects(rng: np.random.Generator, share: float, shape: tuple[int, ...]) -> np.ndarray:
    """Return deviations of effects in M pairs, shape (*shape, 2): linear ones, and the rest."""
    linear, rest = rng.normal(size=shape), rng.normal(size=(*shape, 2))
    # What is linear has the opposite sign in the other half.
    both = np.stack([linear, -linear], axis=-1) * np.sqrt(share / 2)
    return both + np.sqrt(1 - share) * rest


def test_means_keep_all_that_is_linear_in_the_training_rows() -> None:
    """Means of rows over halves: those of a pair have the mean of all rows between them."""
    rng = np.random.default_rng(0)
    rows, x = rng.normal(size=(40, 6)), rng.normal(size=(6, 25))
    splits = [rng.permutation(40).reshape(2, 20) for _ in range(9)]
    predictions = np.array([[rows[half].mean(axis=0) @ x for half in split] for split in splits])
    assert mean_share(predictions[..., None], 1.0) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.95])
def test_the_share_is_one_less_that_of_the_rest(share: float) -> None:
    """E A = v / 2 and E S = (1 - share) v / 2 if v is the variance of a refit."""
    rng = np.random.default_rng(1)
    # 2,000 rows whose predictions are independent; the standard error of S / A is below .01.
    predictions = np.moveaxis(effects(rng, share, (15, 2000)), -1, 1)[..., None]
    f = predictions[..., 0]
    A = np.square(f[:, 0] - f[:, 1]).mean() / 4
    assert abs(A - 0.5) < 0.02
    assert mean_share(predictions, 1.0) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(("order", "share"), [(1, 1.0), (2, 0.5), (3, 0.25)])
def test_means_keep_less_of_interactions_of_training_rows(order: int, share: float) -> None:
    """Var U / (v / 2) = 2 C(k, i) / C(2k, i) of order i, here for halves of 100 rows."""
    rng = np.random.default_rng(3)
    rows, weights = rng.normal(size=(400, 200)), rng.normal(size=200)
    weights /= np.linalg.norm(weights)
    halves = np.array([rng.permutation(200).reshape(2, 100) for _ in range(40)])
    # By 400 data sets a product of sums of disjoint sets of rows: no lower orders.
    block = np.arange(200) % order
    predictions = np.array(
        [
            [
                np.prod(
                    [
                        (rows * weights)[:, [i for i in half if block[i] == b]].sum(axis=1)
                        for b in range(order)
                    ],
                    axis=0,
                )
                for half in split
            ]
            for split in halves
        ]
    )
    assert mean_share(predictions[..., None], 1.0) == pytest.approx(share, abs=0.07)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 1.0])
def test_squares_of_such_effects_vary_as_the_note_says(share: float) -> None:
    """At 0 S is 1 - share²/2 and the variance of the mean of many share²/2, over v²."""
    rng = np.random.default_rng(2)
    n = 200_000
    center = np.sqrt(share / 2) * rng.normal(size=n)
    # Two pairs of the same data: the covariance of their means is the variance of many.
    one, other = (
        np.square(center[:, None] + effects(rng, share, (n,))).mean(axis=1) for _ in range(2)
    )
    many, within = np.cov(one, other)[0, 1], (one - other).var() / 2
    assert many == pytest.approx(share**2 / 2, abs=0.02)
    assert within == pytest.approx(1 - share**2 / 2, rel=0.03)


def test_shares_of_a_linear_model_and_of_a_tree() -> None:
    shares = {}
    for name, learner in (
        ("linear", LinearRegression()),
        ("tree", DecisionTreeRegressor(min_samples_leaf=5, random_state=0)),
    ):
        analysis = fit(frame(100), learner).analysis
        shares[name] = analysis.mean_shares.of([("x0",), ("x1",), ()])
        part = analysis.among(np.arange(100) % 2 == 0, "even")
        np.testing.assert_array_equal(part.mean_shares.of([("x0",), ("x1",), ()]), shares[name])
    assert (shares["linear"] > 0.9).all()
    assert (shares["tree"][:2] > 0.1).all()
    assert (shares["tree"][:2] < 0.8).all()
    assert shares["tree"][2] == 1.0


def test_a_feature_counts_by_its_effect_where_others_are_less_stable() -> None:
    """Coefficients of splines at the ends vary much; those of other features are linear."""
    results = fit(frame(100, p=2), LinearRegression(), formula="y ~ bs(x0, df=8) + x1")
    shares = results.analysis.mean_shares.of([("x0",), ("x1",)])
    assert shares[0] < 0.8
    assert shares[1] > 0.85


def test_shares_do_not_depend_on_the_order_of_columns_or_on_what_was_asked() -> None:
    data, tree = frame(80), DecisionTreeRegressor(min_samples_leaf=8, random_state=0)
    one, other = (
        fit(part, tree, formula="y ~ x0 + x1 + x2")
        for part in (data, data[["y", "x2", "x0", "x1"]])
    )
    first = one.analysis.mean_shares.of([("x0",)])
    features = [("x2",), ("x1",), ("x0",)]
    both = [r.analysis.mean_shares.of(features) for r in (one, other)]
    np.testing.assert_array_equal(*both)
    assert both[0][2] == first[0]


def sampled(results: pi.LearnerResults, variables: tuple[str, ...], sample: int) -> pd.DataFrame:
    """Return the values of a feature in one of its two samples of rows."""
    shares = results.analysis.mean_shares
    stream = results.analysis.seeds.stream("draws", name=f"mixture of {', '.join(variables)}")
    rows = stream.integers(len(shares.variables), size=(2, 200))[sample]
    return shares.variables[list(variables)].iloc[rows].reset_index(drop=True)


def mixture(results: pi.LearnerResults) -> pd.DataFrame:
    names = results.analysis.mean_shares.variables
    return pd.concat([sampled(results, (name,), 0) for name in names], axis=1)


def naive_share(results: pi.LearnerResults, feature: tuple[str, ...]) -> float:
    """The share of one feature alone; of none, that of predictions."""
    base = mixture(results)
    start, end = base, base
    if len(feature) > 1:
        start = base.assign(**sampled(results, feature, 0))
    if feature:
        end = base.assign(**sampled(results, feature, 1))
    halves = [r for r in results.analysis.refits if r.group is not None]
    effect = np.array(
        [[r.predictor(r.design.encode(rows)).ravel() for r in halves] for rows in (start, end)]
    )
    change = effect[1] - (effect[0] if feature else effect[1].mean(axis=1, keepdims=True))
    A = np.mean((change[::2] - change[1::2]) ** 2) / 4
    S = ((change[::2] + change[1::2]) / 2).var(axis=0, ddof=1).mean()
    return float(np.clip(1 - S / A, 0, 1))


@pytest.mark.parametrize(
    ("formula", "learner", "some_are_less"),
    [
        ("y ~ x0 + square + x1", DecisionTreeRegressor(min_samples_leaf=6, random_state=0), True),
        ("y ~ bs(x0, df=6) + square + x1", Ridge(3.0), False),
    ],
)
def test_shares_are_those_of_one_feature_alone(
    formula: str, learner: Any, some_are_less: bool
) -> None:
    """The larger of that of the feature and that of predictions; a group moves as one."""
    data = frame(80, p=2)
    data["square"] = data["x0"] ** 2
    results = fit(data, learner, pi.HalfSampling(3, pairs=6), formula=formula)
    features = [("x1",), ("square", "x0"), ("x0",)]
    found = results.analysis.mean_shares.of([*features, ("x0", "square")])
    least, *naive = (naive_share(results, one) for one in [(), *features])
    assert max(naive) > least
    assert (min(naive) < least) == some_are_less
    np.testing.assert_allclose(found[:3], np.maximum(least, naive), rtol=1e-9)
    assert found[3] == found[1]


def test_shares_of_many_features_are_those_of_each() -> None:
    results = fit(frame(130, p=55), Ridge(5.0), pi.HalfSampling(3, pairs=5))
    names = [(f"x{j}",) for j in (54, 3)]
    all_ = results.analysis.mean_shares.of([(f"x{j}",) for j in range(55)])
    alone = fit(frame(130, p=55), Ridge(5.0), pi.HalfSampling(3, pairs=5)).analysis.mean_shares
    np.testing.assert_allclose(alone.of(names), all_[[54, 3]], rtol=1e-9)
    assert len(set(all_)) > 5


def test_clusters_keep_all() -> None:
    """Trees reject what is constant in clusters in 10% of data sets otherwise."""
    data = frame(120).assign(g=np.repeat(np.arange(40), 3))
    learner = pi.Learner.from_formula("y ~ x0 + x1", data, DecisionTreeRegressor(random_state=0))
    shares = learner.fit(pi.HalfSampling(cluster="g"), seed=1).analysis.mean_shares.of([("x0",)])
    np.testing.assert_array_equal(shares, 1.0)


def test_terms_that_are_no_squared_effects_keep_all() -> None:
    """H² of a feature has its name and a bound, and nothing of its PFI's share."""
    results = fit(frame(60), DecisionTreeRegressor(min_samples_leaf=5, random_state=0))
    pfi, h = results.pfi(["x0"]), results.h_statistic(["x0", "x1"])
    assert h.replicates.lower_bound == 0
    assert np.all(pfi.replicates.learning[0].kappa < 1)
    np.testing.assert_allclose(h.replicates.learning[0].kappa, 1.25)


def test_kappa_is_that_of_the_law_times_five_quarters() -> None:
    """Of halves at 0, V0 / S is share² / (2 - share²): those of `test_squares_of_such_effects`."""
    numbers = np.ones((15, 2)), np.ones((30, 2))
    assert Learning(*numbers).kappa == pytest.approx(1.25)
    shares = np.array([1.0, 0.9, 0.5, 0.0])
    kappa = Learning(*numbers, mean_share=shares).kappa
    np.testing.assert_allclose((kappa[:3] / 1.25) ** 2, shares[:3] ** 2 / (2 - shares[:3] ** 2))
    assert kappa[3] == pytest.approx(0.25)
    # Near n/2 features, where means keep little, `calm` is all there is.
    calm = Learning(numbers[0], numbers[1] * 12.64, mean_share=0.1)
    assert calm.kappa == pytest.approx(1.25)
    assert Learning(numbers[0] * 0, numbers[1], mean_share=0.1).kappa == pytest.approx(1.25)


def test_a_constant_prediction_has_no_variance_to_share() -> None:
    constants = 0.1 + 0.01 * np.arange(30.0).reshape(15, 2, 1, 1) + np.zeros((15, 2, 200, 1))
    away = constants - constants.mean(axis=2, keepdims=True)
    assert mean_share(away, float(np.square(constants).mean())) == 1.0
    assert (fit(frame(60), DummyRegressor()).analysis.mean_shares.of([("x0",)]) == 1.0).all()


def test_only_importances_take_it() -> None:
    results = fit(frame(60), DecisionTreeRegressor(random_state=0), pi.HalfSampling(4, pairs=5))
    results.pd("x0", points=3)
    results.loss()
    assert not results.analysis.mean_shares.shares
    (learning,) = results.pfi().replicates.learning
    np.testing.assert_array_equal(
        learning.mean_share,
        results.analysis.mean_shares.of([(name,) for name in results.pfi().params.index]),
    )
    assert (learning.mean_share < 1).any()


class Particular(LinearRegression):
    """Refuses rows that do not occur: x1 is above x0."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        if (X[:, 1] <= X[:, 0]).any():
            raise ValueError("x1 must be above x0")
        return super().predict(X)


class Near(LinearRegression):
    """Refuses rows of which x0 is further than a limit above x1."""

    def __init__(self, limit: float = np.inf) -> None:
        super().__init__()
        self.limit = limit

    def predict(self, X: np.ndarray) -> np.ndarray:
        if (X[:, 0] - X[:, 1] > self.limit).any():
            raise ValueError("x0 must be near x1")
        return super().predict(X)


def test_a_refused_row_of_one_feature_is_none_of_another() -> None:
    """Whatever else is asked for: no mixture is refused, and for some data one with another x0."""
    refused = 0
    for seed in range(6):
        data, plan = frame(60, seed=seed), pi.HalfSampling(2, pairs=5)
        rows = mixture(fit(data, LinearRegression(), plan))
        learner = Near(float((rows["x0"] - rows["x1"]).max()))
        names = [("x0",), ("x2",)]
        x0, x2 = fit(data, learner, plan).analysis.mean_shares.of(names)
        (alone,) = fit(data, learner, plan).analysis.mean_shares.of(names[1:])
        assert alone == x2 < 1
        refused += x0 == 1
    assert refused


def test_a_learner_that_refuses_rows_that_do_not_occur_keeps_all() -> None:
    data = frame(60)
    results = fit(data.assign(x1=data["x0"] + 1), Particular(), pi.HalfSampling(4, pairs=5))
    assert (results.analysis.mean_shares.of([("x0",), ("x2",)]) == 1.0).all()
    assert (results.pfi(["x2"]).bse > 0).all()
