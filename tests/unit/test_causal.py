"""The causal reading: plug-in effects, and MVIM and CVIM by the theorems of Khan et al. (2025)."""

import numpy as np
import pandas as pd
import pytest
from by_refit import estimates_of
from numpy.testing import assert_allclose
from scipy import special
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp import samplers
from pyinterp.errors import OptionError


def trial(n, seed=0, *, levels=2):
    """The effect of level k on y is k (1 + z); its probability depends on z."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    p = special.softmax(np.outer(z, np.arange(levels)) / 2, axis=1)
    x = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    return pd.DataFrame({"x": x, "z": z, "y": x * (1 + z) + z + rng.normal(size=n)})


LINEAR, TWO, PAIRS = LinearRegression(), pi.Subsampling(2), pi.HalfSampling(3, pairs=5)
BY_LOGIT = samplers.Categorical(LogisticRegression())
BY_LINE = samplers.Residual(LINEAR)
BOTH = {"groups": {"both": ["x", "z"]}}


def fit_of(data, formula="y ~ x * z", estimator=LINEAR, plan=TWO, seed=1, **options):
    return pi.Learner.from_formula(formula, data, estimator, **options).fit(plan, seed=seed)


@pytest.fixture(scope="module")
def binary():
    return fit_of(trial(300), plan=pi.Subsampling(3))


@pytest.fixture(scope="module")
def grouped():
    return fit_of(trial(100), "y ~ .", **BOTH)


def parts(results, data):
    """Of every refit: its number, training rows, evaluation rows, and predictions of these."""
    for d, refit in enumerate(results.refits):
        rows = data.iloc[refit.evaluation.rows]

        def predict(refit=refit, rows=rows, **changed):
            return refit.predictor(refit.design.encode(rows[["x", "z"]].assign(**changed)))

        yield d, data.iloc[refit.train_rows], rows, predict


def test_effects_are_mean_differences_of_predictions(binary):
    found = binary.causal("x").effects
    for d, _, _, predict in parts(binary, trial(300)):
        own = predict(x=1) - predict(x=0)
        assert found.refit_frame()["x[1]"][d] == pytest.approx(own.mean())
        assert_allclose(estimates_of(binary, found)[d].rows[:, 1], own)
    assert found.params["x[0]"] == 0
    # The effect averages 1 over z.
    assert abs(found.params["x[1]"] - 1) < 0.5


def test_mvim_by_plug_in_is_theorem_1(binary):
    r"""\sum p_x p_x* E_{Z | x} CATE^2 over the evaluation rows, pairs of different rows."""
    found = binary.causal("x").importance.refit_frame()["MVIM"]
    for d, _, rows, predict in parts(binary, trial(300)):
        cate = predict(x=1) - predict(x=0)
        x, n = rows["x"].to_numpy(), len(rows)
        total = sum(
            (x == level).mean() * (x != level).mean() * np.mean(cate[x == level] ** 2)
            for level in (0, 1)
        )
        assert found[d] == pytest.approx(total * n / (n - 1))


def test_cvim_by_plug_in_is_theorem_3(binary):
    r"""2 E_Z [V(X | Z) CATE^2(Z)], and half of it over V(Y) is the causal share."""
    causal = binary.causal("x", sampler=BY_LOGIT)
    for d, train, rows, predict in parts(binary, trial(300)):
        model = LogisticRegression().fit(train[["z"]].to_numpy(), train["x"])
        p = model.predict_proba(rows[["z"]].to_numpy())[:, 1]
        expected = np.mean(2 * p * (1 - p) * (predict(x=1) - predict(x=0)) ** 2)
        assert causal.importance.refit_frame()["CVIM"][d] == pytest.approx(expected)
        variance, f = rows["y"].var(), predict(x=rows["x"])
        share = causal.share.refit_frame().iloc[d, 0]
        assert share == pytest.approx(expected / (2 * variance))
        rest = causal.rest.refit_frame().iloc[d]
        assert rest["other variables"] == pytest.approx(f.var(ddof=1) / variance - share)
        assert rest["residual"] == pytest.approx(np.mean((rows["y"] - f) ** 2) / variance)
        assert share + rest.sum() == pytest.approx(1)


def test_cvim_of_three_levels_is_theorem_4_without_its_factor_2():
    data = trial(300, levels=3).assign(x=lambda d: d["x"].map({0: "a", 1: "b", 2: "c"}))
    results = fit_of(data)
    found = results.causal("x", sampler=BY_LOGIT).importance.refit_frame()["CVIM"]
    for d, train, rows, predict in parts(results, data):
        codes = train["x"].map({"a": 0, "b": 1, "c": 2})
        model = LogisticRegression().fit(train[["z"]].to_numpy(), codes)
        p = model.predict_proba(rows[["z"]].to_numpy())
        at = np.column_stack([predict(x=level) for level in "abc"])
        squares = (at[:, :, None] - at[:, None, :]) ** 2
        assert found[d] == pytest.approx(np.einsum("ni,nj,nij->n", p, p, squares).mean(), rel=1e-6)


def test_cvim_of_a_number_is_theorem_5(binary):
    """The mean over all pairs of different residuals of the squared difference of predictions."""
    found = binary.causal("z", sampler=BY_LINE, points=3).importance.refit_frame()
    for d, train, rows, predict in parts(binary, trial(300)):
        center = LinearRegression().fit(train[["x"]], train["z"]).predict(rows[["x"]])
        residual = rows["z"].to_numpy() - center
        at = np.column_stack([predict(z=center + r) for r in residual])
        expected = np.mean(2 * at.var(axis=1, ddof=1))
        assert found["CVIM"][d] == pytest.approx(expected)


def test_plug_in_and_permutation_agree_for_a_right_learner():
    """Mean difference over 30 data sets, to 3.5 standard errors."""
    apart = []
    for seed in range(30):
        results = fit_of(trial(600, seed), plan=pi.Holdout(0.5), seed=seed)
        found = results.causal("x", sampler=BY_LOGIT).importance
        apart.append(found.params - found.diagnostic.params)
    error = np.std(apart, axis=0, ddof=1) / np.sqrt(30)
    assert (np.abs(np.mean(apart, axis=0)) < 3.5 * error).all()


def test_classes_are_read_as_the_probability_of_the_second():
    data = trial(300).assign(y=lambda d: np.where(d["y"] > 0, "yes", "no"))
    results = fit_of(data, estimator=LogisticRegression())
    causal = results.causal("x")
    for d, _, _, predict in parts(results, data):
        own = (predict(x=1) - predict(x=0))[:, 1]
        assert causal.effects.refit_frame()["x[1]"][d] == pytest.approx(own.mean())
    assert 0 < causal.share.params.iloc[0] < 1
    assert causal.share.params.iloc[0] + causal.rest.params.sum() == pytest.approx(1)


def test_some_draws_have_a_monte_carlo_error(binary):
    exact, some = (
        binary.causal("z", sampler=BY_LINE, points=3, permutations=k) for k in ("all", 8)
    )
    assert (exact.importance.mcse == 0).all()
    assert (some.importance.mcse > 0).all()
    assert some.share.mcse.iloc[0] == some.rest.mcse["other variables"] > 0
    assert some.rest.mcse["residual"] == 0
    apart = (some.importance.params - exact.importance.params).abs()
    assert (apart < 5 * some.importance.mcse).all()


def test_the_table_states_the_assumptions(binary):
    causal = binary.causal("x")
    text = " ".join(str(causal).split())
    for said in ("conditional ignorability", "positivity", "has found E(Y | X)", "Chen et al."):
        assert said in text
    assert "<p>" in causal._repr_html_()
    assert causal.plot() is not None
    assert list(causal.share.diagnostic.params.index) == list(causal.share.params.index)
    assert causal.share.summary_frame()["diagnostic"].notna().all()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda res: res.causal(["x", "z"]), "about one feature"),
        (lambda res: res.causal("both"), "'both' is a group"),
    ],
)
def test_what_is_refused(grouped, ask, words):
    with pytest.raises(OptionError, match=words):
        ask(grouped)


class TestTogether:
    def test_one_table_with_the_diagnostic_once(self, binary):
        found = binary.importance()
        text = str(found.summary(notes="full"))
        assert text.count("Draws of z: residuals exchanged.") == 1
        assert " ".join(text.split()).count("R²_j: Share") == 1


def test_what_no_refit_uses_has_no_interval(data):
    """Rounding of means is no importance."""
    results = fit_of(data, "y ~ x + z", DecisionTreeRegressor(max_depth=1), PAIRS)
    mvim = results.mvim()
    (unused,) = mvim.params.index[mvim.params == 0]
    causal = results.causal(unused, points=3)
    for part in (causal.importance, causal.share, results.amvim(unused, method="additive")):
        assert (part.params == 0).all()
        assert part.conf_int().isna().all().all()


def test_comparisons_have_no_permuted_values_of_one_learner(data):
    fits = [fit_of(data, formula, plan=PAIRS) for formula in ("y ~ x + z", "y ~ x * z")]
    first, second = (fit.causal("z", points=3).importance for fit in fits)
    assert pi.compare(first, second).diagnostic is None
    first, second = (fit.cvim() for fit in fits)
    both = pi.compare(first, second).diagnostic
    pd.testing.assert_series_equal(both.params, first.diagnostic.params)


def test_mean_squared_effects_are_positive_and_have_no_test(data):
    """Noise makes them positive whatever the truth, so that 0 is no null value of theirs."""
    noise = data.assign(w=np.random.default_rng(1).normal(size=len(data)))
    model = fit_of(noise, "y ~ x + z + w", plan=pi.HalfSampling(5, pairs=15))
    causal = model.causal("w", points=3)
    for results in (causal.importance, causal.share, model.amvim(method="additive")):
        assert results.null is None
        assert results.pvalues.isna().all()
        limits = results.conf_int()
        assert (limits[0] >= 0).all()  # a mean of squares is not below 0
        assert ((limits[0] < results.params) & (results.params < limits[1])).all()
    table = str(causal.importance.summary(notes="full"))
    assert "No test of 0: noise makes" in table
    permuted = [ask("w").params["w"] for ask in (model.mvim, model.cvim)]
    assert_allclose(causal.importance.diagnostic.params, permuted, rtol=1e-12)


def test_a_single_feature_leaves_nothing_to_other_variables():
    rng = np.random.default_rng(0)
    x = rng.normal(size=240)
    data = pd.DataFrame({"x": x, "y": x + rng.normal(size=240)})
    rest = fit_of(data, "y ~ x").causal("x", points=2).rest
    assert rest.params["other variables"] == pytest.approx(0, abs=1e-12)


def test_standard_errors_of_the_rest_are_the_spread_over_samples():
    """A known function, 150 samples of 200 rows; mean squared errors within 3.5 standard errors."""

    def f(rows):
        return (rows["z"] + rows["x"] * (1 + rows["z"])).to_numpy()

    found = []
    for seed in range(150):
        rows = trial(200, 1000 + seed)
        model = pi.FittedModel(f, rows[["x", "z"]], rows["y"], seed=1)
        rest = model.causal("x", sampler=BY_LOGIT).rest
        found.append((rest.params, rest.bse))
    estimates, errors = (np.array(part) for part in zip(*found, strict=True))
    squares = (estimates - estimates.mean(axis=0)) ** 2
    apart = squares - errors**2
    limit = 3.5 * apart.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(apart.mean(axis=0)) < limit + squares.mean(axis=0) / len(found)).all()
