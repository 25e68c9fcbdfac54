"""The check of an option that is one of some names."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from pyinterp.errors import OptionError


def check_one_of(option: str, value: object, choices: Collection[str]) -> None:
    """Raise ``OptionError`` unless an option is one of its choices."""
    if value not in choices:
        near = get_close_matches(str(value), choices, 1)
        hint = f" Did you mean `{near[0]}`?" if near else ""
        raise OptionError(f"`{option}` must be one of {', '.join(choices)}; got {value!r}.{hint}")
