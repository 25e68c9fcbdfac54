"""Run the studies: what the files in ``studies/results`` do not hold yet.

``make study`` runs all. Results of coverage are kept as JSON lines, which can be compared. While a
study runs they are in a database beside; after a kill, which loses at most the blocks under way,
the next run goes on from it. Studies of importances, of minutes, are run anew.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from joblib import parallel_config
from settings import IMPORTANCES, STUDIES, only

from pyinterp.simulation import CoverageStudy
from pyinterp.simulation.records import Record, StudyFile, as_json, from_json, pool_records

RESULTS = Path(__file__).with_name("results")


def main() -> None:
    """Run the studies named on the command line, or all, and write their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*STUDIES, *IMPORTANCES], help="by default all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--learners", nargs="*", help="only these")
    parser.add_argument("--n", nargs="*", type=int, help="these sizes instead of the study's")
    parser.add_argument(
        "--merge", nargs="+", type=Path, help="take over these files of one study, run nothing"
    )
    arguments = parser.parse_args()
    if arguments.merge and len(arguments.names) != 1:
        parser.error("--merge takes files of one study: name it before")
    for name in arguments.names:
        if name in IMPORTANCES:
            with parallel_config(n_jobs=arguments.jobs):
                write(pd.concat(IMPORTANCES[name]()), name)
            continue
        study, database = STUDIES[name](), RESULTS / f"{name}.sqlite"
        lines = RESULTS / f"{name}.jsonl"
        merge(study, database, [lines, *(arguments.merge or [])])
        if not arguments.merge:
            only(study, arguments.learners, arguments.n).run(database, arguments.jobs)
        keep(database, lines)
        results = study.results(records_of(lines))
        # A study without repetitions is of means only.
        table = results.truths if results.frame.empty else results.frame
        write(table, name)
        print(results)


def write(table: pd.DataFrame, name: str) -> None:
    """Write the table of a study."""
    table.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.6g")


def records_of(path: Path) -> list[Record]:
    """Return the records of a database, or of JSON lines."""
    if path.suffix != ".jsonl":
        return StudyFile(path).records()
    return [from_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def merge(study: CoverageStudy, path: Path, files: list[Path]) -> None:
    """Add to a study's database what other files hold and it does not."""
    database = StudyFile(path)
    blocks = {(r.row, r.term, block) for r in database.records() for block in r.blocks}
    for record in (record for file in files for record in records_of(file)):
        settings = study.settings(record.row)
        if record.settings != settings:
            raise SystemExit(f"{record.row} has {record.settings}, and the study {settings}.")
        keys = {(record.row, record.term, block) for block in record.blocks}
        if not keys <= blocks:
            database.add([record])
            blocks |= keys


def keep(path: Path, lines: Path) -> None:
    """Write the records of a study's database as JSON lines, one for all blocks of a term.

    The last block of a row stays apart if it is smaller than others, so that it can be made again.
    """
    smaller, whole = [], []
    for record in StudyFile(path).records():
        short = record.size < record.settings["block"]
        (smaller if short else whole).append(record)
    pools = [pool for terms in pool_records(whole).values() for pool in terms.values()]
    beside = lines.with_suffix(".new")
    text = "".join(f"{as_json(record)}\n" for record in [*pools, *smaller])
    beside.write_text(text, encoding="utf-8")
    beside.replace(lines)
    path.unlink()


if __name__ == "__main__":
    main()
