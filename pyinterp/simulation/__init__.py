"""Known data-generating processes, their ground truth, and studies of learners on them.

==============================  ============================================================
Process                         Source
==============================  ============================================================
``molnar_linear``               Molnar et al. (2021), section 8
``molnar_nonlinear``            Molnar et al. (2021), section 8, as in the code or as printed
``molnar_figure2``              Molnar et al. (2021), code behind Figure 2
``friedman1``                   Friedman (1991), five of ten features matter
``khan_regression``             Khan et al. (2025), eq. 8, six dependence scenarios
``wood_classification``         Wood et al. (2024), section 3.4.1
``wood_regression``             Wood et al. (2024), section 3.4.1
``wood_ring``                   Wood et al. (2024), section 3.5
``mease_wyner_classification``  Mease & Wyner (2008)
==============================  ============================================================

Processes are in `processes`, studies in `studies`; `truth` has PD and PFI of the true function,
`decomposition` the bias and variance of a learner's PD and PFI, `certify` the coverage of
intervals on copies of a user's data.
"""

from pyinterp.simulation.certify import Certificate
from pyinterp.simulation.decomposition import Decomposition, decompose
from pyinterp.simulation.processes.friedman import friedman1
from pyinterp.simulation.processes.khan import khan_regression
from pyinterp.simulation.processes.molnar import molnar_figure2, molnar_linear, molnar_nonlinear
from pyinterp.simulation.processes.process import Process
from pyinterp.simulation.processes.wood import (
    mease_wyner_classification,
    wood_classification,
    wood_regression,
    wood_ring,
)
from pyinterp.simulation.studies.coverage import CoverageResults, CoverageStudy, ideal
from pyinterp.simulation.studies.importance import ImportanceStudy, ImportanceStudyResults
from pyinterp.simulation.truth import Truth, dgp_pd, dgp_pfi

__all__ = [
    "Certificate",
    "CoverageResults",
    "CoverageStudy",
    "Decomposition",
    "ImportanceStudy",
    "ImportanceStudyResults",
    "Process",
    "Truth",
    "decompose",
    "dgp_pd",
    "dgp_pfi",
    "friedman1",
    "ideal",
    "khan_regression",
    "mease_wyner_classification",
    "molnar_figure2",
    "molnar_linear",
    "molnar_nonlinear",
    "wood_classification",
    "wood_regression",
    "wood_ring",
]
