"""Binomial models of statsmodels that were fitted to shares: their own `predict`, by trials."""

import numpy as np
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from shared import normal_rows

import pyinterp as pi
from pyinterp.errors import DataError, LossError, OptionError

SAME = 1e-10  # as asked of naive loops over `predict`
N = 40
BINOMIAL = sm.families.Binomial()

rng, DATA = normal_rows(N, "a b", 3)
DATA["trials"] = rng.integers(2, 12, N)
DATA["yes"] = rng.binomial(DATA.trials, 1 / (1 + np.exp(-DATA.a - DATA.b / 2)))
DATA["no"] = DATA.trials - DATA.yes
DATA["share"] = DATA.yes / DATA.trials
SHARE, TRIALS = DATA.share.to_numpy(), DATA.trials.to_numpy(float)
X = DATA[["a", "b"]]


def _formula(code):
    return smf.glm(code, DATA, family=BINOMIAL).fit()


MODELS = {
    "sum": lambda: _formula("yes + no ~ a + b"),
    "two columns of a formula": lambda: _formula("np.column_stack((yes, no)) ~ a * b"),
    "frame": lambda: sm.GLM(DATA[["yes", "no"]], X, family=BINOMIAL).fit(),
    "array": lambda: sm.GLM(DATA[["yes", "no"]].to_numpy(), X, family=BINOMIAL).fit(),
    "share": lambda: _formula("share ~ a + b"),
    "fractional logit": lambda: smf.logit("share ~ a", DATA).fit(disp=0),
    "probit": lambda: smf.glm(
        "yes + no ~ a", DATA, family=sm.families.Binomial(sm.families.links.Probit())
    ).fit(),
}


@pytest.fixture(params=list(MODELS))
def glm(request):
    return MODELS[request.param]()


def predict(glm, rows):
    return np.asarray(glm.predict(rows if hasattr(glm.model, "formula") else rows[["a", "b"]]))


def rows_of(glm):
    return DATA if hasattr(glm.model, "formula") else X


def deviance(y, p):
    """Return minus twice the log likelihood of a trial, less that of the saturated model."""
    total = np.zeros(len(y))
    for i in range(len(y)):
        for share, chance in ((y[i], p[i]), (1 - y[i], 1 - p[i])):
            total[i] += 2 * share * np.log(share / chance) if share > 0 else 0.0
    return total


def with_trials(glm):
    rows = rows_of(glm)
    return pi.FittedModel(glm, rows, SHARE, weights=TRIALS, weights_type="sampling")


def test_effects_are_those_of_its_own_predict(glm):
    grid = [-1.0, 0.0, 1.0]
    curve = [predict(glm, DATA.assign(a=value)).mean() for value in grid]
    model = pi.FittedModel(glm, rows_of(glm))
    assert list(model.pd("a", grid=grid).params) == pytest.approx(curve, abs=SAME)
    weighted = [np.average(predict(glm, DATA.assign(a=v)), weights=TRIALS) for v in grid]
    assert list(with_trials(glm).pd("a", grid=grid).params) == pytest.approx(weighted, abs=SAME)
    assert "class" not in str(model.pd("a", grid=grid).summary())


def test_the_marginal_effect_is_that_of_get_margeff():
    glm = MODELS["sum"]()
    beta = glm.params.to_numpy()
    p = predict(glm, DATA)
    slopes = [(p * (1 - p)).mean() * b for b in beta[1:]]
    ame = pi.FittedModel(glm, DATA).ame()
    assert list(ame.params) == pytest.approx(slopes, rel=1e-6)  # differences, not derivatives


def test_the_loss_is_binomial_and_counts_trials(glm):
    model = with_trials(glm)
    naive = np.average(deviance(SHARE, predict(glm, DATA)), weights=TRIALS)
    result = model.loss()
    assert result.params.iloc[0] == pytest.approx(naive, abs=SAME)
    assert "binomial deviance" in str(result.summary())


def test_the_loss_is_the_deviance_that_statsmodels_reports():
    glm = MODELS["sum"]()
    assert with_trials(glm).loss().params.iloc[0] * TRIALS.sum() == pytest.approx(glm.deviance)


def test_importance_is_that_over_all_pairs_of_different_rows(glm):
    """Donors of a row are all others, each as often as it has trials."""
    base = np.average(deviance(SHARE, predict(glm, DATA)), weights=TRIALS)
    moved = np.zeros(N)
    for shift in range(1, N):
        index = np.roll(np.arange(N), shift)
        switched = predict(glm, DATA.assign(a=DATA.a.to_numpy()[index]))
        moved += TRIALS[index] * deviance(SHARE, switched) / (TRIALS.sum() - TRIALS)
    naive = np.average(moved, weights=TRIALS) - base
    pfi = with_trials(glm).pfi("a", permutations="all").params.iloc[0]
    assert pfi == pytest.approx(naive, abs=SAME)


def test_an_offset_is_kept():
    glm = smf.glm("yes + no ~ a", DATA, family=BINOMIAL, offset=DATA.b / 3).fit()
    model = pi.FittedModel(
        glm, DATA, SHARE, offset=DATA.b / 3, weights=TRIALS, weights_type="sampling"
    )
    p = np.asarray(glm.predict(DATA, offset=DATA.b / 3))
    naive = np.average(deviance(SHARE, p), weights=TRIALS)
    assert model.loss().params.iloc[0] == pytest.approx(naive, abs=SAME)


def test_a_response_of_two_levels_keeps_its_classes():
    data = DATA.assign(said=np.where(SHARE > 0.5, "yes", "no"))
    glm = smf.glm("said ~ a + b", data, family=BINOMIAL).fit()
    model = pi.FittedModel(glm, data, "said")
    assert model.analysis.problem.predictor.classes == ("yes", "no")


def test_single_trials_in_two_columns_are_shares_too():
    data = DATA.assign(yes=(SHARE > 0.5).astype(int)).eval("no = 1 - yes")
    glm = smf.glm("yes + no ~ a", data, family=BINOMIAL).fit()
    naive = np.asarray(glm.predict(data.assign(a=1.0))).mean()
    for _ in range(2):
        curve = pi.FittedModel(glm, data).pd("a", grid=[1.0]).params
        assert list(curve) == pytest.approx([naive], abs=SAME)
        glm.remove_data()


def test_what_is_no_share_is_refused():
    glm = MODELS["sum"]()
    with pytest.raises(DataError, match="must be between 0 and 1, but `y` is 2 in some row; pass"):
        pi.FittedModel(glm, DATA, SHARE * 0 + 2, weights=TRIALS, weights_type="sampling")
    for weights in {}, {"weights": TRIALS, "weights_type": "frequency"}:
        with pytest.raises(OptionError, match=r"must weigh rows by trials; pass `weights=`"):
            pi.FittedModel(glm, DATA, SHARE, **weights)
    with pytest.raises(DataError, match="fitted to `yes \\+ no`, not to `yes`"):
        pi.FittedModel(glm, DATA, "yes")
    with pytest.raises(OptionError, match="predicts numbers"):
        pi.FittedModel(glm, DATA, classes=["no", "yes"])
    with pytest.raises(LossError, match="needs a classifier"):
        with_trials(glm).loss("zero_one")


def test_a_regression_that_leaves_the_unit_interval_has_no_binomial_deviance():
    line = sm.OLS(10 * SHARE, sm.add_constant(X)).fit()
    model = pi.FittedModel(line, sm.add_constant(X), SHARE)
    with pytest.raises(LossError, match="responses and predictions must be between 0 and 1"):
        model.loss("binomial")
