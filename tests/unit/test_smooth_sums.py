"""Sums of smooth losses of linear models are those of plain loops over rows and donors."""

import numpy as np
import pytest
import statsmodels.api as sm
from fits import check_sums
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

from pyinterp.losses.predictive import CLASS_ENTROPY
from pyinterp.losses.rowwise import LOSSES

N = 400


def rows(classes=None, scale=1.0):
    rng = np.random.default_rng(3)
    x = scale * rng.normal(size=(2 * N, 3))
    x[:, 2] = x[:, 2] > 0
    signal = (x[:, 0] + 0.5 * x[:, 1] * x[:, 2]) / scale + 0.5 * rng.normal(size=2 * N)
    if classes:
        signal = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))
    return x, signal


@pytest.mark.parametrize("name", ["log", "brier", "entropy"])
@pytest.mark.parametrize(("scale", "c"), [(1, 1), (1, 1e9), (20, 1e9)])
def test_two_classes(name, scale, c):
    x, y = rows(2, scale)
    loss = LOSSES.get(name, CLASS_ENTROPY)
    model = LogisticRegression(C=c, max_iter=10_000).fit(x[:N], y[:N])
    assert "linear" in check_sums(model, x[N:], y[N:], loss).name
    model.coef_ = model.coef_ * 1e3  # nearly steps
    check_sums(model, x[N:], y[N:], loss)


@pytest.mark.parametrize("name", ["log", "brier", "rps", "entropy"])
def test_several_classes(name):
    x, y = rows(4)
    model = LogisticRegression().fit(x[:N], y[:N])
    check_sums(model, x[N:], y[N:], LOSSES.get(name, CLASS_ENTROPY))


@pytest.mark.parametrize("name", ["poisson", "gamma", "squared", "absolute", "huber"])
def test_numbers(name):
    x, y = rows()
    y = np.exp(0.5 * y)
    check_sums(PoissonRegressor(alpha=0.01).fit(x[:N], y[:N]), x[N:], y[N:], LOSSES[name])
    if name not in ("poisson", "gamma"):
        check_sums(LinearRegression().fit(x[:N], y[:N]), x[N:], y[N:], LOSSES[name])


@pytest.mark.parametrize("link", [sm.families.links.CLogLog(), sm.families.links.Cauchy()])
def test_links_of_statsmodels(link):
    x, y = rows(2)
    model = sm.GLM(y[:N], x[:N], family=sm.families.Binomial(link=link)).fit()
    check_sums(model, x[N:], y[N:], LOSSES["log"])


def test_an_outlier_among_the_donors():
    x, y = rows(2)
    x[N, 0] = 1e3
    model = LogisticRegression().fit(x[:N], y[:N])
    check_sums(model, x[N:], y[N:], LOSSES["log"])
