"""Arguments of R's functions: none may hold what belongs to the rows of the data.

A learner is fitted to other rows in every refit. A vector given as an argument would stay behind,
and where the lengths agree, as in a bootstrap, R would pair it with the wrong rows in silence.
What does travel with the rows is a column of the data that R code names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pandas as pd

from pyinterp.errors import OptionError, list_of
from r_bridge.conversion import RCode, text_from_r, texts
from r_bridge.names import Translation
from r_bridge.session import SESSION

__all__ = ["check_code", "check_no_rows", "in_r_words"]

# Arguments of R's modeling functions with one value per row, or with positions of rows.
OF_ROWS = (
    "weights",
    "case.weights",
    "offset",
    "newoffset",
    "subset",
    "groups",
    "strata",
    "clusters",
    "id",
    "inbag",
    "exposure",
)


def check_no_rows(arguments: Mapping[str, Any], n: int | None) -> None:
    """Raise `OptionError` for an argument that belongs to rows, or is as long as the data.

    Parameters
    ----------
    arguments : mapping
    n : int or None
        Number of rows; None if it is not known.
    """
    for name, value in arguments.items():
        if (_is_of_rows(name) and _length(value) > 1) or (n is not None and _has_length(value, n)):
            raise OptionError(
                f"The argument `{name[:40]}` must not hold values of single rows, which would not "
                "be resampled with the rows: such values are not supported yet. Name a column of "
                'the data where R looks for it there, as in `weights=RCode("w")`.'
            )


def in_r_words(
    arguments: Mapping[str, Any], names: Translation, frame: pd.DataFrame
) -> dict[str, Any]:
    """Return the arguments, those that name columns of the data in R's words.

    Raises
    ------
    OptionError
        If code of R uses a vector of R that is as long as the data, or if what belongs to rows is
        not made of the data's columns.
    """
    check_code(arguments, len(frame))
    return {
        name: _of_columns(name, value, names, frame)
        if isinstance(value, RCode) and _is_of_rows(name)
        else value
        for name, value in arguments.items()
    }


def check_code(arguments: Mapping[str, Any], n: int, columns: Collection[str] = ()) -> None:
    """Raise `OptionError` if code in arguments uses a vector of R that is as long as the data.

    Refits would have other rows, to which R would add the vector's values all the same.
    """
    for name, value in arguments.items() if n > 1 else ():
        for code in _codes(value):
            beside = text_from_r(SESSION.call("vectors_beside", code.text, texts(columns), n))
            if beside:
                raise OptionError(
                    f"`{name[:40]}` must not use vectors of R with one value per row, which would "
                    f"not be resampled with the rows; it uses {list_of(beside)}. Make it a column "
                    "of the data, or rename it if a column is meant."
                )


def _codes(value: Any) -> Iterator[RCode]:
    """Give the code in a value, in its parts too."""
    if isinstance(value, RCode):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _codes(part)


def _of_columns(name: str, code: RCode, names: Translation, frame: pd.DataFrame) -> Any:
    variables = text_from_r(SESSION.call("variables_in", code.text))
    if not variables or not set(variables) <= set(frame):
        raise OptionError(
            f"The argument `{name[:40]}` must be made of columns of the data, which travel with "
            f"the rows, {list_of(frame)}; its code uses {list_of(variables) or 'none'}."
        )
    changed = names.new_words
    return SESSION.call("translated_code", code.text, texts(changed), texts(changed.values()))


def _is_of_rows(name: str) -> bool:
    """Whether R takes it for an argument of rows, of whose name the beginning is enough."""
    dotted = name.replace("_", ".")
    clear = len(dotted) > 1 or dotted in ("w", "o")  # other letters begin more names of R
    return clear and any(known.startswith(dotted) for known in OF_ROWS)


def _length(value: Any) -> int:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__"):
        return 1
    return len(value)


def _has_length(value: Any, n: int) -> bool:
    if n < 2 or isinstance(value, str | bytes):
        return False
    if isinstance(value, Mapping):
        return any(_has_length(part, n) for part in value.values())
    if isinstance(value, list | tuple):
        return len(value) == n or any(_has_length(part, n) for part in value)
    return n in getattr(value, "shape", ()) or _length(value) == n
