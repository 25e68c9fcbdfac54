"""Results, tables and comparisons: the statsmodels vocabulary, and what is printed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, words_of
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import InferenceError, OptionError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import RefitEstimate, Replicates, Variance
from pyinterp.inference.digits import cell, number_format, row_formats
from pyinterp.learner.models_here import ModelsHere


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=["a", "b", "c", "noise"])
    frame["y"] = 2 * frame["a"] + frame["b"] + rng.normal(size=120)
    frame["still"] = 1.0
    return frame


@pytest.fixture(scope="module")
def fitted(data):
    return fit_of("y ~ .", data, LinearRegression(), pi.Bootstrap(8))


@pytest.fixture(scope="module")
def pfi(fitted):
    return fitted.pfi()


def test_estimates_are_means_over_refits_and_t_is_their_ratio(pfi):
    per_refit = pfi.refit_frame()
    assert_allclose(pfi.params, per_refit.mean())
    c = pfi.replicates.evaluations.correction
    shown = pfi.bse > 0
    assert_allclose(pfi.bse[shown], np.sqrt((1 / 8 + c) * per_refit.var())[shown])
    assert_allclose(pfi.tvalues[shown], (pfi.params / pfi.bse)[shown])
    assert_allclose(pfi.pvalues[shown], 2 * stats.t.sf(pfi.tvalues[shown].abs(), 7))
    half = stats.t.isf(0.05, 7) * pfi.bse[shown]
    assert_allclose(pfi.conf_int(0.1)[0][shown], (pfi.params - half)[shown])
    assert pfi.df_resid == 7
    assert pfi.nobs == 120
    assert pfi.endog_names == "y"
    assert pfi.exog_names == ["a", "b", "c", "noise", "still"]
    assert_allclose(np.diag(pfi.cov_params())[:4], pfi.bse[:4] ** 2)


def test_inference_options_belong_to_the_reader(fitted, monkeypatch):
    before, ratio = fitted.pfi(), fitted.pfi(relation="ratio")

    def again(*_):
        raise AssertionError("predicted again")

    monkeypatch.setattr(ModelsHere, "case", again)
    naive = fitted.pfi(cov_type="naive", alternative="greater", p_adjust="holm")
    assert fitted.pfi(relation="ratio", cov_type="naive").params["a"] == ratio.params["a"] > 1
    assert (naive.bse <= before.bse).all()
    pd.testing.assert_series_equal(fitted.pfi().pvalues, before.pvalues)
    with pytest.raises(AssertionError, match="predicted again"):
        fitted.pfi(permutations=3)


def test_reading_changes_nothing(pfi):
    before = str(pfi.summary())
    pfi.conf_int(0.5)
    assert str(pfi.summary()) == before
    with pytest.raises(AttributeError):
        pfi.alternative = "greater"


def test_frames_have_brooms_columns(pfi, fitted):
    columns = ["estimate", "std_error", "std_error_null", "statistic", "p_value", "conf_low",
               "conf_high", "mcse", "std_error_mcse"]  # fmt: skip
    assert list(pfi.summary_frame()) == columns
    assert list(pfi.tidy()) == ["term", *columns]
    broom = ["term", "estimate", "std.error", "std.error.null", "statistic", "p.value", "conf.low",
             "conf.high"]  # fmt: skip
    assert list(pfi.to_r()) == [*broom, "mcse", "std.error.mcse"]
    np.testing.assert_array_equal(pfi.to_r(0.1)["conf.low"], pfi.tidy(0.1)["conf_low"])
    curve = fitted.pd("a", points=4).tidy()
    assert list(curve) == ["term", "value", *columns]
    glance = pfi.glance()
    assert glance.shape[0] == 1
    assert glance["loss"][0] == pytest.approx(fitted.loss().params.iloc[0])
    assert glance["explained"][0] == pytest.approx(fitted.loss(relation="explained").params.iloc[0])


def test_t_test_in_words_and_in_weights(pfi):
    test = pfi.t_test("a = b")
    difference = pfi.params["a"] - pfi.params["b"]
    paired = pfi.refit_frame().eval("a - b")
    se = np.sqrt((1 / 8 + pfi.replicates.evaluations.correction) * paired.var())
    assert test.effect[0] == pytest.approx(difference)
    assert test.sd[0] == pytest.approx(se)
    assert float(test.pvalue) == pytest.approx(2 * stats.t.sf(abs(difference / se), 7))
    weights = np.array([[1.0, -1, 0, 0, 0]])
    assert_allclose(pfi.t_test(weights).tvalue, test.tvalue)
    shifted = pfi.t_test("a - b = 1, c = 0")
    assert shifted.tvalue[0] == pytest.approx((difference - 1) / se)
    with pytest.raises(OptionError, match=r"Can't read the hypothesis.*mean `b`"):
        pfi.t_test("a = bb")
    with pytest.raises(OptionError, match="one column per term"):
        pfi.t_test([1.0, -1.0])
    with pytest.raises(InferenceError, match="does not vary"):
        pfi.t_test("still = 0")


def test_a_hypothesis_about_one_term_is_that_of_the_table(data):
    for plan in (pi.HalfSampling(), pi.NestedBootstrap(60, splits=2), pi.Bootstrap(8)):
        pfi = fit_of("y ~ a + b + c", data, LinearRegression(), plan).pfi()
        test = pfi.t_test("a = 0, 2*b = 0, -c = 0, a = b")
        assert_allclose(test.pvalue[:3], pfi.pvalues, rtol=1e-12)
        assert_allclose(test.tvalue[:3], pfi.tvalues * [1, 1, -1], rtol=1e-12)
        for alpha in (0.05, 0.2):
            limits = pfi.conf_int(alpha).to_numpy().copy()
            limits[1] *= 2
            limits[2] = -limits[2, ::-1]
            assert_allclose(test.conf_int(alpha)[:3], limits, rtol=1e-12)
        # A contrast is a t test, of importances by half-sampling with the error of its side.
        se = np.sqrt(np.array([1, -1]) @ pfi.cov_params().loc[["a", "b"], ["a", "b"]] @ [1, -1])
        assert test.sd[3] == pytest.approx(se, rel=1e-9)
        difference = pfi.params["a"] - pfi.params["b"]
        side = 0 if difference > 0 else 1  # that of the null value
        half = abs(test.conf_int()[side].iloc[3] - difference)
        error = half / stats.t.isf(0.025, pfi.df_resid)
        assert (error == pytest.approx(se)) == (pfi.cov_type != "half-sample")
        t = difference / error
        assert test.tvalue[3] == pytest.approx(t)
        assert test.pvalue[3] == pytest.approx(2 * stats.t.sf(abs(t), pfi.df_resid))
        assert "a = b" in str(test.summary())


def test_the_test_of_one_term_rejects_what_the_interval_excludes(data):
    pfi = fit_of("y ~ a + b + c", data, LinearRegression()).pfi()
    low, high = pfi.conf_int().loc["a"]
    for value, rejected in ((low, (True, False)), (high, (False, True))):
        inside = [float(pfi.t_test(f"a = {value + d!r}").pvalue) < 0.05 for d in (-1e-6, 1e-6)]
        assert tuple(inside) == rejected


def test_terms_without_an_estimate_do_not_hinder_the_others():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["x", "z", "y"])
    frame["w"] = 2 * frame["z"]
    frame["y"] += frame["x"]
    found = fit_of("y ~ x + z + w", frame, LinearRegression(), pi.Bootstrap(6)).amvim()
    assert found.params[["z", "w"]].isna().all()
    assert float(found.t_test("x = 0").pvalue) == pytest.approx(found.pvalues["x"])
    assert np.isfinite(found.t_test([[1.0, 0.0, 0.0]]).sd).all()
    with pytest.raises(InferenceError, match=r"`w` has no estimate \(R²_j is"):
        found.t_test("x = w")


def test_the_size_of_other_terms_does_not_matter(fitted):
    curve = fitted.pd("a", grid=[0.0, 1e14])
    assert curve.bse.iloc[0] > 0
    assert curve.t_test([[1.0, 0.0]]).sd[0] == pytest.approx(curve.bse.iloc[0])


def test_a_share_of_no_loss_is_missing_without_a_warning(data):
    model = LinearRegression().fit(data[["a", "b"]], data["y"])
    found = pi.FittedModel(model, data[["a", "b"]], np.ones(120))
    assert np.isnan(found.loss(relation="explained").params.iloc[0])
    text = str(found.pfi().summary())
    assert "nan" not in text
    assert "R²" not in text


def notes(results):
    return " ".join(results.summary().notes)


def test_the_default_says_what_it_covers_in_full_notes(data):
    """Of other variances, which are known to cover less, short notes say so too."""
    fitted = fit_of("y ~ a", data, LinearRegression())
    assert "covered" not in notes(fitted.pfi())
    assert "nominal 95% intervals covered" in " ".join(fitted.pfi().summary(notes="full").notes)


def test_a_constant_feature_has_importance_0_and_a_note(pfi):
    assert pfi.params["still"] == 0
    assert pfi.bse["still"] == 0
    assert np.isnan(pfi.pvalues["still"])
    text = str(pfi.summary(notes="full"))
    assert "still: constant in the data" in text
    assert (
        "No interval for still: in no refit do predictions of evaluation rows change with it"
        in " ".join(text.split())
    )


def test_the_table_names_what_it_holds(pfi):
    text = str(pfi.summary(notes="full"))
    for word in (
        "Dep. variable:", "No. refits:", "Df:", "Loss, out of sample:", "corrected", "Software:",
        "Seed:", "in units of y²", "All pairs of rows, no Monte Carlo error",
    ):  # fmt: skip
        assert word in text, word
    rows = [line.split()[0] for line in text.splitlines() if line.split()[:1] != []]
    assert rows.index("a") < rows.index("b")  # in decreasing order of the estimates
    assert [r for r in rows if r in pfi.exog_names][-1] != "still"
    in_order = [line.split(" ")[0] for line in str(pfi.summary(sort=False)).splitlines()]
    assert [r for r in in_order if r in pfi.exog_names] == pfi.exog_names


def test_monte_carlo_error_is_shown_only_where_there_is_some(fitted):
    some = fitted.pfi(permutations=3)
    largest = f"Monte Carlo standard error of the estimates: at most {some.mcse.max():.2g}"
    assert largest in words_of(some)
    assert "Monte Carlo" not in str(fitted.pfi().summary())
    per_refit = some.replicates.sums.mc_variance
    assert per_refit.shape == (8, len(some.params))
    assert_allclose(some.mcse, np.sqrt(np.sum(per_refit, axis=0)) / 8)


def test_one_sided(fitted):
    greater = fitted.pfi(alternative="greater")
    assert (greater.conf_int()[1][:4] == np.inf).all()
    assert "P>t" in str(greater.summary())
    two = fitted.pfi()
    up = two.tvalues > 0
    assert_allclose(greater.pvalues[up], two.pvalues[up] / 2)


def test_no_test_is_printed_where_there_is_no_natural_null(fitted):
    assert "P>|t|" not in str(fitted.pd("a").summary())
    assert "P>|t|" in str(fitted.pd("a", kind="c-ice").summary())


def test_holdout_is_the_level_of_one_model(data):
    held = fit_of("y ~ .", data, LinearRegression(), pi.Holdout())
    found = held.pfi()
    assert found.cov_type == "ustat"
    assert found.df_resid == held.refits[0].n_evaluation - 1
    assert "fitted model" in str(found.summary())
    with pytest.raises(InferenceError, match="not defined for one refit"):
        held.pfi(cov_type="corrected")


def test_rows_average_over_the_refits_that_evaluate_them(fitted):
    curves = fitted.pd("a", grid=[0.0]).row_frame()
    row = int(curves.index[5])
    predicted = []
    for refit in fitted.refits:
        (where,) = np.nonzero(refit.evaluation.rows == row)
        if len(where):
            one = refit.evaluation.variables.iloc[where].assign(a=0.0)
            predicted.append(refit.predictor(refit.design.encode(one))[0])
    assert curves.loc[row, "a[0]"] == pytest.approx(np.mean(predicted))


def test_predict_is_the_mean_over_refits(fitted, data):
    by_hand = [r.predictor(r.design.encode(data)) for r in fitted.refits]
    assert_allclose(fitted.predict(data), np.mean(by_hand, axis=0))
    with pytest.raises(ValueError, match="must have the variable `b`"):
        fitted.predict(data[["a"]])
    labels = data.assign(y=np.where(data["y"] > 0, "up", "down"))
    classifier = fit_of("y ~ a", labels, LogisticRegression())
    assert list(classifier.predict(labels[:3])) == ["down", "up"]


@pytest.fixture(scope="module")
def tree(data):
    return fit_of("y ~ .", data, DecisionTreeRegressor(), pi.Bootstrap(8))


class TestCompare:
    def test_paired_corrected_t_test(self, fitted, tree):
        found = pi.compare(fitted, tree)
        delta = (fitted.loss().refit_frame() - tree.loss().refit_frame())["loss"]
        correction = fitted.loss().replicates.evaluations.correction
        se = np.sqrt((1 / 8 + correction) * delta.var())
        assert found.params.iloc[0] == pytest.approx(delta.mean())
        assert found.bse.iloc[0] == pytest.approx(se)
        assert found.pvalues.iloc[0] == pytest.approx(2 * stats.t.sf(abs(delta.mean() / se), 7))
        assert found.params.index[0] == "LinearRegression - DecisionTreeRegressor"
        assert "paired by resample" in str(found.summary())

    def test_a_learner_equals_itself(self, fitted):
        found = pi.compare(fitted, fitted)
        assert found.params.iloc[0] == 0
        assert "the two agree exactly in every refit" in words_of(found)

    def test_estimands_are_compared_term_by_term(self, fitted, tree):
        found = pi.compare(fitted.pfi(), tree.pfi())
        assert_allclose(found.params, fitted.pfi().params - tree.pfi().params)
        curves = pi.compare(fitted.pd("a"), tree.pd("a"))
        assert curves.estimand.terms.axes == ("value",)
        curves.plot().draw()

    def test_other_losses_and_models(self, fitted, tree, data):
        assert "absolute error" in str(pi.compare(fitted, tree, loss="absolute").summary())
        one, two = (
            pi.FittedModel(m.fit(data[["a", "b"]], data["y"]), data[["a", "b"]], data["y"])
            for m in (LinearRegression(), DecisionTreeRegressor(max_depth=2))
        )
        found = pi.compare(one, two)
        assert found.cov_type == "rows"
        assert found.df_resid == 119

    def test_options_are_checked(self, fitted, tree):
        with pytest.raises(TypeError, match=r"compare\(\) takes no .*Did you mean `cov_type`"):
            pi.compare(fitted, tree, cov_typ="naive")
        lambdas = [
            fitted.pfi(loss=lambda y, p: abs(y - p)),
            tree.pfi(loss=lambda y, p: (y - p) ** 4),
        ]
        with pytest.raises(InferenceError, match="Only the same estimand"):
            pi.compare(*lambdas)

    def test_monte_carlo_error_of_a_difference_is_missing_not_added(self, fitted):
        some = fitted.pfi("a", permutations=3)
        found = pi.compare(some, some)
        assert found.params.iloc[0] == 0
        assert np.isnan(found.mcse.iloc[0])

    def test_refuses_what_is_not_paired(self, fitted, tree, data):
        for other in (
            fit_of("y ~ .", data, LinearRegression(), pi.Bootstrap(8), seed=2),
            fit_of("y ~ .", data.assign(y=-data["y"]), LinearRegression(), pi.Bootstrap(8)),
        ):
            with pytest.raises(InferenceError, match="same resamples of the same data"):
                pi.compare(fitted, other)
        with pytest.raises(OptionError, match="at least two"):
            pi.compare(fitted)
        with pytest.raises(OptionError, match="can be compared, not DataFrame"):
            pi.compare(fitted, data)

    def test_columns_of_other_rows_say_so(self, fitted, data):
        fewer = fit_of("y ~ .", data[:100], LinearRegression(), pi.Bootstrap(8))
        note = "Columns rest on 120 and 100 observations: they differ by these too."
        text = str(pi.summary_col({"all": fitted.pfi(), "some": fewer.pfi()}))
        assert note in " ".join(text.split())

    def test_summary_col(self, fitted, tree):
        # Numbers of another estimand have digits of their own.
        mixed = str(pi.summary_col([fitted.pfi(), tree.native_importance()]))
        shares = tree.native_importance()
        own = number_format(np.asarray(shares.params), np.asarray(shares.bse))
        assert own % shares.params.max() in mixed
        with pytest.raises(OptionError, match=r"such as res\.pfi"):
            pi.summary_col([fitted])
        with pytest.raises(OptionError, match="There must be 2 names"):
            pi.summary_col([fitted.pfi(), tree.pfi()], model_names=["one"])


@pytest.mark.parametrize(
    ("values", "errors", "expected"),
    [
        ([10072, 1.234, 0.0123], [563, 0.06, 0.0021], ["10072", "1.234", "0.01230"]),
        ([10072, 0.001, 3.2], [563, 0.5, 0.7], ["10072", "0.0010", "3.200"]),
        # Where the error has a digit, all rows have the same decimals.
        ([2725, 780, 49, -0.3], [558, 199, 52, 2], ["2725", "780", "49", "0"]),
        ([3566, np.nan, 0], [12, np.nan, 0], ["3566", "", "0"]),
    ],
)
def test_a_large_row_does_not_take_the_decimals_of_others(values, errors, expected):
    sizes = np.full(len(values), np.nan) if errors is None else np.array(errors, float)
    formats = row_formats(np.array(values, float), sizes)
    assert list(map(cell, values, formats)) == expected


@pytest.mark.parametrize("size", [1.0, 1e6, 1e-6])
def test_standard_errors_up_to_a_rounding_of_the_estimates_are_0(size):
    """1e-12 of the largest estimate of a refit, in size; a little more is sampling error."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "y"])
    results = fit_of("y ~ x", data, LinearRegression(), pi.Bootstrap(4))
    found = results.pfi()
    values = size * np.array([0.5, -1.0, 0.25])
    estimates = [
        Estimate(value=np.array([v]), rows=np.full((2, 1), v), mc_variance=np.zeros(1))
        for v in values
    ]
    refits = tuple(RefitEstimate(estimate, np.arange(2)) for estimate in estimates)
    replicates = Replicates.of(refits, correction=0.5)
    for share, expected in ((0.99e-12, 0.0), (1.01e-12, 1.01e-12 * size)):
        variance = Variance(
            cov=np.array([[(share * size) ** 2]]), df=3, cov_type="corrected", label="", note=""
        )
        one = replace(found, replicates=replicates, variance=variance)
        assert one.bse.iloc[0] == pytest.approx(expected, rel=1e-12)
        assert np.isnan(one.conf_int().to_numpy()).all() == (expected == 0)
        assert np.isnan(one.pvalues.iloc[0]) == (expected == 0)
        if expected:
            assert one.t_test("x = 0").sd[0] == pytest.approx(expected, rel=1e-12)
        else:
            with pytest.raises(InferenceError):
                one.t_test("x = 0")
