"""Bias and variance of MVIM and CVIM: the estimators, the identity, and the models behind them."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from pyinterp_papers.importance import (
    COLUMNS,
    components,
    importance_study,
    training_rows,
    validation_rows,
)
from pyinterp_papers.processes import khan_regression, molnar_linear, wood_classification
from pyinterp_papers.processes.khan import ORACLE

# Monte Carlo checks have fixed seeds and allow 4 standard errors: of the about 300 comparisons in
# this file none is expected beyond.
ERRORS = 4.0
STUMP = DecisionTreeRegressor(max_depth=1, random_state=0)
SHRUNK = Ridge(alpha=500.0)


def off(frame, column, expected):
    """Return distances from the expected values in Monte Carlo errors."""
    return (np.abs(frame[column] - expected) / frame[f"{column}_mcse"]).to_numpy()


# The estimators of a block -----------------------------------------------------------------------


def test_the_estimators_of_a_block_are_unbiased():
    """Predictions of known mean and variance; a truth, a response and rows that stay."""
    rng = np.random.default_rng(1)
    rows, models, blocks = 4, 3, 20_000
    f0, f0_switched = rng.normal(size=(2, rows))
    mean, mean_switched = rng.normal(size=(2, rows))
    sd, sd_switched = rng.uniform(0.5, 2, (2, rows))
    found = np.array(
        [
            components(
                f0 + rng.normal(size=rows),
                (f0, rng.normal(mean, sd, (models, rows))),
                (f0_switched, rng.normal(mean_switched, sd_switched, (models, rows))),
            )
            for _ in range(blocks)
        ]
    )
    truth = np.mean((f0_switched - f0) ** 2)
    delta = 2 * np.mean((f0_switched - f0) * (f0_switched - mean_switched))
    bias2 = [np.mean((mean_switched - f0_switched) ** 2), np.mean((mean - f0) ** 2)]
    variance = [np.mean(sd_switched**2), np.mean(sd**2)]
    estimate = truth + bias2[0] - bias2[1] + variance[0] - variance[1] - delta
    expected = [*bias2, *variance, delta, estimate, truth]
    error = found.std(axis=0, ddof=1) / np.sqrt(blocks)
    assert len(COLUMNS) == len(expected)
    assert (np.abs(found.mean(axis=0) - expected) < ERRORS * error).all()


def test_what_is_left_after_correction_is_the_noise_of_the_responses():
    """The identity of eq. 14, row by row: all that depends on the learner cancels but the noise."""
    rng = np.random.default_rng(2)
    f0, f0_switched, noise = rng.normal(size=(3, 7))
    predicted, switched = rng.normal(size=(2, 5, 7))
    found = components(f0 + noise, (f0, predicted), (f0_switched, switched))
    between = predicted.mean(axis=0) - switched.mean(axis=0)
    left = np.mean((f0 - f0_switched) ** 2 + 2 * noise * between)
    assert found[COLUMNS.index("corrected")] == pytest.approx(left, rel=1e-12)


# Learners whose bias and variance are known ------------------------------------------------------


def test_the_mean_of_y_has_the_variance_and_the_bias_of_the_closed_form():
    """f^ = mean(y): variance V(Y) / n, bias² V(f0), delta the truth itself, and estimates of 0."""
    n, process = 30, molnar_linear()
    frame = importance_study(
        process, DummyRegressor(), ["x1", "x2"], n=n, repetitions=300, block=6, validation=50
    )
    v = 1 / 6  # of x1 - x2, uniform
    assert len(frame) == 4
    for side in ("switch", "orig"):
        assert (off(frame, f"bias2_{side}", v) < ERRORS).all()
        assert (off(frame, f"variance_{side}", (v + process.noise_sd**2) / n) < ERRORS).all()
    assert (off(frame, "delta", frame["truth"]) < ERRORS).all()
    assert (frame["estimate"] == 0).all()
    assert (frame["bias2_orig_mcse"] < 0.01).all()


@pytest.mark.parametrize("scenario", ["multivariate", "strong"])
def test_the_oracle_has_no_bias(scenario):
    process, learner = khan_regression(scenario, noise_features=1), (ORACLE, LinearRegression())
    frame = importance_study(
        process, learner, ["X1", "X5", "X6"], n=80, repetitions=60, block=5, validation=500
    )
    assert len(frame) == 6
    noise = frame["feature"] == "X6"
    assert (frame.loc[noise, ["delta", "estimate", "corrected", "truth"]] == 0).all(axis=None)
    assert (off(frame, "bias2_switch", 0.0) < ERRORS).all()
    assert (off(frame, "bias2_orig", 0.0) < ERRORS).all()
    some = frame[~noise]
    assert (off(some, "delta", 0.0) < ERRORS).all()
    assert (some["delta_mcse"] < 0.15).all()
    # Without bias an estimate is too large by what X'_j adds to the variance.
    more = some["variance_switch"] - some["variance_orig"]
    assert (off(some, "estimate", some["truth"] + more) < ERRORS).all()
    assert (off(some, "corrected", some["truth"]) < ERRORS).all()


@pytest.mark.parametrize("learner", [STUMP, SHRUNK])
@pytest.mark.parametrize("scenario", ["multivariate", "strong"])
def test_corrected_estimates_of_bad_learners_are_the_truth(scenario, learner):
    process, features = khan_regression(scenario, noise_features=1), ["X1", "X4", "X5", "C1", "C2"]
    frame = importance_study(process, learner, features, repetitions=60, block=5, validation=1000)
    assert len(frame) == 10
    assert (off(frame, "corrected", frame["truth"]) < ERRORS).all()
    # The estimates themselves are too low; what was corrected is much larger than the error left.
    assert (frame["delta"] > 0).all()
    assert (frame["corrected_mcse"] < 0.2 * (frame["truth"] - frame["estimate"])).all()


def test_classes_are_decomposed_as_probabilities_of_the_second():
    frame = importance_study(
        wood_classification(), GaussianNB(), ["x1"], repetitions=60, block=3, validation=300
    )
    assert (off(frame, "corrected", frame["truth"]) < ERRORS).all()
    assert (frame["truth"] > 0).all()


# The study ---------------------------------------------------------------------------------------


def test_every_number_is_that_of_the_models():
    """The same models by scikit-learn alone, on the study's data."""
    process, names = molnar_linear(), ["x1", "x2"]
    options = {"n": 40, "repetitions": 12, "block": 3, "validation": 50}
    frame = importance_study(process, LinearRegression(), ["x1"], **options)
    blocks = []
    for block in range(4):
        rows, y, (_, switched) = validation_rows(
            process, [("x1", "mvim"), ("x1", "cvim")], 40, 50, block
        )
        drawn = [training_rows(process, 40, r) for r in range(3 * block, 3 * block + 3)]
        models = [LinearRegression().fit(d[names], d["y"]) for d in drawn]
        p = np.array([m.predict(rows[names]) for m in models])
        assert (switched["x2"] == rows["x2"]).all()
        q = np.array([m.predict(switched[names]) for m in models])
        f, g = rows["x1"] - rows["x2"], switched["x1"] - switched["x2"]
        blocks.append(components(y, (f.to_numpy(), p), (g.to_numpy(), q)))
    (row,) = frame.query("measure == 'cvim'").to_dict("records")
    assert (row["process"], row["feature"], row["repetitions"]) == ("linear", "x1", 12)
    assert row["truth"] == pytest.approx(1 / 6)
    for column, values in zip(COLUMNS, np.transpose(blocks), strict=True):
        assert row[column] == pytest.approx(values.mean(), abs=1e-12)
        error = values.std(ddof=1) / 2
        assert row[f"{column}_mcse"] == pytest.approx(error, rel=1e-6, abs=1e-9)
    with parallel_config(n_jobs=2):
        again = importance_study(process, LinearRegression(), ["x1"], **options)
    pd.testing.assert_frame_equal(frame, again)
    one = importance_study(process, LinearRegression(), ["x1"], **options | {"repetitions": 3})
    assert one["delta"].notna().all()
    assert one["delta_mcse"].isna().all()  # one block


def test_the_two_importances_switch_other_values():
    process = khan_regression("strong", noise_features=0)
    terms = [("X1", "mvim"), ("X1", "cvim"), ("C2", "mvim"), ("C2", "cvim")]
    rows, _, switches = validation_rows(process, terms, 30, 50, 0)
    close = [np.abs(switched["X1"] - rows["X1"]).mean() for switched in switches[:2]]
    assert close[1] < 0.5 * close[0]
    assert switches[2].dtypes.equals(rows.dtypes)
    # What else is asked changes no values, but another block does.
    again, _, (alone,) = validation_rows(process, terms[3:], 30, 50, 0)
    pd.testing.assert_frame_equal(rows, again)
    pd.testing.assert_frame_equal(alone, switches[3])
    assert not rows.equals(validation_rows(process, [], 30, 50, 1)[0])
