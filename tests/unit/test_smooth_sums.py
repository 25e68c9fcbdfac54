"""Sums of smooth losses of linear models are those of plain loops over rows and donors."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

import pyinterp as pi
from pyinterp.losses.predictive import CLASS_ENTROPY
from pyinterp.losses.rowwise import LOSSES
from pyinterp.whatif.smooth_sums import line_of, smooth_sums
from pyinterp.whatif.whatif import FeatureWhatIf

# Of sums over donors or rows, in units of their mean: interpolation stops at 1e-11 per row.
RTOL = 1e-10
N = 400


def rows(classes=None, scale=1.0):
    rng = np.random.default_rng(3)
    x = scale * rng.normal(size=(2 * N, 3))
    x[:, 2] = x[:, 2] > 0
    signal = (x[:, 0] + 0.5 * x[:, 1] * x[:, 2]) / scale + 0.5 * rng.normal(size=2 * N)
    if classes:
        signal = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))
    return x, signal


def check_sums(model, x, y, loss):
    fitted = pi.FittedModel(model, x, y)
    case = fitted.analysis.cases[0]
    for name in case.sample.variables:
        feature = case.whatif.of([name])
        for sums, naive in zip(
            feature.summed_losses(case.y, loss),
            FeatureWhatIf.summed_losses(feature, case.y, loss),
            strict=True,
        ):
            assert sums == pytest.approx(naive, rel=0, abs=RTOL * np.abs(naive).mean())
    return case.whatif


@pytest.mark.parametrize("name", ["log", "brier", "entropy"])
@pytest.mark.parametrize(("scale", "c"), [(1, 1), (1, 1e9), (20, 1e9)])
def test_two_classes(name, scale, c):
    x, y = rows(2, scale)
    loss = LOSSES.get(name, CLASS_ENTROPY)
    model = LogisticRegression(C=c, max_iter=10_000).fit(x[:N], y[:N])
    assert "linear" in check_sums(model, x[N:], y[N:], loss).engine.name
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
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(y=y)
    family = sm.families.Binomial(link=link)
    model = sm.GLM.from_formula("y ~ a + b + c", frame[:N], family=family).fit()
    case = pi.FittedModel(model, frame[N:], "y").analysis.cases[0]
    feature = case.whatif.of(["a"])
    sums, naive = (
        summed(feature, case.y, LOSSES["log"])
        for summed in (type(feature).summed_losses, FeatureWhatIf.summed_losses)
    )
    np.testing.assert_allclose(sums[0], naive[0], rtol=0, atol=RTOL * naive[0].mean())
    np.testing.assert_allclose(sums[1], naive[1], rtol=0, atol=RTOL * naive[1].mean())


def test_an_outlier_among_the_donors():
    x, y = rows(2)
    x[N, 0] = 1e3
    model = LogisticRegression().fit(x[:N], y[:N])
    check_sums(model, x[N:], y[N:], LOSSES["log"])


def test_few_predictions_are_made():
    made = []

    def losses(some, place):
        made.append(len(some) * len(place))
        return np.logaddexp(0, some[:, None] / N + 2 * place)

    place = np.linspace(-1, 1, N)
    over_donors, over_rows = smooth_sums(losses, N, place, np.ones(N), outputs=1, reach=2.0)
    assert sum(made) == 32 * N
    every = losses(np.arange(N), place)
    assert over_donors == pytest.approx(every.sum(axis=1), rel=RTOL)
    assert over_rows == pytest.approx(every.sum(axis=0), rel=RTOL)


def test_points_on_a_line():
    place = np.array([-1.0, 0.5, 1.0])
    points = np.array([1.0, 2.0]) + place[:, None] * np.array([3.0, -4.0])
    middle, half, found = line_of(points)
    assert middle + found[:, None] * half == pytest.approx(points)
    assert line_of(np.vstack([points, [9.0, 9.0]])) is None
    assert (line_of(points[:1])[2] == 0).all()
