"""The kernel engine: equal to the model's own predictions for every kernel, row and donor."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from by_copies import LOSSES, compare, same_importance, whatif_of
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, NuSVR

import pyinterp as pi
from pyinterp.whatif import kernels as engine
from pyinterp.whatif.kernels import read_kernel

BAR = 1e-9  # of the spread of predictions, or of the loss without a feature
NAMES = list("abcde")
ONE, OFFSETS = np.array([0]), np.array([0, 1e6, 0, 0, -1e6])


def make_data(n=70, seed=0):
    """Numbers, few distinct numbers, a constant, and responses."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=NAMES)
    X["c"], X["d"] = rng.integers(3, size=n), 2.0
    y = X.a * X.b + np.sin(2 * X.e) + X.c / 2 + rng.normal(size=n) / 3
    number = y.to_numpy()
    return X, {"number": number, "three": np.digitize(number, [0, 1])}


def process(kernel, **options):
    return GaussianProcessRegressor(kernel, optimizer=None, **options)


RBF, WHITE, DOT = kernels.RBF(2.0), kernels.WhiteKernel(0.1), kernels.DotProduct(1.5)
MODELS = {
    "SVR": (SVR(C=3.0), "number"),
    "SVR, polynomial": (SVR(kernel="poly", coef0=1.0, gamma=0.3), "number"),
    "NuSVR": (NuSVR(gamma="auto"), "number"),
    "NuSVR, polynomial": (NuSVR(kernel="poly", degree=2), "number"),
    "KernelRidge": (KernelRidge(kernel="rbf", alpha=0.3), "number"),
    "KernelRidge, gamma": (KernelRidge(kernel="rbf", gamma=0.7), "number"),
    "KernelRidge, polynomial": (KernelRidge(kernel="polynomial", degree=2), "number"),
    "KernelRidge, poly": (KernelRidge(kernel="poly", gamma=0.2, coef0=0.5), "number"),
    "KernelRidge, linear": (KernelRidge(kernel="linear"), "number"),
    "process": (process(None, alpha=0.2), "number"),
    "process, white": (process(1.3 * RBF + WHITE, normalize_y=True), "number"),
    "process, sums": (process(0.5 * RBF + 2.0 * kernels.RBF(0.8) + DOT + WHITE), "number"),
    "process, products": (process(RBF * DOT * kernels.RBF(3.0) * 0.7 + WHITE), "number"),
    "process, lengths": (process(kernels.RBF([1.0, 2, 3, 1, 0.5]) + WHITE), "number"),
    "process, noise times": (process(RBF * 2.0 + WHITE * RBF, alpha=0.1), "number"),
}


@cache
def fit(name):
    """A fitted model, with other rows and their responses."""
    response = MODELS[name][1]
    rows, others = make_data()
    return fit_to(name, *make_data(90, seed=1)), rows, others[response]


def fit_to(name, X, y):
    model, response = MODELS[name]
    return clone(model).fit(X, y[response])


def compare_own(whatif, names, donors):
    compare(whatif, names, donors, BAR, size=whatif.factual.std())


def compare_each(whatif):
    donors = whatif.sample.variables
    assert whatif.engine.name == "kernel, exact"
    for names in [[name] for name in donors] + [["a", "b"], ["e", "c", "d"], list(donors)]:
        compare_own(whatif, names, donors)
        compare_own(whatif, names, donors[:3])


def same(model, X, y, loss, **options):
    """PFI equals that of all predicted pairs, with its variances by row and by donor."""
    found = same_importance(
        lambda name: pi.FittedModel(model, X, y, engine=name, **options), loss, BAR, size=True
    )
    assert found == "kernel, exact"


@pytest.mark.parametrize("name", MODELS)
def test_every_kernel_equals_the_model(name):
    model, X, y = fit(name)
    whatif = whatif_of(pi.FittedModel(model, X, y, engine="kernel"))
    compare_each(whatif)
    for loss in LOSSES[whatif.predictor.kind]:
        for groups in (None, {"first": ["a", "b"], "rest": ["c", "e"]}):
            same(model, X, y, loss, groups=groups)


def encoded(last):
    steps = [("numbers", StandardScaler(), ["a", "b"]), ("groups", OneHotEncoder(), ["g"])]
    return make_pipeline(ColumnTransformer(steps), last)


@pytest.mark.parametrize("name", ["SVR", "KernelRidge", "process, white"])
@pytest.mark.parametrize("steps", [lambda m: make_pipeline(StandardScaler(), m), encoded])
def test_behind_earlier_steps(steps, name):
    model, response = MODELS[name]
    X, y = make_data(120)
    X = X[["a", "b"]].assign(e=X.e, c=X.c, d=X.d)
    if steps is encoded:
        X = X[["a", "b"]].assign(g=X.c.map({0: "u", 1: "v", 2: "w"}))
    fitted = steps(clone(model)).fit(X[:60], y[response][:60])
    rows, y_rows = X[60:].reset_index(drop=True), y[response][60:]
    whatif = whatif_of(pi.FittedModel(fitted, rows, y_rows, engine="kernel"))
    for variable in rows:
        compare_own(whatif, [variable], rows)
    same(fitted, rows, y_rows, LOSSES[whatif.predictor.kind][0])


@pytest.mark.parametrize("kind", ["frequency", "sampling"])
def test_weights_of_rows(kind):
    model, X, y = fit("SVR")
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    exact, slow = (
        pi.FittedModel(model, X, y, engine=e, weights=weights, weights_type=kind)
        for e in ("kernel", "batched")
    )
    one, other = (f.pfi(permutations="all") for f in (exact, slow))
    assert_allclose(one.params, other.params, rtol=0, atol=1e-11)
    assert_allclose(exact.pd("a").params, slow.pd("a").params, rtol=0, atol=1e-11)


class TestNodes:
    """Few values of a column stand for all donors, where they tell all predictions."""

    @staticmethod
    def model(name="SVR"):
        found = read_kernel(fit(name)[0], "mean")
        assert found is not None
        return found

    @pytest.mark.parametrize("name", ["SVR", "KernelRidge, gamma", "process, sums"])
    def test_they_are_few_and_tell_sums_at_all_donors(self, name):
        model, (X, _) = self.model(name), make_data(300)
        rows, values = X.to_numpy()[:40], X[["a"]].to_numpy()
        found = model.nodes(ONE, values)
        assert found is not None
        nodes, weights = found
        assert len(nodes) <= 60
        at_nodes, expected = (
            model.kernel_sums(rows, ONE, nodes),
            model.kernel_sums(rows, ONE, values),
        )
        bound = 1e-12 * expected.std()
        assert_allclose(at_nodes @ weights.T, expected, rtol=0, atol=bound)

    def test_blocks_of_donors(self, monkeypatch):
        model, rows = self.model("process, sums"), make_data()[0].to_numpy()
        columns = np.array([0, 4])
        whole = model.kernel_sums(rows, columns, rows[:, columns])
        monkeypatch.setattr(engine, "MOST_TABLE_ROWS", 9)
        parts = model.kernel_sums(rows, columns, rows[:, columns])
        assert_allclose(parts, whole, rtol=0, atol=1e-13)


class TestFarFrom0:
    def test_an_outlying_donor(self):
        model, X, y = fit("SVR")
        far = X.copy()
        far.loc[3, "a"] = 100.0
        for rows in (far, pd.concat([X, far], ignore_index=True)):
            compare_each(whatif_of(pi.FittedModel(model, rows, np.resize(y, len(rows)))))
        same(model, far, y, "squared")

    def test_an_outlying_row_of_the_fit(self):
        X, y = make_data(90, seed=1)
        X.loc[3, "a"] = 100.0
        rows, others = make_data()
        for name in ("SVR", "KernelRidge, gamma"):
            model = fit_to(name, X, y)
            compare_each(whatif_of(pi.FittedModel(model, rows, others["number"])))

    @pytest.mark.parametrize("name", ["NuSVR", "KernelRidge", "process, white"])
    def test_an_offset_of_a_million(self, name):
        X, y = make_data(90, seed=1)
        model, (rows, others) = fit_to(name, X + OFFSETS, y), make_data()
        whatif = whatif_of(pi.FittedModel(model, rows + OFFSETS, others["number"]))
        if name != "KernelRidge":  # whose own predictions have few right digits
            compare_each(whatif)
        else:
            assert "kernel engine does not reproduce" in whatif.engine.reason

    def test_an_offset_of_the_response(self):
        X, y = make_data(90, seed=1)
        model = process(RBF + WHITE, normalize_y=True).fit(X, y["number"] + 1e4)
        rows, others = make_data()
        same(model, rows, others["number"] + 1e4, "squared")

    def test_rounding_that_is_not_small_beside_the_spread(self):
        X, y = make_data(90, seed=1)
        model = process(kernels.RBF(30.0), alpha=1e-10).fit(X, y["number"])
        found = pi.FittedModel(model, *fit("process")[1:]).pfi().engine
        assert found.name == "batched"
        assert "rounding of its terms" in found.reason


SIGMOID = {"kernel": "sigmoid", "gamma": 0.01}


@pytest.mark.parametrize(
    ("model", "response"),
    [
        (process(kernels.Matern(), alpha=0.1), "number"),
        (process(kernels.RationalQuadratic() + RBF, alpha=0.1), "number"),
        (process(WHITE * RBF, alpha=0.1), "number"),
        (SVR(**SIGMOID), "number"),
        (SVR(kernel=rbf_kernel), "number"),
        (SVR(epsilon=99.0), "number"),
        (KernelRidge(kernel="laplacian"), "number"),
        (SVC(), "three"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_other_kernels_are_predicted_in_batches(model, response):
    X, y = make_data(90, seed=1)
    fitted = pi.FittedModel(model.fit(X, y[response]), X, y[response])
    assert whatif_of(fitted).engine.name == "batched"
