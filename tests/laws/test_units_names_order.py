"""Units, names and order change no number but those that must change.

`LAWS` has a row for every estimand: the unit of its values, and what moves besides. `CHANGES` says
what is done to the data. Both together say what must follow: if x is in thousandths, a slope in
y / x is divided by 1,000, grid points are multiplied by it, and everything else stays. So every
table is brought back to the units, names and codes of the original data and must be the same there.
An estimand, an option or a sampler without a row fails.
"""

from __future__ import annotations

import inspect
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, get_args

import lightgbm
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pyinterp as pi
from pyinterp.estimands.effects.grids import RULES
from pyinterp.estimands.effects.partial_dependence import Average, PDKind, PDOf
from pyinterp.estimands.effects.scales import SCALES
from pyinterp.estimands.estimand import Problem
from pyinterp.estimands.importance.flatness import Spread
from pyinterp.estimands.importance.losses import Relation
from pyinterp.estimands.importance.measures import measures
from pyinterp.estimands.importance.native import Native
from pyinterp.estimands.importance.variable_importance import Adjustment
from pyinterp.estimands.interaction.h_statistic import Order
from pyinterp.estimands.risk import RiskRelation
from pyinterp.losses.metrics import METRICS
from pyinterp.losses.rowwise import LOSSES
from pyinterp.samplers.choice import SAMPLERS

N = 48
ROUNDING = 1e-5  # of a column's largest value: least squares on columns of sizes 1 and 1e6
NOTHING = 1e-8  # of a response of 20: an effect of this size is a rounding error
DRAWN = 2.0  # standard errors by which other folds or draws may move an estimate

# Random streams are seeded by names. Both names of a variable have the same CRC-32, so that draws
# stay the same; the alphabetical order of the three is reversed.
NAMES = {"x": "badusebis", "z": "sanazaris", "g": "tagomiloz", "y": "y", "h": "h"}
OTHER_NAMES = {"x": "temitadid", "z": "dugegikiv", "g": "bebolakak", "y": "a", "h": "b"}


def _data():
    """Return numbers x and z, a code g of three levels, a response y and one of two classes, h."""
    rng = np.random.default_rng(4)
    g = rng.permutation(np.repeat([1, 2, 3], [18, 16, 14]))
    x = rng.normal(size=N) + (g == 2)
    z = rng.uniform(1, 3, size=N) + x / 2
    y = 20 + x + x * z / 2 + (g == 2) * z - (g == 3) * x + rng.normal(size=N)
    h = np.where(y + 2 * rng.logistic(size=N) > 21, "yes", "no")
    frame = pd.DataFrame({"x": x, "z": z, "g": g, "y": y, "h": h})
    return frame.set_axis([f"row {i}" for i in range(N)])


DATA = _data()
ORDER = np.random.default_rng(5).permutation(N)


@dataclass(frozen=True)
class Change:
    """What is done to the data: of numbers, the factor and what is added."""

    x: tuple[float, float] = (1.0, 0.0)
    z: tuple[float, float] = (1.0, 0.0)
    y: tuple[float, float] = (1.0, 0.0)
    codes: Mapping[int, Any] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=lambda: NAMES)
    columns: bool = False
    rows: bool = False

    def of(self, data):
        """Return the data after the change."""
        new = data.copy()
        for variable in ("x", "z", "y"):
            times, plus = getattr(self, variable)
            new[variable] = times * new[variable] + plus
        new["g"] = new["g"].map(lambda code: self.codes.get(code, code))
        new["h"] = new["h"].map(lambda label: self.classes.get(label, label))
        new = new.rename(columns=dict(self.names))
        new = new.iloc[ORDER] if self.rows else new
        return new[new.columns[::-1]] if self.columns else new

    @property
    def first_level(self):
        """The original code of the level that comes first."""
        return min((1, 2, 3), key=lambda code: self.codes.get(code, code))

    @property
    def flipped(self):
        """Whether the second class was the first."""
        return bool(self.classes) and self.classes["no"] > self.classes["yes"]


ORIGINAL = Change()
CHANGES = {
    "x in thousandths": Change(x=(1e3, 0)),
    "x in millions": Change(x=(1e-6, 0)),
    "x and y from other zeros": Change(x=(1, 1000), y=(1, 50)),
    "all numbers in other units": Change(x=(1.8, 32), z=(1e6, 0), y=(1e-3, 0)),
    "letters in another order": Change(codes={1: "b", 2: "c", 3: "a"}),
    "names and columns in another order": Change(names=OTHER_NAMES, columns=True),
    "rows in another order": Change(rows=True),
}
# For what takes longer. Rows stay: the plan splits them by position.
EVERYTHING = Change(
    x=(1e-3, 0.005), z=(1e6, 0), y=(1e3, 0), codes={1: 10, 2: 7, 3: 99},
    classes={"no": "right", "yes": "left"}, names=OTHER_NAMES, columns=True,
)  # fmt: skip
# What moves besides an estimand's unit, or only.
BESIDES = {
    "draws": "Folds and draws go by position: in another order of rows an estimate stays within 2 "
    "standard errors.",
    "first level": "Values are differences from the first level: that of another first level is "
    "subtracted.",
    "coefficients": "Coefficients are slopes where other variables are 0 and at the first level: "
    "those that another zero or level concerns are others.",
    "order of levels": "Levels add up in an order: letters by similarity, numbers by size.",
    "zero of y": "Relative to y: y + c is another response.",
    "second class": "The metric asks how well the second class is told: another is another metric.",
}


class Ask(NamedTuple):
    """A call of a method of fitted models, with the variables' original names."""

    method: str
    args: tuple[Any, ...]
    options: dict[str, Any]

    def of(self, fit, change):
        def named(value):
            if isinstance(value, list):
                return [named(one) for one in value]
            return change.names.get(value, value)

        return getattr(fit, self.method)(*map(named, self.args), **self.options)


def ask(call):
    """Return a call that is written as of results."""
    method, _, given = call[:-1].partition("(")
    given = f"(lambda *args, **options: Ask({method!r}, args, options))({given})"
    return eval(given)  # noqa: S307 - tables of tests


class Law(NamedTuple):
    """The unit of an estimand, its call, what moves besides (in `BESIDES`), and who is asked.

    Units are products and ratios of those of y and of the estimand's own x; "y + c" takes what is
    added to y, "log y" the logarithm of y's factor; "p" is the probability of the second class and
    "log-odds" changes its sign with it. "|" parts several tables.
    """

    unit: str
    ask: Ask
    besides: str = ""
    fits: str = "ols"


X_AND_G = ["x", "g"]  # a number and a category, to save time


def laws(table):
    """Return the laws of a table of names, units, calls, what moves besides, and fits."""
    lines = (line.split("; ") for line in table.splitlines() if line and line[0] != "#")
    return {name: Law(unit, ask(call), *more) for name, unit, call, *more in lines}


LAWS = laws("""
# Loss
loss; y²; loss()
absolute loss; y; loss(loss='absolute')
R²; 1; loss(relation='explained')
metric rmse; y; metric(metric='rmse')
metric mae; y; metric(metric='mae')
metric mse; y²; metric(metric='mse')
metric rsq; 1; metric(metric='rsq')
metric rsq_trad; 1; metric(metric='rsq_trad')
metric mape; 1; metric(metric='mape'); zero of y
# Importance
PFI; y²; pfi(sampler='marginal')
PFI, ratio; 1; pfi(X_AND_G, loss='squared', relation='ratio')
PFI, absolute; y; pfi(X_AND_G, loss='absolute')
PFI, Poisson; y; pfi(X_AND_G, loss='poisson'); zero of y
PFI, gamma; 1; pfi(X_AND_G, loss='gamma'); zero of y
PFI, rsq; 1; pfi(X_AND_G, metric='rsq', permutations=2); draws
PFI, residual; y²; pfi(['x'], sampler='residual'); draws
PFI, categorical; y²; pfi(['g'], sampler='categorical'); draws
PFI, small subgroups; y²; pfi(['x', 'z'], sampler=pi.samplers.Subgroup(leaf=5)); draws
PFI, subgroup; y²; pfi(X_AND_G, sampler='subgroup'); draws
PFI, conditional; y²; pfi(X_AND_G, sampler='conditional'); draws
PFI, knockoff; y²; pfi(['x', 'z'], sampler='knockoff', permutations=20); draws; numbers
MVIM; y²; mvim(X_AND_G)
CVIM; y²; cvim(X_AND_G); draws
AMVIM; y²; amvim(X_AND_G, method='linear'); draws
AMVIM, additive; y²; amvim(X_AND_G, method='additive')
LOCO; y²; loco(); ; refits
SAGE; y²; sage(); draws
importances; y² | y; importance(['mvim', 'firm'], X_AND_G)
positivity; 1; positivity(X_AND_G); draws
redundancy; 1 | 1; redundancy(['x']); draws
coefficients; y / x; native_importance(type='raw'); coefficients
t; 1; native_importance(type='stat'); coefficients; fitted
# Effects
PD of x; y + c; pd('x', points=4, grid='quantile', of='prediction', kind='pd', average='mean')
PD of g; y + c; pd('g')
PD of x and g; y + c; pd(X_AND_G, points=2)
PD, exemplar; y + c; pd('x', points=4, average='exemplar')
PD, equidistant; y + c; pd('x', points=4, grid='equidistant')
PD of g, equidistant; y + c; pd('g', points=2, grid='equidistant')
PD, all values; y + c; pd('x', grid='unique')
PD, grid of R; y + c; pd('x', grid='r')
ICE; y + c; pd('x', points=4, kind='ice')
c-ICE; y; pd('x', points=4, kind='c-ice')
d-ICE; y / x; pd('x', points=4, kind='d-ice')
ALE of x; y; ale('x', points=4)
ALE of g; y; ale('g'); order of levels
AME; y / x; ame(); first level
AME over one sd; y / x; ame(step='sd'); first level
FIRM; y; firm(points=4, spread='sd')
FIRM, ICE; y; firm(points=4, ice=True)
FIRM, mad; y; firm(points=4, spread='mad')
FIRM, iqr; y; firm(points=4, spread='iqr')
vint; y; vint(X_AND_G, points=3)
H; 1; h_statistic(X_AND_G, order='overall')
H, pairwise; 1; h_statistic(X_AND_G, order='pairwise')
H, three-way; 1; h_statistic(order='three-way')
H, total; 1; h_statistic(order='total')
H, importance; 1; h_statistic(X_AND_G, order='importance')
H, in units; y; h_statistic(['x'], normalize=False, squared=False)
causal, x; y | y² | 1 | 1; causal('x', points=3); draws
causal, g; y | y² | 1 | 1; causal('g'); draws, first level
# Predictive distributions
entropy; log y; pd('x', points=4, of='entropy'); ; fitted
log likelihood; log y; pd('x', points=4, of='nll'); ; fitted
likelihood PFI; 1; likelihood_pfi(); ; fitted
entropy PFI; 1; entropy_pfi(); ; fitted
uncertainty; 1 | 1 | 1; uncertainty(X_AND_G); draws; fitted
# Two classes
PFI, log; 1; pfi(loss='log'); ; classes
PFI, brier; 1; pfi(loss='brier'); ; classes
PFI, zero_one; 1; pfi(loss='zero_one'); ; classes
metric accuracy; 1; metric(metric='accuracy'); ; classes
metric bal_accuracy; 1; metric(metric='bal_accuracy'); ; classes
metric youden; 1; metric(metric='youden'); ; classes
metric logloss; 1; metric(metric='logloss'); ; classes
metric log_loss; 1; metric(metric='log_loss'); ; classes
metric brier; 1; metric(metric='brier'); ; classes
metric roc_auc; 1; metric(metric='roc_auc'); ; classes
metric pr_auc; 1; metric(metric='pr_auc'); second class; classes
PD, probability; p; pd('x', points=4, scale='probability'); ; classes
PD, logit; log-odds; pd('x', points=4, scale='logit'); ; classes
PD, centered logit; log-odds; pd('x', points=4, scale='centered-logit'); ; classes
AME of log-odds; log-odds / x; ame(scale='logit'); first level; classes
FIRM of probabilities; 1; firm(points=4); ; classes
""")
# Asked of a line that was fitted elsewhere too: what coefficients' errors belong to.
FITTED = ("R²", "PFI", "coefficients", "AME", "FIRM")
# Each estimand once: asked of refits of a learner, and of one that is no line.
ONCE = (
    "loss", "R²", "PFI", "PFI, residual", "PFI, categorical", "PFI, subgroup", "MVIM", "CVIM",
    "AMVIM", "LOCO", "positivity", "redundancy", "PD of x", "PD of g", "PD, exemplar",
    "ALE of g", "AME", "FIRM", "H", "causal, g",
)  # fmt: skip
ALSO = {
    "fitted": FITTED,
    "refits": (*ONCE, "coefficients", "metric rmse"),
    "kernel": (*ONCE, "vint"),
}
# Options and their values that no row has.
LEFT_OUT = {
    "features, pairs, feature": "in every row",
    "together": "curves one by one",
    "which_class": "there are two classes; the second is the default",
    "permutations": "how many draws",
    "points, eps, most_rows, ice, normalize, squared, alpha": "numbers without a unit, flags",
    "rows, by, cov_type, alternative, p_adjust, simultaneous, progress": "as for any estimand",
    "loss = huber": "its threshold is in units of y",
    "loss = binomial": "for shares of trials",
    "loss = rps": "for ordered classes",
    "scale = cumulative, score": "for ordered classes",
    "scale = rate": "for exposures: below",
    "relation = difference, loss": "the defaults",
    "type = impurity": "of trees, which are not equivariant",
    "type = olden, garson": "of networks, which are not equivariant",
    "measures = cvim, amvim, pfi, loco, sage": "rows of their own",
    "measures = likelihood_pfi, entropy_pfi, native": "rows of their own",
}


def formula(change, response="y", *, interactions="all"):
    x, z, g, y = (change.names[v] for v in ("x", "z", "g", response))
    terms = [x, z, f"C({g})"][:: -1 if change.columns else 1]
    if interactions == "all":
        return f"{y} ~ {' * '.join(terms)}"
    return f"{y} ~ {' + '.join(terms)}" + (f" + {x}:{z}" if interactions == "one" else "")


def line():
    return LinearRegression(tol=0)  # at its default it leaves out columns of small units


def ols(change):
    """Return a line by the package's learner, with the exact engine."""
    learner = pi.Learner.from_formula(formula(change), change.of(DATA), line())
    return learner.fit_model(seed=1)


def numbers(change):
    """Return a line of numbers alone."""
    x, z, y = (change.names[v] for v in "xzy")
    learner = pi.Learner.from_formula(f"{y} ~ {x} * {z}", change.of(DATA), line())
    return learner.fit_model(seed=1)


def fitted(change):
    """Return the same line, fitted with statsmodels: coefficients have errors."""
    data = change.of(DATA)
    return pi.FittedModel(smf.ols(formula(change), data).fit(), data, change.names["y"], seed=1)


def kernel(change):
    """Return a curved surface behind a scaler, predicted by the engine of any learner."""
    x, z, g, y = (change.names[v] for v in "xzgy")
    data = change.of(DATA)
    X, center = data[[v for v in data if v in (x, z, g)]], data[y].mean()
    scaler = make_column_transformer(
        (StandardScaler(), [x, z]), (OneHotEncoder(handle_unknown="ignore"), [g])
    )
    model = make_pipeline(scaler, KernelRidge(kernel="rbf", gamma=0.2, alpha=0.1))
    return pi.FittedModel(model.fit(X, data[y] - center), X, data[y] - center, seed=1)


def refits(change):
    """Return refits of a line by the default plan, with few terms as half the rows train it."""
    data = change.of(DATA)
    learner = pi.Learner.from_formula(formula(change, interactions="one"), data, line())
    return learner.fit(pi.HalfSampling(2, pairs=5), seed=1)


def classes(change):
    """Return a logistic regression."""
    glm = pi.statsmodels_learner(sm.GLM, family=sm.families.Binomial())
    data = change.of(DATA)
    learner = pi.Learner.from_formula(formula(change, "h", interactions="none"), data, glm)
    return learner.fit_model(seed=1)


FITS = {fit.__name__: fit for fit in (ols, numbers, fitted, kernel, refits, classes)}


def laws_of(fit):
    """Return the laws that a fit is asked for."""
    return {
        name: law
        for name, law in LAWS.items()
        if law.fits == fit or (law.fits == "ols" and name in ALSO.get(fit, ()))
    }


# Tables in original units.

COLUMNS = ["estimate", "std_error", "conf_low", "conf_high", "statistic", "p_value"]


def tables(law, results, change):
    """Return every table in the units, names and codes of the original data, in one order."""
    parts = getattr(results, "parts", [results])
    return [
        _table(part, unit, change) for part, unit in zip(parts, law.unit.split(" | "), strict=True)
    ]


def _table(results, unit, change):
    terms, frame = results.estimand.terms, results.summary_frame()
    original = {new: old for old, new in change.names.items()}
    own = [original[name] for name in terms.axis_names]
    keys = {"term": [_original_term(str(t), change) for t in frame.index]}
    size = _size(unit, keys["term"] if not own else own * len(frame), change)
    if own:
        keys = {"term": ["value"] * len(frame)} | {
            variable: _original_values(variable, terms.layout[axis], change)
            for variable, axis in zip(own, terms.axes, strict=True)
        }
        size = np.full(len(frame), _size(unit, ["".join(own)], change)[0])
    values = frame[COLUMNS].reset_index(drop=True).astype(float)
    plus = {"y + c": change.y[1], "log y": np.log(change.y[0])}.get(unit, 0.0)
    values[["estimate", "conf_low", "conf_high"]] -= plus
    values[COLUMNS[:4]] = values[COLUMNS[:4]].div(size, axis=0)
    if change.flipped and unit.partition(" / ")[0] in ("p", "log-odds"):
        values[["estimate", "conf_low", "conf_high", "statistic"]] *= -1
        values[["estimate", "conf_low", "conf_high"]] += float(unit == "p")
        values = values.rename(columns={"conf_low": "conf_high", "conf_high": "conf_low"})
    table = pd.DataFrame(keys).join(values[COLUMNS])
    return table.sort_values([*keys], ignore_index=True)


def _size(unit, terms, change):
    """Return the factor of every term's values."""
    above, _, below = unit.partition(" / ")
    factor = {"y": change.y[0], "y + c": change.y[0], "y²": change.y[0] ** 2}.get(above, 1.0)
    per = [np.prod([getattr(change, v)[0] for v in "xz" if v in term]) for term in terms]
    return factor / (np.array(per) if below else np.ones(len(terms)))


def _original_values(variable, values, change):
    if variable == "g":
        codes = {new: old for old, new in change.codes.items()}
        return [codes.get(value, value) for value in values]
    times, plus = getattr(change, variable)
    return list((values.to_numpy(np.float64) - plus) / times)


def _original_term(term, change):
    """Return a term's name with the original names and codes, variables in one order."""
    back = {new: old for old, new in change.names.items()}
    back |= {str(new): str(old) for old, new in change.codes.items()}
    words = re.sub(r"\w+", lambda word: back.get(word[0], word[0]), term)
    return ":".join(sorted(words.split(":")))


# Comparison.


def differences(law, before, after, change):
    """Return what moved and should not have, in words; `before` is of the original data."""
    besides = law.besides.split(", ")
    others = {
        "second class": change.flipped,
        "zero of y": change.y[1],
        "order of levels": change.codes,
    }
    if any(others.get(reason) for reason in besides):
        return []
    columns = COLUMNS
    if "coefficients" in besides:
        kept = [_unmoved(table, change) for table in after]
        before = [b[b["term"].isin(a["term"])] for b, a in zip(before, kept, strict=True)]
        after = kept
    if "first level" in besides and change.first_level != 1:
        columns, before, after = ["estimate"], [*map(_levels, before)], [*map(_levels, after)]
    within = DRAWN if "draws" in besides and change.rows else 0.0
    pairs = zip(before, after, strict=True)
    return [text for one, other in pairs if (text := _difference(one, other, columns, within))]


def _difference(one, other, columns, within):
    """Return how two tables differ: by more than rounding, or so many standard errors."""
    if list(one["term"]) != list(other["term"]):
        return f"terms {list(one['term'])} -> {list(other['term'])}"
    if within:
        apart = (one["estimate"] - other["estimate"]).abs() / one["std_error"]
        return f"{_texts(one)} -> {_texts(other)}" if apart.max() > within else ""
    nothing = (one["estimate"].abs() < NOTHING) & (other["estimate"].abs() < NOTHING)
    for column in [c for c in one if c not in (*COLUMNS, "term")] + [*columns]:
        u, v = (table[column].to_numpy(np.float64).copy() for table in (one, other))
        if column in ("statistic", "p_value"):  # of a rounding error they say nothing
            u[nothing] = v[nothing] = 0.0
        atol = NOTHING + ROUNDING * np.nanmax(np.abs(u), initial=0.0)
        if not np.allclose(u, v, rtol=ROUNDING, atol=atol, equal_nan=True):
            return f"{column} {_texts(one, column)} -> {_texts(other, column)}"
    return ""


def _unmoved(coefficients, change):
    """Return the coefficients that a change does not concern."""
    if change.first_level != 1:
        return coefficients.iloc[:0]
    moved = {v for v in "xz" if getattr(change, v)[1]}
    return coefficients[[moved <= {*re.findall(r"\w", t)} for t in coefficients["term"]]]


def _levels(table):
    """Return differences from the level that came first in the original data."""
    if "g" in table:
        first = float(table.loc[table["g"] == 1, "estimate"].iloc[0])
        return table.assign(estimate=table["estimate"] - first)
    contrast = table["term"].str.extract(r"^g\[(\d) - (\d)\]$").dropna()
    values = {int(first): 0.0 for first in contrast[1]}
    for at, level in contrast[0].items():
        values[int(level)] = float(table.loc[at, "estimate"])
    if not values:
        return table
    new = [{"term": f"g[{k} - 1]", "estimate": v - values[1]} for k, v in values.items() if k != 1]
    whole = pd.concat([table.drop(contrast.index), pd.DataFrame(new)])
    return whole.sort_values("term", ignore_index=True)


def _texts(table, column="estimate"):
    return ", ".join(f"{value:.6g}" for value in table[column][:4])


def answers(fit, laws, change):
    """Return the tables of every estimand, or the error."""
    found = {}
    for name, law in laws.items():
        try:
            found[name] = tables(law, law.ask.of(fit, change), change)
        except Exception as error:  # noqa: BLE001 - it is what the cell shows
            found[name] = f"{type(error).__name__}: {str(error)[:150]}"
    return found


@cache
def originals(fit):
    return answers(FITS[fit](ORIGINAL), laws_of(fit), ORIGINAL)


def cells(laws, before, after, change):
    """Return the cells that fail, by estimand."""
    failed = {}
    for name, law in laws.items():
        errors = [found for found in (before[name], after[name]) if isinstance(found, str)]
        found = errors or differences(law, before[name], after[name], change)
        if found:
            failed[name] = "; ".join(found)
    return failed


def failures(fit, change):
    """Return the cells of a fit and a change that fail."""
    laws = laws_of(fit)
    return cells(laws, originals(fit), answers(FITS[fit](change), laws, change), change)


def shown(failed):
    return "\n" + "\n".join(f"  {name}: {text}" for name, text in failed.items())


# The law.


@pytest.mark.parametrize("change", CHANGES)
def test_a_line_moves_as_the_table_says(change):
    failed = failures("ols", CHANGES[change])
    assert not failed, shown(failed)


# Not of refits: rows, which the plan splits by position; columns, in whose order the rows are mixed
# whose predictions enter standard errors; the order of levels, of which equally frequent ones are
# more often typical.
REFITS = replace(EVERYTHING, columns=False, codes={1: 7, 2: 10, 3: 99})
OTHERS = {
    "refits, everything": ("refits", REFITS),
    "numbers, x in thousandths": ("numbers", CHANGES["x in thousandths"]),
    "numbers, x in millions": ("numbers", CHANGES["x in millions"]),
    **{
        f"{fit}, {what}": (fit, change)
        for what, change in (
            ("everything", EVERYTHING),
            ("rows in another order", CHANGES["rows in another order"]),
        )
        for fit in ("kernel", "fitted", "numbers", "classes")
        if change == EVERYTHING or fit in ("numbers", "classes")  # the others take long
    },
}


@pytest.mark.parametrize("cell", OTHERS)
def test_other_fits_move_as_the_table_says(cell):
    failed = failures(*OTHERS[cell])
    assert not failed, shown(failed)


@pytest.mark.parametrize("change", ["all numbers in other units", "rows in another order"])
@pytest.mark.parametrize("name", ["ICE", "PFI"])
def test_contributions_follow_their_rows(name, change):
    of = CHANGES[change]
    before, after = (LAWS[name].ask.of(ols(c), c).row_frame() for c in (ORIGINAL, of))
    size = _size(LAWS[name].unit, [""], of)[0]
    after = after.loc[before.index] / size
    assert list(before.index) == list(DATA.index)
    np.testing.assert_allclose(before, after, rtol=ROUNDING, atol=ROUNDING)


# A number that the learner takes as a category has the numbers of letters.

LETTERS = Change(codes={1: "a", 2: "b", 3: "c"})


def declared(change):
    """Return boosted trees that were told that g is a category."""
    x, z, g, y = (change.names[v] for v in "xzgy")
    data = change.of(DATA)
    X = data[[x, z, g]]
    X = X.astype({g: "category"}) if change.codes else X
    trees = HistGradientBoostingRegressor(
        categorical_features=[g], max_iter=10, min_samples_leaf=5, learning_rate=0.5
    )
    return pi.FittedModel(trees.fit(X, data[y]), X, data[y], seed=1, engine="batched")


# Of rows, as errors of coefficients, which take long, are not compared.
OF_LEVELS = laws("""
AME; y; ame('g', cov_type='rows')
FIRM; y; firm(['g'], cov_type='rows')
FIRM, mad; y; firm(['g'], spread='mad', cov_type='rows')
PD, equidistant; y; pd('g', points=2, grid='equidistant', cov_type='rows')
PD of x and g; y; pd(X_AND_G, points=2, cov_type='rows')
PD, exemplar; y; pd('x', points=3, average='exemplar', cov_type='rows')
vint; y; vint(['x', 'g'], points=2, cov_type='rows')
positivity; y; positivity(X_AND_G)
""")


@pytest.mark.parametrize("fit", [ols, fitted, kernel, declared], ids=lambda fit: fit.__name__)
def test_codes_have_the_numbers_of_letters(fit):
    failed = failures_of_codes(fit(ORIGINAL), fit(LETTERS))
    assert not failed, shown(failed)


def failures_of_codes(coded, lettered):
    letters, codes = answers(lettered, OF_LEVELS, LETTERS), answers(coded, OF_LEVELS, ORIGINAL)
    return cells(OF_LEVELS, letters, codes, LETTERS)


# A rate does not depend on the unit of exposures.


def boosted(name, per_year):
    """Return boosted trees of claims, with exposures in a unit of which there are some per year."""
    rng = np.random.default_rng(6)
    x, years = rng.normal(size=150), rng.uniform(0.1, 1, size=150)
    data = pd.DataFrame({NAMES["x"]: x, "exposure": years})
    data["claims"] = rng.poisson(years * np.exp(-1 + 0.5 * x))
    data["exposure"] *= per_year
    options = {"n_estimators": 20, "max_depth": 2, "learning_rate": 0.1, "n_jobs": 1}
    booster = {
        "LightGBM": lightgbm.LGBMRegressor(objective="poisson", verbose=-1, **options),
        "XGBoost": xgboost.XGBRegressor(objective="count:poisson", **options),
    }[name]
    learner = pi.Learner.from_formula(
        f"claims ~ {NAMES['x']}", data, booster, exposure="exposure", design="frame"
    )
    return learner.fit_model(seed=1)


SINGLE = 1e-5  # boosters predict in single precision
OF_RATES = laws("""
D²; 1; loss(loss='poisson', relation='explained')
PFI; 1; pfi(loss='poisson')
PD of claims; 1; pd('x', points=4)
PD of rates; 1 / exposure; pd('x', points=4, scale='rate')
FIRM of rates; 1 / exposure; firm('x', points=4, scale='rate')
""")


def failures_of_units(name):
    years, days = boosted(name, 1), boosted(name, 365)
    failed = {}
    for estimand, law in OF_RATES.items():
        before, after = (law.ask.of(fit, ORIGINAL).params for fit in (years, days))
        after *= 365 ** law.unit.endswith("exposure")
        if not np.allclose(before, after, rtol=SINGLE):
            failed[estimand] = f"{before.round(4).tolist()} -> {after.round(4).tolist()}"
    return failed


@pytest.mark.parametrize("name", ["LightGBM", "XGBoost"])
def test_rates_do_not_depend_on_the_unit_of_exposures(name):
    failed = failures_of_units(name)
    assert not failed, shown(failed)


# Is the table whole? And does the law see faults?


# Methods of fitted models that are no estimands.
NO_ESTIMANDS = {
    "estimate, answer": "take any estimand",
    "summary": "of the PFI",
    "predict": "the model itself",
    "save": "writes a file",
    "population, compare_targets": "of nature: `tests/unit/test_population.py` has their units",
    "interactions, products": "of nature: `tests/unit/test_interactions.py` has their units",
}


def test_every_estimand_has_a_law():
    methods = {
        name
        for kind in (pi.FittedModel, pi.LearnerResults)
        for name, _ in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }
    methods -= {name for names in NO_ESTIMANDS for name in names.split(", ")}
    asked = {law.ask.method for law in LAWS.values()}
    assert methods == asked, "Add rows to LAWS, or reasons to NO_ESTIMANDS."
    assert {*measures().values()} - {"population"} <= asked
    assert {b for law in LAWS.values() for b in law.besides.split(", ") if b} <= BESIDES.keys()
    assert {name for names in ALSO.values() for name in names} <= LAWS.keys()


# Values of options, of which a row has each.
VALUES = {
    "average": get_args(Average),
    "grid": RULES,
    "kind": get_args(PDKind),
    "loss": LOSSES,
    "method": get_args(Adjustment),
    "metric": METRICS,
    "of": get_args(PDOf),
    "order": get_args(Order),
    "relation": {*get_args(Relation), *get_args(RiskRelation)},
    "sampler": {"marginal", "conditional", *SAMPLERS},
    "scale": SCALES,
    "spread": get_args(Spread),
    "step": ("sd",),
    "type": get_args(Native),
}


def test_every_option_has_a_law_or_a_reason():
    used = {(name, str(value)) for law in LAWS.values() for name, value in law.ask.options.items()}
    reasons = {
        (name.strip(), value.strip())
        for entry in LEFT_OUT
        for name, _, values in [entry.partition("=")]
        for value in values.split(",")
    }
    asked = {law.ask.method for law in LAWS.values()}
    options = {name for method in asked for name in _options(method)}
    without = {name for entry in LEFT_OUT if "=" not in entry for name in entry.split(", ")}
    assert options - without == VALUES.keys() | {"measures"}
    missing = {(name, str(v)) for name, values in VALUES.items() for v in values} - used - reasons
    assert not missing, f"Add rows to LAWS, or reasons to LEFT_OUT: {sorted(missing)}"


def _options(method):
    """Return the names of a method's arguments."""
    return {*inspect.signature(getattr(pi.FittedModel, method)).parameters} - {"self"}


def test_names_of_a_variable_seed_the_same_draws():
    for name in "xzg":
        one, other = (zlib.crc32(names[name].encode()) for names in (NAMES, OTHER_NAMES))
        assert one == other
    first, second = (sorted("xzg", key=lambda v: names[v]) for names in (NAMES, OTHER_NAMES))
    assert first == second[::-1]


@pytest.mark.parametrize("fit", [ols, kernel, declared], ids=lambda fit: fit.__name__)
def test_the_law_sees_codes_taken_as_numbers(fit, monkeypatch):
    monkeypatch.setattr(Problem, "discrete", frozenset())
    coded = fit(ORIGINAL)
    assert {"AME", "FIRM"} <= failures_of_codes(coded, fit(LETTERS)).keys()
