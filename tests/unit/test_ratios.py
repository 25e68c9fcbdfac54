"""Ratios of mean predictions: against closed forms, statsmodels and the delta method by hand."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from fits import fit_of, model_of
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import InferenceError, OptionError

EXACT = 1e-10
DOSES = ["never", "light", "heavy"]  # not in the order of the alphabet
G = {  # and its derivative
    "ratio": (np.log, lambda p: 1 / p),
    "odds ratio": (lambda p: np.log(p / (1 - p)), lambda p: 1 / (p * (1 - p))),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    n = 300
    dose = pd.Categorical(rng.choice(DOSES, n), DOSES)
    age, time, effect = rng.normal(size=n), rng.uniform(0.5, 3, n), 0.5 * dose.codes
    return pd.DataFrame(
        {
            "dose": dose,
            "age": age,
            "sex": rng.choice(["f", "m"], n),
            "time": time,
            "hit": (effect + 0.8 * age + rng.logistic(size=n) > 1).astype(int),
            "count": rng.poisson(time * np.exp(-0.5 + effect + 0.3 * age)),
            "who": np.arange(n) // 3,
            "weight": rng.uniform(0.5, 2, n),
        }
    )


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit: fit.pd("dose").differences(relation="ratio"),
        lambda fit: fit.pd("dose", scale="rate").differences("never", relation="ratio"),
    ],
)
def test_rate_ratios_of_a_poisson_model_are_those_of_its_coefficients(data, ask):
    family = sm.families.Poisson()
    results = smf.glm("count ~ dose + age", data, family=family, exposure=data["time"]).fit()
    names = ["dose[T.light]", "dose[T.heavy]"]
    ratios = ask(pi.FittedModel(results, data, "count", exposure="time"))
    assert_allclose(np.log(ratios.effect), results.params[names], rtol=EXACT)
    assert_allclose(np.ravel(ratios.sd), results.bse[names], rtol=EXACT)
    for alpha in (0.05, 0.2):
        limits = np.exp(results.conf_int(alpha).loc[names])
        assert_allclose(ratios.conf_int(alpha), limits, rtol=EXACT)
    assert_allclose(np.ravel(ratios.tvalue), results.tvalues[names], rtol=EXACT)
    assert_allclose(ratios.pvalue, results.pvalues[names], rtol=1e-8)
    assert [*ratios.c_names] == ["dose[light] / dose[never]", "dose[heavy] / dose[never]"]


@pytest.mark.parametrize("relation", G)
def test_ratios_of_a_logistic_model_are_the_delta_method_by_hand(data, relation):
    logit = smf.logit("hit ~ dose + age", data).fit(disp=0)
    rows, p, slopes = logit.model.exog.copy(), [], []
    for dummies in ([0, 0], [1, 0], [0, 1]):
        rows[:, 1:3] = dummies
        each = 1 / (1 + np.exp(-rows @ logit.params.to_numpy()))
        p.append(each.mean())
        slopes.append((rows * (each * (1 - each))[:, None]).mean(axis=0))
    g, derivative = G[relation]
    values, moves = g(np.array(p)), derivative(np.array(p))[:, None] * np.array(slopes)
    change = moves[1:] - moves[0]
    errors = np.sqrt(np.diag(change @ logit.cov_params().to_numpy() @ change.T))
    model = pi.FittedModel(logit, data, "hit")
    ratios = model.pd("dose").differences(relation=relation)
    assert_allclose(np.log(ratios.effect), values[1:] - values[0], rtol=EXACT)
    assert_allclose(np.ravel(ratios.sd), errors, rtol=EXACT)
    t = (values[1:] - values[0]) / errors
    assert_allclose(ratios.pvalue, 2 * stats.norm.sf(np.abs(t)), rtol=1e-8)


def test_odds_ratios_of_a_saturated_model_are_those_of_the_table(data):
    table = pd.crosstab(data["dose"], data["hit"]).to_numpy()
    logit = smf.logit("hit ~ dose", data).fit(disp=0)
    ratios = pi.FittedModel(logit, data, "hit").pd("dose").differences(relation="odds ratio")
    odds = table[:, 1] / table[:, 0]
    assert_allclose(ratios.effect, odds[1:] / odds[0], rtol=1e-9)
    woolf = np.sqrt((1 / table[1:]).sum(axis=1) + (1 / table[0]).sum())
    assert_allclose(np.ravel(ratios.sd), woolf, rtol=1e-9)
    text = ratios.summary().as_text()
    assert "marginal odds ratio" in text
    assert "s.e. of log" in text
    assert "Odds are of mean probabilities" in text


def _learner(data, **options):
    model = LogisticRegression(C=1e4)
    return pi.Learner.from_formula("hit ~ dose + age + sex", data, model, **options)


PLANS = {
    "half-sampling": lambda d: _learner(d).fit(pi.HalfSampling(5), seed=1),
    "clusters": lambda d: _learner(d).fit(pi.HalfSampling(5, cluster="who"), seed=1),
    "weights": lambda d: _learner(d, weights="weight", weights_type="sampling").fit(seed=1),
    "bootstrap": lambda d: _learner(d).fit(pi.NestedBootstrap(30, splits=1), seed=1),
    "one model": lambda d: _learner(d).fit_model(),
}


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("relation", G)
def test_ratios_are_contrasts_of_g_of_the_mean_curve(data, plan, relation):
    results = PLANS[plan](data)
    curve, by = results.pd("dose"), results.pd("dose", by="sex")
    g, derivative = G[relation]

    def by_hand(of, first, second):
        p, cov = of.params.to_numpy(), of.cov_params().to_numpy()
        cov = cov * np.outer(derivative(p), derivative(p))
        variance = cov[first, first] + cov[second, second] - 2 * cov[first, second]
        return g(p[second]) - g(p[first]), np.sqrt(variance)

    cases = {
        (curve, "levels"): (curve.differences(relation=relation), [(0, 1), (0, 2)]),
        (by, "groups"): (by.differences(relation=relation), [(0, 3), (1, 4), (2, 5)]),
        (by, "levels"): (
            by.differences("never", relation=relation),
            [(0, 1), (0, 2), (3, 4), (3, 5)],
        ),
        (curve, "adjacent"): (
            curve.differences(relation=relation, kind="adjacent"),
            [(0, 1), (1, 2)],
        ),
        (by, "all"): (
            by.differences("never", relation=relation, kind="all"),
            [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)],
        ),
    }
    for (of, _), (ratios, pairs) in cases.items():
        expected = np.array([by_hand(of, *pair) for pair in pairs])
        assert_allclose(np.log(ratios.effect), expected[:, 0], rtol=1e-8)
        assert_allclose(np.ravel(ratios.sd), expected[:, 1], rtol=1e-8)
        half = stats.t.isf(0.025, of.df_resid) * expected[:, 1]
        assert_allclose(np.log(ratios.conf_int()[0]), expected[:, 0] - half)
    groups = cases[by, "groups"][0]
    assert "dose[heavy] | m / f" in str(groups.summary())
    assert np.isnan(groups.pvalue).all() == (plan == "one model")  # which is taken as it is


def test_options_of_the_curve_hold_on_the_scale_of_the_logarithm(data):
    results = PLANS["half-sampling"](data)
    plain = results.pd("dose").differences(relation="ratio")
    holm = results.pd("dose", p_adjust="holm").differences(relation="ratio")
    assert_allclose(holm.pvalue.min(), 2 * plain.pvalue.min())
    joint = results.pd("dose", simultaneous=True).differences(relation="ratio").conf_int()
    assert (np.diff(np.log(joint)) > np.diff(np.log(plain.conf_int()))).all()
    less = results.pd("dose", alternative="greater").differences(relation="ratio")
    assert_allclose(less.conf_int()[0], plain.conf_int(0.1)[0])
    assert np.isinf(less.conf_int()[1]).all()
    turned = results.pd("dose").differences("heavy", relation="ratio")
    assert_allclose(turned.effect[0], 1 / plain.effect[1])
    plain_difference = results.pd("dose").differences()
    tested = results.pd("dose").t_test(["dose[light] = dose[never]", "dose[heavy] = dose[never]"])
    assert_allclose(plain_difference.effect, tested.effect)
    assert_allclose(plain_difference.pvalue, tested.pvalue)
    joint_test = results.pd("dose").equality_test()  # of all levels
    assert joint_test.pvalue == results.pd("dose").wald_test(list(tested.c_names)).pvalue


@pytest.mark.parametrize("unit", ["", " kg"])
def test_levels_in_the_order_of_texts_are_not_adjacent(data, unit):
    kg = data["dose"].map({"never": 0, "light": 40, "heavy": 120}).astype(int)
    curve = _learner(data.assign(dose=kg.astype(str) + unit)).fit_model().pd("dose")
    with pytest.raises(pi.errors.OptionError, match="Adjacent levels must stand in their order"):
        curve.differences(kind="adjacent")
    assert len(curve.differences(kind="all").effect) == 3


def test_several_classes_are_compared_within_each(data):
    kinds = data.assign(kind=np.digitize(data["age"] + data["hit"], [-0.3, 0.9]))
    curve = model_of("kind ~ dose + sex", kinds, LogisticRegression()).pd("dose")
    ratios = curve.differences(relation="odds ratio")
    assert ratios.c_names[2] == "1: dose[light] / 1: dose[never]"
    p = curve.params.to_numpy().reshape(3, 3)
    odds = p / (1 - p)
    assert_allclose(ratios.effect, (odds[:, 1:] / odds[:, :1]).ravel())


def _of_levels(p):
    values = dict(zip(DOSES, p, strict=True))
    return lambda X: X["dose"].map(values).astype(float) * (1 + 0.1 * (X["age"] > 0))


@pytest.mark.parametrize("never", [0.0, 1.0])
def test_an_estimate_of_0_or_1_has_no_ratio_and_a_note_says_so(data, never):
    rows = data[["dose", "age"]]

    def risk(X):
        p = np.clip(_of_levels((never, 0.3, 0.6))(X), 0, 1)
        return np.where(X["dose"] == "light", p + 0.1 * (X["age"] > 1), p)

    curve = pi.FittedModel(risk, rows, data["hit"], classes=[0, 1]).pd("dose")
    odds = curve.differences("light", relation="odds ratio")
    assert np.isnan(odds.effect).tolist() == [True, False]
    assert np.isnan(odds.conf_int().iloc[0]).all()
    text = odds.summary().as_text()
    assert "No odds ratio with dose[never]: it needs values above 0" in text
    if never:  # a risk of 1 has a ratio
        assert np.isfinite(curve.differences("light", relation="ratio").effect).all()


def test_a_ratio_that_does_not_vary_is_no_ratio_with_an_error_of_rounding(data):
    model = pi.FittedModel(_of_levels((1.0, 2.0, 4.0)), data[["dose", "age"]], data["count"])
    assert model.pd("dose").differences().sd.min() > 0
    with pytest.raises(InferenceError, match="does not vary"):
        model.pd("dose").differences(relation="ratio")


REFUSED = {
    "ALE": (lambda r: r.ale("dose").differences(relation="ratio"), "ALE of dose"),
    "logit": (lambda r: r.pd("dose", scale="logit").differences(relation="odds ratio"), "logit"),
    "AME": (lambda r: r.ame("dose").differences(relation="ratio"), "`relation` of AME"),
    "differences of AMEs": (lambda r: r.ame("dose").differences(), "have none"),
    "surface": (lambda r: r.pd(["dose", "sex"]).differences(relation="ratio"), "one curve"),
    "relation": (
        lambda r: r.pd("dose").differences(relation="odds"),
        "must be difference or ratio",
    ),
    "reference": (lambda r: r.pd("dose").differences("hevy"), "Did you mean `heavy`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_ratio_is_refused_with_a_sentence(data, case):
    ask, words = REFUSED[case]
    with pytest.raises(OptionError, match=words):
        ask(PLANS["one model"](data))


def test_means_have_no_odds_and_differences_of_learners_have_no_ratio(data):
    ols = pi.FittedModel(smf.ols("time ~ dose + age", data).fit(), data, "time")
    assert len(ols.pd("dose").differences(relation="ratio").effect) == 2
    with pytest.raises(OptionError, match="mean probabilities"):
        ols.pd("dose").differences(relation="odds ratio")
    fit = PLANS["half-sampling"]
    curves = [fit(data).pd("dose"), fit(data).pd("dose")]
    with pytest.raises((OptionError, InferenceError)):
        pi.compare(*curves).differences(relation="ratio")


def test_a_name_of_a_group_is_a_group_though_a_level_has_it_too():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=80), "g": np.resize(["f", "m"], 80)})
    data["sex"], data["y"] = np.repeat(["f", "m"], 40), data["x"] + rng.normal(size=80)
    curves = fit_of("y ~ x + g + sex", data, LinearRegression(), pi.HalfSampling(3, pairs=5)).pd(
        "g", by="sex"
    )
    named, default = curves.differences("f"), curves.differences()
    assert list(named.c_names) == list(default.c_names)
    assert "g[f] | m - f" in named.c_names
