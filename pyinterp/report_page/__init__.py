"""What leaves an analysis for readers: a self-contained HTML page, and the papers to cite.

In come results of a learner or a fitted model; out goes a page with tables, pictures, a paragraph
on methods, references and versions. Nothing is computed here: the page asks the methods that
everybody calls, and shows their tables and plots.

===========  ========================================================================
Module       What is in it
===========  ========================================================================
`page`       `report`, the sections of the page, and the paragraph on methods. The frame
             of the page is ``page.html``
`citations`  `cite`: BibTeX of what results rest on. The papers are in
             ``references.toml``, and nowhere else
===========  ========================================================================

A new section is a function in `page` that returns HTML.
"""

from pyinterp.report_page.citations import cite
from pyinterp.report_page.page import report
