"""Theorems of Molnar et al. (2021) on finite laws, where every expectation is a sum.

A data set that is the whole population makes PFI over all pairs an expectation: its n (n - 1) pairs
lack those of a row with itself, whose difference is 0, so (n - 1)/n of it is E[L~] - E[L].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import pyinterp as pi

LEVELS = 4
EXACT = {"rtol": 1e-10, "atol": 1e-10}


class Population(NamedTuple):
    """Rows of equal weight: S and C are levels, y = f(S, C) +- 1."""

    rows: pd.DataFrame
    f: np.ndarray

    def model(self, table):
        """Return the model whose prediction is ``table[S, C]``."""

        def predict(x):
            return table[x["S"].to_numpy(int), x["C"].to_numpy(int)]

        return pi.FittedModel(predict, self.rows[["S", "C"]], self.rows["y"])

    def pfi(self, table):
        n = len(self.rows)
        return (n - 1) / n * self.model(table).pfi("S").params.iloc[0]

    @property
    def at(self):
        return self.rows["S"].to_numpy(), self.rows["C"].to_numpy()

    @property
    def pairs(self):
        """S of the donor and C of the row, all pairs of rows."""
        s, c = self.at
        return np.repeat(s, len(s)), np.tile(c, len(s))


def population(rng, *, independent):
    weights = rng.integers(1, 4, (LEVELS, LEVELS))
    if independent:
        weights = np.outer(weights[0], weights[1])
    f = rng.normal(size=(LEVELS, LEVELS))
    s, c = (np.repeat(v.ravel(), 2 * weights.ravel()) for v in np.indices(f.shape))
    noise = np.where(np.arange(len(s)) % 2, 1.0, -1.0)  # each cell has as many of both
    return Population(pd.DataFrame({"S": s, "C": c, "y": f[s, c] + noise}), f)


seeds = st.integers(0, 10_000)
some = settings(deadline=None, max_examples=30)


@some
@given(seeds, st.booleans())
def test_the_bias_of_pfi_has_the_terms_of_appendix_f(seed, independent):
    rng = np.random.default_rng(seed)
    made = population(rng, independent=independent)
    models = rng.normal(size=(5, LEVELS, LEVELS))
    mean, variance = models.mean(axis=0), models.var(axis=0)
    s, c = made.at
    switched, stays = made.pairs
    f = np.tile(made.f[s, c], len(s))  # of the row, whose S is replaced
    permutation_bias = (f - mean[switched, stays]) ** 2 - (f - made.f[switched, stays]) ** 2
    model_bias = (made.f[s, c] - mean[s, c]) ** 2
    inflation = variance[switched, stays].mean() - variance[s, c].mean()
    bias = permutation_bias.mean() - model_bias.mean() + inflation
    expected = np.mean([made.pfi(table) for table in models])
    np.testing.assert_allclose(expected - made.pfi(made.f), bias, **EXACT)
    if independent:
        assert abs(inflation) < 1e-12


@some
@given(seeds)
def test_unbiased_learners_have_unbiased_pfi_if_features_are_independent(seed):
    """Corollary 1, and what is missing otherwise: the variance that extrapolation adds."""
    rng = np.random.default_rng(seed)
    shift = rng.normal(size=(2, LEVELS, LEVELS))
    for independent in (True, False):
        made = population(rng, independent=independent)
        models = made.f + np.concatenate([shift, -shift])  # E_F[f^] = f
        bias = np.mean([made.pfi(table) for table in models]) - made.pfi(made.f)
        variance = models.var(axis=0)
        inflation = variance[made.pairs].mean() - variance[made.at].mean()
        np.testing.assert_allclose(bias, 0 if independent else inflation, **EXACT)
