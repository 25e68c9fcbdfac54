"""Ordered classes: the ranked probability score, cumulative probabilities and expected scores."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from numpy.testing import assert_allclose
from shared import normal_rows
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from statsmodels.miscmodels.ordinal_model import OrderedModel

import pyinterp as pi
from pyinterp.errors import LossError, OptionError

N = 90
RNG, DATA = normal_rows(N, "a b", 6)
LABELS = ["worse", "same", "better"]  # not in alphabetical order
DATA["o"] = pd.cut(DATA.a + RNG.logistic(size=N), [-99, -0.7, 1.2, 99], labels=LABELS)
CODES = DATA.o.cat.codes.to_numpy()


def rps(P, codes=CODES):
    below = np.cumsum(P, axis=1)[:, :-1] - (codes[:, None] <= np.arange(P.shape[1] - 1))
    return np.square(below).mean(axis=1)


def by_formula(distr="logit"):
    return OrderedModel.from_formula("o ~ a + b", DATA, distr=distr).fit(disp=0)


def by_arrays(distr="logit"):
    return OrderedModel(DATA.o, DATA[["a", "b"]], distr=distr).fit(disp=0)


@pytest.mark.parametrize("distr", ["logit", "probit"])
@pytest.mark.parametrize("model", [by_formula, by_arrays])
def test_ordinal_models_equal_naive_loops(model, distr):
    results = model(distr)
    fitted = pi.FittedModel(results, DATA, "o")

    def probabilities(rows):
        return np.asarray(results.predict(rows[["a", "b"]]))

    P = probabilities(DATA)
    log_loss = -np.log(P[np.arange(N), CODES])
    assert_allclose(fitted.loss().params, log_loss.mean(), rtol=1e-10)
    assert_allclose(fitted.loss(loss="rps").params, rps(P).mean(), rtol=1e-10)
    total = 0.0
    for shift in range(1, N):
        moved = DATA.assign(a=DATA.a.to_numpy()[(np.arange(N) + shift) % N])
        total += rps(probabilities(moved)).mean()
    pfi = fitted.pfi("a", loss="rps", permutations="all").params.iloc[0]
    assert_allclose(pfi, total / (N - 1) - rps(P).mean(), rtol=1e-9)
    grid = np.array([-1.0, 0.0, 1.5])
    curves = np.array([probabilities(DATA.assign(a=x)).mean(axis=0) for x in grid])
    cumulative = fitted.pd("a", grid=grid, scale="cumulative")
    assert_allclose(
        cumulative.params.to_numpy().reshape(2, 3), curves.cumsum(axis=1)[:, :2].T, rtol=1e-10
    )
    assert list(cumulative.tidy()["class"].unique()) == ["≤ worse", "≤ same"]
    for scale, scores in (
        ("score", [1, 2, 3]),
        ({"worse": -1, "better": 4.5, "same": 0}, [-1, 0, 4.5]),
    ):
        found = fitted.pd("a", grid=grid, scale=scale).params
        assert_allclose(found, curves @ scores, rtol=1e-10)
    h = 1e-5
    up, down = (probabilities(DATA.assign(a=DATA.a + step)) for step in (h, -h))
    slope = (up - down) @ [1, 2, 3]
    ame = fitted.ame("a", scale="score")
    assert_allclose(ame.params, slope.mean() / (2 * h), rtol=1e-6)


@pytest.mark.parametrize("model", [by_formula, by_arrays])
def test_effects_of_ordinal_models_take_the_delta_method(model):
    results = model()
    fitted = pi.FittedModel(results, DATA, "o")
    found = fitted.pd("a", grid=[0.0, 1.0], scale="score")
    params = np.asarray(results.params)

    def score(values):
        P = [
            results.model.predict(values, exog=np.column_stack([np.full(N, x), DATA.b]))
            for x in (0.0, 1.0)
        ]
        return np.array([(np.asarray(p) @ [1, 2, 3]).mean() for p in P])

    step = 1e-5 * np.eye(len(params))
    jacobian = np.column_stack([(score(params + s) - score(params - s)) / 2e-5 for s in step])
    cov = jacobian @ np.asarray(results.cov_params()) @ jacobian.T
    assert_allclose(found.cov_params(), cov, rtol=1e-5)


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), RandomForestClassifier(7, random_state=0)]
)
def test_classifiers_have_the_order_of_the_response(estimator):
    results = fit_of("o ~ a + b", DATA, estimator, pi.Bootstrap(2))
    assert list(results.predict(DATA).columns) == LABELS
    for refit in results.refits:
        rows = refit.evaluation
        P = refit.predictor.estimator.predict_proba(rows.variables.to_numpy())
        order = [list(refit.predictor.estimator.classes_).index(label) for label in LABELS]
        own = pi.FittedModel(
            refit.predictor.estimator, rows.variables.to_numpy(), DATA.o[rows.rows]
        )
        assert_allclose(
            own.loss(loss="rps").params, rps(P[:, order], CODES[rows.rows]).mean(), rtol=1e-10
        )
    model = estimator.fit(DATA[["a", "b"]], DATA.o.astype(str))
    fitted = pi.FittedModel(model, DATA, "o")
    P = model.predict_proba(DATA[["a", "b"]])[:, [list(model.classes_).index(c) for c in LABELS]]
    assert_allclose(fitted.loss(loss="rps").params, rps(P).mean(), rtol=1e-10)
    at = np.array([0.0])
    moved = model.predict_proba(DATA[["a", "b"]].assign(a=0.0)).mean(axis=0)
    by_label = dict(zip(model.classes_, moved, strict=True))
    found = fitted.pd("a", grid=at, scale="cumulative", which_class="same").params
    assert_allclose(found, by_label["worse"] + by_label["same"], rtol=1e-10)


def test_classes_that_are_numbers_are_their_scores():
    grade = pd.Series(CODES * 2 + 3).astype(pd.CategoricalDtype([3, 5, 7], ordered=True))
    fitted = pi.FittedModel(
        LogisticRegression().fit(DATA[["a", "b"]], grade.astype(int)), DATA[["a", "b"]], grade
    )
    values = fitted.pd("a", points=3, scale="score")
    assert ((values.params > 3) & (values.params < 7)).all()
    assert "(3, 5, 7)" in str(values.summary())


def test_two_classes_have_half_the_brier_score_of_several():
    two = DATA.assign(o=(DATA.o == "better").map({False: "no", True: "yes"}))
    two["o"] = two["o"].astype(pd.CategoricalDtype(["no", "yes"], ordered=True))
    fitted = pi.FittedModel(LogisticRegression().fit(two[["a", "b"]], two.o), two, "o")
    scores = [fitted.loss(loss=name).params.iloc[0] for name in ("rps", "brier")]
    assert_allclose(scores[0], scores[1], rtol=1e-12)


def test_classes_without_order_are_refused():
    plain = DATA.assign(o=DATA.o.astype(str))
    model = LogisticRegression().fit(plain[["a", "b"]], plain.o)
    fitted = pi.FittedModel(model, plain, "o")
    with pytest.raises(LossError, match="needs ordered classes"):
        fitted.loss(loss="rps")
    for scale in ("cumulative", "score"):
        with pytest.raises(OptionError, match="ordered category"):
            fitted.pd("a", scale=scale)
    ordered = pi.FittedModel(model, DATA, "o")
    with pytest.raises(OptionError, match="must name every class"):
        ordered.pd("a", scale={"worse": 1})
    with pytest.raises(OptionError, match="which is of all"):
        ordered.pd("a", scale="score", which_class="same")
    labels = pi.FittedModel(LinearSVC().fit(DATA[["a", "b"]], DATA.o), DATA, "o")
    with pytest.raises(OptionError, match="predict_proba"):
        labels.pd("a", scale="score")


def test_an_ordinal_model_of_statsmodels_is_no_learner():
    with pytest.raises(OptionError, match="pass its results to"):
        pi.statsmodels_learner(OrderedModel)
