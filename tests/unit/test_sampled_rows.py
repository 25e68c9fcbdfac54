"""At most so many evaluation rows: a random sample, with its error in ``mcse``."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.estimands.estimate import Estimate

ROUNDING = 1e-12
CALLS = 300
# Four standard errors of a variance of so many draws.
CHANCE = 4 * np.sqrt(2 / CALLS)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_variance_is_unbiased_over_all_samples(n: int) -> None:
    values = np.random.default_rng(0).normal(size=(7, 2)) ** 3
    samples = [values[list(chosen)] for chosen in combinations(range(7), n)]
    estimates = [Estimate.of_rows(rows).of_sample(n / 7) for rows in samples]
    true = np.var([e.value for e in estimates], axis=0)
    stated = np.mean([e.mc_variance for e in estimates], axis=0)
    np.testing.assert_allclose(stated, true, rtol=ROUNDING)


@pytest.fixture(scope="module")
def learner() -> pi.Learner:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"])
    frame["y"] = frame["a"] + rng.normal(size=600) ** 3
    return pi.Learner.from_formula("y ~ a + b", frame, LinearRegression())


PLAN = [(np.arange(k, k + 300), np.setdiff1d(np.arange(600), np.arange(k, k + 300)))
        for k in (0, 150, 300)]  # fmt: skip
QUIET: dict[str, Any] = {"progress": False}


def test_estimates_of_samples_vary_as_mcse_says(learner: pi.Learner) -> None:
    """The models and all evaluation rows are the same in every call: the sample alone varies."""
    estimates, stated = [], []
    for seed in range(CALLS):
        results = learner.fit(PLAN, seed=seed, max_evaluation_rows=100, **QUIET)
        terms = [results.loss(), results.pfi()]
        estimates.append(np.concatenate([each.params for each in terms]))
        stated.append(np.concatenate([each.mcse**2 for each in terms]))
    whole = learner.fit(PLAN, seed=1, **QUIET)
    true = np.concatenate([whole.loss().params, whole.pfi().params])
    variance = np.var(estimates, axis=0, ddof=1)
    ratio = variance / np.mean(stated, axis=0)
    assert (np.abs(ratio - 1) < CHANCE).all(), ratio
    assert (np.abs(np.mean(estimates, axis=0) - true) < 4 * np.sqrt(variance / CALLS)).all()


def test_enough_rows_change_nothing(learner: pi.Learner) -> None:
    usual = learner.fit(PLAN, seed=1, **QUIET).pfi().tidy()
    enough = learner.fit(PLAN, seed=1, max_evaluation_rows=300, **QUIET).pfi().tidy()
    pd.testing.assert_frame_equal(usual, enough, check_exact=True)


def test_the_error_is_printed_saved_and_measured(learner: pi.Learner, tmp_path: Path) -> None:
    options: dict[str, Any] = {"seed": 1, "max_evaluation_rows": 50, **QUIET}
    usual = learner.fit(PLAN, **options)
    dropped = learner.fit(PLAN, keep_models=False, measure=lambda r: r.pfi(), **options)
    dropped.save(tmp_path / "a.pyinterp")
    loaded = pi.load(tmp_path / "a.pyinterp")
    assert (usual.pfi().mcse > 0).all()
    assert "as some of all evaluation rows" in " ".join(str(usual.pfi().summary()).split())
    for other in (dropped, loaded):
        pd.testing.assert_frame_equal(usual.pfi().tidy(), other.pfi().tidy(), check_exact=True)


def test_a_sample_needs_two_rows(learner: pi.Learner) -> None:
    with pytest.raises(pi.errors.OptionError, match="max_evaluation_rows"):
        learner.fit(max_evaluation_rows=1)
