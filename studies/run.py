"""Run the studies: what the files in ``studies/results`` do not hold yet.

``make study`` runs all; a kill loses at most the blocks under way.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from settings import STUDIES, only

RESULTS = Path(__file__).with_name("results")


def main() -> None:
    """Run the studies named on the command line, or all, and write their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(STUDIES), help=", ".join(STUDIES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--learners", nargs="*", help="only these")
    parser.add_argument("--n", nargs="*", type=int, help="these sizes instead of the study's")
    arguments = parser.parse_args()
    for name in arguments.names:
        study, path = STUDIES[name](), RESULTS / f"{name}.jsonl"
        only(study, arguments.learners, arguments.n).run(path, arguments.jobs)
        results = study.load(path)
        # A study without repetitions is of means only.
        table = results.truths if results.frame.empty else results.frame
        table.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.6g")
        print(results)


if __name__ == "__main__":
    main()
