"""The check of an option that is one of some names."""

from __future__ import annotations

from collections.abc import Collection

from pyinterp.errors import OptionError, did_you_mean


def check_one_of(option: str, value: object, choices: Collection[str]) -> None:
    """Raise ``OptionError`` unless an option is one of its choices."""
    if value not in choices:
        hint = did_you_mean(value, choices)
        raise OptionError(f"`{option}` must be one of {', '.join(choices)}; got {value!r}.{hint}")
