"""What is done to estimates: contributions against numerical derivatives, and rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

from pyinterp.errors import InferenceError
from pyinterp.estimands.base import Estimate
from pyinterp.estimands.relation import ROUNDING, difference, ratio, without_rounding

# Central differences with a step of 1e-5 err by its square, of numbers of order one.
STEP, NUMERICAL = 1e-5, 1e-8
N, Q = 9, 3

Function: TypeAlias = Callable[..., np.ndarray]


def made(seed: int, *, donors: bool, inexact: bool = True) -> Estimate:
    rng = np.random.default_rng(seed)
    rows, given = rng.normal(3.0, 1.0, size=(N, Q)), rng.normal(size=(N, Q))
    return Estimate(
        value=rows.mean(axis=0),
        rows=rows,
        donors=given - given.mean(axis=0) if donors else None,
        mc_variance=rng.uniform(1, 2, size=Q) if inexact else np.zeros(Q),
    )


def derivative(function: Function, at: list[np.ndarray], along: list[np.ndarray]) -> np.ndarray:
    """Numerical derivative of a function of several arrays, along one direction of each."""
    up, down = (
        function(*(a + sign * STEP * b for a, b in zip(at, along, strict=True))) for sign in (1, -1)
    )
    return (up - down) / (2 * STEP)


def assert_delta_method(found: Estimate, function: Function, *parts: Estimate) -> None:
    """Rows and donors move the value as they move what it is a function of."""
    at = [part.value for part in parts]
    zero = np.zeros((N, Q))
    np.testing.assert_allclose(found.value, function(*at), rtol=1e-12)
    for i in range(N):
        along = [part.rows[i] - part.value for part in parts]
        slope = derivative(function, at, along)
        np.testing.assert_allclose(found.rows[i] - found.value, slope, atol=NUMERICAL)
        given = [(zero if part.donors is None else part.donors)[i] for part in parts]
        slope = derivative(function, at, given)
        donors = np.zeros((N, len(found.value))) if found.donors is None else found.donors
        np.testing.assert_allclose(donors[i], slope, atol=NUMERICAL)


def assert_monte_carlo(found: Estimate, function: Function, *parts: Estimate) -> None:
    """Independent Monte Carlo errors go through the derivatives."""
    at = [part.value for part in parts]
    expected = np.zeros(len(found.value))
    for k, part in enumerate(parts):
        for j, variance in enumerate(part.mc_variance):
            along = [np.zeros(Q) for _ in parts]
            along[k][j] = 1.0
            expected += derivative(function, at, along) ** 2 * variance
    np.testing.assert_allclose(found.mc_variance, expected, rtol=1e-6)


BOTH = [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize(("above", "below"), BOTH)
def test_a_ratio_has_the_contributions_of_both_sides(above: bool, below: bool) -> None:
    top, bottom = made(1, donors=above), made(2, donors=below)
    found = top.over(bottom)
    assert (found.donors is None) == (not above and not below)
    assert_delta_method(found, np.divide, top, bottom)
    assert_monte_carlo(found, np.divide, top, bottom)


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_a_difference_has_the_contributions_of_both_sides(first: bool, second: bool) -> None:
    one, other = made(1, donors=first), made(2, donors=second, inexact=False)
    found = one.minus(other)
    assert (found.donors is None) == (not first and not second)
    assert_delta_method(found, np.subtract, one, other)
    assert_monte_carlo(found, np.subtract, one, other)
    # Whose errors are drawn with the same permutations is not known here.
    assert np.isnan(one.minus(made(2, donors=second)).mc_variance).all()
    np.testing.assert_array_equal(other.minus(one).mc_variance, one.mc_variance)


@pytest.mark.parametrize("donors", [False, True])
def test_functions_have_contributions_by_their_derivatives(donors: bool) -> None:
    one, weights = made(1, donors=donors), np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    linear = one.linear(weights)
    assert (linear.donors is None) == (not donors)
    assert_delta_method(linear, lambda v: weights @ v, one)
    assert_monte_carlo(linear, lambda v: weights @ v, one)

    def root(v: np.ndarray) -> np.ndarray:
        return np.sqrt(weights @ v + 9)

    smooth = one.through(root(one.value), weights / (2 * root(one.value)[:, None]))
    assert_delta_method(smooth, root, one)
    assert_monte_carlo(smooth, root, one)


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_estimates_side_by_side_keep_their_donors(first: bool, second: bool) -> None:
    one, other = made(1, donors=first), made(2, donors=second)
    found = Estimate.stack([one, other])
    assert (found.donors is None) == (not first and not second)
    zero = np.zeros((N, Q))
    np.testing.assert_array_equal(found.value, np.r_[one.value, other.value])
    np.testing.assert_array_equal(found.rows, np.c_[one.rows, other.rows])
    np.testing.assert_array_equal(found.mc_variance, np.r_[one.mc_variance, other.mc_variance])
    if found.donors is not None:
        parts = [zero if e.donors is None else e.donors for e in (one, other)]
        np.testing.assert_array_equal(found.donors, np.concatenate(parts, axis=1))


def test_a_ratio_to_0_is_missing() -> None:
    top, bottom = made(1, donors=True), made(2, donors=True)
    bottom.rows[:, 1] -= bottom.value[1]
    bottom.value[1] = 0.0
    found = top.over(bottom)
    for values in (found.value, found.rows, found.donors, found.mc_variance):
        np.testing.assert_array_equal(np.isnan(np.atleast_2d(values)[0]), [False, True, False])


def rounded(size: float, donor: float | None = None) -> Estimate:
    """A loss of 0 on average that some rows change by so much."""
    rows = np.array([[size], [-size], [0.0]])
    donors = None if donor is None else np.array([[0.0], [-donor], [donor]])
    return Estimate(value=np.zeros(1), rows=rows, donors=donors, mc_variance=np.full(1, 2.0))


# A share of 1e-12 of the loss is more than sums of a million rows lose by rounding.
LITTLE, MUCH = 0.99e-12, 1.01e-12


@pytest.mark.parametrize("loss", [1.0, -1.0, 1e6, 1e-6])
def test_a_difference_is_0_up_to_a_rounding_of_the_loss(loss: float) -> None:
    """Seen in any row, or donor, of any sign; a mean can be 0 where rows are not."""
    assert ROUNDING == 1e-12
    scale = np.array([loss])
    size = abs(loss)
    for kept in (rounded(MUCH * size), rounded(0.0, MUCH * size), rounded(MUCH * size, 0.0)):
        found = without_rounding(kept, scale)
        np.testing.assert_array_equal(found.rows, kept.rows)
        np.testing.assert_array_equal(found.mc_variance, [2.0])
        if kept.donors is not None:
            np.testing.assert_array_equal(found.donors, kept.donors)
    for lost in (rounded(LITTLE * size), rounded(LITTLE * size, LITTLE * size)):
        moved = Estimate(
            value=lost.value + LITTLE * size / 2,
            rows=lost.rows,
            donors=lost.donors,
            mc_variance=lost.mc_variance,
        )
        found = without_rounding(moved, scale)
        assert not found.value.any()
        assert not found.rows.any()
        assert not found.mc_variance.any()
        assert (found.donors is None) == (lost.donors is None)
        assert found.donors is None or not found.donors.any()


@pytest.mark.parametrize(("change", "is_zero"), [(2.0**-21, True), (2.0**-19, False)])
def test_rounding_is_a_share_of_the_original_loss(change: float, is_zero: bool) -> None:
    """Powers of 2, so that sums and differences are exact; 2**-40 is 0.9e-12."""
    loss = np.full((4, 1), 2.0**20)
    changed = loss + change * np.array([[1.0], [1.0], [0.0], [0.0]])
    found = difference(Estimate.of_rows(changed), Estimate.of_rows(loss))
    assert found.value[0] == (0.0 if is_zero else change / 2)


def test_a_ratio_needs_a_positive_loss() -> None:
    one = Estimate.of_rows(np.ones((3, 2)))
    for values in ([1.0, 0.0], [1.0, -1.0]):
        with pytest.raises(InferenceError, match="needs a positive loss"):
            ratio(one, Estimate.of_rows(np.tile(values, (3, 1))))
    np.testing.assert_array_equal(ratio(one, one).value, [1.0, 1.0])
