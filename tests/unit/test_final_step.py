"""Models inside pipelines and searches: what reads them there equals what predicts in batches."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from lightgbm import LGBMRegressor
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFE
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.models.final_step import final_step

IMPORTANCES = 1e-10  # the same sums in another order

N = 90
RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N).round(1), "k": np.arange(N) % 4})
NUMBER = (X["a"] ** 2 + X["b"] + RNG.normal(size=N)).to_numpy()
COUNT = RNG.poisson(np.exp(X["a"] / 2)).astype(np.float64)
MEDIAN = float(np.median(NUMBER))
TWO = np.where(MEDIAN < NUMBER, "yes", "no")

FOREST = RandomForestRegressor(6, random_state=0)
CLASSES = RandomForestClassifier(6, random_state=0)
SCALED = make_pipeline(StandardScaler(), Ridge())
DEPTHS, PENALTIES = {"max_depth": [2, 4]}, {"ridge__alpha": [0.1, 9.0]}


def grid(estimator, **values):
    return GridSearchCV(estimator, values, cv=2)


READ = {
    "grid search of a forest": (GridSearchCV(FOREST, DEPTHS, cv=2), NUMBER, "trees"),
    "random search": (RandomizedSearchCV(FOREST, DEPTHS, n_iter=2, cv=2), NUMBER, "trees"),
    "search of classifiers": (GridSearchCV(CLASSES, DEPTHS, cv=2), TWO, "trees"),
    "search of boosting": (
        grid(LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1), min_child_samples=[5, 9]),
        NUMBER,
        "trees",
    ),
    "search of a pipeline": (GridSearchCV(SCALED, PENALTIES, cv=2), NUMBER, "linear"),
    "pipeline of a search": (
        make_pipeline(StandardScaler(), grid(Ridge(), alpha=[0.1, 9.0])),
        NUMBER,
        "linear",
    ),
    "pipeline of a search of a pipeline": (
        make_pipeline(MinMaxScaler(), GridSearchCV(SCALED, PENALTIES, cv=2)),
        NUMBER,
        "linear",
    ),
    "pipeline of a pipeline": (
        make_pipeline(
            StandardScaler(),
            make_pipeline(MinMaxScaler(), HistGradientBoostingClassifier(max_iter=5)),
        ),
        TWO,
        "trees",
    ),
    "search of a search": (
        grid(grid(Ridge(), alpha=[1.0]), estimator__alpha=[2.0]),
        NUMBER,
        "linear",
    ),
    "search of statsmodels": (
        grid(pi.statsmodels_learner(sm.GLM, family=sm.families.Poisson()), fit_options=[None]),
        COUNT,
        "linear",
    ),
    "frozen forest": (FrozenEstimator(FOREST.fit(X, NUMBER)), NUMBER, "trees"),
    "frozen search of a pipeline": (
        FrozenEstimator(GridSearchCV(SCALED, PENALTIES, cv=2).fit(X, NUMBER)),
        NUMBER,
        "linear",
    ),
    "frozen steps": (
        make_pipeline(
            FrozenEstimator(StandardScaler().fit(X)),
            FrozenEstimator(clone(SCALED).fit(X.to_numpy(), NUMBER)),
        ),
        NUMBER,
        "linear",
    ),
}


def assert_equal(one, other, engine):
    assert one.engine.name == f"{engine}, exact"
    assert other.engine.name == "batched"
    np.testing.assert_allclose(one.params, other.params, rtol=0, atol=IMPORTANCES)
    np.testing.assert_allclose(one.bse, other.bse, rtol=0, atol=IMPORTANCES)


@pytest.mark.parametrize("name", READ)
def test_models_are_read_inside_searches_and_pipelines(name):
    estimator, y, engine = READ[name]
    estimator.fit(X, y)
    exact, slow = (pi.FittedModel(estimator, X, y, engine=e) for e in ("auto", "batched"))
    assert_equal(exact.pfi(permutations="all"), slow.pfi(permutations="all"), engine)
    assert_equal(exact.pd("a", points=5), slow.pd("a", points=5), engine)


def logs(regressor):
    return TransformedTargetRegressor(regressor, func=np.log1p, inverse_func=np.expm1)


class Positive(Pipeline):  # scikit-learn is untyped
    """A pipeline that changes what its model predicts, far from the rows that it is checked on."""

    def predict(self, X):
        """Predict no more than any response."""
        return np.minimum(super().predict(X), 1e6)


REFUSED = {
    "transformed response": (logs(Ridge()), COUNT),
    "search of a transformed response": (grid(logs(FOREST), regressor__max_depth=[2]), COUNT),
    "transformed response of a search": (logs(GridSearchCV(FOREST, DEPTHS, cv=2)), COUNT),
    "tuned threshold": (TunedThresholdClassifierCV(LogisticRegression(), cv=2), TWO),
    "selected features": (RFE(Ridge(), n_features_to_select=2), NUMBER),
    "search of what predicts in its own way": (
        grid(Positive([("scale", StandardScaler()), ("ridge", Ridge())]), ridge__alpha=[1.0]),
        NUMBER,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrappers_that_change_predictions_are_predicted_in_batches(name):
    estimator, y = REFUSED[name]
    estimator.fit(X, y)
    importance = pi.FittedModel(estimator, X, y).pfi(permutations=10)
    assert importance.engine.name == "batched"
    for engine in ("trees", "linear"):
        with pytest.raises(OptionError, match=f'`engine="{engine}"` can\'t serve'):
            pi.FittedModel(estimator, X, y, engine=engine).pfi()


class TestNativeImportance:
    @pytest.mark.parametrize(
        ("estimator", "attribute"),
        [
            (READ["search of a pipeline"][0], "coef_"),
            (READ["pipeline of a search of a pipeline"][0], "coef_"),
            (
                make_pipeline(StandardScaler(), GridSearchCV(FOREST, DEPTHS, cv=2)),
                "feature_importances_",
            ),
        ],
    )
    def test_numbers_are_named_through_all_steps(self, estimator, attribute):
        result = pi.FittedModel(estimator.fit(X, NUMBER), X, NUMBER).native_importance()
        model = final_step(estimator).model
        assert_array_equal(result.params, getattr(model, attribute))
        assert result.exog_names == ["a", "b", "k"]

    def test_a_transformed_response_has_no_coefficients_of_its_own(self):
        estimator = logs(LinearRegression()).fit(X, COUNT)
        with pytest.raises(OptionError, match="reports no importance of its own"):
            pi.FittedModel(estimator, X, COUNT).native_importance()
