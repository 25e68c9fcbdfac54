"""Splits of bootstrap samples (Khan et al. 2025, Algorithms 1 and 2): who trains, who evaluates."""

import hypothesis.strategies as st
import numpy as np
import pytest
from fits import fit_of, words_of
from hypothesis import given, settings
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor
from test_resampling import checked_parts

import pyinterp as pi
from pyinterp.errors import DataError, OptionError


def parts_of(plan, n, **options):
    """The parts of every bootstrap sample."""
    parts = checked_parts(plan, n, **options)
    assert len(parts) == plan.number == plan.bootstraps * plan.splits
    for number, part in enumerate(parts):
        assert part.group is not None
        assert (part.group.kind, part.group.number) == ("bootstrap", number // plan.splits)
    return [parts[k : k + plan.splits] for k in range(0, len(parts), plan.splits)]


def both(part):
    return np.sort(np.concatenate([part.train.rows, part.evaluation.rows]))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    n=st.integers(20, 90),
    seed=st.integers(0, 2**16),
    fraction=st.sampled_from([0.5, 0.67, 0.8]),
    split_by=st.sampled_from(["row", "copy"]),
)
def test_every_split_is_of_one_bootstrap_sample(n, seed, fraction, split_by):
    plan = pi.NestedBootstrap(4, 3, fraction=fraction, split_by=split_by)
    for parts in parts_of(plan, n, seed=seed):
        drawn = both(parts[0])
        assert len(drawn) == n
        assert set(drawn) <= set(range(n))
        for part in parts:
            assert_array_equal(both(part), drawn)
            shared = set(part.train.rows) & set(part.evaluation.rows)
            if split_by == "row":
                assert not shared
                assert part.n_train == round(fraction * len(np.unique(drawn)))
                assert part.n_train + part.n_evaluation == len(np.unique(drawn))
            else:
                assert part.train.nobs == round(fraction * n)
                assert part.evaluation.nobs == n - round(fraction * n)


@pytest.mark.parametrize("split_by", ["row", "copy"])
def test_a_row_drawn_twice_trains_or_evaluates_twice(split_by):
    parts, _ = parts_of(pi.NestedBootstrap(2, 6, split_by=split_by), 60)
    copies = np.bincount(both(parts[0]), minlength=60)
    assert copies.max() > 1
    for part in parts:
        found = [np.bincount(s.rows, minlength=60) for s in (part.train, part.evaluation)]
        if split_by == "row":
            assert all((own[own > 0] == copies[own > 0]).all() for own in found)
        assert part.evaluation.nobs > part.n_evaluation
        assert part.train.nobs > part.n_train
        assert part.train.y is not None
        assert_array_equal(part.train.y, part.train.rows)


def test_shares_of_rows_and_of_leaked_copies_are_those_of_the_law():
    n, count = 60, 400
    by_row = parts_of(pi.NestedBootstrap(count, 1), n)
    # Distinct rows of a bootstrap sample: mean n (1 - (1 - 1/n)^n), sd below sqrt(n) / 2.
    distinct = np.array([len(np.unique(both(part))) for (part,) in by_row])
    expected = n * (1 - (1 - 1 / n) ** n)
    assert abs(distinct.mean() - expected) < 5 * np.sqrt(n) / 2 / np.sqrt(count)
    # Copies split as they come: a row that evaluates is one of n1 independent draws that train.
    by_copy = parts_of(pi.NestedBootstrap(count, 1, split_by="copy"), n)
    leaked = [np.isin(p.evaluation.rows, p.train.rows).mean() for (p,) in by_copy]
    share = 1 - (1 - 1 / n) ** round(0.67 * n)
    assert abs(np.mean(leaked) - share) < 5 * np.std(leaked, ddof=1) / np.sqrt(count)
    assert share > 0.48


def test_every_row_is_drawn_equally_often():
    n, count = 30, 400
    drawn = np.zeros(n)
    for (part,) in parts_of(pi.NestedBootstrap(count, 1), n):
        drawn += np.bincount(both(part), minlength=n)
    assert np.abs(drawn / count - 1).max() < 5 * np.sqrt((1 - 1 / n) / count)


@pytest.mark.parametrize("split_by", ["row", "copy"])
def test_clusters_are_whole(split_by):
    rng = np.random.default_rng(3)
    cluster = rng.permutation(np.repeat(np.arange(24), rng.integers(1, 6, size=24)))
    size = np.bincount(cluster)
    plan = pi.NestedBootstrap(5, 4, split_by=split_by, cluster="g")
    on_both_sides = 0
    for parts in parts_of(plan, len(cluster), cluster=cluster):
        drawn = np.bincount(cluster[both(parts[0])], minlength=24) // size
        assert drawn.sum() == 24
        for part in parts:
            for rows in (part.train.rows, part.evaluation.rows):
                copies = np.bincount(rows, minlength=len(cluster))
                for c in range(24):
                    assert len(set(copies[cluster == c])) == 1
            on_both_sides += len(set(cluster[part.train.rows]) & set(cluster[part.evaluation.rows]))
    assert (on_both_sides == 0) == (split_by == "row")


def test_bootstrap_samples_depend_neither_on_the_splits_nor_on_how_they_are_made():
    plans = [
        pi.NestedBootstrap(3, 2),
        pi.NestedBootstrap(5, 4),
        pi.NestedBootstrap(3, 2, fraction=0.5, split_by="copy"),
    ]
    drawn = [[both(parts[0]) for parts in parts_of(plan, 30, seed=7)][:3] for plan in plans]
    assert_array_equal(drawn[0], drawn[1])
    assert_array_equal(drawn[0], drawn[2])
    other = [both(parts[0]) for parts in parts_of(plans[0], 30, seed=8)]
    assert not np.array_equal(drawn[0], other)


@pytest.mark.parametrize("split_by", ["row", "copy"])
def test_every_training_part_has_every_class(split_by):
    y = np.repeat([0.0, 1.0, 2.0], [30, 26, 4])
    plan = pi.NestedBootstrap(30, 4, split_by=split_by)
    for parts in parts_of(plan, 60, y=y, classes=("a", "b", "c")):
        for part in parts:
            assert set(part.train.y) == {0.0, 1.0, 2.0}


def test_classes_that_can_not_all_train_are_an_error():
    rare = np.arange(20.0)  # of 20 classes a bootstrap sample lacks some
    with pytest.raises(DataError, match=r"must hold every class.*nested bootstrap.*rare classes"):
        parts_of(pi.NestedBootstrap(2, 2), 20, y=rare, classes=tuple("abcdefghijklmnopqrst"))
    half = np.arange(8.0) // 2  # bootstrap samples with all 4 are found, splits with all are not
    with pytest.raises(DataError, match="must hold every class") as caught:
        parts_of(pi.NestedBootstrap(40, 2, fraction=0.3), 8, y=half, classes=tuple("abcd"))
    assert "strata" not in str(caught.value)


def test_a_table_says_how_rows_were_split(data):
    row, copy = (
        fit_of("y ~ x + z", data, LinearRegression(), pi.NestedBootstrap(4, 3, split_by=by))
        for by in ("row", "copy")
    )
    table, other = (words_of(r.pfi()) for r in (row, copy))
    assert "No. refits: 12 " in table
    assert "Loss, out of sample:" in table
    assert "nested bootstrap, 4 x 3, by copy" in other
    assert "Loss, partly in sample:" in other


def test_copies_leak_and_rows_do_not():
    # A deep tree knows the responses of its training rows, and there is nothing else to know.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    learner = pi.Learner(y, X, DecisionTreeRegressor())
    honest, leaky = (
        learner.fit(pi.NestedBootstrap(10, 4, split_by=by), seed=1)
        .loss(relation="explained")
        .params.iloc[0]
        for by in ("row", "copy")
    )
    assert honest < 0
    assert leaky > honest + 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstraps": 1}, "`bootstraps` must be a whole number of at least 2, not 1"),
        ({"splits": 0}, "`splits` must be a whole number of at least 1, not 0"),
        ({"split_by": "rows"}, '`split_by` must be one of "row", "copy".*Did you mean `row`'),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        pi.NestedBootstrap(**options)


def test_too_few_rows_are_an_error():
    with pytest.raises(DataError, match="2 evaluation rows, but nested bootstrap, 30 x 2 of 5"):
        parts_of(pi.NestedBootstrap(30, 2), 5)
