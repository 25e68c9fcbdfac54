"""Four source papers, cell by cell: our number, the printed one, the code, and what differs.

=================  ===============================================================================
Module             Content
=================  ===============================================================================
``replication``    `replicate`; what a cell is, and how its results stand beside printed numbers
``pictures``       pictures of results
``molnar2021``     Molnar et al. (2021): PD and PFI as estimators of a truth
``khan2025``       Khan, Saarela and Kustra (2025): MVIM, CVIM, AMVIM
``greenwell2018``  Greenwell, Boehmke and McCarthy (2018): importance from flatness of PD
``wood2024``       Wood et al. (2024): likelihood and entropy
=================  ===============================================================================

A cell is a table, a figure or a passage with numbers. `printed` has the papers' numbers, `results`
ours, a CSV file per cell. Theorems and estimators are checked by tests (``tests/papers``).
"""

from pyinterp_papers.replication import replicate as replicate
