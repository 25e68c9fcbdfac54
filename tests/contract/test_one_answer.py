"""Tables, frames, files, hypotheses and plots give one answer, under every option."""

import io
import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.inference.intervals import METHODS

SAME = 1e-12
DATA = pi.datasets.load_diabetes()[:200]
FORMULA = "progression ~ age + sex + bmi + bp"
PLANS = {
    "half-sample": pi.HalfSampling(6, pairs=6),
    "corrected": pi.Bootstrap(6),
    "bootstrap": pi.NestedBootstrap(60, splits=2),
}
COV_TYPES = {
    "half-sample": "half-sample",
    "corrected": "corrected",
    "naive": "corrected",
    "bootstrap": "bootstrap",
    "ustat": "model",
    "rows": "model",
}
MULTIPLICITY = [
    {},
    {"simultaneous": True},
    {"p_adjust": "bonferroni"},
    {"p_adjust": "sidak"},
    {"p_adjust": "holm"},
    {"p_adjust": "fdr_bh"},
]
EVERY = [
    {"cov_type": cov_type, "alternative": side, **many}
    for cov_type, side, many in itertools.product(
        COV_TYPES, ("two-sided", "greater", "less"), MULTIPLICITY
    )
]

# Every fifth in `make test`, all in `make torture`.
OPTIONS = [
    pytest.param(options, marks=() if k % 5 == 0 else pytest.mark.torture)
    for k, options in enumerate(EVERY)
]


@cache
def analysis(plan):
    if plan == "model":
        model = LinearRegression().fit(DATA[["age", "sex", "bmi", "bp"]], DATA["progression"])
        return pi.FittedModel(model, DATA[["age", "sex", "bmi", "bp"]], DATA["progression"])
    learner = pi.Learner.from_formula(FORMULA, DATA, LinearRegression())
    return learner.fit(PLANS[plan], seed=1)


def ask(options, estimand="pfi"):
    chosen = analysis(COV_TYPES[options["cov_type"]])
    if estimand == "pd":
        return chosen.pd("bmi", grid=[20.0, 25.0, 30.0], **options)
    return getattr(chosen, estimand)(**options)


def table(result, alpha):
    """The second block of the CSV: what is printed, as text."""
    lines = result.summary(alpha, sort=False).as_csv().splitlines()
    start = next(i for i, line in enumerate(lines) if "std err" in line)
    rows = lines[start : start + 1 + len(result.params)]
    return pd.read_csv(io.StringIO("\n".join(rows)), index_col=0)


def named(options):
    return "-".join(map(str, options.values()))


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_frames_and_hypotheses_give_one_answer(options):
    result, alpha = ask(options), 0.05 if options["alternative"] == "less" else 0.2
    frame = result.summary_frame(alpha)
    limits = result.conf_int(alpha).to_numpy()
    assert_array_equal(frame[["conf_low", "conf_high"]], limits)
    assert_array_equal(frame["statistic"], result.tvalues)
    assert_array_equal(frame["p_value"], result.pvalues)
    pd.testing.assert_frame_equal(result.tidy(alpha).set_index("term"), frame)
    # Hypotheses about single terms, written in each way.
    terms = list(frame.index)
    for hypotheses in (
        ", ".join(f"{term} = 0" for term in terms),
        [f"{term} = 0" for term in terms],
        np.eye(len(terms)),
        (np.eye(len(terms)), np.zeros(len(terms))),
        dict.fromkeys(terms, 0.0),
        [f"2*{term} = 0" for term in terms],
    ):
        tested = result.t_test(hypotheses)
        assert_allclose(tested.tvalue, frame["statistic"], rtol=SAME)
        assert_allclose(tested.pvalue, frame["p_value"], rtol=SAME)
        factor = tested.effect / frame["estimate"].to_numpy()
        assert_allclose(tested.conf_int(alpha) / factor[:, None], limits, rtol=SAME)
    for j, term in enumerate(terms):
        one = result.t_test(f"{term} = 0")
        assert_allclose(one.pvalue, frame["p_value"].iloc[j], rtol=SAME)
        assert_allclose(one.conf_int(alpha).iloc[0], limits[j], rtol=SAME)


@pytest.mark.parametrize("options", EVERY[::10], ids=named)
def test_what_is_printed_and_drawn_is_the_same_answer(options):
    result, alpha = ask(options), 0.1
    frame, terms = result.summary_frame(alpha), list(result.params.index)
    limits = result.conf_int(alpha).to_numpy()
    printed = table(result, alpha)
    assert list(printed.index) == terms
    p_column = next(c for c in printed if c in ("P", "adj. P") or c[:2] in ("P>", "P<"))
    small = frame["p_value"] < 0.0005
    assert (printed[p_column].astype(str) == "<0.001").equals(small)
    p = pd.to_numeric(printed[p_column].astype(str).str.strip("<"))
    assert_allclose(p[~small], frame["p_value"][~small], atol=6e-4)
    if "t" in printed:
        assert_allclose(printed["t"], frame["statistic"], atol=6e-4)
    drawn = result.plot(alpha).data.set_index("term").loc[terms]
    assert_array_equal(drawn[["conf_low", "conf_high"]], limits)
    stars = pi.summary_col([result], stars=True).as_text()
    for term, p in frame["p_value"].items():
        line = next(line for line in stars.splitlines() if line.startswith(f"{term} "))
        assert line.count("*") == sum(p < level for level in (0.1, 0.05, 0.01))


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_what_is_printed_side_by_side_fits_together(options):
    result = ask(options)
    frame = result.summary_frame()
    assert (frame["std_error_null"] > 0).all()
    if options["cov_type"].startswith("bootstrap"):
        assert frame["statistic"].isna().all()  # P is no tail area of it
    else:
        assert_allclose(frame["statistic"], frame["estimate"] / frame["std_error_null"], rtol=SAME)
    differs = not np.allclose(frame["std_error"], frame["std_error_null"])
    single = "simultaneous" not in options and "p_adjust" not in options
    if single and options["cov_type"] == "half-sample":  # a square has no sign: P is not halved
        t = frame["statistic"]
        both = 2 * stats.t.sf(np.abs(t), result.df_resid)
        counts = {"two-sided": t.notna(), "greater": t > 0, "less": t < 0}[options["alternative"]]
        assert_allclose(frame["p_value"], np.where(counts, both, 1.0), rtol=1e-9)
    elif single and not options["cov_type"].startswith("bootstrap"):
        df = result.df_resid
        tails = {
            "two-sided": 2 * stats.t.sf(np.abs(frame["statistic"]), df),
            "greater": stats.t.sf(frame["statistic"], df),
            "less": stats.t.cdf(frame["statistic"], df),
        }
        assert_allclose(frame["p_value"], tails[options["alternative"]], rtol=1e-9)
    if single and options["alternative"] == "two-sided" and not differs:
        reach = stats.t.isf(0.025, result.df_resid) * frame["std_error"]
        if not options["cov_type"].startswith("bootstrap"):
            assert_allclose(frame["conf_low"], frame["estimate"] - reach, rtol=1e-9)
            assert_allclose(frame["conf_high"], frame["estimate"] + reach, rtol=1e-9)


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_p_and_interval_agree_or_say_that_they_do_not(options):
    result = ask(options)
    apart = options.get("p_adjust") in ("holm", "fdr_bh")
    for alpha in (0.001, 0.01, 0.05, 0.1, 0.2, 0.5):
        limits = result.conf_int(alpha)
        excluded = (limits[0] > 0) | (limits[1] < 0)
        rejected = result.pvalues < alpha
        if not apart:
            assert excluded.equals(rejected)
        else:
            assert (excluded | ~rejected).all()  # an adjusted test rejects no more
    said = "may exclude a value that the adjusted test does not reject"
    assert (said in " ".join(str(result.summary()).split())) == apart


@pytest.mark.parametrize("options", EVERY[::7], ids=named)
def test_hypotheses_of_a_curve_have_its_intervals(options):
    curve = ask(options, "pd")
    tested = curve.t_test(np.eye(3))
    assert_allclose(tested.conf_int(), curve.conf_int(), rtol=SAME)
    # The value at the end of the interval is on the edge of being rejected.
    side = 0 if options["alternative"] != "less" else 1
    edge = curve.conf_int(0.2)[side].to_numpy()
    assert curve.has_test == (options["cov_type"] not in ("rows", "ustat"))
    if (
        curve.has_test
        and np.isfinite(edge).all()
        and options.get("p_adjust") not in ("holm", "fdr_bh")
    ):
        assert_allclose(curve.t_test((np.eye(3), edge)).pvalue, 0.2, atol=2e-4)


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("method", ["bonferroni", "holm", "fdr_by", None])
def test_contrasts_of_several_terms_are_adjusted_among_each_other(side, method):
    result = ask({"cov_type": "half-sample", "alternative": side, "p_adjust": method})
    tested = result.t_test("bmi = bp, bmi = age, bmi = 0, bp - age = 100")
    single = ask({"cov_type": "half-sample", "alternative": side}).t_test(
        "bmi = bp, bmi = age, bp - age = 100"
    )
    df = result.df_resid
    # A standard error for each side, that of the hypothesis: by the 95% limits of both sides.
    both = ask({"cov_type": "half-sample"}).t_test("bmi = bp, bmi = age, bp - age = 100")
    away = single.effect - [0, 0, 100]
    reach = np.where(
        away > 0, single.effect - both.conf_int()[0], both.conf_int()[1] - single.effect
    )
    assert_allclose(single.tvalue, away * stats.t.isf(0.025, df) / reach, rtol=1e-9)
    raw = {
        "two-sided": 2 * stats.t.sf(np.abs(single.tvalue), df),
        "greater": stats.t.sf(single.tvalue, df),
        "less": stats.t.cdf(single.tvalue, df),
    }[side]
    assert_allclose(single.pvalue, raw, rtol=1e-9)
    if method is not None:
        from statsmodels.stats.multitest import multipletests

        adjusted = multipletests(raw, method=method)[1]
        assert_allclose(np.delete(tested.pvalue, 2), adjusted, rtol=1e-9)
        assert tested.pvalue[2] == pytest.approx(result.pvalues["bmi"], rel=1e-9)
        assert "others among each other" in " ".join(str(tested.summary()).split())


@pytest.mark.parametrize("side", ["greater", "less"])
def test_a_negative_weight_turns_the_alternative(side):
    result = ask({"cov_type": "half-sample", "alternative": side})
    other = "less" if side == "greater" else "greater"
    turned = ask({"cov_type": "half-sample", "alternative": other})
    tested = result.t_test("-1*bmi = -2000")
    expected = turned.t_test("bmi = 2000")
    assert tested.pvalue == pytest.approx(float(expected.pvalue))
    assert tested.tvalue[0] == pytest.approx(-expected.tvalue[0])
    assert_allclose(tested.conf_int(), -expected.conf_int()[[1, 0]])


def test_simultaneous_intervals_have_p_values_of_their_own():
    with pytest.raises(OptionError, match="Give `simultaneous` or `p_adjust`, not both"):
        ask({"cov_type": "half-sample", "simultaneous": True, "p_adjust": "holm"})
    for cov_type in ("half-sample", "corrected", "bootstrap", "ustat"):
        single = ask({"cov_type": cov_type})
        joint = ask({"cov_type": cov_type, "simultaneous": True})
        assert (joint.pvalues >= single.pvalues).all()
        if cov_type != "bootstrap":  # whose joint intervals are of another kind, not percentiles
            assert (joint.pvalues <= np.minimum(4 * single.pvalues, 1) + 1e-12).all()


@pytest.mark.parametrize("method", sorted(set(METHODS.values())))
def test_every_method_of_adjustment(method):
    adjusted = ask({"cov_type": "half-sample", "p_adjust": method})
    assert adjusted.pvalues.between(0, 1).all()
    from statsmodels.stats.multitest import multipletests

    raw = ask({"cov_type": "half-sample"}).pvalues
    assert_allclose(
        adjusted.pvalues, multipletests(raw.clip(upper=1 - 1e-16), method=method)[1], rtol=1e-9
    )


def test_a_limit_beyond_all_bootstraps_is_not_printed_but_explained():
    learner = pi.Learner.from_formula(FORMULA, DATA, LinearRegression())
    few = learner.fit(pi.NestedBootstrap(10, splits=2), seed=1).pfi()
    assert np.isinf(few.conf_int()).all(axis=None)
    text = " ".join(str(few.summary()).split())
    assert "inf" not in text
    assert "it lies beyond all 10 bootstrap means; draw more bootstrap samples." in text


@pytest.mark.parametrize("alpha", [1e-300, 1e-17, 1 - 1e-12])
@pytest.mark.parametrize("cov_type", ["half-sample", "corrected", "ustat"])
def test_extreme_levels(cov_type, alpha):
    for estimand in ("pfi", "pd"):
        limits = ask({"cov_type": cov_type}, estimand).conf_int(alpha)
        params = ask({"cov_type": cov_type}, estimand).params
        assert (limits[0] <= params).all()
        assert (limits[1] >= params).all()


@pytest.mark.parametrize("number", [20, 30, 60])
def test_joint_inference_of_bootstraps_is_no_sharper_than_that_of_single_terms(number):
    learner = pi.Learner.from_formula(FORMULA, DATA, LinearRegression())
    fitted = learner.fit(pi.NestedBootstrap(number, splits=2), seed=1)
    single, joint = fitted.pfi(), fitted.pfi(simultaneous=True)
    assert (joint.pvalues >= single.pvalues).all()
    assert (joint.conf_int()[0] <= single.conf_int()[0]).all()
    assert (joint.conf_int()[1] >= single.conf_int()[1]).all()


def test_one_sided_hypotheses_have_the_heading_of_the_table():
    results = ask({"cov_type": "half-sample", "alternative": "greater"})
    for hypotheses, low in (
        ("bmi = 0", "[0.025"),
        ("bmi = bp", "[0.05"),
        ("bmi = 0, bmi = bp", "[0.05"),
    ):
        text = str(results.t_test(hypotheses).summary())
        assert f"{low} " in text
        assert "One-sided: the alternative is greater." in text


def test_stars_say_what_p_values_they_are():
    results = [ask({"cov_type": "half-sample"}),
               ask({"cov_type": "half-sample", "p_adjust": "holm"})]  # fmt: skip
    text = pi.summary_col(results, stars=True, model_names=["plain", "holm"]).as_text()
    words = "Stars use the s.e. at no effect, not those in parentheses. holm: P is adjusted (holm)"
    assert words in " ".join(text.split())
