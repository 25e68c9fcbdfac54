"""Pairs of options that are valid by what they mean, and laws that results of them keep.

A case is a learner, a method, and two options of any step: data, learner, plan, fit, method and
inference. It may be refused, in our words; a result keeps the laws of `lawful`, and stays the same
under every change of `CHANGES` that must change nothing. Units, names and the order of rows are
those of `tests/laws/test_units_names_order.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
from lawful import broken_laws
from oddities import table
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from verdict import unasked, verdict_of

import pyinterp as pi
from pyinterp.results.results import EstimandResults

__all__ = ["Case", "Outcome", "cases", "judge"]

N = 60
EXACT, ROUNDING = 0.0, 1e-7  # of the spread of the values
PLAN = pi.HalfSampling(2, pairs=5)


@cache
def frame():
    """Return numbers `x`, `z`, `h` (with holes), levels `g`, counts `k`, weights `w`, `m`.

    Clusters `s`; responses `n` (counts), `y`, `c` and `t` (two and three classes).
    """
    rng = np.random.default_rng(0)
    x, z, k = rng.normal(size=N), rng.normal(size=N), rng.integers(0, 4, size=N)
    g = rng.permutation(np.resize(["a", "b", "c"], N))
    y = x + z**2 + (g == "b") + rng.normal(size=N) / 2
    return pd.DataFrame(
        {
            "x": x,
            "z": z,
            "g": g,
            "k": k,
            "h": np.where(np.arange(N) % 9 == 0, np.nan, z),
            "w": rng.uniform(0.5, 2, size=N),
            "m": rng.integers(1, 3, size=N),
            "s": np.arange(N) // 3,
            "n": rng.poisson(np.exp(x / 2)),
            "y": y,
            "c": np.where(y > np.median(y), "yes", "no"),
            "t": np.array(["low", "mid", "top"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))],
        }
    )


@dataclass(frozen=True)
class Kind:
    """A learner: its formula, what makes it, and what its response is; two of its features."""

    formula: str
    make: Callable[[], Any]
    response: str = "numbers"
    two: tuple[str, str] = ("x", "z")


def tree():
    return DecisionTreeRegressor(max_depth=3, min_samples_leaf=5, random_state=0)


KINDS = {
    "linear": Kind("y ~ x + z + g", LinearRegression),
    "trees": Kind("y ~ x + z + k", tree),
    "two classes": Kind("c ~ x + z + g", LogisticRegression, "classes"),
    "three classes": Kind("t ~ x + z", GaussianNB, "classes"),
    "counts": Kind("n ~ x + z", lambda: pi.statsmodels_learner(sm.GLM, family=POISSON)),
    "distribution": Kind("y ~ x + z", BayesianRidge),
    "holes": Kind("y ~ x + h", tree, two=("x", "h")),
    "batched": Kind("y ~ x + z", lambda: make_pipeline(StandardScaler(), SVR())),
}
POISSON = sm.families.Poisson()

# Methods with their first argument and options that keep them short.
ONE, BOTH = "'{0}'", "['{0}', '{1}']"
METHODS = {
    "pd": (ONE, {"points": "3"}),
    "firm": (BOTH, {"points": "4"}),
    "vint": ("[('{0}', '{1}')]", {"points": "3"}),
    "h_statistic": (BOTH, {}),
    "ale": (ONE, {"points": "4"}),
    "m_plot": (ONE, {"points": "3"}),
    "slopes": (ONE, {"points": "3"}),
    "ame": (BOTH, {}),
    "pfi": (BOTH, {}),
    "mvim": (BOTH, {}),
    "cvim": (ONE, {}),
    "amvim": (ONE, {}),
    "loco": (BOTH, {}),
    "native_importance": ("", {}),
    "loss": ("", {}),
    "metric": ("'{metric}'", {}),
    "likelihood_pfi": (BOTH, {}),
    "entropy_pfi": (ONE, {}),
    "positivity": (ONE, {}),
    "redundancy": (ONE, {}),
    "causal": (ONE, {"points": "3"}),
    "importance": ("['mvim', 'amvim']", {"features": BOTH}),
}
OF_DISTRIBUTIONS = {"likelihood_pfi", "entropy_pfi"}
NO_DISTRIBUTION = {"linear", "trees", "holes", "batched"}

# Methods that take a sampler, but by default none.
MARGINAL = {"pd", "pfi", *OF_DISTRIBUTIONS}

# Values by meaning; {0} and {1} are two features of the learner.
OF_LEARNER = table(r"""
weights
    'w', weights_type='sampling'
    'm', weights_type='frequency'
offset
    'w'
exposure
    'w'
groups
    {{'both': ['{0}', '{1}']}}
subset
    'x > -1'
    data['x'] < 1.5
missing
    'drop'
    'keep'
design
    'matrix'
    'frame'
design_state
    'refit'
unseen_levels
    'allow'
""")
OF_PLAN = table(r"""
plan
    pi.Bootstrap(4)
    pi.Bootstrap(4, strata='g')
    pi.Bootstrap(4, cluster='s')
    pi.HalfSampling(2, pairs=5, cluster='s')
    pi.Subsampling(4, fraction=0.5)
    pi.CrossValidation(3)
    pi.CrossValidation(3, cluster='s')
    pi.Holdout(0.5)
    pi.NestedBootstrap(8, splits=2)
    KFold(3)
    TimeSeriesSplit(3)
    None
""")
OF_FIT = table(r"""
n_jobs
    2
engine
    'batched'
memory_mb
    0.05
reseed
    False
on_error
    'drop'
""")
OF_METHOD = table(r"""
rows
    'x > -1'
    (data['z'] < 1).to_numpy()
by
    'm'
grid
    'equidistant'
    'unique'
    'r'
    [-1.0, 0.0, 1.0]
kind
    'ice'
    'c-ice'
    'd-ice'
average
    'median'
    'trimmed'
    'exemplar'
sampler
    'conditional'
    'residual'
    'knockoff'
    {{'{0}': 'residual'}}
relation
    'ratio'
permutations
    3
    'all'
step
    'sd'
    0.1
span
    0.5
spread
    'mad'
    'iqr'
ice
    True
order
    'importance'
    'total'
    'pairwise'
normalize
    False
squared
    False
most_rows
    30
method
    'additive'
of
    'entropy'
    'nll'
together
    False
""")
BY_RESPONSE = {
    "numbers": table(r"""
loss
    'squared'
    'absolute'
    'huber'
metric
    'rmse'
    'rsq'
    'r2'
scale
    np.tanh
"""),
    "classes": table(r"""
loss
    'log'
    'brier'
    'zero_one'
metric
    'accuracy'
    'logloss'
    'balanced_accuracy'
scale
    'logit'
    'centered-logit'
    'probability'
    np.sqrt
which_class
    '{label}'
"""),
}
OF_INFERENCE = table(r"""
cov_type
    'half-sample'
    'corrected'
    'rows'
    'naive'
    'bootstrap'
    'bootstrap-bca'
    'ustat'
    'delta'
alternative
    'greater'
    'less'
p_adjust
    'holm'
    'bonferroni'
    'fdr_bh'
simultaneous
    True
""")  # fmt: skip
STEPS = {"learner": OF_LEARNER, "plan": OF_PLAN, "fit": OF_FIT}


@dataclass(frozen=True)
class Case:
    """A learner and a method with two options, each as step, name and expression."""

    kind: str
    method: str
    options: tuple[tuple[str, str, str], ...]

    def __str__(self):
        both = ", ".join(f"{name}={value}" for _, name, value in self.options)
        return f"{self.kind}: {self.method}, {both}"

    def of(self, step):
        """Return the options of a step."""
        return {name: value for where, name, value in self.options if where == step}


@cache
def _parameters(method):
    return tuple(signature(getattr(pi.LearnerResults, method)).parameters)


@cache
def _choices(kind, method):
    """Return the options that a learner and a method have, by step."""
    taken = _parameters(method)
    of_method = {**OF_METHOD, **BY_RESPONSE[KINDS[kind].response]}
    positional = {"metric"} if method == "metric" else set()
    mine = {n: v for n, v in of_method.items() if n in taken and n not in positional}
    inference = {n: v for n, v in OF_INFERENCE.items() if n in taken}
    return {**STEPS, **({"method": mine} if mine else {}), "inference": inference}


def cases(number, seed=0):
    """Yield so many different cases, always the same."""
    rng = np.random.default_rng(seed)
    seen = set()
    while len(seen) < number:
        kind, method = rng.choice(list(KINDS)), rng.choice(list(METHODS))
        if method in OF_DISTRIBUTIONS and kind in NO_DISTRIBUTION:
            continue
        steps = _choices(kind, method)
        found = []
        while len(found) < 2:
            step = rng.choice(list(steps))
            name = rng.choice(list(steps[step]))
            if name not in {other for _, other, _ in found}:
                found.append((str(step), str(name), str(rng.choice(steps[step][name]))))
        case = Case(str(kind), str(method), tuple(sorted(found)))
        if case not in seen:
            seen.add(case)
            yield case


@dataclass(frozen=True)
class Setting:
    """What a case is run on, and what is added to its options by step."""

    data: pd.DataFrame
    added: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    without: tuple[str, ...] = ()  # steps whose options are left out
    feature: str = ""  # what stands for the first feature

    def plus(self, step, **options):
        return replace(self, added={**self.added, step: {**self.added.get(step, {}), **options}})


def run(case, setting):
    """Return the results of a case."""
    kind = KINDS[case.kind]
    first, second = kind.two
    label = {"two classes": "yes", "three classes": "mid"}.get(case.kind, "")
    metric = "rmse" if kind.response == "numbers" else "accuracy"
    space = {
        "pi": pi, "np": np, "KFold": KFold, "TimeSeriesSplit": TimeSeriesSplit,
        "data": setting.data,
    }  # fmt: skip

    def value(source, one=first):
        source = source.format(one, second, label=label, metric=metric)
        return eval(source, space)  # noqa: S307 - our own table

    def options(step):
        if step in setting.without:
            return {}
        given = {}
        for name, source in case.of(step).items():
            given |= value(f"dict({name}={source})")
        return {**given, **setting.added.get(step, {})}

    learner = pi.Learner.from_formula(kind.formula, setting.data, kind.make(), **options("learner"))
    plan = options("plan").get("plan", PLAN)
    fit = options("fit")
    results = (
        learner.fit_model(seed=1)
        if plan is None
        else learner.fit(plan, seed=1, progress=False, **fit)
    )
    argument, usual = METHODS[case.method]
    arguments = [value(argument, setting.feature or first)] if argument else []
    short = {name: value(source, setting.feature or first) for name, source in usual.items()}
    return getattr(results, case.method)(
        *arguments, **{**short, **options("method"), **options("inference")}
    )


@dataclass(frozen=True)
class Change:
    """A change that must change nothing, how far numbers may be apart, and where it holds."""

    make: Callable[[Setting], Setting]
    tolerance: float = EXACT
    holds: Callable[[Case], bool] = lambda _: True
    may_refuse: bool = False
    estimates_only: bool = False


def _without(*names):
    return lambda case: not {name for _, name, _ in case.options} & set(names)


def _refits(*names):
    """Whether there is a fit that has options, and none of these."""
    return lambda case: case.of("plan").get("plan") != "None" and _without(*names)(case)


def _takes(name):
    return lambda case: name in _parameters(case.method) and _without(name)(case)


def _draws_nothing(case):
    """Whether no number is drawn, as streams belong to features by their names."""
    conditional = "sampler" in _parameters(case.method) and case.method not in MARGINAL
    drawing = conditional or case.method in ("importance", "native_importance")
    return not drawing and _without("sampler", "metric", "permutations")(case)


def _with_other_columns(s):
    dates = pd.date_range("2020", periods=N).to_numpy()
    return replace(s, data=s.data.assign(when=dates, odd=[object()] * N, void=np.nan))


CHANGES = {
    "the same call again": Change(lambda s: s),
    "columns in another order": Change(
        lambda s: replace(s, data=s.data[s.data.columns[::-1]]), ROUNDING
    ),
    "another index": Change(
        lambda s: replace(s, data=s.data.set_axis([f"row {k % 7}" for k in range(N)])),
        holds=lambda case: not any("data[" in v and "to_numpy" not in v for *_, v in case.options),
    ),
    "columns that are not used": Change(_with_other_columns),
    "nullable columns": Change(
        lambda s: replace(s, data=s.data.convert_dtypes()), ROUNDING, may_refuse=True
    ),
    "two jobs": Change(lambda s: s.plus("fit", n_jobs=2), holds=_refits("n_jobs")),
    "subset of all rows": Change(
        lambda s: s.plus("learner", subset=np.ones(N, bool)), holds=_without("subset")
    ),
    "rows that are all": Change(
        lambda s: s.plus("method", rows=np.ones(N, bool)), ROUNDING, _takes("rows"), may_refuse=True
    ),
    "frequency weights of 1": Change(
        lambda s: s.plus("learner", weights=np.ones(N, int), weights_type="frequency"),
        ROUNDING,
        _without("weights"),
        may_refuse=True,
    ),
    "sampling weights of 1": Change(
        lambda s: s.plus("learner", weights=np.ones(N), weights_type="sampling"),
        ROUNDING,
        _without("weights"),
        may_refuse=True,
    ),
    "a group of one variable": Change(
        lambda s: replace(s.plus("learner", groups={"alone": ["x"]}), feature="alone"),
        ROUNDING,
        lambda case: _without("groups")(case) and _draws_nothing(case),
        may_refuse=True,
    ),
    "predictions in batches": Change(
        lambda s: s.plus("fit", engine="batched"), ROUNDING, _refits("engine")
    ),
    "no options of inference": Change(
        lambda s: replace(s, without=("inference",)),
        holds=lambda case: bool(case.of("inference")),
        estimates_only=True,
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What became of a case: the laws that were checked, a refusal, or what is wrong."""

    laws: tuple[str, ...] = ()
    refusal: str = ""
    fault: str = ""


def judge(case, rng, changes=2):
    """Run a case, and again under some changes that must change nothing."""
    base = Setting(frame())
    result, refusal, fault = _attempt(case, base)
    if fault:
        return Outcome(fault=f"as it is: {fault}")
    if refusal:
        return Outcome(refusal=refusal)
    broken = broken_laws(result)
    if broken:
        return Outcome(fault=f"unlawful: {broken[0]}")
    held = [name for name, change in CHANGES.items() if change.holds(case)]
    laws = ["laws of every result"]
    for name in rng.choice(held, size=min(changes, len(held)), replace=False):
        change = CHANGES[str(name)]
        other, refusal, fault = _attempt(case, change.make(base))
        if fault or (refusal and not change.may_refuse):
            return Outcome(tuple(laws), fault=f"{name}: {fault or refusal}")
        if refusal:
            continue
        apart = _apart(result, other, estimates_only=change.estimates_only)
        if not apart <= change.tolerance:
            return Outcome(tuple(laws), fault=f"{name}: numbers are {apart:.2g} spreads apart")
        laws.append(str(name))
    return Outcome(tuple(laws))


def _attempt(case, setting):
    """Return a result, a refusal in our words, or what is wrong."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            result = run(case, setting)
        except Exception as error:  # noqa: BLE001 - it is the finding
            verdict = verdict_of(error)
            fault = "" if verdict.right else f"{verdict.cause}: {error}"
            return None, "" if fault else str(error), fault
    told = unasked(heard)
    return result, "", f"{told[0].category.__name__}: {told[0].message}" if told else ""


def _tables(result):
    if isinstance(result, EstimandResults):
        return [result]
    if hasattr(result, "results"):
        return list(result.results.values())
    return [result.effects, result.importance, result.share, result.rest]


def _apart(one, other, *, estimates_only):
    """Return the largest difference of estimates and errors, in units of their spread."""
    largest = 0.0
    for a, b in zip(_tables(one), _tables(other), strict=True):
        pairs = [(a.params, b.params)]
        if not estimates_only:
            pairs.append((a.bse, b.bse))
        for mine, theirs in pairs:
            # The order of terms may be that of the columns.
            same = mine.index.symmetric_difference(theirs.index).empty
            x = mine.to_numpy(float)
            y = (theirs[mine.index] if same else theirs).to_numpy(float)
            if x.shape != y.shape or (np.isnan(x) != np.isnan(y)).any():
                return np.inf
            unit = max(float(np.nanmax(np.abs(x), initial=0.0)), 1e-8)
            largest = max(largest, float(np.nanmax(np.abs(x - y), initial=0.0)) / unit)
    return largest
