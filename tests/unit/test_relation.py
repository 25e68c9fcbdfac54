"""Differences and ratios: their null values, floors, units, and what is neither."""

import pytest
from fits import fit_of
from shared import normal_rows
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError

ASKED = {"pfi": {"loss": "absolute"}, "metric": {"metric": "rmse"}, "loco": {"loss": "absolute"}}


@pytest.fixture(scope="module")
def results():
    rng, data = normal_rows(60, "x z")
    data["y"] = 2 * data["x"] + rng.normal(size=60)
    return fit_of("y ~ x + z", data, LinearRegression(), pi.Subsampling(3))


def asked(results, name, relation):
    ask = results.loco if name == "loco" else results.pfi
    return ask("x", relation=relation, **ASKED[name])


@pytest.mark.parametrize("name", ASKED)
def test_no_importance_is_0_or_1(results, name):
    difference, ratio = (asked(results, name, r) for r in ("difference", "ratio"))
    for one, no_effect, unit in ((difference, 0.0, "y"), (ratio, 1.0, "")):
        assert one.null == (None if name == "loco" else no_effect)
        assert (one.estimand.parameter.no_effect, one.estimand.words.unit) == (no_effect, unit)
    assert difference.params["x"] > 0
    assert ratio.params["x"] > 1
    assert "ratio" in ratio.estimand.description
    assert "ratio" not in difference.estimand.description


@pytest.mark.parametrize("name", ASKED)
def test_what_is_neither_is_refused(results, name):
    with pytest.raises(OptionError, match="`relation` must be one of"):
        asked(results, name, "rato")


def test_metrics_have_10_permutations_by_default(results):
    found = [results.pfi("x", metric="rmse", **o) for o in ({}, {"permutations": 10})]
    assert found[0].params["x"] == found[1].params["x"]
