"""Compute the papers' results in the package: ``python studies/papers.py [PAPER [CELL ...]]``."""

from __future__ import annotations

import sys
import time

from pyinterp_papers.replication import PAPERS, Paper, paper_of, path_of, read_table


def store(paper: Paper, name: str) -> None:
    """Compute a cell and write it, and how long it took, to the folder of results."""
    start = time.process_time()
    result = paper.compute(name)
    seconds = round(time.process_time() - start, 1)
    result.to_csv(path_of("results", paper.name, name), index=False, float_format="%.6g")
    times = read_table("results", paper.name, "seconds").set_index("cell")["seconds"]
    times[name] = seconds
    times.to_csv(path_of("results", paper.name, "seconds"))


def main(paper: str = "", *cells: str) -> None:
    """Compute cells, by default all of a paper, of all papers, and store them."""
    for chosen in map(paper_of, [paper] if paper else PAPERS):
        for name, cell in chosen.cells.items():
            if cell.compute is not None and (not cells or name in cells):
                store(chosen, name)


if __name__ == "__main__":
    main(*sys.argv[1:])
