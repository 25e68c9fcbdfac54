"""New data for every refit, from a known process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pyinterp.checks import check_count
from pyinterp.data.sample import Sample
from pyinterp.errors import DataError, OptionError, PyinterpError, quote, reason
from pyinterp.representation import call_form
from pyinterp.resampling.resampling import (
    Reader,
    RefitRows,
    Resampling,
    Units,
    check_fraction,
    part_of,
)


@dataclass(frozen=True, eq=False)
class FreshDraws(Resampling):
    """Draw new data for every refit from a known process: the "ideal" setting of simulations.

    Refits share no rows, so the naive variance is right (c = 0).

    Parameters
    ----------
    generator : callable
        ``generator(rng)`` returns new data in the form given to the learner: a DataFrame with
        the formula's variables and response, or ``(endog, exog)``.
    refits : int
        Number of refits.
    fraction : float
        Share of each draw's rows that train; the rest evaluate.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from functools import partial
    >>> from pyinterp_papers.processes import molnar_linear
    >>> from sklearn.linear_model import LinearRegression
    >>> process = molnar_linear()
    >>> data = process.draw(100, seed=1)
    >>> plan = pi.FreshDraws(partial(process.draw, 100), 5)
    >>> learner = pi.Learner.from_formula("y ~ x1 + x2", data, LinearRegression())
    >>> learner.fit(plan, seed=1).pfi().params.round(2).to_dict()
    {'x1': 0.07, 'x2': 0.17}
    """

    shares_data: ClassVar[bool] = False
    label: ClassVar[str] = "fresh draws"

    generator: Callable[[np.random.Generator], Any]
    refits: int = 15
    _: KW_ONLY
    fraction: float = 0.632

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("refits", self.refits)
        check_fraction(self.fraction)
        if not callable(self.generator):
            raise OptionError(
                "`generator` must be a function of a numpy Generator that returns data, "
                f"not {quote(self.generator)}."
            )

    def parts(
        self, sample: Sample, units: Units, rng: np.random.Generator, read: Reader
    ) -> Iterator[RefitRows]:
        """Yield the rows of every refit: the first `fraction` train, the rest evaluate."""
        count = 0
        for k, stream in enumerate(rng.spawn(self.refits), start=1):
            try:
                drawn = self.generator(stream)
            except PyinterpError:
                raise
            except Exception as error:
                raise DataError(f"The `generator` of FreshDraws failed: {reason(error)}") from error
            new = _with_classes_of(sample, read(drawn), k)
            # Row i of one draw is not row i of another: rows are numbered through.
            new = replace(new, rows=np.arange(count, count + new.nobs), index=None)
            count += new.nobs
            rows, first = np.arange(new.nobs), round(self.fraction * new.nobs)
            part = part_of(new, rows[:first], rows[first:], of_row=rows, label=self.label)
            _check_classes(part.train, k)
            yield part


def _with_classes_of(sample: Sample, fresh: Sample, k: int) -> Sample:
    """Return fresh rows with the response as positions in the sample's classes."""
    ours, theirs = sample.response, fresh.response
    if ours is None or theirs is None or fresh.y is None or ours.classes == theirs.classes:
        return fresh
    place = {label: j for j, label in enumerate(ours.classes or ())}
    for label in theirs.classes or ():
        if label not in place:
            raise DataError(
                f"Fresh draws must have the classes of the learner's data, {list(place)}, but draw "
                f"{k} has class {quote(label)} of `{ours.name}`."
            )
    positions = np.array([place[label] for label in theirs.classes or ()], dtype=np.float64)
    return replace(fresh, y=positions[fresh.y.astype(np.intp)], response=ours)


def _check_classes(train: Sample, k: int) -> None:
    """Raise `DataError` if training rows of fresh draw k lack a class."""
    classes = None if train.response is None else train.response.classes
    for position, label in enumerate(classes or ()):
        if train.y is not None and position not in train.y:
            raise DataError(
                f"Every refit's training rows must hold every class, but fresh draw {k} has no "
                f"training row of class {quote(label)}; draw more rows."
            )
