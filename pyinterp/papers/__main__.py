"""Compute the results that the package holds: ``python -m pyinterp.papers [PAPER [CELL ...]]``."""

from __future__ import annotations

import sys

from pyinterp.papers.replication import PAPERS, paper_of


def main(paper: str = "", *cells: str) -> None:
    """Compute cells, by default all of a paper, of all papers, and store them."""
    for chosen in map(paper_of, [paper] if paper else PAPERS):
        for name, cell in chosen.cells.items():
            if cell.compute is not None and (not cells or name in cells):
                chosen.store(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
