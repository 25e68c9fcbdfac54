"""Regression-style tables of partial dependence and importance for any learner.

Every public name is imported on first use, so that ``import pyinterp`` itself imports nothing else.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import warnings
from os import scandir, sep
from typing import Any

__version__ = "0.1.0.dev0"

# Names by the module that has them, as the stub for type checkers lists them.
_STUB = ast.parse(pkgutil.get_data(__name__, "__init__.pyi") or "")
_IMPORTS = [node for node in _STUB.body if isinstance(node, ast.ImportFrom)]
_HOME = {alias.name: str(node.module) for node in _IMPORTS for alias in node.names}
__all__ = [*sorted(_HOME)]  # noqa: PLE0604 - they are strings


def __getattr__(name: str) -> Any:
    """Import the module that holds `name` (PEP 562)."""
    if name not in _HOME:
        words = importlib.import_module("pyinterp.hints").sentence(name)
        raise AttributeError(words or f"module 'pyinterp' has no attribute {name!r}")
    if _HOME[name] == "pyinterp":
        return importlib.import_module(f"pyinterp.{name}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})


def _with_namesake() -> bool:
    """Whether PyPI's other `pyinterp` is installed in the same folder, its files among ours."""
    try:
        entries = [entry.name for entry in scandir(__path__[0].rpartition(sep)[0])]
    except OSError:  # in an archive
        return False
    return any(name.startswith("pyinterp-") and name.endswith(".dist-info") for name in entries)


if _with_namesake():
    warnings.warn(
        "PyPI's `pyinterp`, for geospatial interpolation, is installed beside `pyinterp-stats`, "
        "and their files overwrite each other: run `pip uninstall pyinterp pyinterp-stats`, then "
        "install one of them.",
        stacklevel=2,
    )
