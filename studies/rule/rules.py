"""The rules, and their judgment on the same data sets by the protocol of `README.md`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy import stats

from pyinterp.inference.half_sample.constants import MARGIN
from pyinterp.inference.half_sample.half_refits import SIZES
from pyinterp.inference.half_sample.square import error_at_zero, limits

LEVELS = (0.8, 0.9, 0.95)
DF = 15
KEYS = ["world", "term", "level"]
Parts: TypeAlias = dict[str, np.ndarray]
Errors: TypeAlias = tuple[np.ndarray, np.ndarray]


def errors(
    c: np.ndarray,
    A: np.ndarray,
    S: np.ndarray,
    s2: np.ndarray,
    g: np.ndarray,
    r: np.ndarray,
    *,
    sizes: float = 1.0,
    cap: bool = False,
) -> Errors:
    """Return the standard error at the estimate and the measured one at 0, at most the former."""
    V = g**2 * np.maximum(A - MARGIN * S, S) + s2
    at_zero = np.sqrt(np.minimum(sizes * g**2 * r**2 * S + s2, V))
    error = np.sqrt(V)
    if cap:
        error = np.minimum(error, np.sqrt(g**2 * S + s2) + np.sqrt(2) * np.maximum(c, 0.0))
    return error, np.minimum(at_zero, error)


RULES: dict[str, Callable[..., Errors]] = {
    "today": errors,
    "v0": lambda **parts: errors(**parts, sizes=SIZES),
    "candidate": lambda **parts: errors(**parts, sizes=SIZES, cap=True),
}


PRINTED = "v0"  # by the package


def difference(new: np.ndarray, old: np.ndarray) -> tuple[float, float]:
    """Return the mean over data sets of paired differences, and its standard error."""
    gap = np.asarray(new, dtype=float) - np.asarray(old, dtype=float)
    return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))


def of_terms(kept: Parts, nulls: list[int]) -> list[dict[str, Any]]:
    """Return what every term has at every level by every rule."""
    lines = []
    for j, true in enumerate(kept["truth"]):
        parts = {k: kept[k][:, j] for k in ("c", "A", "S", "s2")} | {k: kept[k] for k in ("g", "r")}
        sd = parts["c"].std(ddof=1)
        of = {"term": f"x{j + 1}", "null": j in nulls, "data_sets": len(parts["c"])}
        of |= {"truth": true, "truth_error": kept["error"][j], "truth_in_sd": true / sd}
        for level in LEVELS:
            q, z = stats.t.isf((1 - level) / 2, DF), stats.norm.isf((1 - level) / 2)
            for rule, errors_by in RULES.items():
                error, at_zero = errors_by(**parts)
                low, high = limits(parts["c"], error, at_zero, q).T
                covers, rejects = (low <= true) & (true <= high), (low > 0) | (high < 0)
                if rule == "today":
                    covered, rejected = covers, rejects
                line = {"level": level, "rule": rule, "coverage": covers.mean()}
                line["gain"], line["gain_error"] = difference(covers, covered)
                line |= {"above": (true > high).mean(), "below": (true < low).mean()}
                line["rejects"] = rejects.mean()
                line["more"], line["more_error"] = difference(rejects, rejected)
                line["width"] = (high - low).mean() / (2 * z * sd)
                line["error_over_sd"] = np.sqrt(np.square(error).mean()) / sd
                lines.append(of | line)
    return lines


def of_nulls(kept: Parts, nulls: list[int]) -> list[dict[str, Any]]:
    """Return sizes and errors over all irrelevant features, at every level by every rule."""
    parts = {k: kept[k][:, nulls] for k in ("c", "A", "S", "s2")}
    parts |= {k: np.broadcast_to(kept[k][:, None], parts["c"].shape) for k in ("g", "r")}
    variance = parts["c"].var(axis=0, ddof=1).mean()
    lines = []
    for level in LEVELS:
        for rule, errors_by in RULES.items():
            error, at_zero = errors_by(**parts)
            t = parts["c"] / error_at_zero(parts["c"], error, at_zero)
            q = stats.t.isf((1 - level) / 2, DF)
            size, harm = (np.abs(t) > q).mean(axis=1), (t < -q).mean(axis=1)
            if rule == "today":
                before = size, harm
            line = {"data_sets": len(t), "features": len(nulls), "level": level, "rule": rule}
            line |= {"size": size.mean(), "size_error": size.std(ddof=1) / np.sqrt(len(size))}
            line["rise"], line["rise_error"] = difference(size, before[0])
            line["harm"] = harm.mean()
            line["more_harm"], line["more_harm_error"] = difference(harm, before[1])
            line["error_over_sd"] = np.sqrt(np.square(error).mean() / variance)
            lines.append(line)
    return lines


def judge(folder: Path, worlds: dict[str, list[int]], to: Path) -> None:
    """Write the tables of all data sets, and print by the protocol what each rule fails.

    Parameters
    ----------
    folder : Path
        Of the data sets.
    worlds : dict of str to list of int
        The irrelevant features of every world.
    to : Path
        The folder of the tables.
    """
    terms, sizes = [], []
    for name, nulls in worlds.items():
        for edition in (1, 2):
            path = folder / f"{name}.{edition}.npz"
            if path.exists():
                kept, of = dict(np.load(path)), {"world": name, "seeds": edition}
                terms += [of | line for line in of_terms(kept, nulls)]
                sizes += [of | line for line in of_nulls(kept, nulls)]
    by_term, by_world = pd.DataFrame(terms), pd.DataFrame(sizes)
    by_term.to_csv(to / "terms.csv", index=False, float_format="%.4g")
    by_world.to_csv(to / "nulls.csv", index=False, float_format="%.4g")
    for rule in ("candidate", "v0"):
        print(f"\n== {rule}")
        t, w = by_term[by_term["rule"] == rule], by_world[by_world["rule"] == rule]
        if rule == "candidate":
            wide = w[w["world"].str.contains("lm|kernel|SVR") & (w["level"] == LEVELS[-1])]
            report(
                "std err of null rows over 1.5 s.d.", wide, wide["error_over_sd"] > 1.5, KEYS[:1]
            )
        report("loses more than .02 of coverage", t, t["gain"] < -0.02, KEYS)
        rises = w["rise"] - stats.norm.isf(0.05) * w["rise_error"] > 0
        report("size rises", w, rises, KEYS[::2])
        harms = w[w["level"] == LEVELS[-1]]
        report("harm above .01", harms, harms["harm"] > 0.01, KEYS[:1])


def report(criterion: str, lines: pd.DataFrame, fails: pd.Series, keys: list[str]) -> None:
    """Print what fails a criterion with the first seeds, and with the second ones too."""
    first, second = lines["seeds"] == 1, lines["seeds"] == 2
    suspects = lines[first & fails].set_index(keys).index
    confirmed = lines[second & fails].set_index(keys).index
    repeated = lines[second].set_index(keys).index
    print(f"{criterion}: {len(suspects)} of {first.sum()}")
    for key in suspects:
        verdict = "not yet repeated" if key not in repeated else "no"
        print(f"    {key}: {'CONFIRMED' if key in confirmed else verdict}")
