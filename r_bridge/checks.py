"""Numbers that R takes only within limits, said in Python's words before R is asked."""

from __future__ import annotations

from numbers import Integral
from typing import TypeGuard

from pyinterp.errors import OptionError

__all__ = ["LARGEST", "check_seed"]

# R's integers go from -LARGEST to LARGEST; what would be one less is NA.
LARGEST = 2**31 - 1


def check_seed(argument: str, seed: object) -> None:
    """Raise `OptionError` unless `seed` is None or one of R's whole numbers."""
    if seed is not None and (not _is_whole(seed) or not -LARGEST <= int(seed) <= LARGEST):
        raise OptionError(
            f"`{argument}` must be None or a whole number from -{LARGEST} to {LARGEST}, as R's "
            f"`set.seed` takes it, not {seed!r}; reduce a larger one, such as by "
            f"`seed % {LARGEST}`."
        )


def _is_whole(value: object) -> TypeGuard[Integral]:
    return isinstance(value, Integral) and not isinstance(value, bool)
