"""`rows=` and `by=` are the same fitted models on some of their rows: nothing is fitted anew."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from asks import asks_of
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import OptionError, PyinterpError

EXACT = 1e-12


def _data(n=90):
    rng, x = normal_rows(n, "a b c", 3)
    sex = np.where(rng.random(n) < 0.4, "f", "m")
    y = x["a"] * np.where(sex == "f", 2.0, 0.5) + x["b"] ** 2 + 0.3 * rng.normal(size=n)
    return x.assign(sex=sex, y=y, id=np.arange(n) // 3)


DATA = _data()
FEMALE = (DATA["sex"] == "f").to_numpy()
GRID = [-1.0, 0.0, 1.0]
MODELS = {
    "linear": LinearRegression(),
    "trees": RandomForestRegressor(3, max_depth=2, random_state=0),
    "batched": KNeighborsRegressor(5),
}
ESTIMANDS = asks_of("""
pfi; pfi()
pfi ratio; pfi(relation='ratio', permutations=3)
pfi rmse; pfi(metric='rmse')
mvim; mvim()
pd; pd('a', grid=GRID)
c-ice; pd('a', grid=GRID, kind='c-ice')
firm; firm(['a', 'b'], grid={'a': GRID, 'b': GRID})
vint; vint([('a', 'b')], grid={'a': GRID, 'b': GRID})
h; h_statistic()
loss; loss()
""", globals())  # fmt: skip


@cache
def _fitted(name):
    return clone(MODELS[name]).fit(DATA[["a", "b", "c"]], DATA["y"])


def _model(name, data):
    return pi.FittedModel(_fitted(name), data[["a", "b", "c"]], data["y"], seed=1)


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("model", MODELS)
def test_rows_are_those_of_a_model_on_filtered_rows(model, estimand):
    ask = ESTIMANDS[estimand]
    part = ask(_model(model, DATA), rows=FEMALE)
    alone = ask(_model(model, DATA[FEMALE]))
    assert_allclose(part.params, alone.params, rtol=EXACT, atol=EXACT)
    assert_allclose(part.bse, alone.bse, rtol=1e-9, atol=EXACT)
    assert part.df_resid == alone.df_resid


PLANS = {
    "half-sample": (pi.HalfSampling(3, pairs=5), "half-sample"),
    "corrected": (pi.Bootstrap(4), "corrected"),
    "naive": (pi.Bootstrap(4), "naive"),
    "bootstrap": (pi.NestedBootstrap(3, splits=3), "bootstrap"),
    "ustat": (pi.Holdout(0.5), "ustat"),
    "rows": (pi.Holdout(0.5), "rows"),
    "clusters": (pi.Holdout(0.5, cluster="id"), "ustat"),
}


@cache
def _fit(plan):
    learner = pi.Learner.from_formula("y ~ a + b + c", DATA, DecisionTreeRegressor(max_depth=3))
    return learner.fit(PLANS[plan][0], seed=2)


@pytest.mark.parametrize("plan", PLANS)
def test_by_has_the_numbers_of_rows_under_every_variance(plan):
    results, cov_type = _fit(plan), PLANS[plan][1]
    by = results.pfi(by="sex", cov_type=cov_type)
    assert list(by.params.index) == [f"{v} | {s}" for s in "fm" for v in "abc"]
    for level in "fm":
        alone = results.pfi(rows=f"sex == '{level}'", cov_type=cov_type)
        terms = [f"{v} | {level}" for v in "abc"]
        assert_allclose(by.params[terms], alone.params, rtol=EXACT)
        assert_allclose(
            by.cov_params().loc[terms, terms], alone.cov_params(), rtol=1e-9, atol=1e-14
        )
    eigenvalues = np.linalg.eigvalsh(by.cov_params())
    assert eigenvalues.min() > -1e-10 * eigenvalues.max()


@pytest.mark.parametrize("estimand", [*ESTIMANDS, "loco", "cvim", "amvim", "positivity"])
def test_by_serves_every_estimand_and_survives_pickle(estimand):
    ask = ESTIMANDS.get(estimand, lambda r, **o: getattr(r, estimand)(**o))
    results = _fit("corrected")
    by = pickle.loads(pickle.dumps(ask(results, by="sex")))  # noqa: S301 - our own bytes
    alone = ask(results, rows=~FEMALE)
    half = len(by.params) // 2
    assert_allclose(by.params[half:], alone.params, rtol=EXACT)
    assert " | f" in str(by.summary())
    by.plot().draw()


def test_differences_have_the_covariance_between_groups():
    by = _fit("half-sample").pfi(by="sex")
    table, cov = by.differences(), by.cov_params()
    first, second = "a | f", "a | m"
    assert table.effect[0] == pytest.approx(by.params[second] - by.params[first])
    variance = cov.loc[first, first] + cov.loc[second, second] - 2 * cov.loc[first, second]
    assert table.sd.ravel()[0] == pytest.approx(np.sqrt(variance))
    turned = by.differences("m")
    assert_allclose(turned.effect, -table.effect)
    assert "a | m - f" in str(table.summary())


def test_groups_of_one_model_are_independent_and_clusters_join_them():
    cov = _fit("ustat").pfi(by="sex").cov_params().to_numpy()
    assert (cov[:3, 3:] == 0).all()
    joined = _fit("clusters").pfi(by="sex").cov_params().to_numpy()
    assert (joined[:3, 3:] != 0).any()


def test_rows_of_other_groups_have_no_contribution():
    frame = _fit("corrected").loss(by="sex").row_frame()
    female = frame.index.map(DATA["sex"]) == "f"
    assert frame[female].iloc[:, 1].isna().all()
    assert frame[~female].iloc[:, 0].isna().all()


WRONG = asks_of("""
no such column; pfi(by='gender'); not in `data`
many numbers; pfi(by='a'); pd.cut
one level; pfi(by=np.zeros(90)); two levels
too long; pfi(by=np.zeros(91)); one value per row
missing; pfi(by=DATA['sex'].where(DATA.index > 3)); no missing values
rare level; pfi(by=DATA.index == 5); at least 2 evaluation rows
not a query; pfi(rows='sex = f'); query
numbers; pfi(rows='a'); boolean per row
positions; pfi(rows=[1, 2, 3]); one value per row
none; pfi(rows='a > 99'); keeps none
other index; pfi(rows=(DATA['a'] > 0).iloc[::-1]); same index
both estimands; importance(by='sex'); several estimands
no groups; pfi().differences(); have none
reference; pfi(by='sex').differences('x'); one of the groups
""", globals())  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_groups_are_refused_with_a_sentence(case):
    ask, words = WRONG[case]
    with pytest.raises((PyinterpError, TypeError), match=words):
        ask(_fit("corrected"))


def test_native_importance_has_no_subgroups():
    model = _model("linear", DATA)
    with pytest.raises(OptionError, match="whatever the evaluation rows"):
        model.native_importance("raw", by=DATA["sex"])


def test_subset_is_the_same_as_filtered_data():
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    part = pi.Learner.from_formula("y ~ a + b + c", DATA, tree, subset="sex == 'f'")
    alone = pi.Learner.from_formula("y ~ a + b + c", DATA[FEMALE], tree)
    assert part.sample.nobs == FEMALE.sum()
    one, other = (k.fit(pi.Bootstrap(3), seed=4).pfi() for k in (part, alone))
    np.testing.assert_array_equal(one.params, other.params)
    assert one.row_frame().index.isin(DATA.index[FEMALE]).all()
    mask = pi.Learner(DATA["y"], DATA[["a", "b", "c"]], tree, subset=FEMALE)
    assert mask.sample.nobs == FEMALE.sum()
    with pytest.raises(OptionError, match="`subset`"):
        pi.Learner.from_formula("y ~ a", DATA, tree, subset="sex ==")


def test_tables_say_how_many_rows_the_groups_have():
    results = _fit("corrected")
    counts = f"Groups, rows: f: {FEMALE.sum()}, m: {(~FEMALE).sum()}"
    assert counts in " ".join(str(results.loss(by="sex").summary()).split())
    assert f"{FEMALE.sum()}, sex == 'f'" in str(results.loss(rows="sex == 'f'").summary())


def test_comparisons_take_subgroups_and_refuse_groups():
    one, two = _fit("corrected"), _fit("naive")
    difference = pi.compare(one.loss(rows=FEMALE), two.loss(rows=FEMALE))
    assert_allclose(difference.params, 0.0, atol=EXACT)
    with pytest.raises(PyinterpError, match="Results by groups"):
        pi.compare(one.loss(by="sex"), two.loss(by="sex"))
    with pytest.raises(PyinterpError, match="same resamples"):
        pi.compare(one.loss(rows=FEMALE), two.loss(rows=~FEMALE))


def test_fresh_draws_have_no_rows_that_data_name():
    plan = pi.FreshDraws(lambda rng: DATA.sample(60, random_state=int(rng.integers(999))), 3)
    results = pi.Learner.from_formula("y ~ a + b", DATA, LinearRegression()).fit(plan, seed=1)
    with pytest.raises(OptionError, match="rows of its own"):
        results.loss(by="sex")
    with pytest.raises(OptionError, match="subsets are of the data at hand"):
        pi.Learner.from_formula("y ~ a", DATA, LinearRegression(), subset="a > 0").fit(plan)


def test_that_all_groups_are_equal_is_a_joint_test_of_their_differences():
    _, frame = normal_rows(120, "x z y", 3)
    frame["y"] += frame["x"]
    frame["g"] = np.repeat(["a", "b"], 60)
    learner = pi.Learner.from_formula("y ~ x + z", frame, LinearRegression())
    pfi = learner.fit(pi.HalfSampling(5, pairs=8), seed=1).pfi(by="g")
    assert pfi.exog_names == ["x | a", "z | a", "x | b", "z | b"]
    joint = pfi.wald_test([[1.0, 0, -1, 0], [0, 1, 0, -1]])
    assert pfi.equality_test().fvalue == pytest.approx(joint.fvalue, rel=1e-9)
    assert joint.df_num == len(pfi.differences().effect) == 2


@pytest.mark.parametrize("kind", ["frequency", "sampling"])
def test_weights_hold_within_groups_and_rows(kind):
    """A weight of 3 is three rows: in all numbers, or for sampling weights in the estimates."""
    rng, frame = normal_rows(80, "x y")
    frame["y"] += frame["x"]
    frame["g"] = rng.choice(["a", "b"], 80)
    frame["w"] = rng.integers(1, 4, 80)
    repeated = frame.loc[frame.index.repeat(frame["w"])]
    weighted = pi.Learner.from_formula(
        "y ~ x", frame, LinearRegression(), weights="w", weights_type=kind, subset="x > -1"
    ).fit_model(seed=1)
    plain = pi.Learner.from_formula("y ~ x", repeated, LinearRegression(), subset="x > -1")
    plain = plain.fit_model(seed=1)
    options = [
        ({"by": frame["g"]}, {"by": repeated["g"]}),
        ({"rows": frame["x"] > 0}, {"rows": repeated["x"] > 0}),
        ({"rows": "x > 0 and g == 'a'"}, {"rows": "x > 0 and g == 'a'"}),
    ]
    for here, there in options:
        for ask in (lambda res, o: res.pd("x", grid=[0.0, 1.0], **o), lambda res, o: res.loss(**o)):
            one, two = ask(weighted, here), ask(plain, there)
            pd.testing.assert_series_equal(one.params, two.params, rtol=1e-12)
            if kind == "frequency":
                pd.testing.assert_series_equal(one.bse, two.bse, rtol=1e-12)
