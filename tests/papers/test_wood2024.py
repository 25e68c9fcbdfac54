"""Wood et al. (2024): numbers of propositions and of an equation, each computed in two ways.

Simulations have fixed seeds and allow `ERRORS` of their own standard errors.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import BayesianRidge
from sklearn.tree import DecisionTreeClassifier

import pyinterp as pi
from pyinterp_papers.networks import MCDropoutRegressor
from pyinterp_papers.processes import wood_classification, wood_regression, wood_ring

ERRORS = 3.0
PROCESS = wood_regression()
N = 1000


def gaussian_process(data):
    """Return a Gaussian process, trained on all rows."""
    return pi.estimators.gaussian_process().fit(data.drop(columns="y"), data["y"])


def test_proposition_1_entropy_pfi_of_an_independent_feature_is_0():
    """X5 is independent of the others; X1 is not, and has one."""
    data = PROCESS.draw(N, seed=1)
    model = pi.FittedModel(gaussian_process(data[: N // 2]), data[N // 2 :], "y", seed=1)
    found = model.entropy_pfi(["X5", "X1"], permutations=10)
    assert abs(found.params["X5"]) < ERRORS * found.bse["X5"]
    assert found.params["X1"] > ERRORS * found.bse["X1"]


def test_proposition_2_both_importances_of_a_feature_that_is_not_used_are_0():
    data = wood_classification().draw(N, seed=1)
    tree = DecisionTreeClassifier(min_samples_leaf=10, random_state=1)
    tree.fit(data.drop(columns="y").assign(x1=0.0), data["y"])  # x1 is never split
    model = pi.FittedModel(tree, data, "y", seed=1)
    for measure in (model.entropy_pfi, model.likelihood_pfi):
        found = measure(["x1", "x2"]).params
        assert abs(found["x1"]) < 1e-12
        assert abs(found["x2"]) > 1e-3


def test_figure_1_permuting_one_of_two_correlated_features_raises_the_entropy():
    """Of a Gaussian process, trained on half of 400 rows with a correlation of .9."""
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 400)
    data = pd.DataFrame(x, columns=["X1", "X2"])
    data["y"] = x.sum(axis=1) + 0.3 * rng.standard_normal(400)
    kernel = ConstantKernel() * RBF(1.0, "fixed") + WhiteKernel()
    process = pi.estimators.gaussian_process(kernel=kernel)
    process.fit(data[["X1", "X2"]][:200], data["y"][:200])
    found = pi.FittedModel(process, data[200:], "y", seed=1).entropy_pfi("X2", permutations=10)
    assert found.params["X2"] > ERRORS * found.bse["X2"]


def test_figure_7_age_is_told_worst_by_the_other_ingredients_and_better_with_strength():
    """R² of forests that predict a feature of concrete, without and with the strength."""
    try:
        data = pi.datasets.load_concrete()
    except pi.errors.DataError as error:
        pytest.skip(str(error))
    r2 = {}
    for frame in (data.drop(columns="compressive_strength"), data):
        for feature in data.columns[:-1]:
            learner = pi.Learner.from_formula(
                f"{feature} ~ .", frame, RandomForestRegressor(30, random_state=1)
            )
            found = learner.fit(pi.Holdout(0.75), seed=1, progress=False).metric("r2")
            r2.setdefault(feature, []).append(found.params.iloc[0])
    table = pd.DataFrame(r2, index=["without", "with"]).T
    assert table["without"].idxmin() == "age"
    assert table.loc["age", "with"] > table.loc["age", "without"] + 0.2


def test_proposition_3_conditional_draws_do_not_change_the_mean_entropy():
    """X1 is redrawn given the others in fresh rows; permuted, it changes the entropy."""
    model = gaussian_process(PROCESS.draw(N, seed=1))
    fresh = PROCESS.draw(N, seed=2)

    def entropy(rows):
        """Return the entropy of predictions, but for a constant."""
        return np.log(model.predict(rows[list(PROCESS.features)], return_std=True)[1])

    def change(conditional):
        new = PROCESS.redraw("X1", fresh, seed=3, conditional=conditional)
        difference = entropy(fresh.assign(X1=new)) - entropy(fresh)
        return difference.mean(), difference.std() / N**0.5

    mean, error = change(conditional=True)
    assert abs(mean) < ERRORS * error
    mean, error = change(conditional=False)
    assert mean > ERRORS * error


def test_equation_6_likelihood_pfi_is_that_of_the_true_distribution():
    """With the right form of the mean."""
    formula = "y ~ X1 + X2 + I(X3**2) + X4 + X5"
    learner = pi.Learner.from_formula(formula, PROCESS.draw(2000, seed=1), BayesianRidge())
    found = learner.fit(pi.HalfSampling(0, pairs=10), seed=1, progress=False).likelihood_pfi()
    # Normal noise: the importance in squared error by twice the variance.
    true = np.array([PROCESS.pfi(x) for x in PROCESS.features]) / (2 * PROCESS.noise_sd**2)
    assert list(found.params.index) == list(PROCESS.features)
    assert (np.abs(found.params - true) < ERRORS * found.bse).all()


@pytest.mark.acceptance
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_figure_4_entropy_at_the_largest_likelihood_is_not_high_inside_the_ring():
    """The noise is so small that the data show a polynomial, and the process trusts it inside."""
    rows = wood_ring().draw(700, seed=1)
    X, y = rows[["X1", "X2"]], rows["y"]
    process = pi.estimators.gaussian_process().fit(X[:500], y[:500])
    model = pi.FittedModel(process, X[500:])
    for x in X:
        inside, in_bands = (
            model.pd(x, of="entropy", grid=grid).params.mean()
            for grid in ([-0.5, 0.0, 0.5], [-2.2, -1.8, 1.8, 2.2])
        )
        assert abs(inside - in_bands) < 0.01


@pytest.mark.acceptance
def test_figure_6_age_is_first_if_features_are_dropped_too():
    """As Gal and Ghahramani (2016) have it, "before every weight layer"."""
    pytest.importorskip("torch")
    try:
        concrete = pi.datasets.load_concrete()
    except pi.errors.DataError as error:
        pytest.skip(str(error))
    X, y = concrete.drop(columns="compressive_strength"), concrete["compressive_strength"]
    train, test = np.split(np.random.default_rng(1).permutation(len(y)), [3 * len(y) // 4])
    network = MCDropoutRegressor(random_state=1, feature_dropout=0.1)
    network.fit(X.iloc[train], y.iloc[train])
    model = pi.FittedModel(network, X.iloc[test], y.iloc[test], seed=1)
    likelihood = model.likelihood_pfi(permutations=3)
    equal = likelihood.t_test("age = cement")
    assert likelihood.params.idxmax() == "age"
    assert float(equal.effect[0]) > 0
    assert float(equal.pvalue) < 0.05
    entropy = model.entropy_pfi(permutations=3)
    assert entropy.params["age"] < 0.5 * entropy.params.drop("age").min()
    assert entropy.params["age"] < 3 * entropy.bse["age"]
