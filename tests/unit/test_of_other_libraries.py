"""What models of glum and NGBoost state besides predictions: covariances and distributions."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import pyinterp as pi
from pyinterp.errors import PredictionError
from pyinterp.models.predictive import predictive
from pyinterp.models.predictor import Predictor

N = 60
RNG = np.random.default_rng(9)
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
Y = np.exp(X["a"] / 3 - X["b"] / 5 + 0.2 * RNG.normal(size=N))


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def glum(**options):
    return pytest.importorskip("glum").GeneralizedLinearRegressor(**{"alpha": 0, **options})


def test_effects_of_glum_have_the_delta_method_of_its_covariance():
    """Closed forms: of a line the slope, of counts b_j mean(mu), with its gradient."""
    line = glum().fit(X, Y, store_covariance_matrix=True)
    ame = pi.FittedModel(line, X[["b", "a"]], Y).ame()
    assert ame.cov_type == "delta"
    assert_allclose(ame.params[["a", "b"]], line.coef_, rtol=1e-8)
    assert_allclose(ame.bse[["a", "b"]], line.std_errors()[1:], rtol=1e-8)

    counts = glum(family="poisson").fit(X, np.round(3 * Y), store_covariance_matrix=True)
    ame = pi.FittedModel(counts, X).ame()
    mu, rows = counts.predict(X), np.column_stack([np.ones(N), X])
    for j, name in enumerate(X):
        gradient = counts.coef_[j] * (mu[:, None] * rows).mean(axis=0)
        gradient[j + 1] += mu.mean()
        se = np.sqrt(gradient @ counts.covariance_matrix() @ gradient)
        assert ame.params[name] == pytest.approx(counts.coef_[j] * mu.mean(), rel=1e-6)
        assert ame.bse[name] == pytest.approx(se, rel=1e-5)


@pytest.mark.parametrize("how", ["not stored", "penalized"])
def test_a_glum_without_a_covariance_has_intervals_over_rows(how):
    model = glum(alpha=0.1 if how == "penalized" else 0).fit(X, Y)
    assert pi.FittedModel(model, X, Y).ame().cov_type == "rows"


def test_glum_is_given_columns_by_name():
    """It takes the columns of a frame by position."""
    model = glum().fit(X, Y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Input array is not contiguous")
        assert not np.allclose(model.predict(X[["b", "a"]]), model.predict(X))
    rows = X[["b", "a"]].assign(other="x")
    right = model.predict(X.assign(a=1.0)).mean()
    assert pi.FittedModel(model, rows).pd("a", grid=[1.0]).params.iloc[0] == pytest.approx(right)
    array = glum().fit(X.to_numpy(), Y)
    assert pi.FittedModel(array, X.to_numpy()).pd("x1", grid=[1.0]).params.iloc[0] == pytest.approx(
        right
    )


@pytest.mark.parametrize("family", ["Normal", "LogNormal", "Gamma", "Poisson"])
def test_distributions_of_ngboost_are_read(family):
    """Log likelihoods are those that NGBoost itself states."""
    ngboost = pytest.importorskip("ngboost")
    kind = getattr(pytest.importorskip("ngboost.distns"), family)
    y = np.round(3 * Y) if family == "Poisson" else Y
    model = ngboost.NGBRegressor(Dist=kind, n_estimators=5, verbose=False, random_state=0)
    model.fit(X, y)
    distribution = model.pred_dist(X)
    log = distribution.logpmf if family == "Poisson" else distribution.logpdf
    read = predictive(Predictor.of(model), X[:1])
    assert read.distribution is not None
    ours = read.distribution.log_density(np.asarray(y, float), read(X))
    assert_allclose(ours, log(np.asarray(y)), rtol=1e-8)


def test_other_distributions_of_ngboost_are_refused():
    ngboost = pytest.importorskip("ngboost")
    laplace = pytest.importorskip("ngboost.distns").Laplace
    model = ngboost.NGBRegressor(Dist=laplace, n_estimators=2, verbose=False).fit(X, Y)
    with pytest.raises(PredictionError, match=r"of type Laplace; those that can be read are"):
        pi.FittedModel(model, X, Y).entropy_pfi()
