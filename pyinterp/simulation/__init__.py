"""Data-generating processes, their ground truth, and studies of coverage on them.

==================  ========================================================================
Module              Contents
==================  ========================================================================
`process`           A process: features, the true f and noise
`truth`             PD and PFI of the true function
`coverage`          Coverage of intervals over data sets: the study
`coverage_results`  Its tables and plots
`records`           What a study has counted, and the file that keeps it
`data_copy`         A process made of data, for `certify`
`certify`           The coverage of intervals on copies of a user's data
==================  ========================================================================

`pyinterp_papers.processes` has the processes of four papers, with closed forms. A study's settings
are part of its records: one with other settings does not go on from them.
"""

from pyinterp.simulation.certify import Certificate
from pyinterp.simulation.coverage import CoverageStudy, ideal
from pyinterp.simulation.coverage_results import CoverageResults
from pyinterp.simulation.process import Process
from pyinterp.simulation.truth import Truth, dgp_pd, dgp_pfi

__all__ = [
    "Certificate",
    "CoverageResults",
    "CoverageStudy",
    "Process",
    "Truth",
    "dgp_pd",
    "dgp_pfi",
    "ideal",
]
