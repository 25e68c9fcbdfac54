"""Levels that evaluation rows of a refit have and its training rows lack: all named at once."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, TargetEncoder

import pyinterp as pi
from pyinterp.errors import RefitError, RefitWarning

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


class Dummies(Counted):
    """A model that encodes g itself, and refuses levels that it has not seen."""

    def fit(self, X, y):
        self.levels_ = sorted(set(X["g"]))
        super().fit(self._encoded(X), y)
        return self

    def predict(self, X):
        return super().predict(self._encoded(X))

    def _encoded(self, X):
        if not set(X["g"]) <= set(self.levels_):
            raise KeyError("a new level")
        return np.column_stack([X["x"], *(X["g"] == level for level in self.levels_)])


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
    if dtype == "int":
        codes = {level: k for k, level in enumerate(["u", "v", "first", "middle", "last"])}
        return data.assign(g=data["g"].map(codes), h=(data["h"] == "t") * 1)
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


ENCODERS = {
    "one-hot": OneHotEncoder,
    "ordinal": OrdinalEncoder,
    "two steps": lambda: make_pipeline(FunctionTransformer(), OneHotEncoder()),
}


@pytest.mark.parametrize("dtype", ["str", "category", "object"])
@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("by", ["names", "selector"])
def test_all_levels_of_an_encoder_are_named_before_a_model_is_trained(dtype, encoder, by):
    columns = ["g", "h"] if by == "names" else make_column_selector(dtype_exclude="number")
    encode = make_column_transformer((ENCODERS[encoder](), columns), remainder="passthrough")
    data = rare(dtype)
    models = [
        learner(make_pipeline(encode, Counted()), data, design="frame"),
        pi.Learner(data["y"], data[["x", "g", "h"]], make_pipeline(encode, Counted())),
    ]
    for model in models:
        with pytest.raises(RefitError, match=f"{ALL}.*ignore"):
            model.fit(PLAN, seed=1)
    assert not TRAINED


def test_codes_that_an_encoder_reads_are_levels_too():
    data = rare("int")
    encode = make_column_transformer((OneHotEncoder(), ["g", "h"]), remainder="passthrough")
    with pytest.raises(RefitError, match=r"lack: 2, 3, 4 of `g`, in 3 of 3 refits"):
        pi.Learner(data["y"], data[["x", "g", "h"]], make_pipeline(encode, Counted())).fit(PLAN)
    by_position = make_column_transformer((OneHotEncoder(), [1]), remainder="passthrough")
    X = data[["x", "g"]].to_numpy()
    with pytest.raises(RefitError, match=r"lack: 2.0, 3.0, 4.0 of `x2`, in 3"):
        pi.Learner(data["y"], X, make_pipeline(by_position, Counted())).fit(PLAN)
    assert not TRAINED


def test_levels_that_a_learner_encodes_itself_are_named_by_one_trial():
    wrapped = TransformedTargetRegressor(Dummies(), check_inverse=False)
    for estimator in (Dummies(), wrapped):
        TRAINED.clear()
        data = rare().assign(h="t")
        with pytest.raises(RefitError, match="lack: 'first', 'middle', 'last' of `g`, in"):
            learner(estimator, data, design="frame").fit(PLAN, seed=1)
        assert len(TRAINED) == 1


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


@pytest.mark.parametrize("estimator", [Counted(), make_pipeline(FunctionTransformer(), Counted())])
def test_numbers_cost_no_trial(estimator):
    data = rare("int")
    pi.Learner(data["y"], data[["x", "g"]], estimator).fit(PLAN, seed=1)
    assert len(TRAINED) == 3


def test_a_missing_value_is_no_level():
    data = rare().assign(h="t")
    data["g"] = data["g"].where(data.index != 0, None).mask(data.index.isin([25, 59]), "u")
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["g"]))
    model = learner(make_pipeline(encode, Counted()), data, design="frame", missing="keep")
    assert len(model.fit(PLAN, seed=1).refits) == 3
