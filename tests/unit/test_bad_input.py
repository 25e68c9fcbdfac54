"""Bad input from the user's side: each a sentence that says what must hold and how to mend it.

What single modules refuse is tested beside them; here each case goes through the public interface.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from fits import fit_of
from lightgbm import LGBMRegressor
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pyinterp as pi
from pyinterp.errors import (
    DataError,
    DesignError,
    FormulaError,
    InferenceError,
    LossError,
    OptionError,
    PredictionError,
    PyinterpError,
)

PLAN = pi.Bootstrap(3)
LINEAR = LinearRegression()
Change = Callable[[pd.DataFrame], Any]


def fitted(data, formula="y ~ .", estimator=LINEAR, plan=PLAN, **options):
    return fit_of(formula, data, estimator, plan, **options)


def with_first(column, value):
    return lambda data: data.astype({column: object}).assign(**{column: [value, *data[column][1:]]})


BAD_DATA = {
    "unknown variable": (
        lambda d: d,
        "y ~ x + zz",
        FormulaError,
        r"`zz`.*variables are y, x, z, g\. Did you mean `z`\?",
    ),
    "no rows": (lambda d: d[:0], "y ~ .", DataError, r"must have rows.*shape \(0, 4\)"),
    "no columns": (lambda _: pd.DataFrame(), "y ~ .", DataError, r"it has shape \(0, 0\)"),
    "no variables": (lambda d: d[["y"]], "y ~ .", FormulaError, "at least one variable"),
    "all rows missing": (
        lambda d: d.assign(x=np.nan),
        "y ~ .",
        DataError,
        r"All 60 rows have a missing value \(in x 60\)",
    ),
    "constant response": (
        lambda d: d.assign(y=1.5),
        "y ~ .",
        DataError,
        "`y` must vary, but it is 1.5 in every row",
    ),
    "2 rows": (lambda d: d[:2], "y ~ .", DataError, "At least 5 complete rows are needed.*got 2"),
    "duplicate columns": (
        lambda d: pd.concat([d, d[["x"]]], axis=1),
        "y ~ .",
        DataError,
        "must be unique, but `x`",
    ),
    "infinite value": (
        lambda d: d.assign(x=[-np.inf, *d.x[1:]]),
        "y ~ .",
        DataError,
        r"Column `x` must be finite, but it has 1 infinite value\(s\) \(first in row 0\); drop",
    ),
    "numbers and strings": (
        with_first("x", "n/a"),
        "y ~ .",
        DataError,
        "Column `x` must hold numbers or strings, but .* "
        "float, str; convert it with pandas.to_numeric",
    ),
    "string response": (
        lambda d: d,
        "g ~ x",
        DataError,
        "LinearRegression is a regressor and needs a numeric resp",
    ),
    "not a frame": (
        lambda d: d.to_numpy(),
        "y ~ x",
        DataError,
        "`data` must be a data frame, not ndarray",
    ),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(data, case):
    change, formula, error, message = BAD_DATA[case]
    with pytest.raises(error, match=message):
        fitted(change(data), formula)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y, X: (y[1:], X), "`endog` must be one column with one value per row of `exog`"),
        (lambda _, X: (X, X), "`endog` must be one column"),
        (lambda y, X: (y, X.astype(str)), "`exog` must be a DataFrame or a numeric array of two"),
        (lambda y, X: (y, X[:, :, None]), "not an array of 3 dimension"),
    ],
)
def test_bad_arrays(data, change, message):
    endog, exog = change(data.y.to_numpy(), data[["x", "z"]].to_numpy())
    with pytest.raises(DataError, match=message):
        pi.Learner(endog, exog, LINEAR)


BAD_MODEL_INPUT = [
    (
        lambda m, d: pi.FittedModel(m, d[["x", "z"]], d.y[1:]),
        DataError,
        "`y` must be one column with one value per row of `X`",
    ),
    (lambda m, d: pi.FittedModel(m, d[["x", "z"]], "yy"), OptionError, "`y` names column 'yy'"),
    (
        lambda m, d: pi.FittedModel(m, d[["x"]], d.y),
        DataError,
        r"fitted on \(x, z\), but lacks z; it has x",
    ),
    (lambda _, d: pi.FittedModel(object(), d[["x"]]), PredictionError, "`predict` method; object"),
    (lambda m, d: pi.FittedModel(m, d[["x", "z"]]).pfi(), OptionError, "pass `y` to FittedModel"),
    (
        lambda m, d: pi.FittedModel(m, d[["x", "z"]], d.y, missing="raise", cluster=[np.nan] * 60),
        DataError,
        "60 rows have missing values",
    ),
    (
        lambda _, d: pi.FittedModel(LogisticRegression().fit(d[["x"]], d.g == "a"), d[["x"]], d.g),
        DataError,
        r"has class '.', which LogisticRegression does not predict",
    ),
]


@pytest.mark.parametrize(("ask", "error", "message"), BAD_MODEL_INPUT)
def test_bad_input_of_a_fitted_model(data, ask, error, message):
    model = LinearRegression().fit(data[["x", "z"]], data.y)
    with pytest.raises(error, match=message):
        ask(model, data)


BAD_ESTIMATORS = [
    (LinearRegression, OptionError, r"instance such as LinearRegression\(\), not the class"),
    (sm.OLS, OptionError, r"pi\.statsmodels_learner\(OLS\)"),
    (StandardScaler(), PredictionError, "must have a `predict` method; StandardScaler has none"),
    (None, PredictionError, "must have a `fit` method; NoneType has none"),
    (FrozenEstimator(LinearRegression()), OptionError, "must train on the rows of every refit"),
]


@pytest.mark.parametrize(("estimator", "error", "message"), BAD_ESTIMATORS)
def test_bad_estimators(data, estimator, error, message):
    with pytest.raises(error, match=message):
        fitted(data, estimator=estimator)


NOT_ALPHA = [0, 1, 5, -0.1, 1.5, True, "0.05", None, [0.05], float("nan")]


@pytest.mark.parametrize("alpha", NOT_ALPHA)
def test_alpha_must_be_in_the_open_unit_interval(data, alpha):
    pfi = fitted(data).pfi()
    asks = [pfi.conf_int, pfi.summary_frame, pfi.plot]
    asks += [] if alpha is None else [pfi.summary, pfi.tidy]  # None is their default
    for ask in asks:
        with pytest.raises(OptionError, match=r"`alpha` must be a number in \(0, 1\), not .*95%"):
            ask(alpha)


BAD_READING = [
    (
        {"cov_type": "hc3"},
        OptionError,
        '`cov_type` must be one of .*"half-sample", "half-sample-t"',
    ),
    ({"cov_type": "correct"}, OptionError, "Did you mean `corrected`"),
    ({"cov_type": "rows"}, InferenceError, "use `pi.FittedModel"),
    ({"alternative": "larger"}, OptionError, '`alternative` must be one of "two-sided", "greater"'),
    ({"p_adjust": "holms"}, OptionError, "`p_adjust` must be one of .*Did you mean `holm`"),
    ({"features": "alcohl"}, OptionError, "Can't find feature 'alcohl' of .* Features: x, z, g"),
    ({"features": []}, OptionError, "must name at least one feature"),
    ({"relation": "quotient"}, OptionError, '`relation` must be one of "difference", "ratio"'),
    ({"permutations": 1}, OptionError, "`permutations` must be"),
    ({"permutations": "some"}, OptionError, '`permutations` must be one of "auto", "all"'),
    ({"covtype": "naive"}, TypeError, "covtype"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD_READING)
def test_bad_options_of_pfi(data, options, error, message):
    results = fitted(data)
    with pytest.raises(error, match=message):
        results.pfi(**options).summary_frame()


BAD_GRIDS = [
    ("q", {}, r"Can't find variable `q`. Variables: x, z, g"),
    (["x", "z", "g", "x"], {}, "of one variable or of two or three different ones"),
    ("x", {"grid": "quantiles"}, "`grid` must be one of .*Did you mean `quantile`"),
    ("x", {"grid": [0.0, np.inf]}, "The grid of `x` must be finite numbers"),
    ("x", {"grid": {"z": [1.0]}}, "Can't find variable 'z' of `grid`"),
    (["x", "z"], {"grid": [1.0, 2.0]}, "A grid for several variables must be a mapping"),
    ("g", {"grid": ["d"]}, "'d' is not a level of `g`. Levels: a, b, c"),
    ("x", {"points": 1}, "`points` must be a whole number of at least 2, not 1"),
    ("g", {"kind": "d-ice"}, "needs one numeric variable"),
    ("x", {"kind": "ale"}, '`kind` must be one of "pd"'),
    ("x", {"scale": "logit"}, "must be a function of its predictions"),
    ("x", {"which_class": 1}, "`which_class` is for classifiers"),
]


@pytest.mark.parametrize(("features", "options", "message"), BAD_GRIDS)
def test_bad_grids(data, features, options, message):
    with pytest.raises(OptionError, match=message):
        fitted(data).pd(features, **options)


def test_groups_move_jointly_and_are_no_axis(data):
    results = fitted(data, groups={"both": ["x", "z"]})
    assert list(results.pfi().params.index) == ["both", "g"]
    with pytest.raises(OptionError, match="`both` is a group of variables, which has no curve"):
        results.pd("both")


def test_one_refit_has_no_standard_error_of_the_learner(data):
    results = fitted(data, plan=pi.Bootstrap(1))
    assert results.pfi().cov_type == "ustat"
    for cov_type in ("naive", "corrected"):
        with pytest.raises(
            InferenceError, match=r"not defined for one refit. Fit with .*Bootstrap"
        ):
            results.pfi(cov_type=cov_type)


def test_a_pipeline_that_meets_an_unseen_level_says_so(data):
    rare = data.assign(g=["rare", *data.g[1:]])
    encode = make_column_transformer((OneHotEncoder(), ["g"]), remainder="passthrough")
    pipeline, plan = make_pipeline(encode, LINEAR), pi.CrossValidation(3)
    with pytest.raises(PredictionError, match=r"unknown categories .*'rare'.*; merge rare levels"):
        fitted(rare, estimator=pipeline, plan=plan, design="frame").pfi()
    results = fitted(data, estimator=pipeline, plan=plan, design="frame")
    with pytest.raises(PredictionError, match=r"can't predict .* rows: ValueError: .*'rare'"):
        results.predict(rare)


@pytest.mark.parametrize("design", ["matrix", "frame"])
@pytest.mark.parametrize("value", [1.0, True, 3])
def test_a_constant_feature_has_importance_0_and_a_note(data, design, value):
    pfi = fitted(data.assign(g=value), design=design).pfi()
    assert pfi.params["g"] == pfi.bse["g"] == 0
    assert np.isnan(pfi.pvalues["g"])
    assert pfi.conf_int().loc["g"].isna().all()
    assert "g: constant in the data, so nothing can be replaced" in str(pfi.summary(notes="full"))


LETTERS = list("abc") * 20
MISSING = {
    "float64": pd.Series(np.arange(60.0)),
    "Int64": pd.Series(np.arange(60) // 2, dtype="Int64"),
    "Float64": pd.Series(np.arange(60.0), dtype="Float64"),
    "boolean": pd.Series(np.arange(60) % 2 == 0, dtype="boolean"),
    **{kind: pd.Series(LETTERS, dtype=kind) for kind in ("string", "str", "category")},
    "object strings": pd.Series(LETTERS, dtype=object),
    "object numbers": pd.Series(range(60), dtype=object),
    "object booleans": pd.Series([True, False] * 30, dtype=object),
}
GAPS = {"object strings": [pd.NA], "object numbers": [pd.NA], "object booleans": [None]}


def missing(kind, at):
    return MISSING[kind].mask(at, *GAPS.get(kind, []))


@pytest.mark.parametrize("kind", MISSING)
def test_missing_values_of_every_kind_of_column_are_dropped_and_counted(data, kind):
    at = np.arange(60) % 9 == 0
    holes = data.assign(g=missing(kind, at))
    results = fitted(holes)
    assert results.nobs == 53
    assert "53 (7 dropped)" in str(results.summary())
    assert np.isfinite(results.pfi().params).all()
    whole = missing(kind, np.zeros(60, bool))
    expected = fitted(data.assign(g=whole)[~at])
    np.testing.assert_allclose(results.pfi().params, expected.pfi().params, atol=1e-12)
    np.testing.assert_allclose(results.pd("g").params, expected.pd("g").params, atol=1e-12)
    with pytest.raises(DataError, match=r"7 rows have missing values \(in g 7\); fill them in, or"):
        fitted(holes, missing="raise")


@pytest.mark.parametrize(
    "kind", [k for k in MISSING if "bool" in k or "str" in k or k == "category"]
)
def test_a_missing_class_is_dropped_too(data, kind):
    holes = data.assign(g=missing(kind, np.arange(60) % 9 == 0))
    results = fitted(holes, "g ~ x + z", LogisticRegression())
    assert results.nobs == 53
    assert np.isfinite(results.pfi().params).all()


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "category"])
def test_columns_with_missing_values_suit_learners_that_take_frames(data, kind):
    holes = data.assign(g=missing(kind, np.arange(60) % 9 == 0))
    boosted = LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1)
    assert np.isfinite(fitted(holes, estimator=boosted, design="frame").pfi().params).all()


def test_the_callers_data_are_not_changed(data):
    data = data.set_index(np.arange(60)[::-1])
    before = data.copy(deep=True)
    fitted(data, "np.exp(y) ~ x*z + C(g)", RandomForestRegressor(3)).pd("x")
    pd.testing.assert_frame_equal(data, before)


@pytest.mark.parametrize(
    "names", [range(4), ["y", "x", "class", "Intercept"], ["y", "C", "Q", "I"]]
)
def test_column_names_of_any_kind(data, names):
    renamed = data.set_axis(list(names), axis=1)
    expected = fitted(data).pfi()
    found = fitted(renamed, f"Q('{names[0]}') ~ ." if names[0] == 0 else "y ~ .").pfi()
    assert list(found.params.index) == [str(n) for n in names[1:]]
    np.testing.assert_array_equal(found.params, expected.params)
    arrays = pi.Learner(data.y, renamed[list(names[1:3])], LINEAR).fit(PLAN, seed=1)
    assert list(arrays.pfi().params.index) == [str(n) for n in names[1:3]]


def test_every_error_is_a_value_error_of_pyinterp():
    for error in (DataError, DesignError, FormulaError, InferenceError, LossError, OptionError):
        assert issubclass(error, PyinterpError)
        assert issubclass(error, ValueError)
