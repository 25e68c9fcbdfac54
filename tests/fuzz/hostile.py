"""Estimators, losses and functions that do what they must not do."""

# ruff: noqa: ARG005 - all faults of a kind take the same arguments

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

__all__ = ["HOSTILE"]

Array = npt.NDArray[Any]


class Broken(RegressorMixin, BaseEstimator):
    """A linear regression whose predictions are changed by the named fault."""

    def __init__(self, fault="none"):
        self.fault = fault

    def fit(self, X, y):
        design = np.column_stack([np.ones(len(X)), np.asarray(X, float)])
        self.coef = np.linalg.lstsq(design, np.asarray(y, float), rcond=None)[0]
        return self

    def predict(self, X):
        design = np.column_stack([np.ones(len(X)), np.asarray(X, float)])
        return FAULTS[self.fault](design @ self.coef, X)


def _writes(prediction, X):
    if hasattr(X, "iloc"):
        X.iloc[:, 0] = 0.0
    else:
        X[:, 0] = 0.0
    return prediction


def _raises(prediction, X):
    raise KeyError("inside predict")


def _recurses(prediction, X):
    return _recurses(prediction, X)


FAULTS = {
    "none": lambda p, X: p,
    "short": lambda p, X: p[:-1],
    "scalar": lambda p, X: float(p[0]),
    "one value": lambda p, X: p[:1],
    "two columns": lambda p, X: np.column_stack([p, p]),
    "row": lambda p, X: p[None, :],
    "3-d": lambda p, X: p[:, None, None],
    "empty": lambda p, X: p[:0],
    "complex": lambda p, X: p + 1j,
    "zero imaginary": lambda p, X: p + 0j,
    "nan": lambda p, X: np.where(np.arange(len(p)) == 0, np.nan, p),
    "inf": lambda p, X: np.where(np.arange(len(p)) == 0, np.inf, p),
    "random": lambda p, X: p + np.random.default_rng().normal(size=len(p)),
    "strings": lambda p, X: p.astype(str),
    "objects": lambda p, X: np.array([object()] * len(p)),
    "none values": lambda p, X: np.array([None] * len(p)),
    "dates": lambda p, X: p.astype("datetime64[s]"),
    "nothing": lambda p, X: None,
    "string": lambda p, X: "prediction",
    "mapping": lambda p, X: {"prediction": p},
    "generator": lambda p, X: (v for v in p),
    "list": lambda p, X: p.tolist(),
    "column": lambda p, X: p[:, None],
    "masked": lambda p, X: np.ma.masked_array(p, mask=np.arange(len(p)) < 3),
    "booleans": lambda p, X: p > 0,
    "by position": lambda p, X: p + np.arange(len(p)),
    "depends on batch": lambda p, X: p - p.mean(),
    "writes": _writes,
    "raises": _raises,
    "recurses": _recurses,
}


class BrokenClassifier(ClassifierMixin, BaseEstimator):
    """A classifier by class shares, whose probabilities are changed by the named fault."""

    def __init__(self, fault="none"):
        self.fault = fault

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        odds = np.exp(np.asarray(X, float)[:, 0])
        rest = np.ones((len(odds), len(self.classes_) - 1))
        p = np.column_stack([rest, odds])
        return PROBABILITY_FAULTS[self.fault](p / p.sum(axis=1, keepdims=True))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


PROBABILITY_FAULTS = {
    "none": lambda p: p,
    "times 3": lambda p: 3 * p,
    "minus 1": lambda p: p - 1,
    "not summing": lambda p: p**2,
    "nan": lambda p: np.where(np.arange(len(p))[:, None] == 0, np.nan, p),
    "above 1": lambda p: np.column_stack([1 - 9 * p[:, 0], 9 * p[:, 0]]),
    "one column": lambda p: p[:, :1],
    "flat": lambda p: p[:, 0],
    "extra column": lambda p: np.column_stack([p, np.zeros(len(p))]),
    "short": lambda p: p[:-1],
    "complex": lambda p: p + 0.5j,
    "strings": lambda p: p.astype(str),
    "random": lambda p: np.random.default_rng().dirichlet(np.ones(p.shape[1]), len(p)),
    "list": lambda p: [*p.T],
    "nothing": lambda p: None,
}


class Labels(ClassifierMixin, BaseEstimator):
    """A classifier without probabilities, whose labels are changed by the named fault."""

    def __init__(self, fault="none"):
        self.fault = fault

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        codes = (np.asarray(X, float)[:, 0] > 0).astype(int)
        return LABEL_FAULTS[self.fault](self.classes_, codes)


LABEL_FAULTS = {
    "none": lambda classes, codes: classes[codes],
    "codes": lambda classes, codes: codes,
    "unknown": lambda classes, codes: np.full(len(codes), "maybe"),
    "some unknown": lambda classes, codes: np.where(codes == 1, classes[1], "maybe"),
    "missing": lambda classes, codes: np.where(codes == 1, classes[1], None),
    "column": lambda classes, codes: classes[codes][:, None],
    "short": lambda classes, codes: classes[codes][:-1],
}


class NoClasses(BaseEstimator):
    """`fit` and `predict_proba` without `classes_`."""

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


class NoPredict(BaseEstimator):
    """`fit` only."""

    def fit(self, X, y):
        return self


class NoFit(BaseEstimator):
    """`predict` only."""

    def predict(self, X):
        return np.zeros(len(X))


class FitFails(RegressorMixin, BaseEstimator):
    """`fit` raises."""

    def fit(self, X, y):
        raise IndexError("inside fit")

    def predict(self, X):
        return np.zeros(len(X))


class FitWrites(Broken):
    """`fit` writes into its X and y."""

    def fit(self, X, y):
        super().fit(X, y)
        np.asarray(X)[:] = 0.0
        np.asarray(y)[:] = 0.0
        return self


def bad_loss(fault):
    """Return a loss function with a fault."""

    def loss(y, prediction):
        squared = np.square(y - prediction)
        return {
            "scalar": squared.mean,
            "nan": lambda: squared * np.nan,
            "strings": lambda: squared.astype(str),
            "complex": lambda: squared + 1j,
            "short": lambda: squared[..., :-1],
            "nothing": lambda: None,
            "raises": lambda: squared["no such"],
            "random": lambda: np.random.default_rng().normal(size=squared.shape),
            "writes": lambda: np.multiply(prediction, 0, out=prediction),
        }[fault]()

    return loss


def function(fault):
    """Return a prediction function of rows with a fault."""

    def predict(X):
        return FAULTS[fault](np.asarray(X, float)[:, :2].sum(axis=1), X)

    return predict


HOSTILE = {
    "Broken": Broken,
    "BrokenClassifier": BrokenClassifier,
    "Labels": Labels,
    "NoClasses": NoClasses,
    "NoPredict": NoPredict,
    "NoFit": NoFit,
    "FitFails": FitFails,
    "FitWrites": FitWrites,
    "bad_loss": bad_loss,
    "function": function,
}
