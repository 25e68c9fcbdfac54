"""Sampling weights: whole numbers give the estimates of repeated rows, naive sums the errors."""

import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from asks import asks_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

import pyinterp as pi
from pyinterp import errors

N = 30
ROUNDING = 1e-10  # of sums in another order
MODELS = {
    "trees": RandomForestRegressor(5, random_state=0),
    "linear": LinearRegression(),
    "batched": KNeighborsRegressor(),
}
WEIGHTED = asks_of("""
loss; loss()
explained; loss(relation='explained')
explained, absolute; loss('absolute', relation='explained')
pd; pd('x1', grid=[-1.0, 0.0, 1.0])
pd, 2; pd(['x1', 'x2'], grid=pd.DataFrame({'x1': [0.0, 1.0], 'x2': [1.0, 0.0]}))
firm; firm(['x1', 'x2'], grid={'x1': [-1.0, 0.0, 1.0], 'x2': [0.0, 1.0]})
vint; vint([('x1', 'x2')], grid={'x1': [-1.0, 0.0, 1.0], 'x2': [0.0, 1.0]})
h; h_statistic()
h, pairwise; h_statistic(order='pairwise', normalize=False)
h, importance; h_statistic(order='importance')
ale; ale('x1', grid=[-2.0, -0.5, 0.5, 2.5])
ale, levels; ale('x2', grid=[0.0, 1.0, 2.0, 3.0])
ame; ame(['x1', 'x3'], step=1.5)
rmse; metric('rmse')
rsq; metric('rsq')
rsq_trad; metric('rsq_trad')
scorer; metric('neg_mean_absolute_error')
function; metric(metrics.explained_variance_score)
mean over rows; estimate(pi.mean_over_rows(lambda y, f: y * f, 'product'))
""", globals())  # fmt: skip
UNMOVED = {
    (estimand, "linear") for estimand in ("firm", "vint", "h", "h, pairwise", "ame", "ale, levels")
}
REFUSED = asks_of("""
pfi, 5 permutations; pfi(permutations=5); all pairs of rows
pfi, metric; pfi(metric='rmse'); exchange rows that weigh the same
metric by a function; metric(lambda y, f: float(np.mean(y - f))); a function that takes no weights
weights without effect; metric(_deaf); they change nothing
ice; pd('x1', kind='ice'); curves of single rows
firm, ice; firm(ice=True); curves of single rows
c-ice; pd('x1', kind='c-ice'); curves of single rows
pd, exemplar; pd('x1', average='exemplar'); one row has none
native; native_importance(); a model reports it
knockoffs; pfi(['x1'], sampler='knockoff'); Knockoff takes no sampling weights
cvim, 5 permutations; cvim('x1', permutations=5); all pairs of rows
entropy_pfi; entropy_pfi(permutations=5); all pairs of rows
""", globals())  # fmt: skip
REFUSED["explained, a constant of yours"] = (
    lambda r: r.loss(pi.Loss("own", _distance, constant=_own), relation="explained"),
    "your loss states its best constant",
)


def _distance(y, prediction):
    return np.abs(y - prediction)


def _own(y):
    return float(np.quantile(y, 0.4))


def _deaf(y, prediction, weights):
    return float(np.mean(np.square(y - prediction)))


def _data(classes=False):
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"x1": rng.normal(size=N), "x2": rng.integers(0, 4, N).astype(float)})
    X["x3"] = rng.normal(size=N)
    y = X.x1 * X.x2 + X.x3**2 + rng.normal(size=N)
    if classes:
        y = pd.Series(np.where(y > 0, "yes", "no"))
    return X, y.rename("y"), rng.integers(1, 5, N)


def _sampled(fit, X, y, w):
    return pi.FittedModel(fit, X, y, weights=w, weights_type="sampling")


def _weighted(model, weights, kind="sampling"):
    X, y, _ = _data()
    options = {} if weights is None else {"weights": weights, "weights_type": kind}
    return pi.FittedModel(model.fit(X, y), X, y, **options)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("estimand", WEIGHTED)
def test_whole_numbers_give_the_estimates_of_repeated_rows(estimand, model):
    counts = _data()[2]
    ours = WEIGHTED[estimand](_weighted(MODELS[model], counts))
    theirs = WEIGHTED[estimand](_weighted(MODELS[model], counts, "frequency"))
    assert_allclose(ours.params, theirs.params, rtol=ROUNDING, atol=ROUNDING)
    unweighted = WEIGHTED[estimand](_weighted(MODELS[model], None))
    if (estimand, model) not in UNMOVED:  # slopes of planes
        assert not np.allclose(ours.params, unweighted.params, rtol=1e-6)


@pytest.mark.parametrize("estimand", [*WEIGHTED, "pfi"])
@pytest.mark.parametrize("model", MODELS)
def test_one_weight_for_all_rows_gives_the_unweighted_numbers(estimand, model):
    ask = WEIGHTED.get(estimand, lambda r: r.pfi())
    ours, theirs = (ask(_weighted(MODELS[model], w)) for w in (np.full(N, 2.5), None))
    assert_array_equal(ours.params, theirs.params)
    assert_array_equal(ours.bse, theirs.bse)


@pytest.mark.parametrize("estimand", WEIGHTED)
def test_contributions_are_derivatives_by_the_weights(estimand):
    """The linearization: what a row adds to the estimate when its weight grows a little."""
    ask = WEIGHTED[estimand]
    model, (_, _, counts) = MODELS["batched"], _data()
    results = ask(_weighted(model, counts))
    (estimate,) = results.replicates.estimates
    contributions = estimate.rows - estimate.value
    if estimate.donors is not None:
        contributions = contributions + estimate.donors
    for row in (0, 7, 13):
        sides = []
        for step in (1e-4, -1e-4):
            w = counts.astype(float)
            w[row] += step
            sides.append(ask(_weighted(model, w)).params.to_numpy())
        derivative = (sides[0] - sides[1]) / 2e-4 * counts[row] * N
        assert_allclose(contributions[row], derivative, rtol=1e-5, atol=1e-6)


def _factor(w):
    """Return 1 over what weighted squares around the weighted mean give of their expectation."""
    return 1 / (1 + (w**2).sum() / w.sum() ** 2 - 2 * (w**3).sum() / (w.sum() * (w**2).sum()))


def test_standard_errors_of_a_mean_are_those_of_the_linearized_ratio():
    X, y, w = _data()
    fit = LinearRegression().fit(X, y)
    losses = (y - fit.predict(X)).to_numpy() ** 2
    ours = _weighted(LinearRegression(), w).loss()
    mean = (w * losses).sum() / w.sum()
    spread = np.sqrt((w**2 * (losses - mean) ** 2).sum() / w.sum() ** 2 * _factor(w))
    kish = w.sum() ** 2 / (w**2).sum()
    assert_allclose(ours.params.iloc[0], mean, rtol=ROUNDING)
    assert_allclose(ours.bse.iloc[0], spread, rtol=ROUNDING)
    assert_allclose(ours.df_resid, kish - 1, rtol=ROUNDING)
    assert f"(rows, {kish - 1:.1f} df)" in " ".join(str(ours.summary()).split())


OF_CLASSES = {
    "roc_auc": metrics.roc_auc_score,
    "pr_auc": metrics.average_precision_score,
    "log_loss": metrics.log_loss,
}
OF_NUMBERS = {
    "rmse": metrics.root_mean_squared_error,
    "r2": metrics.r2_score,
    metrics.explained_variance_score: metrics.explained_variance_score,
}


@pytest.mark.parametrize(
    "metric", [*OF_CLASSES, *OF_NUMBERS], ids=lambda metric: getattr(metric, "__name__", metric)
)
def test_weighted_metrics_are_scikit_learns_and_errors_those_of_derivatives(metric):
    classes, theirs = metric in OF_CLASSES, {**OF_CLASSES, **OF_NUMBERS}[metric]
    X, y, w = _data(classes)
    X["x1"] = X["x1"].round()  # for ties
    fit = (LogisticRegression() if classes else LinearRegression()).fit(X, y)
    f = fit.predict_proba(X)[:, 1] if classes else fit.predict(X)

    def of(weights):
        return theirs(y == "yes" if classes else y, f, sample_weight=weights)

    step = 1e-5
    slopes = [(of(w + one) - of(w - one)) / (2 * step) for one in step * np.eye(N)]
    spread = np.sqrt(np.square(w * np.array(slopes)).sum() * _factor(w))
    ours = _sampled(fit, X, y, w).metric(metric)
    assert ours.params.iloc[0] == pytest.approx(of(w), rel=ROUNDING)
    assert ours.bse.iloc[0] == pytest.approx(spread, rel=1e-5 if classes else 1e-3)


@pytest.mark.parametrize(
    "metric",
    [
        *OF_CLASSES,
        "accuracy",
        "bal_accuracy",
        "f1",
        metrics.make_scorer(metrics.f1_score, pos_label="yes"),
    ],
    ids=str,
)
def test_whole_weights_of_classes_are_repeated_rows(metric):
    X, y, w = _data(classes=True)
    fit = LogisticRegression().fit(X, y)
    ours, repeated, equal = (
        pi.FittedModel(fit, X, y, weights=weights, weights_type=kind).metric(metric)
        for kind, weights in (("sampling", w), ("frequency", w), ("sampling", np.full(N, 2.0)))
    )
    assert ours.params.iloc[0] == pytest.approx(repeated.params.iloc[0], rel=ROUNDING)
    assert_array_equal(equal.bse, pi.FittedModel(fit, X, y).metric(metric).bse)


def _over_pairs(X, name, w, of):
    """Return the weighted mean over rows, and over other rows as donors, of what rows have."""
    total = 0.0
    for i in range(N):
        rows, others = X.iloc[[i] * N].assign(**{name: X[name].to_numpy()}), np.arange(N) != i
        total += w[i] * np.average(of(rows, i)[others], weights=w[others])
    return total / w.sum()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_pfi_over_all_pairs_is_that_of_loops(model, loss):
    X, y, w = _data()
    fit = MODELS[model].fit(X, y)
    distance = np.square if loss == "squared" else np.abs
    ours = _sampled(fit, X, y, w).pfi(loss=loss)
    original = np.average(distance(y - fit.predict(X)), weights=w)
    for name in X:
        switched = _over_pairs(X, name, w, lambda rows, i: distance(y[i] - fit.predict(rows)))
        assert_allclose(ours.params[name], switched - original, rtol=1e-9, atol=1e-9)


def test_entropy_pfi_is_that_of_loops():
    X, y, w = _data(classes=True)
    fit = LogisticRegression().fit(X, y)
    ours = _sampled(fit, X, y, w).entropy_pfi()

    def entropies(rows, _=0):
        p = fit.predict_proba(rows)
        return -(p * np.log(p)).sum(axis=1)

    for name in X:
        expected = _over_pairs(X, name, w, entropies) - np.average(entropies(X), weights=w)
        assert_allclose(ours.params[name], expected, rtol=1e-9, atol=1e-12)


def test_pfi_of_classes_and_of_a_feature_that_is_not_used():
    X, y, w = _data(classes=True)
    fit = LogisticRegression().fit(X, y)
    ours = _sampled(fit, X, y, w).pfi()
    p = pd.DataFrame(fit.predict_proba(X), columns=fit.classes_)
    assert np.isfinite(ours.bse).all()
    loss = _sampled(fit, X, y, w).loss()
    chosen = np.array([p.loc[i, y[i]] for i in range(N)])
    assert_allclose(loss.params.iloc[0], np.average(-np.log(chosen), weights=w))
    wide = X.assign(z=np.arange(N) % 5, c=1.0)
    unused = LinearRegression().fit(wide, _data()[1])
    unused.coef_[3] = 0.0
    results = _sampled(unused, wide, _data()[1], w)
    pfi = results.pfi()
    assert pfi.params["z"] == pfi.params["c"] == 0.0
    assert_array_equal(results.mvim().params, pfi.params)


def test_learners_are_fitted_with_the_weights():
    X, y, w = _data()
    frame = X.assign(y=y, w=w * 10.0)
    learner = pi.Learner.from_formula(
        "y ~ .", frame, LinearRegression(), weights="w", weights_type="sampling"
    )
    wls = sm.WLS(y, sm.add_constant(X), weights=w).fit()
    at = pd.DataFrame({"x1": [0.0, 1.0], "x2": [1.0, 2.0], "x3": [0.0, 3.0]})
    predicted = learner.fit_model().analysis.refits[0].predictor(learner.design.encode(at))
    assert_allclose(predicted, wls.predict(sm.add_constant(at)))


@pytest.mark.parametrize(
    "plan",
    [
        pi.Bootstrap(3),
        pi.Subsampling(3),
        pi.CrossValidation(3),
        pi.NestedBootstrap(3, 2),
        pi.Holdout(0.6),
    ],
    ids=lambda plan: type(plan).__name__,
)
def test_every_plan_takes_weights_and_their_scale_does_not_matter(plan):
    X, y, w = _data()
    ours, theirs = (
        pi.Learner(y, X, LinearRegression(), weights=scale * w, weights_type="sampling")
        .fit(plan, seed=1)
        .pfi()
        for scale in (1, 16)
    )
    pd.testing.assert_frame_equal(ours.summary_frame(), theirs.summary_frame())
    unweighted = pi.Learner(y, X, LinearRegression()).fit(plan, seed=1).pfi()
    assert not np.allclose(ours.params, unweighted.params, rtol=1e-3)
    assert np.isfinite(ours.bse).all()


def test_loco_weights_fits_and_losses():
    X, y, w = _data()
    fit = pi.Learner(y, X, LinearRegression(), weights=w, weights_type="sampling").fit(
        pi.Holdout(0.6), seed=1
    )
    refit = fit.refits[0]
    train, test = refit.train.rows, refit.evaluation.rows
    full, less = (
        sm.WLS(y[train], sm.add_constant(V.iloc[train]), weights=w[train]).fit()
        for V in (X, X[["x2", "x3"]])
    )
    losses = [
        np.average((y[test] - model.predict(sm.add_constant(V.iloc[test]))) ** 2, weights=w[test])
        for model, V in ((less, X[["x2", "x3"]]), (full, X))
    ]
    assert_allclose(fit.loco("x1").params.iloc[0], losses[0] - losses[1])


@pytest.mark.parametrize("estimand", REFUSED)
def test_what_is_not_weighted_is_refused_with_its_reason(estimand):
    ask, reason = REFUSED[estimand]
    with pytest.raises(errors.PyinterpError, match=reason):
        ask(_weighted(RandomForestRegressor(5, min_samples_leaf=8, random_state=0), _data()[2]))


def test_weighted_results_are_not_paired_with_unweighted_ones():
    X, y, w = _data()
    ours = pi.Learner(y, X, LinearRegression(), weights=w, weights_type="sampling")
    theirs = pi.Learner(y, X, LinearRegression())
    with pytest.raises(errors.PyinterpError):
        pi.compare(*(one.fit(pi.Subsampling(3), seed=1) for one in (ours, theirs)))


def test_the_header_has_the_effective_sample_size():
    w = _data()[2]
    kept = pickle.dumps(_weighted(LinearRegression(), w))
    results = pickle.loads(kept).pfi()  # noqa: S301 - our own pickle
    size = f"effective number of rows {w.sum() ** 2 / (w**2).sum():.1f}"
    assert f"(sampling), {size}" in " ".join(str(results.summary()).split())
