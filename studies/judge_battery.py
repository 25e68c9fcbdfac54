"""Judge the candidates on the components that ``run_battery.py`` kept, a line per term.

    python studies/judge_battery.py FOLDER ... --to studies/results/battery.csv

The truth of a term is the mean of a candidate's own estimates over the data sets, whose error is
1/20 of their standard deviation at 400 data sets; widths are over that of an interval with the
true standard deviation. The table that is there is written anew.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from battery import printed
from battery.candidates import CANDIDATES, FIRST, Components, growth, limits
from battery.printed import PRINTED
from battery.rows import ROWS, Row

from pyinterp.inference.learning import Learning
from pyinterp.inference.skewness import MOST
from pyinterp.ranges import POSITIVE, REAL, SHARES, Range


def range_of(row: Row, term: str) -> Range:
    """Return the range of a term, as the package has it."""
    what = term.split(maxsplit=1)[0]
    if what == "AUC" or (what == "PD" and "AUC" in row.asks):
        return SHARES
    return POSITIVE if what in ("loss", "absolute", "FIRM") else REAL


def warnings(d: Components, terms: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return where tables print a warning, and where no interval, (data sets, terms).

    Of ratios that of the skewness of the loss too, if it was asked for.
    """
    found, refused = np.zeros((2, *d["A"].shape), dtype=bool)
    for i, j in np.ndindex(found.shape):
        parts = [
            _like(
                [d[f"{what} {kind}"][i, j] for what in ("signal", "spread")],
                [d[f"{what} {kind} sd"][i, j] for what in ("signal", "spread")],
                size,
            )
            for kind, size in (("main", 15), ("half", 30))
        ]
        learning = Learning(*parts)
        growth = learning.growth_warning if not np.isnan(d["bound"][i, j]) else ""
        refused[i, j] = bool(learning.reason)
        found[i, j] = bool(learning.reason or learning.warning or growth)
    few = d["skewness"] > MOST
    if "loss loss" in terms:
        ratios = d["bound"][0] == 1
        few[:, ratios] |= few[:, [terms.index("loss loss")]]
    return found | few, refused


def _share(event: np.ndarray, among: np.ndarray) -> float:
    """Return the share of the data sets with an interval, missing if there are few."""
    return float(event[among].mean()) if among.mean() > 0.5 else np.nan


def _like(mean: list[float], sd: list[float], size: int) -> np.ndarray:
    """Return numbers of this mean and standard deviation."""
    shape = np.linspace(-1.0, 1.0, size)
    return np.array(mean) + np.outer(shape / shape.std(ddof=1), sd)


def judge(name: str, row: Row, d: Components, terms: list[str]) -> Iterator[dict[str, Any]]:
    """Yield coverage, width and power of every candidate that the components allow."""
    warned, refused = warnings(d, terms)
    for candidate, function in CANDIDATES.items():
        try:
            found = function(d)
        except KeyError:  # fits that were not made
            continue
        low, high = limits(found, d["bound"], [range_of(row, term) for term in terms])
        # Tables print no interval where no refit uses a feature; version 0.1 did not refuse others.
        printed = found.variance > 1e-24 * (found.center**2).max(axis=0)
        usual = ~refused | (candidate == FIRST)
        printed &= usual
        truth, sd = found.center.mean(axis=0), found.center.std(axis=0, ddof=1)
        varies = sd > 1e-12 * np.abs(found.center).max(axis=0)
        width = np.divide(high - low, 3.92 * sd, out=np.full_like(low, np.nan), where=varies)
        holds = (low <= truth) & (truth <= high)
        for j, term in enumerate(terms):
            yield {
                "row": name,
                "held": row.held,
                "family": row.family,
                "paper": row.paper,
                "term": term,
                "null": any(term.endswith(f" {x}") for x in row.nulls),
                "candidate": candidate,
                "data_sets": len(low),
                "warned": float(warned[:, j].mean()),
                "truth": truth[j],
                "coverage": _share(holds[:, j], printed[:, j]),
                "above": _share(truth[j] > high[:, j], printed[:, j]),
                "width": float(np.nanmedian(width[:, j])) if varies[j] else np.nan,
                "excludes_bound": _share(low[:, j] > d["bound"][0, j], usual[:, j]),
                "growth": float(np.median(growth(d, np.inf, -np.inf))),
            }


def main() -> None:
    """Write the table, and print the worst coverage and the median width by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--to", type=Path)
    parser.add_argument("--show", nargs="*", help="these candidates only")
    arguments = parser.parse_args()
    lines = []
    for name in [*ROWS, *PRINTED]:
        for folder in arguments.folders:
            path = folder / f"{name.replace(' ', '_').replace('%', '')}.npz"
            if path.exists():
                d = dict(np.load(path))
                terms = [str(term) for term in d.pop("names")]
                if name in ROWS:
                    lines += judge(name, ROWS[name], d, terms)
                else:
                    lines += printed.judge(name, PRINTED[name], d, terms)
                break
    table = pd.DataFrame(lines)
    if arguments.to:
        table.to_csv(arguments.to, index=False, float_format="%.4g")
    kind = np.where(table["null"], "null", table["term"].str.split(" ").str[0])
    by = table.assign(kind=kind).groupby(["row", "kind", "candidate"], sort=False)
    short = by.agg(coverage=("coverage", "min"), width=("width", "median")).reset_index()
    short = short[short["candidate"].isin(arguments.show or [*CANDIDATES])]
    short = short.pivot_table(index=["row", "kind"], columns="candidate", sort=False)
    options = {"display.width": 250, "display.max_rows": None, "display.max_columns": None}
    with pd.option_context(*(part for option in options.items() for part in option)):
        print(short.swaplevel(axis=1).sort_index(axis=1).round(2).to_string())


if __name__ == "__main__":
    main()
