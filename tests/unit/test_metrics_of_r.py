"""`r_style.vi_permute` has R's number under each name of R's metrics, or refuses.

The definitions are those of yardstick, which vip 0.4 calls, written as it writes them: one class
against the others for balanced accuracy and Youden's index, half the squared distance for the Brier
score, probabilities no nearer to 0 than rounding for the log loss. R takes differences, or ratios,
so that a larger importance is a worse prediction without the feature.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

import pyinterp as pi
from pyinterp.errors import PyinterpError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(5)
N, TIMES = 90, 3
X = pd.DataFrame(RNG.normal(size=(N, 4)), columns=["a", "b", "c", "noise"])
SCORE = X["a"] + X["b"] + X["c"] + RNG.normal(size=N) / 2
NUMBERS = SCORE + 10
TWO = np.where(SCORE > 0, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(SCORE, [-0.8, 0.5])]
PERMUTATIONS = {n: np.array([RNG.permutation(N) for _ in range(TIMES)]).T for n in X}


def sens_and_spec(truth, said, level):
    return float((said == level)[truth == level].mean()), float(
        (said != level)[truth != level].mean()
    )


def over_classes(value):
    def macro(truth, said):
        levels = np.unique(truth)
        return float(np.mean([value(*sens_and_spec(truth, said, one)) for one in levels]))

    return macro


def roc_auc(truth, p):
    event, other = p[truth == 1, 1], p[truth == 0, 1]
    above = (event[:, None] > other).mean()
    return float(above + (event[:, None] == other).mean() / 2)


def mn_log_loss(truth, p):
    eps = np.finfo(float).eps
    return float(-np.log(np.clip(p, eps, 1 - eps)[np.arange(len(truth)), truth]).mean())


def brier_class(truth, p):
    return float(np.square(p - np.eye(p.shape[1])[truth]).sum() / (2 * len(truth)))


# The name in vip, what it needs, its value, and whether smaller is better.
METRICS = {
    "rmse": ("mean", lambda y, f: np.sqrt(np.mean((y - f) ** 2)), True),
    "mae": ("mean", lambda y, f: np.mean(np.abs(y - f)), True),
    "mape": ("mean", lambda y, f: 100 * np.mean(np.abs((y - f) / y)), True),
    "rsq": ("mean", lambda y, f: np.corrcoef(y, f)[0, 1] ** 2, False),
    "rsq_trad": (
        "mean",
        lambda y, f: 1 - ((y - f) ** 2).sum() / ((y - y.mean()) ** 2).sum(),
        False,
    ),
    "accuracy": ("label", lambda y, said: np.mean(y == said), False),
    "bal_accuracy": ("label", over_classes(lambda sens, spec: (sens + spec) / 2), False),
    "youden": ("label", over_classes(lambda sens, spec: sens + spec - 1), False),
    "roc_auc": ("probability", roc_auc, False),
    "logloss": ("probability", mn_log_loss, True),
    "brier": ("probability", brier_class, True),
}
OF_NUMBERS = [name for name, (needs, _, _) in METRICS.items() if needs == "mean"]
CASES = [
    *((name, LinearRegression(), NUMBERS) for name in OF_NUMBERS),
    *((name, LogisticRegression(), TWO) for name in METRICS if name not in OF_NUMBERS),
    *((name, GaussianNB(), THREE) for name in METRICS if name not in [*OF_NUMBERS, "roc_auc"]),
]


@pytest.mark.parametrize("kind", ["difference", "ratio"])
@pytest.mark.parametrize(("name", "learner", "y"), CASES)
def test_a_metric_is_that_of_r(name, learner, y, kind):
    needs, value, smaller = METRICS[name]
    model = learner.fit(X, y)

    def metric(rows):
        if needs == "probability":
            codes = np.searchsorted(model.classes_, y)
            return float(value(codes, model.predict_proba(rows)))
        return float(value(np.asarray(y), model.predict(rows)))

    frame = pi.r_style.vi_permute(
        pi.FittedModel(model, X, y), metric=name, type=kind, permutations=PERMUTATIONS
    ).set_index("Variable")
    base = metric(X)
    for feature, order in PERMUTATIONS.items():
        found = np.array(
            [metric(X.assign(**{feature: X[feature].to_numpy()[one]})) for one in order.T]
        )
        worse = {
            "difference": found - base if smaller else base - found,
            "ratio": found / base if smaller else base / found,
        }[kind]
        assert frame.loc[feature, "Importance"] == pytest.approx(worse.mean(), rel=1e-9, abs=1e-12)
        if kind == "difference":
            assert frame.loc[feature, "StDev"] == pytest.approx(worse.std(ddof=1), rel=1e-7)


@pytest.mark.parametrize(
    ("name", "learner", "y"),
    [("pr_auc", LogisticRegression(), TWO), ("roc_auc", GaussianNB(), THREE)],
)
def test_what_is_another_number_is_refused(name, learner, y):
    with pytest.raises(PyinterpError):
        pi.r_style.vi_permute(pi.FittedModel(learner.fit(X, y), X, y), metric=name)
