"""Benchmarks of pyinterp against its peers, and against its own goals.

python benchmarks/bench.py                      all sections, to benchmarks/RESULTS.md
python benchmarks/bench.py --only scale,study   these, to standard output
python benchmarks/bench.py elsewhere.md --only woodelf
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cluster import many_machines
from defaults import defaults
from delta import delta
from ensembles import any_model, ensembles
from peers import hidimstat, woodelf
from scale import fits, scale
from startup import startup
from study import study
from threadpoolctl import threadpool_limits
from uncertainty import uncertainty

PAIRS = 5
PACKAGES = (
    "numpy", "numba", "treelite", "scikit-learn", "xgboost", "lightgbm", "woodelf_explainer",
    "hidimstat",
)  # fmt: skip
SECTIONS: dict[str, Callable[[int], str]] = {
    "ensembles": ensembles,
    "woodelf": woodelf,
    "hidimstat": hidimstat,
    "any": any_model,
    "defaults": defaults,
    "delta": delta,
    "study": study,
    "uncertainty": uncertainty,
    "scale": scale,
    "fits": fits,
    "cluster": many_machines,
    "startup": startup,
}


def main() -> None:
    options = _options()
    with threadpool_limits(1):
        parts = [_section(name, options.pairs) for name in options.only or SECTIONS]
    text = "\n".join([_head(options.pairs), *parts])
    path = options.path
    if path is None and not options.only:  # a part never replaces the whole
        path = Path(__file__).with_name("RESULTS.md")
    if path is None:
        print(text)
    else:
        path.write_text(text, encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", nargs="?", type=Path, help="the Markdown file to write")
    parser.add_argument("--only", type=_names, help=f"sections, of: {', '.join(SECTIONS)}")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs per line, at most")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(
                f"no section {name!r}; there are {', '.join(SECTIONS)}"
            )
    return names


def _section(name: str, pairs: int) -> str:
    print(name, flush=True)
    start = time.perf_counter()
    text = SECTIONS[name](pairs)
    print(f"  {time.perf_counter() - start:.0f} s in all", flush=True)
    return text


def _head(pairs: int) -> str:
    return f"""# Benchmarks

`make bench` makes this file. Both sides are timed in turn in one run, on one core. The ratio of a
pair is their time over ours; tables quote the median of the ratios, the smallest and the largest,
of at most {pairs} pairs per line. Seconds are medians. Ours include reading the model, checking the
engine against the model's own predictions, and standard errors.

Python {platform.python_version()}, {", ".join(_versions())}.
Machine: {platform.machine()}, {os.cpu_count()} cores.
"""


def _versions() -> list[str]:
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    return found


if __name__ == "__main__":
    main()
