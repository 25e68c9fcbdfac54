"""The types of samplers, which learn the distribution of a feature given the other variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, KFold

from pyinterp._typing import FloatArray, IntArray, TwoArrays
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, list_of
from pyinterp.representation import about
from pyinterp.samplers.encoding import by_column
from pyinterp.samplers.learners import regressions

LearnFunction = Callable[[FloatArray, pd.DataFrame, Any], Callable[..., FloatArray]]

FOLDS, TRIAL_FOLDS = 5, 3
# Which learner is chosen, by data, feature and learners: known to the process, not to files.
_CHOICES: dict[Any, list[int]] = {}


class Target(NamedTuple):
    """The feature to draw.

    Attributes
    ----------
    name : str
    variables : tuple of str
        Several if it is a group.
    discrete : bool
        Whether the learner's formula treats one of them as a category, so that only observed
        values can be predicted.
    """

    name: str
    variables: tuple[str, ...]
    discrete: bool


class Draws(NamedTuple):
    """New values of a feature for some rows.

    Attributes
    ----------
    rows : ndarray of int, shape (b,)
        Positions in the evaluation rows.
    frame : pandas.DataFrame
        The values; one may be drawn for many rows.
    positions : ndarray of int, shape (b, k)
        Positions in `frame` of the draws of every row.
    weights : ndarray of shape (b, k), or None
        Probabilities of the draws; None if all are 1/k.
    donors : ndarray of int, shape (b, k), or None
        The evaluation row whose value or residual every draw takes; None if draws come from no
        row. These rows add to the variance of means over rows.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from pyinterp.samplers import Draws
    >>> positions = np.array([[0, 1], [1, 2]])
    >>> frame = pd.DataFrame({"bmi": [20.0, 25.0, 30.0]})
    >>> draws = Draws(np.arange(2), frame, positions, donors=positions)
    >>> draws
    <Draws: 2 for each of 2 rows>
    """

    rows: IntArray
    frame: pd.DataFrame
    positions: IntArray
    weights: FloatArray | None = None
    donors: IntArray | None = None

    def mean(self, values: FloatArray) -> FloatArray:
        """Return every row's mean of values, shape (b, k), over its draws.

        Examples
        --------
        >>> draws.mean(np.array([[1.0, 3.0], [5.0, 7.0]])).tolist()
        [2.0, 6.0]
        """
        if self.weights is None:
            return np.asarray(values.mean(axis=1))
        return np.asarray((self.weights * values).sum(axis=1))

    def by_donor(self, values: FloatArray, n: int) -> FloatArray:
        """Add up values, shape (b, k), times their weights by the row that each draw comes from.

        Examples
        --------
        >>> draws.by_donor(np.array([[1.0, 3.0], [5.0, 7.0]]), n=3).tolist()
        [0.5, 4.0, 3.5]
        """
        if self.donors is None:
            return np.zeros(n)
        k = values.shape[1]
        values = values if self.weights is None else k * self.weights * values
        added = np.bincount(self.donors.ravel(), weights=values.ravel(), minlength=n)
        return np.asarray(added / k)

    def by_weight(self, weights: FloatArray | None) -> Draws:
        """Return draws of all donors by the sampling weights of these, if rows have some.

        Examples
        --------
        >>> draws.by_weight(np.array([1.0, 1.0, 3.0])).weights.tolist()
        [[0.5, 0.5], [0.25, 0.75]]
        """
        if weights is None or self.donors is None:
            return self
        shares = weights[self.donors]
        return self._replace(weights=shares / shares.sum(axis=1, keepdims=True))

    def __repr__(self) -> str:
        return about(self, f"{self.positions.shape[1]} for each of {len(self.rows)} rows")


@dataclass(eq=False, repr=False)
class Covariates:
    """The variables of one fitted model's rows as numbers, encoded once for all features.

    Parameters
    ----------
    evaluation : Sample
    train : Sample or None
        Training rows, repeats included; None if they are not known.
    sample : Sample
        All rows, for the levels of categories and the choice of learners.
    codes : frozenset of str
        Numbers that are codes of categories.
    """

    evaluation: Sample
    train: Sample | None
    sample: Sample
    codes: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.train is not None:  # copies of a row, as in a bootstrap, would make it too sure
            self.train = self.train.take(np.unique(self.train.rows, return_index=True)[1])
        self._numbers = dict[int, FloatArray]()
        self._coefficients = dict[bool, TwoArrays | None]()
        for rows in filter(None, (self.evaluation, self.train)):
            parts = by_column(rows.variables, self.sample.variables, self.codes)
            ends = np.cumsum([0, *(part.shape[1] for part in parts.values())])
            self._places = dict(zip(parts, map(slice, ends[:-1], ends[1:]), strict=True))
            self._numbers[id(rows)] = np.concatenate([*parts.values()], axis=1)

    def others(self, rows: Sample, names: Sequence[str], with_response: bool) -> FloatArray:
        """Return all variables but some, and the response if so asked, shape (n, p)."""
        numbers = self._numbers[id(rows)]
        if names:
            numbers = np.delete(numbers, np.r_[tuple(self._places[name] for name in names)], axis=1)
        return np.column_stack([numbers, _response(rows)]) if with_response else numbers

    def numbers(self, names: Sequence[str]) -> FloatArray:
        """Return numeric variables of the evaluation rows, shape (n, number of names)."""
        places = [self._places[name].start for name in names]
        return np.asarray(self._numbers[id(self.evaluation)][:, places])

    def linear(self, names: Sequence[str], with_response: bool) -> FloatArray | None:
        """Return predictions of a number by ridge regression on all others, shape (n, 1).

        The regressions of all numbers are made at once. None where they can't be: of groups,
        of missing values, of more columns than training rows, or if those are not known.
        """
        if self.train is None or len(names) > 1:
            return None
        if with_response not in self._coefficients:
            rows = self.others(self.train, (), with_response)
            self._coefficients[with_response] = regressions(rows, self.train.weights)
        if (found := self._coefficients[with_response]) is None:
            return None
        place, (center, coefficients) = self._places[names[0]], found
        rows = np.nan_to_num(self.others(self.evaluation, (), with_response) - center)
        return np.asarray(center[place] + rows @ coefficients[:, place])


@dataclass(frozen=True)
class LearningRows:
    """Rows from which the conditional distribution of a feature is learned.

    Attributes
    ----------
    variables : tuple of str
        The feature's variables.
    covariates : Covariates
        All variables of the rows as numbers.
    with_response : bool
        Whether the response is one of the other variables.
    seed : int
        Of the folds; 0 by default, as a distribution has to be the same when learned again.
    folds : int
        Of the cross-validation if training rows are not known.
    of_response : bool
        Whether what is learned is the response, not the feature.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> case = learner.fit(pi.Holdout(0.7), seed=1).analysis.cases[0]
    >>> from pyinterp.samplers import LearningRows
    >>> from pyinterp.samplers.sampler import Covariates
    >>> covariates = Covariates(case.evaluation, case.train, case.all_rows)
    >>> rows = LearningRows(("bmi",), covariates)
    >>> rows
    <LearningRows: bmi, 133 rows>
    >>> rows.others.shape, LearningRows(("bmi",), covariates, with_response=True).others.shape
    ((133, 1), (133, 2))
    """

    variables: tuple[str, ...]
    covariates: Covariates
    with_response: bool = False
    seed: int = 0
    folds: int = FOLDS
    of_response: bool = False

    @cached_property
    def target(self) -> pd.DataFrame:
        """The feature's variables in the evaluation rows, or the response."""
        return self._target(self.covariates.evaluation)

    def _target(self, sample: Sample) -> pd.DataFrame:
        """Return the target of learning, as a frame: variables of a sample, or its response."""
        if self.of_response:
            return pd.DataFrame(_response(sample))
        return sample.variables[list(self.variables)]

    @property
    def numbers(self) -> FloatArray:
        """The same as numbers, shape (n, width)."""
        if self.of_response:
            return _response(self.covariates.evaluation)
        return self.covariates.numbers(self.variables)

    @property
    def linear(self) -> FloatArray | None:
        """Predictions of the variables by ridge regression, if all variables have them."""
        if self.of_response:
            return None
        return self.covariates.linear(self.variables, self.with_response)

    @cached_property
    def others(self) -> FloatArray:
        """All other variables there as numbers, shape (n, p)."""
        rows = self.covariates
        return rows.others(rows.evaluation, self.variables, self.with_response)

    @property
    def weights(self) -> FloatArray | None:
        """Sampling weights there; None if all rows weigh the same."""
        return self.covariates.evaluation.weights

    @cached_property
    def training(self) -> tuple[pd.DataFrame, FloatArray, FloatArray | None] | None:
        """Targets, others and weights of distinct training rows; None if these are not known."""
        rows, train = self.covariates, self.covariates.train
        if train is None:
            return None
        others = rows.others(train, self.variables, self.with_response)
        return self._target(train), others, train.weights

    @cached_property
    def sample(self) -> pd.DataFrame:
        """The feature's variables in all rows, for their levels only."""
        return self.covariates.sample.variables[list(self.variables)]

    def choose(
        self,
        learners: tuple[Any, ...],
        learn: Callable[[LearningRows, Any], Any],
        within: float = 1.0,
    ) -> Any:
        """Return the first learner that predicts all rows within a standard error of the best.

        In one cross-validation of all rows, so that all refits train the same learner. Only the
        target and the others take part in it.

        Parameters
        ----------
        learners : tuple
            The simplest one first.
        learn : callable
            ``learn(rows, learner)`` returns a distribution with `errors`, out of sample.
        within : float
            Standard errors; with 0 it is the best.

        Examples
        --------
        >>> from dataclasses import make_dataclass
        >>> Law = make_dataclass("Law", ["errors"])
        >>> rows.choose((0, 1), lambda every, learner: Law(np.full(442, 2.0 - learner)))
        1
        """
        sample, codes = self.covariates.sample, self.covariates.codes
        of = self.variables, self.with_response, self.of_response
        if not (choices := _CHOICES.setdefault((sample.digest, *of, codes, learners), [])):
            whole = Covariates(sample, None, sample, codes)
            every = replace(self, covariates=whole, seed=0, folds=TRIAL_FOLDS)
            errors = np.column_stack([learn(every, learner).errors for learner in learners])
            choices.append(simplest(errors, sample.weights, within))
        return learners[choices[0]]

    def out_of_sample(self, fit: LearnFunction) -> FloatArray:
        """Predict every evaluation row by a fit to other rows, shape (n, ...).

        ``fit(others, target, weights)`` returns a function of `others`. It is fitted to the
        training rows; if they are not known, to the evaluation rows of the other folds.

        Examples
        --------
        >>> def fit(others, target, weights):
        ...     return LinearRegression().fit(others, target, weights).predict
        >>> rows.out_of_sample(fit)[:2].round(1).tolist()
        [[25.7], [27.3]]
        """
        if self.training is not None:
            target, others, weights = self.training
            return fit(others, target, weights)(self.others)
        clusters = self.covariates.evaluation.clusters
        units = np.arange(len(self.target)) if clusters is None else clusters
        folds = min(self.folds, len(np.unique(units)))
        if folds < 2:
            raise OptionError(
                "A conditional sampler learns from other rows or clusters; there is only one."
            )
        plan = KFold(folds, shuffle=True, random_state=self.seed)
        if clusters is not None:  # whole ones
            plan = GroupKFold(folds)
        rests, parts = [], []
        for learn, rest in plan.split(self.others, groups=clusters):
            weights = None if self.weights is None else self.weights[learn]
            predict = fit(self.others[learn], self.target.iloc[learn], weights)
            parts.append(predict(self.others[rest]))
            rests.append(rest)
        return np.asarray(np.concatenate(parts)[np.argsort(np.concatenate(rests))])

    def __repr__(self) -> str:
        return about(self, list_of(self.variables), f"{len(self.others)} rows")


def simplest(losses: FloatArray, weights: FloatArray | None, within: float = 1.0) -> int:
    """Return the first column of losses whose mean is within a standard error of the least."""
    shares = np.ones(len(losses)) if weights is None else weights
    away = losses - losses[:, [(shares @ losses).argmin()]]
    away = away * shares[:, None]
    near = away.mean(axis=0) <= within * away.std(axis=0) / np.sqrt(len(away))
    return int(near.argmax())


def _response(rows: Sample) -> FloatArray:
    """Return the response, of classes an indicator of each, shape (n, 1) or (n, classes)."""
    if rows.y is None or rows.response is None:
        raise OptionError("The response is needed: pass `y` to FittedModel.")
    if rows.response.classes is None:
        return rows.y[:, None]
    return np.asarray(rows.y[:, None] == np.arange(len(rows.response.classes)), np.float64)


class ConditionalDistribution(ABC):
    """The distribution of a feature given the other variables, for n evaluation rows.

    Attributes
    ----------
    size : float
        Number of different draws per row; infinite for a continuous distribution.
    strata : ndarray of int, shape (n,), or None
        Rows with equal numbers exchange values with each other only.
    squared_residuals : ndarray of shape (n,), or None
        Squared errors of the feature's prediction from the other variables, out of sample.
    squared_deviations : ndarray of shape (n,), or None
        Squared deviations of the feature from its mean over the evaluation rows. Both are sums over
        indicators if the feature is a category, and None for groups.
    prediction : ndarray of shape (n,) or (n, levels), or None
        The feature's prediction: a number, the probabilities of `levels`, or numbers of a group.
        None where none is learned.
    levels : tuple
        Of a category.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> case = learner.fit(pi.Holdout(0.7), seed=1).analysis.cases[0]
    >>> distribution = case.conditional(pi.samplers.Subgroup(), ("bmi",))
    >>> len(np.unique(distribution.strata))
    8
    """

    size: float
    strata: IntArray | None = None
    squared_residuals: FloatArray | None = None
    squared_deviations: FloatArray | None = None
    prediction: FloatArray | None = None
    levels: tuple[Any, ...] = ()

    def deviations(self, values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Return deviations from the mean of the rows that exchange values, shape (n,).

        Contributions of donors with sampling weights grow with these, and so does their mean.

        Examples
        --------
        >>> bool(abs(distribution.deviations(case.y).mean()) < 1e-9)
        True
        """
        n = len(values)
        strata = np.zeros(n, np.intp) if self.strata is None else self.strata
        weights = np.ones(n) if weights is None else weights
        means = np.bincount(strata, weights=values) / np.bincount(strata, weights=weights)
        return np.asarray(values - weights * means[strata])

    @abstractmethod
    def all(self) -> Iterator[Draws]:
        """Yield all draws, in blocks of rows.

        Examples
        --------
        >>> next(distribution.all()).frame.shape
        (15, 1)
        """

    @abstractmethod
    def some(self, k: int, rng: np.random.Generator) -> Iterator[Draws]:
        """Yield k draws per row, in blocks of rows.

        Examples
        --------
        >>> next(distribution.some(2, np.random.default_rng(1))).positions.shape
        (15, 2)
        """

    __repr__ = about


class Sampler(ABC):
    """How the values that replace a feature are drawn, given the other variables.

    Attributes
    ----------
    label : str
        How values are drawn, in the words of tables.
    independent_draws : bool
        Whether draws are independent of the feature's value given the other variables. CVIM and
        AMVIM need this.
    takes_weights : bool
        Whether it learns from rows, and draws donors, by their sampling weights.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import pyinterp as pi
    >>> from pyinterp.samplers import ConditionalDistribution, Draws, Sampler
    >>> from sklearn.linear_model import LinearRegression
    >>> class Uniform(ConditionalDistribution):
    ...     size = np.inf
    ...     def __init__(self, target):
    ...         self.target = target
    ...     def all(self):
    ...         raise ValueError("uniform draws have no end")
    ...     def some(self, k, rng):
    ...         n, variables = len(self.target), self.target.columns
    ...         frame = pd.DataFrame(rng.uniform(18, 42, (n * k, 1)), columns=variables)
    ...         yield Draws(np.arange(n), frame, np.arange(n * k).reshape(n, k))
    >>> class Uniformly(Sampler):
    ...     label = "uniform values"
    ...     def check(self, target, sample):
    ...         pass
    ...     def learn(self, data):
    ...         return Uniform(data.target)
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1)
    >>> res.pfi("bmi", sampler=Uniformly(), permutations=5).params.round().to_dict()
    {'bmi': 6940.0}
    """

    label: str
    independent_draws: bool = True
    takes_weights: bool = False

    @abstractmethod
    def check(self, target: Target, sample: pd.DataFrame) -> None:
        """Raise ``OptionError`` if the feature can't be drawn in this way.

        Examples
        --------
        >>> from pyinterp.samplers.sampler import Target
        >>> Uniformly().check(Target("bmi", ("bmi",), discrete=False), data[["bmi"]])
        """

    @abstractmethod
    def learn(self, data: LearningRows) -> ConditionalDistribution:
        """Learn the distribution of the feature given the others, for the rows of ``data.target``.

        `LearningRows.out_of_sample` predicts every row by a model that was learned without it.

        Examples
        --------
        >>> res.analysis.cases[0].conditional(Uniformly(), ("bmi",)).size
        inf
        """
