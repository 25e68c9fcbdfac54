"""Where partial dependence is evaluated: grids of one variable, and points of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress, product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.spatial import Delaunay, QhullError

from pyinterp._typing import Column, FloatArray
from pyinterp.checks import (
    Interval,
    check_choice,
    check_count,
    check_flag,
    check_list,
    check_mapping,
    check_number,
)
from pyinterp.data.columns import is_category
from pyinterp.data.features import Names, check_names, names_of
from pyinterp.data.frames import fill_masks
from pyinterp.errors import OptionError, did_you_mean, list_of, quote, short
from pyinterp.estimands.estimand import Problem, Terms
from pyinterp.representation import call_form, frozen

RULES = ("quantile", "equidistant", "unique", "r")
POINTS = {1: 20, 2: 10, 3: 5}  # per variable, by their number
DECILES = tuple(k / 10 for k in range(1, 10))


@frozen
class RGrid:
    """The grid of R's ``pdp::partial``, with its options under R's names.

    Numbers take `grid_resolution` equally spaced values from the smallest to the largest; levels
    of factors are all taken, unused ones too.

    Parameters
    ----------
    grid_resolution : int, optional
        By default the number of distinct values, at most 51; for each of two variables too.
    quantiles : bool
        Type-7 quantiles instead, at `probs`; equal ones are all kept.
    probs : sequence of float
    trim_outliers : bool
        Omit from the range the outliers of Tukey's boxplot: values more than 1.5 hinge spreads
        beyond the hinges.
    chull : bool
        For two numeric variables, the first two of three, keep the points inside the convex hull
        of the data, its edges included (on which R's test drops some points of integers).
    cats : str or sequence of str, optional
        Numbers that are categories: all distinct values are taken.
    check_class : bool
        Whole numbers stay whole: grid values are truncated towards 0, as by ``as.integer``.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1)
    >>> grid = pi.r_style.RGrid(quantiles=True, probs=[0.25, 0.75])
    >>> res.pd("bmi", grid=grid).params.round(1).to_dict()
    {'bmi[23.2]': 127.0, 'bmi[29.275]': 179.0}
    """

    grid_resolution: int | None = None
    quantiles: bool = False
    probs: Sequence[float] = DECILES
    trim_outliers: bool = False
    chull: bool = False
    cats: Names | None = None
    check_class: bool = True

    __repr__ = call_form

    def __post_init__(self) -> None:
        if self.grid_resolution is not None:
            check_count("grid_resolution", self.grid_resolution)
        for flag in ("quantiles", "trim_outliers", "chull", "check_class"):
            check_flag(flag, getattr(self, flag))
        check_list("probs", self.probs, "[0.25, 0.5, 0.75]")
        for share in self.probs:
            check_number("probs", share, Interval(0, 1, "both"))
        # Grids are parts of keys, which are hashed.
        object.__setattr__(self, "probs", tuple(self.probs))
        if self.cats is not None:
            object.__setattr__(self, "cats", tuple(names_of(self.cats, "cats")))
        if self.quantiles and (self.grid_resolution is not None or self.trim_outliers):
            raise OptionError(
                "`quantiles` places the grid points itself: it takes neither `grid_resolution` nor "
                "`trim_outliers`."
            )

    def values(self, column: Column) -> tuple[Any, ...]:
        """Return the grid of one variable, from its observed values.

        Examples
        --------
        >>> [round(value, 1) for value in grid.values(data["bmi"])]
        [23.2, 29.3]
        """
        column = without_missing(column)
        if isinstance(column.dtype, pd.CategoricalDtype):
            return tuple(column.cat.categories.tolist())
        two = column.dtype == bool
        if column.name in (self.cats or ()) or (is_category(column) and not two):
            return _levels(column)
        data = column.to_numpy(np.float64)
        if self.quantiles:
            values = np.quantile(data, self.probs)
        else:
            number = self.grid_resolution or min(len(np.unique(data)), 51)
            inside = _without_outliers(data) if self.trim_outliers else data
            values = np.linspace(inside.min(), inside.max(), number)
        if two:  # as.logical: all but 0 is TRUE
            return tuple((values != 0).tolist())
        whole = self.check_class and pd.api.types.is_integer_dtype(column)
        return tuple((np.trunc(values) if whole else values).tolist())


@dataclass(frozen=True)
class Points:
    """The points of one variable or several at which rows are predicted.

    Attributes
    ----------
    names : tuple of str
        The variables.
    cells : tuple of tuple
        One value per variable for every point, the first variable varying fastest as in R's
        ``expand.grid``; points of a user's frame are its rows.
    """

    names: tuple[str, ...]
    cells: tuple[tuple[Any, ...], ...]

    def frame(self, like: pd.DataFrame) -> pd.DataFrame:
        """Return the points as columns of the variables' types; numbers become floats."""
        columns: dict[str, Any] = {}
        for j, name in enumerate(self.names):
            column = like[name]
            dtype: Any = column.dtype if is_category(column) else np.dtype(np.float64)
            columns[name] = pd.array([cell[j] for cell in self.cells], dtype=dtype)
        return pd.DataFrame(columns)

    def terms(self, labels: Sequence[Any]) -> Terms:
        """Return one term per point and class, class by class."""
        terms = Terms.plain(self._texts(), labels)
        axes = ("value", "value2", "value3")[: len(self.names)]
        values = zip(*self.cells * len(labels), strict=True)
        grid = dict(zip(axes, values, strict=True))
        return replace(
            terms,
            layout=pd.DataFrame({**grid, **terms.layout}),
            axes=axes,
            axis_names=self.names,
            facet="class" if len(labels) > 1 else None,
        )

    def _texts(self) -> list[str]:
        """Return unique names of the points, as short as they can be."""
        for exact in (False, True):
            texts = []
            for cell in self.cells:
                values = map(repr if exact else number_text, cell)
                pairs = zip(self.names, values, strict=True)
                texts.append(", ".join(f"{name}[{value}]" for name, value in pairs))
            if len(set(texts)) == len(set(self.cells)):
                break
        counts = Counter[str]()
        for k, text in enumerate(texts):  # quantiles of few values repeat
            counts[text] += 1
            texts[k] = text if counts[text] == 1 else f"{text} ({counts[text]})"
        return texts


def number_text(value: Any) -> str:
    """Return a number to six digits, or another value as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


Grid = (
    Literal["quantile", "equidistant", "unique", "r"]
    | RGrid
    | npt.ArrayLike
    | Mapping[str, npt.ArrayLike]
    | pd.DataFrame
    | Points
)


def points_of(
    data: pd.DataFrame,
    names: tuple[str, ...],
    grid: Grid = "quantile",
    points: int | None = None,
    discrete: frozenset[str] = frozenset(),
) -> Points:
    """Return the points of a grid for one variable or several.

    Parameters
    ----------
    data : pandas.DataFrame
        All rows.
    names : tuple of str
    grid : Grid
    points : int, optional
        Grid points per variable; 20 for one variable, 10 each for two, 5 each for three.
    discrete : frozenset of str
        Numbers of which only observed values can be predicted.
    """
    if isinstance(grid, Points):
        return grid
    if isinstance(grid, pd.DataFrame):
        return _frame_points(data, names, grid)
    if isinstance(grid, RGrid) and grid.cats:
        check_names(grid.cats, data, kind="variable", argument="cats")
    number = POINTS[len(names)] if points is None else points
    check_count("points", number, 2)
    if points is not None and (isinstance(grid, RGrid) or (isinstance(grid, str) and grid == "r")):
        raise OptionError(
            "The grid of R's pdp takes the number of points from "
            "`pi.r_style.RGrid(grid_resolution=...)`, not from `points`."
        )
    axes = []
    for name, one in grids_of(names, grid).items():
        if isinstance(one, str):
            check_choice("grid", one, RULES)
        by_rule = isinstance(one, str | RGrid) and not (isinstance(grid, Mapping) and name in grid)
        # Numbers that the design treats as categories have no values between.
        coded = by_rule and name in discrete and not is_category(data[name])
        axes.append(grid_values(data[name], "unique" if coded else one, number))
    chosen = Points(names, tuple(cell[::-1] for cell in product(*reversed(axes))))
    return in_hull(data, chosen) if isinstance(grid, RGrid) and grid.chull else chosen


def grids_of(names: Sequence[str], grid: Grid) -> dict[str, Grid]:
    """Return the grid of every variable: "quantile" for those that a mapping leaves out.

    `OptionError` is raised if the mapping names other variables, or if one list of values is given
    for several.
    """
    if not names:
        raise OptionError("`features` must name at least one variable.")
    if isinstance(grid, Mapping):
        check_mapping("grid", grid, "{'x': [0, 1]}")
        check_names([*grid], names, kind="variable", argument="grid")
        return {name: grid.get(name, "quantile") for name in names}
    if len(names) > 1 and not isinstance(grid, str | RGrid):
        raise OptionError(
            "A grid for several variables must be a mapping such as {'a': [0, 1], 'b': [2, 3]}, "
            f"or a rule, not {quote(grid)}."
        )
    return dict.fromkeys(names, grid)


def variables_of(
    problem: Problem, features: Names, *, most: int = 3, what: str = "Partial dependence"
) -> tuple[str, ...]:
    """Return the names of one variable or of several different ones, checked."""
    names = tuple(names_of(features))
    variables = problem.sample.variables.columns
    for name in names:
        if name not in variables:
            if name in problem.features:
                raise OptionError(
                    f"`{short(name)}` is a group of variables, which has no curve: name one of "
                    "them, or make a column, such as the mean of items."
                )
            raise OptionError(
                f"Can't find variable `{short(name)}`. Variables: {list_of(variables)}."
                + did_you_mean(name, variables)
            )
    if not 1 <= len(names) <= most or len(set(names)) < len(names):
        several, remedy = " or of two or three different ones", ""
        if most == 1:
            several, remedy = "", " `pd` and `h_statistic` show what two do together."
        raise OptionError(f"{what} is of one variable{several}, not of {quote(names)}.{remedy}")
    return names


def check_complete(data: pd.DataFrame, names: Sequence[str], what: str) -> None:
    """Raise `OptionError` if a variable along which rows are compared is missing in some."""
    for name in names:
        if missing := int(data[name].isna().sum()):
            raise OptionError(
                f"{what} needs the value of `{name}` in every row, but it is missing in {missing} "
                f'of {len(data)} rows; leave those out by `missing="drop"`, name other features, '
                "or use `pd`, which predicts all rows."
            )


def has_levels(problem: Problem, name: str) -> bool:
    """Whether the values of a variable are levels: it is a category, or coded as one."""
    return name in problem.discrete or is_category(problem.sample.variables[name])


def grid_values(column: Column, grid: Grid = "quantile", points: int = 20) -> tuple[Any, ...]:
    """Return the grid of one variable.

    Parameters
    ----------
    column : pandas.Series
        The variable in all rows.
    grid : {"quantile", "equidistant", "unique", "r"}, RGrid or array
        "quantile": type-7 quantiles at equally spaced probabilities, the smallest and the largest
        value included (observed values, type 1, for whole numbers); all distinct values if there
        are at most `points`. "equidistant": from the
        smallest to the largest. "unique": all distinct values. "r" is ``RGrid()``, the default of
        R's pdp. Numbers of an array are sorted, levels keep its order.
        Categories, strings and booleans always give their levels, unless an array is given.
    points : int
        Number of grid points; `RGrid` has `grid_resolution` instead.

    Returns
    -------
    tuple
        Increasing numbers, or levels.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from pyinterp.estimands.effects.grids import grid_values
    >>> data = pi.datasets.load_diabetes()
    >>> grid_values(data["bmi"], "equidistant", points=3)
    (18.0, 30.1, 42.2)
    >>> grid_values(data["sex"])
    (1.0, 2.0)
    """
    column = without_missing(column)
    if isinstance(grid, RGrid):
        return grid.values(column)
    if not isinstance(grid, str):
        return _user_grid(column, grid)
    check_choice("grid", grid, RULES)
    if grid == "r":
        return RGrid().values(column)
    if is_category(column):
        return _levels(column)
    values = np.unique(column.to_numpy(np.float64))
    if grid == "equidistant":
        values = np.linspace(values[0], values[-1], points if len(values) > 1 else 1)
    elif grid == "quantile" and len(values) > points:
        # Whole numbers may be codes: between two of them a model may know nothing.
        whole = pd.api.types.is_integer_dtype(column)
        at, data = np.linspace(0, 1, points), column.to_numpy(np.float64)
        values = np.unique(
            np.quantile(data, at, method="inverted_cdf") if whole else np.quantile(data, at)
        )
    return tuple(values.tolist())


def without_missing(column: Column) -> Column:
    """Return the values of a column that are not missing, for grids; booleans stay booleans."""
    if not column.isna().any():
        return column
    values = column.dropna()
    if values.empty:
        raise OptionError(f"`{short(str(column.name))}` is missing in every row.")
    return values.infer_objects()


def _levels(column: Column) -> tuple[Any, ...]:
    """Return the levels that occur in a column, in order."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return tuple(column.cat.remove_unused_categories().cat.categories.tolist())
    return tuple(sorted(column.unique().tolist()))


def _user_grid(column: Column, grid: object) -> tuple[Any, ...]:
    """Return the values of a user's grid, checked: numbers sorted, levels in the user's order."""
    values = values_of(grid, str(column.name))
    if is_category(column):
        levels = _levels(column)
        check_levels(values.tolist(), levels, str(column.name))
        return tuple(dict.fromkeys(values.tolist()))
    return tuple(np.unique(as_floats(values, str(column.name))).tolist())


def values_of(grid: object, name: str) -> npt.NDArray[Any]:
    """Return a grid's values as an array of one dimension, masked ones missing."""
    values = np.empty(0)
    with suppress(TypeError, ValueError):  # lists of different lengths
        values = np.atleast_1d(fill_masks(grid))
    if values.ndim != 1 or not len(values) or isinstance(grid, Mapping | Set | pd.DataFrame):
        raise OptionError(
            f"The grid of `{short(name)}` must be a list of values, at least one; got "
            f"{quote(grid)}."
        )
    return values


def check_levels(values: Sequence[object], levels: Sequence[object], name: str) -> None:
    """Raise `OptionError` unless all values are among the levels of a variable."""
    for level in values:
        if not isinstance(level, Hashable) or level not in levels:
            raise OptionError(
                f"{quote(level)} is not a level of `{short(name)}`"
                + (
                    f", whose levels are texts: {list_of(map(repr, levels))}."
                    if str(level) in levels
                    else f". Levels: {list_of(levels)}.{did_you_mean(level, levels)}"
                )
            )


def as_floats(values: npt.NDArray[Any], name: str) -> FloatArray:
    """Return the grid of a numeric variable as floats; raise `OptionError` if it is not finite."""
    if values.dtype.kind not in "iuf" or not np.isfinite(values.astype(np.float64)).all():
        raise OptionError(
            f"The grid of `{short(name)}` must be finite numbers, not {quote(values.tolist())}."
        )
    return values.astype(np.float64)


def _frame_points(data: pd.DataFrame, names: tuple[str, ...], grid: pd.DataFrame) -> Points:
    """Return the points that the rows of a user's frame are, checked."""
    absent = [n for n in names if n not in grid]
    if absent or grid.empty:
        raise OptionError(
            f"A grid of points needs a column for each of {list_of(names)} and at least one row; "
            f"it has the columns {list_of(grid.columns)} and {len(grid)} rows."
        )
    for name in names:
        values = grid_values(data[name], grid[name].to_numpy())  # checks levels and numbers
    if len(names) == 1:  # as an array: slopes are between neighbors
        return Points(names, tuple((value,) for value in values))
    return Points(names, tuple(zip(*(grid[name].tolist() for name in names), strict=True)))


def in_hull(data: pd.DataFrame, points: Points) -> Points:
    """Return the points whose first two variables are inside the convex hull of the data."""
    names = points.names[:2]
    if len(names) < 2 or any(is_category(data[n]) for n in names):
        raise OptionError(
            "`chull` keeps points inside the convex hull of two numeric variables; the variables "
            f"are {list_of(names)}."
        )
    hull = hull_of(data[list(names)])
    if hull is None:
        raise OptionError(
            f"`{names[0]}` and `{names[1]}` have no convex hull with an inside: their points lie "
            "on a line; use `chull=False`."
        )
    inside = hull.find_simplex([cell[:2] for cell in points.cells]) >= 0
    return Points(points.names, tuple(compress(points.cells, inside)))


def hull_of(pair: pd.DataFrame) -> Delaunay | None:
    """Return the convex hull of two variables; None of points on a line, which has no inside."""
    try:
        return Delaunay(pair.dropna().drop_duplicates().to_numpy(np.float64))
    except QhullError:
        return None


def _without_outliers(data: FloatArray) -> FloatArray:
    """Return the values that R's ``boxplot.stats`` does not call outliers, by Tukey's hinges."""
    ordered = np.sort(data)
    n = len(ordered)
    depth = (n + 3) // 2 / 2
    ends = np.array([depth, n + 1 - depth]) - 1
    low, high = (ordered[np.floor(ends).astype(int)] + ordered[np.ceil(ends).astype(int)]) / 2
    reach = 1.5 * (high - low)
    inside: FloatArray = data[(data >= low - reach) & (data <= high + reach)]
    return inside
