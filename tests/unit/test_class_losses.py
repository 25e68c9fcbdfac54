"""Sums of losses of class probabilities of trees are those of plain loops over rows and donors."""

import numpy as np
import pandas as pd
import pytest
from fits import check_sums
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

import pyinterp as pi
from pyinterp.losses.predictive import CLASS_ENTROPY
from pyinterp.losses.rowwise import LOSSES
from pyinterp.whatif import trees

N = 150
MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(10, random_state=0),
    "extra": ExtraTreesClassifier(10, min_samples_leaf=3, random_state=0),
    "gradient boosting": GradientBoostingClassifier(n_estimators=15, random_state=0),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=15, random_state=0),
}


def rows(classes):
    rng = np.random.default_rng(classes)
    x = rng.normal(size=(2 * N, 4)).round(1)
    x[:, 3] = 1.5  # no tree splits here
    signal = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=2 * N)
    return x, np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))


@pytest.mark.parametrize("loss", [LOSSES["log"], LOSSES["brier"], LOSSES["rps"], CLASS_ENTROPY])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_sums(name, classes, loss):
    x, y = rows(classes)
    engine = check_sums(MODELS[name].fit(x[:N], y[:N]), x[N:], y[N:], loss)
    assert "trees" in engine.name


def test_classes_in_another_order():
    x, y = rows(3)
    labels = np.array(["low", "mid", "top"])[y]
    model = RandomForestClassifier(5, random_state=0).fit(x[:N], labels[:N])
    ordered = pd.Series(labels).astype(pd.CategoricalDtype(["top", "low", "mid"], ordered=True))
    frame = pd.DataFrame(x, columns=list("abcd")).assign(y=ordered)
    by_name, by_order = (
        pi.FittedModel(model, frame[N:].drop(columns="y").to_numpy(), response).pfi(loss="log")
        for response in (labels[N:], ordered[N:])
    )
    assert by_order.params.to_numpy() == pytest.approx(by_name.params.to_numpy(), rel=1e-10)


def test_short_walks_give_the_same(monkeypatch):
    x, y = rows(2)
    model = RandomForestClassifier(10, random_state=0).fit(x[:N], y[:N])
    monkeypatch.setattr(trees, "MOST_PAIRS", 1)
    check_sums(model, x[N:], y[N:], LOSSES["log"])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["log", "brier"])
def test_no_prediction_of_a_pair_is_made(classes, loss, monkeypatch):
    """A fitted model's forest adds losses up row by row, whatever names its classes have."""
    x, y = rows(classes)
    labels = np.array(["b", "a", "c"])[y]
    model = RandomForestClassifier(5, random_state=0).fit(x, labels)
    fitted, again = (pi.FittedModel(model, x, labels) for _ in range(2))
    expected = fitted.pfi(loss=loss)
    assert expected.engine.name == "trees, exact"
    assert (again.loss(loss).params > 0).all()  # after the proof, which predicts rows
    monkeypatch.setattr("pyinterp.whatif.trees.TreesWhatIf.blocks", None)
    np.testing.assert_array_equal(again.pfi(loss=loss).params, expected.params)
