"""Values as JSON and named arrays in a zip, and back."""

from __future__ import annotations

import hashlib
import io
import json
import math
import stat
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from inspect import signature
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pyinterp import __version__
from pyinterp._typing import FilePath
from pyinterp.errors import FileError, OptionError, quote, reason
from pyinterp.storage.codecs import CODECS
from pyinterp.storage.files import place_of, whole_file

Value = TypeVar("Value")
Tree = Any  # what JSON holds
Array = npt.NDArray[Any]
Arrays = dict[bytes, tuple[str, Array]]  # by digest: the fields that lead to the first

FORMAT, SCHEMA = "pyinterp", 4
MANIFEST, SUFFIX = "manifest.json", ".npy"
CLASS, ARRAY = "class", "array"
EPOCH = (1980, 1, 1, 0, 0, 0)  # of members: equal values make equal files
NO_FILE = "it is no file that `save` wrote"


def save(value: Any, path: FilePath) -> None:
    """Write a value to a file: a zip of JSON and arrays, which ``numpy.load`` reads too.

    Raises
    ------
    OptionError
        If it holds what files can't, or there is no such folder.
    """
    arrays: Arrays = {}
    tree, members = _tree(value, "results", arrays), {}
    for name, array in arrays.values():
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        members[name] = file.getvalue()
    manifest = {
        "format": FORMAT,
        "schema": SCHEMA,
        "about": {"pyinterp-stats": __version__},
        "results": tree,
        "arrays": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    text = json.dumps(manifest, ensure_ascii=False, allow_nan=False).encode()
    with whole_file(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr(zipfile.ZipInfo(MANIFEST, EPOCH), text)
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name + SUFFIX, EPOCH), data)


def load(path: FilePath, kind: type[Value]) -> Value:
    """Return the value of a kind that a file holds; nothing in the file is run.

    Raises
    ------
    FileError
        If it is no file of this package, damaged, or made by another version.
    """
    file, mode = place_of(path)
    if not mode:
        raise FileError(f"There is no file {str(path)!r}.")
    if not stat.S_ISREG(mode):
        raise FileError(f"{str(path)!r} can't be read: it is a folder, a pipe or a device.")
    cause: BaseException | None
    try:
        with zipfile.ZipFile(file) as archive:
            value = _results(archive)
        why, cause = NO_FILE, None
        if isinstance(value, kind):
            return value
    except FileError as error:
        why, cause = str(error).rstrip("."), error.__cause__
    except (zipfile.BadZipFile, EOFError):
        why, cause = f"{NO_FILE}, or it is cut off", None
    except OSError as error:
        why, cause = reason(error), error
    # Whatever odd values do where objects are made of them.
    except Exception as error:  # noqa: BLE001 - any can come of it
        why, cause = f"it is damaged ({reason(error)})", error
    raise FileError(f"{str(path)!r} can't be read: {why}.") from cause


def _tree(value: Any, name: str, arrays: Arrays) -> Tree:
    """Return the tree of a value, whose arrays have names that begin so: equal ones are kept once.

    Raises
    ------
    OptionError
        If files can't hold it.
    """
    if isinstance(value, np.float64 | np.integer | np.bool_ | np.str_):
        value = value.item()
    kind = type(value)
    if value is None or kind in (bool, str, int) or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return {ARRAY: _name(value, name, arrays)}
    if kind in (list, tuple, set, frozenset) or isinstance(value, Mapping):
        return _several(value, name, arrays)
    for tag, codec in CODECS.items():
        if isinstance(value, codec.types):
            return {tag: _tree(codec.parts(value), name, arrays)}
    if _is_record(kind):
        parts = {p: _tree(each, f"{name}/{p}", arrays) for p, each in _state_of(value).items()}
        return {CLASS: kind.__name__, **parts}
    if callable(value) and not isinstance(value, type):
        inner = value.func if isinstance(value, partial) else value
        return {"function": [str(getattr(inner, "__qualname__", type(inner).__name__))]}
    raise OptionError(
        f"Files can't hold {quote(value)}, of type {kind.__name__}: leave it out before saving."
    )


def _several(value: Any, name: str, arrays: Arrays) -> Tree:
    """Return the tree of a container, whose parts are written under its name."""
    if isinstance(value, Mapping):
        keys = [_tree(key, f"{name}/keys/{k}", arrays) for k, key in enumerate(value)]
        return {"dict": [*zip(keys, _several([*value.values()], name, arrays), strict=True)]}
    if isinstance(value, set | frozenset):  # their order differs between sessions
        return {"set": _several(sorted(value, key=repr), name, arrays)}
    return [_tree(part, f"{name}/{k}", arrays) for k, part in enumerate(value)]


def _name(array: Array, name: str, arrays: Arrays) -> str:
    """Return the name of an array's file, and keep it; arrays that are equal have one file."""
    data = array.copy(order="K")  # sums depend on the order of values in memory
    by_columns = data.flags.f_contiguous and not data.flags.c_contiguous
    digest = hashlib.blake2b(data.tobytes(order="F" if by_columns else "C"), digest_size=16)
    digest.update(f"{data.dtype.str} {data.shape} {by_columns}".encode())
    return arrays.setdefault(digest.digest(), (name, data))[0]


def _results(archive: zipfile.ZipFile) -> Any:
    """Return the results in a file of this schema."""
    if MANIFEST not in archive.namelist():
        raise FileError(NO_FILE)
    # Members are stored as they are, so that a small file can't hold a large one.
    if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
        raise FileError("it is compressed, as `save` does not; unpack it before loading")
    manifest = json.loads(archive.read(MANIFEST))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileError(NO_FILE)
    schema, about = manifest["schema"], manifest["about"]
    if schema != SCHEMA:
        age, remedy = "an older", "fit again, and save again"
        if schema > SCHEMA:
            age, remedy = "a newer", "update pyinterp-stats"
        raise FileError(
            f"it was saved by {age} version ({quote(about.get('pyinterp-stats'), 40)}, schema "
            f"{schema}; this one reads {SCHEMA}): {remedy}"
        )

    @cache  # members are read once: all that refer to one share it
    def array(name: str) -> Array:
        data = archive.read(name + SUFFIX)
        if hashlib.sha256(data).hexdigest() != manifest["arrays"][name]:
            raise FileError(f"its member {quote(name)} was changed")
        values: Array = np.load(io.BytesIO(data), allow_pickle=False)
        if values.dtype.kind == "V" or not values.itemsize:  # of no bytes there may be any number
            raise FileError(f"its member {quote(name)} has the type {values.dtype}")
        values.setflags(write=False)
        return values

    return _value(manifest["results"], array)


def _value(tree: Tree, array: Callable[[str], Array]) -> Any:
    """Return the value of a tree; raises an error, of whatever kind, where it is no value's."""
    if isinstance(tree, list):
        return tuple(_value(part, array) for part in tree)
    if not isinstance(tree, dict):
        return tree
    tag, parts = next(iter(tree.items()))
    if tag == ARRAY:
        return array(parts)
    if tag != CLASS:
        return CODECS[tag].value(*(_value(part, array) for part in parts))
    state = {name: _value(part, array) for name, part in tree.items() if name != CLASS}
    for kind in records():
        if kind.__name__ == parts and _takes(kind, state):
            return kind(**state)
    raise FileError(f"this version knows no {quote(parts, 40)} of such parts")


def _takes(kind: type, state: Mapping[str, Any]) -> bool:
    """Whether a class can be made with these arguments."""
    try:
        signature(kind).bind(**state)
    except TypeError:
        return False
    return True


@cache
def records() -> list[type]:
    """Return the classes of this package whose objects files hold."""
    modules = [module for name, module in sys.modules.items() if name.startswith("pyinterp.")]
    every = [kind for module in modules for kind in vars(module).values()]
    kinds = [kind for kind in every if isinstance(kind, type) and _is_record(kind)]
    return [*dict.fromkeys(kinds)]  # modules hand classes on


def _is_record(kind: type) -> bool:
    """Whether objects of a class are their fields alone: making one does no other work.

    Designs of formulas, which evaluate code, are none.
    """
    ours = kind.__module__.startswith("pyinterp.") and kind.__name__[0] != "_"
    return ours and (is_dataclass(kind) or hasattr(kind, "_fields") or hasattr(kind, STATE))


STATE = "state_on_file"  # a method that returns the arguments that make an equal object


def _state_of(value: Any) -> dict[str, Any]:
    """Return the arguments with which the class of a value makes an equal one."""
    if hasattr(value, STATE):
        return dict(value.state_on_file())
    if is_dataclass(value):
        return {part.name: getattr(value, part.name) for part in fields(value) if part.init}
    return dict(value._asdict())
