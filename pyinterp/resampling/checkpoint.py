"""A folder that keeps finished refits and measurements, so that a call that ended goes on.

The folder is for the user's own calls: refits are pickles, as only pickles hold any model.
"""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import cloudpickle

from pyinterp.errors import FileError, OptionError, list_of, quote, reason
from pyinterp.storage import archive
from pyinterp.storage.files import whole_file

T = TypeVar("T")
FACTS, CALL = "facts.json", "call.pickle"
DIGEST = 32  # bytes before a pickle
# What facts are called, the most telling first.
NAMES = {
    "formula": "formula",
    "learner": "learner",
    "settings": "settings of the learner",
    "plan": "plan",
    "seed": "seed",
    "options": "options of `fit`",
    "versions": "versions of packages",
    "data": "data",
}


@dataclass(frozen=True)
class Checkpoint:
    """A folder of finished refits and measurements.

    Attributes
    ----------
    folder : Path
    """

    folder: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """Return the checkpoint in a folder, which is made if it is not there."""
        if not isinstance(path, str | os.PathLike):
            raise OptionError(f"`checkpoint` must be the path of a folder, not {quote(path)}.")
        folder = Path(path).expanduser()
        if folder.exists() and not folder.is_dir():
            raise OptionError(f"`checkpoint` must be a folder, but {str(path)!r} is a file.")
        for part in ("refits", "measurements"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        return cls(folder)

    @property
    def facts(self) -> dict[str, str]:
        """What the folder's refits are of; empty if it is new."""
        file = self.folder / FACTS
        if not file.exists():
            return {}
        try:
            return {str(name): str(fact) for name, fact in json.loads(file.read_bytes()).items()}
        except ValueError as error:
            raise FileError(f"{str(file)!r} can't be read: {reason(error)}.") from error

    def begin(self, facts: Mapping[str, str], call: object) -> None:
        """Write what the refits are of; raise `OptionError` if the folder has refits of others."""
        before = self.facts
        for name, what in NAMES.items():
            if before and before.get(name) != facts[name]:
                shown = f": {before.get(name)} there, {facts[name]} here" if _is_text(name) else ""
                raise OptionError(
                    f"{str(self.folder)!r} keeps refits of another call, whose {what} differ"
                    f"{'' if name in ('data', 'options', 'settings', 'versions') else 's'}{shown}. "
                    "Repeat the call as it was, or give another folder."
                )
        if not before:
            _write(self.folder / CALL, _pickle_of(call))
            _write(self.folder / FACTS, json.dumps(dict(facts), indent=1).encode())

    @contextmanager
    def lock(self, name: str = "whole") -> Iterator[None]:
        """Keep other processes from the same work; the system ends a lock with its process."""
        with closing(
            sqlite3.connect(self.folder / f"{name}.lock", timeout=0, isolation_level=None)
        ) as file:
            try:
                file.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                raise FileError(
                    f"Another process is at work in {str(self.folder)!r}: wait for it, or give "
                    "another folder."
                ) from error
            yield

    def call(self) -> Any:
        """Return the call that began the folder."""
        found = _of_pickle(self.folder / CALL)
        if found is None:
            raise FileError(f"{str(self.folder)!r} is no checkpoint of `fit`.")
        return found

    def check_complete(self) -> None:
        """Raise `FileError` unless all refits are kept."""
        total = int(self.facts.get("refits", "0"))
        missing = [k for k in range(1, total + 1) if not self._refit(k).exists()]
        if missing:
            raise FileError(
                f"{str(self.folder)!r} lacks {len(missing)} of {total} refits: numbers "
                f"{list_of(missing, most=20)}. Of n shards, refit k is made by shard "
                "(k - 1) mod n + 1: run it again."
            )

    def refit(self, number: int) -> Any:
        """Return a refit's predictor; None if it is not kept, or its file is damaged."""
        return _of_pickle(self._refit(number))

    def keep_refit(self, number: int, predictor: object) -> None:
        """Keep a refit's predictor."""
        _write(self._refit(number), _pickle_of(predictor))

    def measurement(self, digest: str, measure: Callable[[], T]) -> T:
        """Return what is kept under a digest; else measure it, and keep it."""
        file = self.folder / "measurements" / f"{digest}.pyinterp"
        if file.exists():
            try:
                kept: T = archive.load(file)
            except FileError:  # a damaged one is made again
                pass
            else:
                return kept
        made = measure()
        archive.save(made, file, {})
        return made

    def _refit(self, number: int) -> Path:
        return self.folder / "refits" / f"{number:06d}.pickle"


@dataclass(frozen=True)
class Shard:
    """One of several parts of the refits, which different processes make.

    Parameters
    ----------
    number, count : int
        Which part, from 1, of how many.
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        numbers = (self.number, self.count)
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
        if not whole or not 1 <= self.number <= self.count:
            raise OptionError(
                "`shard` must be a pair such as (3, 10), the third of ten parts, not "
                f"{quote(numbers)}."
            )

    def has(self, refit: int) -> bool:
        """Whether a refit is of this part."""
        return refit % self.count == self.number % self.count


def _is_text(name: str) -> bool:
    return name in ("formula", "learner", "plan", "seed", "versions", "options")


def _pickle_of(value: object) -> bytes:
    try:
        data: bytes = cloudpickle.dumps(value)
    except Exception as error:
        raise OptionError(
            f"`checkpoint` keeps models as pickles, but {quote(value)} can't be pickled: "
            f"{reason(error)}."
        ) from error
    return sha256(data).digest() + data


def _of_pickle(file: Path) -> Any:
    """Return what a file of `_pickle_of` holds; None if there is none, or it is damaged."""
    if not file.exists():
        return None
    data = file.read_bytes()
    if sha256(data[DIGEST:]).digest() != data[:DIGEST]:
        return None
    return pickle.loads(data[DIGEST:])  # noqa: S301 - the user's own folder


def _write(file: Path, data: bytes) -> None:
    with whole_file(file) as temporary:
        temporary.write_bytes(data)
