"""Frozen objects, and objects in one line: as the call that makes them, or with their subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from pyinterp.errors import NO_VALUE, short

LONGEST = 60  # characters of the value of one setting
LONGEST_CALL = 140

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(kind: type[T]) -> type[T]:
    """Make a class a dataclass that is frozen, and whose fields are keywords."""
    return dataclass(frozen=True, kw_only=True)(kind)


def call_form(value: Any) -> str:
    """Return ``Subsampling(refits=20)``: a dataclass as it is called, without its defaults.

    It can be evaluated if all values can; others stand in angle brackets.
    """
    settings = {
        field.name: getattr(value, field.name)
        for field in sorted(fields(value), key=attrgetter("kw_only"))
        if field.init and field.repr and not _is_default(getattr(value, field.name), field)
    }
    return call(type(value).__name__, settings)


def call(name: str, settings: Mapping[str, Any]) -> str:
    """Return a call with its settings in one line."""
    text = ", ".join(f"{key}={_value(value)}" for key, value in settings.items())
    return f"{name}({short(text, LONGEST_CALL)})"


def about(value: object, *parts: str) -> str:
    """Return text such as ``<Loss: squared error>``, for an object that no short call makes."""
    text = ", ".join(filter(None, parts))
    name = type(value).__name__
    return f"<{name}: {short(text, LONGEST_CALL)}>" if text else f"<{name}>"


def _is_default(value: object, field: Any) -> bool:
    """Whether a field of a dataclass has its default."""
    if field.default is not MISSING:
        default = field.default
    elif field.default_factory is not MISSING:
        default = field.default_factory()
    else:
        return False
    # Arrays compare value by value; none is a default.
    return value is default or (type(value) is type(default) and bool(value == default))


def _value(value: object) -> str:
    """Return a short text of an argument: its code, its name, or its kind and size."""
    if isinstance(value, Callable) and hasattr(value, "__name__"):  # type: ignore[arg-type] # an ABC
        return str(value.__name__)
    shaped = getattr(value, "shape", None)
    text = " ".join(repr(value).split()) if not shaped else ""
    if text and len(text) <= LONGEST and not NO_VALUE.search(text):
        return text
    if shaped:
        return f"<{short(value)}>"
    length = f" of length {len(value)}" if isinstance(value, Sized) else ""
    return f"<{type(value).__name__}{length}>"


if TYPE_CHECKING:
    cached_table = cached_property
else:

    class cached_table(cached_property):  # noqa: N801 - like the one it is
        """A table or array that is made once; every access returns a copy."""

        def __get__(self, instance, owner=None):
            found = super().__get__(instance, owner)
            return found if instance is None else found.copy()

        def __set__(self, instance, value):  # without it, Python would read the cache itself
            raise AttributeError("Results are frozen.")
