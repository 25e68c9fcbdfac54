"""Estimates are sorted by what their refits are for, and combined part by part."""

from __future__ import annotations

import numpy as np

from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import RefitEstimate, Replicates, combine
from pyinterp.inference.replicates import contributions, row_effects
from pyinterp.resampling import Group


def one(value: float) -> Estimate:
    return Estimate.of_rows(np.array([[value], [value]]))


def found(value: float, group: Group | None) -> RefitEstimate:
    at = int(value)
    return RefitEstimate(one(value), np.array([at, at + 1]), group, np.array([at, at]))


def values(replicates: Replicates) -> list[float]:
    return [float(e.value[0]) for e in replicates.estimates]


def test_pairs_do_not_estimate_beside_others() -> None:
    pairs = [found(v, Group("pair", number)) for v, number in ((5, 1), (6, 0), (7, 1), (8, 2))]
    replicates = Replicates(
        refits=(found(1, None), *pairs, found(2, None)), correction=0.5, no_effect=0.0
    )
    assert values(replicates) == [1.0, 2.0]
    assert replicates.has_own_refits
    # Of the pair 0 and of the pair 2 one refit failed.
    ((first, second),) = replicates.pairs
    assert (first.estimate.value[0], second.estimate.value[0]) == (5.0, 7.0)
    np.testing.assert_array_equal(second.rows, [7, 8])
    assert (replicates.correction, replicates.no_effect) == (0.5, 0.0)
    assert replicates.folds == ()
    assert replicates.bootstraps is None
    np.testing.assert_array_equal(replicates.rows, [[1, 2], [2, 3]])
    np.testing.assert_array_equal(replicates.clusters, [[1, 1], [2, 2]])
    alone = Replicates(refits=tuple(pairs), correction=0.5)
    assert values(alone) == [5.0, 6.0, 7.0, 8.0]
    assert not alone.has_own_refits


def test_folds_have_their_inner_refits() -> None:
    refits = [
        found(1, Group("fold", 0, size=3)),
        found(2, Group("fold", 0, inner=True, size=3)),
        found(3, Group("fold", 0, inner=True, size=3)),
        found(4, Group("fold", 1, inner=True, size=3)),
        found(5, Group("fold", 2, size=3)),
    ]
    replicates = Replicates(refits=tuple(refits), correction=0.5)
    assert values(replicates) == [1.0, 5.0]
    first, second = replicates.folds  # of fold 1 the refit that estimates failed
    assert (first.outer.value[0], first.number) == (1.0, 3)
    assert [e.value[0] for e in first.inner] == [2.0, 3.0]
    assert (second.outer.value[0], second.inner) == (5.0, ())


def test_bootstrap_samples_are_numbered() -> None:
    refits = [found(v, Group("bootstrap", number)) for v, number in ((1, 4), (2, 4), (3, 7))]
    replicates = Replicates(refits=tuple(refits), correction=0.5)
    np.testing.assert_array_equal(replicates.bootstraps, [4, 4, 7])
    assert values(replicates) == [1.0, 2.0, 3.0]


def test_functions_of_several_estimands_are_taken_part_by_part() -> None:
    def made(shift: float) -> Replicates:
        refits = [found(1 + shift, None), found(2 + shift, None)]
        refits += [found(v + shift, Group("pair", 0)) for v in (3, 4)]
        refits += [found(5 + shift, Group("fold", 0, size=2))]
        refits += [found(6 + shift, Group("fold", 0, inner=True, size=2))]
        return Replicates(refits=tuple(refits), correction=0.5, no_effect=0.0)

    first, second = made(10.0), made(0.0)
    both = combine(Estimate.minus, [first, second], no_effect=None)
    assert values(both) == [10.0] * 3
    ((one_half, other_half),) = both.pairs
    assert (one_half.estimate.value[0], other_half.estimate.value[0]) == (10.0, 10.0)
    np.testing.assert_array_equal(one_half.rows, first.pairs[0][0].rows)
    (fold,) = both.folds
    assert (fold.outer.value[0], fold.inner[0].value[0], fold.number) == (10.0, 10.0, 2)
    assert both.no_effect is None
    assert both.correction == 0.5


def test_effects_of_rows_are_means_over_the_times_that_they_evaluate() -> None:
    rows = np.array([[1.0], [3.0], [5.0]])
    donors = np.array([[1.0], [0.0], [-1.0]])
    with_donors = Estimate(value=np.array([3.0]), rows=rows, donors=donors, mc_variance=np.zeros(1))
    np.testing.assert_array_equal(contributions(with_donors)[:, 0], [2.0, 3.0, 4.0])
    without = Estimate.of_rows(np.array([[4.0], [0.0]]))
    np.testing.assert_array_equal(contributions(without), without.rows)
    position, effects = row_effects([with_donors, without], [np.array([9, 2, 2]), np.array([5, 9])])
    # Rows 2, 5 and 9: (0 + 1) / 2, 2, (-1 - 2) / 2.
    np.testing.assert_allclose(effects[:, 0], [0.5, 2.0, -1.5])
    np.testing.assert_array_equal(position, [2, 0, 0, 1, 2])
