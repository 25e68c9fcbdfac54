"""Tests that a feature interacts with nothing: by naive loops, exact nulls, and what is refused.

Simulations have fixed seeds. Naive sums agree to 1e-10.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fits import fit_of, words_of
from scipy import stats
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import InferenceError, OptionError
from pyinterp.estimands.interactions import interactions, rest
from pyinterp.estimands.population import Feature, Residuals, least_loss, reading_of, residuals_of
from pyinterp.inference import RefitEstimate, Replicates, variance

LINEAR, FOLDS = pi.samplers.Residual(LinearRegression()), pi.CrossValidation(4)
BOOSTING = HistGradientBoostingRegressor(max_iter=40, max_depth=3, random_state=0)


def draw(n, seed, effect=1.0):
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n))
    x = 0.5 * a + rng.normal(size=n)
    data = pd.DataFrame({"x": x, "a": a, "b": b, "g": rng.choice(list("uvw"), n)})
    return data.assign(y=np.sin(x) + effect * x * a + b + (data["g"] == "v") + c)


def crossed(formula, data, estimator=BOOSTING, plan=FOLDS, **options):
    return fit_of(formula, data, estimator, plan, **options)


def projected(A, column):
    """Return what is left of a column by an orthogonal basis of A."""
    Q = np.linalg.qr(A)[0]
    return column - Q @ (Q.T @ column)


def splines(x, every):
    knots = np.quantile(every, np.arange(7) / 7)
    return np.column_stack([x**2, *(np.where(x > k, x - k, 0.0) ** 3 for k in knots), x])


def naive(res, data):
    """Return V and h of x of every row: h of one fold at a time, by predictions of copies."""
    n, every = len(data), data["x"].to_numpy()
    V, h = np.empty((n, 9)), np.empty(n)
    for case in res.analysis.cases:
        train, rows = case.train.rows, case.evaluation.rows
        others = pd.get_dummies(data[["a", "b", "g"]]).to_numpy(float)
        law = LinearRegression().fit(others[train], every[train])
        center = law.predict(others[rows])
        residuals, m = every[rows] - center, len(rows)
        frame = data.iloc[rows]
        f = case.whatif.factual
        low, high = center.min() + residuals.min(), center.max() + residuals.max()
        observed = np.sort(every[rows])
        lower, upper = np.linspace(low, observed[0], 10), np.linspace(observed[-1], high, 10)
        points = np.unique(np.concatenate([lower, observed, upper]))
        curve = np.array([predict_of(case, frame.assign(x=p)).mean() for p in points])
        away, main, left = np.empty((m, 9)), np.empty(m), np.empty(m)
        for i in range(m):
            values = center[i] + np.delete(residuals, i)
            copies = pd.concat([frame.iloc[[i]]] * (m - 1)).assign(x=values)
            away[i] = (splines(every[rows][[i]], every) - splines(values, every).mean(axis=0))[0]
            main[i] = np.interp(every[rows][i], points, curve)
            main[i] -= np.interp(values, points, curve).mean()
            left[i] = f[i] - predict_of(case, copies).mean()
        V[rows] = away
        h[rows] = projected(np.column_stack([away, main]), left)
    return V, h


def predict_of(case, frame):
    return case.whatif.predictor(case.whatif.design.encode(frame))


def test_numbers_are_those_of_naive_loops():
    data = draw(80, 1)
    res = crossed("y ~ x + a + b + g", data)
    V, h = naive(res, data)
    problem = res.analysis.problem
    before = reading_of(problem, "x", LINEAR)
    (measured,) = res.analysis.measure(before)
    rows = Replicates(evaluations=res.analysis.evaluations, sums=measured).row_means
    features = (Feature("x", ("x",)),)
    (one,) = residuals_of(rows, features, 1, np.ones(80), np.arange(80))
    u, y = projected(V, one.u), data["y"].to_numpy()
    N, D = (u * h).mean(), (h * h).mean()
    found = res.interactions("x", sampler=LINEAR)
    assert N > 0
    assert found.params["x"] == pytest.approx(N**2 / D / y.var(), rel=1e-10)
    z = data[["a", "b"]].to_numpy()
    columns = np.column_stack([V[:, -1:] * z, V, np.ones(80), z, z * z])
    least_squares = sm.OLS(one.u, columns).fit(cov_type="HC3")
    products = res.products("x", ["a", "b"], sampler=LINEAR)
    assert list(products.params.index) == ["x:a", "x:b"]
    assert products.params.to_numpy() == pytest.approx(least_squares.params[:2], rel=1e-10)
    assert products.bse.to_numpy() == pytest.approx(least_squares.bse[:2], rel=0.02)
    conservative = N / ((u * h).std(ddof=1) / np.sqrt(80)) / np.sqrt(2)
    assert found.tvalues["x"] <= conservative * (1 + 1e-10)


def test_with_true_regressions_the_statistic_is_standard_normal():
    """Of an additive truth and any h; the printed one is divided by the root of 2."""
    rng, n, drawn = np.random.default_rng(2), 300, []
    x, z = rng.normal(size=(2, n))
    V = np.column_stack([x, x**2 - 1])
    weights = np.ones(n)
    h = rest(V, x * z, weights)
    for _ in range(1000):
        u = rest(V, 0.7 * x + rng.normal(size=n), weights)
        one = Residuals(Feature("x", ("x",)), y=u, u=u, f=h, h=h, x=V, v=V, levels=V[:, :0],
                        rows=np.arange(n), weights=weights)  # fmt: skip
        least = least_loss(one)
        found = variance(Replicates.of([RefitEstimate(least, np.arange(n))], pool=True), None)
        drawn.append(found.root[0] / found.at_null[0])
    assert stats.kstest(drawn, "norm").pvalue > 0.1
    assert np.std(drawn) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("formula", ["y ~ x + a + g", "y ~ x + np.square(x) + a + g"])
def test_a_linear_learner_without_products_has_none(formula):
    found = crossed(formula, draw(120, 3), LinearRegression()).interactions()
    whole = found.params[["g", "a"]]
    assert (whole == 0).all()
    assert found.pvalues[["g", "a"]].isna().all()
    assert "which says nothing of nature" in words_of(found)
    assert found.params["x"] < 1e-3


def test_what_the_learner_can_not_have_is_not_there():
    alone = HistGradientBoostingRegressor(
        max_iter=60, max_depth=3, interaction_cst="no_interactions"
    )
    data = draw(400, 4)
    assert crossed("y ~ x + a + b", data, alone).interactions("x").pvalues.isna().all()
    assert crossed("y ~ x + a + b", data).interactions("x").pvalues["x"] < 1e-3


def test_interactions_of_others_are_not_those_of_a_feature():
    data = draw(500, 5)
    data["y"] += data["b"] * (data["g"] == "u")
    found = crossed("y ~ x + a + b + g", data).interactions().pvalues
    assert found[["x", "a", "b", "g"]].max() < 0.01
    data = draw(500, 6, effect=0.0)
    data["y"] += data["b"] * data["a"]
    found = crossed("y ~ x + a + b + g", data).interactions().pvalues
    assert found[["a", "b"]].max() < 0.001
    assert found[["x", "g"]].min() > 0.05


def test_units_order_and_equal_weights_change_nothing():
    data = draw(150, 7).assign(w=1.0)
    plain = crossed("y ~ x + a + g", data, LinearRegression()).interactions("x")
    product = "y ~ x + a + g + x:a"
    first = crossed(product, data, LinearRegression()).interactions(["x", "g"])
    other = data.assign(x=3 - 5 * data["x"], y=100 * data["y"])
    again = crossed(product, other, LinearRegression()).interactions(["g", "x"])
    assert again.pvalues["g"] == pytest.approx(first.pvalues["g"], abs=1e-8, nan_ok=True)
    assert plain.params["x"] == pytest.approx(0, abs=1e-12)
    weighted = crossed(product, data, LinearRegression(), weights="w", weights_type="sampling")
    found = weighted.interactions(["x", "g"])
    assert found.params.to_numpy() == pytest.approx(first.params.to_numpy(), abs=1e-8)


def test_few_values_classes_clusters_and_files(tmp_path):
    data = draw(300, 8).assign(unit=np.arange(300) // 4)
    data["few"] = np.random.default_rng(9).integers(3, size=300)
    data["y"] += (data["few"] == 1) * data["b"] * 2
    res = crossed("y ~ few + a + b", data, plan=pi.CrossValidation(3, cluster="unit"))
    found = res.interactions(["few", "a"])
    assert found.pvalues["few"] < 0.01
    assert found.df_resid < 75
    found.save(tmp_path / "a.pyinterp")
    assert pi.load(tmp_path / "a.pyinterp").pvalues.equals(found.pvalues)
    data["kind"] = pd.cut(data["y"], [-np.inf, -1, 1, np.inf], labels=["low", "mid", "high"])
    of_classes = crossed("kind ~ few + b", data, LogisticRegression()).interactions("b")
    assert of_classes.exog_names == ["low: b", "mid: b", "high: b"]


def test_what_is_refused():
    data = draw(100, 10)
    res = crossed("y ~ x + a + b", data, LinearRegression(), groups={"both": ["x", "a"]})
    with pytest.raises(OptionError, match="`both` is a group"):
        res.interactions()
    assert len(res.interactions("b").params) == 1
    with pytest.raises(InferenceError, match="leaves rows out"):
        crossed("y ~ x + a", data, LinearRegression(), pi.Holdout(0.5)).interactions()
    with pytest.raises(TypeError, match="by"):
        res.interactions("b", by="g")
    assert interactions(res.analysis.problem, "b").key[0] == "interactions"


def test_products_of_levels_weights_clusters_and_files(tmp_path):
    data = draw(240, 8).assign(w=1.0, unit=np.arange(240) // 4)
    data["g"] = data["g"].astype("category")
    formula = "y ~ x + a + b + g"
    res = crossed(formula, data, LinearRegression(), weights="w", weights_type="sampling")
    plain = crossed(formula, data, LinearRegression())
    found = res.products("g")
    assert list(found.params.index[:2]) == ["g[v - u]:x", "g[w - u]:x"]
    assert found.params.to_numpy() == pytest.approx(plain.products("g").params.to_numpy(), rel=1e-8)
    both = plain.products("x", p_adjust="holm")
    assert list(both.params.index) == ["x:a", "x:b", "x:g[v - u]", "x:g[w - u]"]
    assert both.pvalues["x:a"] < 1e-3
    assert both.params["x:a"] == pytest.approx(1.0, abs=0.3)
    far = data.assign(a=1e4 * (data["a"] + 3), one=1000.1, h=[*"q" * 12, *"r" * 228])
    units = crossed(formula + " + one", far, LinearRegression()).products("x")
    assert units.tvalues.drop("x:one").to_numpy() == pytest.approx(
        both.tvalues.to_numpy(), rel=1e-6
    )
    assert np.isnan(units.params["x:one"])
    rare = crossed(formula + " + h", far, LinearRegression()).products("x", "h")
    assert rare.params.isna().all()
    both.save(tmp_path / "products.pyinterp")
    assert pi.load(tmp_path / "products.pyinterp").params.equals(both.params)
    by_cluster = crossed(formula, data, LinearRegression(), pi.CrossValidation(4, cluster="unit"))
    assert (by_cluster.products("x").bse > 0).all()
    with pytest.raises(OptionError, match="Did you mean"):
        plain.products("x", "aa")
    with pytest.raises(OptionError, match="one variable"):
        plain.products(["x", "a"])
