"""Write the pages of the papers: a section per cell, with its status, numbers, picture and code.

``python docs/papers/write_pages.py`` (in ``make papers``); a test compares the pages with it.
"""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import Any

from pyinterp.papers.replication import PAPERS, Paper, paper_of

HEAD = """---
file_format: mystnb
kernelspec:
  name: python3
---

# {title}

{counts} Every cell is shown from the result that the package holds; `rerun=True` computes it anew.
Theorems, equations and algorithms are [checked by tests](index.md).

`error` is the standard error of our number, `difference` counts such errors. The rounding of the
printed number is included; the paper's error is not. A number agrees up to 3.

```{{code-cell}} ipython3
:tags: [words]

import pandas as pd
import pyinterp as pi

pd.set_option("display.max_rows", 250, "display.max_colwidth", None)
pi.replicate("{name}")
```
"""

SECTION = """
## {title}: {what}

**{status}**{errata}{time}
{says}{why}
```{{code-cell}} ipython3
{tags}pi.replicate("{paper}", "{cell}")
```
{code}"""

CODE = """
```{{raw}} html
<details><summary>Code</summary>
```
```python
{source}

# {call}
```
```{{raw}} html
</details>
```
"""
SHORT = 40  # rows of a table that is shown whole


def page(name: str) -> str:
    """Return the page of a paper."""
    paper = paper_of(name)
    frame = paper.frame().set_index("cell")
    counts = frame["status"].value_counts()
    that = {"differs": "that differs" if counts.get("differs") == 1 else "that differ"}
    words = " and ".join(f"{counts[s]} {that.get(s, s)}" for s in counts.index)
    head = HEAD.format(
        title=paper.words["title"], name=name, counts=f"{len(frame)} cells: {words}."
    )
    return head + "".join(section(paper, cell, *frame.loc[cell]) for cell in frame.index)


def section(paper: Paper, cell: str, what: str, status: str, why: str) -> str:
    """Return the section of a cell."""
    one, words = paper.cells[cell], paper.words[cell]
    broken = words.get("broken", [])
    says = "".join(
        f"\n* {s}{' (does not hold here)' if s in broken else ''}" for s in words["says"]
    )
    erratum = words.get("erratum", "")
    errata = f" · [erratum {erratum}](errata.md)" if erratum else ""
    long = one.draw is None and len(paper.result(cell)) > SHORT
    return SECTION.format(
        title=cell.capitalize(),
        what=what,
        status=status.capitalize(),
        errata=errata,
        time=f" · {paper.seconds(cell):.0f} s on one core",
        says=f"{says}\n",
        why=f"\n{why[0].upper()}{why[1:]}.\n" if why else "",
        tags=":tags: [scroll-output]\n\n" if long else "",
        paper=paper.name,
        cell=cell,
        code=code(paper, cell),
    )


def code(paper: Paper, cell: str) -> str:
    """Return the code that computes a cell, once per function."""
    compute = paper.cells[cell].compute
    if compute is None:
        return f"\nThe code is that of {paper.cells[cell].of}.\n"
    function, arguments = parts(compute)
    call = f"{function.__name__}({arguments})"
    first = next(k for k, c in paper.cells.items() if c.compute and parts(c.compute)[0] is function)
    if first != cell:
        return f"\nThe code is `{call}`, with the function of {first}.\n"
    return CODE.format(source=inspect.getsource(function), call=call)


def parts(compute: Any) -> tuple[Any, str]:
    """Return the function of a cell and its arguments as text."""
    if isinstance(compute, partial):
        return compute.func, ", ".join(map(repr, compute.args))
    return compute, ""


if __name__ == "__main__":
    for paper_name in PAPERS:
        Path(__file__).with_name(f"{paper_name}.md").write_text(page(paper_name), encoding="utf-8")
