"""Section 9 of Molnar et al. (2021) on red wine: slow, run by `make acceptance`.

The paper: mean squared error 0.425 (linear model), 0.342 (forest), 0.456 (tree); forest minus
linear model [-0.098, -0.069], forest minus tree [-0.158, -0.071]; alcohol, sulphates and volatile
acidity most important. Software differs (ranger and rpart there), so bounds are not their numbers.
"""

from __future__ import annotations

import time

import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def wine(data_folder: object) -> pd.DataFrame:
    return pi.datasets.load_wine_quality("red")


@pytest.fixture(scope="module")
def fits(wine: pd.DataFrame) -> dict[str, pi.LearnerResults]:
    learners = {
        "forest": RandomForestRegressor(500),
        "linear": LinearRegression(),
        "tree": DecisionTreeRegressor(
            min_samples_split=20, min_samples_leaf=7, ccp_alpha=0.01 * wine["quality"].var()
        ),
    }
    found = {}
    for name, learner in learners.items():
        start = time.perf_counter()
        specification = pi.Learner.from_formula("quality ~ .", data=wine, estimator=learner)
        found[name] = specification.fit(resampling=pi.Bootstrap(15), seed=1, n_jobs=2)
        print(f"\n{name}: {time.perf_counter() - start:.1f} s for 15 refits")
    return found


def test_out_of_bag_losses(fits: dict[str, pi.LearnerResults]) -> None:
    loss = {name: res.loss().params.iloc[0] for name, res in fits.items()}
    print(f"\nMSE: {loss}")
    assert 0.34 <= loss["forest"] <= 0.36
    assert 0.42 <= loss["linear"] <= 0.44
    assert 0.455 <= loss["tree"] <= 0.475


def test_the_forest_is_ahead_of_both(fits: dict[str, pi.LearnerResults]) -> None:
    found = pi.compare(fits["forest"], fits["linear"], fits["tree"], names=["rf", "lm", "tree"])
    print(f"\n{found.summary()}")
    limits = found.conf_int()
    assert (limits[1] < 0).all()
    # The intervals overlap the paper's.
    assert limits.loc["rf - lm", 0] < -0.069
    assert limits.loc["rf - lm", 1] > -0.098
    assert limits.loc["rf - tree", 0] < -0.071
    assert limits.loc["rf - tree", 1] > -0.158


def test_the_three_most_important_features(fits: dict[str, pi.LearnerResults]) -> None:
    start = time.perf_counter()
    pfi = fits["forest"].pfi()
    print(f"\nPFI: {time.perf_counter() - start:.1f} s\n{pfi.summary()}")
    top = pfi.params.sort_values(ascending=False).index[:3]
    assert set(top) == {"alcohol", "sulphates", "volatile_acidity"}
    assert (pfi.mcse[["alcohol", "sulphates", "volatile_acidity"]] == 0).all()
    assert (pfi.conf_int().loc[top, 0] > 0).all()


def test_partial_dependence_of_alcohol_rises(fits: dict[str, pi.LearnerResults]) -> None:
    curve = fits["forest"].pd("alcohol")
    print(f"\n{curve.summary()}")
    assert curve.params.iloc[-1] - curve.params.iloc[0] > 0.5
    assert curve.t_test(f"{curve.exog_names[-2]} = {curve.exog_names[1]}").pvalue < 0.01
