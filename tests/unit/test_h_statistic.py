"""H statistics: closed forms, laws, and both roles of a row.

Numbers of R's hstats are in tests/reference.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from derivatives import derivatives
from fits import fit_of
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import OptionError

EXACT = 1e-12


ORDERS = ["overall", "pairwise", "three-way", "total", "importance"]


def product(rows):
    return rows["a"] * rows["b"] + rows["c"]


@pytest.fixture(scope="module")
def normal():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a", "b", "c"])


def test_a_product_of_centered_variables_is_all_interaction(normal):
    X = normal - normal.mean()
    model = pi.FittedModel(lambda rows: 3 * rows["a"] * rows["b"] - 1, X)
    assert model.h_statistic([("a", "b")], order="pairwise").params["a:b"] == pytest.approx(1)
    overall = model.h_statistic().params
    assert_allclose(overall, [1, 1, 0], atol=EXACT)
    assert model.h_statistic(order="total").params["total"] == pytest.approx(1)
    assert_allclose(model.h_statistic(order="importance").params, [1, 1, 0], atol=EXACT)
    f = 3 * X["a"] * X["b"]
    # F_ab at the rows is f itself, centered; F_a = F_b = 0.
    pair = model.h_statistic([("a", "b")], order="pairwise", normalize=False, squared=False)
    assert pair.params["a:b"] == pytest.approx(f.std(ddof=0), rel=1e-9)


def test_a_product_of_three_centered_variables_is_a_three_way_interaction():
    # All combinations of signs: every partial dependence on one or two variables is 0.
    X = pd.DataFrame(np.array(list(np.ndindex(2, 2, 2, 2))) * 2.0 - 1, columns=list("abcd"))
    model = pi.FittedModel(lambda rows: rows["a"] * rows["b"] * rows["c"], X)
    triples = model.h_statistic(order="three-way").params
    assert triples.index.tolist() == ["a:b:c", "a:b:d", "a:c:d", "b:c:d"]
    assert_allclose(triples, [1, 0, 0, 0], atol=EXACT)
    assert_allclose(model.h_statistic(order="pairwise").params, 0, atol=EXACT)


def test_an_additive_function_has_0_and_no_interval(normal):
    model = pi.FittedModel(lambda r: 1e3 + np.sin(r["a"]) + r["b"] ** 2 - r["c"], normal)
    for order in ("overall", "pairwise", "three-way", "total"):
        found = model.h_statistic(order=order)
        assert (found.params == 0).all()
        assert (found.bse == 0).all()
    # Without interactions the importance is the share of the variance of its own effect.
    parts = normal.assign(a=np.sin(normal["a"]), b=normal["b"] ** 2, c=-normal["c"])
    found = model.h_statistic(order="importance").params
    assert_allclose(found, parts.var() / parts.sum(axis=1).var(), rtol=1e-9)


def test_0_over_0_is_0_and_eps_is_a_floor_of_numerators(normal):
    model = pi.FittedModel(lambda rows: rows["a"] * 0.0 + 7, normal)
    for order in ("overall", "pairwise", "total", "importance"):
        assert (model.h_statistic(order=order).params == 0).all()
    weak = pi.FittedModel(lambda rows: 1e-6 * rows["a"] * rows["b"], normal)
    assert weak.h_statistic(order="total").params["total"] > 0.5
    assert weak.h_statistic(order="total", eps=1e-10).params["total"] == 0  # as hstats has it


def weighted(f, X, w, order):
    """A statistic of a, b, c with weights of rows, by brute force from its definition."""
    w, n = w / w.sum(), len(X)

    def effect(names):
        """F at every row: the weighted mean over all rows as backgrounds, centered."""
        at = X.loc[np.repeat(X.index, n)].reset_index(drop=True)
        background = X.loc[np.tile(X.index, n)].reset_index(drop=True)
        mixed = background.assign(**{name: at[name] for name in names})
        values = np.asarray(f(mixed)).reshape(n, n) @ w
        return values - w @ values

    F = {s: effect(s) for k in (1, 2, 3) for s in combinations(("a", "b", "c"), k)}
    a, b, c, ab, ac, bc, f_ = (F[s] for s in F)
    top, bottom = {
        "overall": (f_ - a - bc, f_),
        "pairwise": (ab - a - b, ab),
        "three-way": (f_ - ab - ac - bc + a + b + c, f_),
        "total": (f_ - a - b - c, f_),
        "importance": (f_ - bc, f_),
    }[order]
    return float(w @ top**2 / (w @ bottom**2))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("squared", [True, False])
def test_contributions_by_perturbing_the_weights_of_rows(order, squared):
    """A row's two contributions together are the derivative by its weight in both roles."""
    X = pd.DataFrame(np.random.default_rng(1).normal(size=(12, 3)), columns=["a", "b", "c"])
    X["c"] = X["c"].round()  # ties: rows share donors

    def f(rows):
        return rows["a"] * rows["b"] + np.exp(rows["a"] * rows["b"] * rows["c"] / 3) + rows["c"]

    features = {"overall": "a", "importance": "a", "pairwise": [("a", "b")]}.get(order)
    found = pi.FittedModel(f, X).h_statistic(features, order=order, squared=squared)
    (estimate,) = found.replicates.estimates
    one = np.ones(12)

    def value(w):
        return weighted(f, X, w, order) ** (1 if squared else 0.5)

    assert estimate.value[0] == pytest.approx(value(one), rel=1e-9)
    both = estimate.rows + estimate.donors - estimate.value
    assert_allclose(both[:, 0] / 12, derivatives(value, one, step=1e-5), atol=1e-8)
    assert estimate.rows.mean() == pytest.approx(estimate.value[0])
    assert estimate.donors.mean() == pytest.approx(0, abs=EXACT)


def test_standard_errors_are_the_spread_over_samples():
    """150 samples of 100 rows, f known; the sd of 150 numbers has a relative s.e. of 0.06."""
    errors, values = [], []
    for seed in range(150):
        X = pd.DataFrame(np.random.default_rng(seed).uniform(size=(100, 2)), columns=["a", "b"])
        found = pi.FittedModel(lambda r: r["a"] + r["b"] + 2 * r["a"] * r["b"], X).h_statistic("a")
        values.append(found.params["a"])
        errors.append(found.bse["a"])
    assert np.mean(errors) / np.std(values, ddof=1) == pytest.approx(1, abs=3 * 0.06)


def test_trees_exact_equals_batched(normal):
    X = normal.assign(g=np.resize([0.0, 1.0, 2.0], len(normal)))
    forest = RandomForestRegressor(10, random_state=1).fit(X, X["a"] * X["b"] + X["g"])
    exact, batched = (pi.FittedModel(forest, X, engine=e, seed=1) for e in ("trees", "batched"))
    for options in ({"order": "pairwise"}, {"order": "three-way", "most_rows": 20}):
        one, other = exact.h_statistic(**options), batched.h_statistic(**options)
        assert_allclose(one.params, other.params, rtol=1e-9, atol=EXACT)
        assert_allclose(one.bse, other.bse, rtol=1e-9, atol=EXACT)


def full(results):
    return " ".join(results.summary(notes="full").notes)


def test_some_rows_stand_for_all(normal):
    whole = pi.FittedModel(product, normal, seed=3)
    some = whole.h_statistic(most_rows=25)
    (estimate,) = some.replicates.estimates
    drawn = np.flatnonzero((estimate.rows != estimate.value).any(axis=1))
    assert len(drawn) == 25
    alone = pi.FittedModel(product, normal.iloc[drawn]).h_statistic()
    assert_allclose(some.params, alone.params, rtol=EXACT)
    # Sums over 40 and 25 rows have denominators n (n - 1) and r (r - 1).
    assert_allclose(some.bse, alone.bse * np.sqrt(40 / 39 * 24 / 25), rtol=1e-9)
    assert "At most 25 evaluation rows of a refit, drawn at random" in full(some)
    assert "drawn at random" not in full(whole.h_statistic())
    again = pi.FittedModel(product, normal, seed=3).h_statistic(most_rows=25)
    np.testing.assert_array_equal(again.params, some.params)


def test_predictions_that_are_not_kept_are_made_again(normal, monkeypatch):
    import pyinterp.estimands.interaction.h_statistic as module

    def frame():
        model = pi.FittedModel(lambda r: r["a"] * r["b"] + np.sin(r["b"] * r["c"]), normal)
        return model.h_statistic(order="three-way").summary_frame()

    kept = frame()
    monkeypatch.setattr(module, "KEPT_BYTES", 0)
    pd.testing.assert_frame_equal(frame(), kept)


def test_groups_are_features(normal):
    model = pi.FittedModel(product, normal, groups={"both": ["a", "b"]})
    assert_allclose(model.h_statistic().params[["both", "c"]], 0, atol=EXACT)
    assert model.h_statistic(order="pairwise").exog_names == ["both:c"]


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_and_scales(normal, classes):
    y = np.array(list("uvw"))[np.digitize(normal["a"] * normal["b"], [0, 0.5][: classes - 1])]
    model = pi.FittedModel(RandomForestClassifier(10, random_state=1).fit(normal, y), normal, y)
    found = model.h_statistic()
    if classes == 2:
        assert found.exog_names == ["a", "b", "c"]
        other = model.h_statistic(which_class="u").params
        assert_allclose(other, found.params, rtol=1e-9)  # 1 - p is affine in p
    else:
        assert found.exog_names == [f"{c}: {n}" for c in "uvw" for n in "abc"]
        only = model.h_statistic(which_class="w").params
        assert_allclose(only, found.params.iloc[6:], rtol=1e-9)
    # A logistic model without products is additive on the logit, not on the probability.
    additive = pi.FittedModel(LogisticRegression().fit(normal, y), normal, y)
    assert (additive.h_statistic(order="total").params > 0).all()
    if classes == 2:
        logit = additive.h_statistic(order="total", scale="logit").params
        assert_allclose(logit, 0, atol=EXACT)


def test_there_is_no_test_of_0(data):
    found = fit_of("y ~ x*z", data, LinearRegression(), pi.HalfSampling(5, pairs=5)).h_statistic()
    assert found.pvalues.isna().all()
    assert "No test of 0" in full(found)
    # In short notes too: the interval of noise does not hold 0.
    assert "noise included: no test of 0, see `interactions`." in " ".join(found.summary().notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "second"}, "`order` must be"),
        ({"most_rows": 1}, "`most_rows` must be a whole number of at least 2"),
        ({"most_rows": True}, "`most_rows` must be a whole number of at least 2"),
        ({"eps": -1.0}, r"`eps` must be a number of at least 0"),
        ({"features": "q"}, "Can't find feature 'q'"),
        ({"features": [("a", "b")]}, "must be a name or a list of names"),
        ({"features": "a", "order": "pairwise"}, "A pair needs 2 features"),
        ({"features": ["a", "b"], "order": "three-way"}, "A triple needs 3 features"),
        ({"features": [("a", "b")], "order": "three-way"}, "A triple is of 3 different features"),
        ({"which_class": "u"}, "`which_class` is for classifiers"),
        ({"scale": "logit"}, "must be a function of its predictions"),
    ],
)
def test_bad_options_are_refused(normal, options, message):
    with pytest.raises(OptionError, match=message):
        pi.FittedModel(lambda rows: rows["a"], normal).h_statistic(**options)


def test_interactions_of_negative_predictions_are_0_but_for_rounding():
    """Rounding is relative to the largest prediction in size, here the smallest."""
    rng = np.random.default_rng(4)
    rows = pd.DataFrame(rng.uniform(0, 1e3, size=(40, 3)), columns=["a", "b", "c"])
    rows.iloc[0] = 0.0
    model = pi.FittedModel(lambda X: -X.to_numpy() @ np.array([0.1, 0.7, 0.3]), rows)
    assert model.analysis.cases[0].whatif.factual.max() == 0
    raw = model.h_statistic(order="pairwise", normalize=False, squared=False)
    assert (raw.params == 0).all()


def test_only_raw_statistics_have_a_unit(normal):
    y = (normal["a"] * normal["b"]).rename("y")
    model = pi.FittedModel(DecisionTreeRegressor(random_state=0).fit(normal, y), normal, y)
    for normalize, squared, unit in [
        (True, True, ""), (True, False, ""), (False, True, "y²"), (False, False, "y")
    ]:  # fmt: skip
        found = model.h_statistic(normalize=normalize, squared=squared)
        assert found.estimand.words.unit == unit


class Wobbly(LinearRegression):
    """A linear model of a, with an effect of b and c of this size, as rounding may have it."""

    def __init__(self, size=0.0, unit=1.0):
        super().__init__()
        self.size, self.unit = size, unit

    def fit(self, X, y):
        return super().fit(X[:, :1], y)

    def predict(self, X):
        wobble = np.sin(1e6 * (X[:, 1] + X[:, 2]))
        return self.unit * (super().predict(X[:, :1]) + self.size * wobble)


PAIRS = {
    "share": {"features": [("b", "c")], "order": "pairwise"},
    "raw": {"features": [("b", "c")], "order": "pairwise", "normalize": False},
    "root": {"features": [("b", "c")], "order": "pairwise", "squared": False},
    "overall": {"features": ["b", "c"], "order": "overall"},
    "importance": {"features": ["b", "c"], "order": "importance"},
    "three-way": {"features": [("a", "b", "c")], "order": "three-way"},
    "total": {"order": "total"},
}


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("statistic", PAIRS)
@pytest.mark.parametrize("level", ["model", "learner"])
def test_effects_of_rounding_size_have_no_interaction(normal, unit, statistic, level):
    """Up to 1e-6 of the standard deviation of the prediction; larger ones keep theirs."""
    learner = pi.Learner.from_formula

    def h(size):
        data = normal.assign(y=normal["a"])
        model = learner("y ~ a + b + c", data, Wobbly(size, unit))
        fit = model.fit_model() if level == "model" else model.fit(pi.Holdout(0.5), seed=1)
        return fit.h_statistic(**PAIRS[statistic])

    for size in (1e-12, 1e-9, 1e-7):
        tiny = h(size)
        assert (tiny.params == 0).all()
        assert tiny.conf_int().isna().all(axis=None)
        assert max(map(len, str(tiny.summary()).splitlines())) < 100
    share = statistic in ("share", "root")
    for size in (1e-5, 1e-3):
        whole, part = h(0.1).params, h(size).params
        power = 0 if share else 2
        # Of large effects the wobble is a part of the variance of the prediction.
        assert_allclose(part, whole * (size / 0.1) ** power, rtol=1e-6 if share else 0.1)
        assert (part > 0).all() or statistic == "three-way"
