"""The population: influence functions, agreement with least squares, and what is refused.

Simulations have fixed seeds. Exact identities hold to 1e-10, or 1e-12 where no fit is in them.
"""

import re

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from asks import ask
from fits import fit_of, words_of
from scipy import stats
from sklearn.base import is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import (
    HuberRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
)
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import InferenceError, OptionError
from pyinterp.estimands import population
from pyinterp.estimands.estimate import Estimate
from pyinterp.estimands.population import Feature, Residuals
from pyinterp.inference import RefitEstimate, Replicates, influence, variance
from pyinterp.inference.over_rows import RowUnits

STEP = 1e-30
ROWS = 600  # a finite law: so many rows, dealt to its cells


def residuals_of(u, h, x, *, codes=(), **others):
    """Return residuals with equal weights; y, f and v are u, h and x if they are not given."""
    plain = Residuals(Feature("x", ("x",), codes), y=u, u=u, f=h, h=h, x=x, v=x, levels=x[:, :0],
                      rows=np.arange(len(u)), weights=np.ones(len(u)))  # fmt: skip
    return plain._replace(**others)


class Law:
    """A random law of (x, z, y) with few values, and its rows."""

    def __init__(self, seed, levels):
        rng = np.random.default_rng(seed)
        self.counts = 1 + rng.multinomial(ROWS, rng.dirichlet(np.ones(levels * 9)))
        self.counts = self.counts.reshape(levels, 3, 3)
        self.law = self.counts / self.counts.sum()
        self.x, self.y = rng.normal(size=levels), rng.normal(size=3)
        self.f = rng.normal(size=(levels, 3))  # predictions that are not right
        self.rng = rng

    def rows(self, cells):
        """Return a value for every row of an array by cell."""
        return np.repeat(np.broadcast_to(cells, self.law.shape).ravel(), self.counts.ravel())

    def means(self, P):
        """Return P(x, z), P(z), E(y | x, z), E(y | z) and P(x | z)."""
        xz = P.sum(axis=2)
        z = xz.sum(axis=0)
        of_xz = P @ self.y / xz
        return xz, z, of_xz, (xz * of_xz).sum(axis=0) / z, xz / z

    def residuals(self, f, *, category=False):
        """Return the residuals of all rows by the true means."""
        _, _, _, g, p = self.means(self.law)
        k = len(self.x)
        y = self.rows(self.y)
        of_f = (p * f).sum(axis=0)
        h = self.rows((f - of_f)[:, :, None])
        given = {"y": y, "u": y - self.rows(g[None, :, None]), "f": self.rows(f[:, :, None])}
        if category:
            x = np.eye(k)[self.rows(np.arange(k)[:, None, None]).astype(int)]
            expected = np.column_stack([self.rows(p[j][None, :, None]) for j in range(k)])
            at = np.column_stack([self.rows(f[j][None, :, None]) for j in range(k)])
            given |= {"v": x - expected, "levels": at, "codes": tuple(range(k))}
            return residuals_of(h=h, x=x, **given)
        mean = (p * self.x[:, None]).sum(axis=0)
        x = self.rows(self.x[:, None, None])[:, None]
        v = x - self.rows(mean[None, :, None])[:, None]
        return residuals_of(h=h, x=x, v=v, **given)

    def error(self, functional, contributions):
        """Return the largest difference of derivatives along scores, and of their mean from 0."""
        away = contributions - contributions.mean()
        worst = 0.0
        for _ in range(20):
            score = self.rng.normal(size=self.law.shape)
            score -= (self.law * score).sum()
            derivative = functional(self.law * (1 + 1j * STEP * score)).imag / STEP
            worst = max(worst, abs(derivative - np.mean(away * self.rows(score))))
        return worst


@pytest.mark.parametrize("seed", range(3))
def test_influence_functions_are_derivatives(seed):
    law = Law(seed, levels=5)
    one = law.residuals(law.f)

    def slope(P):
        xz, _, of_xz, _, p = law.means(P)
        v = law.x[:, None] - (p * law.x[:, None]).sum(axis=0)
        return (xz * v * of_xz).sum() / (xz * v * v).sum()

    def parts(P):
        xz, _, of_xz, g, p = law.means(P)
        h = law.f - (p * law.f).sum(axis=0)
        return (xz * (of_xz - g) * h).sum(), (xz * h * h).sum()

    if parts(law.law)[0] < 0:
        law.f = -law.f
        one = law.residuals(law.f)

    def square(P):
        N, D = parts(P)
        return N**2 / D

    least, targets = population.least_loss(one, share=False), population.targets_of(one)
    for found, k, function in (
        (population.coefficients_of(one), 0, slope),
        (least, 0, square),
        (targets, 0, lambda P: parts(P)[1]),
        (targets, 1, square),
        (targets, 2, lambda P: parts(P)[1] - square(P)),
    ):
        assert found.value[k] == pytest.approx(function(law.law), abs=1e-12)
        assert law.error(function, found.rows[:, k]) < 1e-12


@pytest.mark.parametrize("k", [1, 2])
def test_contrasts_are_weighted_by_overlap(k):
    law = Law(5, levels=3)
    # The true regression, which E(y | others) on rows of two levels needs.
    one = law.residuals(law.means(law.law)[2], category=True)

    def contrast(P):
        _, z, of_xz, _, p = law.means(P)
        weight = z * p[k] * p[0] / (p[k] + p[0])
        return (weight * (of_xz[k] - of_xz[0])).sum() / weight.sum()

    found = population.coefficients_of(one)
    assert found.value[k - 1] == pytest.approx(contrast(law.law), abs=1e-12)
    assert law.error(contrast, found.rows[:, k - 1]) < 1e-12


def test_a_level_without_effect_is_not_mixed_with_others():
    """With all levels at once it has -.467 for 0 (Goldsmith-Pinkham, Hull and Kolesár 2024)."""
    rng, n = np.random.default_rng(3), 4000
    z = rng.integers(2, size=n)
    p = np.array([[0.5, 0.05, 0.45], [0.1, 0.45, 0.45]])[z]
    level = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    effects = np.column_stack([np.zeros(n), np.zeros(n), z])
    y = z + effects[np.arange(n), level] + rng.normal(size=n)
    x, at = np.eye(3)[level], z[:, None] + effects
    mean = (p * at).sum(axis=1)
    f = at[np.arange(n), level]
    one = residuals_of(y - mean, f - mean, x, y=y, f=f, v=x - p, levels=at, codes=(0, 1, 2))
    alone, joint = population.coefficients_of(one), population.joint_coefficients(one)
    assert joint.value[0] < -0.3
    assert abs(alone.value[0]) < 3 * alone.rows[:, 0].std() / np.sqrt(n)
    few = one._replace(x=x * (np.arange(n) < 30)[:, None])
    assert np.isnan(population.coefficients_of(few).value).all()


LM = LinearRegression()


def crossed(formula, data, estimator=LM, **options):
    return fit_of(formula, data, estimator, options.pop("plan", pi.CrossValidation(5)), **options)


def fit(n, seed, **options):
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n))
    x = 0.6 * a + rng.normal(size=n)
    data = pd.DataFrame({"x": x, "a": a, "b": b, "c": c})
    data["y"] = x + a - b + (1 + 0.5 * np.abs(a)) * rng.normal(size=n)
    return data, crossed("y ~ x + a + b + c", data, **options)


LINEAR, PLAN = pi.samplers.Residual(LinearRegression()), pi.CrossValidation(5)


def test_slopes_are_those_of_double_machine_learning():
    """PLR of DoubleML with the score "partialling out", written anew, on the same folds."""
    data, _ = fit(300, 1)
    folds = [*KFold(5, shuffle=True, random_state=1).split(data)]
    found = crossed("y ~ x + a + b + c", data, plan=pi.Splits(folds)).population(
        "x", sampler=LINEAR
    )
    others = data[["a", "b", "c"]].to_numpy()
    u, v = data["y"].to_numpy(), data["x"].to_numpy()
    u_hat, v_hat = np.empty(300), np.empty(300)
    for train, test in folds:
        u_hat[test] = LinearRegression().fit(others[train], u[train]).predict(others[test])
        v_hat[test] = LinearRegression().fit(others[train], v[train]).predict(others[test])
    u, v = u - u_hat, v - v_hat
    theta = np.mean(v * u) / np.mean(v * v)
    psi = (u - theta * v) * v
    error = np.sqrt(np.mean(psi**2) / np.mean(v * v) ** 2 / 300)
    assert found.params["x"] == pytest.approx(theta, abs=1e-10)
    assert found.bse["x"] == pytest.approx(error * np.sqrt(300 / 299), abs=1e-10)
    assert found.df_resid == 299
    assert found.pvalues["x"] == pytest.approx(2 * stats.t.sf(abs(found.tvalues["x"]), 299))


def test_with_lm_they_are_least_squares():
    data, res = fit(10_000, 2)
    found = res.population(sampler=LINEAR)
    ols = smf.ols("y ~ x + a + b + c", data).fit(cov_type="HC0")
    away = (found.params - ols.params[found.params.index]).abs() / found.bse
    assert away.max() < 0.1
    assert (found.bse / ols.bse[found.bse.index] - 1).abs().max() < 0.01


def test_rows_are_means_over_refits_that_have_not_seen_them():
    _, res = fit(200, 3, plan=pi.CrossValidation(4, repeats=3))
    analysis = res.analysis
    estimand = population.reading_of(analysis.problem, "x")
    analysis.measure(estimand)
    rows = np.zeros((200, 8))
    for case in analysis.cases:
        rows[case.evaluation.rows] += estimand.measure(case)["rows"].rows / 3
    expected = estimand.pool(Estimate.of_rows(rows)) if estimand.pool else None
    found = res.population("x")
    assert found.params["x"] == pytest.approx(float(expected.value[0]), abs=1e-12)
    assert np.allclose(found.row_frame()["x"], expected.rows[:, 0], atol=1e-10)


def test_half_sampling_takes_its_first_pairs():
    _, res = fit(200, 3, plan=pi.HalfSampling(2, pairs=6))
    found = res.population(["x", "c"])
    context = found.context
    assert (context.refits, context.pairs, context.n_train) == (10, 5, 100)
    assert res.analysis.models.leave_out._predictions.keys() == {
        (number, (name,)) for number in range(3, 13) for name in "xc"
    }
    assert found.relevance.pvalues["x"] < 1e-6
    assert found.relevance.pvalues["c"] > 0.05


REFUSED = """
pi.Bootstrap(5); population('x'); pi.Bootstrap(5).label
pi.Subsampling(5); population('x'); pi.Subsampling(5).label
pi.Holdout(0.5); population('x'); pi.Holdout(0.5).label
pi.FreshDraws(lambda s: fit(100, s)[0], 5); population('x'); pi.FreshDraws(print, 5).label
PLAN; population('x', cov_type='rows'); "influence"
PLAN; population('x', cov_type='naive'); "influence"
PLAN; population('x', cov_type='half-sample'); "influence"
PLAN; pfi('x', cov_type='influence'); "pooled"
"""


@pytest.mark.parametrize("case", REFUSED.strip().splitlines())
def test_plans_that_leave_rows_out_and_other_variances_are_refused(case):
    plan, call, said = case.split("; ")
    with pytest.raises(InferenceError, match=eval(said)):  # noqa: S307 - tables of tests
        ask(call)(fit(100, 4, plan=eval(plan))[1])  # noqa: S307 - tables of tests


AIMS = {
    "QuantileRegressor": QuantileRegressor(),
    "HuberRegressor": make_pipeline(StandardScaler(), HuberRegressor()),
    "loss='absolute_error'": HistGradientBoostingRegressor(loss="absolute_error"),
    "SVC": SVC(),
    "class_weight='balanced'": RandomForestClassifier(5, class_weight="balanced"),
}


@pytest.mark.parametrize("aim", AIMS)
def test_learners_that_aim_at_no_mean_are_refused(aim):
    data, _ = fit(100, 5)
    if is_classifier(AIMS[aim]):
        data["y"] = data["y"] > 0
    with pytest.raises(OptionError, match=aim):
        crossed("y ~ x + a + b + c", data, AIMS[aim]).population("x")


def test_fitted_models_are_refused():
    data, _ = fit(100, 5)
    rows = data[["x", "a"]]
    model = pi.FittedModel(LinearRegression().fit(rows, data["y"]), rows, data["y"])
    with pytest.raises(OptionError, match="no learner"):
        model.population()


def test_sampling_weights_give_weighted_least_squares():
    """Of a sample in which rows with large effects are many: 1 for 1.4 without weights."""
    rng, n = np.random.default_rng(26), 8000
    z = rng.normal(size=(10 * n, 2))
    x = rng.normal(size=10 * n)
    p = 1 / (1 + np.exp(-z[:, 1]))
    data = pd.DataFrame({"x": x, "a": z[:, 0], "b": z[:, 1], "w": 1 / p})
    data["y"] = (1 + z[:, 1]) * x + z[:, 0] + rng.normal(size=10 * n)
    data = data.iloc[rng.choice(10 * n, n, replace=False, p=p / p.sum())].reset_index(drop=True)
    res = crossed("y ~ x + a + b", data, weights="w", weights_type="sampling")
    found = res.population("x", sampler=LINEAR)
    wls = smf.wls("y ~ x + a + b", data, weights=data["w"]).fit(cov_type="HC0")
    assert abs(found.params["x"] - wls.params["x"]) < 0.1 * found.bse["x"]
    assert found.bse["x"] == pytest.approx(wls.bse["x"], rel=0.03)
    assert found.df_resid == pytest.approx(1 / np.square(data["w"] / data["w"].sum()).sum() - 1)
    assert abs(found.params["x"] - 1) < 3 * found.bse["x"]
    share, loss = (found.diagnostics[k].params["x"] for k in (-3, -2))
    assert share == pytest.approx(loss / np.cov(data["y"], aweights=data["w"]), rel=1e-3)
    assert res.compare_targets("x", sampler=LINEAR).params["x, relevance"] == pytest.approx(loss)


def test_a_feature_that_others_fix_is_missing_with_the_reason():
    data, _ = fit(200, 6)
    data["twice"] = 2 * data["x"]
    found = crossed("y ~ x + twice + a", data).population(sampler=LINEAR)
    assert found.params.isna().to_dict() == {"x": True, "a": False, "twice": True}
    assert "does not vary (R²_j = 1)" in str(found.summary())


def test_clusters_are_summed_first():
    rng, n = np.random.default_rng(7), 200
    cluster = np.repeat(np.arange(n), 5)
    shift = rng.normal(size=(2, n))[:, cluster]
    x = shift[0] + rng.normal(size=5 * n)
    data = pd.DataFrame({"x": x, "z": rng.normal(size=5 * n), "id": cluster})
    data["y"] = x + shift[1] + rng.normal(size=5 * n)
    plan = pi.CrossValidation(5, cluster="id")
    found = crossed("y ~ x + z", data, plan=plan).population("x", sampler=LINEAR)
    alone = crossed("y ~ x + z", data).population("x")
    assert n / 2 < found.df_resid < n
    rows = found.row_frame()["x"].to_numpy()
    sums = np.bincount(cluster, rows - rows.mean())
    assert found.bse["x"] == pytest.approx(np.sqrt(sums @ sums) / (5 * n), rel=0.02)
    assert found.bse["x"] > 1.2 * alone.bse["x"]


@pytest.mark.parametrize("weighted", [False, True])
def test_standard_errors_of_clusters_are_those_of_the_jackknife(weighted):
    """CR3 of one column leaves every cluster out; df by the matrix of Bell and McCaffrey."""
    rng, n = np.random.default_rng(27), 60
    cluster, V, u = rng.integers(7, size=n), rng.lognormal(size=(n, 1)), rng.normal(size=n)
    weights = rng.uniform(0.5, 2, n) if weighted else np.ones(n)
    one = population.slopes(V, u, weights)
    cov, df = influence._by_leverage(one, RowUnits(cluster, 7, 1.0, 6))
    products, squares = weights * V[:, 0] * u, weights * V[:, 0] ** 2
    out = [(products @ (cluster != g)) / (squares @ (cluster != g)) for g in range(7)]
    assert cov[0, 0] == pytest.approx(np.square(np.array(out) - one.value[0]).sum())
    h = np.bincount(cluster, squares) / squares.sum()
    C = -np.outer(h, h) / np.sqrt(np.outer(1 - h, 1 - h))
    np.fill_diagonal(C, h)
    assert df == pytest.approx(1 / np.square(C).sum())


def test_groups_classes_and_codes():
    rng = np.random.default_rng(8)
    data, _ = fit(300, 8)
    data["g"] = rng.choice(list("uvw"), 300)
    data["kind"] = pd.cut(data["y"], [-np.inf, -1, 1, np.inf], labels=["low", "mid", "high"])
    grouped = crossed("y ~ x + a + b", data, groups={"both": ["x", "a"]})
    assert grouped.population("both").exog_names == ["x", "a"]
    found = crossed("kind ~ x + a + g", data, LogisticRegression()).population()
    assert found.exog_names[:4] == ["low: x", "low: a", "low: g[v - u]", "low: g[w - u]"]
    sums = found.params.to_numpy().reshape(3, 4).sum(axis=0)
    assert np.abs(sums).max() < 1e-8  # probabilities add up to 1
    data["big"] = data["y"] > 0
    found = crossed("big ~ x + a", data, LogisticRegression()).population("x")
    assert 0.1 < found.params["x"] < 0.3  # a difference of probabilities per unit


def lower(u, h):
    least = population.least_loss(residuals_of(u, h, h[:, None], y=u + 1.0))
    found = Replicates.of([RefitEstimate(least, np.arange(len(u)))], pool=True)
    return least, variance(found, None)


def test_p_gate_and_limit_never_contradict_and_do_not_depend_on_shrinking():
    rng = np.random.default_rng(9)
    for _ in range(500):
        h = rng.normal(size=60) * rng.choice([0.01, 1.0])
        u = rng.normal(-0.1, 0.6) * h + rng.standard_t(3, size=60)
        least, found = lower(u, h)
        bse = np.sqrt(np.diag(found.cov))
        p = found.p_values(least.value, bse, np.zeros(1), "greater")[0]
        ((low, high),) = found.interval(least.value, bse, 0.05, "greater")
        assert (low > 0) == (p < 0.05)
        assert high == np.inf
        assert low <= least.value[0]
        if np.mean(u * h) <= 0:
            assert least.value[0] == 0
            assert p > 0.5
        less, shrunk = lower(u, 0.2 * h)
        ((other, _),) = shrunk.interval(less.value, np.sqrt(np.diag(shrunk.cov)), 0.05, "greater")
        assert other == pytest.approx(low, abs=1e-10)


def test_what_is_never_used_is_said_to_be():
    least, found = lower(np.random.default_rng(1).normal(size=50), np.zeros(50))
    assert least.value[0] == 0
    assert np.isnan(found.p_values(least.value, np.zeros(1), np.zeros(1), "greater")[0])
    assert np.isnan(found.interval(least.value, np.zeros(1), 0.05, "greater")).all()


def test_relevance_doubles_the_smaller_p():
    _, res = fit(300, 10)
    found = res.population()
    joint = found.pvalues
    expected = np.minimum(2 * np.minimum(joint, found.importance.pvalues), 1)
    assert np.allclose(found.relevance.pvalues, expected, rtol=1e-9)
    assert np.allclose(res.importance(["pfi", "population"]).pvalues["population"], expected)


def test_p_relevant_is_a_column_beside_other_importances():
    _, res = fit(200, 22)
    several = res.importance(["pfi", "cvim", "population"], ["x", "c"])
    limit = several["population"].conf_int()[0]["x"]
    text = str(several.summary())
    assert re.search(rf"R²_j +share ≥ +P relevant\n-+\nx +\S+ +{limit:.3f} +<0.001\n", text)
    order = res.importance(["pfi", "population", "cvim"], ["x", "c"]).summary(notes="none")
    text = str(order)
    assert text.index(" PFI ") < text.index(" share ≥ P") < text.index(" CVIM ")
    assert "std err & [0.05 & P relevant" in res.importance("population", "x").to("latex")


def test_rows_of_other_columns_are_marked_and_said_to_be_of_one_feature():
    data, _ = fit(200, 1)
    data["y"] = np.exp(0.7 * data["y"])
    res = crossed("y ~ x + a + b", data)
    found = res.population(p_adjust="holm")
    skewed = found.importance.row_warnings["skewness"] > 0.4
    marked = skewed & (found.relevance.pvalues < 0.05)
    assert marked.any()
    assert not marked.all()
    below = str(found.summary()).split("P relevant")[-1]
    for name, mark in marked.items():
        assert bool(re.search(rf"^{name} [⁰-⁹¹²³]", below, re.MULTILINE)) == mark
    assert "columns are for one feature each" in words_of(found)


def test_trees_find_an_interaction_that_slopes_do_not():
    rng, n = np.random.default_rng(11), 600
    a, b = rng.normal(size=(2, n))
    data = pd.DataFrame({"a": a, "b": b, "y": a * b + rng.normal(size=n)})
    found = crossed("y ~ a + b", data, HistGradientBoostingRegressor()).population()
    assert found.pvalues.min() > 0.01
    assert found.relevance.pvalues.max() < 1e-4
    assert (found.importance.conf_int()[0] > 0.05).all()


def test_a_shortcut_is_used_beyond_what_is_there():
    rng, n = np.random.default_rng(12), 500
    x = rng.normal(size=n)
    data = pd.DataFrame({"x": x, "null": 0.9 * x + 0.19**0.5 * rng.normal(size=n)})
    data["y"] = 2 * x + rng.normal(size=n)
    res = crossed("y ~ x + null", data, HistGradientBoostingRegressor())
    found = res.compare_targets("null")
    use, relevance, excess = found.params
    assert excess == pytest.approx(use - relevance)
    assert excess > 5 * found.bse["null, excess"] > 0


def square(n, seed):
    """A null that is the square of a strong feature, which is strong by its square."""
    rng = np.random.default_rng(seed)
    a, b, noise, error = rng.normal(size=(4, n))
    data = pd.DataFrame({"null": 0.7 * (a**2 - 1) / 2**0.5 + 0.7 * noise, "a": a, "b": b})
    return data.assign(y=1.5 * a**2 + b + error)


def test_one_right_mean_is_enough_and_the_default_learner_is_named():
    """That of y is found, which lm does not; that of the null is linear, and wrong."""
    found = crossed("y ~ .", square(500, 13)).population("null", sampler=LINEAR)
    assert abs(found.tvalues["null"]) < 2.5
    assert found.diagnostics[1].params["null"] < 0.2
    assert "E(y | others) of null is by linear or additive" in words_of(found)


@pytest.mark.parametrize(("both", "marked"), [(True, True), (False, False)])
def test_what_neither_mean_has_found_is_marked(both, marked):
    """A ratio: x and y depend on it, or y alone."""
    rng, n = np.random.default_rng(28), 800
    z, e = rng.normal(size=(n, 5)), rng.normal(size=(2, n))
    ratio = z[:, 0] / (0.5 + abs(z[:, 1]))
    data = pd.DataFrame(z, columns=[*"abcde"]).assign(x=both * ratio + e[0], y=ratio + e[1])
    found = crossed("y ~ .", data).population("x")
    assert (found.diagnostics[1].params["x"] > 0.2) == marked == (abs(found.tvalues["x"]) > 3)
    assert ("report no interval and P" in words_of(found)) == marked


@pytest.mark.parametrize(
    "function", [lambda z: np.sin(3 * np.log(z[:, 0])), lambda z: (z[:, :2] > 1.2).all(axis=1)]
)
def test_waves_on_any_scale_and_gates_anywhere_are_found(function):
    """Both means had hinges, which run off in the tails, and gates at medians, wrong alike."""
    t = []
    for seed in range(12):
        rng = np.random.default_rng([35, seed])
        z, e = np.exp(rng.normal(size=(500, 4))), rng.normal(size=(2, 500))
        data = pd.DataFrame(z).add_prefix("z").assign(x=function(z) + e[0])
        found = crossed("y ~ .", data.assign(y=3 * function(z) + e[1])).population("x")
        t.append(found.tvalues["x"])
    assert abs(np.mean(t)) < 0.8


@pytest.mark.parametrize("others", [3, 21])
def test_products_are_found_among_any_number_of_columns(others):
    """Nothing depends on the number 20: a null was 9 standard errors from 0 with 21 others."""
    rng, n = np.random.default_rng(29), 500
    z, e = rng.normal(size=(n, others)), rng.normal(size=(2, n))
    data = pd.DataFrame(z).add_prefix("z").assign(x=z[:, 0] * z[:, 1] + e[0])
    data["y"] = z[:, 0] * z[:, 1] + e[1]
    found = crossed("y ~ .", data).population("x")
    assert abs(found.tvalues["x"]) < 2.5
    assert found.diagnostics[0].params["x"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_of_x_and_y_move_nothing(factor):
    """scikit-learn's own least squares drop a column in units of 1e-6."""
    data, _ = fit(300, 30)
    data["g"] = np.random.default_rng(30).choice(list("uvw"), 300)
    frames = data, data.assign(x=factor * data["x"]), data.assign(y=factor * data["y"])
    lm = make_pipeline(StandardScaler(), LM)
    one, of_x, of_y = (crossed("y ~ x + a + b + g", each, lm).population() for each in frames)
    per_unit = np.where(one.params.index == "x", factor, 1.0)
    for other, times, y in ((of_x, per_unit, 1.0), (of_y, 1 / factor, factor)):
        assert (times * other.params - one.params).abs().max() < 1e-6 * one.bse.min()
        for again, each in zip(other.diagnostics, one.diagnostics, strict=True):
            units = y**-2 if each.estimand.words.label == "loss" else 1.0
            np.testing.assert_allclose(units * again.params, each.params, rtol=1e-6, atol=1e-6)


def test_lm_has_the_slopes_of_least_squares_in_a_linear_world():
    """Two texts among the others: 1.869 for 2 where E(x | others) had products and trees."""
    away = []
    for seed in range(12):
        rng, n = np.random.default_rng([31, seed]), 360
        z, codes = rng.normal(size=n), rng.integers(3, size=(2, n))
        x = 0.5 * z + rng.normal(size=n)
        y = 2 * x - z + np.array([0, -1, 1.5])[codes].sum(axis=0) + rng.normal(size=n)
        data = pd.DataFrame({"x": x, "z": z, "y": y, "g": codes[0], "h": codes[1]})
        data[["g", "h"]] = data[["g", "h"]].astype(str)
        found = crossed("y ~ x + z + g + h", data).population("x")
        ols = smf.ols("y ~ x + z + g + h", data).fit()
        away.append((found.params["x"] - ols.params["x"]) / ols.bse["x"])
        assert found.bse["x"] < 1.1 * ols.bse["x"]
    assert abs(np.mean(away)) < 0.25


def test_levels_that_do_not_occur_together_have_no_contrast():
    """R²_j of one level against all others was .15; of the pair it is 1."""
    rng, n = np.random.default_rng(32), 300
    z = rng.normal(size=n)
    level = np.where(z > 0, "a", np.where(rng.random(n) < 0.5, "b", "c"))
    data = pd.DataFrame({"g": level, "z": z, "side": np.where(z > 0, "up", "down")})
    data["y"] = z + rng.normal(size=n)
    found = crossed("y ~ g + z + side", data).population("g")
    assert found.params.isna().all()
    assert found.diagnostic.params["g"] > 0.999
    assert "the others tell which of the two" in " ".join(str(found.summary()).split())


class Exponential(LinearRegression):
    """The exponential of a mean of logarithms, which is a median: no word says so."""

    def fit(self, X, y):
        return super().fit(X, np.log(y))

    def predict(self, X):
        return np.exp(super().predict(X))


def test_learners_of_another_mean_are_seen_by_numbers():
    data, _ = fit(500, 33)
    data["y"] = np.exp(1 + 0.3 * data["x"] + np.random.default_rng(33).normal(size=500))
    log = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    with pytest.raises(OptionError, match=r"none .*of a transformed response"):
        crossed("y ~ x + a + b", data, log).population("x")
    res = crossed("y ~ x + a + b", data, Exponential())
    assert "Warning: the learner's predictions of x have another mean than y" in words_of(
        res.population("x")
    )
    with pytest.raises(OptionError, match="mean of y - prediction is more than 4"):
        res.compare_targets("x")


def test_little_overlap_is_said():
    rng, n = np.random.default_rng(15), 200
    z = rng.normal(size=n)
    data = pd.DataFrame({"x": z + 0.1 * rng.normal(size=n), "z": z, "y": rng.normal(size=n)})
    found = crossed("y ~ .", data, HistGradientBoostingRegressor()).population()
    assert "R²_j above 0.95 (x, z)" in words_of(found)
    data["z"] = rng.normal(size=n)
    trees = pi.samplers.Residual(DecisionTreeRegressor())
    worse = crossed("y ~ .", data).population("x", sampler=trees)
    assert "R²_j below -0.02 (x)" in words_of(worse)


def test_one_feature_alone_and_few_clusters():
    data, _ = fit(100, 16)
    data["id"] = np.arange(100) // 25
    found = crossed("y ~ x", data, plan=pi.CrossValidation(4, cluster="id")).population()
    assert 2 < found.df_resid <= 3
    assert "4 clusters are few" in words_of(found)
    slope = np.polyfit(data["x"], data["y"], 1)[0]
    assert found.params["x"] == pytest.approx(slope, abs=0.1)


def test_files_keep_it(tmp_path):
    _, res = fit(100, 17, plan=pi.HalfSampling(2, pairs=5))
    found = res.population("x")
    res.save(tmp_path / "fit.pyinterp")
    found.save(tmp_path / "table.pyinterp")
    for again in (
        pi.load(tmp_path / "fit.pyinterp").population("x"),
        pi.load(tmp_path / "table.pyinterp"),
    ):
        assert str(again.summary()) == str(found.summary())
        assert again.relevance.pvalues.equals(found.relevance.pvalues)


def test_units_and_order_of_rows():
    """y times 3 and x over 2: slopes times 6, shares and P as they are, targets times 9."""
    data, res = fit(200, 18)
    other = data.assign(y=3 * data["y"] + 1, x=data["x"] / 2 - 5)
    again = crossed("y ~ x + a + b + c", other)
    one, two = (each.population("x", sampler=LINEAR) for each in (res, again))
    assert two.params["x"] == pytest.approx(6 * one.params["x"])
    assert two.bse["x"] == pytest.approx(6 * one.bse["x"])
    assert two.importance.conf_int()[0]["x"] == pytest.approx(one.importance.conf_int()[0]["x"])
    assert two.relevance.pvalues["x"] == pytest.approx(one.relevance.pvalues["x"])
    targets = (each.compare_targets("x", sampler=LINEAR).params for each in (res, again))
    first, second = (each.to_numpy() for each in targets)
    assert second == pytest.approx(9 * first)


def test_a_value_of_a_share_is_tested_by_its_limit():
    _, res = fit(300, 19)
    found = res.population("x", sampler=LINEAR)
    low = float(found.importance.conf_int()[0]["x"])
    for part in (found.importance, found.relevance):
        p = [part.t_test(f"x = {low + away}").pvalue.item() for away in (-1e-9, 1e-9, 0.5)]
        assert p[0] < 0.05 < p[1] < 0.06
        assert p[2] > 0.999


def test_few_rows_with_most_of_the_variation_are_marked():
    """HC0 is too small then: with the true means a null was rejected in .14 of 2,000 rows."""
    rng, n = np.random.default_rng(24), 300
    data = pd.DataFrame({"x": rng.lognormal(0, 2, n), "a": rng.normal(size=n)})
    data["y"] = 0.1 * data["x"] + data["a"] + rng.normal(size=n)
    found = crossed("y ~ x + a", data).population(sampler=LINEAR)
    assert found.row_warnings["skewness"]["x"] > 0.4 > found.row_warnings["skewness"]["a"]
    assert "Few rows decide x" in str(found.summary())


def test_columns_above_half_of_the_rows_leave_no_interval():
    values = np.random.default_rng(26).normal(size=(40, 22))
    data = pd.DataFrame(values, columns=[*"yabcdefghijklmnopqrstu"])
    for k in 21, 22:
        found = crossed("y ~ .", data.iloc[:, :k]).population("a", sampler=LINEAR)
        assert found.bse.isna().all() == ("columns are more" in words_of(found)) == (k > 21)


def test_short_notes_say_what_it_needs():
    _, res = fit(100, 21)
    found = res.population("x")
    for part in (found, found.importance, found.relevance, res.compare_targets("x")):
        assert "right to first order" in words_of(part)


def test_a_learner_with_an_offset_learns_the_response():
    """The default learner does not take it: a null that the exposure depends on would matter."""
    rng, n = np.random.default_rng(25), 400
    x, a = rng.normal(size=(2, n))
    data = pd.DataFrame({"x": x, "a": a, "t": np.exp(0.3 * x)})
    data["y"] = rng.poisson(data["t"] * (1 + a**2))
    res = crossed("y ~ x + a", data, PoissonRegressor(), exposure="t")
    found = res.population("x")
    assert "is by linear" not in words_of(found)
    assert found.diagnostics[2].params["x"] == 0
