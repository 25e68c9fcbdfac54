"""Run the battery: what tables print in many settings, resumable; then judge it.

    python studies/run_battery.py FOLDER [--rows NAME ...] [--seconds 60] [--jobs 2] [--held]
    python studies/run_battery.py FOLDER --judge studies/results/battery.csv

Lines of settings that the folder lacks stay as they are.
Every call adds data sets to each setting for about so many seconds. Data set k of a setting is the
same whenever it is drawn.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
import zlib
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from battery.printed import FIELDS, judge, one, printed, truth_of
from battery.rows import ROWS
from joblib import Parallel, delayed

# Of the seeds of data sets and of their truth: none was seen before the rule was fixed.
EDITION, TRUTH = "third edition", "truth of the third edition"


def generator(name: str, edition: str, number: int) -> np.random.Generator:
    """Return the generator of a data set."""
    return np.random.default_rng([zlib.crc32(f"{edition}, {name}".encode()), number])


def data_set(name: str, number: int) -> tuple[pd.DataFrame, float]:
    """Return what tables print of one data set, and the seconds that it took."""
    start = time.time()
    rng = generator(name, EDITION, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return printed(one(ROWS[name], rng)), time.time() - start


def path_of(folder: Path, name: str) -> Path:
    """Return the file of a setting."""
    return folder / f"{name.replace(' ', '_').replace('%', '')}.npz"


def truth_path(folder: Path, name: str) -> Path:
    """Return the file of the truth of a setting."""
    return path_of(folder, f"{name} truth").with_suffix(".csv")


def add_truth(name: str, folder: Path) -> None:
    """Write the truth of the terms of a setting, once."""
    path = truth_path(folder, name)
    if not path.exists():
        start = time.time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            truth_of(ROWS[name], generator(name, TRUTH, 0)).to_csv(path)
        print(f"{name}: truth, {time.time() - start:.0f} s", flush=True)


def run(name: str, folder: Path, jobs: int, seconds: float) -> None:
    """Add data sets of a setting to its file."""
    path, start = path_of(folder, name), time.time()
    kept = dict(np.load(path)) if path.exists() else {}
    done = len(kept["estimate"]) if kept else 0
    size = jobs
    while done < ROWS[name].data_sets and time.time() - start < seconds:
        size = min(size, ROWS[name].data_sets - done)
        found = Parallel(jobs)(delayed(data_set)(name, done + k) for k in range(size))
        names = np.array(found[0][0].index)
        new = {f: np.array([frame[f] for frame, _ in found], dtype=float) for f in FIELDS}
        kept = {f: np.concatenate([kept[f], v]) if kept else v for f, v in new.items()}
        kept["names"] = names.astype(str)
        done += size
        np.savez_compressed(path.with_suffix(".tmp.npz"), **kept)
        path.with_suffix(".tmp.npz").rename(path)
        each = float(np.mean([spent for _, spent in found]))
        left = seconds - (time.time() - start)
        size = max(jobs, int(jobs * min(left, 30.0) / each))
    print(f"{name}: {done} data sets, {time.time() - start:.0f} s", flush=True)


def judged(folder: Path, table: Path) -> pd.DataFrame:
    """Return the lines of all settings: of those in the folder anew, the others as they stand."""
    old = pd.read_csv(table)
    frames = []
    for name, row in ROWS.items():
        path, truth = path_of(folder, name), truth_path(folder, name)
        if path.exists():
            d = dict(np.load(path))
            d["truth"] = pd.read_csv(truth, index_col=0)["estimate"][d["names"]].to_numpy()
            frames.append(pd.DataFrame(judge(name, row, d)))
        else:
            frames.append(old[old["row"] == name])
    return pd.concat(frames)[old.columns]


def main() -> None:
    """Run the settings named on the command line, or one side of the battery, or judge all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", nargs="*")
    parser.add_argument("--held", action="store_true", help="those that are run last")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each setting")
    parser.add_argument("--judge", type=Path, help="write the table of all terms")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.judge:
        judged(arguments.folder, arguments.judge).to_csv(
            arguments.judge, index=False, float_format="%.4g"
        )
        return
    side = [name for name, row in ROWS.items() if row.held == arguments.held]
    for name in arguments.rows or side:
        try:
            add_truth(name, arguments.folder)
            run(name, arguments.folder, arguments.jobs, arguments.seconds)
        except Exception as error:  # noqa: BLE001  a row that fails must not stop the others
            print(f"{name}: {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
