"""What users of scikit-learn bring: odd arrays, several outputs, models not fitted, splitters."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import PyinterpError

RNG = np.random.default_rng(2)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] + RNG.normal(size=40)
CLASSES = (Y > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)


class Tensor:
    """What NumPy can read, but is no array."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def __len__(self):
        return len(self.values)


def test_whatever_numpy_can_read_is_an_array():
    model = LinearRegression().fit(X, Y)
    expected = pi.FittedModel(model, X, Y).pfi()
    for rows, response in ((Tensor(X), Tensor(Y)), (list(X), list(Y)), (X.tolist(), Y.tolist())):
        got = pi.FittedModel(model, rows, response).pfi()
        pd.testing.assert_series_equal(got.params, expected.params)
    masked = np.ma.masked_greater(X, 2.0)
    kept = (X <= 2.0).all(axis=1)
    got = pi.FittedModel(model, masked, Y).pfi()  # masked values are missing, as before
    pd.testing.assert_series_equal(got.params, pi.FittedModel(model, X[kept], Y[kept]).pfi().params)


def learner(**options):
    return pi.Learner.from_formula("y ~ .", FRAME, LinearRegression(), **options)


NONE, ONE = np.zeros(40, bool), np.arange(40) == 3
BOTH = np.column_stack([CLASSES, CLASSES])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: pi.FittedModel(LogisticRegression(), X, CLASSES),
            "LogisticRegression has none; fit it first",
        ),
        (
            lambda: pi.FittedModel(LinearRegression().fit(X, X), X).pd("x1"),
            r"a function of one output, such as `lambda X: model.predict\(X\)\[:, 0\]`",
        ),
        (
            lambda: pi.FittedModel(RandomForestClassifier(3).fit(X, BOTH), X).pd("x1"),
            "must predict one response, but RandomForestClassifier was fitted to 2 at once",
        ),
        (
            lambda: pi.FittedModel(LinearRegression().fit(X, Y), sparse.csr_matrix(X), Y),
            r"pass `.toarray\(\)` of it",
        ),
        (lambda: learner(subset=NONE), "`subset` must keep some of the rows, but the mask keeps"),
        (
            lambda: pi.FittedModel(LinearRegression().fit(X, Y), X, Y).pfi(rows=ONE),
            r"the subgroup \(by a mask\) has 1 row, of which refit 1 has 1\. Merge groups",
        ),
    ],
)
def test_messages_say_what_to_do(call, said):
    with pytest.raises(PyinterpError, match=said):
        call()
