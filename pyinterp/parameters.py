"""Parameters that several functions share: each is described once, and wrong names are refused.

A line of a docstring that is one of these names in braces stands for its description. A name in
`GROUPS` stands for several.

Parameters
----------
features : str or sequence of str, optional
    Features (variables, or groups of variables, which move jointly); by default all.
loss : str, Loss or callable, optional
    "squared", "absolute", "huber", "poisson", "gamma", "binomial" for regression; "log",
    "brier", "zero_one" for classification, "rps" for ordered classes; or a function
    ``loss(y, prediction)``, elementwise. The default is "squared", "log" for classifiers
    with probabilities, "binomial" for models that statsmodels fitted to shares, or "poisson"
    or "gamma" for learners that state this family with a logarithmic link.
metric : str, Metric or callable
    A measure of all rows together: "rmse", "mae", "mape", "mse", "rsq" (squared
    correlation), "rsq_trad", "accuracy", "bal_accuracy", "youden", "logloss" or "log_loss",
    "brier", "roc_auc" or "pr_auc" (average precision), most named as in R's yardstick; the
    name of a scorer of scikit-learn, or a scorer; or a function ``metric(y, prediction)``,
    also of ``weights`` or ``sample_weight``, with codes 0, 1, ... of classes in `y` and
    their probabilities, shape (n, classes), in `prediction`. Where it stands in place of a
    loss in an importance, that is the mean over permutations of how much worse it gets.
permutations : "auto", "all" or int
    "all" takes the mean over all ordered pairs of different rows, the U-statistic
    :math:`e_{switch}` of Fisher, Rudin and Dominici (2019), without Monte Carlo error. A
    number K takes K balanced permutations: every row meets K different donors and never
    itself. "auto" is "all" for tree ensembles, linear models and regression by kernel
    machines, which have exact engines, if rows times distinct values of the feature are at most
    1e8 per refit. With squared error there is no such bound. For other models "auto" is "all"
    if this takes at most 15,000 predictions per refit, or if the feature has at most 30 distinct
    values. For more
    it takes 30 permutations, or fewer to stay within 250,000 predictions, but at least 10.
sampler : str, Sampler or mapping
    How values that replace a feature are drawn given the other variables: "residual",
    "categorical", "subgroup" or "knockoff". "conditional" takes the one that suits the
    feature. A mapping names a sampler per feature; features that it does not name have
    "conditional". See ``pyinterp.samplers``.
grid : {"quantile", "equidistant", "unique", "r"}, RGrid, array, mapping or DataFrame
    "r" and ``pi.r_style.RGrid`` are the grids of R's pdp. An array, a mapping from variables to
    arrays, or a frame with one row per point, is used as it is, but numbers of an array
    are sorted. Categorical variables have all their levels unless the grid names them.
points : int, optional
    Grid points per variable; 20 for one variable, 10 each for two, 5 each for three.
kind : {"pd", "ice", "c-ice", "d-ice"}
    "ice" adds every row's curve to the plot. "c-ice" subtracts each curve's value at the
    first grid point. "d-ice" takes the slope of each curve. With these two, estimates and
    intervals are for the centered curve or for the slope.
scale : str, mapping or callable, optional
    Classifiers have "probability", "logit" and "centered-logit". The centered logit of a
    class is log p minus the mean of log p over the classes, per row, as in R's pdp. For
    two classes the logit is log p - log(1 - p), twice the centered logit. For more classes
    the two are the same. Ordered classes also have "cumulative", the probability of a class
    or a lower one, and "score", the expected score. Scores are the classes if these are
    numbers, otherwise 1, 2, ...; a mapping from classes gives other scores. "rate", of `pd`
    alone, is for models with an exposure: predictions are at exposure 1. A function, such as
    ``np.exp`` for a model of a logarithm, is applied to each prediction before the average.
which_class : label or list of labels, optional
    For classifiers; by default the second of two classes, or all of more.
average : {"mean", "exemplar"}
    "exemplar" does not average the rows' curves: it shows the curve of one artificial row, which
    has the median of every number and the most frequent level of every category.
rows : str or array of bool, optional
    Which evaluation rows, and donors, are used. A query selects them, such as "age > 50";
    it may name any column of the data. A mask has a value per row. No model is fitted
    anew, and grids come from all rows.
by : str or array, optional
    A column of the data, or an array with one level per row. The rows of each level have
    estimates, as if `rows` had selected them. All estimates have one joint covariance. Refits are
    trained on the rows of all levels.
title : str, optional
    Heading of the table.
notes : {"short", "full", "none"}
    "short" says what estimates and intervals mean, and what is missing. "full" adds how
    they are computed, for papers.
decimals : int, optional
    Of estimates and their errors; by default four significant digits of the largest
    estimate, or, if that is more, two of a usual and at most three of the largest error.
top : int, optional
    How many terms to print, the first in that order; of groups, of each. By default all.
cov_type : str, optional
    Variance estimator. The default depends on the resampling plan: "half-sample" after
    `HalfSampling`, "bootstrap" after `NestedBootstrap`, "naive" after fresh draws, and
    "corrected" after other plans with several refits. Estimands of nature, as `population`, have
    "influence" alone. One fitted model has "ustat"; its effects have "delta" if the model states
    the covariance of its coefficients.
    "bootstrap" gives percentile intervals. "rows" is for one fitted model too, and takes the
    donors as fixed.
alternative : {"two-sided", "greater", "less"}
    Alternative hypothesis of the tests and side of the intervals. Importances vary as
    squares, which have no sign, so nothing is halved for them. Their one-sided P equals the
    two-sided P if the estimate is on the alternative's side of the null value; otherwise it
    is 1. Their one-sided limit is a limit of the two-sided interval.
p_adjust : str, optional
    Adjustment of the p-values for multiplicity: a method of statsmodels' ``multipletests``
    such as "holm" or "fdr_bh". It covers the terms of one result. In a table of several
    measures it covers the terms of each measure. "bonferroni" and "sidak" adjust the
    intervals too. Other methods have no intervals, and the table shows intervals that are
    not adjusted.
simultaneous : bool
    Whether intervals cover all terms at once with probability 1 - alpha (sup-t), as a band
    covers a whole curve. The p-values then belong to these intervals. It excludes
    `p_adjust`.
progress : bool or "log"
    Show a progress bar, or write lines to a log, as `Learner.fit` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from textwrap import indent
from typing import Any, ParamSpec, TypeVar

from pyinterp import hints
from pyinterp.errors import did_you_mean, list_of

P = ParamSpec("P")
R = TypeVar("R")

BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
# Defaults of options that a typed dict of a method, such as ``**inference: Unpack[Inference]``,
# stands for, in the order in which `help` shows them.
DEFAULTS = {
    "grid": "quantile",
    "points": None,
    "of": "prediction",
    "kind": "pd",
    "scale": None,
    "which_class": None,
    "average": "mean",
    "permutations": "auto",
    "relation": "difference",
    "sampler": "marginal",
    "rows": None,
    "by": None,
    "cov_type": None,
    "alternative": "two-sided",
    "p_adjust": None,
    "simultaneous": False,
    "progress": False,
}


# Names in braces that stand for several parameters.
GROUPS = {
    "table": ("title", "notes", "decimals"),
    "inference": ("cov_type", "alternative", "p_adjust", "simultaneous", "progress"),
}
PLACE = re.compile(r"^( *)\{(\w+)\}\n", re.MULTILINE)
OPTIONS = re.compile(r"Unpack\[(\w+)\]")


def _descriptions() -> dict[str, str]:
    """Return the text of every parameter, and of the groups, in the docstring of this module."""
    _, *entries = re.split(r"^(?=\w+ : )", __doc__ or "", flags=re.MULTILINE)
    texts = {entry.split(" : ")[0]: entry for entry in entries}
    groups = {name: "".join(texts.get(n, "") for n in members) for name, members in GROUPS.items()}
    return texts | groups


DESCRIPTIONS = _descriptions()


def takes(
    descriptions: Mapping[str, str] = DESCRIPTIONS, *, refused: Mapping[str, str] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Describe shared parameters, and refuse keywords that a function does not take.

    Parameters
    ----------
    descriptions : mapping of str to str
        Text for every name in braces that is a line of the docstring.
    refused : mapping of str to str, optional
        Reasons for keywords that a user may expect, but that the function does not take.
    """
    reasons = refused or {}

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        shown = whole_signature(function, reasons)
        names = names_of(shown)

        @wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> R:
            check_keywords(function.__name__, options, names, reasons)
            return function(*args, **options)

        checked.__doc__ = describe(function.__doc__, descriptions)
        checked.__signature__ = shown  # type: ignore[attr-defined]  # what `help` shows
        return checked

    return decorated


def describe(docstring: str | None, descriptions: Mapping[str, str] = DESCRIPTIONS) -> str:
    """Return a docstring with the descriptions of parameters in the place of names in braces."""

    def description(place: re.Match[str]) -> str:
        spaces, name = place.groups()
        return indent(descriptions[name], spaces).rstrip() + "\n"

    return PLACE.sub(description, docstring or "")


def whole_signature(
    function: Callable[..., Any], refused: Collection[str] = (), types: Any = None
) -> Signature:
    """Return the signature with the options of a typed dict in the place of ``**options``.

    Those of another one, `types`, follow.
    """
    whole = signature(function)
    parameters = list(whole.parameters.values())
    place = OPTIONS.fullmatch(str(parameters[-1].annotation)) if parameters else None
    several = [] if types is None else [types]
    if place is not None:
        parameters.pop()
        several.insert(0, function.__globals__[place[1]])
    for options in several:
        annotations = options.__annotations__
        parameters += [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=default,
                annotation=annotations[name].__forward_arg__,
            )
            for name, default in DEFAULTS.items()
            if name in annotations and name not in refused
        ]
    return whole.replace(parameters=parameters)


def names_of(shown: Signature) -> list[str]:
    """Return the names of a signature's parameters that can be keywords, but for `self`."""
    by_name = (p.name for p in shown.parameters.values() if p.kind in BY_NAME)
    return [name for name in by_name if name not in ("self", "problem")]


def check_keywords(
    method: str, options: Iterable[str], names: list[str], refused: Mapping[str, str]
) -> None:
    """Raise `TypeError` unless a function takes all of these keywords."""
    for name in options:
        if name not in names:
            raise TypeError(_refusal(method, name, names, refused))


def _refusal(method: str, name: str, names: list[str], reasons: Mapping[str, str]) -> str:
    """Return the sentence on a keyword that a method does not take, with what to use instead."""
    start = f"{method}() takes no keyword argument `{name}`"
    if name in reasons:
        return f"{start}: {reasons[name]}"
    if name in ("alpha", "conf_level", "level") and "p_adjust" in names:
        return f"{start}: the table has the level, `summary(alpha=0.1)` or `conf_int(alpha=0.1)`."
    if name in GROUPS["inference"]:
        way = f'pd("x", {name}=...).differences()' if "diff" in method else f"pfi({name}=...)"
        return f"{start}: it belongs to the estimates, as in `res.{way}`."
    if name == "groups" and "features" in names:
        write = '`pi.Learner.from_formula(..., groups={"name": ["x", "z"]})`'
        return f'{start}, an option of the learner: write {write}, then `{method}("name")`.'
    ours = hints.option(name)
    guess = f" Did you mean `{ours}`?" if ours in names else did_you_mean(name, names)
    return f"{start}; its options are {list_of(names, most=20, limit=300)}.{guess}"
