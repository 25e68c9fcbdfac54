"""Frequency weights are rows: a row of weight 2 is two rows, in every estimand and plan."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

import pyinterp as pi
from pyinterp import errors

N = 40
ESTIMANDS = {
    "loss": lambda r: r.loss(),
    "explained": lambda r: r.loss(relation="explained"),
    "pfi": lambda r: r.pfi(),
    "pfi, 5 permutations": lambda r: r.pfi(permutations=5),
    "pfi, absolute": lambda r: r.pfi(loss="absolute", relation="ratio"),
    "pd": lambda r: r.pd("x1", points=5),
    "pd, 2": lambda r: r.pd(["x1", "g"], points=3),
    "native": lambda r: r.native_importance(),
    "firm": lambda r: r.firm(),
    "h": lambda r: r.h_statistic(),
    "vint": lambda r: r.vint(),
    "mvim": lambda r: r.mvim(["x1"]),
    "cvim": lambda r: r.cvim(["x1"]),
    "amvim": lambda r: r.amvim(["x1"]),
    "positivity": lambda r: r.positivity(["x1"]),
    "cpfi": lambda r: r.pfi(["x1"], sampler="residual"),
    "redundancy": lambda r: r.redundancy(["x1"]),
    "mean over rows": lambda r: r.estimate(pi.mean_over_rows(lambda y, f: y - f, "bias")),
}
MODELS = {
    "trees": RandomForestRegressor(5, random_state=0),
    "linear": LinearRegression(),
    "batched": KNeighborsRegressor(),
}
PLANS = {
    "half-sample": pi.HalfSampling(3, pairs=5),
    "bootstrap": pi.Bootstrap(3),
    "subsampling": pi.Subsampling(3),
    "cross-validation": pi.CrossValidation(3),
    "nested bootstrap": pi.NestedBootstrap(3, 2),
    "holdout": pi.Holdout(0.6),
}


def _data():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x1": rng.normal(size=N), "x2": rng.normal(size=N)})
    frame["g"] = rng.choice(["a", "b"], N)
    frame["y"] = frame.x1 + frame.x2 * (frame.g == "a") + rng.normal(size=N)
    frame["cluster"] = np.arange(N) // 2
    return frame.set_axis([f"r{i}" for i in range(N)]), rng.integers(0, 4, N)


def _both(**options):
    frame, counts = _data()
    estimator = options.pop("estimator")
    formula = "y ~ x1 + x2 + g"
    weighted = pi.Learner.from_formula(
        formula, frame.assign(w=counts), estimator, weights="w", weights_type="frequency", **options
    )
    repeated = pi.Learner.from_formula(
        formula, frame.iloc[np.repeat(np.arange(N), counts)], estimator, **options
    )
    return weighted, repeated


def _same(ours, theirs):
    np.testing.assert_array_equal(ours.params, theirs.params)
    if hasattr(ours, "cov_params"):
        np.testing.assert_array_equal(ours.cov_params(), theirs.cov_params())
    pd.testing.assert_frame_equal(ours.summary_frame(), theirs.summary_frame(), check_exact=True)


@pytest.mark.parametrize("model", MODELS)
def test_every_estimand_has_the_numbers_of_repeated_rows(model):
    estimands = {k: v for k, v in ESTIMANDS.items() if k != "native" or model != "batched"}
    fits = [learner.fit(pi.Subsampling(2), seed=1) for learner in _both(estimator=MODELS[model])]
    for ask in [*estimands.values(), lambda r: r.loco()]:
        _same(*(ask(fit) for fit in fits))


@pytest.mark.parametrize("plan", PLANS)
def test_every_plan_has_the_numbers_of_repeated_rows(plan):
    ours, theirs = (
        learner.fit(PLANS[plan], seed=1).pfi() for learner in _both(estimator=LinearRegression())
    )
    _same(ours, theirs)


@pytest.mark.parametrize("cov_type", ["ustat", "rows"])
def test_one_model_has_the_numbers_of_repeated_rows(cov_type):
    frame, counts = _data()
    X, rows = frame[["x1", "x2", "cluster"]], np.repeat(np.arange(N), counts)
    model = LinearRegression().fit(X[["x1", "x2"]], frame.y)
    ours = pi.FittedModel(
        model, X.assign(w=counts), frame.y, cluster="cluster", weights="w", weights_type="frequency"
    )
    theirs = pi.FittedModel(model, X.iloc[rows], frame.y.iloc[rows], cluster="cluster")
    _same(ours.pfi(cov_type=cov_type), theirs.pfi(cov_type=cov_type))
    pd.testing.assert_frame_equal(ours.pfi().row_frame(), theirs.pfi().row_frame())


def test_clusters_and_strata_given_as_arrays_follow_the_rows():
    frame, _ = _data()
    ours, theirs = _both(estimator=LinearRegression())
    for option in ("cluster", "strata"):
        level = frame["cluster"] // 10 if option == "strata" else frame["cluster"]
        plan = pi.Bootstrap(3, **{option: level.to_numpy()})
        rows = theirs.sample.index
        again = pi.Bootstrap(3, **{option: level.loc[rows].to_numpy()})
        _same(ours.fit(plan, seed=1).pfi(), theirs.fit(again, seed=1).pfi())


def test_arrays_and_statistics_inside_the_formula_see_the_repeated_rows():
    frame, counts = _data()
    rows = np.repeat(np.arange(N), counts)
    x, y = frame[["x1", "x2"]].to_numpy(), frame.y.to_numpy()
    ours = pi.Learner(y, x, LinearRegression(), weights=counts, weights_type="frequency")
    theirs = pi.Learner(y[rows], x[rows], LinearRegression())
    _same(*(learner.fit_model(seed=1).pfi() for learner in (ours, theirs)))
    formula = "I(y - np.mean(y)) ~ center(x1) + x2"
    ours = pi.Learner.from_formula(
        formula, frame, LinearRegression(), weights=counts, weights_type="frequency"
    )
    theirs = pi.Learner.from_formula(formula, frame.iloc[rows], LinearRegression())
    _same(*(learner.fit_model(seed=1).pd("x1") for learner in (ours, theirs)))


def test_classes_have_the_numbers_of_repeated_rows():
    frame, counts = _data()
    frame = frame.assign(y=np.where(frame.y > 0, "yes", "no"))
    rows = np.repeat(np.arange(N), counts)
    ours = pi.Learner.from_formula(
        "y ~ x1 + x2", frame, LogisticRegression(), weights=counts, weights_type="frequency"
    ).fit(pi.Bootstrap(3), seed=1)
    theirs = pi.Learner.from_formula("y ~ x1 + x2", frame.iloc[rows], LogisticRegression()).fit(
        pi.Bootstrap(3), seed=1
    )
    _same(ours.pfi(), theirs.pfi())
    _same(ours.entropy_pfi(), theirs.entropy_pfi())
    _same(ours.pfi(metric="roc_auc"), theirs.pfi(metric="roc_auc"))


def test_missing_values_are_counted_with_their_weights():
    frame, counts = _data()
    frame.loc[frame.index[:3], "x1"] = np.nan
    counts[:3] = [2, 0, 5]
    learner = pi.Learner.from_formula(
        "y ~ x1", frame, LinearRegression(), weights=counts, weights_type="frequency"
    )
    assert learner.dropped_rows == 7
    assert learner.sample.nobs == counts[3:].sum()


def test_the_header_says_how_many_rows_are_distinct():
    ours, _ = _both(estimator=LinearRegression())
    _, counts = _data()
    text = " ".join(str(ours.fit(pi.Holdout(0.6), seed=1).pfi().summary()).split())
    assert f"No. observations: {counts.sum()} " in text
    assert f"(frequency), {(counts > 0).sum()} distinct rows" in text
    again = pickle.loads(pickle.dumps(ours))  # noqa: S301 - our own pickle
    _same(again.fit_model(seed=1).pfi(), ours.fit_model(seed=1).pfi())


def test_the_dot_does_not_stand_for_the_weights():
    frame, counts = _data()
    data = frame[["x1", "y"]].assign(w=counts)
    learner = pi.Learner.from_formula(
        "y ~ .", data, LinearRegression(), weights="w", weights_type="frequency"
    )
    assert learner.design.variables == ["x1"] or tuple(learner.design.variables) == ("x1",)
    named = pi.Learner.from_formula(
        "y ~ x1 + w", data, LinearRegression(), weights="w", weights_type="frequency"
    )
    assert list(named.design.variables) == ["x1", "w"]


@pytest.mark.parametrize(
    ("weights", "kind", "sentence"),
    [
        (np.ones(N), None, "Say what the weights are"),
        (None, "frequency", "pass `weights`"),
        (np.ones(N), "prob", "must be"),
        ("v", "frequency", "which is not in `data`"),
        (np.ones(N - 1), "frequency", "one value per row"),
        (np.full(N, 0.5), "frequency", "must be whole"),
        (np.full(N, -1), "frequency", "must be 0 or more"),
        (np.zeros(N), "frequency", "All weights are 0"),
        (np.full(N, 1e7), "frequency", "at most 10,000,000"),
        (np.full(N, np.nan), "frequency", "must be finite"),
        (["a"] * N, "frequency", "must be numbers"),
        (np.zeros(N), "sampling", "All weights are 0"),
        (pd.Series(np.ones(N)), "frequency", "same index"),
    ],
)
def test_wrong_weights_are_refused(weights, kind, sentence):
    frame, _ = _data()
    with pytest.raises(errors.PyinterpError, match=sentence):
        pi.Learner.from_formula(
            "y ~ x1", frame, LinearRegression(), weights=weights, weights_type=kind
        )


def test_weights_are_refused_where_every_refit_has_new_data():
    ours, _ = _both(estimator=LinearRegression())
    with pytest.raises(errors.OptionError, match="draws new data"):
        ours.fit(pi.FreshDraws(lambda _: _data()[0], 3), seed=1)
