"""Run the studies: what the files in ``studies/results`` do not hold yet.

``make study`` runs all. Results are kept as JSON lines, which can be compared. While a study runs
they are in a database beside; after a kill, which loses at most the blocks under way, the next run
goes on from it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from settings import STUDIES, only

from pyinterp.simulation.studies import text
from pyinterp.simulation.studies.database import StudyFile
from pyinterp.simulation.studies.runner import Study

RESULTS = Path(__file__).with_name("results")


def main() -> None:
    """Run the studies named on the command line, or all, and write their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(STUDIES), help=", ".join(STUDIES))
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
        study, database = STUDIES[name](), RESULTS / f"{name}.sqlite"
        lines = RESULTS / f"{name}.jsonl"
        merge(study, database, [lines, *(arguments.merge or [])])
        if not arguments.merge:
            only(study, arguments.learners, arguments.n).run(database, arguments.jobs)
        keep(database, lines)
        results = study.load(lines)
        # A study without repetitions is of means only.
        table = results.truths if results.frame.empty else results.frame
        table.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.6g")
        print(results)


def merge(study: Study[Any], path: Path, files: list[Path]) -> None:
    """Add to a study's database what other files hold and it does not.

    Records that do not say their settings, as early versions wrote them, must be of the study's.
    """
    database = StudyFile(path)
    with database.lock():
        blocks = {(r.row, r.term, block) for r in database.records() for block in r.blocks}
        new = []
        for record in (record for file in files for record in StudyFile(file).records()):
            settings = study.settings(record.row)
            if record.settings not in (None, settings):
                raise SystemExit(f"{record.row} has {record.settings}, and the study {settings}.")
            keys = {(record.row, record.term, block) for block in record.blocks}
            if not keys <= blocks:
                new.append(record._replace(settings=settings))
                blocks |= keys
        database.add(new)


def keep(path: Path, lines: Path) -> None:
    """Write the records of a study's database as JSON lines in its place."""
    database = StudyFile(path)
    with database.lock():
        text.write(lines, database.records())
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
