"""The types of estimands: terms, a measurement per refit, and the estimate computed from it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import FINITE, check_number, check_range, check_text, is_hashable
from pyinterp.data.design import Design
from pyinterp.data.features import Features, check_names, names_of
from pyinterp.data.sample import Response, Sample
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.losses.metrics import Metric
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.models.predictive import predictive
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.ranges import REAL, Range
from pyinterp.representation import about
from pyinterp.samplers import ConditionalDistribution, LearningRows, Sampler
from pyinterp.whatif import WhatIf

__all__ = [
    "Correction",
    "Estimand",
    "Estimate",
    "Measurement",
    "ModelOnRows",
    "Problem",
    "Terms",
    "check_estimate",
    "check_in_range",
    "check_weights",
    "full_quantity",
    "no_remarks",
    "remarks_of",
]

# Of the largest number: predictions of single precision are beyond the range of probabilities.
OUT_OF_RANGE = 1e-5


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The data, features and kind of model for which an estimand is defined, before refitting.

    Attributes
    ----------
    population : Sample
        All rows.
    features : mapping of str to tuple of str
        The variables of every feature; a group has several.
    predictor : Predictor
        A fitted model, for the kind of its predictions.
    design : Design
        How its variables are encoded.
    discrete : frozenset of str
        Variables of which only observed values can be predicted.
    """

    population: Sample
    features: Features
    discrete: frozenset[str] = frozenset()
    predictor: Predictor
    design: Design

    @cached_property
    def predictive(self) -> Predictor:
        """The model's predictor of distributions; `PredictionError` if it states none."""
        return predictive(self.predictor, self.design.encode(self.population.variables[:1]))

    @property
    def response(self) -> Response:
        """The response, which estimands with a loss need."""
        if self.population.response is None or self.population.y is None:
            raise OptionError("A loss needs the response: pass `y` to FittedModel.")
        return self.population.response

    @property
    def squared_loss(self) -> Loss:
        """The squared error; of classes, that of their indicators."""
        return LOSSES["squared" if self.predictor.classes is None else "brier"]

    def choose(self, features: str | Sequence[str] | None) -> Features:
        """Return the named features, or all."""
        if features is None:
            return dict(self.features)
        names = names_of(features)
        check_names(names, self.features)
        return {name: self.features[name] for name in dict.fromkeys(names)}

    def __repr__(self) -> str:
        return about(self, f"{len(self.features)} features, {self.population.nobs} rows")


@dataclass(frozen=True, kw_only=True)
class ModelOnRows:
    """One fitted model on its evaluation rows.

    Attributes
    ----------
    whatif : WhatIf
        Its what-if predictions.
    train : Sample or None
        The rows it was trained on; None if they are not known.
    population : Sample
        All rows, of which evaluation and training rows are part.
    draw : callable
        ``draw(name)`` returns the random stream for one term of this case.
    serve : callable
        ``serve(kind)`` returns the what-if predictions of another kind: its predictive
        distributions, its own labels, or its answers to scorers.
    without : callable
        ``without(variables, kind)`` returns what the same learner, trained on the same rows without
        the variables, predicts for the evaluation rows, labels if they are the kind; None if no
        column is left without them. Only for what the estimand's `leave_out` names.
    """

    whatif: WhatIf
    train: Sample | None
    population: Sample
    draw: Callable[[str], np.random.Generator]
    serve: Callable[[Kind], WhatIf]
    without: Callable[[tuple[str, ...], Kind], FloatArray | None]
    _by_kind: dict[Kind, WhatIf] = field(default_factory=dict)
    _distributions: dict[tuple[Sampler, tuple[str, ...], bool], ConditionalDistribution] = field(
        default_factory=dict
    )

    @property
    def sample(self) -> Sample:
        """The evaluation rows."""
        return self.whatif.sample

    def of_kind(self, kind: Kind) -> WhatIf:
        """Return the what-if predictions of a kind, made once."""
        if kind == self.whatif.predictor.kind:
            return self.whatif
        if kind not in self._by_kind:
            self._by_kind[kind] = self.serve(kind)
        return self._by_kind[kind]

    def serving(self, score: Loss | Metric) -> WhatIf:
        """Return the what-if predictions that a loss or metric needs."""
        return self.of_kind(score.needs)

    @property
    def weights(self) -> FloatArray | None:
        """The sampling weights of the evaluation rows; None if all weigh the same."""
        return self.sample.weights

    @property
    def y(self) -> FloatArray:
        """The responses of the evaluation rows."""
        if self.sample.y is None:
            raise OptionError("A loss needs the response: pass `y` to FittedModel.")
        return self.sample.y

    def conditional(
        self, sampler: Sampler, variables: tuple[str, ...], *, with_response: bool = False
    ) -> ConditionalDistribution:
        """Return the distribution of some variables given all others, learned once.

        Given the response too, if `with_response`.
        """
        if self.weights is not None:
            raise OptionError(
                "Samplers take no sampling weights, because they learn from rows that weigh the "
                "same; leave `weights` out."
            )
        key = sampler, variables, with_response
        if key not in self._distributions:
            beside = " and the response" if with_response else ""
            rng = self.draw(f"law of {', '.join(variables)}{beside}")
            data = LearningRows.of(
                variables,
                self.sample,
                self.train,
                self.population,
                rng,
                with_response=with_response,
            )
            self._distributions[key] = sampler.learn(data)
        return self._distributions[key]

    def __repr__(self) -> str:
        return about(self, f"{self.sample.nobs} rows")


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Names of the q values of an estimand, and their grid points and classes.

    Attributes
    ----------
    names : tuple of str
        Unique names; the index of ``params``.
    layout : pandas.DataFrame, q rows
        Grid values and class of each value; no columns if there is one value per feature.
    axes : tuple of str
        The grid columns of `layout`: none for one value per feature, one for a curve, two for a
        surface.
    axis_names : tuple of str
        The variable on each axis.
    facet : str or None
        The column of `layout` that separates curves or panels (the class, the group).
    groups : tuple of str
        The groups of rows that the terms repeat for, one group after the other; () without groups.
    """

    names: tuple[str, ...]
    layout: pd.DataFrame
    axes: tuple[str, ...] = ()
    axis_names: tuple[str, ...] = ()
    facet: str | None = None
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            repeated = next(name for name in self.names if self.names.count(name) > 1)
            raise OptionError(f"Names of terms must be different, but {repeated!r} is repeated.")

    @property
    def stubs(self) -> tuple[str, ...]:
        """Names without the group."""
        if not self.groups:
            return self.names
        first = self.names[: len(self.names) // len(self.groups)]
        return tuple(name.removesuffix(f" | {self.groups[0]}") for name in first) * len(self.groups)

    @classmethod
    def plain(cls, names: Sequence[str]) -> Terms:
        """Return terms without grid or class: one value per name."""
        index = pd.RangeIndex(len(names))
        return cls(names=tuple(names), layout=pd.DataFrame(index=index))

    def __repr__(self) -> str:
        return about(self, list_of(self.names))


@dataclass(frozen=True, kw_only=True)
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
    """

    value: FloatArray
    rows: FloatArray
    donors: FloatArray | None = None
    mc_variance: FloatArray
    below: FloatArray | None = None

    @classmethod
    def of_rows(cls, rows: FloatArray, weights: FloatArray | None = None) -> Estimate:
        """Return the exact estimate of means of rows' values, shape (n, q); rows do not donate.

        With weights, shape (n,), contributions are the value plus weighted deviations from it (the
        linearization of a ratio of two sums), so that variances need no weights.
        """
        none = np.zeros(rows.shape[1])
        if weights is None:
            return cls(value=rows.mean(axis=0), rows=rows, mc_variance=none)
        shares = weights / weights.mean()
        value = np.average(rows, axis=0, weights=weights)
        return cls(value=value, rows=value + shares[:, None] * (rows - value), mc_variance=none)

    @classmethod
    def stack(cls, parts: Sequence[Estimate]) -> Estimate:
        """Return estimates of different terms on the same rows as one estimate of all terms."""
        return cls(
            value=np.concatenate([p.value for p in parts]),
            rows=np.concatenate([p.rows for p in parts], axis=1),
            donors=_as_donors(lambda *arrays: np.concatenate(arrays, axis=1), parts),
            mc_variance=np.concatenate([p.mc_variance for p in parts]),
            below=_together([p.below for p in parts]),
        )

    def linear(self, weights: FloatArray) -> Estimate:
        """Return the estimate of ``weights @ value``; weights have shape (new q, q)."""
        return Estimate(
            value=weights @ self.value,
            rows=self.rows @ weights.T,
            donors=None if self.donors is None else self.donors @ weights.T,
            mc_variance=np.square(weights) @ self.mc_variance,
        )

    def through(self, value: FloatArray, jacobian: FloatArray) -> Estimate:
        """Return the estimate of a smooth function of `value`, contributions by the delta method.

        Parameters
        ----------
        value : ndarray of shape (new q,)
            The function at `value`.
        jacobian : ndarray of shape (new q, q)
            Its derivatives there; rows of 0 where it has none, which gives no variance.
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
        """
        return Estimate(
            value=self.value - other.value,
            rows=self.rows - other.rows,
            donors=_as_donors(np.subtract, (self, other)),
            mc_variance=np.where(
                (self.mc_variance > 0) & (other.mc_variance > 0),
                np.nan,
                self.mc_variance + other.mc_variance,
            ),
            below=other.below if self.below is None else self.below,
        )

    def over(self, other: Estimate) -> Estimate:
        """Return the ratio of two estimates on the same rows, contributions by the delta method."""
        below = np.where(other.value == 0, np.nan, other.value)  # a ratio to 0 is missing
        ratio = self.value / below
        return Estimate(
            value=ratio,
            rows=ratio + (self.rows - ratio * other.rows) / below,
            donors=_as_donors(lambda top, base: (top - ratio * base) / below, (self, other)),
            mc_variance=(self.mc_variance + ratio**2 * other.mc_variance) / below**2,
        )

    def __repr__(self) -> str:
        return about(self, f"{len(self.value)} values", f"{len(self.rows)} rows")


def _together(below: Sequence[FloatArray | None]) -> FloatArray | None:
    """Return what ratios are divided by, side by side; None unless all are ratios."""
    every = [one for one in below if one is not None]
    return np.concatenate(every, axis=1) if len(every) == len(below) else None


def _as_donors(function: Callable[..., FloatArray], parts: Sequence[Estimate]) -> FloatArray | None:
    """Apply `function` to the donors' contributions of estimates; None if no rows donate."""
    if all(part.donors is None for part in parts):
        return None
    return function(*(np.zeros_like(p.rows) if p.donors is None else p.donors for p in parts))


Measurement: TypeAlias = Mapping[Any, Estimate]  # by the name of the component


@dataclass(frozen=True, kw_only=True)
class Correction:
    """How the bias of a function of means over rows is taken out of its estimates.

    Attributes
    ----------
    heading : str
        Heading of the column of corrected values.
    underlying : callable
        ``underlying(measurement)`` returns the estimate of the means.
    correct : callable
        ``correct(means, covariance)`` returns the corrected values, shape (q,), from the means of
        all refits and their sampling covariance; missing where there is no correction.
    note : str
        Footnote: how values were corrected.
    """

    heading: str
    underlying: Callable[[Measurement], Estimate]
    correct: Callable[[FloatArray, FloatArray], FloatArray]
    note: str

    def __repr__(self) -> str:
        return about(self, self.heading)


def no_remarks(_: pd.Series[float]) -> Sequence[str]:
    """Return no footnotes, whatever the estimates are."""
    return ()


def remarks_of(texts: Sequence[str]) -> Callable[[pd.Series[float]], Sequence[str]]:
    """Return the function of estimates that always returns these footnotes; it can be pickled."""
    return partial(_same, tuple(texts))


def _same(texts: Sequence[str], _: pd.Series[float]) -> Sequence[str]:
    return texts


@dataclass(frozen=True, kw_only=True)
class Estimand:
    """A quantity of a fitted model on rows: two pure functions, and the words of its tables.

    A new estimand is a new file in this folder with a function that returns one of these, and a
    method of `Importances`, or of another class in ``learner``, that calls it. Variances,
    intervals, tests, tables and plots need no change.

    Attributes
    ----------
    key : hashable
        Its name and all arguments that change what `measure` returns: equal keys share one
        measurement. Arguments that only `read` uses stay out of it.
    terms : Terms
        The values, fixed before refitting.
    measure : callable
        ``measure(case)`` predicts with one fitted model and returns means over rows, by name.
    read : callable
        ``read(measurement)`` computes the estimate from those means, without predictions.
    leave_out : mapping of str to tuple of str
        Features without which every refit is trained again, one at a time, before it is measured.
    loss : Loss or None
        Loss that the header shows; None for the default loss of the predictions.
    metric : Metric or None
        Metric that the header shows in place of a loss.
    effect : bool
        Whether the values are an effect, of a model that stands for the truth. Of a model that
        states the covariance of its coefficients they take the delta method; of another one that is
        taken as it is they have intervals over rows and no test.
    better : {"smaller", "larger", ""}
        Which values are better, if the values say how good predictions are.
    label : str
        Heading of the estimate's column, such as "PFI".
    title : str
        Title of the table, which begins it with a capital letter.
    null : float or None
        Value that tables test. Set it where the estimate is nearly normal around it when it is
        true; None where noise pushes estimates away from it, as those of a standard deviation from
        0, or where no value is of interest: then tables have no test.
    varies_as_square : bool
        Whether the value is the square of an effect, or nearly, as importances are, counted from
        `null` (from 0 without one): its standard error grows with it. Intervals and tests are then
        those of ``inference.half_sample.square``. False for a curve, a loss or a difference.
    range : tuple of float
        The least and the largest value that the estimand can have. Intervals stay in it: without
        `null` and if the value does not vary as a square they are symmetric on a logarithmic scale,
        else they end there.
    unit : str
        Unit of the values, empty if they have none that can be named.
    meaning : str
        First footnote: what a value is, in a sentence.
    quantity : str
        Its name in the header, such as "PD"; the label, if empty.
    of : str
        The feature that the header names: "bmi" in "PD of bmi (logit)"; empty for none.
    details : tuple of str
        What the header adds in parentheses: ("logit",).
    notes : tuple of str
        Further footnotes, of full notes.
    exact : str
        Sentence after the meaning where there is no Monte Carlo error.
    inexact : str
        Why there is Monte Carlo error, for a footnote, after the largest one.
    no_model_error : str
        For a number that is no mean over rows: why it has no standard error over rows.
    unknown_error : str
        Why rows' contributions may be missing, so that an estimate has no standard error.
    coverage : tuple of str
        Names of the kind of estimand in the table of coverages, ``inference/coverage.csv``, the
        most special first; empty if its intervals have not been studied.
    zero_variance : str
        Reason to print no interval for a term on which all refits agree exactly.
    engine : str
        Name of what computes the estimand, if it is not what-if predictions.
    values : tuple of int
        Numbers of distinct values of features that meet all rows because `permutations` says "all".
    distributional : bool
        Whether what-if predictions are of distributions.
    rowless : str
        Why the values are the same whatever the evaluation rows; empty if they are not.
    no_weights : str
        Why it takes no sampling weights, after "because"; empty if its means are weighted.
    missing : mapping of str to str
        By term, the reason to print if its estimate is missing in some refit.
    remarks : callable
        ``remarks(estimates)`` returns footnotes on the data and the estimates, of short notes too.
    correction : Correction or None
        Correction of bias; tables print corrected values beside the estimates.
    diagnostic : Estimand or None
        Estimand that tables print beside this one, term by term, such as R²_j.
    curves : bool
        Whether plots draw every row's contribution as a thin line.
    """

    key: Hashable
    terms: Terms
    measure: Callable[[ModelOnRows], Measurement]
    read: Callable[[Measurement], Estimate]
    label: str
    title: str
    meaning: str
    unit: str = ""
    null: float | None = None
    varies_as_square: bool = False
    range: Range = REAL
    quantity: str = ""
    of: str = ""
    details: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    leave_out: Features = field(default_factory=dict)
    loss: Loss | None = None
    metric: Metric | None = None
    effect: bool = False
    better: Literal["smaller", "larger", ""] = ""
    exact: str = ""
    inexact: str = "as some of all draws are used"
    no_model_error: str = ""
    unknown_error: str = "the contributions of some rows are missing"
    coverage: tuple[str, ...] = ()
    zero_variance: str = "all refits agree exactly, so there is no variance"
    engine: str = ""
    values: tuple[int, ...] = ()
    distributional: bool = False
    rowless: str = ""
    no_weights: str = "its weighted form is not written yet"
    missing: Mapping[str, str] = field(default_factory=dict)
    remarks: Callable[[pd.Series[float]], Sequence[str]] = no_remarks
    correction: Correction | None = None
    diagnostic: Estimand | None = None
    curves: bool = False

    def __post_init__(self) -> None:
        if not is_hashable(self.key):
            raise OptionError(
                "The `key` of an estimand must be hashable, as measurements are kept by it, such "
                f"as a text or a tuple, not {quote(self.key)}."
            )
        check_text("title", self.title)
        check_text("label", self.label)
        check_range("range", self.range)
        if self.null is not None:
            check_number("null", self.null, FINITE)

    @property
    def no_effect(self) -> float | None:
        """The value of no effect if the estimand varies as a square, else None."""
        return (self.null or 0.0) if self.varies_as_square else None

    @property
    def description(self) -> str:
        """The name in the header, such as "PD of bmi (logit)"."""
        return full_quantity(self.quantity or self.label, of=self.of, details=self.details)

    @property
    def heading(self) -> str:
        """The title as the beginning of a table."""
        return f"{self.title[:1].upper()}{self.title[1:]}"

    def __repr__(self) -> str:
        return about(self, self.description, f"{len(self.terms.names)} terms")


def check_estimate(estimate: object, terms: Terms, n: int) -> None:
    """Raise `OptionError` unless an estimate has the terms' number of values, and n rows."""
    q = len(terms.names)
    if not isinstance(estimate, Estimate):
        raise OptionError(f"`read` of an estimand must return an Estimate, not {quote(estimate)}.")
    values, variances = np.shape(estimate.value), np.shape(estimate.mc_variance)
    rows = np.shape(estimate.rows)
    donors = rows if estimate.donors is None else np.shape(estimate.donors)
    if (values, variances, rows, donors) != ((q,), (q,), (n, q), (n, q)):
        raise OptionError(
            f"An estimate of {q} terms on {n} evaluation rows must have `value` and `mc_variance` "
            f"of shape ({q},), `rows` and `donors` of shape ({n}, {q}); it has {values}, "
            f"{variances}, {rows} and {donors}."
        )


def check_in_range(estimate: Estimate, estimand: Estimand) -> None:
    """Raise `OptionError` if an estimate is not in the range of its estimand, but for rounding."""
    low, high = estimand.range
    outside = np.fmax(low - estimate.value, estimate.value - high)
    ends = [abs(end) for end in estimand.range if np.isfinite(end)]
    largest = np.nanmax([0.0, *ends, *np.abs(estimate.value)])
    (beyond,) = np.nonzero(outside > OUT_OF_RANGE * largest)
    if len(beyond):
        raise OptionError(
            f"The `range` of {estimand.label} is {estimand.range}, but an estimate is "
            f"{estimate.value[beyond[0]]:.6g}: give the least and the largest value that there is, "
            "or leave `range` out."
        )


def check_weights(estimand: Estimand, population: Sample) -> None:
    """Raise `OptionError` if rows have sampling weights that the estimand does not take."""
    if population.weights is not None and estimand.no_weights:
        raise OptionError(
            f"{estimand.heading} takes no sampling weights, because {estimand.no_weights}; ask for "
            "another estimand, or leave `weights` out."
        )


def full_quantity(quantity: str, *, of: str = "", details: Sequence[str] = ()) -> str:
    """Return "quantity of feature (details)", without the parts that are empty."""
    inside = f" ({', '.join(details)})" if details else ""
    return f"{quantity}{f' of {of}' if of else ''}{inside}"
