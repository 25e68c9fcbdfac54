"""An engine from outside the package: its numbers are naive loops', and a wrong one is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.whatif.dispatch import ENGINES

EXACT = 1e-10  # sums in another order
N, NAMES = 40, ["a", "b", "c"]


class LaplaceKernelRidge(pi.ExactWhatIf):
    """The template of `docs/write_your_own.md`."""

    name = "kernel ridge"

    @staticmethod
    def read(model, kind):
        laplace = isinstance(model, KernelRidge) and model.kernel == "laplacian"
        return model if laplace and kind == "mean" else None

    def table(self, rows, columns, values):
        kept = np.setdiff1d(np.arange(rows.shape[1]), columns)
        of_rows = self.kernel(rows[:, kept], kept)
        return (of_rows * self.model.dual_coef_) @ self.kernel(values, columns).T

    def kernel(self, values, columns):
        trained = self.model.X_fit_[:, columns]
        return np.exp(-self.model.gamma * cdist(values, trained, "cityblock"))


class NaiveBayes(pi.ExactWhatIf):
    """Classes, which the model has in the order of their labels."""

    name = "naive Bayes"

    @staticmethod
    def read(model, kind):
        return model if isinstance(model, GaussianNB) and kind == "probability" else None

    def table(self, rows, columns, values):
        kept = np.setdiff1d(np.arange(rows.shape[1]), columns)
        joint = self.logs(rows[:, kept], kept)[:, None] + self.logs(values, columns)
        odds = np.exp(joint + np.log(self.model.class_prior_))
        return odds / odds.sum(axis=-1, keepdims=True)

    def logs(self, values, columns):
        mean, variance = self.model.theta_[:, columns], self.model.var_[:, columns]
        squares = (values[:, None] - mean) ** 2 / variance
        return -0.5 * (squares + np.log(variance)).sum(axis=-1)


@pytest.fixture(autouse=True)
def engines():
    """Both engines, which other tests do not have."""
    before = dict(ENGINES)
    pi.register_engine(LaplaceKernelRidge)
    pi.register_engine(NaiveBayes)
    yield
    ENGINES.clear()
    ENGINES.update(before)


def make_data(n=N):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=NAMES)
    X["b"] = X["b"].round()
    return X, np.sin(X["a"]).to_numpy() + X["b"].to_numpy() * X["c"] + rng.normal(size=n) / 5


def fitted(steps=False, **options):
    X, y = make_data()
    ridge = KernelRidge(kernel="laplacian", gamma=0.4, alpha=0.3)
    model = make_pipeline(StandardScaler(), ridge) if steps else ridge
    return pi.FittedModel(model.fit(X, y), X, y, seed=1, **options)


def copies(X, row, names, values):
    """Return copies of a row, each with the values of one donor."""
    many = X.iloc[[row] * len(values)].reset_index(drop=True)
    many[names] = values[names].to_numpy()
    return many


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("names", [["a"], ["b"], ["c", "a"], NAMES])
def test_predictions_are_naive_loops(names, steps):
    model, (X, _) = fitted(steps), make_data()
    whatif = model.analysis.cases[0].whatif
    assert whatif.engine.name == "kernel ridge, exact"
    predict = whatif.predictor.estimator.predict
    for rows, predictions in whatif.of(names).cross(X):
        for row, found in zip(rows, predictions, strict=True):
            expected = predict(copies(X, row, names, X))
            assert_allclose(found, expected, rtol=0, atol=EXACT)
    rng = np.random.default_rng(0)
    rows, index = rng.integers(N, size=30), rng.integers(N, size=(30, 4))
    for donors in (X, X.iloc[index.ravel()].reset_index(drop=True)):
        places = index if donors is X else np.arange(index.size).reshape(index.shape)
        found = whatif.of(names).pairs(rows, places, donors)
        for i, row in enumerate(rows):
            expected = predict(copies(X, row, names, donors.iloc[places[i]]))
            assert_allclose(found[i], expected, rtol=0, atol=EXACT)


def test_importances_and_effects_are_naive_loops():
    model, (X, y) = fitted(), make_data()
    predict = model.analysis.cases[0].whatif.predictor.estimator.predict
    risk = np.mean((y - predict(X)) ** 2)
    found, curve = model.pfi(), model.pd("a", grid=[-1.0, 0.5])
    assert found.engine.name == curve.engine.name == "kernel ridge, exact"
    for name in NAMES:
        losses = [
            (y[i] - predict(copies(X, i, [name], X.drop(index=i)))) ** 2 for i in range(len(X))
        ]
        assert_allclose(found.params[name], np.mean(losses) - risk, atol=EXACT)
    for value, mean in zip([-1.0, 0.5], curve.params, strict=True):
        assert_allclose(mean, predict(X.assign(a=value)).mean(), atol=EXACT)


def test_classes_are_in_the_order_that_is_reported():
    X, y = make_data(120)
    k = np.digitize(y, [-0.5, 0.5])
    labels = pd.Series(pd.Categorical(np.array(["x", "y", "z"])[k], ["z", "x", "y"]))
    model = GaussianNB().fit(X, labels)
    exact, slow = (pi.FittedModel(model, X, labels, engine=e) for e in ("auto", "batched"))
    assert exact.pfi().engine.name == "naive Bayes, exact"
    every = slow.pfi(permutations="all")
    assert_allclose(exact.pfi().params, every.params, rtol=0, atol=EXACT)


class TestProof:
    """What does not equal the model's own predictions is not used."""

    def refused(self, table):
        class Wrong(LaplaceKernelRidge):
            pass

        Wrong.table = table
        pi.register_engine(Wrong)
        engine = fitted().pfi().engine
        assert engine.name == "batched"
        assert "the kernel ridge engine does not reproduce its predictions" in engine.reason
        with pytest.raises(OptionError, match="can't serve KernelRidge"):
            fitted(engine="kernel ridge").pfi()

    def test_wrong_predictions_and_another_shape(self):
        self.refused(lambda *given: LaplaceKernelRidge.table(*given) * (1 + 1e-8))
        self.refused(lambda *given: LaplaceKernelRidge.table(*given)[..., None])

    @pytest.mark.parametrize("column", [0, 1, 2])
    def test_a_column_that_is_not_replaced(self, column):
        def table(self, rows, columns, values):
            kept = columns != column
            return LaplaceKernelRidge.table(self, rows, columns[kept], values[:, kept])

        self.refused(table)

    def test_columns_that_are_replaced_one_at_a_time_only(self):
        def table(self, rows, columns, values):
            return LaplaceKernelRidge.table(self, rows, columns[:1], values[:, :1])

        self.refused(table)

    @pytest.mark.parametrize("method", ["read", "table"])
    def test_an_engine_that_fails_leaves_the_model_to_batches(self, method):
        def fail(*_):
            raise ZeroDivisionError("boo")

        changed = staticmethod(fail) if method == "read" else fail
        pi.register_engine(type("Failing", (LaplaceKernelRidge,), {method: changed}))
        engine = fitted().pfi().engine
        assert engine.name == "batched"
        assert "engine raises ZeroDivisionError: boo" in engine.reason

    def test_another_model(self):
        X, y = make_data()
        model = KernelRidge(kernel="cosine").fit(X, y)
        assert pi.FittedModel(model, X, y).pfi().engine == ("batched", 0.0, "")


class Half(pi.ExactWhatIf):
    name = "half"

    @staticmethod
    def read(model, kind):
        return model if kind == "mean" else None


def named(label):
    return type("Other", (LaplaceKernelRidge,), {"name": label})


NAME = "`name` of an engine must be a string other than"


class TestRegistration:
    def test_it_is_a_decorator_and_can_be_repeated(self):
        assert pi.register_engine(LaplaceKernelRidge) is LaplaceKernelRidge

    @pytest.mark.parametrize(
        ("engine", "said"),
        [
            (KernelRidge, r"must be a subclass of `pi.ExactWhatIf`"),
            (Half, "with the methods `read` and `table`"),
            *((named(label), NAME) for label in ("auto", "trees", None)),
        ],
    )
    def test_other_things(self, engine, said):
        with pytest.raises(OptionError, match=said):
            pi.register_engine(engine)

    def test_an_unknown_name_is_refused_with_all_names(self):
        with pytest.raises(OptionError, match="kernel ridge"):
            fitted(engine="ridge")
