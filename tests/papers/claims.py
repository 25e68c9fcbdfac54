"""What the papers say of their cells, as checks of our numbers, by the words of the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

Check = Callable[[pd.DataFrame], Any]


def agree(frame: pd.DataFrame, where: str = "") -> bool:
    """Whether printed numbers agree, of some rows."""
    part = frame.query(where) if where else frame
    status = part["status"][part["status"] != ""]
    return len(status) > 0 and bool((status == "agrees").all())


# Khan et al. -------------------------------------------------------------------------------------


def means(frame: pd.DataFrame, **values: str) -> pd.Series[float]:
    """Our mean numbers by n, of rows with these values."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame.groupby("n")["ours"].mean()


def estimate(frame: pd.DataFrame, feature: str) -> pd.Series[float]:
    return means(frame, feature=feature, quantity="estimate")


def delta(frame: pd.DataFrame) -> pd.Series[float]:
    return means(frame, quantity="delta", feature="X1")


def corrected_is_true(frame: pd.DataFrame) -> bool:
    """Within four Monte Carlo errors; the error of six blocks is itself uncertain."""
    wide = frame.pivot_table("ours", ["feature", "n"], "quantity")
    error = frame[frame["quantity"] == "corrected"].set_index(["feature", "n"])["error"]
    return bool(((wide["corrected"] - wide["truth"]).abs() <= 4 * error + 0.005).all())


def alike(frame: pd.DataFrame) -> bool:
    """Bias and variance change little by switching, beside delta at its largest."""
    parts = [
        (means(frame, quantity=f"{k}_switch") - means(frame, quantity=f"{k}_orig")).abs().max()
        for k in ("bias2", "variance")
    ]
    return max(parts) < 0.15 * delta(frame).max()


def last(frame: pd.DataFrame) -> pd.Series[float]:
    return frame[frame["n"] == frame["n"].max()].groupby("measure")["ours"].mean()


KHAN: Mapping[str, Check] = {
    "all but X2 and X3 agree": partial(
        agree, where="offset == 0.1 and feature not in ['X2', 'X3']"
    ),
    "X2 and X3 agree with 0.01 in the logarithm": partial(agree, where="offset == 0.01"),
    "corrected importances are the true ones": corrected_is_true,
    "noise has importance 0": lambda f: estimate(f, "X6").abs().max() < 0.05,
    "X1 and X5 converge to 8": lambda f: all(estimate(f, x).iloc[-1] > 7.5 for x in ("X1", "X5")),
    "X1 is underestimated at all n": lambda f: (estimate(f, "X1") < 8).all(),
    "X5 is overestimated from 5,000 to 20,000 rows": lambda f: (
        estimate(f, "X5").loc[5000:20_000] > 8
    ).all(),
    "X1 is underestimated still at n = 50,000": lambda f: estimate(f, "X1").iloc[-1] < 4,
    "delta of X1 is smallest at the largest n": lambda f: (
        delta(f).iloc[:-1].min() > delta(f).iloc[-1]
    ),
    "switching changes little": alike,
    "the oracle is unbiased": lambda f: (
        abs(means(f, learner="oracle", feature="X1").mean() - 8) < 0.5
    ),
    "the additive model finds X5, and less than half of X1": lambda f: (
        means(f, learner="additive", feature="X1").max() < 4
        and abs(means(f, learner="additive", feature="X5").iloc[-1] - 8) < 1
    ),
    "XGBoost finds more with more rows": lambda f: all(
        means(f, learner="XGBoost", feature=x).iloc[-1]
        > means(f, learner="XGBoost", feature=x).iloc[0]
        for x in ("X1", "X5")
    ),
    "estimates rise with n": lambda f: all(
        means(f, measure=m).is_monotonic_increasing for m in f["measure"].unique()
    ),
    "AMVIM is nearer to the truth": lambda f: last(f)["MVIM"] < last(f)["AMVIM"] < 16,
}

# Wood et al. -------------------------------------------------------------------------------------

RELEVANT = ["x1", "x2", "x3", "x4"]


def of(frame: pd.DataFrame, measure: str, data: str = "") -> pd.Series[float]:
    part = frame[frame["measure"] == f"{measure}-PFI"]
    part = part[part["data"] == data] if data else part
    return part.set_index("feature")["ours"]


def mean_curve(frame: pd.DataFrame, x: str, feature: str = "") -> pd.Series[float]:
    part = frame[frame["row"].astype(str) == "mean"]
    part = part[part["feature"] == feature] if feature else part
    return part.groupby(x)["ours"].mean()


def curves_differ_inside(frame: pd.DataFrame) -> bool:
    rest = frame[(frame["feature"] == "X1") & (frame["row"].astype(str) != "mean")]
    spread = rest.groupby("value")["ours"].std()
    return spread.loc[-0.6:0.6].mean() > 2 * spread.loc[1.7:2.1].mean()


def hole(frame: pd.DataFrame) -> bool:
    curves = [mean_curve(frame, "value", x) for x in ("X1", "X2")]
    bands = [c.loc[[-2.1, -1.8, 1.8, 2.1]].mean() for c in curves]
    parts = [[c.loc[-0.3:0.3].mean(), c.iloc[[0, -1]].mean()] for c in curves]
    return all(min(part) > band + 0.05 for part, band in zip(parts, bands, strict=True))


def class_means(frame: pd.DataFrame) -> pd.DataFrame:
    x = "glucose" if "glucose" in frame else "mass"
    rest = frame[frame["row"].astype(str) != "mean"]
    return rest.pivot_table("ours", x, "diabetes")


def crosses(frame: pd.DataFrame) -> bool:
    change = class_means(frame).iloc[-1] - class_means(frame).iloc[0]
    return change["pos"] < 0 < change["neg"]


def each(check: Check) -> Check:
    """What is said of a figure holds in the panel of every model."""
    return lambda f: f["model"].nunique() == 2 and all(check(g) for _, g in f.groupby("model"))


def low_at_first(frame: pd.DataFrame) -> bool:
    """On average over the first quarter of the grid, by 0.1 nats below the peak."""
    curve = mean_curve(frame, "glucose")
    return curve.loc[:90].mean() < curve.max() - 0.1


WOOD: Mapping[str, Check] = {
    "permuting raises the mean entropy": lambda f: (
        f.groupby("rows")["ours"].mean()["feature 2 permuted"]
        > f.groupby("rows")["ours"].mean()["as observed"] + 0.05
    ),
    "relevant features are alike without a copy": lambda f: (
        np.ptp(of(f, "likelihood", "no copy")[RELEVANT])
        < 0.2 * of(f, "likelihood", "no copy")[RELEVANT].mean()
    ),
    "a copy lowers the likelihood-PFI of x1": lambda f: (
        of(f, "likelihood", "x10 = x1")["x1"] < 0.5 * of(f, "likelihood", "no copy")["x1"]
    ),
    "x1 and its copy have the largest entropy-PFI": lambda f: (
        set(of(f, "entropy", "x10 = x1").nlargest(2).index) == {"x1", "x10"}
    ),
    "a copy of x5 raises its entropy-PFI a little": lambda f: (
        0 < of(f, "entropy", "x10 = x5")["x5"] < 0.25 * of(f, "entropy", "x10 = x1")["x1"]
    ),
    "X1 to X4 have entropy-PFI, X5 next to none": lambda f: (
        of(f, "entropy").iloc[:4].min() > 10 * abs(of(f, "entropy")["X5"])
    ),
    "all have likelihood-PFI": lambda f: of(f, "likelihood").min() > 0.2,
    "entropy is higher inside and at the edges than in the bands": hole,
    "curves differ inside more than at the rim": curves_differ_inside,
    "age is most important for the likelihood": each(
        lambda f: of(f, "likelihood").idxmax() == "age"
    ),
    "its entropy-PFI is less than half of every other": each(
        lambda f: of(f, "entropy")["age"] < 0.5 * of(f, "entropy").drop("age").min()
    ),
    "age is not predicted without the response, and is with it": lambda f: (
        f.query("feature == 'age'").set_index("strength")["ours"]["with"] > 0.3
        and f.query("strength == 'without'").set_index("feature")["ours"].idxmin() == "age"
    ),
    "the entropy changes with age": each(lambda f: np.ptp(mean_curve(f, "age")) > 0.1),
    "glucose is most important, age and mass follow": each(
        lambda f: (
            of(f, "likelihood").idxmax() == "glucose"
            and set(of(f, "likelihood").nlargest(3).index) == {"glucose", "age", "mass"}
        )
    ),
    "entropy is low for low values": each(low_at_first),
    "it peaks between 150 and 175": each(lambda f: 150 <= mean_curve(f, "glucose").idxmax() <= 175),
    "it falls for positive women, rises for negative": each(crosses),
    "positive women with low mass have high entropy": each(
        lambda f: class_means(f).loc[18:24, "pos"].mean() > class_means(f).loc[18:24, "neg"].mean()
    ),
}

# Molnar et al. -----------------------------------------------------------------------------------


def wide(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Our numbers, a column per value of a column, a row per scenario."""
    names = [c for c in frame if c not in (column, *NUMBERS)]
    return frame.pivot_table("ours", names, column)


NUMBERS = ("ours", "printed", "error", "difference", "erratum", "status")


def narrower(frame: pd.DataFrame) -> bool:
    """Mean widths fall from 2 to 30 refits, in every scenario."""
    widths = wide(frame[frame["measure"] == "width"], "refits")
    return bool((widths[30] < widths[2]).all())


def corrected_covers_more(frame: pd.DataFrame) -> bool:
    held = wide(frame, "interval")
    return bool((held["boot*"] >= held["boot"]).all() and (held["subs*"] >= held["subs"]).all())


def of_all(frame: pd.DataFrame, more: str, less: str) -> bool:
    """One interval is wider and covers more than another in at least 90% of scenarios."""
    table = wide(frame, "quantity")
    return bool((table[more] > table[less]).mean() >= 0.9)


def parts_of(frame: pd.DataFrame, what: str, level: str) -> pd.DataFrame:
    return frame[(frame["what"] == what) & (frame["level"] == level)].set_index("term")


def forest_is_better(frame: pd.DataFrame) -> bool:
    highs = frame[frame["quantity"].str.endswith("high")]
    return len(highs) == 2 and bool((highs["ours"] < 0).all())


MOLNAR: Mapping[str, Check] = {
    "the mean of refits differs from the truth less than refits do": lambda f: (
        f.pivot_table("ours", "x1", "curve")
        .pipe(lambda t: t.sub(t["true"], axis=0).pow(2).mean())
        .pipe(lambda m: m["mean"] < m.drop(["mean", "true"]).min())
    ),
    "without correction intervals are far too narrow": lambda f: (
        f[f["quantity"].isin(["boot", "subs"])]["ours"] < 0.75
    ).all(),
    "the correction helps everywhere": lambda f: (
        (wide(f, "quantity")["boot*"] > wide(f, "quantity")["boot"]).all()
        and (wide(f, "quantity")["subs*"] > wide(f, "quantity")["subs"]).all()
    ),
    "fresh data cover": lambda f: f[f["quantity"] == "ideal"]["ours"].between(0.92, 0.98).all(),
    "corrected intervals are wider and cover more": lambda f: (
        of_all(f, "boot*", "boot") and of_all(f, "subs*", "subs")
    ),
    "bootstrap intervals are wider and cover more": lambda f: of_all(f, "boot*", "subs*"),
    "intervals become narrower with more refits": narrower,
    "corrected intervals cover more": corrected_covers_more,
    "alcohol, sulphates and volatile acidity are most important": lambda f: (
        set(parts_of(f, "PFI", "learner")["ours"].nlargest(3).index)
        == {"alcohol", "sulphates", "volatile_acidity"}
    ),
    "the learner's band of PD is wider": lambda f: (
        parts_of(f, "PD of alcohol", "learner")["error"].iloc[[0, -1]].mean()
        > parts_of(f, "PD of alcohol", "model")["error"].iloc[[0, -1]].mean()
    ),
    "losses are within 0.03 of the printed ones": lambda f: (
        (f["ours"] - f["printed"])[f["quantity"].str.startswith("loss")].abs().max() < 0.03
    ),
    "the forest is better than both": forest_is_better,
}

# Greenwell et al. --------------------------------------------------------------------------------

FIVE = {"x1", "x2", "x3", "x4", "x5"}


def order(frame: pd.DataFrame, column: str, value: str, term: str) -> list[str]:
    """Terms of a method, largest first."""
    part = frame[frame[column] == value].set_index(term)["ours"].abs()
    return list(part.sort_values(ascending=False).index)


def separated(frame: pd.DataFrame) -> bool:
    """The lower limit of the first pair is above the upper limits of all others."""
    half = 2 * frame["error"]
    table = pd.DataFrame({"low": frame["ours"] - half, "high": frame["ours"] + half})
    table.index = pd.Index(frame["pair"])
    others = table.drop("x1:x2")
    return len(others) == 44 and table.loc["x1:x2", "low"] > others["high"].max()


def given(frame: pd.DataFrame) -> bool:
    """The relative spread of the importance, at values of the other feature."""
    spread = frame.groupby(["panel", "curve"])["ours"].agg(lambda v: v.std() / v.mean())
    inside, outside = spread["x1 given x2"], spread["x1 given x4"]
    return bool(inside.min() > 4 * outside.max() and spread["x4 given x1"].max() < 0.1)


def right(frame: pd.DataFrame) -> pd.Series[int]:
    """The number of networks in which a method has the five true features first."""
    size = frame["ours"].abs().groupby([frame["network"], frame["method"]])
    five = frame[size.rank(ascending=False) <= 5].groupby(["method", "network"])["feature"]
    return (five.agg(set) == FIVE).groupby("method").sum()


def by_firm(frame: pd.DataFrame) -> list[list[str]]:
    """Features of every learner, by FIRM, largest first."""
    methods = [m for m in frame["what"].unique() if not m.startswith("impurity")]
    return [order(frame, "what", m, "feature") for m in methods]


def ranges(frame: pd.DataFrame) -> pd.Series[float]:
    return frame.groupby("feature", sort=False)["ours"].agg(np.ptp)


GREENWELL: Mapping[str, Check] = {
    "all coefficients are within 4% of the printed ones": lambda f: (
        len(f) == 14 and ((f["ours"] - f["printed"]).abs() < 0.04 * f["printed"].abs()).all()
    ),
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
    "the first three vary, the last three are flat": lambda f: (
        ranges(f).iloc[:3].min() > 10 * ranges(f).iloc[3:].max()
    ),
    "the ratio is 5/3 within 1%": lambda f: (
        abs(f.set_index("quantity")["ours"]["ratio"] * 3 / 5 - 1) < 0.01
    ),
    "X2 is more important than X1": lambda f: f["ours"].iloc[1] > f["ours"].iloc[0],
    "estimated and true curves are parallel": lambda f: (
        wide(f, "curve").diff(axis=1)["true"].groupby("feature").agg(lambda d: d.std()).max() < 0.01
    ),
    "FIRM has the five true features first": lambda f: right(f)["FIRM"] == 20,
    "Garson and Olden have a feature of noise above a true one, in some networks": lambda f: (
        right(f).to_dict() == {"FIRM": 20, "Garson": 11, "Olden": 4}
        and right(f[f["network"] == 0]).to_dict() == {"FIRM": 1, "Garson": 0, "Olden": 0}
    ),
    "x1:x2 is first, and its interval separates it": separated,
    "x1 given x2 varies and x1 given x4 does not": given,
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
            f[f["feature"] == x]["ours"].iloc[-1] < f[f["feature"] == x]["ours"].iloc[0] - 3
            for x in ("frequency", "displacement_thickness")
        )
    ),
}

CLAIMS: Mapping[str, Mapping[str, Check]] = {
    "molnar2021": MOLNAR,
    "greenwell2018": GREENWELL,
    "khan2025": KHAN,
    "wood2024": WOOD,
}
