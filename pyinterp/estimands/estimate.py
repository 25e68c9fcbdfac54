"""One fitted model on its rows, and its estimates: values with contributions of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError
from pyinterp.models.predictor import Kind
from pyinterp.representation import about, frozen
from pyinterp.samplers import ConditionalDistribution, LearningRows, Sampler
from pyinterp.samplers.choice import check_draws
from pyinterp.samplers.sampler import Covariates
from pyinterp.whatif import WhatIf


@frozen
class ModelOnRows:
    """One fitted model on its evaluation rows.

    Attributes
    ----------
    whatif : WhatIf
        Its what-if predictions.
    train : Sample or None
        The rows it was trained on; None if they are not known.
    all_rows : Sample
        All rows, of which evaluation and training rows are part.
    draw : callable
        ``draw(name)`` returns the random stream for one term of this case.
    serve : callable
        ``serve(whatif, kind)`` returns what-if predictions of another kind than these: of its
        predictive distributions, its labels, or its answers to scorers.
    without : callable
        ``without(variables, kind)`` returns predictions for the evaluation rows. They come from
        the same learner, trained on the same rows without the variables. They are labels if these
        are the kind, and None if no column remains. Only for the features that the estimand's
        `leave_out` names.
    level_codes : callable
        ``level_codes()`` returns the numbers that are codes of categories.
    kinds : dict
        What-if predictions of other kinds, made once.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> case = learner.fit(pi.Holdout(0.7), seed=1).analysis.cases[0]
    >>> case
    <ModelOnRows: 133 rows>
    >>> len(case.y), case.whatif.factual.shape
    (133, (133,))
    """

    whatif: WhatIf
    train: Sample | None
    all_rows: Sample
    draw: Callable[[str], np.random.Generator]
    serve: Callable[[WhatIf, Kind], WhatIf]
    without: Callable[[tuple[str, ...], Kind], FloatArray | None]
    level_codes: Callable[[], frozenset[str]] = frozenset
    kinds: dict[Kind, WhatIf] = field(default_factory=dict, init=False)
    _distributions: dict[tuple[Sampler, tuple[str, ...], bool], ConditionalDistribution] = field(
        default_factory=dict, init=False
    )

    @property
    def evaluation(self) -> Sample:
        """The evaluation rows."""
        return self.whatif.sample

    def of_kind(self, kind: Kind) -> WhatIf:
        """Return the what-if predictions of a kind, made once.

        Examples
        --------
        >>> case.of_kind("mean").factual[:3].round(1).tolist()
        [102.5, 133.8, 110.0]
        """
        if kind == self.whatif.predictor.kind:
            return self.whatif
        if kind not in self.kinds:
            self.kinds[kind] = self.serve(self.whatif, kind)
        return self.kinds[kind]

    def on(self, sample: Sample) -> ModelOnRows:
        """Return the model with a copy of its rows in place of them; its predictions are kept.

        Examples
        --------
        >>> case.on(case.evaluation)
        <ModelOnRows: 133 rows>
        """
        same = replace(self, whatif=self.whatif.on(sample))
        same.kinds.update({kind: each.on(sample) for kind, each in self.kinds.items()})
        return same

    @property
    def weights(self) -> FloatArray | None:
        """The sampling weights of the evaluation rows; None if all weigh the same."""
        return self.evaluation.weights

    @property
    def y(self) -> FloatArray:
        """The responses of the evaluation rows."""
        if self.evaluation.y is None:
            raise OptionError("A loss needs the response: pass `y` to FittedModel.")
        return self.evaluation.y

    @cached_property
    def _covariates(self) -> Covariates:
        """What samplers learn from: evaluation and training rows, encoded once."""
        return Covariates(self.evaluation, self.train, self.all_rows, self.level_codes())

    def conditional(
        self, sampler: Sampler, variables: tuple[str, ...], *, with_response: bool = False
    ) -> ConditionalDistribution:
        """Return the distribution of some variables given all others, learned once.

        Given the response too, if `with_response`.

        Examples
        --------
        >>> case.conditional(pi.samplers.Residual(), ("bmi",)).size
        132
        """
        check_draws(sampler, self.weights)
        key = sampler, variables, with_response
        if key not in self._distributions:
            data = self.learning_rows(variables, with_response=with_response)
            self._distributions[key] = sampler.learn(data)
        return self._distributions[key]

    def learning_rows(
        self, variables: tuple[str, ...], *, with_response: bool = False
    ) -> LearningRows:
        """Return the rows from which distributions given all other variables are learned.

        Examples
        --------
        >>> case.learning_rows(("bmi",))
        <LearningRows: bmi, 133 rows>
        """
        response = " and the response" if with_response else ""
        rng = self.draw(f"law of {', '.join(variables)}{response}")
        seed = int(rng.integers(2**31 - 1))
        return LearningRows(variables, self._covariates, with_response, seed)

    def __repr__(self) -> str:
        return about(self, f"{self.evaluation.nobs} rows")


@frozen
class Estimate:
    """An estimand's q values for one fitted model; each is a mean over its n evaluation rows.

    Attributes
    ----------
    value : ndarray, shape (q,)
    rows : ndarray, shape (n, q)
        Every row's contribution; their mean is `value`.
    donors : ndarray of shape (n, q), or None
        Every row's contribution as a donor of feature values, as a deviation: their mean is 0.
        None if rows do not donate.
    mc_variance : ndarray, shape (q,)
        Monte Carlo variance of `value`; 0 if it is exact.
    below : ndarray of shape (n, q), or None
        Every row's contribution to the loss that divides the value; None if no loss does.
    tests : tuple of Estimate
        Of a value of which only a lower limit is known, per term: its root with contributions as
        they are if it is 0; then other estimates that are 0 under the null hypothesis.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> rows = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 60.0]])
    >>> estimate = pi.Estimate.of_rows(rows)
    >>> estimate.value.tolist()
    [2.0, 30.0]
    """

    value: FloatArray
    rows: FloatArray
    donors: FloatArray | None = None
    mc_variance: FloatArray
    below: FloatArray | None = None
    tests: tuple[Estimate, ...] = ()

    @classmethod
    def of_rows(cls, rows: FloatArray, weights: FloatArray | None = None) -> Estimate:
        """Return the exact estimate of means of rows' values, shape (n, q); rows do not donate.

        With weights, shape (n,) or (n, q), contributions are the value plus weighted deviations
        from it (the linearization of a ratio of two sums). So variances need no weights.

        Examples
        --------
        >>> weights = np.array([2.0, 1.0, 1.0])
        >>> pi.Estimate.of_rows(rows, weights).value.tolist()
        [1.75, 25.0]
        """
        none = np.zeros(rows.shape[1])
        if weights is None:
            return cls(value=rows.mean(axis=0), rows=rows, mc_variance=none)
        with np.errstate(invalid="ignore", divide="ignore"):  # missing where all weights are 0
            shares = (weights / weights.mean(axis=0)).reshape(len(rows), -1)
        value = (shares * rows).mean(axis=0)
        return cls(value=value, rows=value + shares * (rows - value), mc_variance=none)

    @classmethod
    def stack(cls, parts: Sequence[Estimate]) -> Estimate:
        """Return estimates of different terms on the same rows as one estimate of all terms.

        Examples
        --------
        >>> squares = pi.Estimate.of_rows(rows[:, :1] ** 2)
        >>> pi.Estimate.stack([estimate, squares]).value.round(2).tolist()
        [2.0, 30.0, 4.67]
        """
        donors = _donors_of(parts)
        below = [part.below for part in parts if part.below is not None]
        return cls(
            value=np.concatenate([part.value for part in parts]),
            rows=np.concatenate([part.rows for part in parts], axis=1),
            donors=None if donors is None else np.concatenate(donors, axis=1),
            mc_variance=np.concatenate([part.mc_variance for part in parts]),
            below=np.concatenate(below, axis=1) if len(below) == len(parts) else None,
            tests=tuple(test for part in parts for test in part.tests),
        )

    def linear(self, weights: FloatArray) -> Estimate:
        """Return the estimate of ``weights @ value``; weights have shape (new q, q).

        Examples
        --------
        >>> estimate.linear(np.array([[-1.0, 1.0]])).value.tolist()
        [28.0]
        """
        return self.through(weights @ self.value, weights)

    def through(self, value: FloatArray, jacobian: FloatArray) -> Estimate:
        """Return the estimate of a smooth function of `value`, contributions by the delta method.

        Parameters
        ----------
        value : ndarray of shape (new q,)
            The function at `value`.
        jacobian : ndarray of shape (new q, q)
            Its derivatives there; rows of 0 where it has none, which gives no variance.

        Examples
        --------
        >>> logarithms = estimate.through(np.log(estimate.value), np.diag(1 / estimate.value))
        >>> logarithms.value.round(3).tolist()
        [0.693, 3.401]
        """
        return Estimate(
            value=value,
            rows=value + (self.rows - self.value) @ jacobian.T,
            donors=None if self.donors is None else self.donors @ jacobian.T,
            mc_variance=np.square(jacobian) @ self.mc_variance,
        )

    def minus(self, other: Estimate) -> Estimate:
        """Return the difference of two estimates on the same rows.

        If both are inexact their Monte Carlo errors may be correlated, and the variance of the
        difference is missing.

        Examples
        --------
        >>> other = pi.Estimate.of_rows(rows[::-1] / 2)
        >>> estimate.minus(other).value.tolist()
        [1.0, 15.0]
        """
        donors = _donors_of((self, other))
        return Estimate(
            value=self.value - other.value,
            rows=self.rows - other.rows,
            donors=None if donors is None else donors[0] - donors[1],
            mc_variance=np.where(
                (self.mc_variance > 0) & (other.mc_variance > 0),
                np.nan,
                self.mc_variance + other.mc_variance,
            ),
            below=other.below if self.below is None else self.below,
        )

    def over(self, other: Estimate) -> Estimate:
        """Return the ratio of two estimates on the same rows, contributions by the delta method.

        Examples
        --------
        >>> other = pi.Estimate.of_rows(rows[::-1] / 2)
        >>> estimate.over(other).value.tolist()
        [2.0, 2.0]
        """
        below = np.where(other.value == 0, np.nan, other.value)  # a ratio to 0 is missing
        ratio = self.value / below
        donors = _donors_of((self, other))
        return Estimate(
            value=ratio,
            rows=ratio + (self.rows - ratio * other.rows) / below,
            donors=None if donors is None else (donors[0] - ratio * donors[1]) / below,
            mc_variance=(self.mc_variance + ratio**2 * other.mc_variance) / below**2,
        )

    def __repr__(self) -> str:
        return about(self, f"{len(self.value)} values", f"{len(self.rows)} rows")


def _donors_of(parts: Sequence[Estimate]) -> list[FloatArray] | None:
    """Return the donors' contributions to each estimate; None if no rows donate to any."""
    if all(part.donors is None for part in parts):
        return None
    return [np.zeros_like(p.rows) if p.donors is None else p.donors for p in parts]


Measurement = Mapping[Any, Estimate]  # by the name of the component
