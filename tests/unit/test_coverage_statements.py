"""Kinds of learners, and what tables say that simulations of them found."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import ElasticNet, Lasso, LassoCV, LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor, ExtraTreeClassifier

from pyinterp.inference import coverage
from pyinterp.inference.coverage import Coverage, CoverageCase, coverage_of, coverages
from pyinterp.models.families import family_of

TABLE = (
    Coverage(
        "PFI", "squared error", "forests", "half-sample", "halves", 40, 2000, 93, 99, 60, "battery"
    ),
    Coverage(
        "PFI", "squared error", "boosting", "half-sample", "halves", 60, 500, 91, 98, 100, "battery"
    ),
    Coverage(
        "PFI", "log loss", "forests", "half-sample", "halves", 200, 200, 95, 97, 100, "battery"
    ),
    Coverage("PD", "", "forests", "corrected", "bootstrap", 100, 1000, 86, 87, 0, "published"),
)


class Mine(Ridge):
    """A class of a user, from one that is known."""


@pytest.mark.parametrize(
    ("estimator", "family"),
    [
        (LassoCV(), "lassos"),
        (make_pipeline(StandardScaler(), Lasso()), "lassos"),
        (ElasticNet(), "lassos"),
        (RidgeCV(), "linear models"),
        (LogisticRegression(), "linear models"),
        (Mine(), "linear models"),
        (make_pipeline(SplineTransformer(), StandardScaler(), Ridge()), "linear models"),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}), "linear models"),
        (DecisionTreeRegressor(), "single trees"),
        (ExtraTreeClassifier(), "single trees"),
        (RandomForestClassifier(), "forests"),
        (ExtraTreesRegressor(), "forests"),
        (HistGradientBoostingRegressor(), "boosting"),
        (make_pipeline(StandardScaler(), GradientBoostingClassifier()), "boosting"),
        (BaggingRegressor(DecisionTreeRegressor()), ""),  # no study is of bags
        (KNeighborsRegressor(), "nearest neighbors"),
        (SVR(), ""),
        (object(), ""),
    ],
    ids=lambda case: case if isinstance(case, str) else type(case).__name__,
)
def test_kinds_of_learners(estimator: Any, family: str) -> None:
    assert family_of(estimator) == family


def test_boosting_of_other_libraries() -> None:
    for module, name in (("lightgbm", "LGBMRegressor"), ("xgboost", "XGBClassifier")):
        library = pytest.importorskip(module)
        assert family_of(getattr(library, name)()) == "boosting"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "coverages", lambda: TABLE)


def case(**options: Any) -> CoverageCase:
    usual: dict[str, Any] = {
        "estimand": ("PFI over all pairs", "PFI"),
        "loss": "squared error",
        "learners": "forests",
        "cov_type": "half-sample",
        "plan": "halves",
        "n": 300,
    }
    return CoverageCase(**usual | options)


@pytest.mark.usefixtures("table")
def test_statements_are_of_the_case_at_hand() -> None:
    of = "In simulations of"
    covered, sets = "nominal 95% intervals of every term covered", "(60 data sets or more each)"
    assert coverage_of(case()) == f"{of} forests (n = 40 to 2,000) {covered} 93% or more {sets}."
    large = coverage_of(case(n=30_000))
    assert large == f"{of} forests (n = 40 to 2,000; here 30,000) {covered} 93% or more {sets}."
    other = coverage_of(case(learners=""))
    assert other == f"{of} boosting and forests (n = 40 to 2,000) {covered} 91% or more {sets}."
    assert (
        coverage_of(case(loss="log loss"))
        == f"{of} forests (n = 200; here 300) {covered} 95% or more (100 data sets or more each)."
    )
    curve = case(estimand=("PD",), loss="", cov_type="corrected", plan="bootstrap")
    assert coverage_of(curve) == (
        "In simulations by Molnar et al. (2021; 15 refits) of forests (n = 100 to 1,000) nominal "
        "95% intervals of this kind covered 86-87%."
    )


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    "options",
    [
        {"estimand": ()},
        {"estimand": ("LOCO",)},
        {"loss": "absolute error"},
        {"cov_type": "naive"},
        {"plan": ""},
    ],
    ids=str,
)
def test_nothing_is_said_of_what_was_not_studied(options: dict[str, Any]) -> None:
    assert coverage_of(case(**options)) == ""


def test_the_table_has_one_line_per_case() -> None:
    keys = [row[:5] for row in coverages()]
    assert len(set(keys)) == len(keys)
    assert all(0 <= row.lowest <= row.highest <= 100 for row in coverages())
    assert all(0 < row.n_low <= row.n_high for row in coverages())
