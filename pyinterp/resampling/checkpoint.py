"""A folder that keeps finished refits, so that a call that ended goes on.

The folder is for the user's own calls: refits are pickles, as only pickles hold any model.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pyinterp.errors import FileError, OptionError, list_of, quote, reason
from pyinterp.parallel.pickles import dumps, loads
from pyinterp.storage.files import place_of, whole_file

T = TypeVar("T")
FACTS, CALL, SEED = "facts.json", "call.pickle", "seed.json"
PATIENCE = 60.0  # seconds that shards wait for each other, as they begin
DIGEST = 32  # bytes before a pickle
DIGITS = 6  # of a refit's number
PLACE = re.compile(r" at 0x[0-9a-f]+")  # of an object in memory
# What facts that must be equal are called, the most telling first. The others are for messages.
NAMES = {
    "formula": "formula",
    "plan": "plan",
    "refits": "number of refits",
    "seed": "seed",
    "options": "options of `fit`",
    "data": "data",
    "rows": "rows that train or evaluate",
}
DIGESTS = ("data", "rows")
COLUMNS = "order of an array's columns, or names of a frame's"


@dataclass(frozen=True)
class Checkpoint:
    """A folder of finished refits.

    Attributes
    ----------
    folder : Path
    """

    folder: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """Return the checkpoint in a folder, which need not be there yet."""
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise OptionError(f"`checkpoint` must be the path of a folder, not {quote(path)}.")
        return cls(place_of(path, "checkpoint")[0])

    def make(self) -> Checkpoint:
        """Make the folder if it is not there."""
        try:
            for part in ("refits", "left_out"):
                (self.folder / part).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OptionError(
                f"`checkpoint` must be a folder to write to, but {str(self.folder)!r} can't be "
                f"made: {reason(error)}."
            ) from error
        return self

    @property
    def facts(self) -> dict[str, Any]:
        """What the folder's refits are of; empty if it is new."""
        file = self.folder / FACTS
        if not file.exists():
            return {}
        try:
            return {**json.loads(file.read_bytes())}
        except (ValueError, TypeError) as error:
            raise FileError(
                f"{str(file)!r} can't be read: {reason(error)}. Give another folder."
            ) from error

    def seed(self, drawn: int) -> int:
        """Return the seed of calls that give none: as drawn, unless a call was here before."""
        file = self.folder / SEED
        with self.lock("begin", wait=PATIENCE):  # shards may start at the same moment
            before = self.facts
            if "seed" in before:
                return int(before["seed"])
            if not file.exists():
                _write(file, json.dumps(drawn).encode())
            return int(json.loads(file.read_bytes()))

    def begin(self, facts: Mapping[str, str], call: object) -> str:
        """Write the call of the refits; raise `OptionError` if the folder has refits of another.

        Return in words how settings and versions of the learner differ, "" if not. These raise
        nothing: a kept refit is made again and must predict the same.
        """
        facts = {name: PLACE.sub("", text) for name, text in facts.items()}  # without addresses
        with self.lock("begin", wait=PATIENCE):
            before = self.facts
            for name, what in NAMES.items():
                if before and before.get(name) != facts[name]:
                    pair = f": {before.get(name)} there, {facts[name]} here"
                    shown = "" if name in DIGESTS else pair
                    moved = name == "data" and before.get("columns") == facts["columns"]
                    raise OptionError(
                        f"{str(self.folder)!r} keeps refits of another call, which differs in its "
                        f"{COLUMNS if moved else what}{shown}. Repeat the call as it was, or give "
                        "another folder."
                    )
            # Facts come last: with them the folder has begun.
            if not before or _content(self.folder / CALL) is None:
                _keep(self.folder / CALL, call, "the learner")
            if not before:
                _write(self.folder / FACTS, json.dumps(facts, indent=1).encode())
        there, here = (json.loads(each.get("learner", "{}")) for each in (before or facts, facts))
        names = [name for name in {**there, **here} if there.get(name) != here.get(name)]
        return list_of([f"{n} {there.get(n)} there, {here.get(n)} here" for n in names], most=4)

    @contextmanager
    def lock(self, name: str, *, wait: float = 0.0, shared: bool = False) -> Iterator[None]:
        """Keep other processes from the same work; the system ends a lock with its process."""
        file = self.folder / f"{name}.lock"
        with ExitStack() as stack:
            try:
                held = sqlite3.connect(file, timeout=wait, isolation_level=None)
                stack.enter_context(closing(held))
                if shared:  # with others who share it, until all end
                    held.execute("BEGIN")
                    held.execute("SELECT * FROM sqlite_master")
                else:
                    held.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
                why = "Another process is at work in" if busy else "No process can lock"
                raise FileError(
                    f"{why} {str(self.folder)!r}{'' if busy else f' ({reason(error)})'}: "
                    f"{'wait for it, or ' if busy else ''}give another folder."
                ) from error
            yield

    @contextmanager
    def at_work(self, shard: Shard | None) -> Iterator[None]:
        """Keep other processes from the same work: all of it, or a shard's."""
        with ExitStack() as locks:
            locks.enter_context(self.lock("whole", shared=shard is not None))
            if shard is not None:
                locks.enter_context(self.lock(f"{shard.number} of {shard.count}"))
            yield

    def call(self) -> Any:
        """Return the call that began the folder."""
        found = _of_pickle(self.folder / CALL)
        if found is None or not self.facts:
            raise FileError(f"{str(self.folder)!r} is no checkpoint of `fit`.")
        return found

    def check_complete(self) -> None:
        """Raise `FileError` unless all refits are kept, or failed where that is allowed."""
        total = int(self.facts.get("refits", "0"))
        missing = [
            k
            for k in range(1, total + 1)
            if not self._refit(k).exists() and not self._failure(k).exists()
        ]
        if missing:
            raise FileError(
                f"{str(self.folder)!r} lacks {len(missing)} of {total} refits: numbers "
                f"{list_of(missing, most=20)}. Of n shards, refit k is made by shard "
                "(k - 1) mod n + 1: run it again."
            )

    def refits(self, numbers: Collection[int]) -> dict[int, Any]:
        """Return the predictors that are kept of these refits."""
        kept = {number: _of_pickle(self._refit(number)) for number in numbers}
        return {number: predictor for number, predictor in kept.items() if predictor is not None}

    def numbers(self, total: int) -> Iterator[int]:
        """Yield the numbers of refits whose files are whole."""
        return (k for k in range(1, total + 1) if _content(self._refit(k)) is not None)

    def keep_refit(self, number: int, predictor: object) -> None:
        """Keep a refit's predictor."""
        _keep(self._refit(number), predictor, "a fitted one")

    def keep_first(self, number: int, predictor: T) -> T:
        """Return the predictor that another process kept of a refit, or keep this one."""
        file = self._refit(number)
        if _content(file) is None:  # many shards need not wait for each other's loading
            with self.lock("first", wait=PATIENCE):
                if _content(file) is None:
                    self.keep_refit(number, predictor)
                    return predictor
        kept: T = _of_pickle(file)
        return kept

    def keep_failure(self, number: int, text: str) -> None:
        """Keep why a refit failed, which need not stop those who join shards."""
        _write(self._failure(number), text.encode())

    def left_out(self, number: int, variables: Sequence[str]) -> Any:
        """Return the kept refit without some variables; None if there is none."""
        return _of_pickle(self._without(number, variables))

    def keep_left_out(self, number: int, variables: Sequence[str], predictions: object) -> None:
        """Keep the predictions of a refit without some variables."""
        _keep(self._without(number, variables), predictions, "what it predicts")

    def _without(self, number: int, variables: Sequence[str]) -> Path:
        """Return the file of a refit's predictions without some variables."""
        # Names of variables may be longer than those of files, or have a slash.
        names = sha256(json.dumps(list(map(str, variables))).encode()).hexdigest()[:16]
        return self.folder / "left_out" / f"{number:0{DIGITS}d}-{names}.pickle"

    def _failure(self, number: int) -> Path:
        """Return the file that says why a refit failed."""
        return self._refit(number).with_suffix(".txt")

    def _refit(self, number: int) -> Path:
        """Return the file of a refit."""
        return self.folder / "refits" / f"{number:0{DIGITS}d}.pickle"


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

    def choose(self, parts: Sequence[T]) -> dict[int, T]:
        """Return this shard's parts of a plan, by their numbers.

        Raises
        ------
        OptionError
            If there are fewer parts than shards, and none for this one.
        """
        if self.number > len(parts):
            raise OptionError(
                f"`shard` must be one of {len(parts)} at most, for a plan of so many refits, not "
                f"{quote((self.number, self.count))}, which has none of them."
            )
        numbers = range(self.number, len(parts) + 1, self.count)
        return {number: parts[number - 1] for number in numbers}


def _keep(file: Path, value: object, what: str) -> None:
    """Write a pickle after its digest; raise `OptionError` if there can be none."""
    try:
        data: bytes = dumps(value)
    except Exception as error:
        raise OptionError(
            f"`checkpoint` keeps learners as pickles, but {what} can't be pickled "
            f"({reason(error)}): leave `checkpoint` out, or let the learner be pickled."
        ) from error
    _write(file, _digest(file, data) + data)


def _digest(file: Path, data: bytes) -> bytes:
    """Return a digest of a pickle and its name: a copy under another name is damaged."""
    return sha256(file.name.encode() + data).digest()


def _of_pickle(file: Path) -> Any:
    """Return the content of a file of `_keep`; None if there is none, or it is damaged."""
    data = _content(file)
    if data is None:
        return None
    try:
        return loads(data)
    except Exception as error:
        raise FileError(
            f"{str(file)!r} is whole, but can't be loaded here ({reason(error)}): load it where "
            "its classes are, or give another folder."
        ) from error


def _content(file: Path) -> bytes | None:
    """Return the pickle in a file; None if there is no file, or it is damaged."""
    if not file.exists():
        return None
    data = file.read_bytes()
    return data[DIGEST:] if _digest(file, data[DIGEST:]) == data[:DIGEST] else None


def _write(file: Path, data: bytes) -> None:
    """Write a file as a whole or not at all; raise `FileError` if the folder does not allow it."""
    try:
        with whole_file(file) as temporary:
            temporary.write_bytes(data)
    except (OSError, OptionError) as error:
        raise FileError(
            f"`checkpoint` must be a folder that stays and has room, but {str(file)!r} can't be "
            f"written ({reason(error)}): repeat the call, which goes on from what is kept."
        ) from error
