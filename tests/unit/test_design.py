"""Designs: what-if copies equal re-encoding, and learned state comes from the right rows."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import patsy
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.data.design import ArrayDesign, FormulaDesign, FrameDesign
from pyinterp.data.formula import names_in, parse
from pyinterp.data.sample import Sample
from pyinterp.errors import DesignError, FormulaError, RefitError

# Both sides evaluate the same patsy code on the same values: equal but for the last bits of BLAS.
SAME = 1e-12

ENV = {"np": np}
LINEAR, PLAN = LinearRegression(), pi.CrossValidation(3)


def formula_design(terms, frame, *, intercept=False):
    _, parsed = parse(f"response ~ {terms}", [*frame.columns, "response"], ENV)
    return FormulaDesign(parsed, frame, ENV, intercept=intercept)


def sample_of(frame):
    return Sample(variables=frame, y=None, response=None, rows=np.arange(len(frame)))


TERMS = [
    "x + z + g + h + b + k",
    "x*z",
    "x:g + z",
    "g*h",
    "g:h:b",
    "x*g*b",
    "I(x**2) + x:z + C(g, Sum)",
    "bs(x, df=4) + z:g",
    "bs(x, df=4):g + cr(z, df=3)",
    "te(cr(x, df=3), cr(z, df=3)) + h",
    "standardize(x)*center(z) + C(k)",
    "C(k):x + np.log(z + 5) + g",
    "x:z + g:h - 1",
    "0 + g + C(k):b + x",
    "x + x:z + x:z:g + z",
    "b + h:b",
]


SMALL = pd.DataFrame({"x": np.arange(9.0), "z": np.arange(9.0) ** 2, "g": list("abcabcabc")})


@st.composite
def frames(draw):
    """12-30 rows of numbers, strings, a category with an unused level, booleans and integers."""
    n = draw(st.integers(12, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))

    def levels(values):
        return rng.permutation(np.resize(np.array(values), n))  # every level occurs

    return pd.DataFrame(
        {
            "x": rng.normal(size=n).round(draw(st.integers(1, 3))),
            "z": rng.uniform(-2, 2, size=n),
            "g": levels(["a", "b", "c"]),
            "h": pd.Categorical(levels(["low", "high"]), categories=["low", "mid", "high"]),
            "b": levels([True, False]),
            "k": levels([1, 2, 5]),
        }
    )


def values_of(matrix):
    return matrix.to_numpy() if isinstance(matrix, pd.DataFrame) else matrix


def assert_swap_re_encodes(design, frame, names, seed):
    rng = np.random.default_rng(seed)
    rows, donors = rng.integers(len(frame), size=(2, 25))
    source = frame.sample(frac=1, random_state=seed).reset_index(drop=True)
    replaced = frame.take(rows).reset_index(drop=True)
    for name in names:
        replaced[name] = source[name].take(donors).array
    found = design.swap(sample_of(frame), names, source).matrix(rows, donors)
    expected = design.encode(replaced)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    else:
        assert_allclose(found, expected, atol=SAME, rtol=SAME)


@pytest.mark.parametrize("terms", TERMS)
@settings(max_examples=8, deadline=None, derandomize=True)
@given(frame=frames(), seed=st.integers(0, 999), data=st.data())
def test_formula_swap_equals_encoding_the_replaced_frame(terms, frame, seed, data):
    design = formula_design(terms, frame, intercept=data.draw(st.booleans()))
    for name in design.variables:
        assert_swap_re_encodes(design, frame, [name], seed)
    group = data.draw(st.lists(st.sampled_from(design.variables), min_size=2, unique=True))
    assert_swap_re_encodes(design, frame, group, seed)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(frame=frames(), seed=st.integers(0, 999))
def test_frame_and_array_swap_equal_encoding_the_replaced_frame(frame, seed):
    as_frame = FrameDesign(list(frame.columns))
    as_array = ArrayDesign(["x", "z", "b", "k"])
    for design in (as_frame, as_array):
        for name in design.variables:
            assert_swap_re_encodes(design, frame, [name], seed)
    assert_swap_re_encodes(as_frame, frame, ["h", "x", "g"], seed)
    assert_swap_re_encodes(as_array, frame, ["k", "x"], seed)


@pytest.mark.parametrize("terms", TERMS)
@settings(max_examples=6, deadline=None, derandomize=True)
@given(frame=frames(), seed=st.integers(0, 999))
def test_driven_columns_are_those_that_can_change(terms, frame, seed):
    design = formula_design(terms, frame, intercept=True)
    base = design.encode(frame)
    for name in design.variables:
        other = frame.assign(**{name: frame[name].sample(frac=1, random_state=seed).array})
        changed = np.flatnonzero((design.encode(other) != base).any(axis=0))
        assert set(changed) <= set(design.driven([name]))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(frame=frames(), data=st.data())
def test_without_is_the_design_of_the_other_terms(frame, data):
    """Whether codes are kept or learned anew: both give what the shorter formula gives."""
    parts = [*"xzghbk", "x:g", "x:h", "g:h", "x:z", "C(k)", "bs(x, df=4)", "b:g:x"]
    chosen = data.draw(st.lists(st.sampled_from(parts), min_size=2, unique=True))
    start = data.draw(st.sampled_from(["1", "0"]))
    gone = data.draw(st.sampled_from("xzghbk"))
    kept = [part for part in chosen if gone not in names_in(part, frame.columns)]
    intercept = data.draw(st.booleans())
    whole = formula_design(" + ".join([start, *chosen]), frame, intercept=intercept)
    found = whole.without([gone])
    if not kept:
        assert found is None or found.columns == ("Intercept",)
        return
    expected = formula_design(" + ".join([start, *kept]), frame, intercept=intercept)
    assert found is not None
    assert set(found.columns) == set(expected.columns)
    order = [found.columns.index(c) for c in expected.columns]
    assert_array_equal(found.encode(frame)[:, order], expected.encode(frame))
    assert found.variables == expected.variables
    assert found.discrete == expected.discrete
    for name in found.variables:
        positions = [order.index(j) for j in found.driven([name])]
        assert sorted(positions) == sorted(expected.driven([name]))


def test_without_all_variables_nothing_is_left_but_an_intercept():
    for terms, gone, intercept in (
        ("x + g", ["x", "g"], False),
        ("g + g:x", ["g"], False),
        ("0 + x", ["x"], True),
    ):
        assert formula_design(terms, SMALL, intercept=intercept).without(gone) is None
    constant = formula_design("x*g", SMALL, intercept=True).without(["x", "g"])
    assert constant.columns == ("Intercept",)
    assert_array_equal(constant.encode(SMALL[:4]), np.ones((4, 1)))
    for kind in (FrameDesign, ArrayDesign):
        left = kind(["x", "z"]).without(["x"])
        assert left.columns == ("z",)
        assert_array_equal(values_of(left.encode(SMALL)), SMALL[["z"]])
        assert kind(["x", "z"]).without(["z", "x"]) is None


def test_a_factor_with_one_level_has_no_columns():
    frame = SMALL.assign(g="a")
    design = formula_design("x + g", frame)
    assert design.columns == ("x",)
    assert len(design.driven(["g"])) == 0
    assert_swap_re_encodes(design, frame, ["g"], 0)


def test_rows_that_cannot_be_encoded_are_a_clear_error():
    design = formula_design("bs(x, df=4) + g", SMALL)
    with pytest.raises(DesignError, match=r"levels and knots.*outside the outermost knots"):
        design.encode(SMALL.assign(x=99.0))
    for encode in (design.encode, design.categories):
        with pytest.raises(DesignError, match=r"levels and knots.*'d'"):
            encode(SMALL.assign(g="d"))


@pytest.mark.parametrize("formula", ["y ~ np.log(x)", "y ~ np.sqrt(x) + z", "y ~ I(1/(z - z))"])
def test_a_transformation_with_no_finite_value_is_an_error_before_any_fit(data, formula):
    with pytest.raises(DesignError, match=r"column must be finite, but `.*` is not in \d+ of 60"):
        pi.Learner.from_formula(formula, data, LinearRegression())


@pytest.mark.parametrize("formula", ["y ~ np.append(x, 1)", "y ~ np.unique(x // 1)"])
def test_a_term_with_the_wrong_number_of_rows_is_an_error(data, formula):
    with pytest.raises((DesignError, FormulaError), match="Number of rows mismatch"):
        pi.Learner.from_formula(formula, data, LinearRegression())


def fit_of(data, formula, estimator=LINEAR, plan=PLAN, **options):
    return pi.Learner.from_formula(formula, data, estimator, **options).fit(plan, seed=1)


STATE = "y ~ standardize(x) + center(z) + bs(z, df=4, degree=2) + g"


def test_state_comes_from_all_rows(data):
    results = fit_of(data, STATE, plan=pi.Bootstrap(3))
    everything = patsy.dmatrix(STATE.partition("~")[2], data, return_type="dataframe")
    for refit in results.refits:
        found = pd.DataFrame(
            refit.design.encode(refit.evaluation.variables), columns=refit.design.columns
        )
        expected = everything.iloc[refit.evaluation.rows][list(refit.design.columns)]
        assert_allclose(found, expected, atol=SAME)


def test_state_comes_from_training_rows_if_it_is_learned_per_refit(data):
    formula = "y ~ standardize(x) + center(z) + g"
    for refit in fit_of(data, formula, plan=pi.Bootstrap(4), design_state="refit").refits:
        train = data.iloc[refit.train_rows]
        rows = refit.evaluation.variables
        encoded = pd.DataFrame(refit.design.encode(rows), columns=refit.design.columns)
        mean, sd = train.x.mean(), train.x.std(ddof=0)
        assert_allclose(encoded["standardize(x)"], (rows.x - mean) / sd, atol=SAME)
        assert_allclose(encoded["center(z)"], rows.z - train.z.mean(), atol=SAME)


def test_rows_outside_the_training_rows_knots_are_an_error_that_names_the_refit(data):
    assert len(fit_of(data, "y ~ bs(x, df=4)").refits) == 3
    with pytest.raises(RefitError, match=r"Refit \d of 3 failed: DesignError: .*outermost knots"):
        fit_of(data, "y ~ bs(x, df=4)", design_state="refit")


def test_an_unseen_level_may_be_taken_for_the_reference_level(data):
    data = data.assign(g=["rare", *data.g[1:]])
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    results = fit_of(data, "y ~ x + g", tree, unseen_levels="allow")
    assert np.isfinite(results.pfi().params).all()
    with_rare = next(r for r in results.refits if 0 in r.evaluation.rows)
    encoded = with_rare.design.encode(with_rare.evaluation.variables.iloc[:1])
    reference = with_rare.evaluation.variables.iloc[:1].assign(g="a")
    assert_array_equal(
        with_rare.predictor(encoded), with_rare.predictor(with_rare.design.encode(reference))
    )


@pytest.mark.parametrize("terms", ["x + z", "0 + z + x", "z + x:z", "x + I(z)", "x + g", "x + b"])
@pytest.mark.parametrize("intercept", [True, False])
def test_columns_are_those_of_patsy(terms, intercept):
    """Plain numeric columns are copied without asking patsy."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=30), "z": rng.integers(9, size=30)})
    frame = frame.assign(g=rng.permutation(["a", "b", "c"] * 10), b=frame["x"] > 0)
    design = formula_design(terms, frame, intercept=intercept)
    expected = patsy.dmatrix(terms, frame, return_type="dataframe")
    if not intercept and "Intercept" in expected:
        expected = expected.drop(columns="Intercept")
    assert design.columns == tuple(expected.columns)
    assert_array_equal(design.encode(frame), expected.to_numpy())
