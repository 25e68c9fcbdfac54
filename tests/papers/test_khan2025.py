"""Khan et al. (2025): numbers of theorems, equations and algorithms, each computed in two ways.

Simulations have fixed seeds and allow `ERRORS` of their own standard errors.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp_papers import replicate
from pyinterp_papers.importance import importance_study
from pyinterp_papers.processes import khan_regression
from pyinterp_papers.processes.khan import ORACLE

ERRORS = 3.0
N = 1_000_000  # rows of the theorems
FULL = pytest.mark.calibration
PROCESS = khan_regression("weak", noise_features=1)


def compare(*sides):
    """Return the difference of two means over independent rows, and its standard error."""
    a, b = sides
    return a.mean() - b.mean(), float(np.hypot(a.std(), b.std())) / N**0.5


def of_classes(x, z):
    """Return the outcome that depends on a class 0, 1, 2 and on z."""
    return x**2 * (1 + 0.5 * z)


def of_number(x, z):
    """Return the outcome that depends on a number and on z: the effect of x is (x - x*) (1 + z)."""
    return x * (1 + z)


def draw_classes(k):
    """Return z, probabilities of k classes given z, classes, and classes given z again."""
    rng = np.random.default_rng(k)
    z = rng.standard_normal(N)
    p = np.exp(np.outer(z, np.arange(k)))
    p /= p.sum(axis=1, keepdims=True)
    x, again = ((p.cumsum(axis=1) < rng.random((N, 1))).sum(axis=1) for _ in range(2))
    return z, p, x, again


def draw_numbers():
    """Return z, numbers that depend on z, and numbers given z again."""
    rng = np.random.default_rng(1)
    z, first, second = rng.standard_normal((3, N))
    return z, 0.7 * z + first, 0.7 * z + second


def switched(f, x, new, z):
    """Return e_switch - e_orig of the true f, by row: the noise of y cancels in the mean."""
    return np.square(f(new, z) - f(x, z))


# Theorems: importance is a mean of squared effects ------------------------------------------------


def test_theorem_1_mvim_of_classes():
    """Squared effects weighted by the classes' shares and the rows in them."""
    z, p, x, _ = draw_classes(3)
    shares, here, f = p.mean(axis=0), np.eye(3)[x], of_classes
    effects = sum(
        here[:, a] * shares[b] * (f(a, z) - f(b, z)) ** 2
        for a in range(3)
        for b in range(3)
        if a != b
    )
    new = np.random.default_rng(1).permutation(x)
    difference, error = compare(switched(f, x, new, z), effects)
    assert abs(difference) < ERRORS * error


def test_theorem_2_mvim_of_a_number():
    """Squared effects against an independent draw of x."""
    z, x, _ = draw_numbers()
    rng = np.random.default_rng(2)
    other = 0.7 * rng.standard_normal(N) + rng.standard_normal(N)
    left = switched(of_number, x, rng.permutation(x), z)
    difference, error = compare(left, (x - other) ** 2 * (1 + z) ** 2)
    assert abs(difference) < ERRORS * error


def test_theorem_3_cvim_of_two_classes():
    """Twice p (1 - p) times the squared effect."""
    z, p, x, again = draw_classes(2)
    effects = 2 * p[:, 0] * p[:, 1] * (of_classes(1, z) - of_classes(0, z)) ** 2
    difference, error = compare(switched(of_classes, x, again, z), effects)
    assert abs(difference) < ERRORS * error


def test_theorem_4_cvim_of_several_classes_has_no_leading_2():
    """Squared effects weighted by both probabilities: the sum has every pair twice (erratum 5)."""
    z, p, x, again = draw_classes(3)
    f = of_classes
    effects = sum(
        p[:, a] * p[:, b] * (f(a, z) - f(b, z)) ** 2 for a in range(3) for b in range(3) if a != b
    )
    difference, error = compare(switched(f, x, again, z), effects)
    assert abs(difference) < ERRORS * error
    difference, error = compare(switched(f, x, again, z), 2 * effects)  # as printed
    assert abs(difference) > 100 * error


def test_theorem_5_cvim_of_a_number():
    """Twice V(x | z), which is 1 here, times the squared slope."""
    z, x, again = draw_numbers()
    difference, error = compare(switched(of_number, x, again, z), 2 * (1 + z) ** 2)
    assert abs(difference) < ERRORS * error


@pytest.mark.parametrize(("f", "formula"), [(of_classes, "y ~ C(x)*z"), (of_number, "y ~ x*z")])
def test_theorems_1_and_2_hold_for_the_packages_mvim(f, formula):
    """A model that has f: the mean squared effect over all pairs of rows, by hand."""
    rng = np.random.default_rng(1)
    z = rng.standard_normal(120)
    x = rng.integers(0, 3, 120) if f is of_classes else 0.7 * z + rng.standard_normal(120)
    data = pd.DataFrame({"x": x, "z": z, "y": f(x, z)})
    model = pi.Learner.from_formula(formula, data, LinearRegression()).fit_model(seed=1)
    effects = np.square(f(x[None, :], z[:, None]) - f(x, z)[:, None])
    found = model.mvim("x", permutations="all").params.iloc[0]
    assert found == pytest.approx(effects.sum() / (120 * 119), rel=1e-9)


# Estimators with the oracle, beside closed forms --------------------------------------------------

SIZES = [1500, pytest.param(20_000, marks=FULL)]


@pytest.fixture(scope="module", params=SIZES)
def oracle(request):
    data = PROCESS.draw(request.param, seed=1)
    return pi.Learner.from_formula(ORACLE, data, LinearRegression())


@pytest.fixture(scope="module")
def half(oracle):
    return oracle.fit(pi.HalfSampling(0, pairs=10), seed=1, progress=False)


@pytest.fixture(scope="module")
def bootstrap(oracle):
    return oracle.fit(pi.NestedBootstrap(10, splits=2), seed=1, progress=False)


def is_near(found, true):
    return bool(abs(found.params.iloc[0] - true) < ERRORS * found.bse.iloc[0])


MVIM, CVIM = PROCESS.pfi("X1"), 8.0  # of X1


def test_the_closed_forms_of_the_process_are_these():
    assert pytest.approx(15.44) == MVIM
    assert PROCESS.cvim("X1") == pytest.approx(CVIM)
    assert PROCESS.pfi("C2") == pytest.approx(28 / 9)


def test_equation_3_mvim(half):
    assert is_near(half.mvim("X1"), MVIM)


def test_equation_6_mvim_of_an_additive_term_is_twice_its_variance(half):
    assert is_near(half.mvim("C2"), 28 / 9)


def test_equation_7_loco_of_an_additive_term_is_half_its_mvim(half):
    """Erratum 12."""
    assert is_near(half.loco("C2"), 14 / 9)


def test_equation_17_r2_of_a_feature_is_the_diagnostic_of_positivity(half):
    assert is_near(half.positivity("X1"), 1 - CVIM / MVIM)


def test_equation_19_cvim_by_exchanged_residuals(half):
    """Residuals are exchanged as equations 24 to 26 have it."""
    assert is_near(half.cvim("X1"), CVIM)


def test_equation_33_amvim_is_cvim_by_1_minus_r2(half):
    assert is_near(half.amvim("X1"), MVIM)


def test_algorithm_1_mvim_over_splits_of_bootstrap_samples(bootstrap):
    assert is_near(bootstrap.mvim("X1"), MVIM)


def test_algorithm_2_cvim_over_splits_of_bootstrap_samples(bootstrap):
    """With - e_orig in line 12 (erratum 6)."""
    assert is_near(bootstrap.cvim("X1"), CVIM)


# The parts of an error, and of a variance ---------------------------------------------------------


def test_equation_14_delta_enters_the_error_with_a_minus_sign():
    """Erratum 4: an additive model misses most of X1, so that delta is large."""
    process = khan_regression("multivariate", noise_features=0)
    frame = importance_study(process, LinearRegression(), ["X1"], measures=["mvim"], block=5)
    (found,) = frame.to_dict("records")
    bias = found["bias2_switch"] - found["bias2_orig"]
    variance = found["variance_switch"] - found["variance_orig"]
    error = np.hypot(found["corrected_mcse"], found["truth_mcse"])
    right, printed = (found["truth"] + bias + variance + s * found["delta"] for s in (-1, 1))
    assert found["corrected"] == pytest.approx(found["estimate"] - bias - variance + found["delta"])
    assert abs(found["estimate"] - right) < ERRORS * error
    assert abs(found["estimate"] - printed) > 10


def test_equation_14_has_the_minus_sign_in_table_2():
    at = replicate("khan2025", "table 2").query("n == 100 and feature == 'X1'")
    ours = at.set_index("quantity")["ours"]
    away = [abs(ours["truth"] + s * ours["delta"] - ours["estimate"]) for s in (-1, 1)]
    assert away[0] < 1
    assert away[1] > 10


def exposed(n, seed):
    """Return a binary exposure x with one confounder z, and its probability p."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n)
    p = 1 / (1 + np.exp(-z))
    x = 1.0 * (rng.random(n) < p)
    y = z + x * (1 + z / 2) + rng.standard_normal(n)
    return pd.DataFrame({"x": x, "z": z, "y": y, "p": p})


def test_equation_23_the_variance_in_three_terms():
    """Of the exposure, of other variables, of neither; the paper has no numbers of them."""
    learner = pi.Learner.from_formula("y ~ x * z", exposed(2000, 1), LinearRegression())
    causal = learner.fit(pi.HalfSampling(0, pairs=10), seed=1, progress=False).causal("x")
    found = pd.concat(
        [pd.DataFrame({"ours": r.params, "error": r.bse}) for r in (causal.share, causal.rest)]
    )
    many = exposed(1_000_000, 2)
    z, p, y = many["z"], many["p"], many["y"]
    parts = [(p * (1 - p) * (1 + z / 2) ** 2).mean(), (z + p * (1 + z / 2)).var(), 1]
    true = np.array([*parts, 0]) / y.var()  # the last is the remainder
    assert sum(parts) == pytest.approx(y.var(), rel=0.005)
    assert len(found) == 4
    assert (np.abs(found["ours"] - true) < ERRORS * found["error"]).all()
    assert found["ours"].sum() == pytest.approx(1, abs=0.02)
