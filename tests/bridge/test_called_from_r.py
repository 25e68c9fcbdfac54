"""What the R package calls, with functions of Python in the place of R's."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from r_bridge import from_r
from r_bridge.errors import RCallError, RWarning

NAN = float("nan")
COLUMNS = {
    "double": {"kind": "double", "values": [1.5, NAN]},
    "whole": {"kind": "integer", "values": [1.0, 2.0]},
    "integer": {"kind": "integer", "values": [1.0, NAN]},
    "logical": {"kind": "logical", "values": [NAN, 1.0]},
    "character": {"kind": "character", "values": [NAN, 1.0], "levels": ["x"]},
    "factor": {"kind": "factor", "values": [2.0, NAN], "levels": ["v", "u", "none"]},
    "ordered": {"kind": "ordered", "values": [1.0, 2.0], "levels": ["low", "high"]},
    "Date": {"kind": "Date", "values": [-135081.0, NAN], "tz": ""},
    "local.time": {"kind": "POSIXct", "values": [1719828000.25, NAN], "tz": ""},
    "time": {"kind": "POSIXct", "values": [1719828000.25, NAN], "tz": "Europe/Berlin"},
}
DTYPES = ["float64", "int64", "Int64", "boolean", None, "category", "category"]


def told(function):
    """Return a function that tells how it ended, as those of R do."""

    def answer(*args):
        with warnings.catch_warnings(record=True) as caught:
            try:
                value, ended = function(*args), "well"
            except KeyboardInterrupt:
                value, ended = None, "interrupt"
            except ZeroDivisionError as error:
                value, ended = str(error), "error"
        return {"value": value, "ended": ended, "warned": [str(w.message) for w in caught]}

    return answer


def least_squares():
    """Return the two functions of a linear model."""
    models = {}

    def fit(columns, y, seed):
        assert 0 <= seed < 2**31 - 1
        models[str(len(models))] = LinearRegression().fit(from_r.frame(columns), y["values"])
        return str(len(models) - 1)

    def predict(key, columns):
        return list(models[key].predict(from_r.frame(columns)))

    return told(fit), told(predict)


@pytest.mark.parametrize("rows", [2, 1, 0])
def test_columns_come_back_as_they_went(rows):
    sent = {name: {**c, "values": c["values"][:rows]} for name, c in COLUMNS.items()}
    frame = from_r.frame(sent)
    if rows == 2:
        for name, dtype in zip(COLUMNS, DTYPES, strict=False):
            assert dtype in (None, str(frame[name].dtype))
        assert str(frame["Date"][0]) == "1600-02-29 00:00:00"
        assert frame["character"].isna().tolist() == [True, False]
    for name, back in from_r.columns(frame).items():
        np.testing.assert_equal(back["values"], sent[name]["values"])
        if rows:  # the levels of text are those that occur
            levels = [] if (name, rows) == ("character", 1) else sent[name].get("levels")
            assert back.get("levels") == levels
        assert (back["kind"], back.get("tz")) == (sent[name]["kind"], sent[name].get("tz"))


def test_one_value_is_a_column_too():
    assert from_r.frame({"x": {"kind": "integer", "values": 3.0}})["x"].tolist() == [3]
    large = from_r.columns(pd.DataFrame({"x": [2**40]}))["x"]
    assert large == {"kind": "double", "values": [2.0**40]}


def test_a_learner_of_r_has_the_numbers_of_the_same_learner_of_python():
    data = pi.datasets.load_diabetes()[["bmi", "bp", "age", "progression"]]
    plan = pi.HalfSampling(5, pairs=5)
    learner = from_r.learner_of_r(*least_squares(), "stats::lm")
    ours = pi.Learner.from_formula("progression ~ .", data, learner).fit(plan, seed=1, n_jobs=2)
    theirs = pi.Learner.from_formula("progression ~ .", data, LinearRegression()).fit(plan, seed=1)
    np.testing.assert_allclose(ours.pfi(permutations="all").params, theirs.pfi().params, rtol=1e-10)
    assert "stats::lm" in str(ours)


def test_classes_are_in_the_order_of_their_levels():
    y = pd.Categorical(["low", "high", "low", "high"], categories=["low", "high", "none"])
    seen = []
    predict = told(lambda *_: [0.9, 0.2, 0.7, 0.4, 0.1, 0.8, 0.3, 0.6])
    fit = told(lambda *sent: seen.append(sent[1]) or "1")
    model = from_r.learner_of_r(fit, predict, "glm", [])
    X = pd.DataFrame({"x": np.arange(4.0)})
    assert model.fit(X, y).predict(X).tolist() == ["low", "high", "low", "high"]
    assert seen[0] == {"kind": "factor", "values": [1, 2, 1, 2], "levels": ["low", "high"]}
    fitted = from_r.learner_of_r(None, predict, "glm", ["no", "yes"], "1")
    assert fitted.predict(X).tolist() == ["no", "yes", "no", "yes"]


def test_columns_of_a_formula_are_learned_from_the_rows_of_the_fit():
    centers = []

    def encode(columns, key=None):
        x = np.asarray(columns["x"]["values"])
        if key is None:
            return centers.append(x.mean()) or len(centers) - 1
        return [*(x - centers[key]), *(x - centers[key]) ** 2]

    X = pd.DataFrame({"x": [1.0, 2.0, 6.0]})
    model = from_r.on_columns(told(encode), "x + I(x^2)", LinearRegression()).fit(X, [1, 4, 36])
    np.testing.assert_allclose(model.predict(X + 1), [4, 9, 49])
    assert model[0].learner_name == "x + I(x^2)"


@pytest.mark.filterwarnings("default:careful")
def test_how_a_call_ended_is_told():
    res = pi.FittedModel(LinearRegression().fit([[1.0], [2]], [1, 2]), [[1.0], [2], [4]], [1, 2, 3])
    frame, said = from_r.attempt(res, "pfi")
    assert (said["kind"], said["error"]) == ("object", None)
    assert from_r.attempt(frame, "nobs") == (3, {"kind": "plain", "error": None, "warned": []})
    table, said = from_r.attempt(frame, "cov_params")
    assert said["kind"] == "frame"
    assert table["term"]["kind"] == "character"
    said = from_r.attempt(res, "pfi", "x9")[1]
    assert said["error"][0] == ["OptionError", "PyinterpError", "ValueError"]
    assert said["error"][1].startswith("Can't find")
    assert "Did you mean `pfi`?" in from_r.attempt(res, "pfii")[1]["error"][1]
    said = from_r.attempt(from_r, "estimator", "sklearn.linear_model.Rigde")[1]
    assert 'not "sklearn.linear_model.Rigde"' in said["error"][1]
    said = from_r.attempt(warnings, "warn", "careful")[1]
    assert said["warned"] == [[["UserWarning", "Warning"], "careful"]]


def test_what_stops_r_stops_python():
    X, y = pd.DataFrame({"x": [1.0, 2.0]}), pd.Series([1.0, 2.0])

    def stop(error):
        def fit(*_):
            raise error

        return from_r.learner_of_r(told(fit), told(fit), "stats::lm")

    with pytest.raises(RCallError, match="no luck\nIt was called as: stats::lm"):
        stop(ZeroDivisionError("no luck")).fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        stop(KeyboardInterrupt()).fit(X, y)
    warns = from_r.learner_of_r(told(lambda *_: warnings.warn("careful")), told(len), "lm")  # noqa: B028
    with pytest.warns(RWarning, match="careful"):
        warns.fit(X, y)
