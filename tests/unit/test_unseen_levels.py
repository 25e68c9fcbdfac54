"""Levels that evaluation rows of a refit have and its training rows lack: all named at once."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, TargetEncoder

import pyinterp as pi
from pyinterp.errors import PredictionError, RefitError, RefitWarning

N = 60
TRAINED = []  # numbers of rows that models were trained on


class Counted(RegressorMixin, BaseEstimator):
    """A linear model that tells of its training."""

    def fit(self, X, y):
        TRAINED.append(len(y))
        self.model_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.fixture(autouse=True)
def none_trained():
    TRAINED.clear()


def rare(dtype="str"):
    """Return data in which four rows have a level of their own: 0, 25 and 59 of g, 41 of h."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=N), "g": ["u", "v"] * 30, "h": ["s", "t"] * 30})
    data.loc[[0, 25, 59], "g"] = ["first", "middle", "last"]
    data.loc[41, "h"] = "other"
    data["y"] = data["x"] + (data["g"] == "v") + rng.normal(size=N)
    return data.astype({"g": dtype, "h": dtype})


ALL = (
    r"^Evaluation rows have levels that training rows lack: 'first', 'middle', 'last' of `g` and "
    r"'other' of `h`, in 3 of 3 refits \(1, 2, 3\). Merge rare levels"
)
PLAN = KFold(3)  # without shuffling: rows 0-19, 20-39, 40-59


def learner(estimator, data, **options):
    return pi.Learner.from_formula("y ~ x + g + h", data, estimator, **options)


@pytest.mark.parametrize("dtype", ["str", "category", "object"])
@pytest.mark.parametrize("state", ["all", "refit"])
def test_all_levels_of_a_formula_are_named_before_a_model_is_trained(dtype, state):
    model = learner(Counted(), rare(dtype), design_state=state)
    with pytest.raises(RefitError, match=ALL):
        model.fit(PLAN, seed=1)
    assert not TRAINED


def test_refits_that_may_be_dropped_are():
    data = rare().drop(index=[0, 59]).reset_index(drop=True)  # folds: 0-19, 20-39, 40-57
    data["h"] = "t"
    model = learner(Counted(), data)
    with pytest.warns(RefitWarning, match="1 of 3 refits failed.*lack: 'middle' of `g`"):
        results = model.fit(PLAN, seed=1, on_error="drop")
    assert len(results.refits) == len(TRAINED) == 2


@pytest.mark.parametrize("encoder", [OneHotEncoder, OrdinalEncoder])
def test_an_encoder_that_refuses_levels_says_what_to_do(encoder):
    encode = make_column_transformer((encoder(), ["g", "h"]), remainder="passthrough")
    results = learner(make_pipeline(encode, Counted()), rare(), design="frame").fit(PLAN, seed=1)
    with pytest.raises(PredictionError, match=r"unknown categories .*; merge rare levels, or let"):
        results.pfi()


LUMP = FunctionTransformer(lambda g: g.where(g.isin(["u", "v"]), "rest"))
KNOWN = OneHotEncoder(categories=[["first", "last", "middle", "u", "v"]])
FINE = {
    "ignored": (OneHotEncoder(handle_unknown="ignore"), ["g", "h"]),
    "known": (KNOWN, ["g"]),
    "lumped": (make_pipeline(LUMP, OneHotEncoder()), ["g"]),
    "target": (TargetEncoder(cv=2), ["g", "h"]),
    "words": (CountVectorizer(analyzer="char"), "g"),
    "dropped": ("passthrough", ["x"]),
}


@pytest.mark.filterwarnings("ignore:`TargetEncoder.shuffle:FutureWarning")
@pytest.mark.parametrize("name", FINE)
def test_learners_that_predict_unseen_levels_are_trained_as_ever(name):
    both = name in ("ignored", "target")
    encode = make_column_transformer(FINE[name], remainder="passthrough" if both else "drop")
    piped = make_pipeline(encode, Counted())
    results = learner(piped, rare(), design="frame").fit(PLAN, seed=1)
    assert len(TRAINED) == len(results.refits) == 3
    assert np.isfinite(results.pfi().params).all()


def test_a_missing_value_is_no_level():
    data = rare().assign(h="t")
    data["g"] = data["g"].where(data.index != 0, None).mask(data.index.isin([25, 59]), "u")
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["g"]))
    model = learner(make_pipeline(encode, Counted()), data, design="frame", missing="keep")
    assert len(model.fit(PLAN, seed=1).refits) == 3
