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
``mease_wyner_classification``  Mease & Wyner (2008)
==============================  ============================================================

Every public name is imported on first use, so that importing this package imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyinterp.simulation.decomposed import Decomposition
    from pyinterp.simulation.decomposition import decompose
    from pyinterp.simulation.friedman import friedman1, friedman2, friedman3
    from pyinterp.simulation.importance import ImportanceStudy
    from pyinterp.simulation.importance_reports import ImportanceStudyResults
    from pyinterp.simulation.khan import khan_regression
    from pyinterp.simulation.mease_wyner import mease_wyner_classification
    from pyinterp.simulation.molnar import molnar_figure2, molnar_linear, molnar_nonlinear
    from pyinterp.simulation.process import Process
    from pyinterp.simulation.reports import CoverageResults
    from pyinterp.simulation.study import CoverageStudy, ideal
    from pyinterp.simulation.truth import Truth, dgp_pd, dgp_pfi
    from pyinterp.simulation.wood import wood_classification, wood_regression

__all__ = [
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
]

_HOME = {
    "CoverageResults": "reports",
    "CoverageStudy": "study",
    "Decomposition": "decomposed",
    "ImportanceStudyResults": "importance_reports",
    "ImportanceStudy": "importance",
    "Process": "process",
    "Truth": "truth",
    "decompose": "decomposition",
    "dgp_pd": "truth",
    "dgp_pfi": "truth",
    "friedman1": "friedman",
    "friedman2": "friedman",
    "friedman3": "friedman",
    "ideal": "study",
    "khan_regression": "khan",
    "mease_wyner_classification": "mease_wyner",
    "molnar_figure2": "molnar",
    "molnar_linear": "molnar",
    "molnar_nonlinear": "molnar",
    "wood_classification": "wood",
    "wood_regression": "wood",
}


def __getattr__(name: str) -> Any:
    """Import the module that holds `name` (PEP 562)."""
    if name in _HOME:
        value = getattr(importlib.import_module(f"pyinterp.simulation.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pyinterp.simulation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
