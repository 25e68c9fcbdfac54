"""Data-generating processes: how features are drawn, a true function and noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from pandas import DataFrame  # `pd` is partial dependence here

from pyinterp._typing import FloatArray
from pyinterp.checks import check_count, check_flag
from pyinterp.data.features import check_names
from pyinterp.errors import OptionError, quote
from pyinterp.estimands.effects.grids import as_floats, check_levels, values_of
from pyinterp.random import Seed, Seeds

Values = npt.NDArray[Any]

MOST_ROWS = 100_000_000  # more would be a mistake that takes all memory


@dataclass(frozen=True, kw_only=True, eq=False)
class Process:
    r"""A known data-generating process: :math:`Y = f(X) + \epsilon`, or a class of two.

    Parameters
    ----------
    name : str
        Unique name of the process with its settings.
    source : str
        Paper, section and equation.
    features : tuple of str
        Names of the features, in the order of the columns that `draw` returns.
    covariates : callable
        ``covariates(n, rng)`` draws n rows of the features.
    function : callable
        The true f of a frame that has the features: the mean of the response, or the
        probability of the second class.
    noise : str
        Distribution of the response given the features, in words.
    noise_sd : float
        Standard deviation of the response minus f; for classes, of the indicator of the second
        class minus its probability.
    classes : tuple of two str, optional
        The labels, if the response is a class.
    levels : mapping of str to tuple of str
        The levels of every feature that is a category.
    conditional : callable, optional
        ``conditional(feature, frame, rng)`` draws a feature from its distribution given the
        other features of every row. Without it the features are independent.
    closed_pd : callable, optional
        ``closed_pd(feature, grid)``, the PD of f, or None for a feature without one.
    closed_pfi, closed_cvim : callable, optional
        ``closed_pfi(feature)``, the marginal and the conditional PFI of f under squared error,
        or None.

    See Also
    --------
    pyinterp.simulation.dgp_pd, pyinterp.simulation.dgp_pfi : Ground truth, by Monte Carlo where
        there is no closed form.

    Examples
    --------
    >>> from pyinterp_papers.processes import molnar_linear
    >>> process = molnar_linear()
    >>> process.draw(100, seed=1).columns.tolist()
    ['x1', 'x2', 'y']
    >>> process.pd("x1", [0.0, 1.0])
    array([-0.5,  0.5])
    """

    name: str
    source: str
    features: tuple[str, ...]
    covariates: Callable[[int, np.random.Generator], DataFrame]
    function: Callable[[DataFrame], FloatArray]
    noise: str
    noise_sd: float
    classes: tuple[str, str] | None = None
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    conditional: Callable[[str, DataFrame, np.random.Generator], Values] | None = None
    closed_pd: Callable[[str, Values], FloatArray | None] | None = None
    closed_pfi: Callable[[str], float | None] | None = None
    closed_cvim: Callable[[str], float | None] | None = None

    def draw(self, n: int, seed: Seed = None) -> DataFrame:
        """Draw n rows: the features, then the response `y` (labels if it is a class).

        Parameters
        ----------
        n : int
            Number of rows.
        seed : int, Generator or None
            The same int gives the same rows; a Generator advances.

        Examples
        --------
        >>> process.draw(3, seed=1).round(2)
             x1    x2     y
        0  0.51  0.95 -0.98
        1  0.14  0.95 -0.22
        2  0.31  0.42  0.25
        """
        check_count("n", n, 1, MOST_ROWS)
        rng = generator(seed)
        frame = self.covariates(n, rng)
        y = self.respond(self.function(frame), rng)
        labels = y if self.classes is None else np.array(self.classes)[y.astype(np.intp)]
        return frame.assign(y=labels)

    def f(self, frame: DataFrame) -> FloatArray:
        """Return the true f of every row: the mean of `y`, or P(second class).

        Parameters
        ----------
        frame : pandas.DataFrame
            With the features as columns; others are not looked at.

        Examples
        --------
        >>> process.f(process.draw(3, seed=1)).round(2).tolist()
        [-0.44, -0.8, -0.11]
        """
        self._check_frame(frame)
        return self.function(frame)

    def respond(self, mean: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw responses with means `mean`; classes as 0 and 1, positions in `classes`.

        Examples
        --------
        >>> import numpy as np
        >>> process.respond(np.zeros(3), np.random.default_rng(1)).round(2).tolist()
        [0.35, 0.82, 0.33]
        """
        if self.classes is None:
            return mean + self.noise_sd * rng.standard_normal(len(mean))
        return np.asarray(rng.random(len(mean)) < mean, np.float64)

    def redraw(
        self, feature: str, frame: DataFrame, seed: Seed = None, *, conditional: bool = False
    ) -> Values:
        """Draw new values of a feature for the rows of `frame`.

        Parameters
        ----------
        feature : str
        frame : pandas.DataFrame
            With the features as columns.
        seed : int, Generator or None
        conditional : bool
            From its distribution given the row's other features, instead of independently of all
            else.

        Examples
        --------
        >>> process.redraw("x1", process.draw(3, seed=1), seed=2).round(2).tolist()
        [0.26, 0.81, 0.6]
        """
        self.check(feature)
        self._check_frame(frame)
        check_flag("conditional", conditional)
        rng = generator(seed)
        if conditional and self.conditional is not None:
            return self.conditional(feature, frame, rng)
        return self.covariates(len(frame), rng)[feature].to_numpy()

    def pd(self, feature: str, grid: npt.ArrayLike) -> FloatArray | None:
        r"""Return the closed form of the DGP-PD, :math:`E[f(x, X_C)]`; None if there is none.

        Parameters
        ----------
        feature : str
        grid : array of shape (g,)
            Values of the feature.

        Examples
        --------
        >>> process.pd("x2", [0.0, 1.0])
        array([ 0.5, -0.5])
        """
        values = self.grid(feature, grid)
        if self.closed_pd is None:
            return None
        with np.errstate(over="ignore", invalid="ignore"):  # of huge values, which are refused
            curve = self.closed_pd(feature, values)
        if curve is not None and not np.isfinite(curve).all():
            raise OptionError(f"The grid of `{feature}` must be within what f can be computed at.")
        return curve

    def pfi(self, feature: str) -> float | None:
        r"""Return the closed form of the DGP-PFI under squared error; None if there is none.

        :math:`E[(f(\tilde X_S, X_C) - f(X))^2]` with an independent draw of the feature: the MVIM
        of Khan et al. (2025, eq. 3).

        Examples
        --------
        >>> round(process.pfi("x1"), 3)
        0.167
        """
        self.check(feature)
        return None if self.closed_pfi is None else self.closed_pfi(feature)

    def cvim(self, feature: str) -> float | None:
        """Return `pfi` with a draw given the other features (CVIM); None without a closed form.

        Examples
        --------
        >>> process.cvim("x1")
        0.16666666666666666
        """
        self.check(feature)
        if self.conditional is None:  # independent features
            return self.pfi(feature)
        return None if self.closed_cvim is None else self.closed_cvim(feature)

    def grid(self, feature: str, grid: npt.ArrayLike) -> Values:
        """Return values of a feature as an array: finite floats, or levels.

        Examples
        --------
        >>> process.grid("x1", [0, 1])
        array([0., 1.])
        """
        self.check(feature)
        values = values_of(grid, feature)
        if feature not in self.levels:
            return as_floats(values, feature)
        check_levels(values.tolist(), self.levels[feature], feature)
        return values

    def check(self, feature: object) -> None:
        """Raise ``OptionError`` unless `feature` is one of the process.

        Examples
        --------
        >>> process.check("x3")
        Traceback (most recent call last):
            ...
        pyinterp.errors.OptionError: Can't find feature 'x3' of `process linear`. Features: x1, x2.
        Did you mean `x2`?
        """
        check_names([feature], self.features, argument=f"process {self.name}")

    def _check_frame(self, frame: object) -> None:
        """Raise ``OptionError`` unless `frame` has every feature, in numbers and known levels."""
        if not isinstance(frame, DataFrame) or not frame.columns.is_unique:
            raise OptionError(
                "`frame` must be a data frame of features, such as `draw` returns, each column "
                f"once; got {quote(frame)}."
            )
        missing = [name for name in self.features if name not in frame]
        if missing:
            raise OptionError(
                f"`frame` must have every feature of the process {quote(self.name)}, but "
                f"{quote(missing[0])} is missing; take the columns that `draw` returns."
            )
        for name in self.features:
            if name in self.levels:
                check_levels(frame[name].unique().tolist(), self.levels[name], name)
            elif (
                frame[name].dtype.kind not in "iufb"
                or not np.isfinite(frame[name].to_numpy(np.float64, na_value=np.nan)).all()
            ):
                raise OptionError(f"The column `{name}` of `frame` must hold finite numbers.")

    def __repr__(self) -> str:
        return f"<Process: {self.name}, {len(self.features)} features, {self.source}>"


def check_process(process: object) -> None:
    """Raise ``OptionError`` unless `process` is one."""
    if not isinstance(process, Process):
        raise OptionError(f"`process` must be a `pi.simulation.Process`, not {quote(process)}.")


def generator(seed: Seed) -> np.random.Generator:
    """Return the Generator itself, or one for an int or None."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(Seeds.start(seed).entropy)
