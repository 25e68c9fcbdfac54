"""Data-generating processes of the papers, with their closed forms.

In come numbers of rows and seeds; out go data frames, and the true function with its PFI and
CVIM, and those of Molnar and Friedman their PD, where there are formulas.

==============================  ============================================================
Process                         Source
==============================  ============================================================
``molnar_linear``               Molnar et al. (2021), section 8
``molnar_nonlinear``            Molnar et al. (2021), section 8, as in the code or as printed
``molnar_figure2``              Molnar et al. (2021), code behind Figure 2
``friedman1``                   Friedman (1991), five of ten features matter
``khan_regression``             Khan et al. (2025), eq. 8, six dependence scenarios
``wood_classification``         Wood et al. (2024), section 3.4.1, of Mease & Wyner (2008)
``wood_regression``             Wood et al. (2024), section 3.4.1
``wood_ring``                   Wood et al. (2024), section 3.5
==============================  ============================================================

A new process is a function here that returns a `pyinterp.simulation.Process`. The order in which a
process draws may not change: results of studies rest on it.
"""

from pyinterp_papers.processes.friedman import friedman1
from pyinterp_papers.processes.khan import khan_regression
from pyinterp_papers.processes.molnar import molnar_figure2, molnar_linear, molnar_nonlinear
from pyinterp_papers.processes.wood import wood_classification, wood_regression, wood_ring

__all__ = [
    "friedman1",
    "khan_regression",
    "molnar_figure2",
    "molnar_linear",
    "molnar_nonlinear",
    "wood_classification",
    "wood_regression",
    "wood_ring",
]
