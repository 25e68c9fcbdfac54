"""Samplers under sampling weights: donors, fits and means are those of the population."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import pyinterp as pi
from pyinterp.errors import OptionError

LINE = pi.samplers.Residual(LinearRegression())
LEVELS = pi.samplers.Categorical(LogisticRegression(C=1e6))
CALLS = {
    "cvim, residual": lambda m: m.cvim("x1", sampler=LINE).params.iloc[0],
    "cvim, categorical": lambda m: m.cvim("g", sampler=LEVELS).params.iloc[0],
    "amvim": lambda m: m.amvim("x1", sampler=LINE).params.iloc[0],
    "positivity": lambda m: m.positivity("x1", sampler=LINE).params.iloc[0],
    "causal": lambda m: m.causal("x1", sampler=LINE, points=2).importance.params["CVIM"],
    "causal, share": lambda m: m.causal("x1", sampler=LINE, points=2).share.params.iloc[0],
}
PAIRS = ("cvim, residual", "amvim", "causal")  # means over pairs of different rows


def model(X):
    level = 0.8 * (X["g"] == "a")
    return (0.7 * X["x1"] + 0.5 * X["x2"] + level + 0.3 * X["x1"] * X["x2"]).to_numpy()


def data(seed, n=120):
    """Return rows whose weights, 1 to 3, depend on the response."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x2": rng.normal(size=n)})
    X["x1"] = 0.6 * X["x2"] + (0.5 + 0.5 * (X["x2"] > 0)) * rng.normal(size=n)
    X["g"] = np.where(X["x2"] + rng.normal(size=n) > 0, "a", "b")
    y = pd.Series(model(X) + rng.normal(size=n), name="y")
    return X, y, 1 + (y > y.median()).to_numpy() + rng.integers(0, 2, n)


def sampled(X, y, w):
    return pi.FittedModel(model, X, y, weights=w, weights_type="sampling", seed=1)


def fitted(X, y, at, **options):
    """Return the model on some rows, copies of which go into one fold."""
    rows, response = X.iloc[at].reset_index(drop=True), y.iloc[at].reset_index(drop=True)
    return pi.FittedModel(model, rows, response, cluster=pd.Series(at), **options)


def test_whole_weights_are_repeated_rows():
    """Of 20 data sets, 2 orders of rows each: folds differ by the order.

    z is by their standard deviation; 2 / sqrt(20) = .45.
    """
    found = {name: np.empty((20, 2, 2)) for name in CALLS}
    for seed, order in product(range(20), range(2)):
        X, y, w = data(seed)
        rng = np.random.default_rng(100 * seed + order)
        one, two = rng.permutation(len(X)), rng.permutation(len(X))
        ours = fitted(X, y, one, weights=w[one], weights_type="sampling")
        theirs = fitted(X, y, np.repeat(two, w[two]))
        # Repeated rows also meet their copies, which change nothing.
        kept = 1 - (w * (w - 1)).sum() / (w.sum() * (w.sum() - 1))
        for name, ask in CALLS.items():
            scale = kept if name in PAIRS else 1.0
            found[name][seed, order] = scale * ask(ours), ask(theirs)
    for name, values in found.items():
        spread = np.sqrt(values.var(axis=1, ddof=1).mean(axis=0).sum())
        z = (values[:, 0, 0] - values[:, 0, 1]) / spread
        assert abs(z.mean()) < 0.45, name
        assert abs(z).max() < 3.5, name


def test_case_control_samples_have_the_importance_of_the_population():
    """Truth 2 b² E V(x1 | x2); 40 samples of 250 cases and 350 others; 200 had .610 (s.e. .0045).

    Without weights .820. Within 2 standard errors of the mean, and their standard errors within
    30% of the standard deviation.
    """
    rng, b, size = np.random.default_rng(0), 0.7, 400_000
    x2 = rng.normal(size=size)
    spread = 0.5 + 0.5 * (x2 > 0)
    x1 = 0.6 * x2 + spread * rng.normal(size=size)
    y = b * x1 + 0.5 * x2 + rng.normal(size=size)
    case = y > 1.8
    truth, share = 2 * b**2 * np.mean(spread**2), case.mean()
    fit = LinearRegression()
    fit.fit(pd.DataFrame({"x1": x1, "x2": x2}), y)
    found = []
    for seed in range(40):
        draw = np.random.default_rng(seed)
        at = np.concatenate(
            [draw.choice(np.flatnonzero(case), 250), draw.choice(np.flatnonzero(~case), 350)]
        )
        w = np.where(case[at], share / 250, (1 - share) / 350)
        X, response = pd.DataFrame({"x1": x1[at], "x2": x2[at]}), pd.Series(y[at], name="y")
        cvim = pi.FittedModel(fit, X, response, weights=w, weights_type="sampling", seed=seed).cvim(
            "x1", sampler=LINE
        )
        plain = pi.FittedModel(fit, X, response, seed=seed).cvim("x1", sampler=LINE)
        found.append((cvim.params.iloc[0], cvim.bse.iloc[0], plain.params.iloc[0]))
    values = np.array(found)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    means = values.mean(axis=0)
    assert abs(means[0] - truth) < 2 * error[0]
    assert abs(means[2] - truth) > 10 * error[2]
    assert means[1] / (error[0] * np.sqrt(len(values))) == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("kind", ["residual", "subgroup"])
def test_conditional_pfi_is_that_of_loops(kind):
    """By the draws that the sampler learned, and donors by hand."""
    X, y, w = data(5, n=60)
    sampler = LINE if kind == "residual" else pi.samplers.Subgroup(leaf=5)
    fit = sampled(X, y, w)
    ours = fit.pfi("x1", sampler=sampler).params.iloc[0]
    law = fit.analysis.cases[0].conditional(sampler, ("x1",))
    strata = np.zeros(60, int) if law.strata is None else law.strata
    x = X["x1"].to_numpy()
    base = law.prediction if kind == "residual" else np.zeros(60)
    total = 0.0
    for i in range(60):
        donors = np.flatnonzero((strata == strata[i]) & (np.arange(60) != i))
        rows = X.iloc[[i] * len(donors)].assign(x1=base[i] + (x - base)[donors])
        total += w[i] * np.average((y[i] - model(rows)) ** 2, weights=w[donors])
    expected = total / w.sum() - np.average((y - model(X)) ** 2, weights=w)
    assert ours == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.cvim(["x1", "g"]),
        lambda r: r.pfi("x1", sampler="subgroup"),
        lambda r: r.causal("x1").importance,
        lambda r: r.loss(relation="explained"),
        lambda r: r.pfi(),
    ],
)
def test_standard_errors_are_those_of_weights_that_hardly_differ(ask):
    X, y, _ = data(7, n=60)
    nearly = np.where(np.arange(60) == 0, 1 + 1e-7, 1.0)
    ours = ask(sampled(X, y, nearly))
    theirs = ask(pi.FittedModel(model, X, y, seed=1))
    assert_allclose(ours.params, theirs.params, rtol=1e-4)
    assert_allclose(ours.bse, theirs.bse, rtol=1e-4)


def test_some_donors_are_drawn_by_their_weights():
    """4,000 draws for each of 20 rows: shares within 4 standard errors; none is the row itself."""
    X, y, w = data(8, n=20)
    fit = sampled(X, y, w)
    law = fit.analysis.cases[0].conditional(LINE, ("x1",))
    (draws,) = law.some(4000, np.random.default_rng(1))
    assert draws.weights is None
    shares = np.array([np.bincount(row, minlength=20) for row in draws.donors]) / 4000
    assert (np.diag(shares) == 0).all()
    expected = np.broadcast_to(w, (20, 20)) * (1 - np.eye(20))
    expected = expected / expected.sum(axis=1, keepdims=True)
    assert (abs(shares - expected) <= 4 * np.sqrt(expected * (1 - expected) / 4000)).all()


def test_many_rows_take_some_draws_with_their_error():
    X, y, w = data(9, n=520)
    fit = sampled(X, y, w)
    some, every = (fit.cvim("x1", sampler=LINE, permutations=p) for p in ("auto", "all"))
    error = float(some.mcse.iloc[0])
    assert 0 < error < 0.1 * some.bse.iloc[0]
    assert abs(some.params.iloc[0] - every.params.iloc[0]) < 4 * error


def test_all_obstacles_are_in_one_message():
    _, frame = normal_rows(60, "x smoking bmi y")
    frame.loc[:9, "smoking"] = frame.loc[5:7, "bmi"] = np.nan
    frame["w"] = 1.0 + np.arange(60) % 3
    fit = pi.Learner.from_formula(
        "y ~ x + smoking + bmi", frame, HistGradientBoostingRegressor(max_iter=3),
        weights="w", weights_type="sampling", missing="keep",
    ).fit_model(seed=1)  # fmt: skip
    with pytest.raises(OptionError) as caught:
        fit.cvim(permutations=5)
    said, said_apart = str(caught.value), list(caught.value.args)
    assert said.startswith("2 things stand in the way: 1. A sampler learns `smoking`, `bmi`")
    assert "missing in 10, 3 of 60 rows" in said
    assert "2. The call takes no sampling weights, because weighted donors" in said
    assert len(said) <= 400
    with pytest.raises(OptionError) as caught:
        fit.importance(["cvim", "pfi", "rmse"], permutations=5)
    first, second, third, fourth = caught.value.args  # of CVIM two, of PFI and its metric one each
    assert [first, second] == said_apart
    assert "exchange rows that weigh the same" in fourth
    assert third.startswith("Permutation feature importance takes no sampling weights")
    with pytest.raises(OptionError, match="Gaussian knockoffs need all variables"):
        fit.pfi("x", sampler="knockoff")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(fit.cvim("x").params).all()


@pytest.mark.parametrize(
    "sampler",
    [pi.samplers.Categorical(KNeighborsClassifier()), pi.samplers.Residual(KNeighborsRegressor())],
)
def test_an_estimator_that_would_learn_from_the_sample_alone_is_refused(sampler):
    rng, data = normal_rows(60, "x z")
    data["g"], data["y"] = np.resize(["a", "b"], 60), rng.normal(size=60)
    learner = pi.Learner.from_formula(
        "y ~ x + z + g", data, LinearRegression(), weights=np.resize([1.0, 3.0], 60),
        weights_type="sampling",
    )  # fmt: skip
    feature = "g" if isinstance(sampler, pi.samplers.Categorical) else "x"
    with pytest.raises(OptionError, match="takes no `sample_weight` in `fit`"):
        learner.fit_model(seed=1).cvim(feature, sampler=sampler)
