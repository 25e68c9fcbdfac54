"""HTML of a page without anything from elsewhere: styles inside, pictures as data."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable
from typing import Any

__all__ = ["details", "page", "paragraph", "picture", "section"]

DPI = 192  # twice that of screens
STYLE = """
:root { color-scheme: light; }
body { font-family: system-ui, sans-serif; color: #222; background: #fff; line-height: 1.5;
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; margin: .8rem 0; font-size: .9rem;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .15rem .7rem; text-align: right; border: 0; }
th { font-weight: 600; white-space: nowrap; }
details { margin: .3rem 0 1rem; } summary { cursor: pointer; font-size: .9rem; }
table.simpletable th:first-child { text-align: left; }
.tables table { border-top: 2px solid #222;
  border-bottom: 2px solid #222; }
.tables p { font-size: .85rem; color: #444; margin: .2rem 0; }
.tables { overflow-x: auto; }
figure { margin: 1rem 0; }
figure img { max-width: 100%; height: auto; }
ol, ul { padding-left: 1.3rem; }
footer { margin-top: 2.5rem; font-size: .85rem; color: #444; border-top: 1px solid #ccc; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; }
  figure, table { break-inside: avoid; } }
"""


def page(title: str, parts: Iterable[str], footer: str) -> str:
    """Return a whole page."""
    body = "\n".join(parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{html.escape(title)}</h1>
{body}
<footer>{html.escape(footer)}</footer>
</body>
</html>
"""


def section(heading: str, *parts: str) -> str:
    """Return a heading with what stands below it."""
    return "\n".join([f"<h2>{html.escape(heading)}</h2>", *parts])


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def details(label: str, content: str) -> str:
    """Return content that a click on its label opens."""
    return f"<details><summary>{html.escape(label)}</summary>\n{content}\n</details>"


def picture(plot: Any, description: str, *, width: float, height: float) -> str:
    """Return a plotnine plot as a picture inside the page; sizes are in inches.

    A plot that is larger than usual needs that for its texts, and keeps it.
    """
    from plotnine import options, theme  # noqa: PLC0415 - plotnine takes a second to import

    wide, high = plot.theme.getp("figure_size")
    if (wide, high) != tuple(options.figure_size):
        width, height = max(width, wide), max(height, high)
    drawing = io.BytesIO()
    (plot + theme(figure_size=(width, height))).save(drawing, format="png", dpi=DPI, verbose=False)
    data = base64.b64encode(drawing.getvalue()).decode("ascii")
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{html.escape(description)}" '
        f'style="width: {width:g}in"></figure>'
    )
