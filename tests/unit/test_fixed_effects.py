"""Levels that lie within clusters: what the error says, what its remedies find, what tables say."""

import numpy as np
import pandas as pd
import pytest
from fits import fit_of, words_of
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import RefitError

FIRMS, YEARS = 40, 8


@pytest.fixture(scope="module")
def panel():
    rng = np.random.default_rng(1)
    firm = np.repeat(np.arange(FIRMS), YEARS)
    data = pd.DataFrame({"firm": [f"F{i}" for i in firm], "x": rng.normal(size=len(firm))})
    return data.assign(y=2 * rng.normal(size=FIRMS)[firm] + data.x + rng.normal(size=len(firm)))


def clusters_of(count):
    rng = np.random.default_rng(1)
    block = np.repeat(np.arange(count), 20)
    data = pd.DataFrame({"block": block, "x": rng.normal(size=len(block))})
    return data.assign(y=data.x + rng.normal(size=count)[block] + rng.normal(size=len(block)))


@pytest.mark.parametrize("formula", ["y ~ x + C(firm)", "y ~ x * firm"])
@pytest.mark.parametrize(
    "plan", [pi.HalfSampling(5, pairs=5, cluster="firm"), pi.CrossValidation(4, cluster="firm")]
)
def test_the_error_says_what_to_do_with_fixed_effects(panel, formula, plan):
    said = "Levels lie within clusters.*Subtract the means of its level.*or draw within levels"
    with pytest.raises(RefitError, match=said) as caught:
        fit_of(formula, panel, LinearRegression(), plan)
    assert "allow" not in str(caught.value)


def test_both_remedies_work(panel):
    within = panel.assign(
        **{name: panel[name] - panel.groupby("firm")[name].transform("mean") for name in "xy"}
    )
    plans = pi.HalfSampling(5, pairs=5, cluster="firm"), pi.Bootstrap(5, strata="firm")
    of_means = fit_of("y ~ x", within, LinearRegression(), plans[0])
    of_levels = fit_of("y ~ x + C(firm)", panel, LinearRegression(), plans[1])
    for res in (of_means, of_levels):
        assert 0.8 < float(res.ame("x").params.iloc[0]) < 1.2
        assert "reference level" not in words_of(res.pfi())


def test_rare_levels_keep_their_remedy(panel):
    rare = panel.assign(g=np.where(np.arange(len(panel)) == 3, "rare", "often"))
    with pytest.raises(RefitError, match=r"Merge rare levels.*allow"):
        fit_of("y ~ x + g", rare, LinearRegression(), pi.CrossValidation(4, cluster="firm"))


def test_rows_treated_as_the_reference_level_are_counted(panel):
    plan = pi.CrossValidation(4, cluster="firm")
    res = fit_of("y ~ x + C(firm)", panel, LinearRegression(), plan, unseen_levels="allow")
    said = words_of(res.pfi())
    assert "320 of 320 evaluation rows of all refits have a level of C(firm)" in said
    assert "Subtract the means" in said
    assert "never used" not in said
    assert said == words_of(
        fit_of(
            "y ~ x + C(firm)", panel, LinearRegression(), plan, unseen_levels="allow",
            keep_models=False, measure="pfi",
        ).pfi()
    )  # fmt: skip
    rare = panel.assign(g=np.where(np.arange(len(panel)) == 3, "rare", "often"))
    res = fit_of("y ~ x + g", rare, LinearRegression(), plan, unseen_levels="allow")
    said = words_of(res.pfi())
    assert "1 of 320 evaluation rows of all refits have a level of g that" in said
    assert "Subtract" not in said
    res = fit_of("y ~ x + g", rare[3:], LinearRegression(), plan, unseen_levels="allow")
    assert "reference level" in words_of(res.pfi())
    res = fit_of("y ~ x", rare, LinearRegression(), plan, unseen_levels="allow")
    assert "reference level" not in words_of(res.pfi())


def test_a_constant_feature_is_not_called_unused(panel):
    data = panel.assign(g=np.where(panel.x > 0, "up", "down"))
    data["y"] += 3 * (data.g == "up")
    res = fit_of("y ~ x + g", data, LinearRegression(), pi.Subsampling(3))
    assert float(res.pfi("g").params.iloc[0]) > 1
    some = words_of(res.pfi("g", rows="x > 0"))
    assert "never used" not in some
    assert "in no refit do predictions of evaluation rows change with it" in some


@pytest.mark.parametrize("count", [3, 8, 11])
@pytest.mark.parametrize(
    "plan",
    [pi.Bootstrap, pi.Subsampling, lambda _, cluster: pi.CrossValidation(3, cluster=cluster)],
)
def test_few_clusters_have_no_intervals(count, plan):
    res = fit_of("y ~ x", clusters_of(count), LinearRegression(), plan(8, cluster="block"))
    for one in (res.pfi(), res.loss(), res.pd("x", points=2), res.pfi(cov_type="naive")):
        said = f"there are {count} clusters, and with fewer than 12 intervals are too narrow"
        assert said in words_of(one)
        assert one.bse.isna().all()
    assert said in words_of(res.compare(res) if hasattr(res, "compare") else pi.compare(res, res))


def test_enough_clusters_have_no_warning():
    plan = pi.Bootstrap(8, cluster="block")
    res = fit_of("y ~ x", clusters_of(12), LinearRegression(), plan)
    assert "too narrow" not in words_of(res.pfi())
