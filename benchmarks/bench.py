"""Benchmarks of pyinterp against its peers, in CPU time.

python benchmarks/bench.py                every section, to benchmarks/RESULTS.md
python benchmarks/bench.py delta trees    these anew; the others stay as they are
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from against_sklearn import models, recursion, trees
from ale import ale
from cluster import cluster
from delta import delta
from growth import growth, whole
from paired import MOST, PAIRS
from peers import peers
from pipelines import pipelines
from refits import entropy, refits
from threadpoolctl import threadpool_limits

RESULTS = Path(__file__).with_name("RESULTS.md")
PACKAGES = (
    "numpy", "numba", "treelite", "scikit-learn", "statsmodels", "xgboost", "lightgbm", "catboost",
    "marginaleffects", "hidimstat", "shap", "woodelf_explainer",
)  # fmt: skip
SECTIONS: dict[str, tuple[str, Callable[[], str]]] = {
    "trees": ("Tree models against scikit-learn", trees),
    "recursion": ("Partial dependence by recursion", recursion),
    "models": ("Other models against scikit-learn", models),
    "ale": ("Accumulated local effects", ale),
    "pipelines": ("Pipelines", pipelines),
    "delta": ("Delta-method errors", delta),
    "refits": ("A study against its bare fits", refits),
    "entropy": ("Entropy beside log loss", entropy),
    "peers": ("hidimstat, woodelf, shap, vip and hstats", peers),
    "growth": ("Growth", growth),
    "whole": ("Whole analyses", whole),
    "cluster": ("Many machines", cluster),
}


def main() -> None:
    """Run sections, and write each when it is done."""
    names = sys.argv[1:] or list(SECTIONS)
    if unknown := set(names) - set(SECTIONS):
        raise SystemExit(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    for name in names:
        load = f"Load {os.getloadavg()[0]:.1f} at the start, {datetime.date.today():%d %B %Y}."
        print(name, load, flush=True)
        with threadpool_limits(1):
            body = SECTIONS[name][1]()
        written = {**_written(), name: f"{load}\n\n{body.strip()}\n"}
        parts = [f"## {SECTIONS[n][0]} (`{n}`)\n\n{written[n]}" for n in SECTIONS if n in written]
        RESULTS.write_text("\n".join([_head(), *parts]), encoding="utf-8")


def _written() -> dict[str, str]:
    """Return the sections that the file has."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    parts = re.split(r"^## .*\(`(\w+)`\)\n\n", text, flags=re.MULTILINE)
    return {name: body.strip() + "\n" for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _head() -> str:
    return f"""# Benchmarks

`make bench` makes this file, `python benchmarks/bench.py SECTION` one of its sections. Both sides
run in turn in one process, with one thread. Seconds are CPU seconds of the process and its
children, medians of {PAIRS} pairs after one that is not counted. The ratio is the median of the
pairs' ratios, with the smallest and the largest. Pairs of more than {MOST} seconds run once: "1
pair". Ours include reading the model, checking the engine against the model's own predictions, and
standard errors. Load is the number of processes that ask for one of {os.cpu_count()} processors.

Python {platform.python_version()} on {platform.machine()}, {", ".join(map(_version, PACKAGES))}.
"""


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


if __name__ == "__main__":
    main()
