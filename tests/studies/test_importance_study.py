"""Bias and variance of MVIM and CVIM: the estimators, the identity, and what a study keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from pyinterp.errors import OptionError
from pyinterp.simulation import (
    ImportanceStudy,
    dgp_pfi,
    friedman1,
    khan_regression,
    molnar_linear,
    wood_classification,
)
from pyinterp.simulation.studies.importance import COLUMNS, components
from pyinterp.simulation.studies.study import StudyFile

mpl.use("Agg")

# Monte Carlo checks have fixed seeds and allow 4 standard errors: of the about 300 comparisons in
# this file none is expected beyond.
ERRORS = 4.0
ORACLE = (
    "y ~ X1*C1 + np.log(np.abs(X2*X3) + 0.1) + I((X4 - 0.5)**3) + X5 + C(C2) + np.sin(np.pi*U1*U2)"
)
STUMP = DecisionTreeRegressor(max_depth=1)
SHRUNK = Ridge(alpha=500.0)
NO_FORMS = replace(friedman1(1), name="no closed forms", closed_pd=None, closed_pfi=None)


def study(**options: Any) -> ImportanceStudy:
    settings = {
        "dgps": [molnar_linear()],
        "learners": {"lm": LinearRegression()},
        "features": ["x1"],
        "n": [30],
        "repetitions": 12,
        "block": 3,
        "validation": 50,
    }
    return ImportanceStudy(**settings | options)


def run(path: Path, n_jobs: int | None = None, **options: Any) -> pd.DataFrame:
    return study(**options).run(path / "study.sqlite", n_jobs, progress=False).frame


def off(frame: pd.DataFrame, column: str, expected: Any) -> np.ndarray:
    """Return distances from the expected values in Monte Carlo errors."""
    error = np.hypot(frame[f"{column}_mcse"], frame["truth_mcse"])
    return (np.abs(frame[column] - expected) / error).to_numpy()


# The estimators of a block -----------------------------------------------------------------------


def test_the_estimators_of_a_block_are_unbiased() -> None:
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


def test_what_is_left_after_correction_is_the_noise_of_the_responses() -> None:
    """The identity of eq. 14, row by row: all that depends on the learner cancels but the noise."""
    rng = np.random.default_rng(2)
    f0, f0_switched, noise = rng.normal(size=(3, 7))
    predicted, switched = rng.normal(size=(2, 5, 7))
    found = components(f0 + noise, (f0, predicted), (f0_switched, switched))
    between = predicted.mean(axis=0) - switched.mean(axis=0)
    left = np.mean((f0 - f0_switched) ** 2 + 2 * noise * between)
    assert found[COLUMNS.index("corrected")] == pytest.approx(left, rel=1e-12)


# Learners whose bias and variance are known ------------------------------------------------------


def test_the_mean_of_y_has_the_variance_and_the_bias_of_the_closed_form(tmp_path: Path) -> None:
    """f^ = mean(y): variance V(Y) / n, bias² V(f0), delta the truth itself, and estimates of 0."""
    n, process = 30, molnar_linear()
    frame = run(
        tmp_path,
        learners={"mean": DummyRegressor()},
        features=["x1", "x2"],
        repetitions=300,
        block=6,
    )
    v = 1 / 6  # of x1 - x2, uniform
    assert len(frame) == 4
    for side in ("switch", "orig"):
        assert (off(frame, f"bias2_{side}", v) < ERRORS).all()
        assert (off(frame, f"variance_{side}", (v + process.noise_sd**2) / n) < ERRORS).all()
    assert (off(frame, "delta", frame["truth"]) < ERRORS).all()
    assert (frame["estimate"] == 0).all()
    assert (frame["bias2_orig_mcse"] < 0.01).all()


def test_the_oracle_has_no_bias(tmp_path: Path) -> None:
    frame = run(
        tmp_path,
        dgps=[khan_regression(s, noise_features=1) for s in ("multivariate", "strong")],
        learners={"oracle": (ORACLE, LinearRegression())},
        features=["X1", "X5", "X6"],
        n=[80],
        repetitions=60,
        block=5,
        validation=500,
    )
    assert len(frame) == 12
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


@pytest.mark.parametrize("scenario", ["multivariate", "strong"])
def test_corrected_estimates_of_bad_learners_are_the_truth(tmp_path: Path, scenario: Any) -> None:
    frame = run(
        tmp_path,
        dgps=[khan_regression(scenario, noise_features=1)],
        learners={"stump": STUMP, "shrunk": SHRUNK},
        features=["X1", "X4", "X5", "C1", "C2"],
        n=[100],
        repetitions=60,
        block=5,
        validation=1000,
    )
    assert len(frame) == 20
    assert (off(frame, "corrected", frame["truth"]) < ERRORS).all()
    # The estimates themselves are too low; what was corrected is much larger than the error left.
    assert (frame["delta"] > 0).all()
    assert (frame["corrected_mcse"] < 0.2 * (frame["truth"] - frame["estimate"])).all()


def test_a_truth_without_closed_form_has_its_error(tmp_path: Path) -> None:
    options = {"dgps": [NO_FORMS], "features": ["x2"], "truth_n": 20_000}
    made = study(repetitions=60, validation=400, **options)
    found = made.run(tmp_path / "study.sqlite", progress=False)
    frame = found.frame
    exact = dgp_pfi(made.dgps[0], "x2", n=200_000, seed=5)
    assert (off(frame, "truth", exact.value) < ERRORS).all()
    assert (frame["truth_mcse"] > 0).all()
    assert (off(frame, "corrected", frame["truth"]) < ERRORS).all()
    pd.testing.assert_frame_equal(frame, made.load(tmp_path / "study.sqlite").frame)


def test_classes_are_decomposed_as_probabilities_of_the_second(tmp_path: Path) -> None:
    frame = run(
        tmp_path,
        dgps=[wood_classification()],
        learners={"bayes": GaussianNB()},
        features=["x1"],
        n=[100],
        repetitions=60,
        validation=300,
    )
    assert (off(frame, "corrected", frame["truth"]) < ERRORS).all()
    assert (frame["truth"] > 0).all()


# The study ---------------------------------------------------------------------------------------


def test_every_number_is_that_of_the_models(tmp_path: Path) -> None:
    """The same models by scikit-learn alone, on the study's data."""
    made = study(n=[30, 40])
    frame = made.run(tmp_path / "study.sqlite", progress=False).frame
    process = made.dgps[0]
    names = ["x1", "x2"]
    blocks = []
    for block in range(4):
        rows, y, switches = made.rows(process, 40, block)
        drawn = [made.draw(process, 40, r) for r in range(3 * block, 3 * block + 3)]
        models = [LinearRegression().fit(d[names], d["y"]) for d in drawn]
        p = np.array([m.predict(rows[names]) for m in models])
        switched = switches["x1", "cvim"]
        assert (switched["x2"] == rows["x2"]).all()
        q = np.array([m.predict(switched[names]) for m in models])
        f, g = rows["x1"] - rows["x2"], switched["x1"] - switched["x2"]
        blocks.append(components(y, (f.to_numpy(), p), (g.to_numpy(), q)))
    (row,) = frame.query("n == 40 and measure == 'cvim'").to_dict("records")
    assert (row["process"], row["learner"], row["feature"]) == ("linear", "lm", "x1")
    assert (row["repetitions"], row["validation"]) == (12, 50)
    assert row["truth"] == pytest.approx(1 / 6)
    for column, values in zip(COLUMNS, np.transpose(blocks), strict=True):
        assert row[column] == pytest.approx(values.mean(), abs=1e-12)
        error = values.std(ddof=1) / 2
        assert row[f"{column}_mcse"] == pytest.approx(error, rel=1e-6, abs=1e-9)


def test_the_two_importances_switch_other_values() -> None:
    strong = {"dgps": [khan_regression("strong", noise_features=0)]}
    made = study(features=["X1", "C2"], **strong)
    rows, _, switches = made.rows(made.dgps[0], 30, 0)
    assert set(switches) == {("X1", "mvim"), ("X1", "cvim"), ("C2", "mvim"), ("C2", "cvim")}
    x1 = rows["X1"]
    close = [np.abs(switches["X1", m]["X1"] - x1).mean() for m in ("mvim", "cvim")]
    assert close[1] < 0.5 * close[0]
    assert switches["C2", "mvim"].dtypes.equals(rows.dtypes)
    again, _, _ = made.rows(made.dgps[0], 30, 0)
    pd.testing.assert_frame_equal(rows, again)
    other, _, _ = made.rows(made.dgps[0], 30, 1)
    assert not rows.equals(other)
    # What else is asked changes no values.
    alone = study(features=["C2"], measures=["cvim"], **strong)
    _, _, alone_switches = alone.rows(made.dgps[0], 30, 0)
    pd.testing.assert_frame_equal(alone_switches["C2", "cvim"], switches["C2", "cvim"])


def test_settings_can_depend_on_the_process_and_n(tmp_path: Path) -> None:
    asked = []

    def shallow(process: Any, n: int) -> Any:
        asked.append((process.name, n))
        return DecisionTreeRegressor(max_depth=1 if n < 40 else 3)

    run(tmp_path, learners={"tree": shallow}, n=[30, 50], repetitions=3)
    assert set(asked) == {("linear", 30), ("linear", 50)}
    frame = run(
        tmp_path,
        learners={"tree": DecisionTreeRegressor(max_depth=3), "by n": shallow},
        n=[50],
        repetitions=3,
    )
    own = [frame[frame["learner"] == name].drop(columns="learner") for name in ("tree", "by n")]
    # Data depend on process, n and repetition only: the same models for both names.
    assert np.allclose(*(part.select_dtypes("number").dropna(axis=1) for part in own))


def test_jobs_change_nothing_but_rounding(tmp_path: Path) -> None:
    one = study().run(tmp_path / "one.sqlite", progress=False)
    two = study().run(tmp_path / "two.sqlite", 2, progress=False)
    pd.testing.assert_frame_equal(one.frame, two.frame, rtol=1e-9)


def test_a_study_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    study(repetitions=6).run(path, progress=False)
    more = study().run(path, progress=False)
    whole = study().run(tmp_path / "other.sqlite", progress=False)
    pd.testing.assert_frame_equal(more.frame, whole.frame, rtol=1e-9)
    records = StudyFile(path).records()
    assert {record.term[1] for record in records} == {"mvim", "cvim"}
    for measure in ("mvim", "cvim"):
        part = [record for record in records if record.term[1] == measure]
        assert [(record.blocks, record.size) for record in part] == [((b,), 3) for b in range(4)]


def test_other_rows_of_a_file_are_not_mixed_in(tmp_path: Path) -> None:
    """Other validation rows, blocks or features are other estimates."""
    path = tmp_path / "study.sqlite"
    first = study().run(path, progress=False)
    study(validation=60).run(path, progress=False)
    study(block=6).run(path, progress=False)
    study(features=["x1", "x2"]).run(path, progress=False)
    assert len({record.row for record in StudyFile(path).records()}) == 4
    pd.testing.assert_frame_equal(first.frame, study().load(path).frame, rtol=1e-9)
    # Other sizes and learners are other rows of the same study: a file can grow by them.
    learners = {"tree": STUMP}
    run_again = study(n=[20], learners=learners).run(path, progress=False)
    assert set(run_again.frame["n"]) == {20}
    grown = study().load(path).frame
    assert grown[["learner", "n"]].drop_duplicates().to_numpy().tolist() == [
        ["lm", 30],
        ["tree", 20],
    ]


def test_a_killed_study_loses_and_repeats_nothing(tmp_path: Path, run_and_kill) -> None:
    path = tmp_path / "study.sqlite"
    done = run_and_kill("test_importance_study", path, blocks=3, n=[30, 40])
    assert done == 3  # of 8
    resumed = study(n=[30, 40]).run(path, progress=False)
    whole = study(n=[30, 40]).run(tmp_path / "whole.sqlite", progress=False)
    pd.testing.assert_frame_equal(resumed.frame, whole.frame, rtol=1e-9)


def test_unfinished_studies_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    assert study().load(path).frame.empty
    study(repetitions=3).run(path, progress=False)
    frame = study().load(path).frame
    assert (frame["repetitions"] == 3).all()
    assert frame["delta"].notna().all()
    assert frame["delta_mcse"].isna().all()  # one block


# Results -----------------------------------------------------------------------------------------


def test_the_table_is_like_the_papers(tmp_path: Path) -> None:
    found = study(n=[30, 50]).run(tmp_path / "study.sqlite", progress=False)
    table = found.table(digits=3)
    assert list(table.columns) == [
        ("Bias²", "switch"),
        ("Bias²", "orig"),
        ("Variance", "switch"),
        ("Variance", "orig"),
        ("", "δ"),
        ("", "Estimate"),
        ("", "Corrected"),
        ("", "True"),
    ]
    assert table.index.names == ["process", "learner", "measure", "feature", "n"]
    assert [row[2:] for row in table.index] == [
        (measure, "x1", n) for measure in ("mvim", "cvim") for n in (30, 50)
    ]
    one = found.frame.query("n == 50 and measure == 'mvim'").iloc[0]
    row = table.loc["linear", "lm", "mvim", "x1", 50]
    assert row["", "δ"] == round(one["delta"], 3)
    assert row["Variance", "orig"] == round(one["variance_orig"], 3)
    assert str(found) == found.table().to_string()


def test_the_plot_shows_delta_and_estimates_against_n(tmp_path: Path) -> None:
    found = study(n=[30, 50, 100]).run(tmp_path / "study.sqlite", progress=False)
    plot = found.plot()
    assert len(plot.data) == 2 * len(found.frame)
    assert set(plot.data["what"]) == {"delta", "estimate"}
    assert "scale_x_log10" in [type(scale).__name__ for scale in plot.scales]
    plot.save(tmp_path / "plot.png", verbose=False, width=6, height=4)
    assert (tmp_path / "plot.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ["x9"]}, r"has no feature 'x9'"),
        ({"features": []}, r"`features` must not be empty"),
        ({"measures": ["cvim", "pfi"]}, r'`measures` must be one of "mvim", "cvim", not \'pfi\''),
        ({"block": 1}, r"`block`.*2"),
        ({"validation": 1}, r"`validation`.*2"),
        (
            {"repetitions": {"lm": 10}},
            r"`repetitions` must be a multiple of `block`, 3.*got 10 for 'lm'",
        ),
    ],
)
def test_bad_input_gives_its_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        study(**options)
