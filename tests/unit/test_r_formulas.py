"""A formula means what it means in R, or nothing: designs equal R's, and the rest is refused."""

import re

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import FormulaError

DECIMALS = 1e-8  # R printed ten digits

# d in R: the same columns, k by as.integer, g and h by factor.
DATA = pd.DataFrame(
    {
        "y": [2.1, 3.4, 1.2, 5.6, 4.4, 2.2, 6.1, 3.3, 5.2, 2.8, 4.9, 3.7],
        "x": [0.5, 1.5, 2.25, 3.1, 4.4, 5.2, 6.3, 7.7, 8.1, 9.9, 10.2, 11.6],
        "z": [3.2, 1.1, 2.7, 4.5, 0.9, 6.6, 2.1, 5.8, 3.9, 1.7, 4.2, 7.3],
        "k": np.array([100, 3, 120, 7, 90, 11, 127, 5, 60, 2, 80, 1], np.int8),
        "g": list("abcabcabcbac"),
        "h": list("uvvuvuuvvuuv"),
        "b": np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1], bool),
    }
)
WEIGHTS = np.array([1, 4, 9, 2, 8, 5, 7, 3, 6, 11, 10, 13])

# w <- c(1, 4, 9, 2, 8, 5, 7, 3, 6, 11, 10, 13); mf <- model.frame(formula, d)
# sort(colSums(model.matrix(attr(mf, "terms"), mf) * w)); R 4.2.2, splines 4.2.2.
# Behind "|": what R is given where its code is not ours.
OF_R = {
    "y ~ x + z": [79, 292.2, 571.65],
    "y ~ .": [26, 33, 43, 49, 79, 292.2, 571.65, 4080],
    "y ~ . - x": [26, 33, 43, 49, 79, 292.2, 4080],
    "y ~ 0 + x + g": [20, 26, 33, 571.65],
    "y ~ x + g - 1": [20, 26, 33, 571.65],
    "y ~ g + 0": [20, 26, 33],
    "y ~ x + -1": [571.65],
    "y ~ 0 + x + 1": [79, 571.65],
    "y ~ x - 0": [79, 571.65],
    "y ~ x*z": [79, 292.2, 571.65, 2424.555],
    "y ~ x:z": [79, 2424.555],
    "y ~ x*g": [26, 33, 79, 173.2, 245.65, 571.65],
    "y ~ x/z": [79, 571.65, 2424.555],
    "y ~ g/x": [26, 33, 79, 152.8, 173.2, 245.65],
    "y ~ (x + z)/k": [79, 292.2, 571.65, 71221.77],
    "y ~ x/(z + k)": [79, 571.65, 2424.555, 23156.2],
    "y ~ x:z + g": [26, 33, 79, 2424.555],
    "y ~ (x + z + k)^2": [79, 292.2, 571.65, 2424.555, 4080, 11173.4, 23156.2],
    "y ~ (x + z + k)**2 - x:z": [79, 292.2, 571.65, 4080, 11173.4, 23156.2],
    "y ~ x*z:k": [79, 571.65, 11173.4, 71221.77],
    "y ~ x:z*k": [79, 2424.555, 4080, 71221.77],
    "y ~ b": [49, 79],
    "y ~ 0 + b": [30, 49],
    "y ~ x:g": [79, 152.8, 173.2, 245.65],
    "y ~ 0 + g + h": [20, 26, 33, 43],
    "y ~ (x + z):(z + k)": [79, 292.2, 2424.555, 11173.4, 23156.2],
    "y ~ scale(x) + scale(k)": [1.786286129, 28.90024126, 79],
    "y ~ bs(x, df=4) + z": [15.90887656, 15.92826167, 19.14062676, 21.83456803, 79, 292.2],
    "y ~ bs(x, 4):z": [42.80216359, 50.87130334, 62.23812863, 79, 122.2363724],
    "np.log(y) ~ .|log(y) ~ .": [26, 33, 43, 49, 79, 292.2, 571.65, 4080],
    "y + z ~ .": [26, 33, 43, 49, 79, 571.65, 4080],
    "y ~ x + z - z": [79, 571.65],
    "y ~ x - x:z": [79, 571.65],
    "y ~ I(x**2) + I(k**2)|y ~ I(x^2) + I(k^2)": [79, 5081.2625, 403774],
    "y ~ I(k**5)|y ~ I(k^5)": [79, 549891035400.0],
    "y ~ I(k + k)": [79, 8160],
    "y ~ I(b + b)": [79, 98],
    "y ~ I((x > 2) + (z > 2))": [79, 130],
    "y ~ I(-k)": [-4080, 79],
    "y ~ np.log(k) + np.sqrt(k)|y ~ log(k) + sqrt(k)": [79, 218.7153951, 463.3566201],
    "y ~ I(x == 1.5)": [4, 79],
    "y ~ I(x % 2) + I(k // 7)|y ~ I(x %% 2) + I(k %/% 7)": [71.65, 79, 554],
    "y ~ I(b * x)": [79, 379.35],
    "y ~ I(k * 1000 * k * 1000 * k * 1000)": [79, 4.3146606e16],
    "y ~ I(1 / k)": [21.62760007, 79],
    "y ~ x * I(k - 128)": [-50015, -6032, 79, 571.65],
}


def learner(formula, data=DATA, estimator=None):
    return pi.Learner.from_formula(formula, data, estimator or LinearRegression())


def design_of(formula):
    """With a column for the intercept, which statsmodels is given."""
    made = learner(formula, estimator=pi.statsmodels_learner(sm.OLS))
    return made.design.encode(made.sample.variables)


@pytest.mark.parametrize("formula", OF_R)
def test_designs_are_those_of_r(formula):
    design = design_of(formula.partition("|")[0])
    assert_allclose(np.sort(WEIGHTS @ design), OF_R[formula], rtol=DECIMALS)


# eval(parse(text = response), d)
RESPONSES = {
    "y**2|y^2": [4.41, 11.56, 1.44, 31.36, 19.36, 4.84, 37.21, 10.89, 27.04, 7.84, 24.01, 13.69],
    "k * k": [10000, 9, 14400, 49, 8100, 121, 16129, 25, 3600, 4, 6400, 1],
    "np.log(k)|log(k)": [
        4.605170186, 1.098612289, 4.787491743, 1.945910149, 4.49980967, 2.397895273,
        4.844187086, 1.609437912, 4.094344562, 0.6931471806, 4.382026635, 0,
    ],
    "b + b": [2, 0, 2, 2, 0, 0, 2, 0, 2, 2, 0, 2],
    "-k": [-100, -3, -120, -7, -90, -11, -127, -5, -60, -2, -80, -1],
}  # fmt: skip


@pytest.mark.parametrize("response", RESPONSES)
def test_responses_are_those_of_r(response):
    found = learner(f"{response.partition('|')[0]} ~ z").sample.y
    assert_allclose(found, RESPONSES[response], rtol=DECIMALS)


# In R: qr(model.matrix(formula, d))$rank; sum(resid(lm(formula, d))^2)
FITS = {
    "y ~ g*h": (5, 18.474167),
    "y ~ g:h": (5, 18.474167),
    "y ~ x:g": (4, 16.513656),
    "y ~ g:x + h:x": (5, 14.342043),
    "y ~ z + x:g + x:h": (6, 12.984888),
    "y ~ x:z:g + g": (6, 16.487649),
    "y ~ x:g + x:g:h": (6, 14.127112),
    "y ~ b:x + z:b": (5, 19.564471),
    "y ~ g + x:h + z:h": (7, 9.2612567),
    "y ~ g:h:x": (6, 14.127112),
}


@pytest.mark.parametrize("formula", FITS)
def test_fits_are_those_of_r_where_its_columns_depend_on_each_other(formula):
    rank, squares = FITS[formula]
    design = design_of(formula)
    fitted = design @ np.linalg.lstsq(design, DATA["y"])[0]
    assert np.linalg.matrix_rank(design) == rank
    assert_allclose(np.square(DATA["y"] - fitted).sum(), squares, rtol=1e-7)


@pytest.mark.parametrize("formula", ["y ~ x:g + g:h", "y ~ 0 + x:g + g:h", "y ~ x:z:g + x:g:h"])
def test_terms_that_r_codes_as_if_a_margin_were_there_are_refused(formula):
    """R leaves out columns of `g:h` because `x:g` has `g`: rank 6 in place of 8."""
    with pytest.raises(FormulaError, match=r"R would leave out .*; add the term `"):
        design_of(formula)


CLUSTER = r'HalfSampling\(cluster="id"\)'
REFUSED = [
    # lme4, nlme, aov
    ("y ~ x + (1|id)", CLUSTER),
    ("y ~ x + (x || id)", CLUSTER),
    ("y ~ x + Error(g)", CLUSTER),
    ("y ~ x + cluster(g)", CLUSTER), ("y ~ x + strata(g)", r'Bootstrap\(15, strata="g"\)'),
    # offsets and responses
    ("y ~ x + offset(z)", "`offset=`"),
    ("cbind(x, y) ~ z", "a response is one column"), ("Surv(x, b) ~ z", "Survival"),
    ("y[0] ~ x", "can't be picked"), ("y:z ~ x", "Can't read `y:z`"),
    ("y | z ~ x", "logical_or"), ("y^2 ~ x", r"`\*\*`"), ("y %in% z ~ x", "np.isin"),
    ("d$y ~ x", "name the column itself"), ("1 ~ x", "must be a variable"),
    # smooth terms
    ("y ~ s(x)", r"bs\(x, df=4\)"), ("y ~ te(x, z)", r"te\(cr\(x, df=3\), cr\(z, df=3\)\)"),
    ("y ~ ns(x, df=3)", r"cr\(x, df=4\)"),
    ("y ~ poly(x, 2)", r"x \+ I\(x\*\*2\)"), ("y ~ rcs(x, 3)", r"cr\(x"),
    ("y ~ scale(x, center=False)", "standardize"), ("y ~ bs(x, df=4, intercept=TRUE)", "`True`"),
    # functions
    ("y ~ log(x)", r"np\.log"), ("y ~ factor(g)", r"C\(g\)"),
    ("y ~ ordered(g)", r"C\(g, Poly\)"),
    ("y ~ relevel(g, 'b')", "Treatment"), ("y ~ C(g, contr.sum)", "is `Sum`"),
    ("y ~ interaction(g, h)", "a:b"), ("y ~ c(x, z)", "write a list"),
    ("y ~ ifelse(x > 1, 1, 0)", r"np\.where"), ("y ~ cut(x, 3)", "pandas.cut"),
    ("y ~ np.log(x, z)", "takes 1 column"),
    # operators among terms
    ("y ~ x %in% g", "`a:b`"), ("y ~ x %% 2", "Python's `%`"), ("y ~ x %>% f", "R's packages"),
    ("y ~ x == 1", r"inside `I\(...\)`"), ("y ~ x + z > 1", r"inside `I\(...\)`"),
    ("y ~ x % 2", r"inside `I\(...\)`"),
    ("y ~ b & b", "logical_and"), ("y ~ !b", "logical_not"),
    ("y ~ x <- z", "an assignment"), ("y ~ d$x", "name the col"),
    ("y ~ x[1]", "can't be picked"),
    ("y ~ x, z", r"joined by `\+`"),
    ("y ~ `x`", r'Q\("name"\)'),
    # numbers, the intercept and powers
    ("y ~ TRUE", "is `True`"), ("y ~ x + NULL", "is `None`"), ("y ~ 1:3", "`0` and `1`"),
    ("y ~ 2*x", "`0` and `1`"), ("y ~ 'x'", "not a variable"),
    ("y ~ x^2", r"I\(x\*\*2\)"), ("y ~ x**2", r"I\(x\*\*2\)"),
    ("y ~ (x + z)^0", "whole number"), ("y ~ (x + z)^1.5", "whole number"),
    ("y ~ (x - 1) + z", "outside of brackets"), ("y ~ x*(z - 1)", "outside of brackets"),
    ("y ~ x*1", "`0` and `1`"),
    ("y ~ -x + z", "nothing stands before"),
    # inside calls
    ("y ~ I(x^2)", r"I\(x\*\*2\)"), ("y ~ I(b|b)", "logical_or"),
    ("y ~ I(x > 1 & z < 2)", "logical_and"),
    ("y ~ I(x %/% 2)", "Python's `//`"),
    ("y ~ I(x %in% z)", "np.isin"),
    ("y ~ I(1 < x < 3)", "logical_and"), ("y ~ I(not b)", "logical_not"),
    ("y ~ I(b and b)", "logical_and"),
    ("y ~ I(x[0])", "can't be picked"),
    ("y ~ I(x if b else z)", r"np\.where"), ("y ~ I(x in [1])", r"np\.isin"),
    ("y ~ I(x << 2)", "bits"), ("y ~ I(x == NA)", "np.nan"),
    ("y ~ Q(name)", r'Q\("x"\)'),
    # rows that depend on their neighbors
    ("y ~ I(x - np.mean(x))", r"center\(x\)"), ("y ~ x.rank()", "depend on that row alone"),
    ("y ~ np.cumsum(x)", "depend on that row alone"),
    ("y ~ I(x + OWN)", "depend on that row alone"), ("y ~ np.flip(x)", "that row alone.*flip"),
]  # fmt: skip
OWN = np.arange(12.0)  # the caller's: it does not move with the rows


@pytest.mark.parametrize(("formula", "message"), REFUSED)
@pytest.mark.parametrize("name", ["", "caller"])
def test_what_r_reads_otherwise_is_refused(formula, message, name):
    if name:  # variables of the caller do not make functions of R's known
        s = poly = offset = factor = 1.0  # noqa: F841 - looked up by the formula
    with pytest.raises(FormulaError, match=message) as caught:
        pi.Learner.from_formula(formula, DATA.assign(id=[1, 2, 3] * 4), LinearRegression())
    assert_short(str(caught.value))


def assert_short(message):
    """At most two sentences and 400 characters; code in quotes has no sentences."""
    bare = re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"", "q", message)
    assert len(message) <= 400
    assert len(re.findall(r"[.?!](?:\s|$)", bare)) <= 2, message


def test_a_function_of_the_caller_may_have_the_name_of_one_of_r():
    def offset(values):
        return values + 1

    read = pi.Learner.from_formula("y ~ offset(x)", DATA, LinearRegression())
    assert_array_equal(read.design.encode(DATA)[:, 0], DATA["x"] + 1)


@pytest.mark.parametrize("names", [["x", "x.clip"], ["x", "x.T"], ["x.y"]])
def test_a_column_with_a_dot_is_no_attribute_of_another(names):
    """R reads `x.T` as the column of that name, Python as an attribute of `x`."""
    frame = DATA[["y"]].assign(**{name: DATA["z"] + i for i, name in enumerate(names)})
    for code in (names[-1], f"np.log({names[-1]})"):
        with pytest.raises(FormulaError, match=rf"is a column; write it as Q\('{names[-1]}'\)"):
            learner(f"y ~ {code}", frame)
    quoted = learner(f"y ~ Q('{names[-1]}')", frame)
    assert list(quoted.features) == [names[-1]]


@pytest.mark.parametrize("formula", ["np.log(y) ~ y", "I(y - x) ~ x + y", "Q('y') ~ I(y**2)"])
def test_a_response_does_not_predict_itself(formula):
    with pytest.raises(FormulaError, match="it would predict itself"):
        learner(formula)
    assert list(learner("I(y - x) ~ x").features) == ["x"]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "float32", "bool"])
@pytest.mark.parametrize(
    "code",
    ["I(a*b)", "I(a - b)", "I(a + b)", "I(-a)", "I(a**20)", "np.log(a)", "np.add(a, b)",
     "np.multiply(a, I(a*b))", "I((a > 1)*3 - (b > 1)*5)", "I((a > 1) + (b > 1))"],
)  # fmt: skip
def test_arithmetic_is_that_of_doubles_whatever_the_dtype(code, dtype):
    """NumPy's whole numbers overflow in silence, and True + True is True."""
    values = {"a": [1, 100, 127, 3, 2, 90] * 2, "b": [120, 7, 1, 100, 1, 60] * 2}
    frame = pd.DataFrame(values, dtype=dtype).assign(w=np.arange(12.0) ** 2, y=range(12))
    doubles = frame.astype("float64")
    found, expected = (
        learner(f"y ~ {code}", data).design.encode(data) for data in (frame, doubles)
    )
    assert_array_equal(found, expected)
    if dtype != "bool" or code != "np.log(a)":
        left, right = (learner(f"{code} + w ~ w", data).sample.y for data in (frame, doubles))
        assert_array_equal(left, right)
