"""Known data-generating processes, their ground truth, and studies of learners on them.

==============================  ============================================================
Process                         Source
==============================  ============================================================
``molnar_linear``               Molnar et al. (2021), section 8
``molnar_nonlinear``            Molnar et al. (2021), section 8, as in the code or as printed
``molnar_figure2``              Molnar et al. (2021), code behind Figure 2
``friedman1``                   Friedman (1991), five of ten features matter
``friedman2``                   Friedman (1991), impedance of a circuit
``friedman3``                   Friedman (1991), phase shift of a circuit
``khan_regression``             Khan et al. (2025), eq. 8, six dependence scenarios
``wood_classification``         Wood et al. (2024), section 3.4.1
``wood_regression``             Wood et al. (2024), section 3.4.1
``wood_ring``                   Wood et al. (2024), section 3.5
``mease_wyner_classification``  Mease & Wyner (2008)
==============================  ============================================================

Processes are in `processes`, studies in `studies`; `truth` has PD and PFI of the true function,
`decomposition` the bias and variance of a learner's, `components` the parts of Khan et al.'s bias,
`certify` the coverage of intervals on copies of a user's data. Every public name is imported on
first use, so that importing this package imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyinterp.simulation.certify import Certificate
    from pyinterp.simulation.decomposition import Decomposition, decompose
    from pyinterp.simulation.processes.friedman import friedman1, friedman2, friedman3
    from pyinterp.simulation.processes.khan import khan_regression
    from pyinterp.simulation.processes.mease_wyner import mease_wyner_classification
    from pyinterp.simulation.processes.molnar import molnar_figure2, molnar_linear, molnar_nonlinear
    from pyinterp.simulation.processes.process import Process
    from pyinterp.simulation.processes.wood import wood_classification, wood_regression, wood_ring
    from pyinterp.simulation.studies.coverage_results import CoverageResults
    from pyinterp.simulation.studies.coverage_study import CoverageStudy, ideal
    from pyinterp.simulation.studies.importance_results import ImportanceStudyResults
    from pyinterp.simulation.studies.importance_study import ImportanceStudy
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
    "friedman2",
    "friedman3",
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

_NAMES = {
    "certify": ["Certificate"],
    "decomposition": ["Decomposition", "decompose"],
    "processes.friedman": ["friedman1", "friedman2", "friedman3"],
    "processes.khan": ["khan_regression"],
    "processes.mease_wyner": ["mease_wyner_classification"],
    "processes.molnar": ["molnar_figure2", "molnar_linear", "molnar_nonlinear"],
    "processes.process": ["Process"],
    "processes.wood": ["wood_classification", "wood_regression", "wood_ring"],
    "studies.coverage_results": ["CoverageResults"],
    "studies.coverage_study": ["CoverageStudy", "ideal"],
    "studies.importance_results": ["ImportanceStudyResults"],
    "studies.importance_study": ["ImportanceStudy"],
    "truth": ["Truth", "dgp_pd", "dgp_pfi"],
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import the module that holds `name` (PEP 562)."""
    if name in _HOME:
        value = getattr(importlib.import_module(f"pyinterp.simulation.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pyinterp.simulation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
