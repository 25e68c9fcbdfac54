"""Write the pages of the papers: a section per cell, with its status, numbers, picture and code.

``python docs/papers/write_pages.py`` (in ``make papers``); a test compares the pages with it.
"""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import Any

from pyinterp_papers.replication import PAPERS, STATUSES, Paper, paper_of

HEAD = """---
file_format: mystnb
kernelspec:
  name: python3
---

# {title}

{numbers} {cells} [How to read a cell](index.md).

```{{code-cell}} ipython3
:tags: [words]

import pandas as pd
from pyinterp_papers import replicate

pd.set_option("display.max_rows", 250, "display.max_colwidth", None)
replicate("{name}")
```
"""

SECTION = """
## {title}: {what}

**{status}**{errata}{time}
{says}{why}
```{{code-cell}} ipython3
{tags}replicate("{paper}", "{cell}")
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
    words = ", ".join(f'{counts[status]} "{status}"' for status in STATUSES if status in counts)
    head = HEAD.format(
        title=paper.words["title"],
        name=name,
        numbers=sentence(*frame[["printed", "agree"]].sum()),
        cells=f"{len(frame)} cells: {words}.",
    )
    return head + "".join(
        section(paper, cell, *frame.loc[cell, ["what", "status", "why"]]) for cell in frame.index
    )


def sentence(printed: int, agree: int) -> str:
    """Return how many printed numbers agree."""
    if not printed:
        return "The paper prints no numbers that could be compared."
    return f"{agree} of {printed} printed numbers agree."


def section(paper: Paper, cell: str, what: str, status: str, why: str) -> str:
    """Return the section of a cell."""
    one, words = paper.cells[cell], paper.words[cell]
    says = "".join(f"\n* {claim}" for claim in words.get("says", []))
    erratum = words.get("erratum", "")
    kind = "errata" if "," in erratum else "erratum"
    errata = f" · [{kind} {erratum}](errata.md)" if erratum else ""
    long = one.draw is None and len(paper.result(cell)) > SHORT
    return SECTION.format(
        title=cell.capitalize(),
        what=what,
        status=status.capitalize(),
        errata=errata,
        time=f" · {paper.seconds(cell):.0f} s",
        says=f"\nThe paper says:\n{says}\n" if says else "",
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
        return f"\nCode: that of {paper.cells[cell].of}.\n"
    function, arguments = parts(compute)
    call = f"{function.__name__}({arguments})"
    first = next(k for k, c in paper.cells.items() if c.compute and parts(c.compute)[0] is function)
    if first != cell:
        return f"\nCode: `{call}`, as of {first}.\n"
    return CODE.format(source=inspect.getsource(function), call=call)


def parts(compute: Any) -> tuple[Any, str]:
    """Return the function of a cell and its arguments as text."""
    if isinstance(compute, partial):
        return compute.func, ", ".join(map(repr, compute.args))
    return compute, ""


if __name__ == "__main__":
    for paper_name in PAPERS:
        Path(__file__).with_name(f"{paper_name}.md").write_text(page(paper_name), encoding="utf-8")
