"""Predictions of rows with other values of a feature, the source of all estimands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, cast

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray, IntArray, Matrix, TwoArrays
from pyinterp.data.design import Design, Swap
from pyinterp.data.features import Features, check_names, names_of
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, list_of
from pyinterp.losses.rowwise import Loss
from pyinterp.models.prediction_checks import check_finite
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.parallel import stop_if_over
from pyinterp.representation import about
from pyinterp.samplers import Distinct, distinct
from pyinterp.whatif.inputs import PROBES, Before, ColumnValues, Inputs

# Predictions of copies of rows that are worth making per feature and model.
PREDICTIONS = 250_000
# Permutations of rows that are predicted where no engine is exact, and all pairs of rows up to this
# number of predictions, as of 122 rows: they take no time worth saving, and have no error.
PERMUTATIONS, FEW = 30, 15_000
# Pairs of a row and a donor that are worth an exact mean where a pair costs little more than its
# loss.
PAIRS = 1e8
# A copy costs its design row, the estimator's own copy of it (often float32 plus checks), and
# its predictions; measured peaks of scikit-learn estimators stay below this many bytes a value.
BYTES_PER_VALUE = 24
# Rows of one predict call at most: Ctrl-C has to wait for its end, k neighbors of many rows long.
MOST_ROWS = 2**14
# Rows of one table, whose making may take more memory than the table.
MOST_TABLE_ROWS = 2**10
# One donor that replaces nothing.
NO_COLUMNS, NO_VALUES = np.zeros(0, np.intp), np.zeros((1, 0))
_Value = TypeVar("_Value")
# Positions of some rows in the sample, and their predictions for all donors, shape (rows, donors)
# or (rows, donors, classes).
Blocks = Iterator[tuple[IntArray, FloatArray]]


def _count(value: Any) -> int:
    """Return how many numbers arrays and frames have, together."""
    return sum(map(_count, value)) if isinstance(value, tuple) else int(getattr(value, "size", 0))


class Engine(NamedTuple):
    """The method that computed predictions.

    Attributes
    ----------
    name : str
        What tables call it.
    error : float
        Its largest deviation from the model's own predictions, in units of their spread over rows;
        0 where these are the model's own.
    reason : str
        Why there is no exact engine, for a kind of model that can have one.
    """

    name: str
    error: float = 0.0
    reason: str = ""

    @classmethod
    def of_all(cls, engines: Sequence[Engine]) -> Engine:
        """Return one engine for several models: all names and reasons, the largest error."""
        names, errors, reasons = map(dict.fromkeys, zip(*engines, strict=True))
        return cls("; ".join(names), max(errors), "; ".join(filter(None, reasons)))


class WhatIf:
    """What-if predictions of one fitted model on one sample, by predicting copies of the rows.

    Parameters
    ----------
    predictor : Predictor
        The fitted model.
    design : Design
        How its variables are encoded.
    sample : Sample
        The evaluation rows, n of them.
    memory_mb : float
        Upper bound on the memory of one predict call's copies.

    Attributes
    ----------
    engine : Engine
        What computes the predictions.
    batch : int
        Rows of a predict call.
    memo : dict or None
        What was made of the rows, for the same model with other coefficients; None: nothing is
        kept.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + sex", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1, engine="batched")
    >>> whatif = res.analysis.cases[0].whatif
    >>> whatif.factual[:3].round(1).tolist()
    [105.0, 119.4, 107.8]
    """

    memo: dict[Hashable, tuple[tuple[Any, ...], Any]] | None = None

    def __init__(
        self, predictor: Predictor, design: Design, sample: Sample, *, memory_mb: float = 256.0
    ) -> None:
        self.predictor, self.design, self.sample = predictor, design, sample
        self.engine, self.memory_mb = Engine("batched"), memory_mb
        values = len(design.columns) + max(predictor.width, 1)
        bound = int(memory_mb * 2**20 / (BYTES_PER_VALUE * values))
        self.batch = min(max(1, bound), MOST_ROWS)

    @cached_property
    def factual(self) -> FloatArray:
        """Predictions on the rows as they are, shape (n,) or (n, classes)."""
        return self.predictor(self.design.rows_of(self.sample))

    def once(self, key: Hashable, make: Callable[[], _Value], *of: Any) -> _Value:
        """Return `make` of the rows, computed once for all coefficients of a model.

        It is made again `of` other objects than the last time, or if memory has no place for it.

        Examples
        --------
        >>> float(whatif.once("mean", lambda: whatif.factual.mean()).round(1))
        148.1
        """
        if self.memo is None:
            return make()
        before, value = self.memo.get(key, (None, None))
        if before is None or [*map(id, before)] != [*map(id, of)]:
            self.memo.pop(key, None)
            value = make()
            if 8 * (_count(value) + _count(tuple(self.memo.values()))) <= self.memory_mb * 2**20:
                self.memo[key] = of, value
        return cast("_Value", value)

    def of(self, variables: Sequence[str]) -> FeatureWhatIf:
        """Return what-if predictions with some variables replaced together.

        Examples
        --------
        >>> whatif.of(["sex"]).donors.frame["sex"].tolist()
        [1.0, 2.0]
        """
        return FeatureWhatIf(self, variables)

    def sums_of_all(
        self, y: FloatArray, loss: Loss, features: Features
    ) -> tuple[list[str], FloatArray, FloatArray]:
        """Return the features that need not be asked one by one, and their losses of all pairs.

        These are summed over donors, and over rows for each row as a donor, (n, features).

        Examples
        --------
        >>> absolute = pi.Loss("error", lambda y, f: abs(y - f))
        >>> whatif.sums_of_all(whatif.sample.y, absolute, {"bmi": ("bmi",)})[0]
        []
        """
        return [], np.empty((len(y), 0)), np.empty((len(y), 0))

    def take(self, rows: IntArray) -> Self:
        """Return what-if predictions of the same model on some of the rows.

        Examples
        --------
        >>> whatif.take(np.arange(3)).factual.round(1).tolist()
        [105.0, 119.4, 107.8]
        """
        some = self.on(self.sample.take(rows))
        some.factual = self.factual[rows]
        return some

    def on(self, sample: Sample) -> Self:
        """Return the same, with the same rows as another object, and nothing else kept of them.

        Examples
        --------
        >>> whatif.on(whatif.sample).factual is whatif.factual
        True
        """
        same = self._with(sample)
        same.engine, same.factual = self.engine, self.factual
        return same

    def _with(self, sample: Sample) -> Self:
        return type(self)(self.predictor, self.design, sample, memory_mb=self.memory_mb)

    def donors(self, variables: Sequence[str]) -> Distinct:
        """Return the distinct values of the sample's rows; values that predict alike may be one.

        Examples
        --------
        >>> whatif.donors(["sex"]).counts.tolist()
        [64, 69]
        """
        return distinct(self.sample, variables)

    def __repr__(self) -> str:
        return about(self, self.predictor.name, self.engine.name, f"{self.sample.nobs} rows")


class FeatureWhatIf:
    """What-if predictions of one feature: donors replace its variables together.

    Donors are the rows of the sample, unless others are given.

    Parameters
    ----------
    whatif : WhatIf
        The model and the rows that are predicted, n of them.
    variables : sequence of str
        The variables of the feature.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + sex", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1, engine="batched")
    >>> case = res.analysis.cases[0]
    >>> feature = case.whatif.of(["bmi"])
    >>> len(feature.donors.frame)
    92
    """

    def __init__(self, whatif: WhatIf, variables: Sequence[str]) -> None:
        variables = names_of(variables, "variables")
        if not variables or not whatif.design.places.keys() >= {*variables}:
            every = [*map(str, whatif.sample.variables)]
            check_names(variables, every, kind="variable", argument="variables")
        self._whatif, self.sample, self.variables = whatif, whatif.sample, tuple(variables)

    @cached_property
    def donors(self) -> Distinct:
        """The m distinct values of the sample's rows; values that predict alike may be one."""
        return self._whatif.donors(self.variables)

    def most_pairs(self, loss: Loss) -> float:
        """Return how many pairs of rows and distinct donors are worth an exact mean of a loss.

        Examples
        --------
        >>> feature.most_pairs(pi.Loss("error", lambda y, f: abs(y - f)))
        15000
        """
        return max(PERMUTATIONS * self.sample.nobs, FEW)

    @property
    def most_draws(self) -> float:
        """How many draws, each for one row only, are worth predicting per model.

        Callers take all pairs of rows and draws up to this number, and some draws per row beyond
        it.
        """
        return PREDICTIONS

    def cross(self, donors: pd.DataFrame | None = None) -> Blocks:
        """Predict every row with the variables of every donor, in blocks of rows.

        Yields the positions of b rows, shape (b,), and their predictions, shape (b, donors) or
        (b, donors, classes).

        Examples
        --------
        >>> for rows, predictions in feature.cross(pd.DataFrame({"bmi": [20.0, 30.0]})):
        ...     print(predictions.mean(axis=0).round(1))
        [ 87.9 190.5]
        """
        donors = self._frame(donors)
        n, k = self.sample.nobs, len(donors)
        step = max(1, self._whatif.batch // k)
        swap, every = self._swap(donors), np.arange(k)
        for start in range(0, n, step):
            rows = np.arange(start, min(start + step, n))
            flat = self._predict(swap, np.repeat(rows, k), np.tile(every, len(rows)), donors)
            yield rows, flat.reshape(len(rows), k, *flat.shape[1:])

    def pairs(
        self, rows: IntArray, index: IntArray, donors: pd.DataFrame | None = None
    ) -> FloatArray:
        """Predict row ``rows[a]`` with the variables of donors ``index[a]``.

        Memory grows with the number of predictions: many should come in blocks of rows.

        Parameters
        ----------
        rows : ndarray of int, shape (b,)
            Positions in the sample, repeats allowed.
        index : ndarray of int, shape (b, k), not empty
            Positions in `donors`.
        donors : pandas.DataFrame, optional
            Shared by rows, or each used once: values made for one row. The distinct donors of the
            sample if omitted.

        Returns
        -------
        ndarray of shape (b, k) or (b, k, classes)

        Examples
        --------
        >>> donors = pd.DataFrame({"bmi": [20.0, 30.0]})
        >>> feature.pairs(np.array([0, 5]), np.array([[0, 1], [0, 1]]), donors).round(1).tolist()
        [[88.6, 191.2], [88.6, 191.2]]
        """
        donors = self._frame(donors)
        swap, of = self._swap(donors), (donors, rows, index)
        targets, sources = np.repeat(rows, index.shape[1]), index.ravel()
        if len(donors) >= min(self.sample.nobs, index.size):
            flat = self._predict(swap, targets, sources, *of)
        else:  # few distinct donors: a row may meet the same one again
            pairs, which = np.unique(targets * len(donors) + sources, return_inverse=True)
            targets, sources = np.divmod(pairs, len(donors))
            flat = self._predict(swap, targets, sources, *of)[which]
        return flat.reshape(*index.shape, *flat.shape[1:])

    def summed_losses(self, y: FloatArray, loss: Loss) -> TwoArrays:
        """Sum the losses of all pairs of a row, which keeps y, and a donor of the sample.

        Parameters
        ----------
        y : ndarray of shape (n,)
        loss : Loss

        Returns
        -------
        over_donors : ndarray of shape (n,)
            Each row's losses, summed over all donors.
        over_rows : ndarray of shape (m,)
            Each distinct donor's losses, summed over rows.

        Examples
        --------
        >>> absolute = pi.Loss("error", lambda y, f: abs(y - f))
        >>> over_donors, over_rows = feature.summed_losses(case.y, absolute)
        >>> over_donors.shape, over_rows.shape
        ((133,), (92,))
        """
        donors = self.donors
        over_donors, over_rows = np.empty(len(y)), np.zeros(len(donors.counts))
        for rows, predictions in self.cross():
            losses = loss(y[rows, None], predictions)
            over_donors[rows] = losses @ donors.counts
            over_rows += losses.sum(axis=0)
        return over_donors, over_rows

    def _frame(self, donors: pd.DataFrame | None) -> pd.DataFrame:
        """Return donors, the sample if no others are given."""
        if donors is None:
            return self.donors.frame
        lacking = [name for name in self.variables if name not in donors]
        if lacking:
            raise OptionError(
                f"Donors must have the variables that they replace, but `{lacking[0]}` is not "
                f"among their columns {list_of(donors)}."
            )
        return donors

    def _swap(self, donors: pd.DataFrame) -> Callable[[], Swap]:
        """Return a function that prepares copies of rows, once, and only if it is called."""
        whatif = self._whatif
        return cache(partial(whatif.design.swap, self.sample, self.variables, donors))

    def _predict(
        self, swap: Callable[[], Swap], rows: IntArray, donors: IntArray, *of: Any
    ) -> FloatArray:
        """Predict rows with the variables of one donor each, in batches."""
        whatif, parts = self._whatif, []

        def copies(part: slice) -> Matrix:
            return swap().matrix(rows[part], donors[part], self.sample.index)

        for i in range(0, len(rows), whatif.batch):
            stop_if_over()
            make = partial(copies, slice(i, i + whatif.batch))
            key = self.variables, int(rows[0]), i
            parts.append(whatif.predictor(whatif.once(key, make, *of)))
        return np.concatenate(parts)


class ExactWhatIf(WhatIf, ABC):
    """What-if predictions of one kind of model, without predicting copies of rows.

    Rows and donors come as the numbers that the model is given: as columns of the design, or as the
    results of earlier steps of a pipeline. An engine serves a model if its predictions equal the
    model's ``predict``; others are predicted in batches, as are features whose replacement changes
    columns that depend on other variables too.

    Parameters
    ----------
    batched : WhatIf
        The model and its rows.
    model : object
        What `read` returned.
    before : callable or None
        Earlier steps of a pipeline.
    design : Design, optional
        Of the rows that these are given, if it is another than the model's.
    inputs : Inputs, optional
        The rows as the model is given them, if they are known.

    Attributes
    ----------
    name : str
        What the option `engine` calls it; tables add "exact".
    block_bytes : int
        Memory of one table.
    """

    name: ClassVar[str]
    block_bytes: ClassVar[int] = 2**27

    def __init__(
        self,
        batched: WhatIf,
        model: Any,
        *,
        before: Before | None = None,
        design: Design | None = None,
        inputs: Inputs | None = None,
    ) -> None:
        super().__init__(
            batched.predictor, batched.design, batched.sample, memory_mb=batched.memory_mb
        )
        self.engine = Engine(f"{self.name}, exact")
        self.model = model
        self.inputs = inputs or Inputs(
            design=design or self.design,
            sample=self.sample,
            before=before,
            levels=getattr(model, "levels", ()),
            cast=getattr(model, "cast", None),
        )

    @staticmethod
    @abstractmethod
    def read(model: Any, kind: Kind, /) -> Any:
        """Return the parts of a fitted model that predict; None for other models.

        In a pipeline the model is the last step.
        """

    @abstractmethod
    def table(self, rows: FloatArray, columns: IntArray, values: FloatArray) -> FloatArray:
        """Predict every row with the values of every donor in some columns.

        Parameters
        ----------
        rows : ndarray of shape (n, p)
            What the model is given, categories as codes.
        columns : ndarray of int, shape (c,)
            The columns that are replaced, from none to all.
        values : ndarray of shape (m, c)
            The donors' values in these columns.

        Returns
        -------
        ndarray of shape (n, m) or (n, m, classes)
            Means, or probabilities of the model's classes in its order; of the kind "label" 1 for
            the class that ``predict`` says and 0 for the others.
        """

    @abstractmethod
    def predictions_with_rounding(self, whatif: FloatArray) -> TwoArrays:
        """Return the engine's predictions, to be compared with the model's, and their rounding.

        Both are of the sample's rows, then of what-if rows, shape (n + m,) or (n + m, classes). The
        second is how far rounding of sums may move a prediction.

        Parameters
        ----------
        whatif : ndarray of shape (m, p)
            Other rows, as the model is given them.
        """

    @abstractmethod
    def most_pairs(self, loss: Loss, columns: IntArray, values: FloatArray) -> float:
        """Return how many pairs are worth an exact mean: no bound for sums without predictions."""

    @abstractmethod
    def summed_losses(
        self, y: FloatArray, loss: Loss, columns: IntArray, values: FloatArray, counts: IntArray
    ) -> TwoArrays | None:
        """Sum losses over donors, each of which stands for `counts`, and over rows.

        None if they must be added up one by one.
        """

    def _with(self, sample: Sample) -> Self:
        kept = sample is self.inputs.sample
        inputs = self.inputs if kept else replace(self.inputs, sample=sample)
        same = type(self)(self, self.model, inputs=inputs)
        same.sample = sample
        return same

    def donors(self, variables: Sequence[str]) -> Distinct:
        """Return the distinct values of the sample's rows, as the model is given them."""
        separate = self.inputs.separate_columns(variables)
        if separate is None or separate[1].shape[1] > 1:
            return super().donors(variables)
        _, values = separate
        of_row = np.zeros(len(values), np.intp)
        if values.shape[1]:
            of_row = np.unique(values[:, 0], return_inverse=True)[1]
        return Distinct(self.sample, variables, of_row)

    def columns_of(self, variables: Sequence[str], donors: Distinct) -> ColumnValues | None:
        """Return the columns that variables determine, and values by donor of the sample.

        None if a column depends on the row's other variables too.
        """
        separate = self.inputs.separate_columns(variables)
        if separate is None:
            return self.inputs.by_donor(variables, donors.frame)
        columns, values = separate
        return columns, values[donors.first]

    def of(self, variables: Sequence[str]) -> ExactFeature:
        """Return what-if predictions with some variables replaced together."""
        return ExactFeature(self, variables)

    def blocks(self, columns: IntArray, values: FloatArray) -> Blocks:
        """Yield positions of rows, and their predictions with the values of every donor."""
        n, width = len(self.inputs.rows), max(self.predictor.width, 1)
        bound = min(self.block_bytes, int(self.memory_mb * 2**20)) // (8 * len(values) * width)
        step = min(max(1, bound), MOST_TABLE_ROWS)
        for start in range(0, n, step):
            stop_if_over()
            rows = np.arange(start, min(start + step, n))
            yield rows, self.table(self.inputs.rows[rows], columns, values)

    def pairs(self, rows: IntArray, columns: IntArray, values: FloatArray) -> FloatArray | None:
        """Predict rows each with other values, shape (b, k, columns).

        None for columns where the model predicts copies of rows in less time.
        """
        (b, k), n = values.shape[:2], len(columns)
        copies = np.repeat(self.inputs.rows[rows], k, axis=0)
        copies[:, columns] = values.reshape(b * k, n)
        slices = np.split(copies, np.arange(MOST_TABLE_ROWS, b * k, MOST_TABLE_ROWS))
        flat = np.concatenate([self.table(part, NO_COLUMNS, NO_VALUES)[:, 0] for part in slices])
        return flat.reshape(b, k, *flat.shape[1:])

    def most_draws(self, columns: IntArray, values: FloatArray) -> float:
        """Return how many draws, each for one row only, are worth predicting.

        More where inputs are design columns: earlier steps would have to encode every pair. What
        the columns are matters to some engines.
        """
        return PAIRS if self.inputs.before is None else PREDICTIONS

    def finish(self, predictions: FloatArray) -> FloatArray:
        """Return predictions with classes in the order of the predictor, after a check."""
        predictions = self.predictor.in_order(predictions)
        check_finite(predictions, self.predictor.name)
        return predictions


class ExactFeature(FeatureWhatIf):
    """What-if predictions of a feature by an exact engine, in batches where it can't serve.

    Parameters
    ----------
    whatif : ExactWhatIf
        The model and its rows.
    variables : sequence of str
        The variables that are replaced together.
    """

    _whatif: ExactWhatIf

    @cached_property
    def _of_donors(self) -> ColumnValues | None:
        """The columns that the feature determines, and values by donor; None if rows matter."""
        return self._whatif.columns_of(self.variables, self.donors)

    def _values(
        self, donors: pd.DataFrame | None, index: IntArray | slice = slice(None)
    ) -> ColumnValues | None:
        def make() -> ColumnValues | None:
            if donors is None:
                found = self._of_donors
            else:
                found = self._whatif.inputs.by_donor(self.variables, self._frame(donors))
            return found and (found[0], found[1][index])

        return self._whatif.once((self.variables, "values"), make, donors, index)

    def most_pairs(self, loss: Loss) -> float:
        """Return how many pairs of rows and distinct donors are worth an exact mean of a loss."""
        if self._of_donors is None:
            return super().most_pairs(loss)
        return self._whatif.most_pairs(loss, *self._of_donors)

    @property
    def most_draws(self) -> float:
        """How many draws, each for one row only, are worth predicting per model."""
        if self._of_donors is None:
            return PREDICTIONS
        return self._whatif.most_draws(*self._of_donors)

    def cross(self, donors: pd.DataFrame | None = None) -> Blocks:
        """Yield rows and their predictions with every donor's variables, exactly if they can be."""
        replaced = self._values(donors)
        if replaced is None:
            yield from super().cross(donors)
            return
        for rows, predictions in self._whatif.blocks(*replaced):
            yield rows, self._whatif.finish(predictions)

    def pairs(
        self, rows: IntArray, index: IntArray, donors: pd.DataFrame | None = None
    ) -> FloatArray:
        """Predict row ``rows[a]`` with the variables of donors ``index[a]``."""
        frame, inputs = self._frame(donors), self._whatif.inputs
        # Earlier steps take whole rows: some of every donor, or one of every pair.
        if inputs.before is None or PROBES * len(frame) < index.size:
            changed = self._values(donors, index)
        else:
            changed = inputs.by_pair(rows, self.variables, frame, index)
        predictions = None if changed is None else self._whatif.pairs(rows, *changed)
        if predictions is None:
            return super().pairs(rows, index, frame)
        return self._whatif.finish(predictions)

    def summed_losses(self, y: FloatArray, loss: Loss) -> TwoArrays:
        """Return losses summed over donors, and over rows."""
        if self._of_donors is not None:
            sums = self._whatif.summed_losses(y, loss, *self._of_donors, self.donors.counts)
            if sums is not None:
                return sums
        return super().summed_losses(y, loss)
