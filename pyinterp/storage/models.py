"""Fitted estimators as bytes of skops: no pickle, and no type that is not trusted."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from pyinterp.errors import FileError, OptionError, reason, short
from pyinterp.storage.archive import array_of

Bytes: TypeAlias = npt.NDArray[np.uint8]
# Structured arrays, of which trees are made, beside numbers and texts.
KINDS_OF_ARRAYS = "biufcmMSUV"
BOOSTERS = {"pyinterp.models.native_boosters.Booster"}  # and the package's estimators: trusted
MOST_NAMES, LONGEST = 6, 70  # in a message; characters of one


def bytes_of(model: Any) -> Bytes:
    """Return a fitted estimator as skops writes it.

    Raises
    ------
    OptionError
        If skops is not installed, or can't write it.
    """
    skops = _skops()
    try:
        data = np.frombuffer(skops.dumps(model), np.uint8)
        _check(data)
    except Exception as error:
        raise cannot_hold(type(model).__name__, reason(error)) from error
    return data


def cannot_hold(name: str, why: str) -> OptionError:
    """Return the error of a model that no file holds."""
    return OptionError(
        f"Files can't hold this {name} ({why.rstrip('.')}). Save without `models=True` what was "
        "measured, and keep the learner's code and seed to fit it again."
    )


def unknown_types(models: Sequence[Bytes]) -> list[str]:
    """Return the names of types that skops does not trust by itself."""
    skops = _skops()
    return sorted({name for data in models for name in skops.get_untrusted_types(data=_raw(data))})


def models_of(models: Sequence[Bytes], trusted: Sequence[str | type]) -> list[Any]:
    """Return fitted estimators; nothing is made of a type that is not trusted.

    Raises
    ------
    FileError
        If there are types that neither skops nor `trusted` trusts; it names them.
    """
    skops = _skops()
    for data in models:
        _check(data)
    own = filter(_is_own_estimator, unknown_types(models))
    trusted = [*trusted, *own]
    try:
        return [skops.loads(_raw(data), trusted=trusted) for data in models]
    except skops.exceptions.UntrustedTypesFoundException as error:
        known = {each if isinstance(each, str) else _name(each) for each in trusted}
        unknown = [short(name, LONGEST) for name in unknown_types(models) if name not in known]
        text = ", ".join(f'"{name}"' for name in unknown[:MOST_NAMES])
        rest = len(unknown) - MOST_NAMES
        more = f" and {rest} more" if rest > 0 else ""
        raise FileError(
            "it has models of types that are not trusted; only if you trust who made the file, "
            f"load it with `trusted=[{text}]`{more}"
        ) from error


def _is_own_estimator(name: str) -> bool:
    """Whether a type is an estimator of this package."""
    module, _, kind = name.rpartition(".")
    if not module.startswith("pyinterp."):
        return False
    with suppress(ImportError):
        found = getattr(import_module(module), kind, None)
        return isinstance(found, type) and (issubclass(found, BaseEstimator) or name in BOOSTERS)
    return False


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _raw(data: Bytes) -> bytes:
    if data.dtype != np.uint8 or data.ndim != 1:
        raise FileError("a model is not made of bytes")
    return data.tobytes()


def _check(data: Bytes) -> None:
    """Raise `FileError` unless members are as large as they are stored, and hold no objects."""
    raw = _raw(data)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        every = archive.infolist()
        packed = any(info.compress_type != zipfile.ZIP_STORED for info in every)
        if packed or sum(info.file_size for info in every) > len(raw):
            raise FileError("a model has members that skops does not write")
        for info in every:
            suffix = PurePosixPath(info.filename).suffix
            if suffix not in (".json", ".npy", ".bin"):  # sparse matrices are compressed
                raise FileError("a model has sparse matrices, or members that skops has not")
            if suffix == ".npy":
                array_of(archive.read(info), KINDS_OF_ARRAYS)


def _skops() -> Any:
    try:
        import skops.io.exceptions  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise OptionError(
            'Models in files need skops; install it with `pip install "pyinterp-stats[skops]"`.'
        ) from error
    return skops.io
