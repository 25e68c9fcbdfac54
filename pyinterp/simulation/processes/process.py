"""Data-generating processes: how features are drawn, a true function and noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pandas import DataFrame  # `pd` is partial dependence here
from scipy.special import entr, logit

from pyinterp._typing import FloatArray
from pyinterp.checks import Interval, check_count, check_flag, check_number
from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.estimands.effects.grids import as_floats, check_levels, values_of
from pyinterp.random import Seeds

Seed: TypeAlias = int | np.random.Generator | None
Values: TypeAlias = npt.NDArray[Any]

# More would be a mistake that takes all memory.
MOST_FEATURES = 1_000_000
MOST_ROWS = 100_000_000
LABEL_NOISE = Interval(0, 0.5, "low")
OF_LABELS = " It is the share of wrong labels."


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
    label_noise : float, optional
        Of classes: epsilon in [0, 0.5), if the probability of the second class is epsilon or
        1 - epsilon in every row. Closed forms of entropy and likelihood need it.
    oracle : str
        A formula with the terms of f, in which f is linear: with it least squares is unbiased.

    See Also
    --------
    pyinterp.simulation.dgp_pd, pyinterp.simulation.dgp_pfi : Ground truth, by Monte Carlo where
        there is no closed form.

    Examples
    --------
    >>> from pyinterp.simulation import molnar_linear
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
    label_noise: float | None = None
    oracle: str = ""

    def __post_init__(self) -> None:
        if self.label_noise is not None:
            check_number("label_noise", self.label_noise, LABEL_NOISE, OF_LABELS)

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
        return np.asarray(rng.random(len(mean)) < mean, dtype=np.float64)

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

    def entropy(self) -> float | None:
        r"""Return the expected entropy of the response given the features, in nats.

        With normal noise every row has :math:`\tfrac12 \log(2 \pi e \sigma^2)`, with label noise
        :math:`-\epsilon \log \epsilon - (1 - \epsilon) \log(1 - \epsilon)`. None without a closed
        form, and for numbers without noise, which have no density.

        Examples
        --------
        >>> process.entropy()
        1.4189385332046727
        """
        if self.classes is None:
            variance = self.noise_sd**2
            return None if variance == 0 else float((1 + np.log(2 * np.pi * variance)) / 2)
        epsilon = self.label_noise
        return None if epsilon is None else float(entr(epsilon) + entr(1 - epsilon))

    def entropy_pfi(self, feature: str) -> float | None:
        """Return the entropy-PFI of the true predictive distribution; None without a closed form.

        It is 0 where all rows have the same entropy: a learner's entropy-PFI then comes from the
        learner, not from the process.

        Examples
        --------
        >>> process.entropy_pfi("x1")
        0.0
        """
        self.check(feature)
        return None if self.entropy() is None else 0.0

    def likelihood_pfi(self, feature: str, *, conditional: bool = False) -> float | None:
        r"""Return the likelihood-PFI of the true predictive distribution, in nats.

        With normal noise it is the PFI under squared error, divided by :math:`2 \sigma^2`; with
        label noise :math:`(1 - 2 \epsilon) \log\{(1 - \epsilon) / \epsilon\}` times the probability
        that the other class gets the larger probability (of Wood et al. 2024, eq. 6). Infinite if
        a feature changes labels that have no noise; None without a closed form.

        Parameters
        ----------
        feature : str
        conditional : bool
            With a draw given the other features.

        Examples
        --------
        >>> process.likelihood_pfi("x1")
        0.08333333333333333
        """
        self.check(feature)
        check_flag("conditional", conditional)
        squared = self.cvim(feature) if conditional else self.pfi(feature)
        if squared is None or self.entropy() is None:
            return None
        return 0.0 if squared == 0 else squared * self._nats()

    def _nats(self) -> float:
        """Return the likelihood-PFI of a feature whose PFI under squared error is 1."""
        epsilon = self.label_noise
        if self.classes is None or epsilon is None:
            return 1 / (2 * self.noise_sd**2)
        # The other class is (1 - 2 epsilon)^2 away in squared error.
        return float("inf") if epsilon == 0 else -float(logit(epsilon)) / (1 - 2 * epsilon)

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
        pyinterp.errors.OptionError: The process 'linear' has no feature 'x3'. Features: x1, x2.
        """
        if not isinstance(feature, str) or feature not in self.features:
            raise OptionError(
                f"The process {quote(self.name)} has no feature {quote(feature)}. Features: "
                f"{list_of(self.features)}." + did_you_mean(feature, self.features)
            )

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
            elif frame[name].dtype.kind not in "iufb" or not np.isfinite(frame[name]).all():
                raise OptionError(f"The column `{name}` of `frame` must hold finite numbers.")

    def __repr__(self) -> str:
        return f"<Process: {self.name}, {len(self.features)} features, {self.source}>"


def check_process(process: object) -> None:
    """Raise ``OptionError`` unless `process` is one."""
    if not isinstance(process, Process):
        raise OptionError(
            "`process` must be a process such as `pi.simulation.friedman1()`, not "
            f"{quote(process)}."
        )


def formula_and_estimator(learner: object) -> tuple[str, Any]:
    """Return formula and estimator of a pair of both; of an estimator alone, with ``y ~ .``."""
    if not isinstance(learner, tuple):
        return "y ~ .", learner
    if len(learner) != 2:
        raise OptionError(
            "A learner must be an estimator or a pair of formula and estimator, such as "
            f'("y ~ x1", LinearRegression()), not {quote(learner)}.'
        )
    formula, estimator = learner
    return formula, estimator


def generator(seed: Seed) -> np.random.Generator:
    """Return the Generator itself, or one for an int or None."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(Seeds.start(seed).entropy)


def columns(frame: DataFrame, *names: str) -> list[FloatArray]:
    """Return columns as arrays of floats."""
    return [frame[name].to_numpy(dtype=np.float64) for name in names]


def noise_names(first: int, number: int, letter: str = "x") -> list[str]:
    """Return names of features that f does not depend on, counted from `first`."""
    check_count("noise_features", number, 0, MOST_FEATURES)
    return [f"{letter}{j}" for j in range(first, first + number)]


def uniform(n: int, rng: np.random.Generator, *, names: Sequence[str]) -> DataFrame:
    """Draw independent features, uniform on [0, 1]."""
    return DataFrame(rng.random((n, len(names))), columns=list(names))
