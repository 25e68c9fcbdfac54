"""The page "What works with what" is what happens: every cell is called, none is written by hand.

Run as a script, this file writes the table into the page.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from lightgbm import LGBMRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

import pyinterp as pi
from pyinterp.errors import PyinterpError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "what_works.md"
MARKS = ("<!-- table: written by tests/docs/test_what_works.py -->", "<!-- end of table -->")
N = 48
ENGINES = {
    "linear, exact": BayesianRidge(),
    "trees, exact": DecisionTreeRegressor(max_depth=3, min_samples_leaf=5),
    "batched": SVR(),
}
PLANS = {
    "half-sample": pi.HalfSampling(2, pairs=5),
    "corrected": pi.Subsampling(2),
    "bootstrap": pi.NestedBootstrap(3, 2),
}
TWO = ["x", "z"]
BIAS = pi.mean_over_rows(lambda y, f: y - f, "bias")
# By call of the page: what its arguments are besides.
CALLS = {
    "loss()": "",
    'loss(relation="explained")': "",
    'metric("rmse")': "",
    "pfi()": "",
    "pfi(permutations=5)": "",
    'pfi(metric="rmse")': "permutations=3",
    'pfi(sampler="residual")': 'features="x"',
    "mvim()": "",
    "cvim()": '"x"',
    "amvim()": '"x"',
    "importance()": 'features="x"',
    "loco()": "",
    "sage()": "",
    'pd("x")': "points=3",
    'pd(["x", "z"])': "points=3",
    "pd()": "points=3",
    'pd("x", kind="ice")': "points=3",
    'ale("x")': "points=3",
    'ame(step="sd")': "",
    "firm()": "points=3",
    "vint()": "points=3",
    "h_statistic()": "",
    "native_importance()": "",
    "positivity()": '"x"',
    "redundancy()": '"x"',
    'causal("x")': "points=3",
    "likelihood_pfi()": "",
    "entropy_pfi()": "",
    "uncertainty()": '["x"]',
    "estimate(pi.mean_over_rows(...))": "",
}


def ask(call, results, options):
    """Make a call of the page on results, with the options of a feature."""
    method, _, given = call[:-1].partition("(")
    arguments = ", ".join(filter(None, (given, CALLS[call], "**options")))
    names = {"results": results, "options": options, "bias": BIAS}
    source = f"results.{method}({arguments})".replace("pi.mean_over_rows(...)", "bias")
    return eval(source, names)  # noqa: S307 - our own page


class Feature(NamedTuple):
    """An option of fitting, of a method, or both, a plan if it is one; estimators that take it.

    Or data in which every so many rows lack x.
    """

    fitting: Mapping[str, Any] = {}
    asking: Mapping[str, Any] = {}
    plan: Any = None
    estimators: Mapping[str, Any] = {}
    holes: int = 0


OFFSETS = {  # estimators that take one
    "linear, exact": pi.statsmodels_learner(sm.GLM),
    "trees, exact": XGBRegressor(n_estimators=3, max_depth=2),
    "batched": LGBMRegressor(n_estimators=3, min_child_samples=5, n_jobs=1, verbose=-1),
}
KEEPING = {  # those that take missing values
    "linear, exact": make_pipeline(SimpleImputer(), BayesianRidge()),
    "trees, exact": DecisionTreeRegressor(max_depth=3, min_samples_leaf=5),
    "batched": make_pipeline(SimpleImputer(), SVR()),
}
FEATURES = {
    "frequency weights": Feature({"weights": "w", "weights_type": "frequency"}),
    "sampling weights": Feature({"weights": "w", "weights_type": "sampling"}),
    "`subset=`": Feature({"subset": "x > -2"}),
    "`rows=`": Feature(asking={"rows": "x > -0.5"}),
    "`by=`": Feature(asking={"by": "g"}),
    "`offset=`": Feature({"offset": "w"}, estimators=OFFSETS),
    "own splits": Feature(plan=KFold(3)),
    "missing `x`": Feature(estimators=KEEPING, holes=9),
}


@cache
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=TWO)
    frame["y"] = frame["x"] + frame["z"] ** 2 + rng.normal(size=N) / 4
    return frame.assign(g=np.arange(N) % 2, w=1 + np.arange(N) % 3)


@cache
def fitted(engine, level, feature):
    """Return results, or the sentence with which fitting is refused."""
    asked = FEATURES.get(feature, Feature())
    rows = data()
    if asked.holes:
        rows = rows.assign(x=rows["x"].mask(np.arange(N) % asked.holes == 0))
    learner = pi.Learner.from_formula(
        "y ~ x + z", rows, {**ENGINES, **asked.estimators}[engine], **asked.fitting
    )
    if level == "one model":
        return learner.fit_model(seed=1)
    plan = PLANS[level] if asked.plan is None else asked.plan
    return learner.fit(plan, seed=1, progress=False)


def answer(call, engine, level, feature=""):
    """Return None if the call gives numbers, or else the sentence that refuses it."""
    try:
        asking = FEATURES.get(feature, Feature()).asking
        result = ask(call, fitted(engine, level, feature), asking)
    except PyinterpError as error:
        return str(error)
    except TypeError as error:  # an option that the method does not have
        if "takes no keyword argument" not in str(error):
            raise
        return re.sub(r"^\w+\(\)", "The method", re.sub(r"; its options are.*", ".", str(error)))
    str(result)
    return None


def cells(call, *, every):
    """Yield feature, engine and level of every cell that works without the feature."""
    for engine in ENGINES:
        for level in ("one model", *(PLANS if every else ["corrected"])):
            if not every and level != "one model" and engine != "linear, exact":
                continue
            if answer(call, engine, level) is None:
                for feature, asked in FEATURES.items():
                    # Own splits are a plan; the variances of other plans are not theirs.
                    if asked.plan is None or level == "corrected":
                        yield feature, engine, level, answer(call, engine, level, feature)


def verdicts(call, *, every):
    """Return what every feature gives, which no engine, plan or variance changes."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for feature, engine, level, sentence in cells(call, every=every):
            first = found.setdefault(feature, sentence)
            assert (first is None) == (sentence is None), (call, feature, engine, level, sentence)
    return found


def reason(sentence):
    """Return a sentence without what differs between calls."""
    sentence = re.sub(r"^.*? takes no sampling weights, because", "Because", sentence)
    return sentence.replace("Because", "No sampling weights, because", 1)


def row(call, reasons, *, every):
    """Return a line of the table, and add its reasons to the list."""
    found, marks = verdicts(call, every=every), []
    for feature in FEATURES:
        sentence = found.get(feature, "there are no refits")
        if sentence is None:
            marks.append("yes")
            continue
        text = reason(sentence)
        if text not in reasons:
            reasons.append(text)
        marks.append(f"no ({reasons.index(text) + 1})")
    return f"| `{call}` | " + " | ".join(marks) + " |"


def written():
    return PAGE.read_text(encoding="utf-8").split(MARKS[0])[1].split(MARKS[1])[0]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.acceptance)], ids=["some", "every"]
)
def test_cells_are_what_the_page_says(call, every):
    """Every engine for one model and one for a learner; or every engine, plan and variance."""
    page = written()
    reasons = re.findall(r"^\d+\. (.*)$", page, re.MULTILINE)
    assert row(call, list(reasons), every=every) in page


def test_the_page_has_every_method_that_estimates():
    methods = {re.match(r"\w+", call)[0] for call in CALLS}  # they match
    others = {
        "predict", "answer", "refits", "halves", "seed", "nobs", "analysis",
        "model", "resampling", "population", "compare_targets",
        "interactions", "products",  # the last four need folds or pairs
    }  # fmt: skip
    public = {name for name in dir(pi.LearnerResults) if not name.startswith("_")}
    # Attributes and methods that the results of ``pfi()`` have too are its table.
    assert public - methods - others - set(dir(pi.EstimandResults)) == set()


def rewrite():
    reasons = []
    lines = [row(call, reasons, every=True) for call in CALLS]
    head = ["| | " + " | ".join(FEATURES) + " |", "|---" * (len(FEATURES) + 1) + "|"]
    notes = [f"{k}. {text}" for k, text in enumerate(reasons, start=1)]
    table = "\n".join([*head, *lines, "", *notes])
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(MARKS[0])[0], page.split(MARKS[1])[1]
    text = f"{before}{MARKS[0]}\n\n{table}\n\n{MARKS[1]}{after}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
