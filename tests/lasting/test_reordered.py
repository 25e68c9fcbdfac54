"""Arrays and frames whose rows or columns come in another order: refused, or the right number."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import DataError, InferenceError, OptionError

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(80, 3)), columns=list("abc"))
Y = 3 * X.a + X.b + RNG.normal(size=80)
ORDER, COLUMNS = RNG.permutation(80), [2, 0, 1]
PLAN = pi.Subsampling(4)
SAME = 1e-12  # of sums in another order


def fit(y, x, **options):
    return pi.Learner(y, x, LinearRegression()).fit(PLAN, seed=1, progress=False, **options)


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
    with pytest.raises(
        OptionError, match="keeps refits of another call, which differs in its data"
    ):
        fit(*reordered(change), **options)


def test_columns_of_frames_go_by_name(tmp_path):
    whole = fit(Y, X, checkpoint=tmp_path).pfi().params
    for refit in sorted((tmp_path / "refits").glob("*.pickle"))[2:]:
        refit.unlink()
    resumed = fit(Y, X.iloc[:, COLUMNS], checkpoint=tmp_path).pfi()
    assert resumed.context.folder == "2 of 4 refits, proven"
    pd.testing.assert_series_equal(resumed.params[whole.index], whole, rtol=SAME)
    model = LinearRegression().fit(X, Y)
    here, there = (pi.FittedModel(model, x, Y).pfi().params for x in (X, X.iloc[:, COLUMNS]))
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
