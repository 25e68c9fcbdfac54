"""Draws from similar rows: those in the same leaf of a tree of the feature on the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_count
from pyinterp.errors import OptionError
from pyinterp.representation import call_form
from pyinterp.samplers.encoding import blocks, encode
from pyinterp.samplers.marginal import balanced_permutations
from pyinterp.samplers.sampler import ConditionalDistribution, Draws, LearningRows, Sampler, Target

LEAST = 5  # evaluation rows that exchange values


@dataclass(frozen=True)
class Subgroup(Sampler):
    """Exchange values between the rows of a subgroup: a leaf of a tree of the feature on the rest.

    Molnar et al. (2020), after Strobl et al. (2008). Serves numbers, categories and groups of both,
    and draws only values that occur. Within a leaf the other variables still differ, so some of
    their dependence remains: less with smaller leaves. Leaves with fewer than 5 evaluation rows are
    joined with their neighbors in the tree. It needs 2 evaluation rows; 10 for a fitted model whose
    training rows are not known, as each of 5 folds has a tree and exchanges values within itself.

    Parameters
    ----------
    leaf : int
        Least number of training rows in a leaf.
    depth : int, optional
        Greatest depth of the tree.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
    >>> res = learner.fit(pi.Holdout(0.7), seed=1)
    >>> sampler = pi.samplers.Subgroup()
    >>> res.pfi("bmi", sampler=sampler).params.round().to_dict()
    {'bmi': 2437.0}
    """

    leaf: int = 30
    depth: int | None = None
    label = "values exchanged within the leaves of a tree"
    takes_weights = True

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("leaf", self.leaf, least=2)
        if self.depth is not None:
            check_count("depth", self.depth)

    def check(self, target: Target, sample: pd.DataFrame) -> None:
        """Accept every feature.

        Examples
        --------
        >>> from pyinterp.samplers.sampler import Target
        >>> sampler.check(Target("bmi", ("bmi",), discrete=False), data[["bmi", "bp"]])
        """

    def learn(self, data: LearningRows) -> ConditionalDistribution:
        """Grow the tree on standardized numbers and indicators of levels.

        Examples
        --------
        >>> case = res.analysis.cases[0]
        >>> case.conditional(sampler, ("bmi",)).size
        30
        """
        return _SubgroupDistribution(data, self)


class _SubgroupDistribution(ConditionalDistribution):
    def __init__(self, data: LearningRows, sampler: Subgroup) -> None:
        codes = data.covariates.codes
        scale = encode(data.sample, data.sample, codes).std(axis=0)
        scale[scale == 0] = 1.0
        numbers = encode(data.target, data.sample, codes)
        trees = count()

        def fit(others: FloatArray, target: pd.DataFrame, weights: FloatArray | None) -> Any:
            low, width = others.min(axis=0), np.ptp(others, axis=0)
            unit = np.where(width > 0, width, 1.0)  # trees split single precision
            tree = DecisionTreeRegressor(
                min_samples_leaf=sampler.leaf, max_depth=sampler.depth, random_state=data.seed
            ).fit(
                _not_empty((others - low) / unit),
                encode(target, data.sample, codes) / scale,
                weights,
            )
            number = next(trees)

            def leaves(rows: FloatArray) -> FloatArray:
                rest = _not_empty((rows - low) / unit)
                means = tree.predict(rest).reshape(len(rows), -1)
                group = _groups(tree, tree.apply(rest))
                return np.column_stack([np.full(len(rows), number), group, means])

            return leaves

        columns = data.out_of_sample(fit)
        # Leaves of different trees, if rows were cross-validated, are different subgroups.
        subgroup = np.unique(columns[:, :2], axis=0, return_inverse=True)[1].ravel()
        self.strata = subgroup.astype(np.intp)
        self._target = data.target.reset_index(drop=True)
        self._members = [np.flatnonzero(subgroup == g) for g in range(subgroup.max() + 1)]
        if min(map(len, self._members)) < 2:
            raise OptionError(
                "Values are exchanged between rows, at least 2 of them per subgroup, but there are "
                f'{len(numbers)} evaluation rows in all; use `sampler="residual"`, or more rows.'
            )
        self.size = max(len(m) for m in self._members) - 1
        if data.target.shape[1] == 1:
            means = columns[:, 2:] * scale
            self.squared_residuals = ((numbers - means) ** 2).sum(axis=1)
            mean = np.average(numbers, axis=0, weights=data.weights)
            self.squared_deviations = ((numbers - mean) ** 2).sum(axis=1)
            if numbers.shape[1] == 1:
                self.prediction = means[:, 0]

    def all(self) -> Iterator[Draws]:
        """Yield all other rows of the leaf for every row."""
        for members in self._members:
            m = len(members)
            cycle = np.arange(m)
            for rows in blocks(m, m):
                shifts = (rows[:, None] + np.arange(1, m)) % m
                yield self._draws(members, cycle[rows], shifts)

    def some(self, k: int, rng: np.random.Generator) -> Iterator[Draws]:
        """Yield k balanced permutations within every leaf, all of them where there are no more."""
        for members in self._members:
            m = len(members)
            yield self._draws(members, np.arange(m), balanced_permutations(m, min(k, m - 1), rng))

    def _draws(self, members: IntArray, rows: IntArray, index: IntArray) -> Draws:
        """Return draws for some members of a group: the values of other members, (rows, draws)."""
        values = self._target.take(members).reset_index(drop=True)
        return Draws(members[rows], values, index, donors=members[index])


def _not_empty(others: FloatArray) -> FloatArray:
    """Return the other variables; a constant if there are none."""
    return others if others.shape[1] else np.zeros((len(others), 1))


def _groups(tree: DecisionTreeRegressor, leaf: IntArray) -> IntArray:
    """Return the group of every row: its leaf, joined with others below `LEAST` rows.

    Parameters
    ----------
    tree : DecisionTreeRegressor
    leaf : ndarray of int, shape (n,)
        The leaf of every row.
    """
    left, right = tree.tree_.children_left, tree.tree_.children_right
    group = leaf.astype(np.intp)
    end = np.arange(len(left)) + 1  # of the nodes below a node, which follow it
    smallest = np.bincount(leaf, minlength=len(left))  # of the groups below a node
    for node in range(len(left) - 1, -1, -1):  # children come after their parents
        if left[node] >= 0:
            end[node] = end[right[node]]
            smallest[node] = min(smallest[left[node]], smallest[right[node]])
            if smallest[node] < LEAST:
                inside = (leaf >= node) & (leaf < end[node])
                group[inside] = node
                smallest[node] = inside.sum()
    return group
