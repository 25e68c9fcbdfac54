"""Resampling plans: who trains, who evaluates, and the correction that follows."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.data.sample import Response, Sample
from pyinterp.errors import DataError, OptionError, RefitError
from pyinterp.resampling import Units

# A share of n = 1000 distinct rows has a standard deviation below 0.01 per bootstrap draw
# (sd of the number of distinct rows is about sqrt(n (e^-1 - 2 e^-2)) = 10); over 200 draws five
# standard errors are 0.0035, and the ratio of two such shares stays below three times that.
FIVE_SE = 0.0035
RATIO_FIVE_SE = 3 * FIVE_SE

PLANS = [
    pi.Bootstrap(6),
    pi.Subsampling(6),
    pi.Subsampling(6, fraction=0.5),
    pi.Holdout(0.7),
    pi.CrossValidation(5, repeats=2),
]


def sample_of(y, classes=None):
    n = len(y)
    return Sample(
        variables=pd.DataFrame({"x": np.arange(n, dtype=float)}),
        y=np.asarray(y, float),
        response=Response(name="y", classes=classes),
        rows=np.arange(n),
    )


def checked_parts(plan, n, *, cluster=None, strata=None, seed=0, y=None, classes=None):
    sample = sample_of(np.arange(n) if y is None else y, classes)
    units = Units.make(n, cluster, strata)
    parts = list(plan.parts(sample, units, np.random.default_rng(seed), lambda data: data))
    for part in parts:
        assert part.n_train == len(np.unique(units.of_row[part.train.rows]))
        assert part.n_evaluation == len(np.unique(units.of_row[part.evaluation.rows]))
    return parts


def parts_of(*plan, **options):
    return [(part.train, part.evaluation) for part in checked_parts(*plan, **options)]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(n=st.integers(20, 90), seed=st.integers(0, 2**16), which=st.integers(0, len(PLANS) - 1))
def test_training_and_evaluation_rows_are_disjoint_and_complete(n, seed, which):
    plan = PLANS[which]
    parts = parts_of(plan, n, seed=seed)
    assert len(parts) == plan.number
    for train, evaluation in parts:
        assert not set(train.rows) & set(evaluation.rows)
        assert sorted({*train.rows, *evaluation.rows}) == list(range(n))
        assert len(set(evaluation.rows)) == evaluation.nobs


@pytest.mark.parametrize(
    ("plan", "n", "train", "left"),
    [
        (pi.Bootstrap(5), 100, {100}, set(range(100))),
        (pi.Subsampling(5), 100, {63}, {37}),
        (pi.Holdout(0.8), 50, {40}, {10}),
        (pi.CrossValidation(7), 40, {34, 35}, {5, 6}),
    ],
)
def test_sizes(plan, n, train, left):
    for trained, evaluation in parts_of(plan, n):
        assert trained.nobs in train
        assert evaluation.nobs in left
        assert evaluation.nobs == n - len(np.unique(trained.rows))


def test_folds_partition_the_rows_in_every_repeat():
    parts = parts_of(pi.CrossValidation(6, repeats=3), 45)
    assert len(parts) == 18
    partitions = []
    for repeat in range(3):
        folds = [parts[repeat * 6 + k][1].rows for k in range(6)]
        assert sorted(np.concatenate(folds)) == list(range(45))
        partitions.append([tuple(sorted(f)) for f in folds])
    assert partitions[0] != partitions[1] != partitions[2]


def test_bootstrap_draws_every_row_equally_often():
    n, m = 30, 400
    drawn = np.zeros(n)
    for train, _ in parts_of(pi.Bootstrap(m), n):
        drawn += np.bincount(train.rows, minlength=n)
    # Binomial(n m, 1/n) per row: five standard errors of its mean share.
    assert np.abs(drawn / m - 1).max() < 5 * np.sqrt((1 - 1 / n) / m)


@pytest.mark.parametrize(
    ("plan", "expected", "tolerance"),
    [
        (pi.Bootstrap(200), np.exp(-1) / (1 - np.exp(-1)), RATIO_FIVE_SE),
        (pi.Subsampling(20), 0.368 / 0.632, 1e-12),
        (pi.Subsampling(20, fraction=0.5), 1.0, 1e-12),
        (pi.CrossValidation(10), 1 / 9, 1e-12),
        (pi.CrossValidation(4, repeats=2), 1 / 3, 1e-12),
    ],
)
def test_correction_is_the_ratio_of_distinct_rows(plan, expected, tolerance):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(1000, 1)), rng.normal(size=1000)
    results = pi.Learner(y, X, DummyRegressor()).fit(plan, seed=1)
    m, s2 = plan.number, results.loss().refit_frame().iloc[:, 0].var()
    variance = float(results.loss(cov_type="corrected").cov_params().iloc[0, 0])
    assert variance / s2 - 1 / m == pytest.approx(expected, abs=tolerance)
    for refit in results.refits:
        assert refit.n_train == len(np.unique(refit.train_rows))
        assert refit.n_evaluation == refit.evaluation.nobs


def test_correction_counts_clusters_if_clusters_are_drawn():
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(20), 5)
    X, y = rng.normal(size=(100, 1)), rng.normal(size=100)
    results = pi.Learner(y, X, DummyRegressor()).fit(
        pi.Subsampling(3, fraction=0.6, cluster=cluster)
    )
    assert [(r.n_train, r.n_evaluation) for r in results.refits] == [(12, 8)] * 3


@pytest.mark.parametrize("plan", PLANS)
def test_strata_keep_their_shares(plan):
    strata = np.repeat([0, 1, 2], [60, 30, 10])
    order = np.random.default_rng(0).permutation(100)
    strata = strata[order]
    whole = np.bincount(strata)
    for train, evaluation in parts_of(plan, 100, strata=strata):
        counts = np.bincount(strata[train.rows], minlength=3)
        expected = whole * train.nobs / 100
        assert np.abs(counts - expected).max() <= 1
        if not isinstance(plan, pi.Bootstrap):  # how many are out of bag is random per stratum
            left = np.bincount(strata[evaluation.rows], minlength=3)
            assert np.abs(left - whole * evaluation.nobs / 100).max() <= 1


def test_stratified_bootstrap_draws_as_many_as_the_stratum_has():
    strata = np.repeat([0, 1], [70, 30])
    for train, _ in parts_of(pi.Bootstrap(5), 100, strata=strata):
        assert_array_equal(np.bincount(strata[train.rows]), [70, 30])


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("stratified", [False, True])
def test_clusters_are_whole_in_or_out(plan, stratified):
    rng = np.random.default_rng(3)
    cluster = rng.permutation(np.repeat(np.arange(24), rng.integers(1, 6, size=24)))
    strata = cluster % 2 if stratified else None
    size = np.bincount(cluster)
    for train, evaluation in parts_of(plan, len(cluster), cluster=cluster, strata=strata):
        assert not set(cluster[train.rows]) & set(cluster[evaluation.rows])
        times = np.bincount(cluster[train.rows], minlength=24)
        assert (times % size == 0).all()
        copies = np.bincount(train.rows, minlength=len(cluster))
        for c in range(24):
            assert len(set(copies[cluster == c])) == 1
        left = np.bincount(cluster[evaluation.rows], minlength=24)
        assert set(left[left > 0]) <= set(size)


def test_columns_name_strata_and_clusters(data):
    data = data.assign(subject=np.repeat(np.arange(20), 3), site=np.repeat(np.arange(4), 15))
    model = pi.Learner.from_formula("y ~ x + z", data, LinearRegression())
    named = model.fit(pi.Bootstrap(4, cluster="subject", strata="site"), seed=1)
    given = model.fit(pi.Bootstrap(4, cluster=data.subject, strata=data.site.to_numpy()), seed=1)
    for a, b in zip(named.refits, given.refits, strict=True):
        assert_array_equal(a.train_rows, b.train_rows)
        assert not set(data.subject[a.train_rows]) & set(data.subject[a.evaluation.rows])


def test_strata_and_clusters_follow_the_rows_that_are_kept(data):
    data = data.assign(subject=np.repeat([f"s{k}" for k in range(20)], 3))
    data.loc[::7, "x"] = np.nan
    results = fit_of(
        "y ~ x", data, LinearRegression(), pi.Bootstrap(4, cluster=data.subject.to_numpy())
    )
    for refit in results.refits:
        rows = refit.evaluation.rows  # positions in the data as given
        assert not data["x"].iloc[rows].isna().any()
        assert_array_equal(data["x"].iloc[rows], refit.evaluation.variables["x"])
        train, out = data.subject.iloc[refit.train_rows], data.subject.iloc[rows]
        assert not set(train) & set(out)


@pytest.mark.parametrize("plan", PLANS)
def test_training_rows_hold_every_class(plan):
    y = np.zeros(60)
    y[:2], y[2:5] = 1, 2
    for seed in range(15):
        for train, _ in parts_of(plan, 60, y=y, classes=("a", "b", "c"), seed=seed):
            assert set(train.y) == {0, 1, 2}


@pytest.mark.parametrize("plan", [*PLANS, pi.NestedBootstrap(3, 2)])
def test_splits_depend_on_the_seed_alone(data, plan):
    def rows(formula, estimator, seed):
        results = fit_of(formula, data, estimator, plan, seed=seed)
        return [[*r.train_rows, *r.evaluation.rows] for r in results.refits]

    first = rows("y ~ x", LinearRegression(), 7)
    assert rows("y ~ .", DecisionTreeRegressor(), 7) == first
    assert rows("y ~ bs(x, df=4) + g", LinearRegression(), 7) == first
    assert rows("y ~ x", LinearRegression(), 8) != first


def draw(rng, n=50):
    x, z = rng.normal(size=(2, n))
    return pd.DataFrame({"y": x + rng.normal(size=n), "x": x, "z": z})


def fitted(plan):
    return fit_of("y ~ x", draw(np.random.default_rng(0)), LinearRegression(), plan)


def test_fresh_draws_of_frames_and_of_arrays_agree():
    def arrays(rng):
        data = draw(rng)
        return data["y"].to_numpy(), data[["x", "z"]].to_numpy()

    first = draw(np.random.default_rng(0))
    by_array = pi.Learner(first["y"], first[["x", "z"]].to_numpy(), LinearRegression())
    a = fit_of("y ~ x + z", first, LinearRegression(), pi.FreshDraws(draw, 5), seed=3)
    b = by_array.fit(pi.FreshDraws(arrays, 5), seed=3)
    assert_allclose(a.pfi().refit_frame(), b.pfi().refit_frame(), rtol=1e-10)
    assert a.pfi().cov_type == "naive"
    with_c = a.pfi(cov_type="corrected").cov_params()
    assert_allclose(with_c, a.pfi(cov_type="naive").cov_params(), rtol=1e-12)


def test_fresh_draws_share_no_rows_and_split_by_fraction():
    seen = []

    def record(rng):
        seen.append(draw(rng))
        return seen[-1]

    results = fit_of(
        "y ~ x",
        draw(np.random.default_rng(0)),
        LinearRegression(),
        pi.FreshDraws(record, 4, fraction=0.6),
    )
    assert len(seen) == 4
    assert len(np.unique(np.concatenate([d["x"] for d in seen]))) == 200
    for data, refit in zip(seen, results.refits, strict=True):
        assert (refit.n_train, refit.n_evaluation) == (30, 20)
        assert_array_equal(refit.train.y, data["y"][:30])
        assert_array_equal(refit.evaluation.y, data["y"][30:])


def test_fresh_draws_keep_the_classes_of_the_learners_data():
    def with_classes(labels):
        def draw_labels(rng):
            x = rng.normal(size=60)
            cut = pd.cut(x, [-9, -0.5, 0.5, 9], labels=["low", "mid", "high"])
            y = pd.Categorical(rng.permutation(np.resize(labels, 60)) if labels else cut)
            return pd.DataFrame({"y": y, "x": x})

        return draw_labels

    def model(labels):
        data = with_classes(labels)(np.random.default_rng(0))
        return pi.Learner.from_formula("y ~ x", data, LogisticRegression())

    ordered = model([])  # categories low < mid < high; fresh draws sort them by name
    as_text = pi.FreshDraws(lambda rng: with_classes([])(rng).astype({"y": "str"}), 3)
    fresh = pi.FreshDraws(with_classes([]), 3)
    expected, found = ordered.fit(fresh, seed=1), ordered.fit(as_text, seed=1)
    assert found.refits[0].predictor.classes == ("low", "mid", "high")
    assert_allclose(found.pfi().params, expected.pfi().params)
    assert_allclose(found.pd("x").params, expected.pd("x").params)
    with pytest.raises(DataError, match="draw 1 has class 'c' of `y`"):
        model(["a", "b"]).fit(pi.FreshDraws(with_classes(["a", "c"]), 2), seed=1)
    with pytest.raises(DataError, match="no training row of class 'c'"):
        model(["a", "b", "c"]).fit(pi.FreshDraws(with_classes(["a", "b"]), 2), seed=1)


def test_fresh_draws_may_bring_levels_that_can_not_be_encoded(data):
    plan = pi.FreshDraws(lambda rng: data.assign(g=rng.permutation(list("abcd") * 15)), 2)
    with pytest.raises(RefitError, match=r"Refit 1 of 2 failed: DesignError: .*'d'"):
        fit_of("y ~ x + g", data, LinearRegression(), plan)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pi.Bootstrap(0), "`refits` must be a whole number of at least 1, not 0"),
        (lambda: pi.Subsampling(fraction=0.0), r"`fraction` must be a number in \(0, 1\)"),
        (lambda: pi.CrossValidation(1), "`folds` must be a whole number of at least 2, not 1"),
        (lambda: pi.FreshDraws(3), "`generator` must be a function"),
        (lambda: fitted("bootstrap"), r"must be a plan such as pi\.HalfSampling\(\)"),
        (
            lambda: fitted(pi.Bootstrap(3, cluster="zz")),
            r"`cluster` names column 'zz'.*Did you mean `z`\?",
        ),
    ],
)
def test_a_plan_that_makes_no_sense_is_a_clear_error(make, message):
    with pytest.raises(OptionError, match=message):
        make()
    assert pi.Subsampling(np.int64(3), fraction=np.float32(0.5)).number == 3


@pytest.mark.parametrize("plan", [pi.HalfSampling(), pi.Bootstrap(15), pi.Subsampling(15)], ids=str)
def test_every_refit_is_evaluated_on_every_class(plan):
    """3% events: before, one in twenty plans had evaluation rows without an event."""
    events = np.repeat([1.0, 0.0], [6, 194])
    for seed in range(20):
        for rows in parts_of(plan, 200, seed=seed, y=events, classes=("no", "yes")):
            assert all(len(np.unique(side.y)) == 2 for side in rows)


def test_a_class_that_is_too_rare_to_evaluate_every_refit_still_trains_each():
    """4 events in 10 folds: 6 folds evaluate without one, as before, and draws come to an end."""
    events = np.repeat([1.0, 0.0], [4, 96])
    parts = parts_of(pi.CrossValidation(10), 100, y=events, classes=("no", "yes"))
    assert all(len(np.unique(train.y)) == 2 for train, _ in parts)
    assert sum(len(np.unique(evaluation.y)) == 1 for _, evaluation in parts) >= 6


RARE = {"y": np.eye(40)[0], "classes": ("a", "b")}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: parts_of(pi.CrossValidation(10), 6),
            "at least as many rows or clusters as folds; got 6 for 10",
        ),
        (
            lambda: parts_of(pi.Holdout(0.9), 6),
            "2 evaluation rows, but holdout, 0.9 of 6 rows gave 5 and 1",
        ),
        (
            lambda: parts_of(pi.CrossValidation(5), 40, **RARE),
            "must hold every class.*5-fold.*merge rare classes",
        ),
        (
            lambda: parts_of(pi.Bootstrap(3), 20, strata=np.arange(20)),
            "rows that train and rows that evaluate.*20 strata",
        ),
        (
            lambda: Units.make(6, np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 1])),
            "must lie within one stratum, but cluster number 1",
        ),
        (
            lambda: fitted(pi.Bootstrap(3, strata=[1, 2])),
            r"one value per row of `data`; it has shape \(2,\) for 50 rows",
        ),
        (
            lambda: fitted(pi.Bootstrap(3, cluster=[None, *range(49)])),
            "`cluster` must have no missing values; 1",
        ),
    ],
)
def test_rows_that_do_not_fit_the_plan_are_a_clear_error(make, message):
    with pytest.raises(DataError, match=message):
        make()
