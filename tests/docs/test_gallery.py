"""Every picture of the gallery: nothing is cut, no text lies on another, no warning."""

import ast
import re
import warnings
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from plotnine import aes, geom_point, ggplot, labs
from threadpoolctl import threadpool_limits

PAGE = Path(__file__).resolve().parents[2] / "vignettes" / "gallery.md"
CELL = re.compile(r"```\{code-cell\} ipython3\n(.*?)```", re.DOTALL)
CELLS = CELL.findall(PAGE.read_text(encoding="utf-8"))
FIRST, *PICTURES = CELLS
OUTSIDE = 2.0  # pixels
TOUCHING = 1.0


@pytest.fixture(scope="module")
def names():
    """Return the names of the page, which every cell adds to."""
    known = {}
    with threadpool_limits(1):
        exec(compile(FIRST, "gallery", "exec"), known)  # noqa: S102 - our own page
        yield known
    plt.close("all")


def picture(number, known):
    """Return the last value of a cell, after what it and earlier cells do before theirs."""
    ran = known.setdefault("ran", set())
    for k, cell in enumerate(PICTURES[: number + 1]):
        *before, last = ast.parse(cell).body
        if k not in ran:  # whichever process runs the earlier tests
            exec(compile(ast.Module(before, []), "gallery", "exec"), known)  # noqa: S102 - ours
            ran.add(k)
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "gallery", "eval"), known)  # noqa: S307 - ours


def texts_of(figure):
    """Return the texts that are seen, with where they are."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    boxes = [(t, t.get_window_extent(renderer)) for t in texts]
    return [(t, box) for t, box in boxes if box.width > 0 and _is_drawn(t)]


def _is_drawn(text):
    """Whether a text is no label of a tick beyond the axis, which is not drawn."""
    axes = text.axes
    if axes is None:
        return True
    for axis in (axes.xaxis, axes.yaxis):
        labels = [label for tick in axis.get_major_ticks() for label in (tick.label1, tick.label2)]
        if text in labels:
            return text in axis.get_ticklabels() and _in_view(text, axis)
    return True


def _in_view(text, axis):
    low, high = sorted(axis.get_view_interval())
    place = text.get_position()[0 if axis.axis_name == "x" else 1]
    return bool(low - 1e-9 <= place <= high + 1e-9)


def test_there_are_thirty_pictures():
    assert len(PICTURES) >= 30


def faults_of(drawing):
    """Return the texts of a picture that are cut, and pairs of which one lies on the other."""
    figure = drawing.draw()
    boxes = texts_of(figure)
    width, height = figure.canvas.get_width_height()
    plt.close(figure)
    faults = [
        f"cut: {text.get_text()}"
        for text, box in boxes
        if min(box.x0, box.y0) < -OUTSIDE or box.x1 > width + OUTSIDE or box.y1 > height + OUTSIDE
    ]
    for (one, a), (other, b) in combinations(boxes, 2):
        wide = min(a.x1, b.x1) - max(a.x0, b.x0)
        high = min(a.y1, b.y1) - max(a.y0, b.y0)
        if min(wide, high) > TOUCHING:
            faults.append(f"overlap: {one.get_text()} | {other.get_text()}")
    return faults


@pytest.mark.parametrize("number", range(len(PICTURES)))
def test_pictures_are_whole(number, names):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert faults_of(picture(number, names)) == []


def test_faults_are_seen():
    frame = pd.DataFrame({"x": [f"A long label {k}" for k in range(20)], "y": range(20)})
    crowded = ggplot(frame, aes(x="x", y="y")) + geom_point()
    assert any(fault.startswith("overlap") for fault in faults_of(crowded))
    wide = ggplot(frame.iloc[:2], aes(x="x", y="y")) + geom_point() + labs(title="long " * 60)
    assert any(fault.startswith("cut") for fault in faults_of(wide))
