"""Estimates are sorted by what their refits are for, and added up row by row."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import RefitEstimate, Replicates, combine
from pyinterp.inference.half_sample.variance import half_sample_t
from pyinterp.inference.refit_sums import RefitSums, contributions
from pyinterp.resampling import Group


def one(value):
    return Estimate.of_rows(np.array([[value], [value]]))


def found(value, group):
    at = int(value)
    return RefitEstimate(one(value), np.array([at, at + 1]), group, np.array([at, at]))


def values(replicates):
    return [float(value) for value in replicates.per_refit[:, 0]]


def test_pairs_do_not_estimate_beside_others():
    pairs = [found(v, Group("pair", number)) for v, number in ((5, 1), (6, 0), (7, 1), (8, 2))]
    # Distinct clusters by row are a fact of the rows: here every row has its own.
    every = [one._replace(clusters=one.rows) for one in (found(1, None), *pairs, found(2, None))]
    replicates = Replicates.of(every, correction=0.5, no_effect=0.0)
    assert values(replicates) == [1.0, 2.0]
    evaluations = replicates.evaluations
    assert evaluations.has_own_refits
    # Of the pair 0 and of the pair 2 one refit failed.
    assert evaluations.pairs == ((1, 3),)
    assert_array_equal(replicates.of_pairs, [[[5.0], [7.0]]])
    assert_array_equal(evaluations.rows[evaluations.at[3]], [7, 8])
    assert (evaluations.correction, replicates.no_effect) == (0.5, 0.0)
    assert evaluations.bootstraps is None
    assert_array_equal(evaluations.rows[evaluations.times > 0], [1, 2, 3])
    assert_array_equal(evaluations.clusters, evaluations.rows)
    alone = Replicates.of(pairs, correction=0.5)
    assert values(alone) == [5.0, 6.0, 7.0, 8.0]
    assert not alone.evaluations.has_own_refits


def test_differences_are_taken_part_by_part():
    def made(shift):
        refits = [found(1, None), found(2, None)]
        refits += [found(v, Group("pair", 0)) for v in (3, 4)]
        moved = [each._replace(estimate=one(each.estimate.value[0] + shift)) for each in refits]
        return Replicates.of(moved, correction=0.5, no_effect=0.0)

    first, second = made(10.0), made(0.0)
    both = combine([first, second], first.sums.minus(second.sums))
    assert values(both) == [10.0] * 2
    np.testing.assert_array_equal(both.of_pairs, [[[10.0], [10.0]]])
    assert both.no_effect is None
    assert both.evaluations.correction == 0.5


def test_differences_have_a_known_noise_where_one_side_has_none():
    """Both sides may share draws, so that their noise is not that of independent ones."""
    noise = [0.2, 0.2, 0.0], [0.3, 0.0, 0.0]
    mine, its = (RefitSums(values=np.ones((1, 3)), mc_variance=np.array([v])) for v in noise)
    assert_array_equal(mine.minus(its).mc_variance, [[np.nan, 0.2, 0.0]])
    assert_array_equal(its.minus(mine).mc_variance, [[np.nan, 0.2, 0.0]])


def test_effects_of_rows_are_means_over_the_times_that_they_evaluate():
    rows = np.array([[1.0], [3.0], [5.0]])
    donors = np.array([[1.0], [0.0], [-1.0]])
    with_donors = Estimate(value=np.array([3.0]), rows=rows, donors=donors, mc_variance=np.zeros(1))
    assert_array_equal(contributions(with_donors)[:, 0], [2.0, 3.0, 4.0])
    without = Estimate.of_rows(np.array([[4.0], [0.0]]))
    assert_array_equal(contributions(without), without.rows)
    for first, second in ((with_donors, without), (without, with_donors)):
        at = {id(with_donors): np.array([9, 2, 2]), id(without): np.array([5, 9])}
        replicates = Replicates.of([RefitEstimate(e, at[id(e)]) for e in (first, second)])
        # Rows 2, 5 and 9: (0 + 1) / 2, 2, (-1 - 2) / 2.
        assert_array_equal(replicates.evaluations.rows, [2, 5, 9])
        assert_allclose(replicates.effects[:, 0], [0.5, 2.0, -1.5])
        # Without what they do as donors: (3 + 5) / 2, 4, (1 + 0) / 2.
        assert_allclose(replicates.row_means[:, 0], [4.0, 4.0, 0.5])


def contributions_by_refit(refits, term):
    return [
        dict(zip(one.rows, contributions(one.estimate)[:, term], strict=True)) for one in refits
    ]


@pytest.fixture
def refits():
    """Three refits that estimate and two pairs, of 12 rows and two terms that rows donate to."""
    rng = np.random.default_rng(0)
    groups = [None, None, None, *(Group("pair", k) for k in (0, 0, 1, 1))]
    order = rng.permutation(12)
    parts = [rng.permutation(12)[:5] for _ in range(3)]
    parts += [order[:6], order[6:], order[::2], order[1::2]]
    made = []
    for group, rows in zip(groups, parts, strict=True):
        values, donors = rng.normal(size=(2, len(rows), 2))
        estimate = Estimate(
            value=values.mean(axis=0),
            rows=values,
            donors=donors - donors.mean(axis=0),
            mc_variance=rng.random(2),
            below=np.broadcast_to(rng.random((len(rows), 1)), (len(rows), 2)),
        )
        made.append(RefitEstimate(estimate, rows, group))
    return made


def test_sums_are_those_of_a_loop_over_rows(refits):
    """The old way, row by row and refit by refit."""
    replicates = Replicates.of(refits, share=0.5)
    measured, first = replicates.sums, refits[3].estimate.value
    for term in range(2):
        every = contributions_by_refit(refits, term)
        for place, row in enumerate(replicates.evaluations.rows):
            away = [t[row] - r.estimate.value[term]
                    for t, r in zip(every[:3], refits[:3], strict=True) if row in t]  # fmt: skip
            assert measured.effects[place, term] == pytest.approx(sum(away), abs=1e-14)
            assert measured.shares[place, term] == pytest.approx(sum(away) / 5, abs=1e-14)
            halves = [t[row] - first[term] for t in every[3:] if row in t]
            assert measured.halves[place, term] == pytest.approx(sum(halves), abs=1e-14)
    assert measured.below.shape == (12, 1)
    assert all(not len(estimate.rows) for estimate in measured.single)


def test_pairs_may_come_in_any_order(refits):
    """The level of sums over halves is that of the pair which is whole first."""
    short = [*refits]
    for k in (3, 5):  # halves of 5 and 6 rows
        rows = refits[k].estimate.rows[:5]
        short[k] = RefitEstimate(Estimate.of_rows(rows), refits[k].rows[:5], refits[k].group)
    usual = half_sample_t(Replicates.of(short)).cov
    for order in ((3, 5, 6, 4), (5, 3, 4, 6), (4, 5, 6, 3)):
        found = half_sample_t(Replicates.of([*short[:3], *(short[k] for k in order)])).cov
        assert_allclose(found, usual, rtol=1e-10)


def test_losses_below_may_be_of_one_term_or_of_all(refits):
    def with_below(k, below):
        return refits[k]._replace(estimate=replace(refits[k].estimate, below=below))

    plain = Replicates.of(refits[:3]).sums
    copied = [with_below(k, np.array(refits[k].estimate.below)) for k in range(3)]
    assert_array_equal(Replicates.of(copied).sums.below, plain.below)
    other = np.column_stack([refits[1].estimate.below[:, 0], np.arange(5.0)])
    for place in range(3):
        some = [*refits[:3]]
        some[place] = with_below(place, other)
        wide = Replicates.of(some)
        assert wide.sums.below.shape == (len(wide.evaluations.rows), 2)
        assert wide.sums.losses.shape == (3, 2)
        assert wide.skewness.shape == (2,)
        away = other[:, 1] - 2
        rest = [np.asarray(r.estimate.below)[:, 0] for r in refits[:3]]
        expected = np.zeros(12)
        for k, each in enumerate(refits[:3]):
            values = away if k == place else rest[k] - rest[k].mean()
            expected[each.rows] += values
        assert_allclose(wide.sums.below[:, 1], expected[wide.evaluations.rows])


def test_a_half_without_the_other_is_in_no_sum(refits):
    whole, lacking = Replicates.of(refits), Replicates.of(refits[:-1])
    only = Replicates.of(refits[:-2])
    assert_array_equal(lacking.sums.halves, only.sums.halves)
    assert not np.array_equal(whole.sums.halves, only.sums.halves)
