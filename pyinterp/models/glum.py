"""What glum needs: its models predict columns by position, whatever these are called."""

from __future__ import annotations

from typing import Any

from pyinterp.models.library import Library


def _names(model: Any) -> list[str] | None:
    """Return the names of the variables that a fitted model was given; None if it has none."""
    spec = getattr(model, "X_model_spec_", None)  # of its formula
    if spec is not None:
        return [str(name) for name in spec.required_variables]
    names = getattr(model, "term_names_", None)  # a level each
    return None if names is None else list(dict.fromkeys(names))


GLUM = Library(package="glum", regular=False, names=_names, default_name="_col_{}")
