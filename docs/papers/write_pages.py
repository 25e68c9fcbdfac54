"""Write the pages of the papers: a section per cell, with its status, numbers, picture and code.

``python docs/papers/write_pages.py`` (in ``make papers``); a test compares the pages with it.
"""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from pyinterp_papers.khan2025 import MODELS
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

KINDS = """
## Counts by kind

An *identity* is a printed number that follows from the others for every learner. A *zero* is a \
number for X6, on which the response does not depend. Only the kind *number* depends on the \
learner. `bias2_orig` and `variance_orig` count once, because they are equal for all features. \
`gap` is the median distance of our numbers from the printed numbers, in percent.

The paper prints ranges of XGBoost's settings. `studies/khan_settings.py` compares 36 settings \
(learning rate 0.05, 0.1, 0.3; depth 2, 4; half, three quarters or all rows per tree; 100, 200 \
trees) by their fit to the bias, variance and delta of X1 in Table 2 at n = 500 and 1,000. Two \
thirds of the n rows are training rows. The best setting has 200 trees of depth 2, learning rate \
0.3 and half of the rows (mean squared gap 0.093; all rows: 0.096). Tables 2 to 7 use this setting \
at all n, with {models} models at n = {sizes}. \
Standard errors grow with n, because we train fewer models, so the gap says more than the counts. \
From n = 5,000 on, our squared bias is 1.1 to 12 times the printed one. Tables 4 and 7 have nearly \
the same process: at n = 500 our variances are 5.67 and 4.87, and the printed variances 5.12 and \
8.34. We do not run the paper's n = 50,000.

| table | identity | zero | number | gap |
|---|---|---|---|---|
{rows}
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
    head += kinds(paper) if name == "khan2025" else ""
    return head + "".join(
        section(paper, cell, *frame.loc[cell, ["what", "status"]]) for cell in frame.index
    )


def kinds(paper: Paper) -> str:
    """Return how many printed numbers of a kind agree, by table, and how far they are apart."""
    tables = {k: paper.numbers(f"table {k}").query("status != ''") for k in range(2, 8)}
    rows = []
    for name, frame in {**tables, "all": pd.concat(tables)}.items():
        parts = [frame[frame["kind"] == kind] for kind in ("identity", "zero", "number")]
        agree = [f"{(part['status'] == 'agrees').sum()} of {len(part)}" for part in parts]
        gap = (parts[-1]["ours"] / parts[-1]["printed"] - 1).abs().median()
        rows.append(f"| {name} | {' | '.join(agree)} | {gap:.0%} |")
    models = {f"{n:,}": str(k) for n, k in MODELS.items()}
    return KINDS.format(
        rows="\n".join(rows), models=", ".join(models.values()), sizes=", ".join(models)
    )


def sentence(printed: int, agree: int) -> str:
    """Return how many printed numbers agree."""
    if not printed:
        return "The paper prints no numbers that could be compared."
    return f"{agree} of {printed} printed numbers agree."


def section(paper: Paper, cell: str, what: str, status: str) -> str:
    """Return the section of a cell."""
    one, words = paper.cells[cell], paper.words[cell]
    marks = dict.fromkeys(words.get("broken", []), " (contradicted by our numbers)")
    says = "".join(f"\n* {claim}{marks.get(claim, '')}" for claim in words.get("says", []))
    why = ". ".join(paper.reasons(cell))
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
        why=f"\n{why}.\n" if why else "",
        tags=":tags: [scroll-output]\n\n" if long else "",
        paper=paper.name,
        cell=cell,
        code=code(paper, cell),
    )


def code(paper: Paper, cell: str) -> str:
    """Return the code that computes a cell, once per function."""
    compute = paper.cells[cell].compute
    if compute is None:
        of = paper.cells[cell].of
        said = of.capitalize() in " ".join(paper.reasons(cell))
        return "" if said else f"\nCode: see {of}.\n"
    function, arguments = parts(compute)
    call = f"{function.__name__}({arguments})"
    first = next(k for k, c in paper.cells.items() if c.compute and parts(c.compute)[0] is function)
    if first != cell:
        return f"\n```python\n# {call}, with the code of {first}\n```\n"
    return CODE.format(source=inspect.getsource(function), call=call)


def parts(compute: Any) -> tuple[Any, str]:
    """Return the function of a cell and its arguments as text."""
    if isinstance(compute, partial):
        return compute.func, ", ".join(map(repr, compute.args))
    return compute, ""


if __name__ == "__main__":
    for paper_name in PAPERS:
        Path(__file__).with_name(f"{paper_name}.md").write_text(page(paper_name), encoding="utf-8")
