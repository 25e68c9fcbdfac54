"""Entropy and likelihood, with their importance, curves and redundancy, against plain loops."""

import warnings
from collections.abc import Callable
from typing import Any

import naive
import naive_uncertainty as plain
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from naive import Array
from naive_uncertainty import Beliefs
from numpy.testing import assert_allclose
from sklearn import base, ensemble, linear_model, naive_bayes, tree
from sklearn.compose import make_column_transformer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pyinterp as pi

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
# Quadrature, here and there.
MIXTURES = {"rtol": 1e-6, "atol": 2e-6}
LABELS = {
    "strings": ["no", "Yes", "maybe", "été", ""],
    "bools": [False, True],
    "ints": [7, -3, 100, 0, 2],
}
COLUMNS = ["normal", "ties", "integers", "boolean", "constant", "category", "duplicate rows"]


def rows_of(rng, kind, n):
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    X["b"] = 0.8 * X["a"] + 0.6 * X["b"]
    if kind == "ties":
        X = X.round()
    if kind == "integers":
        X["c"] = rng.integers(-3, 4, n)
    if kind == "boolean":
        X["c"] = X["c"] > 0
    if kind == "constant":
        X["c"] = 1.0
    if kind == "category":
        X["c"] = pd.Categorical(rng.choice(["u", "v", "w"], n), categories=["w", "never", "u", "v"])
    if kind == "duplicate rows":
        X = X.iloc[rng.integers(0, max(2, n // 3), n)].reset_index(drop=True)
    return X


def encoded(estimator):
    """Encode what is a category."""
    onehot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    where = lambda X: [c for c in X if X[c].dtype in ("category", bool)]  # noqa: E731 - one line
    return make_pipeline(
        make_column_transformer((onehot, where), remainder="passthrough"), estimator
    )


# Regressors: what is explained, and what it says of rows ------------------------------------------


def standard_deviations(model):
    return lambda rows: [plain.Normal(m, s) for m, s in np.transpose(model.predict(rows, True))]


def ridge(X, y):
    model = encoded(linear_model.BayesianRidge()).fit(X, y)
    return model, lambda rows: standard_deviations(model[-1])(model[:-1].transform(rows))


def white(X, y):
    kernel = RBF(1.5) + WhiteKernel(0.2)
    model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X, y)
    return model, standard_deviations(model)


def noisy(X, y):
    """The same process, its noise stated by `alpha`: it is part of a new response all the same."""
    model = GaussianProcessRegressor(RBF(1.5), alpha=0.2, optimizer=None, normalize_y=True)
    return model.fit(X, y), white(X, y)[1]


def forest(X, y):
    model = ensemble.RandomForestRegressor(3, min_samples_leaf=4, random_state=0)
    model.fit(X.to_numpy(float), y)

    def leaf(one, drawn, row):
        same = one.apply(X.to_numpy(float)[drawn]) == one.apply(row[None])
        return y[drawn][same].mean(), y[drawn][same].std()

    def of(rows):
        parts = list(zip(model.estimators_, model.estimators_samples_, strict=True))
        said = [[leaf(*part, row) for part in parts] for row in rows.to_numpy(float)]
        return [plain.Mixture(*np.transpose(leaves)) for leaves in said]

    return base.clone(model).set_params(n_jobs=1).fit(X.astype(float), y), of


class Wide(linear_model.LinearRegression):
    """Two lines, the spread of one of which depends on the row."""

    def predict_components(self, rows):
        mean, first = self.predict(rows), np.abs(np.asarray(rows, float)[:, 0])
        return np.column_stack([mean - 1, mean + 1]), np.column_stack([1 + first, 0 * first + 0.5])


def components(X, y):
    model = Wide().fit(X, y)
    return model, lambda rows: list(map(plain.Mixture, *model.predict_components(rows)))


def ols(X, y):
    """By hand: s² (1 + x' (X'X)⁻¹ x)."""
    Z = np.column_stack([np.ones(len(X)), X.to_numpy(float)])
    beta, inverse = np.linalg.pinv(Z) @ y, np.linalg.pinv(Z.T @ Z)
    s2 = ((y - Z @ beta) ** 2).sum() / (len(Z) - np.linalg.matrix_rank(Z))

    def of(rows):
        z = np.column_stack([np.ones(len(rows)), rows.to_numpy(float)])
        return [plain.Normal(x @ beta, np.sqrt(s2 * (1 + x @ inverse @ x))) for x in z]

    return smf.ols("y ~ a + b + c", X.assign(y=y)).fit(), of


def counts(X, y):
    data, family = X.assign(y=positive(y).round()), sm.families.Poisson()
    model = smf.glm("y ~ a + b + c", data, family=family).fit()
    return model, lambda rows: [plain.Poisson(m) for m in model.predict(rows)]


def gamma(X, y):
    family = sm.families.Gamma(sm.families.links.Log())
    model = smf.glm("y ~ a + b + c", X.assign(y=positive(y)), family=family).fit()
    of = lambda rows: [  # noqa: E731 - one line
        plain.Gamma(1 / model.scale, m * model.scale) for m in model.predict(rows)
    ]
    return model, of


def log_normal_parameters(fitted, rows):
    mean = fitted.predict(rows)
    return np.column_stack([mean, 0.3 + np.asarray(rows, float)[:, 0] ** 2])


def log_normal(X, y):
    inside = linear_model.LinearRegression()
    family = pi.distributions.LogNormal()
    model = pi.Distributional(inside, log_normal_parameters, family).fit(X, np.log(positive(y)))

    def of(rows):
        parameters = log_normal_parameters(model.estimator_, rows)
        return [plain.LogNormal(mean, sd) for mean, sd in parameters]

    return model, of


def positive(y):
    return np.exp(np.clip(y, -3, 3) / 2)


Fit = Callable[[pd.DataFrame, Array], tuple[Any, Beliefs]]
REGRESSORS = {
    f.__name__: f for f in (ridge, white, noisy, forest, components, ols, counts, gamma, log_normal)
}
RESPONSES = {"counts": lambda y: positive(y).round(), "gamma": positive, "log_normal": positive}

CLASSIFIERS = {
    "logistic": linear_model.LogisticRegression(),
    "naive Bayes": naive_bayes.GaussianNB(),
    "tree": tree.DecisionTreeClassifier(random_state=0),
    "deep forest": ensemble.RandomForestClassifier(7, random_state=0),
    "boosting": ensemble.GradientBoostingClassifier(n_estimators=4, random_state=0),
}


def probabilities(model, position=None):
    return lambda rows: [
        plain.Classes(tuple(map(float, p)), position) for p in model.predict_proba(rows)
    ]


def classes_of(rng, signal, labels, number):
    """Cut into classes, of which the last may be rare."""
    known = np.array(LABELS[labels][:number], object)
    shares = np.sort(rng.uniform(0.2, 0.98, len(known) - 1))
    codes = np.searchsorted(np.quantile(signal, shares), signal)
    codes[: len(known)] = np.arange(len(known))
    return np.array(known[codes].tolist())


# Cases --------------------------------------------------------------------------------------------

FEATURES = {"a": ["a"], "b": ["b"], "c": ["c"], "bc": ["b", "c"]}


def fuzz(seed):
    rng = np.random.default_rng(seed)
    X = rows_of(rng, str(rng.choice(COLUMNS)), int(rng.integers(8, 20)))
    signal = X["a"] + X["b"] ** 2 + 0.5 * rng.normal(size=len(X))
    return rng, X, signal.to_numpy(float)


def groups_of(rng):
    return {"bc": ["b", "c"]} if rng.random() < 0.3 else None


def compare(fitted, beliefs, X, y, **options):
    """Compare both importances, with their errors, and all curves."""
    close = options.pop("close", CLOSE)
    relation, label = options.pop("relation", "difference"), options.pop("which", None)
    original = beliefs(X)
    measures = {
        "entropy": lambda _, belief: belief.entropy(),
        "nll": lambda i, belief: belief.nll(y[i]),
    }
    asked = {"permutations": "all", "which_class": label, "relation": relation}
    got = {"entropy": fitted.entropy_pfi(**asked), "nll": fitted.likelihood_pfi(**asked)}
    for term in got["entropy"].params.index:
        switched = plain.pairs(beliefs, X, FEATURES[term])
        for name, of in measures.items():
            numbers = plain.numbers_of(of, switched, original)
            value, variance = naive.pfi(*numbers, relation, "ustat", None)
            assert_allclose(got[name].params[term], value, **close)
            assert_allclose(got[name].bse[term], np.sqrt(variance), **close)
    grid = [-1.0, 0.0, 2.0]
    for name, of in measures.items():
        expected = plain.curves(of, beliefs, X, "a", grid)
        curve = fitted.pd("a", of=name, grid=grid, kind="ice", which_class=label)
        assert_allclose(curve.row_frame(), expected, **close)
        assert_allclose(curve.params, expected.mean(axis=0), **close)


def run_regressor(name, seed):
    rng, X, signal = fuzz(seed)
    if name != "ridge":
        codes = X["c"].cat.codes if X["c"].dtype == "category" else X["c"]
        X = X.assign(c=codes).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries, about small samples
        model, beliefs = REGRESSORS[name](X, signal)
    y = RESPONSES.get(name, lambda value: value)(signal)
    fitted = pi.FittedModel(model, X, y, groups=groups_of(rng), seed=1)
    close = MIXTURES if name in ("forest", "components") else CLOSE
    compare(fitted, beliefs, X, y, close=close)


def run_classifier(name, seed):
    rng, X, signal = fuzz(seed)
    labels = str(rng.choice(sorted(LABELS)))
    y = classes_of(rng, signal, labels, int(rng.integers(2, 6)))
    model = encoded(base.clone(CLASSIFIERS[name])).fit(X, y)
    names = model.classes_.tolist()
    position = int(rng.integers(len(names))) if rng.random() < 0.5 else None
    beliefs = probabilities(model, position)
    keep = y != y[-1] if rng.random() < 0.2 else np.ones(len(y), bool)  # a class is lost
    if keep.sum() < 3:
        keep[:] = True
    codes = np.array([names.index(label) for label in y[keep].tolist()])
    X = X[keep].reset_index(drop=True)
    fitted = pi.FittedModel(model, X, y[keep], groups=groups_of(rng), seed=1)
    which = None if position is None else names[position]
    sure = all(belief.entropy() < 1e-12 for belief in beliefs(X))
    relation = "ratio" if rng.random() < 0.3 and not sure and name != "tree" else "difference"
    compare(fitted, beliefs, X, codes, relation=relation, which=which)


SEEDS = [range(1), pytest.param(range(1, 40), marks=pytest.mark.torture)]


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("name", [*REGRESSORS, *CLASSIFIERS])
def test_naive(name, seeds):
    for seed in seeds:
        (run_regressor if name in REGRESSORS else run_classifier)(name, seed)


# Refits -------------------------------------------------------------------------------------------


def spread_over_refits(values, refits):
    """Return the standard error with Nadeau and Bengio's correction."""
    trained = np.mean([len(set(r.train_rows)) for r in refits])
    tested = np.mean([len(r.evaluation.rows) for r in refits])
    return float(np.sqrt((1 / len(refits) + tested / trained) * values.var(ddof=1)))


@pytest.mark.parametrize("classes", [False, True])
def test_importances_are_means_over_refits(classes):
    rng = np.random.default_rng(3)
    X = rows_of(rng, "normal", 40)
    signal = (X["a"] + X["b"] ** 2 + 0.5 * rng.normal(size=40)).to_numpy()
    y = pd.Series(signal > 0.5 if classes else signal, name="y")
    estimator = linear_model.LogisticRegression() if classes else linear_model.BayesianRidge()
    res = pi.Learner(y, X, estimator).fit(pi.Subsampling(3), seed=1, progress=False)
    got = {"entropy": res.entropy_pfi(), "nll": res.likelihood_pfi()}
    for term in X:
        values = {"entropy": [], "nll": []}
        for refit in res.refits:
            model = base.clone(estimator).fit(X.iloc[refit.train_rows], y.iloc[refit.train_rows])
            rows = X.iloc[refit.evaluation.rows].reset_index(drop=True)
            beliefs = probabilities(model) if classes else standard_deviations(model)
            observed = y.iloc[refit.evaluation.rows].to_numpy(int if classes else float)
            switched = plain.pairs(beliefs, rows, [term])
            for name, of in (
                ("entropy", lambda _, belief: belief.entropy()),
                ("nll", lambda i, belief, at=observed: belief.nll(at[i])),
            ):
                numbers = plain.numbers_of(of, switched, beliefs(rows))
                values[name].append(naive.pfi(*numbers, "difference", "ustat", None)[0])
        for name, numbers in values.items():
            assert_allclose(got[name].params[term], np.mean(numbers), **CLOSE)
            error = spread_over_refits(np.array(numbers), res.refits)
            assert_allclose(got[name].bse[term], error, **CLOSE)


def test_redundancy_is_r_squared_of_training_rows_in_evaluation_rows():
    rng = np.random.default_rng(2)
    X = rows_of(rng, "normal", 60)
    y = X["a"] + X["b"] ** 2 + 0.5 * pd.Series(rng.normal(size=60))
    learner = pi.Learner(y.rename("y"), X, linear_model.LinearRegression())
    res = learner.fit(pi.Subsampling(3), seed=1, progress=False)
    got = res.redundancy(sampler=pi.samplers.Residual(linear_model.LinearRegression()))
    for term in X:
        for name, others in (("others", X), ("response", X.assign(y=y))):
            shares = []
            for refit in res.refits:
                inputs = others.drop(columns=term)
                model = linear_model.LinearRegression()
                model.fit(inputs.iloc[refit.train_rows], X[term].iloc[refit.train_rows])
                values = X[term].iloc[refit.evaluation.rows]
                left = values - model.predict(inputs.iloc[refit.evaluation.rows])
                shares.append(1 - (left**2).mean() / ((values - values.mean()) ** 2).mean())
            assert_allclose(got[name].params[term], np.mean(shares), **CLOSE)
