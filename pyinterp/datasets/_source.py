"""Sources of tables: this package or scikit-learn; else a folder, else OpenML by scikit-learn."""

from __future__ import annotations

import hashlib
import os
from http.client import HTTPException
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pyinterp.datasets._registry import DataSet
from pyinterp.datasets._text import openml_csv, parse_csv
from pyinterp.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FOLDER_VARIABLE", "load_table"]

FOLDER_VARIABLE = "PYINTERP_DATA"


def load_table(spec: DataSet, data_home: str | os.PathLike[str] | None) -> pd.DataFrame:
    """Return the data set, from the package or scikit-learn if it comes with one of them.

    Parameters
    ----------
    spec : DataSet
        The data set.
    data_home : path, optional
        Folder of scikit-learn's cache, for downloads.

    Raises
    ------
    DataError
        If the named folder or its file is missing, the download fails, or the SHA-256 is not the
        pinned one.
    """
    if not spec.sha256:
        return _read_scikit_learn(spec)
    folder = os.environ.get(FOLDER_VARIABLE, "")
    if not spec.online:
        content = resources.files("pyinterp.datasets").joinpath(spec.file).read_bytes()
    else:
        content = _read_folder(spec, folder) if folder else _read_openml(spec, data_home)
    return parse_csv(content, spec)


def _read_scikit_learn(spec: DataSet) -> pd.DataFrame:
    """Return the data set that comes with scikit-learn, in its units of measurement."""
    from sklearn import datasets  # noqa: PLC0415

    loader = getattr(datasets, f"load_{spec.name}")
    frame: pd.DataFrame = loader(as_frame=True, scaled=False).frame
    return frame.rename(columns={"target": spec.response})


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read_folder(spec: DataSet, folder: str) -> bytes:
    """Return the checked bytes of the file in `folder`."""
    root = Path(folder).expanduser()
    unset = f"or unset {FOLDER_VARIABLE} to download the data from OpenML."
    if not root.is_dir():
        raise DataError(
            f"{FOLDER_VARIABLE} must name a folder that holds {spec.file}, but there is no folder "
            f"{folder!r}. Correct the variable, {unset}"
        )
    try:
        content = (root / spec.file).read_bytes()
    except OSError as error:
        raise DataError(
            f"{FOLDER_VARIABLE} must name a folder that holds {spec.file}, but that file can't be "
            f"read in {folder!r}: {type(error).__name__}. Put the file there, {unset}"
        ) from error
    got = _sha256(content)
    if got != spec.sha256:
        raise DataError(
            f"{spec.file} in {folder!r} must have the SHA-256 {spec.sha256}, but has {got}. "
            f"Replace the file by the unaltered one (line ends count), {unset}"
        )
    return content


def _read_openml(spec: DataSet, data_home: str | os.PathLike[str] | None) -> bytes:
    """Return the checked canonical text of OpenML's copy."""
    from sklearn import datasets  # noqa: PLC0415

    use_folder = f"set {FOLDER_VARIABLE} to a folder that holds {spec.file}"
    try:
        bunch = datasets.fetch_openml(
            data_id=spec.openml_id, as_frame=True, parser="auto", data_home=data_home
        )
    except (OSError, HTTPException, EOFError, ValueError) as error:
        raise DataError(
            f"The data set `{spec.name}` must be downloaded from OpenML (data_id="
            f"{spec.openml_id}), but that failed with {type(error).__name__}: {error}; check the "
            f"network, or {use_folder}."
        ) from error
    content = openml_csv(bunch.frame, spec)
    got = _sha256(content)
    if got != spec.openml_sha256:
        raise DataError(
            f"OpenML's copy of `{spec.name}` (data_id={spec.openml_id}) differs from the pinned "
            f"data: its canonical CSV must have the SHA-256 {spec.openml_sha256}, but has {got}. "
            f"To go on with the pinned data, {use_folder}."
        )
    return content
