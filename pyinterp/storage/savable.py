"""What can be saved, and how it is read again."""

from __future__ import annotations

import importlib
from typing import Any

from pyinterp._typing import FilePath
from pyinterp.storage import archive

# Where the classes of results are: those of a file are among them.
RESULTS = ("pyinterp.learner", "pyinterp.simulation")


class Savable:
    """Results that a file can keep."""

    def save(self, path: FilePath) -> None:
        """Write these results to a file, which ``pi.load`` reads.

        Loaded results have the same tables, bit for bit, and the same tests, plots and
        comparisons. The file is a zip of JSON and arrays of numpy, without pickles. It holds the
        columns of the data that the analysis uses, so treat it like the data. Models are not in
        it, and functions are only named.

        Parameters
        ----------
        path : str or path
            Such as "wine.pyinterp". An old file stays as it is until the new one is whole.

        Raises
        ------
        OptionError
            If no file can have this path, or the results have what files can't hold.
        OSError
            If the file can't be written, as on a full disk.

        Examples
        --------
        >>> pfi.save("pfi.pyinterp")
        >>> pi.load("pfi.pyinterp").tidy().equals(pfi.tidy())
        True
        """
        archive.save(self, path)


def load(path: FilePath) -> Any:
    """Return the results that ``save`` wrote to a file.

    Nothing in the file is run: it is read as data, of which digests are checked.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    EstimandResults, ImportanceResults, or what else was saved

    Raises
    ------
    FileError
        If there is no such file, if it is damaged, or if another version wrote it.
    OptionError
        If no file can have this path.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> res = pi.Learner.from_formula("progression ~ .", data, LinearRegression()).fit(seed=1)
    >>> path = Path(tempfile.mkdtemp()) / "bmi.pyinterp"
    >>> res.pd("bmi").save(path)
    >>> pi.load(path).tidy().equals(res.pd("bmi").tidy())
    True
    """
    for package in RESULTS:
        importlib.import_module(package)
    return archive.load(path, Savable)
