"""One page for a colleague: an analysis as a self-contained HTML file.

In come results of a learner or a fitted model; out goes a page with tables, pictures, a paragraph
on methods, references and versions. Nothing is computed here: the page asks the methods that
everybody calls, and shows their tables and plots.

======  =============================================================================
Module  What is in it
======  =============================================================================
`page`  `report`, the sections of the page, and the paragraph on methods. The frame of
        the page is ``page.html``, the papers are in ``references.toml``
======  =============================================================================

A new section is a function in `page` that returns HTML.
"""

from pyinterp.report_page.page import report

__all__ = ["report"]
