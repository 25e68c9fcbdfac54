"""The zip that holds a value: its members, limits and checks."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import zipfile
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pyinterp.errors import FileError, PyinterpError, quote, reason, short
from pyinterp.storage.codec import Reader, Writer
from pyinterp.storage.files import place_of, whole_file

Value = TypeVar("Value")

FORMAT, SCHEMA = "pyinterp", 2
# Arrays made while a file is read take at most so many times its size: references to one array
# are arrays of their own.
MOST_BYTES = 20
MANIFEST, SUFFIX = "manifest.json", ".npy"
# Numbers, texts, dates and durations: what can be read without running anything.
NUMBERS = "biufcmMSU"
EPOCH = (1980, 1, 1, 0, 0, 0)  # of members: equal values make equal files
NO_FILE = "it is no file that `save` wrote"


def save(value: Any, path: str | os.PathLike[str], about: dict[str, str]) -> None:
    """Write a value to a file: a zip of JSON and arrays, which ``numpy.load`` reads too.

    Parameters
    ----------
    value : object
    path : path
    about : dict of str to str
        Words that the file has for people, such as versions.

    Raises
    ------
    OptionError
        If it holds what files can't, or there is no such folder.
    """
    writer = Writer()
    tree, members = writer.tree(value, "results"), {}
    for name, array in writer.arrays.items():
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        members[name] = file.getvalue()
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    manifest = {
        "format": FORMAT, "schema": SCHEMA, "about": about, "results": tree, "arrays": digests,
    }  # fmt: skip
    text = json.dumps(manifest, ensure_ascii=False, allow_nan=False).encode()
    with whole_file(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr(zipfile.ZipInfo(MANIFEST, EPOCH), text)
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name + SUFFIX, EPOCH), data)


def load(path: str | os.PathLike[str], kind: type[Value]) -> Value:
    """Return the value of a kind that a file holds; nothing in the file is run.

    Raises
    ------
    FileError
        If it is no file of this package, damaged, or made by a newer version.
    """
    file, mode = place_of(path)
    if not mode:
        raise FileError(f"There is no file {str(path)!r}.")
    if not stat.S_ISREG(mode):
        raise FileError(f"{str(path)!r} can't be read: it is a folder, a pipe or a device.")
    try:
        with zipfile.ZipFile(file) as archive:
            members = _Members(archive)
            value: Value = Reader(members.array, members.size).value(members.tree, kind)
            return value
    except FileError as error:
        text = str(error)
        raise FileError(f"{str(path)!r} can't be read: {text.rstrip('.')}.") from error
    except (zipfile.BadZipFile, EOFError):
        raise FileError(f"{str(path)!r} can't be read: {NO_FILE}, or it is cut off.") from None
    except OSError as error:
        raise FileError(f"{str(path)!r} can't be read: {reason(error)}.") from error
    # Whatever odd values do where objects are made of them.
    except (PyinterpError, Exception) as error:
        raise FileError(f"{str(path)!r} can't be read: it is damaged ({reason(error)}).") from error


class _Members:
    """The members of an archive, checked before they are read.

    Attributes
    ----------
    tree : object
        Of the results.
    size : int
        Bytes of the archive.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.size = Path(str(archive.filename)).stat().st_size
        self._archive, self._left = archive, MOST_BYTES * self.size
        end = 0
        for info in sorted(archive.infolist(), key=attrgetter("header_offset")):
            if info.header_offset < end:
                raise FileError("its members overlap")
            end = info.header_offset + info.file_size
            # Members are stored as they are, so that a small file can't hold a large one.
            if info.compress_type != zipfile.ZIP_STORED or info.file_size > self.size:
                raise FileError(f"its member {quote(info.filename)} was not written by `save`")
        names = archive.namelist()
        if MANIFEST not in names:
            raise FileError(NO_FILE)
        manifest = json.loads(archive.read(MANIFEST))
        check_schema(manifest)
        self.tree, self._digests = manifest["results"], dict(manifest["arrays"])
        if sorted(names) != sorted([MANIFEST, *(name + SUFFIX for name in self._digests)]):
            raise FileError("it lacks members, or has others than it lists")

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return the array of a member."""
        if name not in self._digests:
            raise FileError(f"it lacks its member {quote(name)}")
        data = self._archive.read(name + SUFFIX)
        if hashlib.sha256(data).hexdigest() != self._digests[name]:
            raise FileError(f"its member {quote(name)} was changed")
        array = array_of(data)
        self._left -= array.nbytes
        if self._left < 0:
            raise FileError(f"it takes more than {MOST_BYTES} times its size")
        return array


def check_schema(manifest: Any) -> None:
    """Raise `FileError` unless a manifest is of this schema."""
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileError(NO_FILE)
    schema, about = manifest.get("schema"), manifest.get("about")
    if type(schema) is not int or schema < 1 or not isinstance(about, dict):
        raise FileError("its manifest is damaged")
    if schema < SCHEMA:
        raise FileError(
            f"it was saved by an older version (schema {schema}; this one reads {SCHEMA}): fit "
            "again, and save again"
        )
    if schema > SCHEMA:
        raise FileError(
            f"it was saved by a newer version ({quote(about.get('pyinterp-stats'), 40)}, schema "
            f"{schema}; this one reads up to {SCHEMA}): update pyinterp-stats"
        )


def array_of(data: bytes, kinds: str = NUMBERS) -> npt.NDArray[Any]:
    """Return the array of a member, whose size its header must tell rightly, of some kinds."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise FileError("an array has an unknown form")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    # Values of no bytes would be any number of them.
    if dtype.kind not in kinds or dtype.hasobject or not dtype.itemsize:
        raise FileError(f"an array has values of type {short(dtype)}")
    if int(np.prod(shape, dtype=object)) * dtype.itemsize != len(data) - file.tell():
        raise FileError("an array is cut off")
    file.seek(0)
    array: npt.NDArray[Any] = np.load(file, allow_pickle=False)
    return array
