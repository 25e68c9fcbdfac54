"""What is done to estimates: contributions against numerical derivatives, and rounding."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pyinterp.errors import InferenceError
from pyinterp.estimands.estimate import Estimate
from pyinterp.estimands.importance.losses import ROUNDING, difference, ratio, without_rounding

# Central differences with a step of 1e-5 err by its square, of numbers of order one.
STEP, NUMERICAL = 1e-5, 1e-8
N, Q = 9, 3

Function = Callable[..., np.ndarray]


def made(seed, *, donors, inexact=True):
    rng = np.random.default_rng(seed)
    rows, given = rng.normal(3.0, 1.0, size=(N, Q)), rng.normal(size=(N, Q))
    noise = rng.uniform(0.1, 0.9, size=Q) if inexact else np.zeros(Q)
    own = given - given.mean(axis=0) if donors else None
    return replace(Estimate.of_rows(rows), donors=own, mc_variance=noise)


def derivative(function, at, along):
    """Numerical derivative of a function of several arrays, along one direction of each."""
    up, down = (
        function(*(a + sign * STEP * b for a, b in zip(at, along, strict=True))) for sign in (1, -1)
    )
    return (up - down) / (2 * STEP)


def assert_delta_method(found, function, *parts):
    """Rows and donors move the value as they move what it is a function of."""
    at = [part.value for part in parts]
    zero = np.zeros((N, Q))
    assert_allclose(found.value, function(*at), rtol=1e-12)
    for i in range(N):
        along = [part.rows[i] - part.value for part in parts]
        slope = derivative(function, at, along)
        assert_allclose(found.rows[i] - found.value, slope, atol=NUMERICAL)
        given = [(zero if part.donors is None else part.donors)[i] for part in parts]
        slope = derivative(function, at, given)
        donors = np.zeros((N, len(found.value))) if found.donors is None else found.donors
        assert_allclose(donors[i], slope, atol=NUMERICAL)


def assert_monte_carlo(found, function, *parts):
    """Independent Monte Carlo errors go through the derivatives."""
    at = [part.value for part in parts]
    expected = np.zeros(len(found.value))
    for k, part in enumerate(parts):
        for j, variance in enumerate(part.mc_variance):
            along = [np.zeros(Q) for _ in parts]
            along[k][j] = 1.0
            expected += derivative(function, at, along) ** 2 * variance
    assert_allclose(found.mc_variance, expected, rtol=1e-6)


BOTH = [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize(("above", "below"), BOTH)
def test_a_ratio_has_the_contributions_of_both_sides(above, below):
    top, bottom = made(1, donors=above), made(2, donors=below)
    found = top.over(bottom)
    assert (found.donors is None) == (not above and not below)
    assert_delta_method(found, np.divide, top, bottom)
    assert_monte_carlo(found, np.divide, top, bottom)


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_a_difference_has_the_contributions_of_both_sides(first, second):
    one, other = made(1, donors=first), made(2, donors=second, inexact=False)
    found = one.minus(other)
    assert (found.donors is None) == (not first and not second)
    assert_delta_method(found, np.subtract, one, other)
    assert_monte_carlo(found, np.subtract, one, other)
    # Whose errors are drawn with the same permutations is not known here.
    assert np.isnan(one.minus(made(2, donors=second)).mc_variance).all()
    assert_array_equal(other.minus(one).mc_variance, one.mc_variance)


@pytest.mark.parametrize("donors", [False, True])
def test_functions_have_contributions_by_their_derivatives(donors):
    one, weights = made(1, donors=donors), np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    linear = one.linear(weights)
    assert (linear.donors is None) == (not donors)
    assert_delta_method(linear, lambda v: weights @ v, one)
    assert_monte_carlo(linear, lambda v: weights @ v, one)

    def root(v):
        return np.sqrt(weights @ v + 9)

    smooth = one.through(root(one.value), weights / (2 * root(one.value)[:, None]))
    assert_delta_method(smooth, root, one)
    assert_monte_carlo(smooth, root, one)


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_estimates_side_by_side_keep_their_donors(first, second):
    one, other = made(1, donors=first), made(2, donors=second)
    found = Estimate.stack([one, other])
    assert (found.donors is None) == (not first and not second)
    zero = np.zeros((N, Q))
    assert_array_equal(found.value, np.r_[one.value, other.value])
    assert_array_equal(found.rows, np.c_[one.rows, other.rows])
    assert_array_equal(found.mc_variance, np.r_[one.mc_variance, other.mc_variance])
    if found.donors is not None:
        parts = [zero if e.donors is None else e.donors for e in (one, other)]
        assert_array_equal(found.donors, np.concatenate(parts, axis=1))


def test_a_ratio_to_0_is_missing():
    top, bottom = made(1, donors=True), made(2, donors=True)
    bottom.rows[:, 1] -= bottom.value[1]
    bottom.value[1] = 0.0
    found = top.over(bottom)
    for values in (found.value, found.rows, found.donors, found.mc_variance):
        assert_array_equal(np.isnan(np.atleast_2d(values)[0]), [False, True, False])


def rounded(size, donor=None):
    """A loss that one row, or one donor, makes smaller or larger, beside one that many change."""
    rows = np.array([[size, 1e3], [0.0, 1e3], [0.0, 1e3]])
    donors = None if donor is None else np.array([[0.0, 1e3], [donor, -1e3], [0.0, 0.0]])
    return replace(Estimate.of_rows(rows), donors=donors, mc_variance=np.full(2, 2.0))


def parts_of(estimate):
    parts = estimate.value, estimate.rows, estimate.mc_variance, estimate.donors
    return [part for part in parts if part is not None]


# A share of 1e-12 of the loss is more than sums of a million rows lose by rounding.
LITTLE, MUCH = 0.99e-12, 1.01e-12


@pytest.mark.parametrize("loss", [1.0, -1.0, 1e6, 1e-6])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_difference_is_0_up_to_a_rounding_of_the_loss(loss, sign):
    """Seen in any row, or donor, of any sign; each term for itself."""
    assert ROUNDING == 1e-12
    scale = np.full(2, loss)
    much, little = sign * MUCH * abs(loss), sign * LITTLE * abs(loss)
    for kept in (rounded(much), rounded(0.0, much), rounded(much, 0.0), rounded(little, much)):
        found = without_rounding(kept, scale)
        for values, before in zip(parts_of(found), parts_of(kept), strict=True):
            assert_array_equal(values, before)
    for lost in (rounded(little), rounded(little, little), rounded(little, -little)):
        found = without_rounding(lost, scale)
        for values, before in zip(parts_of(found), parts_of(lost), strict=True):
            assert not values[..., 0].any()
            assert_array_equal(values[..., 1], before[..., 1])


@pytest.mark.parametrize(("change", "is_zero"), [(2.0**-21, True), (2.0**-19, False)])
def test_rounding_is_a_share_of_the_original_loss(change, is_zero):
    """Powers of 2, so that sums and differences are exact; 2**-40 is 0.9e-12."""
    loss = np.full((4, 1), 2.0**20)
    changed = loss + change * np.array([[1.0], [1.0], [0.0], [0.0]])
    found = difference({"changed": Estimate.of_rows(changed), "original": Estimate.of_rows(loss)})
    assert found.value[0] == (0.0 if is_zero else change / 2)


def test_a_ratio_needs_a_positive_loss():
    one = Estimate.of_rows(np.ones((3, 2)))
    for values in ([1.0, 0.0], [1.0, -1.0]):
        with pytest.raises(InferenceError, match="needs a positive loss"):
            ratio({"changed": one, "original": Estimate.of_rows(np.tile(values, (3, 1)))})
    three, two = (Estimate.of_rows(np.full((3, 2), value)) for value in (3.0, 2.0))
    found = ratio({"changed": three, "original": two})
    assert_array_equal(found.value, [1.5, 1.5])
