"""A variance of a user's: naive loops give the same, and every option takes its name."""

import numpy as np
import pytest
import statsmodels.formula.api as smf
from fits import fit_of
from shared import normal_rows
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import InferenceError, OptionError
from pyinterp.inference import COV_TYPES, Variance, cov_types


def spread(replicates):
    """Return some covariance of the refits, which is no right one for folds."""
    values = replicates.per_refit
    m = len(values)
    away = values - values.mean(axis=0)
    return Variance(cov=(m - 1) / m * away.T @ away, df=m - 1, note="Intervals of groups.")


@pytest.fixture(autouse=True)
def registered():
    registry = COV_TYPES, cov_types._PLACES, cov_types._NEEDS_OF
    before = [dict(part) for part in registry]
    yield
    for former, now in zip(before, registry, strict=True):
        now.clear()
        now.update(former)


@pytest.fixture(scope="module")
def folds():
    rng, data = normal_rows(60, "x z noise")
    data["y"] = data["x"] + data["z"] / 2 + rng.normal(size=60)
    return fit_of("y ~ x + z + noise", data, LinearRegression(), pi.CrossValidation(6))


def test_it_is_what_loops_over_the_refits_give(folds):
    assert pi.register_variance("spread", spread, needs="refits") is spread
    for results in (folds.pfi(cov_type="spread"), folds.pd("x", points=4, cov_type="spread")):
        values = results.refit_frame().to_numpy()
        expected = np.zeros(values.shape[1])
        for row in values:
            expected += 5 / 6 * (row - values.sum(axis=0) / 6) ** 2
        np.testing.assert_allclose(results.bse, np.sqrt(expected), rtol=1e-12)
        assert (results.cov_type, results.df_resid, results.variance.label) == (
            "spread", 5, "spread",
        )  # fmt: skip
        low, high = results.conf_int().to_numpy().T
        assert (low < results.params).all()
        assert (high > results.params).all()


def test_tables_comparisons_groups_and_hypotheses_take_it(folds):
    pi.register_variance("spread", spread, label="spread, groups")
    pfi = folds.pfi(cov_type="spread")
    assert "Intervals of groups." in str(pfi.summary())
    assert pfi.glance()["cov_type"].item() == "spread"
    assert pfi.t_test("x = z").sd[0] > 0
    assert pi.compare([folds, folds.model.fit(folds.resampling, seed=1)], cov_type="spread")
    half = np.arange(60) % 2
    assert (folds.loss(by=half, cov_type="spread").bse > 0).all()


def test_what_it_needs_is_asked_for(folds):
    for needs, remedy in (("pairs", r"pi\.HalfSampling"), ("model", r"pi\.FittedModel"),
                          ("bootstraps", r"pi\.NestedBootstrap")):  # fmt: skip
        pi.register_variance("mine", spread, needs=needs)
        with pytest.raises(InferenceError, match=rf'`cov_type="mine"` needs .*{remedy}'):
            folds.pfi(cov_type="mine")


def test_coefficients_are_there_for_those_that_need_them():
    _, data = normal_rows(50, "x y", 1)
    model = smf.ols("y ~ x", data).fit()

    def doubled(replicates):
        changes = replicates.coefficient_errors.changes
        return Variance(cov=4 * changes.T @ changes, df=replicates.coefficient_errors.df, note="")

    pi.register_variance("doubled", doubled, needs="coefficients")
    fitted = pi.FittedModel(model, data[["x"]], data["y"])
    twice = fitted.pd("x", points=3, cov_type="doubled")
    np.testing.assert_allclose(twice.bse, 2 * fitted.pd("x", points=3, cov_type="delta").bse)


def test_names_are_not_taken_twice_but_by_the_same_function():
    pi.register_variance("mine", spread)
    pi.register_variance("mine", spread, label="again")

    def other(replicates):
        return spread(replicates)

    for name in ("mine", "half-sample"):
        with pytest.raises(OptionError, match=f'"{name}" is the name of another variance'):
            pi.register_variance(name, other)


def test_bad_arguments_and_answers_are_refused(folds):
    with pytest.raises(OptionError, match='`needs` must be one of "", "refits"'):
        pi.register_variance("mine", spread, needs="refit")
    nearly = Variance(cov=np.eye(3) + np.diag([1e-20, 0], 1), df=3, note="")
    pi.register_variance("rounded", lambda _: nearly)
    assert (folds.pfi(cov_type="rounded").bse == 1).all()
    pi.register_variance("numbers", lambda replicates: replicates.per_refit)
    pi.register_variance("small", lambda _: Variance(cov=np.eye(1), df=3, note=""))
    for name in ("numbers", "small"):
        with pytest.raises(InferenceError, match=r"must return a .*Variance.* shape \(3, 3\)"):
            folds.pfi(cov_type=name)
    with pytest.raises(OptionError, match="Did you mean `numbers`"):
        folds.pfi(cov_type="number")


@pytest.mark.parametrize("name", ["auto", "none"])
def test_names_that_say_nothing_are_refused(name):
    with pytest.raises(OptionError, match="must say which variance it is"):
        pi.register_variance(name, lambda replicates: replicates)


@pytest.mark.parametrize(
    ("cov", "df"),
    [(-np.eye(2), 3.0), (np.eye(2), -2.0), (1e-9 * np.arange(4.0).reshape(2, 2), 3.0)],
)
def test_what_is_no_variance_is_refused(cov, df):
    def wrong(_):
        return Variance(cov=cov, df=df, note="")

    pi.register_variance("wrong", wrong)
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = pi.FittedModel(LinearRegression().fit(X, X[:, 0]), X, X[:, 0])
    with pytest.raises(InferenceError, match="must return a"):
        model.pfi(cov_type="wrong").summary()
