"""The calls of pdp, vip and hstats end to end, wherever there is R.

Where these packages are absent, as in CI, stand-ins of our own take their places: by brute force
from numpy.testing import assert_allclose
from the definitions, in a library of their own and in a process of their own. What R's packages
really say is in the tests that call them live, and in `tests/reference`.
Tolerance: means of the same predictions differ by rounding alone.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SOURCES = Path(__file__).parent / "stand_ins"

BEGIN = """
import warnings
import numpy as np, pandas as pd, pyinterp as pi, r_bridge
from pyinterp import r_style
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
warnings.simplefilter("error")
rng = np.random.default_rng(3)
n = 30
X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.uniform(size=n), "k": rng.integers(0, 5, n)})
y = pd.Series(X.a * X.b + X.k, name="y")
two = pd.Series(np.where(y > y.median(), "yes", "no"), name="c")
three = pd.Series(pd.cut(y, 3, labels=["lo", "mid", "hi"]).astype(str), name="c")
data = X.assign(y=y, f=pd.Categorical(rng.choice(["u", "v", "w"], n), categories=["w", "v", "u"]))
forest = RandomForestRegressor(5, random_state=0).fit(X, y)
fitted = pi.FittedModel(forest, X, y)
logistic = LogisticRegression().fit(X, two)
classes = pi.FittedModel(logistic, X, two)
several = pi.FittedModel(LogisticRegression(max_iter=500).fit(X, three), X, three)
small = RandomForestRegressor(3, random_state=0)
learner = pi.Learner.from_formula("y ~ a * b + k + f", data, small)
def check(found):
    text = str(found.summary())
    assert "Largest difference:" in text, text
    assert found.max_abs_diff < 1e-10, text
    assert len(found.frame) and found.frame["difference"].notna().all(), text
    return found
def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}: {words}")
"""


CODES = {
    # Of numbers, a factor, classes on every scale, and a learner's refits.
    "curves": """
found = check(r_bridge.compare(fitted, "pdp"))
assert found.frame["feature"].unique().tolist() == ["a", "b", "k"]
assert found.frame["feature"].value_counts()["k"] == 5
curves = learner.fit_model()
check(r_bridge.compare(curves, "pdp", ["f", "a"], quantiles=True))
assert r_bridge.partial(curves, None, "f")["f"].tolist() == ["w", "v", "u"]
for options in ({}, {"which_class": 2}, {"prob": True}, {"type": "regression", "which_class": 2},
                {"type": "regression", "inv_link": np.exp}):
    check(r_bridge.compare(classes, "pdp", ["a"], grid_resolution=4, **options))
for k in (1, 2, 3):
    check(r_bridge.compare(several, "pdp", ["a"], grid_resolution=4, which_class=k))
import statsmodels.api as sm, statsmodels.formula.api as smf
table = data.assign(e=(X.k + np.resize([-2, 0, 2], n) > 2).astype(int))
table["c"] = np.where(table.e == 1, "yes", "no")
glm = pi.FittedModel(smf.logit("e ~ k", table).fit(disp=False), table, "e")
refits = pi.Learner.from_formula(
    "c ~ k", table, pi.statsmodels_learner(sm.GLM, family=sm.families.Binomial()))
for event in (glm, refits.fit_model(), refits.fit(pi.Bootstrap(2), seed=1, progress=False)):
    found = check(r_bridge.compare(event, "pdp", ["k"], prob=True))
    assert found.frame["r"].is_monotonic_increasing  # the probability of the event
refits = learner.fit(pi.Bootstrap(2), seed=1, progress=False)
assert "mean of 2 refits" in str(check(r_bridge.compare(refits, "pdp", ["a"])))
plane = r_bridge.partial(fitted, None, ["a", "b"], grid_resolution=3)
ours = r_style.partial(fitted, ["a", "b"], grid_resolution=3)
np.testing.assert_allclose(plane["yhat"], ours["yhat"], rtol=0, atol=1e-10)
given = r_bridge.partial(fitted, X[:7], "a", pred_grid={"a": [0.0, 1.0]})
means = [forest.predict(X[:7].assign(a=v)).mean() for v in (0.0, 1.0)]
np.testing.assert_allclose(given["yhat"], means, rtol=0, atol=1e-10)
""",
    # FIRM, and permutation with the permutations that R draws.
    "importances": """
found = check(r_bridge.compare(fitted, "vip", nsim=3, seed=2))
assert found.frame["measure"].tolist() == ["FIRM"] * 3 + ["PFI, rmse"] * 3
check(r_bridge.compare(learner.fit_model(), "vip", ["f", "a"]))
evaluate = r_bridge.session.SESSION.evaluate
draws = lambda X: forest.predict(X) + 0 * evaluate("runif(1)")[0]  # as predictions of ranger do
check(r_bridge.compare(pi.FittedModel(draws, X, y), "vip"))
assert check(r_bridge.compare(classes, "vip")).frame["measure"].iloc[-1] == "PFI, logloss"
assert check(r_bridge.compare(several, "vip")).frame["measure"].iloc[-1] == "PFI, accuracy"
constant = X.assign(c=1.0)
lacking = r_bridge.compare(pi.FittedModel(small.fit(constant, y), constant), "vip", ["c", "k"])
assert lacking.frame["r"].isna().tolist() == [True, False]  # sd of one value
assert lacking.max_abs_diff < 1e-10
lacking.frame.loc[0, "ours"] = 0.0
assert lacking.max_abs_diff == np.inf
raw = r_bridge.vi_permute(fitted, None, metric="rmse", nsim=2, seed=1)
np.testing.assert_allclose(raw.attrs["raw_scores"].mean(axis=1), raw["Importance"])
spread = r_bridge.vi_firm(fitted, None, "a", var_continuous=r_bridge.RCode("stats::mad"))
assert spread["Variable"].tolist() == ["a"]
""",
    "h statistics": """
found = check(r_bridge.compare(fitted, "hstats", threeway_m=3))
measures = {"h2", "h2_overall", "h2_pairwise", "h2_threeway", "pd_importance"}
assert set(found.frame["measure"]) == measures
check(r_bridge.compare(fitted, "hstats", normalize=False, squared=False))
check(r_bridge.compare(classes, "hstats"))
assert "h2" not in set(r_bridge.hstats(fitted, None, ["a", "b"])["statistic"])
assert set(r_bridge.hstats(several, None, "a")["class"]) == {"lo", "mid", "hi"}
""",
    "one name is one variable": """
from pyinterp.errors import OptionError
named = X.rename(columns={"a": "bmi"})
model = lambda rows: rows["bmi"] + rows["b"]
assert r_bridge.vi_firm(model, named, "bmi")["Variable"].tolist() == ["bmi"]
assert r_bridge.hstats(model, named, "bmi")["term"].tolist() == ["bmi", "bmi"]
permuted = r_bridge.vi_permute(model, named, "bmi", target=y, metric="rmse", seed=1)
assert permuted["Variable"].tolist() == ["bmi"]
raises(OptionError, "Did you mean `bmi`?", lambda: r_bridge.vi_firm(model, named, "bni"))
stops = r_bridge.RCode("function(object, newdata) stop('no predictions')")
raises(r_bridge.RCallError, "no predictions",
       lambda: r_bridge.partial(model, named, "bmi", pred_fun=stops))
raises(OptionError, "`feature_names` must be a name or a list of names, not 3",
       lambda: r_bridge.vi_firm(model, named, 3))
raises(OptionError, "`feature_names` must name at least one variable",
       lambda: r_bridge.vi_firm(model, named, []))
raises(OptionError, "`pred_var` must name at least one", lambda: r_bridge.partial(model, named, []))
raises(OptionError, "`v` must name at least one", lambda: r_bridge.hstats(model, named, []))
""",
    # What results bring along is the response of their own rows, in their own order.
    "the response of other rows must be given": """
from pyinterp.errors import DataError, OptionError
def permute(model, data, **target):
    return r_bridge.vi_permute(model, data, metric="rmse", seed=1, **target)["Importance"]
order = rng.permutation(n)
others, theirs = (part.iloc[order].reset_index(drop=True) for part in (X, y))
raises(OptionError, "`target` must be the response of all", lambda: permute(fitted, others))
own = permute(fitted, None)
for found in (permute(fitted, X.assign(y=y), target="y"), permute(fitted, None, target=y)):
    np.testing.assert_array_equal(found, own)
there = permute(pi.FittedModel(forest.predict, others, theirs), None)
np.testing.assert_array_equal(permute(fitted, others, target=theirs), there)
raises(DataError, "`target` and `data` must have the same index",
       lambda: permute(fitted, others, target=y.iloc[order]))
raises(OptionError, "column in `data`, not 'z'", lambda: permute(fitted, X, target="z"))
raises(OptionError, "`target` must have the model's classes ['no', 'yes']; got '0'",
       lambda: r_bridge.vi_permute(logistic, X, target=np.zeros(n, int), metric="accuracy"))
""",
    "numbers that r does not take": """
from pyinterp.errors import OptionError
for wrong in (2.5, 0, -1, True, "5"):
    raises(OptionError, f"`grid_resolution` must be a whole number of at least 1, not {wrong!r}",
           lambda: r_bridge.partial(fitted, None, "a", grid_resolution=wrong))
raises(OptionError, "`nsim` must be a whole number of at least 1, not 0",
       lambda: r_bridge.vi_permute(fitted, None, metric="rmse", nsim=0))
for seed in (2**31 - 1, 1 - 2**31, np.int64(4)):
    r_bridge.vi_permute(fitted, None, metric="rmse", seed=seed)
    r_bridge.RLearner("stats::lm", random_state=seed).fit(X, y)
""",
    "both sides refuse in the same words": """
def words(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        return str(error)
    raise AssertionError("not refused")
def same(model, start, call=("partial", "a"), **options):
    name, variable = call
    here = words(lambda: getattr(r_style, name)(model, variable, **options))
    there = words(lambda: getattr(r_bridge, name)(model, None, variable, **options))
    assert here == there, (here, there)
    assert here.startswith(start), here
same(fitted, "`ice` must be True or False", ice=1)
same(fitted, "`chull` must be True or False", chull="yes")
same(fitted, "`type` must be one of", type="log")
same(fitted, '`type="classification"` needs a classifier', type="classification")
same(fitted, "`inv_link` must be a function such as np.exp", inv_link="exp")
same(fitted, "`probs` must be a number in [0, 1]", quantiles=True, probs=[5])
same(fitted, "`quantiles` places the grid points itself", quantiles=True, grid_resolution=4)
same(fitted, "`pred_grid` needs a column for each of a", pred_grid={"b": [1]})
same(fitted, "partial() takes no keyword argument `recursive`", recursive=False)
same(classes, "`which_class` must be a whole number of at least 1", which_class=0)
same(several, "`which_class` counts the classes from 1 to 3, in R's order hi, lo, mid; got 4",
     which_class=4)
same(several, 'The `type="regression"` of a classifier is its log-odds', type="regression")
same(classes, "`inv_link` is for predictions of numbers", inv_link=np.exp)
same(fitted, "vi_firm() takes no keyword argument `pred_grid`", ("vi_firm", "a"), pred_grid=[1])
same(fitted, "`pairwise_m` must be a whole number", ("hstats", ["a", "b"]), pairwise_m=-1)
same(fitted, "`n_max` must be a whole number of at least 2", ("hstats", ["a", "b"]), n_max=1)
same(fitted, "`eps` must be a number of at least 0", ("hstats", ["a", "b"]), eps=-1)
same(fitted, "`squared` must be True or False", ("hstats", ["a", "b"]), squared=2)
for wrong in ({"nsim": 0}, {"type": "factor"}, {"parallel": True}):
    same(fitted, "", ("vi_permute", ["a"]), metric="rmse", **wrong)
""",
    "compare takes what both sides take": """
raises(TypeError, 'compare() of "pdp" takes no keyword argument `n_max`; its options are pred_grid',
       lambda: r_bridge.compare(fitted, "pdp", n_max=40))
raises(TypeError, 'compare() of "vip" takes no keyword argument `approx`',
       lambda: r_bridge.compare(fitted, "vip", approx=True))
raises(TypeError, 'compare() of "hstats" takes no keyword argument `prob`; its options are '
       "pairwise_m, threeway_m, n_max, eps, normalize, squared.",
       lambda: r_bridge.compare(fitted, "hstats", prob=True))
raises(TypeError, 'compare() of "hstats" takes no keyword argument `grid_size`',
       lambda: r_bridge.compare(fitted, "hstats", grid_size=3))
lacking = X.assign(a=X.a.where(X.index > 2))
boosted = pi.FittedModel(HistGradientBoostingRegressor(max_iter=3).fit(lacking, y), lacking, y)
raises(ValueError, "so that there is nothing to compare (missing: a 3); use `missing=",
       lambda: r_bridge.compare(boosted, "pdp"))
grid = check(r_bridge.compare(fitted, "pdp", ["a", "b"], pred_grid={"a": [0, 1], "b": [0.5, 2]}))
assert grid.frame["value"].tolist() == [0, 1, 0.5, 2]
raises(ValueError, "FittedModel", lambda: r_bridge.compare(forest))
raises(ValueError, "hstats", lambda: r_bridge.compare(fitted, "hstat"))
raises(ValueError, "n_max=30", lambda: r_bridge.compare(fitted, "hstats", n_max=20))
assert str(grid) == repr(grid) == str(grid.summary())
assert "<table" in grid._repr_html_() and "tabular" in grid.summary().as_latex()
assert grid.max_abs_diff == grid.frame["difference"].abs().max()
from r_bridge.beside import sentence
text = " ".join(str(r_bridge.compare(fitted, "vip", ["a"])).split())
for key in ("firm", "permutation"):
    assert sentence(key) in text, text
""",
    "stand ins take what r s functions take": """
from r_bridge.conversion import text_from_r
from r_bridge.session import SESSION
for name, function in r_style.r_functions.FUNCTIONS.items():
    if hasattr(r_bridge, name):
        path = f"{function.package}::{function.name}"
        names = text_from_r(SESSION.call("function(f) names(formals(f))", r_bridge.RCode(path)))
        assert set(names) - {"..."} <= {a.name for a in function.arguments}, names
""",
    "warnings of r point to the caller": """
loud = r_bridge.RCode("function(object, newdata) { warning('loud'); predict(object, newdata) }")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    r_bridge.vi_permute(fitted, None, metric="rmse", pred_wrapper=loud)
assert caught and {w.filename for w in caught} == {"warnings of r point to the caller"}, caught
""",
}

EACH = """
import json, os, traceback
names, found = dict(globals()), {}
for name, code in json.loads(os.environ["CODES"]).items():
    try:
        exec(compile(code, name, "exec"), dict(names))
        found[name] = "passed"
    except BaseException:
        found[name] = traceback.format_exc()
print(json.dumps(found))
"""


@pytest.fixture(scope="session")
def outcomes(run, library):
    """What becomes of the codes, in one process: it takes seconds to start."""
    finished = run(BEGIN + EACH, R_LIBS=library, CODES=json.dumps(CODES))
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", CODES)
def test_calls_of_r(name, outcomes):
    assert outcomes[name] == "passed", outcomes[name]


def test_a_package_that_can_not_be_loaded(run, r, library, tmp_path):
    """It is installed: R's reason is what helps."""
    broken = tmp_path / "pdp"
    (broken / "R").mkdir(parents=True)
    for name in ("DESCRIPTION", "NAMESPACE"):
        (broken / name).write_bytes((SOURCES / "pdp" / name).read_bytes())
    (broken / "R" / "partial.R").write_text(
        "partial <- function(...) NULL\n.onLoad <- function(...) stop('libgone.so\\nis missing')\n"
    )
    program = str(Path(r("R.home()")[0], "bin", "R"))
    place = tmp_path / "library"
    place.mkdir()
    subprocess.run(  # noqa: S603 - R itself
        [program, "CMD", "INSTALL", "--no-docs", "--no-test-load", "-l", str(place), str(broken)],
        check=True,
        capture_output=True,
    )
    finished = run(
        "import r_bridge\ntry:\n    r_bridge.partial(len, [[1.0]], 'x')\n"
        "except r_bridge.RMissingError as error:\n    print(error)",
        R_LIBS=str(place),
    )
    assert finished.returncode == 0, finished.stderr
    text = finished.stdout.strip()
    assert text.startswith("`r_bridge.partial` needs R's package pdp, which can't be loaded (")
    assert "libgone.so is missing" in text
    assert "not installed" not in text
