"""r: how much of its training variance the mean of many refits keeps."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor
from test_half_refits import fit, frame
from test_square import reference

import pyinterp as pi
from pyinterp.errors import PredictionError
from pyinterp.inference.half_sample.half_refits import predictions_of_mixtures, share_in_mean
from pyinterp.random import Seeds
from pyinterp.resampling import Group

TREE = DecisionTreeRegressor(min_samples_leaf=6, random_state=0)


def mean_share(*arguments):
    return share_in_mean(predictions_of_mixtures(*arguments))


def share_of(predictions):
    """Return r of refits that predict these, shape (M, 2, rows), whatever the rows are."""
    refits = [
        SimpleNamespace(
            group=Group("pair", number),
            design=SimpleNamespace(encode=lambda rows: rows),
            predictor=lambda _, values=values: values,
        )
        for number, pair in enumerate(predictions)
        for values in pair
    ]
    variables = pd.DataFrame({"x": np.arange(3.0)})
    return mean_share(refits, variables, Seeds(1))


def effects(rng, share, shape):
    """Return deviations of effects in M pairs, shape (*shape, 2): linear ones, and the rest."""
    linear, rest = rng.normal(size=shape), rng.normal(size=(*shape, 2))
    # What is linear has the opposite sign in the other half.
    both = np.stack([linear, -linear], axis=-1) * np.sqrt(share / 2)
    return both + np.sqrt(1 - share) * rest


def test_means_keep_all_that_is_linear_in_the_training_rows():
    """Means of rows over halves: those of a pair have the mean of all rows between them."""
    rng = np.random.default_rng(0)
    rows, x = rng.normal(size=(40, 6)), rng.normal(size=(6, 1000))
    splits = [rng.permutation(40).reshape(2, 20) for _ in range(9)]
    predictions = np.array([[rows[half].mean(axis=0) @ x for half in split] for split in splits])
    assert share_of(predictions) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.95])
def test_the_share_is_one_less_that_of_the_rest(share):
    """E A = v / 2 and E S = (1 - share) v / 2 if v is the variance of a refit."""
    rng = np.random.default_rng(1)
    # 2,000 rows whose predictions are independent; the standard error of S / A is below .01.
    predictions = np.moveaxis(effects(rng, share, (15, 2000)), -1, 1)
    A = np.square(predictions[:, 0] - predictions[:, 1]).mean() / 4
    assert abs(A - 0.5) < 0.02
    assert share_of(predictions) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(("order", "share"), [(1, 1.0), (2, 0.5), (3, 0.25)])
def test_means_keep_less_of_interactions_of_training_rows(order, share):
    """Var U / (v / 2) = 2 C(k, i) / C(2k, i) of order i, here for halves of 100 rows."""
    rng = np.random.default_rng(3)
    rows, weights = rng.normal(size=(1000, 200)), rng.normal(size=200)
    weights /= np.linalg.norm(weights)
    halves = np.array([rng.permutation(200).reshape(2, 100) for _ in range(40)])
    # By 1,000 data sets a product of sums of disjoint sets of rows: no lower orders.
    block = np.arange(200) % order
    predictions = np.array(
        [
            [
                np.prod(
                    [
                        (rows * weights)[:, [i for i in half if block[i] == b]].sum(axis=1)
                        for b in range(order)
                    ],
                    axis=0,
                )
                for half in split
            ]
            for split in halves
        ]
    )
    assert share_of(predictions) == pytest.approx(share, abs=0.07)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 1.0])
def test_squares_of_such_effects_vary_as_the_note_says(share):
    """At 0 S is 1 - share²/2 and the variance of the mean of many share²/2, over v²."""
    rng = np.random.default_rng(2)
    n = 200_000
    center = np.sqrt(share / 2) * rng.normal(size=n)
    # Two pairs of the same data: the covariance of their means is the variance of many.
    one, other = (
        np.square(center[:, None] + effects(rng, share, (n,))).mean(axis=1) for _ in range(2)
    )
    many, within = np.cov(one, other)[0, 1], (one - other).var() / 2
    assert many == pytest.approx(share**2 / 2, abs=0.02)
    assert within == pytest.approx(1 - share**2 / 2, rel=0.03)


@pytest.mark.parametrize("columns", [1, 3])
def test_it_is_that_of_the_reference(columns):
    """Of classes, A and S add up over columns of probabilities, each less its mean over rows."""
    rng = np.random.default_rng(5)
    f = rng.normal(size=(6, 2, 1000, columns))
    f[:, 1] -= f[:, 0] / 2
    one = f - f.mean(axis=2, keepdims=True)
    A = (np.square(one[:, 0] - one[:, 1]) / 4).mean(axis=0).sum()
    S = one.mean(axis=1).var(axis=0, ddof=1).sum()
    found = share_of(f.reshape(6, 2, -1))
    assert found == pytest.approx(1 - S / A, rel=1e-9)
    assert 0.1 < found < 0.9
    if columns == 1:
        assert found == pytest.approx(reference.share(f[..., 0]), rel=1e-9)


def test_it_is_between_0_and_1():
    rng = np.random.default_rng(6)
    shared, away = rng.normal(size=(2, 8, 1, 1000))
    both = np.concatenate([shared + away / 9, shared - away / 9], axis=1)
    assert share_of(both) == 0.0  # halves that go together: S is above A
    assert share_of(np.concatenate([away, -away], axis=1)) == 1.0


def test_levels_and_units_of_predictions_do_not_count():
    rng = np.random.default_rng(7)
    f = rng.normal(size=(6, 2, 1000))
    expected = share_of(f)
    levels = rng.normal(size=(6, 2, 1))
    assert share_of(f + levels) == pytest.approx(expected, rel=1e-9)
    for unit in (1e-60, 1e60):
        assert share_of(f * unit) == pytest.approx(expected, rel=1e-9)


def test_constants_vary_in_nothing():
    constants = 0.1 + 0.01 * np.arange(30.0).reshape(15, 2, 1) + np.zeros((15, 2, 1000))
    assert share_of(constants) == 1.0
    assert share_of(np.zeros((15, 2, 1000))) == 1.0
    assert fit(frame(60), DummyRegressor()).analysis.mean_share == 1.0


def mixtures(results):
    """Return the 1,000 rows: every variable from another row of the data, in their order."""
    variables = results.analysis.problem.sample.variables
    rng = results.analysis.seeds.stream("draws", name="mixtures of rows")
    drawn = {
        name: variables[name].to_numpy()[[rng.integers(len(variables), size=1000)]][0]
        for name in variables
    }
    return pd.DataFrame(drawn)


@pytest.mark.parametrize("learner", [TREE, Ridge(3.0)])
@pytest.mark.parametrize("cluster", [None, "id"])
def test_of_a_learner_it_is_that_of_predictions_on_mixtures_of_rows(learner, cluster):
    data = frame(80).assign(id=np.repeat(np.arange(40), 2))
    plan = pi.HalfSampling(3, pairs=6, cluster=cluster)
    results = fit(data, learner, plan, formula="y ~ x0 + x1 + x2")
    rows = mixtures(results)
    f = np.array([h.predictor(h.design.encode(rows)).ravel() for h in results.halves])
    expected = reference.share(f.reshape(6, 2, 1000))
    assert results.analysis.mean_share == pytest.approx(expected, rel=1e-9)
    assert results.pfi().replicates.half_refits[0].mean_share == results.analysis.mean_share


def test_only_whole_pairs_count():
    """Not the refits of the estimate, and no pair of which one refit failed."""
    analysis = fit(frame(80), TREE, pi.HalfSampling(3, pairs=6)).analysis
    variables, refits = analysis.problem.sample.variables, list(analysis.refits)
    halves = [r for r in refits if r.group is not None]
    assert len(refits) > len(halves) == 12
    expected = mean_share(halves[:-2], variables, analysis.seeds)
    assert mean_share(refits[:-2], variables, analysis.seeds) == expected
    assert mean_share(refits[:-1], variables, analysis.seeds) == expected
    assert mean_share(refits, variables, analysis.seeds) != expected


def test_linear_models_keep_nearly_all_and_trees_do_not():
    assert fit(frame(100), LinearRegression()).analysis.mean_share > 0.9
    assert 0.1 < fit(frame(100), TREE).analysis.mean_share < 0.8


def test_it_depends_on_nothing_that_is_asked():
    plan = pi.HalfSampling(3, pairs=5)
    data = frame(80).assign(half=np.where(np.arange(80) % 2, "odd", "even"))
    results = fit(data, TREE, plan, formula="y ~ x0 + x1 + x2")
    ask = [
        lambda: results.pfi(["x1"]),
        lambda: results.pfi(["x2", "x0"]),
        lambda: results.cvim(["x0"]),
        lambda: results.pfi(["x0"], rows="x2 > -0.5"),
        lambda: results.pfi(["x0"], by="half"),
        lambda: results.loco(["x2"]),
        results.pfi,
    ]
    found = {part.mean_share for one in ask for part in one().replicates.half_refits}
    assert found == {fit(data, TREE, plan, formula="y ~ x0 + x1 + x2").analysis.mean_share}
    assert found != {1.0}


def test_only_what_varies_as_a_square_takes_it():
    results = fit(frame(60), TREE, pi.HalfSampling(4, pairs=5))
    for answer in (results.pd("x0", points=3), results.loss()):
        assert answer.replicates.half_refits[0].mean_share == 1.0
    assert "mean_share" not in vars(results.analysis)  # no predictions were made for it
    assert results.pfi().replicates.half_refits[0].mean_share < 1


def test_of_classes_it_is_that_of_probabilities():
    data = frame(80)
    data["y"] = np.where(data["y"] > 0, "yes", "no")
    results = fit(data, LogisticRegression(), pi.HalfSampling(3, pairs=5))
    assert 0.5 < results.analysis.mean_share <= 1


class Particular(LinearRegression):
    """Refuses rows that do not occur: x1 is above x0."""

    def predict(self, X):
        if (X[:, 1] <= X[:, 0]).any():
            raise ValueError("x1 must be above x0")
        return super().predict(X)


def test_a_learner_that_refuses_rows_that_do_not_occur_keeps_all():
    data = frame(60)
    results = fit(data.assign(x1=data["x0"] + 1), Particular(), pi.HalfSampling(4, pairs=5))
    assert results.analysis.mean_share == 1.0
    assert (results.pfi(["x2"]).bse > 0).all()
    with pytest.raises(PredictionError):
        results.pfi(["x0"])
