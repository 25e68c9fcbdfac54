"""What the pages name between backticks is there: calls are made, and options are taken.

Code in blocks is executed by `make docs`, the tables of what works and of R's arguments by tests of
their own. Here are the words of prose and of other tables.
"""

import ast
import re
import warnings
from functools import cache, partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from shared import normal_rows
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import (
    BayesianRidge,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.estimands.estimate import Estimate
from pyinterp.simulation.coverage_results import CoverageResults
from pyinterp_papers import replicate
from pyinterp_papers.networks import MCDropoutRegressor
from pyinterp_papers.processes import friedman1

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        # Neither code of the papers' cells nor what building the pages makes.
        if not re.search(r"papers/\w+20\d\d\.md$|docs/vignettes/|_build/", page.as_posix())
    ),
]
# What is called on pages that show the insides of the package to those who change it.
INSIDE = {"architecture.md", "write_your_own.md"}
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
BLOCK = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
# Names that calls of R, of formulas and of other packages begin with.
OTHERS = {
    "C", "ColumnTransformer", "Error", "I", "RCode", "bs", "center", "cluster",
    "cr", "data", "f", "factor", "get_margeff", "h2",
    "h2_overall", "h2_pairwise", "h2_threeway", "ifelse", "initial_split", "joblib", "lm", "lo",
    "log", "mc_cv", "month", "np", "ns", "offset", "p", "partial_dependence",
    "pd_importance", "poly", "predict_components", "r_bridge", "relevel", "rsmp", "s", "set",
    "sklearn", "strata", "te", "vfold_cv", "vi_model",
}  # fmt: skip
OTHER_CALLS = {
    'pi.EarlyStopping(LGBMRegressor())', 'res.pfi().to("pfi.docx")',
    'res.pfi().summary(top=3).to("top.docx")',
    "glance(lm)", "predict(X, return_std=True)",
    "fit(..., store_covariance_matrix=True)",
}  # fmt: skip
# Options of R, of scikit-learn's estimators, of the R bridge, and of classes of one's own.
OTHER_OPTIONS = {
    "NUMBA_DISABLE_JIT", "RPY2_CFFI_MODE", "approx", "cat_features", "classifier", "control",
    "family", "fit_intercept", "frozen", "linout", "min_samples_leaf", "monotonic_cst",
    "probability", "r_style", "random_state",
    "ols", "range", "recursive", "return_std", "why_no_weights",
}  # fmt: skip
VALUES_OF_R = re.compile(r"TRUE|FALSE|::|RCode|\"raw\"|\"response\"")
# Words of pages that stand for others.
WORDS = {
    r"\b(age|alcohol|nitrogen|s5|smoking|x1|log\(years\))(?=\")": "x",
    r"\bvariety(?=\")": "z",
    r"\bwater(?=\")": "sex",
    r"pi\.compare\(\.\.\.\)": "pi.compare(a, b)",
}
# Calls that take minutes; whether their arguments are taken is seen without making them.
LONG = {"certify", "found"}


def spans(page):
    """Yield what stands between backticks, blocks of code left out."""
    for _, text in CODE.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        yield " ".join(text.split()).replace("\\|", "|")


def parsed(text):
    try:
        return ast.parse(text, mode="eval")
    except SyntaxError:
        return None


def first_name(call):
    """Return the name that a chain of calls and attributes begins with."""
    while isinstance(call, ast.Call | ast.Attribute):
        call = call.func if isinstance(call, ast.Call) else call.value
    return call.id if isinstance(call, ast.Name) else ""


@cache
def calls():
    """Return the calls of all pages, each with the first page that has it."""
    found = {}
    for page in PAGES:
        for text in spans(page):
            tree = parsed(text)
            if page.name in INSIDE or tree is None or not isinstance(tree.body, ast.Call):
                continue
            if text not in OTHER_CALLS and first_name(tree.body) not in OTHERS:
                found.setdefault(text, page.name)
    return found


@cache
def options():
    """Return the options of all pages, "name=value" or "name=", each with a page that has it."""
    found = {}
    for page in PAGES:
        for text in spans(page):
            match = re.fullmatch(r"(\w+) ?=(?!=) ?(.*)", text)
            if not match or match[1] in OTHER_OPTIONS or page.name in INSIDE:
                continue
            if not VALUES_OF_R.search(match[2]):
                found.setdefault(f"{match[1]}={match[2]}", page.name)
    return found


def draw(rng):
    return data()


friedman = friedman1(0).draw(20, seed=1)
N = 84
RESULTS = ("numbers", "trees", "classes", "model", "corrected", "counts", "ordered")
PLAN = pi.HalfSampling(2, pairs=5)
FEATURES = ["x", "z", "bmi", "bp", "sex"]
FORMULA = f"y ~ {' + '.join(FEATURES)}"


@cache
def data():
    rng, frame = normal_rows(N, "x z bmi bp age e")
    frame["sex"] = rng.permutation(np.resize(["f", "m"], N))
    frame["subject"] = frame["patient"] = frame["id"] = np.arange(N) // 3
    frame["g"] = rng.permutation(np.resize(["a", "b", "c"], N))
    frame["w"] = 1 + np.arange(N) % 2
    frame["y"] = frame["x"] + frame["z"] ** 2 + (frame["sex"] == "m") + frame["e"]
    frame["k"] = np.arange(N) % 4
    return frame.assign(c=np.where(frame["y"] > frame["y"].median(), "yes", "no"))


@cache
def models():
    """Return learners, results and fitted models that a page may mean by `res`."""
    frame = data()
    tree = DecisionTreeRegressor(max_depth=3, min_samples_leaf=5, random_state=0)
    learners = {
        "numbers": pi.Learner.from_formula(FORMULA, frame, BayesianRidge()),
        "classes": pi.Learner.from_formula("c ~ x + z + bmi", frame, LogisticRegression()),
        "trees": pi.Learner.from_formula("y ~ x + z + g", frame, tree),
        "ordered": pi.Learner(pd.Categorical(frame["g"], ordered=True), frame[["x", "z"]],
                              LogisticRegression(), groups={"scale": ["x", "z"]}),
    }  # fmt: skip
    fits = {name: learner.fit(PLAN, seed=1) for name, learner in learners.items()}
    x = frame[["x", "z", "bmi"]]
    model = sm.OLS(frame["y"], x).fit()
    fits["model"] = pi.FittedModel(model, x, frame["y"])
    poisson = pi.Learner.from_formula("abs(k) ~ x + z", frame, PoissonRegressor(), exposure="w")
    fits["counts"] = poisson.fit(PLAN, seed=1)
    for sex in "fm":
        half = pi.Learner.from_formula("y ~ x", frame, BayesianRidge(), subset=frame["sex"] == sex)
        fits[sex] = half.fit(PLAN, seed=1)
    fits["corrected"] = pi.Learner.from_formula("y ~ x + z", frame, LinearRegression()).fit(
        pi.Subsampling(5), seed=1
    )
    return {"learner": learners["numbers"], **fits}


def names(model):
    """Return what the names on pages stand for, with one of the models as `res`."""
    res, frame = models()[model], data()
    x, y = frame[["x", "z"]], frame["y"]
    linear = LinearRegression().fit(x, y)
    return {
        "pi": pi, "np": np, "sm": sm, "r_style": pi.r_style, "r_bridge": None, "KFold": KFold,
        "RBF": RBF, "TimeSeriesSplit": TimeSeriesSplit, "ConstantKernel": ConstantKernel,
        "WhiteKernel": WhiteKernel,
        "RandomForestRegressor": RandomForestRegressor,
        "LinearRegression": LinearRegression, "Ridge": Ridge, "splitter": KFold(5),
        "gaussian_process": pi.estimators.gaussian_process, "Estimate": Estimate,
        "statsmodels_learner": pi.statsmodels_learner, "NestedBootstrap": pi.NestedBootstrap,
        "res": res, "results": res, "learner": models()["learner"], "quantile": res,
        "a": res, "b": models()["numbers"], "data": frame, "X": x, "y": y, "exog": x, "endog": y,
        "estimator": LinearRegression(), "alpha": 0.1, "model": linear, "frame": friedman,
        "fitted": pi.FittedModel(linear, x, y), "process": friedman1(0), "replicate": replicate,
        "found": CoverageResults, "p": [0.2, 0.8], "label": "yes", "K": 3, "loss": "absolute",
        "rows": np.ones((4, 1)), "case": SimpleNamespace(weights=None), "generator": draw,
        "distribution": None, "parameters": lambda _, rows: np.zeros((len(rows), 1)),
        "pfi": res.pfi("x", permutations=3 if model == "counts" else "auto"),
    }  # fmt: skip


def value_of(node, space):
    """Return the value of a call, whose names may be methods of results or of learners."""
    if isinstance(node, ast.Attribute):
        return getattr(value_of(node.value, space), node.attr)
    if not isinstance(node, ast.Call):
        return eval(ast.unparse(node), space)  # noqa: S307 - our own pages
    function = function_of(node.func, space)
    parts = list(ast.walk(node))
    if any(isinstance(part, ast.Constant) and part.value is ... for part in parts):
        return keywords_are_known(function, {str(k.arg) for k in node.keywords})
    arguments = [value_of(argument, space) for argument in node.args]
    keywords = {str(k.arg): value_of(k.value, space) for k in node.keywords}
    named = {part.id for part in parts if isinstance(part, ast.Name)}
    if named & LONG or getattr(function, "__name__", "") in LONG:
        return keywords_are_known(function, set(keywords))
    if isinstance(node.func, ast.Name) and not node.args and takes_features(function):
        arguments = ["x"]  # `ale()` is the name of a method
    return function(*arguments, **keywords)


def function_of(node, space):
    if not isinstance(node, ast.Name) or callable(space.get(node.id)):
        return value_of(node, space)
    owners = (space["learner"], space["res"], space["pfi"], space["pfi"].summary())
    return next(getattr(o, node.id) for o in owners if callable(getattr(o, node.id, None)))


def takes_features(function):
    first = next(iter(signature(function).parameters.values()), None)
    wanted = first is not None and first.name in ("feature", "features", "metric")
    return wanted and first.default is Parameter.empty


def keywords_are_known(function, keywords):
    known = signature(function).parameters
    if unknown := keywords - set(known):
        raise TypeError(f"no keyword {unknown}")


def errors_of(attempts):
    """Make calls until one succeeds; return the errors if none does."""
    errors = []
    for attempt in attempts:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                attempt()
        except Exception as error:  # noqa: BLE001 - it is shown
            errors.append(f"{type(error).__name__}: {error}")
        else:
            return []
    return errors or ["nothing takes it"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")


def in_words_of_the_test(call):
    for word, other in WORDS.items():
        call = re.sub(word, other, call)
    return call


@pytest.mark.parametrize("call", calls())
def test_a_call_of_a_page_can_be_made(call):
    node = ast.parse(in_words_of_the_test(call), mode="eval").body
    errors = errors_of(partial(lambda m: value_of(node, names(m)), m) for m in RESULTS)
    assert not errors, f"{calls()[call]}: {errors}"


def takers(model):
    """Return calls to which an option is added, by the function whose parameters they have."""
    space = names(model)
    res, learner, frame = space["res"], space["learner"], space["data"]
    alone = {
        method: partial(getattr(res, method), "x")
        for method in (
            "pd", "ale", "ame", "pfi", "mvim", "cvim", "amvim", "loco",
            "population", "compare_targets", "interactions", "products",
            "firm", "native_importance", "uncertainty", "causal", "positivity",
        )
        if hasattr(res, method)
    }  # fmt: skip
    alone["native_importance"] = res.native_importance
    pfi, classes = space["pfi"], pi.Learner.from_formula
    return {
        "replicate": partial(replicate, "greenwell2018", "figure 7"),
        **alone,
        "pd of two": partial(res.pd, ["x", "z"]),
        "pd of levels": partial(res.pd, "sex"),
        "ale of levels": partial(res.ale, "g"),
        "vint": partial(res.vint, [("x", "z")]),
        "h_statistic": res.h_statistic,
        "loss": res.loss,
        "differences": res.pd("x", grid=[0, 1]).differences,
        "pfi.summary": pfi.summary,
        "pfi.plot": pfi.plot,
        "fit": partial(learner.fit, pi.Bootstrap(3)),
        "from_formula": partial(classes, FORMULA, frame, LinearRegression()),
        "FittedModel": partial(pi.FittedModel, space["model"], space["X"], space["y"]),
        "compare": partial(pi.compare, [res, models()["numbers"]]),
        "compare data": partial(pi.compare, [models()["f"], models()["m"]]),
        "certify": certify,
        "save": save,
        "HalfSampling": pi.HalfSampling,
        "Bootstrap": pi.Bootstrap,
        "NestedBootstrap": pi.NestedBootstrap,
        "network": MCDropoutRegressor,
        "partial": partial(pi.r_style.partial, res, "x"),
        "vi_firm": partial(pi.r_style.vi_firm, res),
    }


@wraps(pi.certify)
def certify(*_, **options):
    """Take the options of what takes minutes."""


@wraps(pi.LearnerResults.save)
def save(*_, **options):
    """Take the options of what writes a file."""


@pytest.mark.parametrize("option", options())
def test_an_option_of_a_page_is_taken(option):
    name, _, value = in_words_of_the_test(option).partition("=")
    attempts = []
    for model in RESULTS:
        space = names(model)
        for call in takers(model).values():
            if name not in signature(call).parameters:
                continue
            given = {name: eval(value, space)} if value else {}  # noqa: S307 - our own pages
            attempts.append(partial(call, **given))
    errors = errors_of(attempts)
    assert not errors, f"{options()[option]}: {dict.fromkeys(errors)}"


def test_every_name_of_the_package_is_there():
    space, missing = {"pi": pi, "r_style": pi.r_style}, []
    for page in PAGES:
        for text in spans(page):
            tree = parsed(text)
            if tree is None or not isinstance(tree.body, ast.Attribute):
                continue
            if first_name(tree.body) in space and errors_of([partial(value_of, tree.body, space)]):
                missing.append(f"{page.name}: {text}")
    assert not missing


@pytest.mark.parametrize("wrong", ['res.pfi(metrik="rmse")', "res.pdp()", "pi.compare(..., rop=1)"])
def test_what_is_not_there_is_seen(wrong):
    node = ast.parse(wrong, mode="eval").body
    assert errors_of(partial(lambda m: value_of(node, names(m)), m) for m in RESULTS)


def test_lists_of_exceptions_are_no_longer_than_needed():
    texts = {text for page in PAGES for text in spans(page)}
    trees = [tree.body for text in texts if (tree := parsed(text)) is not None]
    begin = {first_name(node) for node in trees if isinstance(node, ast.Call)}
    assert begin >= OTHERS
    assert texts >= OTHER_CALLS
    assert {m[1] for text in texts if (m := re.match(r"(\w+) ?=", text))} >= OTHER_OPTIONS
