"""Arrays and frames whose rows or columns come in another order: refused, or the right number."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from shared import normal_rows
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import DataError, InferenceError, OptionError

RNG, X = normal_rows(80, "a b c")
Y = 3 * X.a + X.b + RNG.normal(size=80)
ORDER, COLUMNS = RNG.permutation(80), [2, 0, 1]
PLAN = pi.Subsampling(4)
SAME = 1e-12  # of sums in another order


class Own:
    """A user's model, with another one inside."""

    def __init__(self, inside):
        self.inside = inside

    def predict(self, rows):
        return self.inside.predict(rows)


def fit(y, x, **options):
    return pi.Learner(y, x, LinearRegression()).fit(PLAN, seed=1, **options)


def reordered(change):
    x, y = X.to_numpy(), Y.to_numpy()
    return {
        "rows": (y[ORDER], x[ORDER]),
        "rows of y": (y[ORDER], x),
        "rows of X": (y, x[ORDER]),
        "columns": (y, x[:, COLUMNS]),
    }[change]


@pytest.mark.parametrize("change", ["rows", "rows of y", "rows of X", "columns"])
@pytest.mark.parametrize("options", [{}, {"keep_models": False, "measure": ["pfi"]}])
def test_arrays_in_another_order_are_other_data_to_a_folder(change, options, tmp_path):
    options = {**options, "checkpoint": tmp_path}
    fit(Y.to_numpy(), X.to_numpy(), **options)
    what = "order of an array's columns" if change == "columns" else "data"
    with pytest.raises(OptionError, match=f"another call, which differs in its {what}"):
        fit(*reordered(change), **options)


ARRAY = X.to_numpy()
OTHERS = {
    "moved": ARRAY[:, COLUMNS],
    "moved, in other units": np.exp(ARRAY[:, COLUMNS]) * [1, 10, 1e6],
    "two of them": ARRAY[:, [0, 2, 1]],
    "others": np.column_stack([ARRAY[:, 1:], ARRAY[:, 0] ** 2]),
}


def of_refits(x):
    return fit(Y, x).pfi()


def of_model(x):
    return pi.FittedModel(LinearRegression().fit(x, Y), x, Y).pfi()


@pytest.mark.parametrize(
    "pair", [pi.compare, lambda *two: pi.summary_col(two), lambda *two: pi.plot(two)]
)
@pytest.mark.parametrize("ask", [of_refits, of_model])
@pytest.mark.parametrize("other", OTHERS)
def test_columns_of_arrays_in_another_order_are_not_paired(pair, ask, other):
    with pytest.raises(InferenceError, match="give both the columns in one order"):
        pair(ask(ARRAY), ask(OTHERS[other]))


def test_columns_of_arrays_in_the_same_order_are_paired_and_other_values_named():
    results, scaled, other = fit(Y, ARRAY), fit(Y, ARRAY * [2, 3, 4]), fit(Y, ARRAY ** [2, 1, 1])
    assert not pi.compare(results.pfi(), scaled.pfi()).context.plan_note
    note = pi.compare(results.pfi(), other.pfi()).context.plan_note
    assert note == "x1: other values in one of the results."
    moved = fit(Y, OTHERS["moved"])
    for one, two in [(results, moved), (results.metric("r2"), moved.metric("r2"))]:
        assert abs(pi.compare(one, two).params.iloc[0]) < SAME


def test_columns_of_frames_go_by_name(tmp_path):
    whole = fit(Y, X, checkpoint=tmp_path).pfi().params
    for refit in sorted((tmp_path / "refits").glob("*.pickle"))[2:]:
        refit.unlink()
    resumed = fit(Y, X.iloc[:, COLUMNS], checkpoint=tmp_path).pfi()
    assert resumed.context.folder == "2 of 4 refits, proven"
    pd.testing.assert_series_equal(resumed.params[whole.index], whole, rtol=SAME)
    model = LinearRegression().fit(X, Y)
    inside = LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(X, Y)  # which reads no names
    for one in (model, Own(inside)):
        here, there = (pi.FittedModel(one, x, Y).pfi().params for x in (X, X.iloc[:, COLUMNS]))
        pd.testing.assert_series_equal(there[here.index], here, rtol=SAME)


def test_rows_of_frames_are_not_paired_by_position():
    model, other = LinearRegression().fit(X, Y), pd.Series(range(80)).iloc[ORDER]
    results = fit(Y, X)
    for ask in (
        lambda: fit(Y.iloc[ORDER], X),
        lambda: pi.FittedModel(model, X.iloc[ORDER], Y),
        lambda: pi.FittedModel(model, X, Y, cluster=other // 2),
        lambda: pi.Learner(Y, X, model, subset=other > 9),
        lambda: results.pfi("a", rows=other > 9),
        lambda: results.pfi("a", by=(other > 9).map(str)),
    ):
        with pytest.raises(DataError, match="pairing them by position could mix up rows"):
            ask()
    with pytest.raises(InferenceError, match="same resamples of the same data"):
        pi.compare(results, fit(Y.iloc[ORDER], X.iloc[ORDER]))
    whole = pi.FittedModel(model, X, Y).pfi().params
    moved = pi.FittedModel(model, X.iloc[ORDER], Y.iloc[ORDER]).pfi().params
    pd.testing.assert_series_equal(moved, whole, rtol=SAME)
