"""Expected loss, and the share explained, against their definitions."""

import numpy as np
import pandas as pd
import pytest
from by_refit import estimates_of
from fits import fit_of
from shared import normal_rows
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.errors import LossError, OptionError


@pytest.fixture(scope="module")
def data():
    rng, data = normal_rows(90, "x z", 2)
    data["y"] = 3 + 2 * data["x"] + rng.normal(size=90)
    data["g"] = pd.cut(data["y"], [-np.inf, 1, 4, np.inf], labels=["a", "b", "c"]).astype(str)
    return data


@pytest.fixture(scope="module")
def results(data):
    return fit_of("y ~ x + z", data, LinearRegression(), pi.Subsampling(4))


def test_the_loss_is_a_mean_without_a_test(results, data):
    found = results.loss()
    expected = [
        np.mean((r.evaluation.y - r.predictor(r.design.encode(r.evaluation.variables))) ** 2)
        for r in results.refits
    ]
    np.testing.assert_allclose(found.refit_frame().iloc[:, 0], expected, rtol=1e-12)
    assert found.null is None
    assert found.estimand.words.unit == "y²"
    assert found.pvalues.isna().all()
    assert list(found.params.index) == ["loss"]


def test_the_share_compares_with_the_mean_of_the_training_rows(results, data):
    found = results.loss(relation="explained")
    assert list(found.params.index) == ["R²"]
    assert found.null == 0.0
    assert found.pvalues.notna().all()
    assert found.estimand.words.unit == ""
    for refit, estimate in zip(results.refits, estimates_of(results, found), strict=True):
        y = refit.evaluation.y
        own = (y - refit.predictor(refit.design.encode(refit.evaluation.variables))) ** 2
        constant = (y - data["y"].to_numpy()[refit.train_rows].mean()) ** 2
        assert estimate.value[0] == pytest.approx(1 - own.mean() / constant.mean(), rel=1e-12)
        n, step = len(y), 1e-6
        for i in range(n):

            def share(h, i=i, own=own, constant=constant, n=n):
                weights = 1 / n + h * (np.eye(n)[i] - 1 / n)
                return 1 - (weights @ own) / (weights @ constant)

            slope = (share(step) - share(-step)) / (2 * step)
            assert estimate.rows[i, 0] - estimate.value[0] == pytest.approx(slope, abs=1e-7)


def test_without_training_rows_the_constant_is_of_the_evaluation_rows(data):
    model = LinearRegression().fit(data[["x", "z"]], data["y"])
    fitted = pi.FittedModel(model, data[["x", "z"]], data["y"])
    expected = model.score(data[["x", "z"]], data["y"])
    assert fitted.loss(relation="explained").params["R²"] == pytest.approx(expected, rel=1e-12)


def test_the_constant_of_classes_is_their_shares(data):
    model = LogisticRegression().fit(data[["x", "z"]], data["g"])
    found = pi.FittedModel(model, data[["x", "z"]], data["g"]).loss(relation="explained")
    shares = data["g"].value_counts(normalize=True)
    entropy = -(shares * np.log(shares)).sum()
    codes = [list(model.classes_).index(g) for g in data["g"]]
    own = -np.log(model.predict_proba(data[["x", "z"]])[np.arange(90), codes]).mean()
    assert list(found.params.index) == ["D²"]
    assert found.params["D²"] == pytest.approx(1 - own / entropy, rel=1e-12)


def test_losses_without_a_constant_have_no_share(results):
    with pytest.raises(LossError, match="states no best constant prediction"):
        results.loss(lambda y, p: (y - p) ** 4, relation="explained")
    with pytest.raises(OptionError, match="`relation` must be one of"):
        results.loss(relation="share")
