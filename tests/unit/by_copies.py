"""What an engine answers, beside what the model predicts for copies of the rows."""

import numpy as np
from numpy.testing import assert_allclose

from pyinterp.whatif import WhatIf

LOSSES = {"mean": ["squared", "absolute"], "probability": ["log", "brier"], "label": ["zero_one"]}


def whatif_of(fitted):
    return fitted.analysis.cases[0].whatif


def in_order(whatif, variables, donors):
    """Predictions for every row with every donor."""
    blocks = list(whatif.of(variables).cross(donors))
    rows = np.concatenate([rows for rows, _ in blocks])
    assert sorted(rows) == list(range(whatif.sample.nobs))
    return np.concatenate([predictions for _, predictions in blocks])[np.argsort(rows)]


def compare(whatif, variables, donors, tolerance, size=None):
    """The engine's predictions are those of copies, relative to the largest or to `size`."""
    batched = WhatIf(whatif.predictor, whatif.design, whatif.sample)
    found, expected = (in_order(w, variables, donors) for w in (whatif, batched))
    assert found.shape == expected.shape
    bound = tolerance * (np.abs(expected).max() if size is None else size)
    assert_allclose(found, expected, rtol=0, atol=bound)
    rng = np.random.default_rng(len(donors))
    rows = rng.integers(whatif.sample.nobs, size=70)
    index = rng.integers(len(donors), size=(len(rows), 6))
    shared = whatif.of(variables).pairs(rows, index, donors)
    assert_allclose(shared, expected[rows[:, None], index], rtol=0, atol=bound)
    own = donors.take(index.ravel()).reset_index(drop=True)
    single = whatif.of(variables).pairs(rows, np.arange(index.size).reshape(index.shape), own)
    assert_allclose(single, expected[rows[:, None], index], rtol=0, atol=bound)


def same_importance(make, loss, tolerance=1e-10, size=False):
    """Exact PFI equals that of all predicted pairs, in all its parts. Return the engine's name.

    The tolerance is absolute, or relative to the largest contribution of a row.
    """
    exact, slow = (make(e).pfi(loss=loss, permutations="all") for e in ("auto", "batched"))
    assert slow.engine.name == "batched"
    assert (exact.mcse == 0).all()
    (one,), (other,) = exact.replicates.estimates, slow.replicates.estimates
    bound = tolerance * (np.abs(other.rows).max() if size else 1)
    pairs = [(exact.params, slow.params), (exact.bse, slow.bse)]
    for found, expected in [*pairs, (one.rows, other.rows), (one.donors, other.donors)]:
        assert_allclose(found, expected, rtol=0, atol=bound)
    return str(exact.engine.name)


class Asked:
    """In place of a predictor: of how many rows it predicts, call by call."""

    def __init__(self, whatif):
        self.predictor, self.rows = whatif.predictor, list[int]()
        whatif.predictor = self

    def __getattr__(self, name):
        return getattr(self.predictor, name)

    def __call__(self, matrix):
        self.rows.append(len(matrix))
        return np.asarray(self.predictor(matrix))
