"""What networks of the papers predict from given weights: no PyTorch is needed for any of it."""

import pickle
import sys
from functools import partial
from importlib.abc import MetaPathFinder

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from pyinterp.errors import OptionError
from pyinterp_papers.networks import BayesByBackpropClassifier, MCDropoutRegressor
from pyinterp_papers.networks.backprop import normal_layers
from pyinterp_papers.networks.dropout import dropout_layers, noise_of
from pyinterp_papers.networks.network import Scale, forward

# Sums of the same numbers in another order, by the BLAS.
ROUNDING = {"rtol": 1e-12, "atol": 1e-12}
FEATURES, HIDDEN, DRAWS = 3, 4, 6
rng = np.random.default_rng(0)
X = rng.normal(size=(1100, FEATURES))  # more rows than two blocks
SHAPES = [(FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN, 2), (2,)]
PARAMETERS = tuple(rng.normal(size=shape) for shape in SHAPES)
COUNT = sum(map(np.size, PARAMETERS))
SCALE = Scale(np.arange(3.0), np.array([1.0, 2.0, 3.0]))


def network(draw, seed, of=MCDropoutRegressor):
    """Return a network as if it had been trained."""
    model = of()
    model.scale_, model.draw_, model.draw_seed_ = SCALE, draw, seed
    model.n_features_in_ = FEATURES
    return model


def dropout(parameters, draws, seed, rate, of_features=0, **of):
    draw = partial(
        dropout_layers, draws=draws, parameters=parameters, rate=rate, feature_rate=of_features
    )
    return network(draw, seed, **of)


def backprop(means, sds, shapes, draws, seed):
    return network(partial(normal_layers, draws=draws, shapes=shapes, means=means, sds=sds), seed)


SOURCES = {
    "dropout": dropout(PARAMETERS, DRAWS, 5, 0.4),
    "backprop": backprop(rng.normal(size=COUNT), rng.uniform(size=COUNT), SHAPES, DRAWS, 5),
}


def outputs(source, rows):
    return np.concatenate(list(SOURCES[source]._outputs(rows)), axis=1)


@pytest.mark.parametrize("source", SOURCES)
def test_outputs_are_those_of_loops_over_rows_draws_and_layers(source):
    layers = SOURCES[source]._layers()
    expected = np.empty((DRAWS, 20, 2))
    for draw in range(DRAWS):
        for i, row in enumerate(X[:20]):
            units = (row - SCALE.center) / SCALE.spread
            for k, (weights, biases) in enumerate(layers):
                units = units @ weights[draw % len(weights)] + biases[draw % len(biases), 0]
                units = units if k == len(layers) - 1 else np.maximum(units, 0)
            expected[draw, i] = units
    assert_allclose(outputs(source, X[:20]), expected, **ROUNDING)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 5), slice(500, 530), slice(None, None, -1)])
def test_a_row_is_predicted_the_same_whichever_rows_stand_beside_it(source, rows):
    assert_allclose(outputs(source, X[rows]), outputs(source, X)[:, rows], **ROUNDING)


def test_units_are_left_out_at_the_rate_and_the_others_grow_for_them():
    ones = tuple(np.ones(shape) for shape in ((2, 1000), (1000,), (1000, 1), (1,)))
    source = dropout(ones, 200, 0, 0.1)
    first, last = (weights for weights, _ in source._layers())
    assert first.shape == (1, 2, 1000)  # features stay, by default
    assert set(np.unique(last)) == {0.0, 1 / 0.9}
    # Four standard errors of the mean of 200,000 indicators.
    assert (last == 0).mean() == pytest.approx(0.1, abs=4 * 0.3 / np.sqrt(last.size))


def test_features_are_left_out_at_their_rate_and_the_others_grow_for_them():
    ones = tuple(np.ones(shape) for shape in ((1000, 2), (2,), (2, 1), (1,)))
    source = dropout(ones, 200, 0, 0.0, 0.2)
    first, last = (weights for weights, _ in source._layers())
    assert first.shape == (200, 1000, 2)
    assert set(np.unique(first)) == {0.0, 1.25}
    assert (first[:, :, 0] == first[:, :, 1]).all()  # a feature is left out of every unit
    assert (first == 0).mean() == pytest.approx(0.2, abs=4 * 0.4 / np.sqrt(first[:, :, 0].size))
    assert (last == 1).all()


def test_without_dropout_all_draws_are_the_network():
    source = dropout(PARAMETERS, DRAWS, 0, 0.0)
    rows = forward(X[:9], source._layers())
    assert_allclose(rows, np.broadcast_to(rows[0], rows.shape), **ROUNDING)


def test_drawn_weights_have_their_means_and_standard_deviations():
    means, sds = np.array([1.0, -2.0, 0.5]), np.array([0.1, 1.0, 0.0])
    ((weights, biases),) = backprop(means, sds, [(2, 1), (1,)], 40_000, 1)._layers()
    drawn = np.column_stack([weights[:, :, 0], biases[:, :, 0]])
    assert_allclose(drawn.mean(axis=0), means, atol=4 / np.sqrt(40_000))
    assert_allclose(drawn.std(axis=0), sds, atol=3 / np.sqrt(40_000))


def test_probabilities_are_a_softmax_that_never_overflows():
    outputs = [[0.0, np.log(3)], [1000.0, 0.0], [-1000.0, -1000.0]]
    for biases, p in zip(outputs, [[0.25, 0.75], [1, 0], [0.5, 0.5]], strict=True):
        parameters = np.zeros((3, 2)), np.array(biases)
        model = dropout(parameters, DRAWS, 0, 0.0, of=BayesByBackpropClassifier)
        assert_allclose(model.predict_proba(X[:2]), [p, p], atol=1e-300)


def test_a_constant_column_keeps_its_unit():
    scale = Scale.of(np.column_stack([np.full(7, 0.1), np.arange(7.0)]))
    assert scale.spread.tolist() == [1.0, 2.0]


def test_the_noise_has_the_largest_likelihood_of_the_mixture():
    """One part: the root mean square. Two parts: the best of a fine grid."""
    y = rng.normal(0, 0.7, 200)
    assert noise_of(y, np.zeros((200, 1))) == pytest.approx(np.sqrt(np.mean(y**2)), rel=1e-4)
    means = np.array([-0.5, 0.5]) + np.zeros((200, 1))
    grid = np.linspace(0.2, 1.5, 2601)
    density = norm.pdf(y[:, None, None], means[:, :, None], grid).mean(axis=1)
    best = grid[np.log(density).sum(axis=0).argmax()]
    assert noise_of(y, means) == pytest.approx(best, abs=1e-3)


class Blocked(MetaPathFinder):
    """PyTorch can't be imported."""

    def find_spec(self, name, *rest):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Blocked(), *sys.meta_path])


@pytest.mark.usefixtures("no_torch")
@pytest.mark.parametrize("of", [MCDropoutRegressor, BayesByBackpropClassifier])
def test_without_torch_the_error_says_how_to_install_it(of):
    sentence = rf'{of.__name__} needs PyTorch .* pip install "pyinterp-stats\[torch\]"\.'
    with pytest.raises(OptionError, match=sentence):
        of().fit(X[:40], X[:40, 0] > 0)


@pytest.mark.usefixtures("no_torch")
def test_a_model_can_be_unpickled_and_predict_without_torch():
    model = SOURCES["backprop"]
    model.response_scale_ = Scale(np.array(0.0), np.array(1.0))
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
