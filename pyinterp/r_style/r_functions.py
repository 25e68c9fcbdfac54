"""The functions of R's pdp, vip and hstats: what they take, and how their numbers differ from ours.

`pyinterp.r_style` has these functions without R, `r_bridge` calls them in R. Both check and refuse
arguments by what stands here, docstrings are written from it, and so are the tables in
`docs/from_r.md`: ``python tests/docs/test_from_r.py`` writes them. Arguments and defaults are those
of pdp 0.9.1, vip 0.4 (`vint` of 0.3.2) and hstats 1.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from pyinterp.checks import (
    NOT_NEGATIVE,
    Interval,
    check_callable,
    check_choice,
    check_count,
    check_flag,
    check_number,
)
from pyinterp.r_style.description import Argument, Check, Convention, Refusal, RFunction

__all__ = [
    "CONVENTIONS",
    "FUNCTIONS",
    "HSTATS",
    "PARTIAL",
    "VI",
    "VINT",
    "VI_FIRM",
    "VI_PERMUTE",
]

FUNCTION: Check = partial(check_callable, like="np.exp")
ROWS = Refusal(
    "its rows are those of the results; make results of other rows with "
    "`pi.FittedModel(model, X, y)`."
)
ALL_ROWS = Refusal("all rows of the results are permuted; make results of fewer rows.")
BATCHES = Refusal("copies of rows are predicted in batches that fit `memory_mb` of `fit`.")
SHARE = Refusal("take the share of the rows first, such as `data.sample(frac=0.5)`.")
PREDICTION = Refusal("the model itself predicts; pass a function of rows as the model.")
DRAWING = Refusal("it returns a data frame; `plot()` of results draws.")
THREADS = Refusal("it is one process; `fit` of a learner has `n_jobs`.")
SILENT = Refusal("it prints nothing.")
DEPRECATION = "vip has deprecated it; use `{0}`."
NO_SORT = Refusal("the largest is first; sort the data frame with `sort_values`.")


def _count(least: int) -> Check:
    return partial(check_count, least=least)


def _one_of(*choices: str) -> Check:
    return partial(check_choice, allowed=choices)


def _refusals(reason: Refusal, *arguments: tuple[str, str]) -> Iterable[Argument]:
    """Yield arguments, with their defaults, that neither side takes."""
    for name, default in arguments:
        yield Argument(name=name, default=default, r_style=reason, r_bridge=reason)


OBJECT = Argument(name="object", r_bridge="model")
TRAIN = Argument(name="train", default="NULL", r_style=ROWS, r_bridge="data")
FEATURE_NAMES = Argument(
    name="feature_names",
    default="NULL",
    values="str or sequence of str",
    text="Variables; by default all.",
    method="features",
)

# Where a curve is evaluated, and on which scale: pdp's arguments that vip hands on.
GRID = (
    Argument(
        name="grid.resolution",
        default="NULL",
        check=_count(1),
        values="int",
        text="Number of equally spaced grid points of a number, for each of two variables too; by "
        "default the number of distinct values, at most 51.",
        method="grid=pi.RGrid(grid_resolution=20)",
    ),
    Argument(
        name="quantiles",
        default="FALSE",
        check=check_flag,
        values="bool",
        text="A grid of type-7 quantiles at `probs` in their place.",
        method="grid=pi.RGrid(quantiles=True)",
    ),
    Argument(
        name="probs",
        default="1:9/10",
        values="sequence of float",
        text="Probabilities of the quantiles.",
        method="grid=pi.RGrid(quantiles=True, probs=p)",
    ),
    Argument(
        name="trim.outliers",
        default="FALSE",
        check=check_flag,
        values="bool",
        text="Leave what a boxplot calls outliers out of the grid's range.",
        method="grid=pi.RGrid(trim_outliers=True)",
    ),
)
SCALE = (
    Argument(
        name="type",
        default='"auto"',
        check=_one_of("auto", "regression", "classification"),
        values='{"auto", "regression", "classification"}',
        text='"auto" is what the model does. "regression" of a classifier with two classes is the '
        "log-odds of the class of `which_class`, a glm's linear predictor.",
        method='scale="logit"',
    ),
    Argument(
        name="inv.link",
        default="NULL",
        check=FUNCTION,
        values="function",
        text="Applied to every prediction of a regression before the mean.",
        method="scale=np.exp",
    ),
    Argument(
        name="which.class",
        default="1L",
        check=_count(1),
        values="int",
        text="Which class, counted from 1 in R's order: for binomial models of statsmodels and of "
        "R's ``glm``, ``gam``, ``nnet`` and ``gbm`` 1 is the event; for other learners 1 is the "
        "first class.",
        method="which_class=label",
    ),
    Argument(
        name="prob",
        default="FALSE",
        check=check_flag,
        values="bool",
        text="Probabilities of classes instead of centered logits (for two classes, half the "
        "logit).",
        method='scale="probability"',
    ),
)
PLACE = (
    Argument(
        name="chull",
        default="FALSE",
        check=check_flag,
        values="bool",
        text="Of two numbers, keep the grid points inside the convex hull of the data.",
        method="grid=pi.RGrid(chull=True)",
    ),
    Argument(
        name="cats",
        default="NULL",
        values="str or sequence of str",
        text="Numbers that are categories: all distinct values are grid points.",
        method='grid=pi.RGrid(cats=["k"])',
    ),
    Argument(
        name="check.class",
        default="TRUE",
        check=check_flag,
        values="bool",
        text="Give grid values the type of their column: whole numbers are truncated towards 0.",
        method="grid=pi.RGrid(check_class=False)",
    ),
)
PLOTTING = (
    ("plot", "FALSE"),
    ("plot.engine", '"tinyplot"'),
    ("smooth", "FALSE"),
    ("rug", "FALSE"),
    ("levelplot", "TRUE"),
    ("contour", "FALSE"),
    ("contour.color", '"white"'),
    ("palette", '"viridis"'),
    ("alpha", "1"),
    ("color.by", "NULL"),
    ("bars", "FALSE"),
)
PARTIAL = RFunction(
    package="pdp",
    name="partial",
    arguments=(
        OBJECT,
        Argument(name="pred.var", method="features"),
        Argument(
            name="pred.grid",
            values="array, mapping or DataFrame, optional",
            text="The grid itself: values of one variable, or one row per point; R sorts it.",
            method="grid=[0, 1]",
        ),
        Argument(
            name="pred.fun",
            default="NULL",
            values="RCode",
            text="``function(object, newdata)``, in R: predictions of its own, or their mean.",
            method='average="median"',
            r_style=Refusal(
                "the model itself predicts; `pd(average=...)` has other averages than the mean."
            ),
        ),
        *GRID[:1],
        Argument(
            name="ice",
            default="FALSE",
            check=check_flag,
            values="bool",
            text="Every row's own curve, with its number in a column ``yhat.id``.",
            method='kind="ice"',
        ),
        Argument(
            name="center",
            default="FALSE",
            check=check_flag,
            values="bool",
            text="With `ice`, subtract each curve's value at the first grid point; to curves of "
            "probabilities pdp then adds 0.5.",
            method='kind="c-ice"',
        ),
        Argument(
            name="approx",
            default="FALSE",
            check=check_flag,
            values="bool",
            text="The curve of one row of medians and most frequent levels instead of the mean.",
            method='average="exemplar"',
        ),
        *GRID[1:],
        *SCALE,
        *_refusals(
            Refusal("it is of gbm objects of R alone; here every model is asked for predictions."),
            ("recursive", "TRUE"),
        ),
        *_refusals(DRAWING, *PLOTTING),
        *PLACE,
        replace(TRAIN, default=""),
        *_refusals(BATCHES, ("batch.size", "NULL")),
        *_refusals(SILENT, ("progress", "FALSE")),
        *_refusals(THREADS, ("parallel", "FALSE"), ("paropts", "NULL")),
        *_refusals(SHARE, ("frac", "1")),
    ),
)


def _arguments_of_partial(*instead: Argument) -> tuple[Argument, ...]:
    """Return the arguments of ``partial`` that vip hands on to it, some described anew."""
    anew = {argument.name: argument for argument in instead}
    vips = {"object", "pred.var", "train", "progress", "parallel", "paropts"}
    return tuple(anew.get(a.name, a) for a in PARTIAL.arguments if a.name not in vips)


ONE_GRID = Refusal(
    "the grid would be that of every feature; use `partial` of one feature, or "
    '`firm(grid={"x": [0, 1]})` of results.'
)
EXEMPLAR = Refusal('use `average="exemplar"` of the method `firm` or `vint` of results.')
MEAN_CURVE = Refusal("an interaction is measured on the mean curve of two features.")
NO_GRID = replace(PARTIAL["pred.grid"], method="", r_style=ONE_GRID, r_bridge=ONE_GRID)
NO_EXEMPLAR = replace(PARTIAL["approx"], r_style=EXEMPLAR)

VI_FIRM = RFunction(
    package="vip",
    name="vi_firm",
    arguments=(
        OBJECT,
        FEATURE_NAMES,
        TRAIN,
        *_refusals(Refusal(DEPRECATION.format("var_continuous")), ("var_fun", "NULL")),
        Argument(name="var_continuous", default="stats::sd", method='spread="mad"'),
        Argument(
            name="var_categorical",
            default="range / 4",
            r_style=Refusal(
                "it is the range / 4; `r_bridge.vi_firm` takes other functions, or take them of "
                "the values of `partial`."
            ),
        ),
        *_arguments_of_partial(
            NO_GRID,
            NO_EXEMPLAR,
            replace(
                PARTIAL["ice"],
                text="Take the spread of every row's own curve, and the mean of these.",
                method="ice=True",
            ),
            replace(
                PARTIAL["center"],
                text="Whether these are centered, which does not change their spread.",
                method="",
            ),
            replace(PARTIAL["chull"], text="Ignored: one variable has no hull.", method=""),
        ),
    ),
)

VI_PERMUTE = RFunction(
    package="vip",
    name="vi_permute",
    arguments=(
        OBJECT,
        FEATURE_NAMES,
        TRAIN,
        Argument(
            name="target",
            default="NULL",
            values="str or array of shape (n,)",
            text="The response, or the name of its column in `data`; by default the response that "
            "a `FittedModel` or a learner's results bring along, for the rows that they bring "
            "along.",
            r_style=Refusal("the results bring their response along."),
        ),
        Argument(name="metric", default="NULL", method='metric="rmse"'),
        Argument(
            name="smaller_is_better",
            default="NULL",
            check=check_flag,
            values="bool",
            text="For a metric that is a function.",
            r_style=Refusal("every metric has it; subclass `pi.Metric` for one of your own."),
        ),
        Argument(
            name="type",
            default='"difference"',
            check=_one_of("difference", "ratio"),
            values='{"difference", "ratio"}',
            text="How the metrics after and before permuting are compared.",
            method='relation="ratio"',
        ),
        Argument(
            name="nsim",
            default="1",
            check=_count(1),
            values="int",
            text="Number of permutations of each feature; R's are random, ours have no fixed "
            "points and are at most one less than rows.",
            method="permutations=10",
        ),
        Argument(
            name="keep",
            default="TRUE",
            check=check_flag,
            values="bool",
            text='Keep the value of every permutation, in ``frame.attrs["raw_scores"]``.',
            r_style=Refusal("`StDev` has the spread over permutations, single ones are not kept."),
        ),
        Argument(
            name="sample_size",
            default="NULL",
            check=_count(1),
            values="int",
            text="Number of rows to sample, without replacement.",
            r_style=ALL_ROWS,
        ),
        Argument(
            name="sample_frac",
            default="NULL",
            check=partial(check_number, interval=Interval(0, 1, "high")),
            values="float",
            text="Share of the rows to sample, without replacement.",
            r_style=ALL_ROWS,
        ),
        Argument(
            name="reference_class",
            default="NULL",
            r_style=Refusal("every metric has the same value for either of two classes."),
            r_bridge=Refusal(DEPRECATION.format("event_level")),
        ),
        Argument(
            name="event_level",
            default="NULL",
            check=_one_of("first", "second"),
            values='{"first", "second"}',
            text="The class whose probability is meant, for two classes.",
            r_style=Refusal("every metric has the same value for either of two classes."),
        ),
        Argument(
            name="pred_wrapper",
            default="NULL",
            values="RCode",
            text="``function(object, newdata)``, in R. By default the model's predictions; of a "
            "classifier the classes or probabilities that the metric compares.",
            r_style=PREDICTION,
        ),
        *_refusals(SILENT, ("verbose", "FALSE")),
        *_refusals(THREADS, ("parallel", "FALSE"), ("parallelize_by", '"features"')),
    ),
)

VINT = RFunction(
    package="vip",
    name="vint",
    arguments=(
        OBJECT,
        replace(
            FEATURE_NAMES,
            default="",
            values="str or sequence of str, optional",
            text="Features whose pairs are measured; by default all.",
            method="pairs",
        ),
        *_refusals(SILENT, ("progress", '"none"')),
        *_refusals(THREADS, ("parallel", "FALSE"), ("paropts", "NULL")),
        replace(TRAIN, default=""),
        *_arguments_of_partial(
            NO_GRID,
            NO_EXEMPLAR,
            replace(PARTIAL["ice"], method="", r_style=MEAN_CURVE, r_bridge=MEAN_CURVE),
            replace(PARTIAL["center"], method="", r_style=MEAN_CURVE, r_bridge=MEAN_CURVE),
        ),
    ),
)

VI = RFunction(
    package="vip",
    name="vi",
    sides=("r_style",),
    arguments=(
        OBJECT,
        Argument(
            name="method",
            default='"model"',
            check=_one_of("model", "firm", "permute"),
            values='{"model", "firm", "permute"}',
            text='"model" is what the model itself reports, with its sign if it has one; terms '
            "have patsy's names.",
        ),
        FEATURE_NAMES,
        *_refusals(
            Refusal("names are not cut; rename the data frame's."),
            ("abbreviate_feature_names", "NULL"),
        ),
        *_refusals(NO_SORT, ("sort", "TRUE"), ("decreasing", "TRUE")),
        Argument(
            name="scale",
            default="FALSE",
            check=check_flag,
            values="bool",
            text="Make the largest 100.",
        ),
        Argument(
            name="rank",
            default="FALSE",
            check=check_flag,
            values="bool",
            text="Give ranks, 1 for the largest.",
        ),
    ),
)

HSTATS = RFunction(
    package="hstats",
    name="hstats",
    arguments=(
        OBJECT,
        Argument(name="X", r_style=ROWS, r_bridge="data"),
        Argument(
            name="v",
            default="NULL",
            values="str or sequence of str",
            text="Features; by default all.",
            method="features",
        ),
        Argument(
            name="pred_fun", default="stats::predict", r_style=PREDICTION, r_bridge=PREDICTION
        ),
        Argument(
            name="pairwise_m",
            default="5L",
            check=_count(0),
            values="int",
            text="Number of features, those with the largest overall numerators, whose pairs are "
            "measured.",
            method='order="pairwise"',
        ),
        Argument(
            name="threeway_m",
            default="0L",
            check=_count(0),
            values="int",
            text="Likewise of triples; at most `pairwise_m`.",
            method='order="three-way"',
        ),
        Argument(
            name="approx",
            default="FALSE",
            check=check_flag,
            values="bool",
            text="Replace features of many values by `grid_size` quantiles.",
            r_style=Refusal("features are not replaced by quantiles; use fewer rows by `n_max`."),
        ),
        Argument(
            name="grid_size",
            default="50L",
            check=_count(1),
            values="int",
            text="For `approx`.",
            r_style=Refusal("features are not replaced by quantiles; use fewer rows by `n_max`."),
        ),
        Argument(
            name="n_max",
            default="500L",
            check=_count(2),
            values="int",
            text="Rows at most; of more, R and we sample different ones.",
            method="most_rows=500",
        ),
        Argument(
            name="eps",
            default="1e-10",
            check=partial(check_number, interval=NOT_NEGATIVE),
            values="float",
            text="Numerators of at most this count as 0.",
            method="eps=1e-10",
        ),
        Argument(
            name="w",
            default="NULL",
            values="sequence of float",
            text="Weights of the rows.",
            r_style=Refusal("its rows count alike; `r_bridge.hstats` takes weights."),
        ),
        *_refusals(SILENT, ("verbose", "TRUE")),
        Argument(
            name="normalize",
            default="TRUE",
            check=check_flag,
            values="bool",
            text="Of ``h2_pairwise`` and its like: divide by the mean square of the joint effect.",
            method="normalize=False",
        ),
        Argument(
            name="squared",
            default="TRUE",
            check=check_flag,
            values="bool",
            text="Of ``h2_pairwise`` and its like: if not, take the root.",
            method="squared=False",
        ),
    ),
)

FUNCTIONS = {f.name: f for f in (PARTIAL, VI_FIRM, VI_PERMUTE, VINT, VI, HSTATS)}

CONVENTIONS = {
    "exemplar": Convention(
        topic="the row of `approx = TRUE`",
        r="pdp: medians and most frequent levels of a data frame; of a matrix medians rounded up, "
        "and since 0.9.1 the most frequent values of the columns in `cats`",
        here="medians and most frequent levels",
        same='`average="exemplar"`',
    ),
    "grid": Convention(
        topic="grid of a number",
        r="pdp: min(number of distinct values, 51) equally spaced values; whole numbers truncated",
        here="20 quantiles; whole numbers stay observed values",
        same='`grid="r"`',
    ),
    "levels": Convention(
        topic="grid of a factor",
        r="pdp: all levels, unused ones too",
        here="the levels that occur",
        same='`grid="r"`',
    ),
    "scale": Convention(
        topic="scale of a classifier",
        r="pdp: centered logit, log p minus its mean over the classes, of the first class (for "
        "`glm` of the event); for two classes half the logit",
        here="probability of the second of two classes, or of all of more",
        same='`scale="centered-logit"`',
    ),
    "center": Convention(
        topic="centered ICE",
        r="pdp: first grid point subtracted; of probabilities then 0.5 is added",
        here="first grid point subtracted",
    ),
    "category": Convention(
        topic="spread of a category in FIRM",
        r="vip: range / 4",
        here="range / 4",
    ),
    "firm": Convention(
        topic="FIRM and the data",
        r="vip: the sd over the grid points of pdp, which count alike, so that equally spaced "
        "points are not the data's",
        here="the sd over quantiles, which follow the data",
        same='`firm(grid="r")`',
    ),
    "strings": Convention(
        topic="strings in FIRM",
        r="vip: no factors, their sd is taken",
        here="levels, range / 4",
    ),
    "permutation": Convention(
        topic="permutation importance",
        r="vip: a metric of all rows after one random permutation per `nsim`, fixed points allowed",
        here="a loss of each row over all pairs of rows, without Monte Carlo error",
        same='`pfi(metric="rmse", permutations=5)`, without fixed points',
    ),
    "spread": Convention(
        topic="± of permutation importance",
        r="vip's StDev, hstats' SE and DALEX's boxplots are over permutations: Monte Carlo error",
        here="`std err` is sampling error",
        same="`mcse`",
    ),
    "metrics": Convention(
        topic="metrics of vip",
        r="`pr_auc` joins points of precision and recall by lines",
        here="`pr_auc` is the average precision, the area under steps, as in scikit-learn; "
        "`r_style.vi_permute` refuses it",
    ),
    "link": Convention(
        topic="predictions of a `glm` of counts or with another link",
        r="pdp: the linear predictor",
        here="the mean, as of every model",
        same="`scale=np.log` of a Poisson model",
    ),
    "missing": Convention(
        topic="rows with missing values",
        r="pdp keeps rows that miss the variable it replaces only, and counts all in the grid",
        here="rows with a missing value are kept if the learner takes it, or left out whole, and a "
        "note counts them",
    ),
    "hull": Convention(
        topic="points on the edge of the convex hull",
        r="pdp: some are left out",
        here="inside",
    ),
    "rows": Convention(
        topic="rows",
        r="training rows, as a rule",
        here="rows that did not train the model",
        same="`pi.FittedModel` of the training rows",
    ),
    "recursive": Convention(
        topic="`gbm`",
        r="pdp: `recursive = TRUE`, a weighted traversal of the trees, which is not PD",
        here="PD",
    ),
    "vint": Convention(
        topic="interaction by partial dependence",
        r="vip: for every value of one feature the sd of the partial dependence over the other, "
        "and the sd of those; both ways round, and their mean, which can't see effects of two "
        "categories that cross",
        here="the same on quantiles",
        same='`vint(grid="r")`',
    ),
    "interaction": Convention(
        topic="interaction",
        r="iml: H (the root), at 30 random rows; hstats: H², at most 500 rows",
        here="H², at most 500 rows",
    ),
}
