"""Metrics of probabilities, tiny ones and of many classes, as R's yardstick defines them."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_situations import ONCE

import pyinterp as pi

few = settings(max_examples=25, derandomize=True, deadline=None, database=None, phases=ONCE)


@few
@given(
    seed=st.integers(0, 999),
    exponent=st.sampled_from([0, -6, -12, -13, -15, -30, -200]),
    ties=st.booleans(),
    high=st.booleans(),
)
def test_areas_know_no_smallest_probability(seed, exponent, ties, high):
    """Scores are ordered as they are, whatever their size; equal ones are ties."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.01, 0.9, size=(30, 2))
    x = np.round(x * 5) / 5 + 0.05 if ties else x
    y = np.where(rng.random(30) < 0.3 + 0.4 * x[:, 0] ** 2, "yes", "no")
    y[:2] = "yes", "no"

    def probability(rows):
        rows = np.asarray(rows)
        p = (rows[:, 0] + rows[:, 1]) / 2 * 10.0**exponent
        p = np.round(p, 2) if exponent == 0 else p
        return np.stack([p, 1 - p], axis=1) if high else np.stack([1 - p, p], axis=1)

    # Beside 1 the small probability is lost, so the classes are ordered by which one is small.
    classes = ["yes", "no"] if high else ["no", "yes"]
    codes = (y == classes[1]).astype(int)
    donors = {"x1": np.stack([rng.permutation(30) for _ in range(4)], axis=1)}
    model = pi.FittedModel(probability, x, y, classes=classes)
    got = model.pfi("x1", metric="roc_auc", permutations=donors).params["x1"]
    value = naive.metric_importance(probability, x, codes, [0], "roc_auc", donors["x1"])
    assert got == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("number", [2, 3, 5])
@few
@given(seed=st.integers(0, 999), lose=st.booleans())
def test_brier_of_many_classes(number, seed, lose):
    rng = np.random.default_rng(seed)
    x, A = rng.normal(size=(30, 3)), rng.normal(size=(3, number))
    codes = rng.integers(0, number - (lose and number > 2), size=30)
    classes = [f"class {k}" for k in rng.permutation(number)]

    def probability(rows):
        p = np.exp(np.asarray(rows) @ A)
        return p / p.sum(axis=1, keepdims=True)

    donors = {"x2": np.stack([rng.permutation(30) for _ in range(4)], axis=1)}
    model = pi.FittedModel(probability, x, np.array(classes)[codes], classes=classes)
    got = model.pfi("x2", metric="brier", permutations=donors).params["x2"]
    value = naive.metric_importance(probability, x, codes, [1], "brier", donors["x2"])
    assert got == pytest.approx(value, rel=1e-9, abs=1e-12)
