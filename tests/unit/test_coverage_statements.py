"""Kinds of learners, and what tables say that simulations of them found."""

import re

import numpy as np
import pytest
from fits import fit_of
from shared import normal_rows
from sklearn.ensemble import BaggingRegressor, GradientBoostingClassifier, RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, LassoCV, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.inference import coverage
from pyinterp.inference.coverage import Coverage, coverage_of, coverages
from pyinterp.models.specification import family_of
from pyinterp.results.footnotes import NO_SIMULATION

HALVES = ("half-sample", "halves")
TABLE = (
    Coverage("PFI", "", "forests", *HALVES, 40, 2000, 21, 56, 2100, 96, 93, "battery"),
    Coverage("PFI", "", "boosting", *HALVES, 60, 500, 4, 14, 160, 94, 92, "battery"),
    Coverage(
        "PFI", "log loss", "nearest neighbors", *HALVES, 200, 200, 1, 2, 200, 95, 95, "battery"
    ),
    Coverage(
        "PD", "", "forests", "corrected", "bootstrap", 100, 1000, 4, 12, 4000, 86, 85, "published"
    ),
)


class Mine(Ridge):
    """A class of a user, from one that is known."""


@pytest.mark.parametrize(
    ("estimator", "family"),
    [
        (LassoCV(), "lassos"),
        (ElasticNet(), "lassos"),
        (LogisticRegression(), "linear models"),
        (Mine(), "linear models"),
        (make_pipeline(SplineTransformer(), StandardScaler(), Ridge()), "linear models"),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}), "linear models"),
        (DecisionTreeRegressor(), "single trees"),
        (RandomForestClassifier(), "forests"),
        (make_pipeline(StandardScaler(), GradientBoostingClassifier()), "boosting"),
        (BaggingRegressor(DecisionTreeRegressor()), ""),  # no study is of bags
        (KNeighborsRegressor(), "nearest neighbors"),
        (KernelRidge(), "kernel ridge"),
        (make_pipeline(StandardScaler(), SVR()), "support vectors"),
        (object(), ""),
    ],
    ids=lambda case: case if isinstance(case, str) else type(case).__name__,
)
def test_kinds_of_learners(estimator, family):
    assert family_of(estimator) == family


def test_boosting_of_other_libraries():
    for module, name in (("lightgbm", "LGBMRegressor"), ("xgboost", "XGBClassifier")):
        library = pytest.importorskip(module)
        assert family_of(getattr(library, name)()) == "boosting"


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(coverage, "coverages", lambda: TABLE)
    coverage_of.cache_clear()
    yield
    coverage_of.cache_clear()


def said(**options):
    usual = {
        "estimand": ("PFI over all pairs", "PFI"),
        "loss": "squared error",
        "learners": "forests",
        "cov_type": "half-sample",
        "plan": "halves",
        "n": 300,
    }
    return coverage_of(**usual | options)


@pytest.mark.usefixtures("table")
def test_statements_are_of_the_case_at_hand():
    of, covered = "In simulations of", "nominal 95% intervals covered 96% on average"
    end = f"{covered}, and 93% or more for nine terms of ten."
    counts = "21 settings, 56 terms, 2,100 data sets, n = 40 to 2,000"
    assert said() == f"{of} forests ({counts}) {end}"
    assert said(n=30_000) == f"{of} forests ({counts}; here 30,000) {end}"
    assert said(learners="") == (
        f"{of} boosting and forests (25 settings, 70 terms, 2,260 data sets, n = 40 to 2,000) "
        f"{covered}, and 92% or more for nine terms of ten."
    )
    neighbors = said(learners="nearest neighbors", loss="log loss")
    assert neighbors.startswith(
        f"{of} nearest neighbors (1 setting, 2 terms, 200 data sets, n = 200; here 300)"
    )
    curve = said(estimand=("PD",), loss="", cov_type="corrected", plan="bootstrap")
    assert curve.startswith(
        "In simulations by Molnar et al. (2021; 15 refits) of forests (4 settings, 12 terms, "
        "4,000 data sets"
    )


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    "options",
    [{"estimand": ()}, {"estimand": ("LOCO",)}, {"cov_type": "naive"}, {"plan": ""}],
    ids=str,
)
def test_nothing_is_said_of_what_was_not_studied(options):
    assert said(**options) == ""


def test_the_table_has_one_line_per_case():
    assert len({row[:5] for row in coverages()}) == len(coverages())
    for row in coverages():
        assert 0 <= row.nine_of_ten <= row.mean <= 100
        assert 0 < row.n_low <= row.n_high
        assert row.data_sets >= 40 * row.settings


@pytest.mark.parametrize("row", coverages(), ids=lambda row: " ".join(map(str, row[:5])))
def test_a_sentence_says_what_the_table_says(row):
    case = {name: getattr(row, name) for name in ("loss", "learners", "cov_type", "plan")}
    sentence = coverage_of((row.estimand,), n=row.n_low, **case)
    assert sentence.startswith(coverage.SOURCES[row.source] + row.learners)
    assert f", {row.data_sets:,} data sets, n = {row.n_low:,}" in sentence
    assert f"intervals covered {row.mean}% on average, and {row.nine_of_ten}% or" in sentence


def test_clusters_and_sampling_weights_have_simulations_of_their_own():
    _, frame = normal_rows(150, "x1 y", 1)
    learner = pi.Learner.from_formula("y ~ x1", frame, Ridge())
    by_cluster = learner.fit(pi.HalfSampling(cluster=np.arange(150) // 3), seed=1)
    full = " ".join(by_cluster.pfi().summary(notes="full").notes)
    assert "In simulations of 50 or 60 clusters and linear models (1 setting, 3 terms, 200" in full
    options = {"weights": np.arange(150) % 2 + 1.0, "weights_type": "sampling"}
    weighted = fit_of("y ~ x1", frame, Ridge(), **options)
    full = " ".join(weighted.pfi().summary(notes="full").notes)
    assert re.search(r"with sampling weights and linear models \(1 setting, \d terms, 200", full)
    stratified = pi.Bootstrap(15, strata=np.arange(150) % 2)
    assert NO_SIMULATION in " ".join(learner.fit(stratified, seed=1).pfi().summary().notes)


# What has an interval by default, of a learner that was simulated.
ASKS = [
    ("pfi", {}),
    ("pfi", {"relation": "ratio"}),
    ("pfi", {"metric": "r2"}),
    ("pfi", {"by": "side"}),
    ("pfi", {"sampler": "conditional"}),
    *((name, {}) for name in ("mvim", "cvim", "amvim", "loco", "firm", "h_statistic", "vint")),
    ("amvim", {"method": "additive"}),
    *((name, {"features": "x1"}) for name in ("pd", "ale")),
    ("pd", {"features": "x1", "kind": "c-ice"}),
    ("ame", {"step": "sd"}),
    ("loss", {}),
    ("loss", {"relation": "explained"}),
    ("metric", {"metric": "r2"}),
    ("metric", {"metric": "rmse"}),
]


@pytest.fixture(scope="module")
def trees():
    rng, frame = normal_rows(80, "x1 x2", 1)
    side = np.where(frame["x1"] > 0, "above", "below")
    frame = frame.assign(side=side, y=frame["x1"] * frame["x2"] + rng.normal(size=80))
    tree = DecisionTreeRegressor(min_samples_leaf=5)
    return fit_of("y ~ x1 + x2", frame, tree)


@pytest.mark.parametrize(("method", "options"), ASKS, ids=str)
def test_simulations_are_of_every_estimand_with_an_interval(trees, method, options):
    results = getattr(trees, method)(**options)
    assert NO_SIMULATION not in " ".join(results.summary().notes)
    assert "data sets, n = " in " ".join(results.summary(notes="full").notes)
