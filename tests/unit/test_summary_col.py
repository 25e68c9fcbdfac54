"""`summary_col` with results of statsmodels beside ours; frames of several results."""

import numpy as np
import pandas as pd  # noqa: F401 - of a formula
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from fits import fit_of
from pandas.testing import assert_frame_equal, assert_series_equal
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError

FORMULA = "progression ~ bmi + bp + s5"


@pytest.fixture(scope="module")
def data():
    frame = pi.datasets.load_diabetes()
    return frame.assign(high=(frame["progression"] > 140).astype(int))


@pytest.fixture(scope="module")
def fitted(data):
    return fit_of(FORMULA, data, LinearRegression(), pi.Subsampling(5))


@pytest.fixture(scope="module")
def models(data):
    X = sm.add_constant(data[["bmi", "bp"]])
    return {
        "OLS": smf.ols(FORMULA, data).fit(cov_type="HC3"),
        "GLM": sm.GLM(data["high"], X, family=sm.families.Binomial()).fit(),
        "Logit": smf.logit("high ~ bmi + bp", data).fit(disp=0),
        "arrays": sm.OLS(data["high"].to_numpy(), X.to_numpy()).fit(),
    }


def lines(table):
    """Return the cells of every term and of the line below it."""
    rows = [[str(cell.data).strip() for cell in row] for row in table.tables[0]][1:]
    return {rows[k][0]: (rows[k][1:], rows[k + 1][1:]) for k in range(0, len(rows), 2)}


def test_a_mapping_names_the_columns(fitted, models):
    named = pi.summary_col({"half": fitted.pfi(), "least squares": models["OLS"]})
    listed = pi.summary_col([fitted.pfi(), models["OLS"]], model_names=["half", "least squares"])
    assert str(named) == str(listed)
    headings = [str(cell.data).strip() for cell in named.tables[0][0]]
    assert headings[1:] == ["half", "least squares"]
    with pytest.raises(OptionError, match="`model_names` are the names in the mapping"):
        pi.summary_col({"one": fitted.pfi()}, model_names=["two"])
    with pytest.raises(OptionError, match="at least one result"):
        pi.summary_col({})


@pytest.mark.parametrize("name", ["OLS", "GLM", "Logit", "arrays"])
@pytest.mark.parametrize("stars", [False, True])
def test_numbers_and_stars_are_those_of_statsmodels(models, name, *, stars):
    model = models[name]
    names = model.model.data.param_names
    cells = lines(pi.summary_col(model, stars=stars))
    assert list(cells) == list(names)
    expected = zip(
        names,
        np.asarray(model.params),
        np.asarray(model.bse),
        np.asarray(model.pvalues),
        strict=True,
    )
    for term, estimate, error, p in expected:
        marks = "*" * sum(p < level for level in (0.1, 0.05, 0.01)) if stars else ""
        assert cells[term] == ([f"{estimate:.4f}{marks}"], [f"({error:.4f})"])


def test_terms_of_one_name_share_a_line_with_ours(fitted, models):
    ours = fitted.pfi()
    table = pi.summary_col([ours, models["OLS"]], float_format="%.2f")
    cells = lines(table)
    assert set(cells) == {"bmi", "bp", "s5", "Intercept"}
    assert cells["bmi"][0] == [f"{ours.params['bmi']:.2f}", f"{models['OLS'].params['bmi']:.2f}"]
    assert cells["Intercept"][0][0] == ""
    text = " ".join(str(table).split())
    assert "HC3" in text
    assert "Estimand PFI (squared error) coefficients" in text
    assert f"R², in sample {models['OLS'].rsquared:.3f}" in text
    assert "Numbers of OLS are coefficients, those of the others the estimand" in text


@pytest.mark.parametrize(
    ("chosen", "terms"),
    [
        ({"keep": ["s5", "bmi"]}, ["s5", "bmi"]),
        ({"drop": "C(sex)"}, ["Intercept", "bmi"]),
        ({"keep": "C(sex)", "drop": ["bmi"]}, ["C(sex)[T.2.0]"]),
        ({"keep": "bmj"}, "Can't find term 'bmj'.*Did you mean `bmi`"),
        ({"keep": "bmi", "drop": "bmi"}, "must leave a term"),
        ({"drop": 1}, "`drop` must be a name"),
    ],
)
def test_terms_are_kept_and_dropped(data, fitted, chosen, terms):
    columns = [smf.ols("progression ~ C(sex) + bmi", data).fit()]
    columns += [fitted.pfi()] if "s5" in chosen.get("keep", ()) else []
    if isinstance(terms, str):
        with pytest.raises(OptionError, match=terms):
            pi.summary_col(columns, **chosen)
    else:
        table = pi.summary_col(columns, **chosen)
        assert list(lines(table)) == terms
        assert "Not shown: " in str(table)


def test_exports_and_names_have_both(fitted, models):
    table = pi.summary_col([fitted.pfi(), models["OLS"]], model_names=["forest", "lm"], stars=True)
    for text in (str(table), table.as_latex(), table.to("markdown"), table.as_csv()):
        assert "forest" in text
    alone = pi.summary_col([models["OLS"], models["arrays"]])
    assert "OLS (1)" in str(alone)
    assert "Numbers of" not in str(alone)


def test_results_without_errors_and_of_several_equations_are_refused(data):
    several = smf.mnlogit("pd.qcut(bmi, 3, labels=False) ~ bp", data).fit(disp=0)
    with pytest.raises(OptionError, match="one coefficient per term, but MNLogit has 2"):
        pi.summary_col(several)
    shrunk = smf.ols(FORMULA, data).fit_regularized(alpha=0.1)
    with pytest.raises(OptionError, match=r"results of an estimand such as res\.pfi"):
        pi.summary_col(shrunk)
    with pytest.raises(OptionError, match=r"smf\.ols"):
        pi.summary_col([LinearRegression()])


def test_importances_and_curves_have_frames_like_single_results(fitted):
    both, pfi = fitted.importance(["pfi", "amvim"]), fitted.pfi()
    assert_frame_equal(both.conf_int(0.1)["pfi"], pfi.conf_int(0.1))
    assert_series_equal(both.pvalues["pfi"], pfi.pvalues, check_names=False)
    assert_series_equal(both.tvalues["pfi"], pfi.tvalues, check_names=False)
    expected = [result.estimand.description for result in both.results.values()]
    assert list(both.glance()["estimand"]) == expected
    assert list(both.tidy()["term"]) == [*pfi.params.index, *both["amvim"].params.index]
    curves = fitted.pd()
    assert list(curves.tidy()["term"]) == list(curves.params.index)
    assert len(curves.glance()) == len(curves)
    assert curves.conf_int().shape == (len(curves.params), 2)
