"""The kernel engine: equal to the model's own predictions for every kernel, row and donor."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from by_copies import LOSSES, compare, same_importance, whatif_of
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, NuSVR, OneClassSVM

import pyinterp as pi
from pyinterp.losses.rowwise import LOSSES as NAMED
from pyinterp.whatif import kernels as engine
from pyinterp.whatif.kernels import KernelWhatIf, read_kernel

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


@pytest.mark.parametrize("name", ["SVR", "process, sums"])
def test_effects_equal_those_of_predicted_copies(name):
    model, X, y = fit(name)
    exact, slow = (pi.FittedModel(model, X, y, engine=e) for e in ("auto", "batched"))
    for kind in ("pd", "ice", "c-ice"):
        one, other = (f.pd(["a", "c"], points=7, kind=kind) for f in (exact, slow))
        assert one.engine.name == "kernel, exact"
        assert_allclose(one.params, other.params, rtol=0, atol=1e-11)
        assert_allclose(one.bse, other.bse, rtol=0, atol=1e-11)


def test_sizes_of_terms_are_those_before_anything_cancels():
    model, X, _ = fit("SVR, polynomial")
    found, rows = read_kernel(model, "mean"), X.to_numpy()
    assert found is not None
    inner = 0.3 * np.abs(rows) @ np.abs(model.support_vectors_).T + 1
    expected = inner**3 @ np.abs(model.dual_coef_[0]) + np.abs(model.intercept_)
    size = found.sums(rows, engine.NO_COLUMNS, engine.NO_VALUES, np.abs)[:, 0]
    assert_allclose(size, expected, rtol=1e-12)


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
        at_nodes, expected = model.sums(rows, ONE, nodes), model.sums(rows, ONE, values)
        bound = 1e-12 * expected.std()
        assert_allclose(at_nodes @ weights.T, expected, rtol=0, atol=bound)

    def test_a_polynomial_has_one_more_than_its_degree(self):
        values = make_data()[0][["a"]].to_numpy()
        nodes, _ = self.model("SVR, polynomial").nodes(ONE, values) or ((), ())
        assert len(nodes) == 4

    @pytest.mark.parametrize(
        "change", [lambda v: np.r_[v, [[100.0]]], lambda v: v[:9], lambda v: np.unique(v.round())]
    )
    def test_none_for_outlying_few_and_far_donors_and_several_columns(self, change):
        X, model = make_data()[0], self.model()
        values = X[["a"]].to_numpy()
        assert model.nodes(ONE, values) is not None
        assert model.nodes(ONE, change(values).reshape(-1, 1)) is None
        far = replace(model, support=model.support + 1e6)
        assert far.nodes(ONE, values + 1e6) is None
        assert model.nodes(np.array([0, 1]), X[["a", "b"]].to_numpy()) is None

    def test_none_where_values_at_donors_do_not_prove_them(self, monkeypatch):
        # A factor that jumps at a donor is no polynomial there.
        values, before = make_data()[0][["a"]].to_numpy(), engine.cdist

        def bump(x, s, metric):
            square = before(x, s, metric)
            square[7] += 1e-9 * (len(x) == len(values))
            return square

        monkeypatch.setattr(engine, "cdist", bump)
        assert self.model().nodes(ONE, values) is None

    def test_sums_of_losses_need_no_table(self, monkeypatch):
        model, X, y = fit("SVR")
        monkeypatch.setattr(KernelWhatIf, "blocks", None)
        whatif = whatif_of(pi.FittedModel(model, X, y))
        whatif.of(["a"]).summed_losses(y, NAMED["squared"])
        with pytest.raises(TypeError):
            whatif.of(["a"]).summed_losses(y, NAMED["absolute"])

    def test_blocks_of_donors(self, monkeypatch):
        model, rows = self.model("process, sums"), make_data()[0].to_numpy()
        columns = np.array([0, 4])
        whole = model.sums(rows, columns, rows[:, columns])
        monkeypatch.setattr(engine, "MOST_TABLE_ROWS", 9)
        parts = model.sums(rows, columns, rows[:, columns])
        assert_allclose(parts, whole, rtol=0, atol=1e-13)

    def test_pairs_that_are_worth_an_exact_mean(self, monkeypatch):
        model, X, y = fit("SVR")
        whatif = whatif_of(pi.FittedModel(model, X, y))
        monkeypatch.setattr(engine, "PRODUCTS", 100.0 * len(whatif.model.support))
        feature = {name: whatif.of([name]).most_pairs for name in "ac"}
        assert feature["a"](NAMED["squared"]) == np.inf
        assert feature["a"](NAMED["absolute"]) == engine.PAIRS
        assert feature["c"](NAMED["squared"]) == 100


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


RESPONSE = make_data(90, seed=1)[1]
SIGMOID = {"kernel": "sigmoid", "gamma": 0.01}


@pytest.mark.parametrize(
    ("model", "response"),
    [
        (process(kernels.Matern(), alpha=0.1), "number"),
        (process(kernels.ExpSineSquared(), alpha=99), "number"),
        (process(kernels.RationalQuadratic() + RBF, alpha=0.1), "number"),
        (process(RBF**2, alpha=0.1), "number"),
        (process(WHITE * RBF, alpha=0.1), "number"),
        (SVR(**SIGMOID), "number"),
        (SVR(kernel=rbf_kernel), "number"),
        (SVR(epsilon=99.0), "number"),
        (KernelRidge(kernel="laplacian"), "number"),
        (KernelRidge(kernel="poly", degree=1.5, coef0=99), "number"),
        (KernelRidge(kernel=np.dot), "number"),
        (SVC(), "three"),
        (OneClassSVM(), "number"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_other_kernels_are_not_read(model, response):
    X = make_data(90, seed=1)[0].to_numpy()
    model.fit(X, RESPONSE[response])
    assert read_kernel(model, "label" if response == "three" else "mean") is None


def test_other_forms_are_not_read():

    X, y = make_data(90, seed=1)[0].to_numpy(), RESPONSE["number"]
    both = np.column_stack([y, y])
    assert read_kernel(SVR(), "mean") is None
    assert read_kernel(SVR().fit(csr_matrix(X), y), "mean") is None
    assert read_kernel(KernelRidge(kernel="rbf").fit(X, both), "mean") is None
    assert read_kernel(process(RBF + WHITE).fit(X, both), "mean") is None
    assert read_kernel(SVR(kernel="precomputed").fit(X @ X.T, y), "mean") is None
