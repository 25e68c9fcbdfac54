"""Rows: what belongs to a row of the data stays with it, under its own label."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_situations import ONCE, situations, table
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import PyinterpError

few = settings(max_examples=12, derandomize=True, deadline=None, database=None, phases=ONCE)
RELATIVE = 1e-9


def fitted(case):
    data = table(case, tame=True, frame=True)
    train, X = data.train.astype(float), data.X.astype(float)
    return LinearRegression().fit(train, data.signal_train), X, data.signal


@few
@given(case=situations(), holes=st.sets(st.integers(0, 5), max_size=1))
def test_curves_of_complete_rows_keep_their_labels(case, holes):
    model, X, y = fitted(case)
    X = X.copy()
    X.iloc[sorted(holes), 1] = np.nan
    keep = [i for i in range(len(X)) if i not in holes]
    name = X.columns[0]
    curve = pi.FittedModel(model, X, y, missing="drop").pd(name, grid=[0.0, 1.0], kind="ice")
    frame = curve.row_frame()
    curves = naive.ice(model.predict, X.iloc[keep], [name], [[0.0], [1.0]])
    assert list(frame.index) == list(X.index[keep])
    assert_allclose(frame.to_numpy(), curves, rtol=RELATIVE, atol=RELATIVE)


@few
@given(case=situations(), share=st.sampled_from([0.05, 0.2]), in_y=st.booleans())
def test_missing_rows_are_left_out(case, share, in_y):
    data = table(case, tame=True, frame=True)
    train, X, y = data.train.astype(float), data.X.astype(float), data.signal.copy()
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=3)
    rng = np.random.default_rng(case.seed)
    train = train.mask(rng.random(train.shape) < share)
    model.fit(train, data.signal_train)
    X = X.mask(rng.random(X.shape) < share / 3)
    if in_y:
        y[0] = np.nan
    complete = X.notna().all(axis=1).to_numpy() & np.isfinite(y)
    if complete.sum() < 5:
        return
    got = pi.FittedModel(model, X, y, missing="drop").pfi().params
    rows, target = X[complete], y[complete]
    original = (target - model.predict(rows)) ** 2
    for name in X:
        switched = (target[:, None] - naive.all_pairs(model.predict, rows, [name])) ** 2
        value = naive.pfi(switched, original, "difference", "ustat", None)[0]
        assert got[name] == pytest.approx(value, rel=RELATIVE, abs=RELATIVE)


@few
@given(seed=st.integers(0, 99), in_y=st.booleans(), number=st.integers(1, 3))
def test_masked_values_are_no_values(seed, in_y, number):
    """A mask means missing: such rows are left out, or the array is refused."""
    rng = np.random.default_rng(seed)
    X, noise = rng.normal(size=(40, 3)), rng.normal(size=40)
    y = X[:, 0] + noise
    model = LinearRegression().fit(X, y)
    hidden = np.arange(40) < number
    plain = pi.FittedModel(model, X[~hidden], y[~hidden]).pfi().params
    bad_X, bad_y = X.copy(), y.copy()
    bad_X[hidden, 0] = bad_y[hidden] = -9e3
    masked_X = np.ma.MaskedArray(X if in_y else bad_X, mask=np.zeros_like(X, dtype=bool))
    masked_y = np.ma.MaskedArray(bad_y if in_y else y, mask=hidden if in_y else False)
    if not in_y:
        masked_X[hidden, 0] = np.ma.masked
    try:
        got = pi.FittedModel(model, masked_X, masked_y).pfi().params
    except PyinterpError:
        return
    assert_allclose(got, plain, rtol=RELATIVE)


@few
@given(seed=st.integers(0, 99), offset=st.sampled_from([0.0, 1e3, 1e6]))
def test_a_model_of_single_precision_predicts_in_it(seed, offset):
    rng = np.random.default_rng(seed)
    X = (offset + rng.normal(size=(40, 3))).astype(np.float32)
    y = rng.normal(size=40) + X[:, 0] - X[:, 1]
    model = LinearRegression().fit(X, y)
    error = np.abs(y - model.predict(X)).mean()
    got = pi.FittedModel(model, X, y).loss("absolute").params.iloc[0]
    assert got == pytest.approx(error, rel=1e-5)


@few
@given(seed=st.integers(0, 99), high=st.booleans())
def test_interactions_of_what_the_rows_do_not_show(seed, high):
    """Predictions are constant on the rows, effects are not: H² is not 0."""
    X = np.random.default_rng(seed).integers(0, 2, size=(20, 1)).repeat(2, axis=1).astype(float)
    X[0], X[1] = 0.0, 1.0

    def model(rows):
        return (np.asarray(rows)[:, 0] != np.asarray(rows)[:, 1]).astype(float) + high

    features = {"x1": [0], "x2": [1]}
    above = naive.h_squared(model, X, features, "overall")
    plain = pi.FittedModel(model, X).h_statistic(normalize=False).params
    assert_allclose(plain, [above[name][0] for name in features], atol=1e-12)
