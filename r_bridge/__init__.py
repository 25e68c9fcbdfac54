"""Cross-checks with R: its packages on models of Python, and its learners in Python.

rpy2 is imported here and nowhere else, and only when R is first needed: `import r_bridge` starts
nothing. See `docs/r_bridge.md`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from r_bridge.conversion import RCode
    from r_bridge.errors import RCallError, RMissingError, RThreadError, RWarning
    from r_bridge.h_statistics import hstats
    from r_bridge.importance import vi_firm, vi_permute, vint
    from r_bridge.learner import RLearner
    from r_bridge.model import RModel
    from r_bridge.partial_dependence import partial

__all__ = [
    "RCallError",
    "RCode",
    "RLearner",
    "RMissingError",
    "RModel",
    "RThreadError",
    "RWarning",
    "hstats",
    "partial",
    "vi_firm",
    "vi_permute",
    "vint",
]

_HOME = {
    "RCallError": "errors",
    "RCode": "conversion",
    "RLearner": "learner",
    "RMissingError": "errors",
    "RModel": "model",
    "RThreadError": "errors",
    "RWarning": "errors",
    "hstats": "h_statistics",
    "partial": "partial_dependence",
    "vi_firm": "importance",
    "vi_permute": "importance",
    "vint": "importance",
}


def __getattr__(name: str) -> Any:
    """Import the module that holds `name` (PEP 562)."""
    if name in _HOME:
        value = getattr(importlib.import_module(f"r_bridge.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'r_bridge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
