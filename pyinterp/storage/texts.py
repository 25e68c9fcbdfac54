"""Values as texts, the same in every session: the keys of sums in files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from pyinterp.errors import NO_VALUE

LONGEST = 300  # characters of one part; longer ones are digests
NAMELESS = "<lambda>"


@dataclass(frozen=True)
class KeyText:
    """The key of an estimand, as files keep it.

    Attributes
    ----------
    text : str
    """

    text: str


def text_of(value: Any) -> str:
    """Return a value as text that is the same in every session."""
    text = next(form for kinds, form in FORMS if isinstance(value, kinds))(value)
    if len(text) <= LONGEST:
        return text
    nameless = f" {NAMELESS}" if NAMELESS in text else ""
    return f"{type(value).__name__} {_digest(text.encode())}{nameless}"


def _of_array(array: np.ndarray) -> str:
    """Return the shape of an array and a digest of its values."""
    if array.dtype.hasobject:
        return f"array {array.shape} {text_of(array.ravel().tolist())}"
    return f"array {array.shape} {_digest(np.ascontiguousarray(array).tobytes())}"


def _of_mapping(value: Mapping[Any, Any]) -> str:
    """Return names and values of a mapping as text."""
    return ", ".join(f"{text_of(name)}: {text_of(part)}" for name, part in value.items())


def _by_name(value: Any) -> str:
    """Return the text of an object that has a name, such as a loss, or of its settings."""
    kind, name = type(value).__name__, getattr(value, "name", None)
    if (key := getattr(value, "key", None)) is not None:  # words change nothing
        return text_of(key)
    if isinstance(name, str):
        return f"{kind}({name!r})"
    if isinstance(value, tuple | list):
        parts = f"({', '.join(map(text_of, value))})"
        return f"{kind}{parts}" if hasattr(value, "_fields") else parts
    if is_dataclass(value):
        settings = (f"{f.name}={text_of(getattr(value, f.name))}" for f in fields(value) if f.init)
        return f"{kind}({', '.join(settings)})"
    text = " ".join(repr(value).split())  # such as of a date
    known = f"{kind} {NAMELESS if NO_VALUE.search(text) else text}"
    return str(getattr(value, "__name__", known)) if callable(value) else known


def _digest(data: bytes) -> str:
    """Return 16 hexadecimal digits that tell data apart."""
    return hashlib.sha256(data).hexdigest()[:16]


# The first that is the type of a value counts.
FORMS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (KeyText, lambda value: value.text),
    ((type(None), bool, int, str), repr),
    ((float, np.floating), lambda value: repr(float(value))),
    (np.generic, lambda value: repr(value.item())),
    (Mapping, lambda value: f"{{{_of_mapping(value)}}}"),
    ((set, frozenset), lambda value: f"{{{', '.join(sorted(map(text_of, value)))}}}"),
    (np.ndarray, _of_array),
    (
        (pd.DataFrame, pd.Series),
        lambda value: f"frame {_digest(pd.util.hash_pandas_object(value).to_numpy().tobytes())}",
    ),
    (partial, lambda value: f"{text_of(value.func)}{text_of((value.args, value.keywords))}"),
    (object, _by_name),
)
