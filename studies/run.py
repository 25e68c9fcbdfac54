"""Run the studies: what the files in ``studies/results`` do not hold yet.

``make study`` runs all; a kill loses at most the blocks under way.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from settings import STUDIES, only

from pyinterp.simulation.studies.ledger import Ledger
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
        study, path = STUDIES[name](), RESULTS / f"{name}.jsonl"
        if arguments.merge:
            merge(study, path, arguments.merge)
        else:
            only(study, arguments.learners, arguments.n).run(path, arguments.jobs)
        results = study.load(path)
        # A study without repetitions is of means only.
        table = results.truths if results.frame.empty else results.frame
        table.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.6g")
        print(results)


def merge(study: Study[Any], path: Path, files: list[Path]) -> None:
    """Add what other files of a study hold and its own does not.

    Lines that do not say their settings, as earlier versions wrote them, must be of the study's.
    """
    ledger = Ledger(path)
    with ledger.locked():
        for line in (line for file in files for line in Ledger(file).lines):
            settings = study.settings(line.row)
            if line.settings not in (None, settings):
                raise SystemExit(f"{line.row} has {line.settings}, and the study {settings}.")
            new = {
                term: found
                for term, found in line.terms.items()
                if not all(ledger.size(line.row, block, term) for block in line.blocks)
            }
            if new:
                ledger.add(line._replace(terms=new, settings=settings))
        ledger.compact()


if __name__ == "__main__":
    main()
