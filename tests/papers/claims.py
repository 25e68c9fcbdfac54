"""What the papers say of their cells, as checks of our numbers, by the words of the package.

A check has no threshold of ours, but that of errors: it compares places, signs and numbers, and
`ERRORS` standard errors where a difference is said to be there or not. One that does not hold
stands as `broken` in the words of its cell.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

Check = Callable[[pd.DataFrame], Any]
ERRORS = 3.0


def more(frame, other):
    """Whether numbers are larger than others, all of them by more than errors."""
    difference = frame["ours"] - other["ours"]
    return bool((difference > ERRORS * np.hypot(frame["error"], other["error"])).all())


# Khan et al. -------------------------------------------------------------------------------------


def means(frame, **values):
    """Our mean numbers by n, of rows with these values."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame.groupby("n")["ours"].mean()


def estimate(frame, feature):
    return means(frame, feature=feature, quantity="estimate")


def delta(frame, feature):
    return means(frame, feature=feature, quantity="delta").abs()


def falls(frame):
    """From every size to the next, but for three errors of both."""
    parts = frame.query("quantity == 'delta' and feature != 'X6'").groupby("feature")
    pairs = [(part[:-1].reset_index(), part[1:].reset_index()) for _, part in parts]
    return all(part["ours"].iloc[0] > part["ours"].iloc[-1] for _, part in parts) and not any(
        more(b.iloc[[k]], a.iloc[[k]]) for a, b in pairs for k in a.index
    )


def unbiased(frame, learner, features, truth):
    """Within errors of the truth, at all sizes."""
    part = frame[(frame["learner"] == learner) & frame["feature"].isin(features)]
    found = part.groupby(["feature", "n"])["ours"].agg(["mean", "sem"])
    return bool(((found["mean"] - truth).abs() <= ERRORS * found["sem"]).all())


def away(frame):
    """Distances of mean estimates from the true values, a column per size."""
    sizes = frame.pivot_table("ours", "measure", "n")
    return sizes.sub(pd.Series(TRUTH[frame.attrs["cell"]]), axis=0).abs()


# 8 V(X1) and 8 V(X1 | others): equations 28 to 30.
TRUTH = {
    f"figure {k}": {"MVIM": 8 * (0.93 + v), "AMVIM": 8 * (0.93 + v), "CVIM": 8 * v}
    for k, v in ((10, 1.0), (11, 0.5075**2), (12, 0.2575**2))
}
BOTH = ("X1", "X5")
KHAN = {
    "delta falls with n": falls,
    "delta of X5 is smaller than that of X1 at all n": lambda f: (
        delta(f, "X5") < delta(f, "X1")
    ).all(),
    "X1 is underestimated at all n": lambda f: (estimate(f, "X1") < 8).all(),
    "X5 is overestimated from 1,000 rows on": lambda f: (estimate(f, "X5").loc[1000:] > 8).all(),
    "the bias of switched predictions is larger at all n": lambda f: (
        means(f, quantity="bias2_switch", feature="X1")
        > means(f, quantity="bias2_orig", feature="X1")
    ).all(),
    "the oracle is unbiased at all n": partial(
        unbiased, learner="oracle", features=BOTH, truth=8.0
    ),
    "the additive model has nothing of X1, and X5": lambda f: (
        unbiased(f, "additive", ("X1",), 0.0)
        and unbiased(f[f["n"] == f["n"].max()], "additive", ("X5",), 8.0)
    ),
    "XGBoost finds more with more rows": lambda f: all(
        means(f, learner="XGBoost", feature=x).is_monotonic_increasing for x in BOTH
    ),
    "XGBoost overestimates X5 at n = 5,000": lambda f: (
        means(f, learner="XGBoost", feature="X5")[5000] > 8
    ),
    "XGBoost underestimates X1 at all n": lambda f: (
        means(f, learner="XGBoost", feature="X1") < 8
    ).all(),
    "estimates come nearer to the truth with n": lambda f: (
        away(f).diff(axis=1).iloc[:, 1:] < 0
    ).all(axis=None),
    "AMVIM is nearer to the truth than MVIM": lambda f: (
        away(f).loc["AMVIM"] < away(f).loc["MVIM"]
    ).all(),
}

# Wood et al. -------------------------------------------------------------------------------------

RELEVANT = ["x1", "x2", "x3", "x4"]


def of(frame, measure, data=""):
    """Importances and errors by feature."""
    part = frame[frame["measure"] == f"{measure}-PFI"]
    part = part[part["data"] == data] if data else part
    return part.set_index("feature")[["ours", "error"]]


def first(part, k):
    return set(part["ours"].nlargest(k).index)


def alike(frame):
    """The relevant features are the first four, and no two differ by more than errors."""
    part = of(frame, "likelihood", "no copy")
    four = part.loc[RELEVANT].sort_values("ours")
    return first(part, 4) == set(RELEVANT) and not more(
        four.iloc[[-1]], four.iloc[[0]].set_axis(four.index[-1:])
    )


def copy_of_x5(frame):
    both = ["x5", "x10"]
    new, old = of(frame, "entropy", "x10 = x5"), of(frame, "entropy", "no copy")
    little = new.loc[both, "ours"].max() < of(frame, "entropy", "x10 = x1").loc["x1", "ours"]
    idle = of(frame, "likelihood", "x10 = x5").loc[both]
    zero = bool((idle["ours"].abs() <= ERRORS * idle["error"]).all())
    return more(new.loc[both], old.loc[both]) and little and zero


def shared_information(frame):
    part = of(frame, "entropy")
    some, none = part.iloc[:4], part.loc["X5"]
    nothing = abs(none["ours"]) <= ERRORS * none["error"]
    return bool((some["ours"] > ERRORS * some["error"]).all() and nothing)


def mean_curve(frame, x, feature=""):
    part = frame[frame["row"].astype(str) == "mean"]
    part = part[part["feature"] == feature] if feature else part
    return part.groupby(x)["ours"].mean()


def curves_differ_inside(frame):
    rest = frame[(frame["feature"] == "X1") & (frame["row"].astype(str) != "mean")]
    spread = rest.groupby("value")["ours"].std()
    return spread.loc[-0.6:0.6].min() > spread.loc[1.7:2.1].max()


def hole(frame):
    curves = [mean_curve(frame, "value", x) for x in ("X1", "X2")]
    bands = [c.loc[[-2.1, -1.8, 1.8, 2.1]].max() for c in curves]
    parts = [[c.loc[-0.3:0.3].min(), c.iloc[[0, -1]].min()] for c in curves]
    return all(min(part) > band for part, band in zip(parts, bands, strict=True))


def class_means(frame):
    x = "glucose" if "glucose" in frame else "mass"
    rest = frame[frame["row"].astype(str) != "mean"]
    return rest.pivot_table("ours", x, "diabetes")


def crosses(frame):
    change = class_means(frame).iloc[-1] - class_means(frame).iloc[0]
    return change["pos"] < 0 < change["neg"]


def each(check):
    """What is said of a figure holds in the panel of every model."""
    return lambda f: f["model"].nunique() == 2 and all(check(g) for _, g in f.groupby("model"))


def glucose_first(frame):
    part = of(frame, "likelihood")
    two = part.loc[["age", "mass"]]
    return first(part, 1) == {"glucose"} and bool((two["ours"] > ERRORS * two["error"]).all())


WOOD = {
    "relevant features are alike without a copy": alike,
    "a copy lowers the likelihood-PFI of x1": lambda f: more(
        of(f, "likelihood", "no copy").loc[["x1"]], of(f, "likelihood", "x10 = x1").loc[["x1"]]
    ),
    "x1 and its copy have the largest entropy-PFI": lambda f: (
        first(of(f, "entropy", "x10 = x1"), 2) == {"x1", "x10"}
    ),
    "a copy of x5 raises the entropy-PFI of both a little, and no likelihood-PFI": copy_of_x5,
    "X1 to X4 have entropy-PFI, X5 next to none": shared_information,
    "X5 has the largest likelihood-PFI": lambda f: first(of(f, "likelihood"), 1) == {"X5"},
    "entropy is higher inside and at the edges than in the bands": hole,
    "curves differ inside more than at the rim": curves_differ_inside,
    "age is most important for the likelihood": each(
        lambda f: first(of(f, "likelihood"), 1) == {"age"}
    ),
    "its entropy-PFI is the smallest": each(lambda f: of(f, "entropy")["ours"].idxmin() == "age"),
    "glucose is most important; age and mass have effects": each(glucose_first),
    "entropy is lower for low values": each(
        lambda f: mean_curve(f, "glucose").loc[:90].mean() < mean_curve(f, "glucose").mean()
    ),
    "it peaks between 150 and 175": each(lambda f: 150 <= mean_curve(f, "glucose").idxmax() <= 175),
    "it falls for positive women, rises for negative": each(crosses),
    "positive women with low mass have high entropy": each(
        lambda f: class_means(f).loc[18:24, "pos"].mean() > class_means(f).loc[18:24, "neg"].mean()
    ),
}

# Molnar et al. -----------------------------------------------------------------------------------


def wide(frame, column):
    """Our numbers, a column per value of a column, a row per scenario."""
    names = [c for c in frame if c not in (column, *NUMBERS)]
    return frame.pivot_table("ours", names, column)


NUMBERS = ("ours", "printed", "error", "difference", "erratum", "status")


def worsens(frame):
    """From 2 to 30 refits, on average over scenarios, for every kind of interval."""
    held = frame[frame["measure"] == "coverage"].pivot_table("ours", "quantity", "refits")
    return len(held) == 4 and bool((held[30] < held[2]).all())


def covers(frame, where):
    """Coverage of some learners, a column per interval."""
    return wide(frame.query(f"measure == 'coverage' and {where}"), "quantity")


def for_pfi_less(frame):
    part = covers(frame, "learner == 'lm'").drop(columns=["boot", "subs"])
    return len(part) == 8 and bool(
        (part.xs("PFI", level="estimand") < part.xs("PD", level="estimand")).all(axis=None)
    )


def bootstrap_is_closer(frame):
    some = "not (learner == 'tree' and process == 'non-linear')"
    away = (covers(frame, some) - 0.95).abs()
    width = wide(frame.query(f"measure == 'width' and {some}"), "quantity")
    return bool((away["boot*"] < away["subs*"]).all() and (width["boot*"] > width["subs*"]).all())


def parts_of(frame, what, level):
    return frame[(frame["what"] == what) & (frame["level"] == level)].set_index("term")


def apart(frame, level):
    """Whether the intervals of alcohol and sulphates do not overlap."""
    part = parts_of(frame, "PFI", level)
    low, high = part["ours"] - 1.96 * part["error"], part["ours"] + 1.96 * part["error"]
    return low["alcohol"] > high["sulphates"]


def band(frame, level):
    return parts_of(frame, "PD of alcohol", level)["error"].to_numpy()


MOLNAR = {
    "without correction intervals are too narrow in all scenarios": lambda f: (
        (f["ours"] + ERRORS * f["error"])[f["quantity"].isin(["boot", "subs"])] < 0.95
    ).all(),
    "with correction intervals of linear models and forests are still too narrow": lambda f: (
        covers(f, "learner != 'tree'")[["boot*", "subs*"]] < 0.95
    ).all(axis=None),
    "corrected intervals of linear models cover less for PFI than for PD": for_pfi_less,
    "but for trees of the non-linear process bootstrap covers closer to 95%, by wider intervals": (
        bootstrap_is_closer
    ),
    "coverage worsens with more refits": worsens,
    "alcohol, sulphates and volatile acidity are most important at both levels": lambda f: all(
        set(parts_of(f, "PFI", level)["ours"].nlargest(3).index)
        == {"alcohol", "sulphates", "volatile_acidity"}
        for level in ("learner", "model")
    ),
    "alcohol and sulphates have intervals apart at the level of the learner": partial(
        apart, level="learner"
    ),
    "alcohol and sulphates are almost equal, with intervals that overlap, at that of the model": (
        lambda f: not apart(f, "model")
    ),
    "the learner's band of PD is wider": lambda f: (band(f, "learner") > band(f, "model")).all(),
}

# Greenwell et al. --------------------------------------------------------------------------------

FIVE = {"x1", "x2", "x3", "x4", "x5"}


def order(frame, column, value, term):
    """Terms of a method, largest first."""
    part = frame[frame[column] == value].set_index(term)["ours"].abs()
    return list(part.sort_values(ascending=False).index)


def right(frame):
    """The number of networks in which a method has the five true features first."""
    size = frame["ours"].abs().groupby([frame["network"], frame["method"]])
    five = frame[size.rank(ascending=False) <= 5].groupby(["method", "network"])["feature"]
    return (five.agg(set) == FIVE).groupby("method").sum()


def by_firm(frame):
    """Features of every learner, by FIRM, largest first; of curves, by their spread."""
    if frame["what"].str.startswith("PD").all():
        return [list(frame.groupby("feature")["ours"].std().sort_values(ascending=False).index)]
    methods = [m for m in frame["what"].unique() if not m.startswith("impurity")]
    return [order(frame, "what", m, "feature") for m in methods]


def ranges(frame):
    return frame.groupby("feature", sort=False)["ours"].agg(np.ptp)


GREENWELL = {
    "by impurity quality, neighborhood and living area are first, in this order": lambda f: all(
        order(f, "what", m, "feature")[:3] == ["Overall_Qual", "Neighborhood", "Gr_Liv_Area"]
        for m in f["what"].unique()
        if m.startswith("impurity")
    ),
    "by FIRM quality, living area and neighborhood are first": lambda f: all(
        set(names[:3]) == {"Overall_Qual", "Gr_Liv_Area", "Neighborhood"} for names in by_firm(f)
    ),
    "by FIRM living area comes between quality and neighborhood": lambda f: all(
        names[:3] == ["Overall_Qual", "Gr_Liv_Area", "Neighborhood"] for names in by_firm(f)
    ),
    "pool quality, kitchens and finished area of low quality are flat": lambda f: (
        set(by_firm(f)[0][3:]) == {"Pool_QC", "Kitchen_AbvGr", "Low_Qual_Fin_SF"}
    ),
    "FIRM has the five true features first": lambda f: right(f)["FIRM"] == f["network"].nunique(),
    "Garson and Olden have a feature of noise above a true one": lambda f: (
        right(f[f["network"] == 0])[["Garson", "Olden"]].max() == 0
    ),
    "x1:x2 is first": lambda f: f.set_index("pair")["ours"].idxmax() == "x1:x2",
    "x1:x2 is first by the interaction statistic": lambda f: (
        order(f, "method", "interaction statistic", "pair")[0] == "x1:x2"
    ),
    "H has other pairs first": lambda f: order(f, "method", "H", "pair")[0] != "x1:x2",
    "the order is the printed one": lambda f: (
        f.set_index("feature")
        .drop("R²")["ours"]
        .rank()
        .equals(f.set_index("feature").drop("R²")["printed"].rank())
    ),
    "frequency and thickness vary most, and fall": lambda f: (
        set(ranges(f).nlargest(2).index) == {"frequency", "displacement_thickness"}
        and all(
            f[f["feature"] == x]["ours"].iloc[-1] < f[f["feature"] == x]["ours"].iloc[0]
            for x in ("frequency", "displacement_thickness")
        )
    ),
}

CLAIMS = {"molnar2021": MOLNAR, "greenwell2018": GREENWELL, "khan2025": KHAN, "wood2024": WOOD}


def holds(paper, cell, claim, frame):
    """Whether numbers of a cell have what the paper says."""
    frame.attrs["cell"] = cell
    return bool(CLAIMS[paper][claim](frame))
