"""Comparisons of several results, of independent ones, and with practical equivalence."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, words_of
from numpy.testing import assert_allclose
from scipy import stats
from shared import normal_rows
from sklearn.linear_model import LinearRegression, Ridge

import pyinterp as pi
from pyinterp.errors import InferenceError, OptionError

N = 80
LINEAR = LinearRegression()


def data(seed):
    rng, x = normal_rows(N, "a b", seed)
    return x.assign(y=x["a"] + rng.normal(size=N))


def first_of(frame, seed=None):
    """The model that predicts the first variable."""
    X, y = frame[["a", "b"]].to_numpy(), frame["y"].to_numpy()
    return pi.FittedModel(lambda x: x[:, 0], X, y, seed=seed)


def fit(frame, model=LINEAR, formula="y ~ .", seed=1):
    return fit_of(formula, frame, model, seed=seed, resampling=pi.Subsampling(5))


@pytest.fixture(scope="module")
def three():
    frame = data(0)
    return {"lm": fit(frame), "ridge": fit(frame, Ridge(50)), "b": fit(frame, formula="y ~ b")}


def test_what_stands_beside_features_stands_beside_their_differences(three):
    """R²_j is not of the learner; the difference of one feature has the learners' names."""
    both, one = (
        pi.compare(*(three[name].cvim(terms) for name in ("lm", "ridge")))
        for terms in (["a", "b"], ["a"])
    )
    assert list(both.diagnostic.params.index) == ["a", "b"]
    assert "R²_j" in str(both.summary())
    assert one.diagnostic is None
    assert "R²_j" not in str(one.summary())


def test_the_draws_of_two_results_may_be_the_same(three):
    for permutations, known in (("all", True), (3, False)):
        two = [three[name].pfi(permutations=permutations) for name in ("lm", "ridge")]
        assert (pi.compare(two).mcse.eq(0) == known).all()
        assert (pi.compare(two).mcse.notna() == known).all()


def test_a_list_a_mapping_and_arguments_agree(three):
    several = list(three.values())
    mapping = pi.compare(three)
    for other in (pi.compare(several, names=list(three)), pi.compare(*several, names=list(three))):
        pd.testing.assert_series_equal(mapping.params, other.params)
    assert list(mapping.params.index) == ["lm - ridge", "lm - b"]


@pytest.mark.parametrize("reference", ["ridge", 1])
def test_all_others_are_subtracted_from_the_reference(three, reference):
    compared = pi.compare(three, reference=reference)
    first = pi.compare(three["ridge"], three["lm"], three["b"], names=["ridge", "lm", "b"])
    pd.testing.assert_series_equal(compared.params, first.params)
    pd.testing.assert_series_equal(compared.bse, first.bse)


def test_all_pairs_are_those_of_two_with_multiplicity(three):
    compared = pi.compare(three, contrasts="all")
    assert list(compared.params.index) == ["lm - ridge", "lm - b", "ridge - b"]
    two = pi.compare(three["ridge"], three["b"])
    assert compared.params.iloc[2] == pytest.approx(two.params.iloc[0], rel=1e-12)
    assert compared.bse.iloc[2] == pytest.approx(two.bse.iloc[0], rel=1e-12)
    adjusted = pi.compare(three, contrasts="all", p_adjust="bonferroni")
    assert_allclose(adjusted.pvalues, np.minimum(3 * compared.pvalues, 1))
    joint = pi.compare(three, contrasts="all", simultaneous=True).conf_int()
    assert (joint[1] - joint[0] > compared.conf_int()[1] - compared.conf_int()[0]).all()


def test_metrics_are_compared_with_their_sign(three):
    compared = pi.compare(three, metric="rsq_trad")
    assert compared.params["lm - b"] > 0
    assert "positive: lm predicts better" in compared.estimand.words.meaning
    assert "negative: lm" in pi.compare(three, metric="rmse").estimand.words.meaning
    difference = (
        three["lm"].metric("rmse").params["rmse"] - three["b"].metric("rmse").params["rmse"]
    )
    assert pi.compare(three, metric="rmse").params["lm - b"] == pytest.approx(difference)


def test_independent_results_have_welchs_test():
    samples = [data(1), data(2).iloc[:50]]
    losses = [np.square(s["y"] - s["a"]).to_numpy() for s in samples]
    models = [first_of(sample) for sample in samples]
    compared = pi.compare(models, paired=False, names=["one", "two"])
    welch = stats.ttest_ind(*losses, equal_var=False)
    assert compared.tvalues.iloc[0] == pytest.approx(welch.statistic, rel=1e-10)
    assert compared.df_resid == pytest.approx(welch.df, rel=1e-10)
    assert compared.pvalues.iloc[0] == pytest.approx(welch.pvalue, rel=1e-8)
    limits = welch.confidence_interval()
    assert_allclose(compared.conf_int().iloc[0], [limits.low, limits.high], rtol=1e-8)
    with pytest.raises(InferenceError, match="no contribution"):
        compared.row_frame()
    with pytest.raises(InferenceError, match=r"paired=False"):
        pi.compare(models)


def test_several_independent_differences_have_a_joint_covariance():
    fits = [fit(data(k)) for k in range(3)]
    compared = pi.compare(fits, paired=False, contrasts="all", simultaneous=True)
    v = [f.loss().cov_params().iloc[0, 0] for f in fits]
    expected = [[v[0] + v[1], v[0], -v[1]], [v[0], v[0] + v[2], v[2]], [-v[1], v[2], v[1] + v[2]]]
    assert_allclose(compared.cov_params(), expected, rtol=1e-12)
    terms = pi.compare([f.pfi() for f in fits[:2]], paired=False)
    one, two = (f.pfi().params.to_numpy() for f in fits[:2])
    assert_allclose(terms.params, one - two)


def test_dependent_results_are_not_compared_as_independent():
    sample = data(1)
    one, again = fit(sample), fit(sample, seed=9)
    other = fit(sample[["y", "a"]], seed=9)  # fewer columns of the same rows
    model, first = first_of(sample), np.arange(N) < 40
    for pair in (
        (one, again),
        (one, other),
        (one.pfi("a"), again.pfi("a")),
        (one, fit(sample.sample(frac=1, random_state=0), seed=9)),
        (one, fit(sample.sample(frac=0.7, random_state=0), seed=9)),
        (model.loss(), model.loss(rows=first)),
    ):
        with pytest.raises(InferenceError, match="rest on the same data"):
            pi.compare(*pair, paired=False)
    # Rows of a few values repeat by accident.
    few = [data(k).round(0)[["y", "a"]].clip(0, 1) for k in (1, 2)]
    pi.compare(*(fit(frame) for frame in few), paired=False)
    with pytest.raises(InferenceError, match="with the same terms can be compared; these have a"):
        pi.compare(one.pfi(), other.pfi(), paired=False)
    with pytest.raises(InferenceError, match="same resamples"):
        pi.compare(model, model, paired=False)
    parts = pi.compare(model.loss(rows=first), model.loss(rows=~first), paired=False)
    errors = np.square(sample["y"] - sample["a"])
    welch = stats.ttest_ind(errors[first], errors[~first], equal_var=False)
    assert parts.tvalues.iloc[0] == pytest.approx(welch.statistic, rel=1e-10)


def test_headers_of_independent_results_have_both_sides():
    one = fit(data(1), seed=3)
    other = fit(data(2).iloc[:50], seed=8)
    compared = pi.compare(one, other, paired=False, names=["big", "small"])
    text = words_of(compared)
    for words in (
        f"Groups, rows: big: {N}, small: 50",
        f"No. observations: {N + 50} ",
        "Seed: 3 / 8",
    ):
        assert words in text
    assert "Train / evaluation" not in text  # of one side only
    assert compared.glance()["nobs"].iloc[0] == N + 50


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reference": "svm"}, "`reference` must be one of"),
        ({"reference": 3}, "`reference` must be a whole number"),
        ({"contrasts": "both"}, "`contrasts` must be one of"),
        ({"contrasts": "all", "reference": 1}, "with all pairs there is none"),
        ({"paired": False}, "same resamples"),
        ({"loss": "squared", "metric": "rmse"}, "not both"),
        ({"names": ["a", "b", "c"]}, "not both"),
    ],
)
def test_wrong_comparisons_are_refused(three, options, said):
    with pytest.raises((OptionError, InferenceError), match=said):
        pi.compare(three, **options)


@pytest.mark.calibration
def test_the_unpaired_test_holds_its_size():
    rng, times, rejected = np.random.default_rng(5), 1000, 0
    for _ in range(times):
        models = []
        for n, scale in ((40, 0.2), (80, 3.0)):  # what is equal is the loss, not its distribution
            x = rng.normal(size=(n, 1))
            y = x[:, 0] * scale + rng.normal(size=n)
            models.append(pi.FittedModel(lambda z, s=scale: s * z[:, 0], x, y))
        compared = pi.compare(models, paired=False, names=["one", "two"], metric="mae")
        rejected += compared.pvalues.iloc[0] < 0.05
    assert 0.03 <= rejected / times <= 0.07
