"""Names of columns: plain words for R, and columns taken by name.

R's modeling functions paste names of variables into text that they evaluate: mgcv does so even
with names that it is given as symbols, so that a column called ``system("...")`` would run. R is
therefore given plain words alone, much as ``read.csv`` makes them of a file's header, and names are
translated on the way there and back. Plain words stay as they are, so that R's messages and R's
code can be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain, count

import pandas as pd

from pyinterp.data.frames import is_frame
from pyinterp.errors import DataError, did_you_mean, list_of

__all__ = ["Translation", "columns_by_name", "is_plain"]

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._]{0,199}")
RESERVED_WORDS = {
    *("if", "else", "repeat", "while", "function", "for", "next", "break", "in"),
    *("TRUE", "FALSE", "NULL", "Inf", "NaN", "NA"),
    *("NA_integer_", "NA_real_", "NA_character_", "NA_complex_"),
}
LONGEST = 40  # of a word made from a name that is not plain, without its number


def is_plain(name: str) -> bool:
    """Whether R reads the name as one word, whatever code it is pasted into."""
    return PLAIN.fullmatch(name) is not None and name not in RESERVED_WORDS


class Translation:
    """Names of columns and the plain words that stand for them in R.

    Parameters
    ----------
    names : iterable of str
    taken : iterable of str, optional
        Words that R's functions use as names of columns themselves.
    """

    def __init__(self, names: Iterable[str], taken: Iterable[str] = ()) -> None:
        every = list(names)
        kept = {name for name in every if is_plain(name)} - set(taken)
        used = kept | set(taken)
        self._words: dict[str, str] = {}
        for name in every:
            word = name if name in kept else _free(_word(name), used)
            used.add(word)
            self._words[name] = word
        self._names = {word: name for name, word in self._words.items()}

    def __contains__(self, word: object) -> bool:
        """Whether a word of R stands for a name."""
        return word in self._names

    def to_r(self, name: str) -> str:
        """Return the word that stands for a name."""
        return self._words[name]

    def from_r(self, word: str) -> str:
        """Return the name that a word stands for; any other text as it is."""
        return self._names.get(word, word)

    def frame_to_r(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame whose columns have the names that R is given."""
        names = map(str, frame.columns)
        return frame.set_axis([self._words.get(name, name) for name in names], axis=1)

    @property
    def new_words(self) -> Mapping[str, str]:
        """The names that are not plain, with their words."""
        return {name: word for name, word in self._words.items() if name != word}


def columns_by_name(data: object, frame: pd.DataFrame, names: list[str], what: str) -> pd.DataFrame:
    """Return the columns that have these names, in this order.

    Parameters
    ----------
    data : object
        What the caller was given.
    frame : pandas.DataFrame
        The same as a frame. Columns of an array have no names: only one alone can be meant.
    names : list of str
    what : str
        The argument's name.

    Raises
    ------
    DataError
        If one is missing, with both lists of names.
    """
    named = is_frame(data) or isinstance(data, pd.Series)
    if not named and len(names) == frame.shape[1] == 1:
        return frame.set_axis(names, axis=1)
    if not named:
        raise DataError(
            f"`{what}` must be a data frame with the model's variables {list_of(names)}; the "
            f"{frame.shape[1]} columns of an array have no names."
        )
    missing = [name for name in names if name not in frame]
    if missing:
        raise DataError(
            f"`{what}` must have the model's variables {list_of(names)}; it lacks "
            f"{list_of(missing)}, and has {list_of(frame.columns)}."
            + did_you_mean(missing[0][:40], frame.columns.difference(names))
        )
    return frame[names]


def _word(name: str) -> str:
    word = re.sub(r"[^A-Za-z0-9]+", ".", name)[:LONGEST]
    return word if word[:1].isalpha() else f"X{word}"


def _free(word: str, used: set[str]) -> str:
    numbered = (f"{word}.{k}" for k in count(len(used)))
    return next(w for w in chain([word], numbered) if is_plain(w) and w not in used)
