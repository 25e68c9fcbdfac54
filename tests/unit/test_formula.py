"""The formula language: what it expands to, which variables it uses, what it refuses."""

import _thread
import time
from functools import partial

import numpy as np
import pandas as pd
import patsy
import pytest
import statsmodels.api as sm
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.data.formula import parse
from pyinterp.errors import FormulaError

COLUMNS = ["y", "x", "z", "g"]


LINEAR = LinearRegression()


def learner(formula, data, estimator=LINEAR, **options):
    return pi.Learner.from_formula(formula, data, estimator, **options)


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("y ~ .", "x + z + g"),
        ("y ~ . - x", "z + g"),
        ("y ~ .-x", "z + g"),
        ("y ~ . + I(x**2)", "x + z + g + I(x**2)"),
        ("y ~ (x + z)^2", "x + z + x:z"),
        ("y ~ .^2", "x + z + g + x:z + x:g + z:g"),
        ("y ~ .*g", "x + z + g + x:g + z:g"),
        ("y ~ x*z", "x + z + x:z"),
        ("y ~ x:z", "x:z"),
        ("y ~ x/g", "x + x:g"),
        ("y ~ np.log(z) + C(g, Sum)", "np.log(z) + C(g, Sum)"),
        ("y ~ z.clip(1.5, 2.5)", "z.clip(1.5, 2.5)"),
        ("y ~ x +\n       z +\n    g", "x + z + g"),
        ("np.log(y) ~ .", "x + z + g"),
    ],
)
def test_terms_are_those_of_the_written_out_formula(formula, terms):
    found = parse(formula, COLUMNS)[1]
    expected = patsy.ModelDesc.from_formula(terms).rhs_termlist[1:]
    assert found.intercept
    assert {frozenset(f.code.replace(" ", "") for f in p) for p in found.products} == {
        frozenset(f.code.replace(" ", "") for f in term.factors) for term in expected
    }


def test_dot_leaves_out_what_the_response_uses():
    found = parse("y + x ~ .", COLUMNS)[1].products
    assert [[f.column for f in product] for product in found] == [["z"], ["g"]]
    assert parse("C(g) ~ .", COLUMNS)[0].code == "C(g)"


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ xx", r"Can't find variable `xx`.*variables are y, x, z, g\. Did you mean `x`\?"),
        ("yy ~ x", r"Can't find variable `yy`.*Did you mean `y`\?"),
        ('y ~ Q("gg")', r"Can't find variable `gg`.*Did you mean `g`\?"),
        ("y ~ x + scalar", r"Can't find variable `scalar`"),
        ("y ~ log(x)", r"Can't find `log` of `log\(x\)`.*Did you mean `np\.log`\?"),
        ("y ~ I(x^2)", r"the power is Python's `\*\*`, as in `I\(x\*\*2\)`"),
        ("y ~ x +", r"Can't read `x \+` as formula code"),
        ("y ~ (x", r"Can't read `\(x`.*brackets or quotes do not match"),
        ("y x", r'has the form "response ~ terms"; got \'y x\'.*"y ~ \."'),
        ("y ~ x ~ z", r'has the form "response ~ terms"'),
    ],
)
def test_a_formula_that_cannot_be_read_is_a_clear_error(formula, message):
    with pytest.raises(FormulaError, match=message):
        parse(formula, COLUMNS, {"np": np, "scalar": 2})


ODD = [*COLUMNS, "odd name", "a.b", "class", "0", "R&D"]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (None, r"must be a string such as \"y ~ x\", not"),
        (
            "y ~ odd name",
            r"Can't find variable `odd`.*Write the column `odd name` as Q\('odd name'\)",
        ),
        ("y ~ `odd name`", r"Write the column `odd name` as Q\('odd name'\)"),
        ("y ~ R&D", r"Write the column `R&D` as Q\('R&D'\)"),
        ("y ~ x + class", r"Write the column `class` as Q\('class'\)"),
        ("y ~ a.b", r"`a\.b` is a column; write it as Q\('a\.b'\)"),
        ("odd name ~ x", r"`odd name` is not a Python name; write it as Q\('odd name'\)"),
    ],
)
def test_unquoted_odd_names_are_told_how_to_be_quoted(formula, message):
    with pytest.raises(FormulaError, match=message):
        parse(formula, ODD)


@pytest.mark.parametrize(
    ("column", "formula"),
    [
        ("C", "y ~ C(g)"),
        ("I", "y ~ I(x**2)"),
        ("np", "y ~ np.log(z)"),
        ("Q", 'y ~ np.log(Q("odd name"))'),
    ],
)
def test_a_column_that_hides_a_function_is_an_error(column, formula):
    columns = [*COLUMNS, "odd name", column]
    with pytest.raises(
        FormulaError, match=f"`{column}` is a column of the data.*rename the column"
    ):
        parse(formula, columns, {"np": np})


@pytest.mark.parametrize(
    "column",
    ["C", "Q", "np", "Intercept", "class", "odd name", "a.b", "1x", "it's", 'say "hi"', ""],
)
def test_dot_takes_columns_of_any_name(data, column):
    renamed = data.rename(columns={"z": column})
    model = learner("y ~ .", renamed)
    assert list(model.features) == ["x", column, "g"]
    plain = learner("y ~ .", data).fit(pi.Bootstrap(3), seed=1).pfi()
    found = model.fit(pi.Bootstrap(3), seed=1).pfi()
    assert_array_equal(found.params, plain.params)


@pytest.mark.parametrize(
    "formula", ["y ~ Intercept + x", "y ~ x + Intercept:x", "y ~ I(Intercept)"]
)
def test_a_column_called_intercept_is_not_the_column_of_ones(data, formula):
    named = data.rename(columns={"z": "Intercept"})
    assert "Intercept" in learner(formula, named).features
    with_ones = learner(formula, named, pi.statsmodels_learner(sm.OLS))
    assert with_ones.exog_names[0] == "Intercept"
    ones = with_ones.design.encode(with_ones.sample.variables)[:, 0]
    assert_array_equal(ones, 1.0)


def test_names_of_the_caller_work_inside_calls_only(data):
    power, double = 3, lambda v: 2 * v
    model = pi.Learner.from_formula("y ~ I(x**power) + double(z)", data, LinearRegression())
    encoded = model.design.encode(model.sample.variables)
    np.testing.assert_allclose(encoded, np.column_stack([data.x**power, double(data.z)]))
    with pytest.raises(FormulaError, match="Can't find variable `power`"):
        pi.Learner.from_formula("y ~ x + power", data, LinearRegression())


def test_a_formula_is_read_where_no_code_of_python_calls(data):
    # All that this thread runs besides is C: there is no frame to look for names in, as from R.
    made = []
    read = partial(pi.Learner.from_formula, "y ~ x + I(z**2)", estimator=LinearRegression())
    _thread.start_new_thread(made.extend, (map(read, [data]),))
    for _ in range(600):
        if made:
            break
        time.sleep(0.1)
    assert list(made[0].features) == ["x", "z"]


@pytest.mark.parametrize(
    ("formula", "values", "name"),
    [
        ("np.exp(y) ~ x", np.exp, "np.exp(y)"),
        ("I(2*y) ~ x", lambda y: 2 * y, "I(2*y)"),
        ("y.clip(0) ~ x", lambda y: y.clip(0), "y.clip(0)"),
        ("Q('y') ~ x", lambda y: y, "y"),
    ],
)
def test_the_response_may_be_transformed(data, formula, values, name):
    model = learner(formula, data)
    assert_array_equal(model.sample.y, values(data.y))
    assert model.endog_names == name
    assert list(model.features) == ["x"]


@pytest.mark.parametrize(
    ("response", "classes"),
    [("C(g)", "abc"), ("g", "abc"), ("C(g, levels=['c', 'b', 'a'])", "cba")],
)
def test_a_categorical_response_becomes_classes(data, response, classes):
    """Levels keep the order that they are given."""
    model = learner(f"{response} ~ x + z", data, LogisticRegression())
    assert model.sample.response.classes == tuple(classes)
    assert_array_equal(model.sample.y, data.g.map(classes.index))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ 1", "at least one variable on its right side"),
        ("y ~ x + y", "`y` can't be on the right side too"),
        ("y, z ~ x", r"must be one column.*shape \(2, 60\)"),
        ("y.nonsense() ~ x", "Can't evaluate the response `y.nonsense\\(\\)`"),
        ("y ~ x + 5", "`5` is not a variable"),
        ("y ~ z.nonsense()", "Can't build the terms"),
    ],
)
def test_a_formula_that_does_not_fit_the_data_is_a_clear_error(data, formula, message):
    with pytest.raises(FormulaError, match=message):
        learner(formula, data)


@pytest.mark.parametrize("formula", ["y ~ x - 1", "y ~ 0 + x", "y ~ -1 + x + g"])
def test_no_intercept_needs_a_learner_without_one(data, formula):
    with pytest.raises(FormulaError, match=r"no intercept, but LinearRegression fits one.*- 1"):
        learner(formula, data)
    for estimator in (*WITHOUT_INTERCEPT, DecisionTreeRegressor()):
        assert "Intercept" not in learner(formula, data, estimator).exog_names


WITHOUT_INTERCEPT = (LinearRegression(fit_intercept=False), pi.statsmodels_learner(sm.OLS))


def test_the_intercept_goes_to_learners_that_fit_none(data):
    for estimator in (LINEAR, DecisionTreeRegressor()):
        assert learner("y ~ x + z", data, estimator).exog_names == ["x", "z"]
    for estimator in WITHOUT_INTERCEPT:
        assert learner("y ~ x + z", data, estimator).exog_names == ["Intercept", "x", "z"]


def test_without_intercept_the_first_factor_keeps_all_levels(data):
    model = learner("y ~ g - 1", data, LinearRegression(fit_intercept=False))
    assert model.exog_names == ["g[a]", "g[b]", "g[c]"]


def test_frame_design_only_selects(data):
    odd = data.rename(columns={"z": "odd name"})
    assert learner("y ~ . - g", odd, design="frame").exog_names == ["x", "odd name"]
    for formula, term in [
        ("y ~ x*Q('odd name')", "x:Q('odd name')"),
        ("y ~ x + I(x**2)", "I(x**2)"),
        ("y ~ x + np.log(x)", "np.log(x)"),
    ]:
        with pytest.raises(FormulaError) as caught:
            learner(formula, odd, design="frame")
        assert f"`{term}` is not a variable" in str(caught.value)


@pytest.mark.parametrize("name", ["C", "Q", "I", "bs", "center", "scale", "te", "np"])
@pytest.mark.parametrize("value", [1.0, "text", None, np.arange(60.0)])
def test_variables_of_the_caller_do_not_hide_functions(data, name, value):
    code = {
        "C": "C(g)", "Q": "np.log(Q('z'))", "I": "I(z**2)", "bs": "bs(z, df=4)", "np": "np.log(z)",
        "center": "center(z)", "scale": "scale(z)", "te": "te(cr(z, df=3), cr(x, df=3))",
    }[name]  # fmt: skip
    expected = learner(f"y ~ {code}", data).design.encode(data)
    made = {name: value, "pi": pi, "data": data, "LINEAR": LINEAR}
    exec(f'm = pi.Learner.from_formula("y ~ {code}", data, LINEAR)', made)  # noqa: S102 - a namespace of its own
    assert_array_equal(made["m"].design.encode(data), expected)
    if name in ("I", "np", "Q"):
        exec(f'm = pi.Learner.from_formula("{code} + y ~ x", data, LINEAR)', made)  # noqa: S102 - likewise


@pytest.mark.parametrize(
    "code", ["scale(z)", "I(z)", "C(g)", "C(g, Sum)", "np.log(z)", "I(np.pi*z)"]
)
def test_a_function_of_the_caller_that_could_be_meant_is_an_error(data, code):
    scale = I = C = Sum = np = lambda *values: values[0]  # noqa: E741, F841 - looked up
    for formula in (f"y ~ {code}", f"{code} ~ x"):
        with pytest.raises(FormulaError, match="could mean the function of formulas or that of"):
            pi.Learner.from_formula(formula, data, LINEAR)


def test_a_function_of_the_language_is_no_value(data):
    C = 2.0  # noqa: F841 - would be looked up by the formula
    with pytest.raises(FormulaError, match="`C` is a function of formulas and no value"):
        pi.Learner.from_formula("y ~ I(x**C)", data, LINEAR)


# U+00B5 (micro) is U+03BC (mu) in Python's normal form NFKC, and the ligature is two letters.
@pytest.mark.parametrize("name", ["\u00b5g", "\ufb01t", "\u1d62", "x\u0301", "e\u0301te"])
@pytest.mark.parametrize("code", ["{}", ".", "np.exp({})", "Q('{}')", "np.exp(Q('{}'))", "{}:x"])
def test_names_that_python_normalizes_are_columns(data, name, code):
    plain = code.replace("{}", "z")
    expected = learner(f"y ~ {plain}", data).design.encode(data)
    named = data.rename(columns={"z": name})
    model = learner(f"y ~ {code.replace('{}', name)}", named)
    assert name in model.features
    assert_array_equal(model.design.encode(named), expected)
    for response in (f"{name} ~ x", f"np.log({name}) ~ x", f"Q('{name}') ~ x"):
        assert learner(response, named).sample.nobs == 60


def test_the_name_as_written_comes_before_its_normal_form(data):
    both = data.rename(columns={"z": "\u00b5", "x": "\u03bc"})
    for name, column in [("\u00b5", data.z), ("\u03bc", data.x)]:
        for code in (name, f"I({name}*1)"):
            assert_array_equal(learner(f"y ~ {code}", both).design.encode(both)[:, 0], column)
    only = data.rename(columns={"z": "\u00b5"})
    assert list(learner("y ~ \u03bc", only).features) == ["\u00b5"]


def test_a_tilde_in_a_name_does_not_split_the_formula(data):
    named = data.rename(columns={"z": "a ~ b"})
    assert list(learner("y ~ Q('a ~ b') + x", named).features) == ["x", "a ~ b"]


def test_spelling_does_not_make_another_term(data):
    model = learner("y ~ I(x**2) + I( x ** 2 ) + z + Q('z') + C(g) - C( g )", data)
    assert model.exog_names == ["I(x ** 2)", "z"]


WIDTH = 2000


# One that names no column and one that names them all; `make torture` has the others.
MANY_TERMS = [
    ".",
    "sum - v0",
    *(pytest.param(t, marks=pytest.mark.torture) for t in ("sum", "(sum)", ". - v1 - v2")),
]


@pytest.mark.parametrize("terms", MANY_TERMS)
def test_thousands_of_columns_are_no_recursion(terms):
    names = [f"v{i}" for i in range(WIDTH)]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(12, WIDTH)), columns=names)
    formula = f"y ~ {terms.replace('sum', ' + '.join(names))}"
    model = learner(formula, frame.assign(y=range(12)))
    design, rows = model.design, model.sample
    assert len(model.features) == WIDTH - terms.count("- v")
    assert model.exog_names == list(model.features)
    for name in list(model.features)[:20]:
        design.driven([name])
        design.swap(rows, [name], rows.variables[[name]])
    reduced = design.without([names[-1]])
    assert reduced is not None
    assert reduced.columns == design.columns[:-1]
    assert_array_equal(reduced.rows_of(rows), design.rows_of(rows)[:, :-1])


def test_products_of_thousands_of_columns_are_refused():
    columns = [f"v{i}" for i in range(600)]
    with pytest.raises(FormulaError, match=r"multiply 599 by 599 terms, and at most 250,000"):
        parse("v0 ~ .^2", columns)
    assert len(parse("v0 ~ (v1 + v2 + v3)^100", columns)[1].products) == 7
