"""Certificates: copies are like their data, and what is counted is what the words say."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from asks import ask
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.simulation.data_copy import NOISE, copy_of
from pyinterp.simulation.records import StudyFile
from pyinterp_papers.processes import molnar_linear

# A Monte Carlo mean of a test with a fixed seed is within so many standard errors of its target.
ERRORS = 4.0
PLAN, LM = pi.Subsampling(5), LinearRegression()


def rows_of(n=120, seed=0):
    """Rows of a linear model: numbers a, b and their sum, whole numbers k, levels g; y last."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    frame = pd.DataFrame({"a": a, "b": b, "total": a + b, "k": rng.integers(0, 5, n)})
    frame["g"] = rng.choice(["no", "yes"], n)
    return frame.assign(y=3 * a + frame["k"] + rng.normal(size=n))


def fit(formula="y ~ a + b + k + g", data=None, estimator=LM, plan=PLAN, **options):
    data = rows_of() if data is None else data
    learner = pi.Learner.from_formula(formula, data, estimator, **options)
    return learner.fit(plan, seed=1, progress=False)


linear = cache(fit)


def certify(*args, **options):
    return pi.certify(*args, **{"data_sets": 3, "truth_refits": 20, "progress": False} | options)


# The copy ------------------------------------------------------------------------------------


def test_features_of_a_copy_are_those_of_rows_moved_a_little():
    data = rows_of(400)
    copy = copy_of(fit("y ~ a + b + total + k + g", data).analysis)
    drawn = copy.draw(20_000, seed=1)
    assert list(drawn) == ["a", "b", "total", "k", "g", "y"]
    assert drawn["k"].isin(data["k"]).all()
    assert drawn["k"].dtype == data["k"].dtype
    assert set(drawn["g"]) == {"no", "yes"}
    inside = (drawn["a"].abs() < 2) & (drawn["b"].abs() < 2) & (drawn["total"].abs() < 2)
    whole = (drawn["total"] - drawn["a"] - drawn["b"])[inside]
    assert_allclose(whole, 0, atol=1e-9)  # sums stay, but at the ends of the range
    assert not drawn["a"].isin(data["a"]).mean() > 0.05
    assert drawn["a"].between(data["a"].min(), data["a"].max()).all()
    assert drawn["a"].var() == pytest.approx((1 + NOISE**2) * data["a"].var(), rel=0.05)


def test_responses_of_a_copy_vary_as_those_of_the_data():
    data, copy = rows_of(), copy_of(linear().analysis)
    assert copy.residuals.mean() == pytest.approx(0, abs=1e-12)
    assert copy.means @ copy.residuals == pytest.approx(0, abs=1e-9)  # the least squares line
    assert copy.draw(50_000, seed=2)["y"].var() == pytest.approx(data["y"].var(ddof=0), rel=0.05)


def test_residuals_are_out_of_sample():
    """A learner that remembers its rows has no residuals in sample."""
    copy = copy_of(fit("y ~ a + b", estimator=KNeighborsRegressor(1)).analysis)
    assert copy.residuals.std() > 1.0  # that of noise


def test_means_by_a_naive_loop():
    results = linear()
    data = rows_of()
    predictions = {}
    for refit in results.refits:
        X = data.iloc[refit.evaluation.rows]
        design = refit.design.encode(X[["a", "b", "k", "g"]])
        for row, value in zip(refit.evaluation.rows, refit.predictor(design), strict=True):
            predictions.setdefault(int(row), []).append(float(value))
    rows = sorted(predictions)
    mean = np.array([np.mean(predictions[row]) for row in rows])
    slope, constant = np.polyfit(mean, data["y"].to_numpy()[rows], 1)
    copy = copy_of(results.analysis)
    assert_allclose(copy.means, constant + slope * mean, rtol=1e-9)
    assert copy.rows["a"].tolist() == data["a"].to_numpy()[rows].tolist()


def test_classes_of_a_copy_are_drawn_from_probabilities_that_fit():
    """Blurred probabilities are sharpened: those of the copy are calibrated."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=3000)
    data = pd.DataFrame({"x": x, "y": np.where(rng.random(3000) < expit(3 * x), "yes", "no")})
    results = fit("y ~ x", data, LogisticRegression(C=0.0005))
    copy = copy_of(results.analysis)
    assert_allclose(copy.means.sum(axis=1), 1)
    far = copy.rows["x"].to_numpy() > 1
    raw = results.predict(data[data["x"] > 1])["yes"].mean()
    assert raw < 0.9
    assert copy.means[far, 1].mean() == pytest.approx(expit(3 * x)[x > 1].mean(), abs=0.02)
    drawn = copy.draw(20_000, seed=1)
    error = np.sqrt(0.25 / 20_000)
    assert (drawn["y"] == "yes").mean() == pytest.approx(copy.means[:, 1].mean(), abs=4 * error)


def test_several_classes_keep_their_order_and_type():
    data = rows_of().assign(y=lambda d: d["k"] % 3)
    results = fit("y ~ a + k", data, DecisionTreeClassifier(max_depth=2))
    copy = copy_of(results.analysis)
    drawn = copy.draw(6000, seed=1)["y"]
    assert list(drawn.cat.categories) == [0, 1, 2]
    shares = drawn.value_counts(sort=False, normalize=True)
    assert_allclose(shares, copy.means.mean(axis=0), atol=0.03)
    assert certify(results).frame["truth"].notna().all()


# The counts ----------------------------------------------------------------------------------


def test_the_truth_of_a_linear_model_is_its_closed_form():
    """Least squares on moved numbers: the slope of the copy over 1 + NOISE**2."""
    results = fit("y ~ a", rows_of(300)[["a", "y"]])
    copy = copy_of(results.analysis)
    slope = np.polyfit(copy.rows["a"], copy.means, 1)[0] / (1 + NOISE**2)
    grid = np.array([-1.0, 2.0])
    certificate = certify(results, results.pd("a", grid=grid), truth_refits=400)
    expected = copy.means.mean() + slope * (grid - copy.rows["a"].mean())
    away = certificate.frame["truth"].to_numpy() - expected
    # Values that are cut at the ends of the range have a share of the noise less.
    assert_allclose(away / certificate.frame["truth_mcse"], 0, atol=ERRORS)


def test_rows_that_are_drawn_twice_bias_no_estimate():
    """Whole numbers are not moved, and the nearest neighbor of a twin is the twin."""
    data = rows_of(60).assign(a=lambda d: (9 * d["a"]).round(), b=lambda d: (9 * d["b"]).round())
    data = data.astype({"a": int, "b": int})
    results = fit("y ~ a + b", data, KNeighborsRegressor(1))
    frame = certify(results, data_sets=50, truth_refits=200).frame
    error = np.hypot(frame["sd"] / np.sqrt(50), frame["truth_mcse"])
    assert_allclose(frame["bias"] / error, 0, atol=ERRORS)


def test_intervals_that_are_too_narrow_are_caught():
    results = fit(plan=pi.Subsampling(15))
    grid = np.array([0.5])
    # 400 data sets: .43 and .88.
    naive, corrected = (
        certify(results, results.pd("a", grid=grid, cov_type=name), data_sets=80).frame.iloc[0]
        for name in ("naive", "corrected")
    )
    assert naive["coverage"] < 0.75
    assert corrected["coverage"] > 0.85
    assert naive["relative_width"] < corrected["relative_width"]
    assert naive["sd"] == corrected["sd"]  # the same data sets
    assert naive["below"] + naive["above"] == pytest.approx(1 - naive["coverage"])
    assert min(naive["below"], naive["above"]) > 0


def test_numbers_are_those_of_each_data_set():
    """By the same draws one by one, without the study."""
    results = linear()
    table = results.pfi(cov_type="naive")
    certificate = certify(results, table, alpha=0.2)
    truth = certificate.frame.loc[list(table.params.index), "truth"].to_numpy()
    study = pi.simulation.CoverageStudy(
        dgps=[molnar_linear()],
        learners={"lm": LinearRegression()},
        estimands={"PFI": pi.LearnerResults.pfi},
        n=[2],
        resamplings={},
        cov_types={},
        seed=0,
    )  # for its streams of random numbers only
    counted = []
    for data_set in range(3):
        data = copy_of(results.analysis).draw(120, study.stream("data", 120, data_set))
        key = "LinearRegression", 120, "subsampling, 0.632", data_set
        seed = study.stream("coverage", *key)
        refits = pi.Learner.from_formula("y ~ a + b + k + g", data, LM)
        pfi = refits.fit(PLAN, seed=seed, progress=False).pfi(cov_type="naive")
        low, high = pfi.conf_int(0.2).to_numpy().T
        covers = (low <= truth) & (truth <= high)
        counted.append([high < truth, low > truth, covers, pfi.pvalues < 0.2, high - low])
    frame = certificate.frame.loc[list(table.params.index)]
    columns = ["below", "above", "coverage", "rejected", "width"]
    assert_allclose(frame[columns].T, np.mean(counted, axis=0))
    assert frame["estimate"].tolist() == table.params.tolist()


def test_standard_errors_of_coverage_are_not_zero():
    frame = certify(linear(), linear().pfi(simultaneous=True)).frame
    p = (3 * frame["coverage"] + 2) / 7
    assert_allclose(frame["coverage_error"], np.sqrt(p * (1 - p) / 7))


# Files, jobs and time ------------------------------------------------------------------------


def test_numbers_do_not_depend_on_jobs():
    one, two = (certify(linear(), n_jobs=jobs).frame for jobs in (1, 2))
    pd.testing.assert_frame_equal(one, two)
    assert not certify(linear(), seed=1).frame.equals(one)


def test_tables_of_the_same_refits_have_the_same_data_sets():
    """The stream is named by nothing that is computed."""
    table, other = (linear().pfi(relation=relation) for relation in ("difference", "ratio"))
    one, two = (certify(linear(), each).sums for each in (table, other))
    alone = certify(linear(), linear().pfi("a")).frame.loc["a"]
    pd.testing.assert_series_equal(alone, certify(linear(), table).frame.loc["a"])
    assert not np.array_equal(one, two)


def test_a_file_is_gone_on_with(tmp_path, monkeypatch):
    file = tmp_path / "certificate.sqlite"
    add, added = StudyFile.add, []

    def interrupted(self, records):
        if len(added) == 5:  # the file, two blocks of the truth, two data sets
            raise KeyboardInterrupt
        added.append(records)
        add(self, records)

    with monkeypatch.context() as patched:
        patched.setattr(StudyFile, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            certify(linear(), file=file)
    assert len(StudyFile(file).records()) == 4
    certify(linear(), file=file)
    kept = len(StudyFile(file).records())
    done = certify(linear(), file=file)
    assert len(StudyFile(file).records()) == kept
    pd.testing.assert_frame_equal(done.frame, certify(linear()).frame)
    more = certify(linear(), file=file, data_sets=5)
    pd.testing.assert_frame_equal(more.frame, certify(linear(), data_sets=5).frame)


def test_a_file_keeps_other_tables_apart(tmp_path):
    file, results = tmp_path / "certificate.sqlite", linear()
    certify(results, file=file)
    others = results.pd("k", grid=np.array([0, 1]))
    pd.testing.assert_frame_equal(
        certify(results, others, file=file).frame, certify(results, others).frame
    )
    wide = results.pfi(cov_type="corrected")
    naive = results.pfi(cov_type="naive")
    frames = [certify(results, table, file=file).frame for table in (wide, naive)]
    assert (frames[0]["relative_width"] > frames[1]["relative_width"]).all()
    pd.testing.assert_frame_equal(frames[1], certify(results, naive).frame)
    kept = len(StudyFile(file).records())
    certify(results, file=file)
    assert len(StudyFile(file).records()) == kept


def test_a_file_that_was_begun_with_other_settings_is_refused(tmp_path):
    certify(linear(), file=tmp_path / "certificate.sqlite")
    with pytest.raises(OptionError, match="has seed = 0, and the study has 5"):
        certify(linear(), file=tmp_path / "certificate.sqlite", seed=5)


# Kinds of results ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        "pd(['a', 'k'], points=3)", "loco(['a', 'g'])", "firm()", "loss()",
        "pfi(relation='ratio', p_adjust='holm')", "cvim('a')",
    ],
)  # fmt: skip
def test_estimands_keep_their_terms(call):
    table = ask(call)(linear())
    certificate = certify(linear(), table)
    assert set(certificate.frame.index) == set(table.params.index)
    assert certificate.frame["coverage"].between(0, 1).all()
    assert (certificate.frame["rejected"].isna() == (table.null is None)).all()
    assert ("rejected" in str(certificate)) == (table.null is not None)


@pytest.mark.parametrize("plan", [pi.HalfSampling(4, pairs=5), pi.Bootstrap(4)], ids=type)
def test_plans_that_draw_rows(plan):
    certificate = certify(fit("np.exp(y / 9) ~ np.exp(a) + C(k)", plan=plan))
    assert certificate.frame["coverage"].between(0, 1).all()


def test_rows_of_arrays():
    data = rows_of()
    exog = data[["a", "b"]].to_numpy(np.float32)
    results = pi.Learner(data["y"], exog, LM).fit(PLAN, seed=1, progress=False)
    assert copy_of(results.analysis).draw(5, seed=1).dtypes.tolist() == [np.float32] * 2 + [float]
    assert sorted(certify(results).frame.index) == ["x1", "x2"]


def test_the_same_rows_make_the_same_learner():
    learner = linear().model
    same = learner._with_rows(learner.sample.variables.assign(y=learner.sample.y))
    again = same.fit(PLAN, seed=1, progress=False).pfi()
    pd.testing.assert_series_equal(again.params, linear().pfi().params)
    assert again.context.formula == linear().pfi().context.formula


def test_the_summary_has_what_the_frame_has():
    certificate = certify(linear())
    text = certificate.summary().as_text()
    coverage = f"{certificate.frame['coverage'].iloc[0]:.3f}"
    for said in (coverage, "3 of 120 rows", "20 refits on 76 rows", "95% interval"):
        assert said in text
    assert "interval" not in certificate.summary(notes="none").as_text()
    assert certificate.frame["truth"].is_monotonic_decreasing
    pd.testing.assert_frame_equal(certificate.summary_frame(), certificate.frame)


# Errors --------------------------------------------------------------------------------------


WEIGHTS = {"weights": "w", "weights_type": "sampling"}
OF_THE_FIT = {
    "Refits must be by HalfSampling": {"plan": pi.CrossValidation(5)},
    "by HalfSampling.*without clusters and": {"plan": pi.Bootstrap(5, cluster="k")},
    "without clusters and strata": {"plan": pi.Subsampling(5, strata="g")},
    "sampling weights; fit one": {"data": rows_of().assign(w=1.0 + np.arange(120) % 3)} | WEIGHTS,
    "LinearSVC predicts neither": {"formula": "g ~ a", "estimator": LinearSVC()},
}
OF_THE_CALL = """
linear().pfi(): must be what `Learner.fit` returns
linear(), fit("y ~ a + b").pfi(): for these refits and all rows
linear(), linear().pfi(by="g"): for these refits and all rows
linear(), linear().pfi(rows="a > 0"): for these refits and all rows
linear(), pi.compare(linear(), fit("y ~ a + b")): for these refits and all rows
linear(), linear().pfi(alternative="less"): must be two-sided
"""
VALUES = {
    "estimates": "pfi", "data_sets": 0, "truth_refits": 0, "alpha": 5, "seed": -1, "n_jobs": 0,
    "file": 3, "progress": "no",
}  # fmt: skip


@pytest.mark.parametrize("words", OF_THE_FIT)
def test_fits_that_have_no_certificate_are_refused(words):
    with pytest.raises(OptionError, match=words):
        certify(fit(**OF_THE_FIT[words]))


@pytest.mark.parametrize("case", OF_THE_CALL.strip().splitlines())
def test_tables_that_have_no_certificate_are_refused(case):
    call, words = case.split(": ")
    with pytest.raises(OptionError, match=words):
        eval(f"certify({call})")  # noqa: S307 - tables of tests


@pytest.mark.parametrize("name", VALUES)
def test_wrong_values_are_refused_by_their_name(name):
    with pytest.raises(OptionError, match=f"`{name}` must be"):
        certify(linear(), **{name: VALUES[name]})


# Size, and what the fit has to say ------------------------------------------------------------


def test_the_response_of_a_copy_does_not_depend_on_null_features():
    copy = copy_of(linear().analysis)
    as_is = copy.draw(20_000, seed=3)
    drawn = replace(copy, null=("a", "g")).draw(20_000, seed=3)
    pd.testing.assert_frame_equal(as_is[["b", "k", "y"]], drawn[["b", "k", "y"]])
    assert as_is["y"].corr(as_is["a"]) > 0.8
    assert abs(drawn["y"].corr(drawn["a"])) < ERRORS / np.sqrt(20_000)
    assert drawn["a"].var() == pytest.approx(as_is["a"].var(), rel=0.05)
    means = drawn.groupby("g")["y"].agg(["mean", "sem"])
    assert abs(means["mean"].diff().iloc[1]) < ERRORS * np.hypot(*means["sem"])


def test_the_size_of_a_test_is_certified():
    certificate = certify(linear(), data_sets=20, truth_refits=40, null=["a"])
    row = certificate.frame.loc["a"]
    assert row["estimate"] > 5
    assert abs(row["truth"]) < ERRORS * row["truth_mcse"]
    assert row["rejected"] <= 0.05 + ERRORS * np.sqrt(0.05 * 0.95 / 20)
    assert certificate.frame.loc["k", "rejected"] >= 0.9
    text = " ".join(str(certificate.summary()).split())
    assert "The response of the copies does not depend on a. Where its truth is the null" in text
    with pytest.raises(OptionError, match="no such"):
        certify(linear(), null=["no such"])


def test_a_certificate_says_what_the_fit_says_of_its_rows():
    rng = np.random.default_rng(1)
    steps = rng.normal(size=(80, 3))
    for i in range(1, 80):
        steps[i] += 0.8 * steps[i - 1]
    data = pd.DataFrame(steps, columns=["a", "b", "e"])
    data = data.assign(y=data["a"] + data["e"])[["a", "b", "y"]]
    results = fit("y ~ .", data)
    note = "Residuals of rows next to each other are alike"
    assert note in str(results.pfi().summary())
    text = " ".join(str(certify(results).summary()).split())
    assert note in text
    assert "a high one no proof" in text
