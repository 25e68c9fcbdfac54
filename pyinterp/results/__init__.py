"""Results: numbers with their inference, as tables, frames and plots.

In come an estimand, its estimates for every refit and a variance; out go ``params``, ``bse``,
tests, intervals, ``summary()`` and ``plot()``. Results are frozen: no call changes them.

==============  ======================================================================
Module          What is in it
==============  ======================================================================
`results`       `EstimandResults`, the results of one estimand
`hypotheses`    Tests of hypotheses, as tables
`together`      Several estimands: importances, curves, uncertainties; differences of learners
`header`        The analysis behind the numbers
`summary`       Summary tables, and their exports: LaTeX, Markdown, Excel
`footnotes`     Footnotes, short and full
`side_by_side`  ``summary_col`` and ``plot``: several results, of statsmodels too
`table`         Tables as text, HTML, LaTeX, Markdown and CSV
`plots`         Plots
==============  ======================================================================

Tables and plots know estimands by their labels, layouts and notes only: a new estimand changes
nothing here.
"""
