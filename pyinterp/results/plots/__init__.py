"""Plots with plotnine: a module per shape of terms, none per estimand.

In come results, out go plots to which layers, scales and a theme can be added.

========================  =====================================================
Module                    What is in it
========================  =====================================================
`points`                  One value per feature, with its interval
`curve`                   A curve over a grid with a band, or points for levels
`surface`                 Tiles over two grids
`volume`                  Tiles over two grids for every value on a third
`panels`                  Curves of several variables
`together`                Several importances of the same features
`ranks`                   Probabilities of ranks, a tile per term and rank
`agreement`               A variable against its prediction
`likelihood_and_entropy`  Features by what they do to likelihood and entropy
`style`                   What all share: colors, limits, labels and captions
========================  =====================================================

A plot for another shape of terms is a module with a function of results and their frame, and a line
in `SHAPES`. This folder is imported when the first plot is asked for: plotnine takes a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plotnine import facet_wrap, ggplot, labs

from pyinterp.results.plots.agreement import agreement
from pyinterp.results.plots.curve import curve
from pyinterp.results.plots.likelihood_and_entropy import likelihood_and_entropy
from pyinterp.results.plots.panels import panels
from pyinterp.results.plots.points import points
from pyinterp.results.plots.style import caption
from pyinterp.results.plots.surface import surface
from pyinterp.results.plots.together import together
from pyinterp.results.plots.volume import volume

if TYPE_CHECKING:
    from pyinterp.results.results import EstimandResults

__all__ = ["SHAPES", "agreement", "likelihood_and_entropy", "panels", "plot", "together"]

# By the number of axes of the terms; with one it is a curve, which has options of its own.
SHAPES = {0: points, 2: surface, 3: volume}


def plot(results: EstimandResults, *, alpha: float, sort: bool = True, **of_curves: Any) -> ggplot:
    """Draw values, a curve, a surface or several, by the number of axes of the terms."""
    terms = results.estimand.terms
    frame = results.summary_frame(alpha).reset_index()
    if terms.axes:  # a point without estimate is not drawn; the caption counts them
        frame = frame[frame["estimate"].notna()]
    if sort and not terms.axes:
        frame = frame.sort_values("estimate", ascending=False, na_position="last")
    if terms.groups:  # a column's name may be any text, which plotnine would evaluate
        frame = frame.assign(panel=frame[terms.facet])
    if terms.groups and not terms.axes:  # a panel per group has the same names
        frame = frame.assign(
            term=frame["term"].map(dict(zip(terms.names, terms.stubs, strict=True)))
        )
    if len(terms.axes) == 1:
        figure = curve(results, frame, **of_curves)
    else:
        figure = SHAPES[len(terms.axes)](results, frame)
    if terms.facet is not None and len(terms.axes) < 3:
        figure += facet_wrap("panel" if terms.groups else terms.facet)
    return figure + labs(caption=caption(results, alpha, surface=len(terms.axes) > 1))
