"""The types of estimands: terms, measurements, parameters and words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import FINITE, check_number, check_range, check_text, is_hashable
from pyinterp.data.design import Design
from pyinterp.data.features import Features, Names, check_names, names_of
from pyinterp.data.sample import Response, Sample
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.losses.metrics import Metric
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.models.codes import codes_of
from pyinterp.models.predictive import predictive
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.ranges import REAL, Range
from pyinterp.representation import about, call_form, frozen
from pyinterp.storage import KeyText, text_of

# Of the largest number: predictions of single precision are beyond the range of probabilities.
OUT_OF_RANGE = 1e-5


class Elsewhere(Protocol):
    """What knows facts of a model that is not here."""

    @property
    def of_codes(self) -> frozenset[str]:
        """Numbers that the model takes as categories."""

    def predictive(self) -> Predictor:
        """Return the model's predictor of distributions."""


@frozen
class Problem:
    """The data, features and kind of model for which an estimand is defined, before refitting.

    Attributes
    ----------
    sample : Sample
        All rows.
    features : mapping of str to tuple of str
        The variables of every feature; a group has several.
    predictor : Predictor
        A fitted model, for the kind of its predictions.
    design : Design
        How its variables are encoded.
    elsewhere : Elsewhere or None
        What knows the model if the predictor here can't be asked: a file.
    offset : str
        The variable that is an offset, and no feature; empty if there is none.
    """

    sample: Sample
    features: Features
    predictor: Predictor
    design: Design
    elsewhere: Elsewhere | None = None
    offset: str = ""

    @cached_property
    def codes(self) -> frozenset[str]:
        """Numbers that the model takes as categories, though its formula does not."""
        if self.elsewhere is not None:
            return self.elsewhere.of_codes
        return codes_of(self.predictor, self.design, self.sample.variables)

    @property
    def discrete(self) -> frozenset[str]:
        """Variables whose observed values alone can be predicted."""
        return self.design.discrete | self.codes

    @cached_property
    def predictive(self) -> Predictor:
        """The model's predictor of distributions; ``PredictionError`` if it states none."""
        if self.elsewhere is not None:
            return self.elsewhere.predictive()
        return predictive(self.predictor, self.design.encode(self.sample.variables[:1]))

    def level_codes(self) -> frozenset[str]:
        """Return the names of numbers that are codes of categories: most of their values repeat.

        Discrete numbers that a formula puts in classes, as ``C(np.round(x))``, mostly differ.
        """
        data = self.sample.variables
        return frozenset(name for name in self.discrete if data[name].duplicated().mean() > 0.5)

    def notes_on_codes(self, names: Iterable[str]) -> dict[str, str]:
        """Return a footnote on each of these numbers that the learner takes as a category."""
        notes = {}
        for name in sorted(self.codes.intersection(names)):
            values = self.sample.variables[name].nunique()
            notes[name] = f"{name} is a code: the learner treats its {values} values as levels."
        return notes

    @property
    def response(self) -> Response:
        """The response, which estimands with a loss need."""
        if self.sample.response is None or self.sample.y is None:
            raise OptionError("A loss needs the response: pass `y` to FittedModel.")
        return self.sample.response

    @property
    def squared_loss(self) -> Loss:
        """The squared error; of classes, of their indicators."""
        return LOSSES["squared" if self.predictor.classes is None else "brier"]

    def choose(self, features: Names | None) -> Features:
        """Return the named features, or single variables of groups; by default all features."""
        if features is None:
            return dict(self.features)
        names = names_of(features)
        every: dict[str, tuple[str, ...]] = {
            name: (name,) for group in self.features.values() for name in group
        }
        every |= self.features
        check_names(names, every)
        return {name: every[name] for name in names}

    def __repr__(self) -> str:
        return about(self, f"{len(self.features)} features, {self.sample.nobs} rows")


@frozen
class Terms:
    """Names of the q values of an estimand, and their grid points and classes.

    Attributes
    ----------
    names : tuple of str
        Unique names; the index of ``params``.
    layout : pandas.DataFrame, q rows
        Grid values and class of each value; no columns if there is one value per feature.
    axes : tuple of str
        The grid columns of `layout`. A curve has one, a surface has two, and one value per feature
        has none.
    axis_names : tuple of str
        The variable on each axis.
    facet : str or None
        The column of `layout` that separates curves or panels (the class, the group).
    groups : tuple of str
        The groups of rows. All terms of one group follow all terms of another; () without groups.

    Examples
    --------
    >>> import pandas as pd
    >>> import pyinterp as pi
    >>> terms = pi.Terms(
    ...     names=("bmi[20]", "bmi[30]"), layout=pd.DataFrame({"value": [20, 30]}), axes=("value",)
    ... )
    >>> terms.names
    ('bmi[20]', 'bmi[30]')
    """

    names: tuple[str, ...]
    layout: pd.DataFrame
    axes: tuple[str, ...] = ()
    axis_names: tuple[str, ...] = ()
    facet: str | None = None
    groups: tuple[str, ...] = ()

    @property
    def stubs(self) -> tuple[str, ...]:
        """Names without the group."""
        if not self.groups:
            return self.names
        first = self.names[: len(self.names) // len(self.groups)]
        return tuple(name.removesuffix(f" | {self.groups[0]}") for name in first) * len(self.groups)

    @classmethod
    def plain(cls, names: Sequence[str], classes: Sequence[Any] = (None,)) -> Terms:
        """Return terms without a grid: one per name and class, class by class.

        Examples
        --------
        >>> pi.Terms.plain(["bmi", "bp"], classes=["low", "high"]).names
        ('low: bmi', 'low: bp', 'high: bmi', 'high: bp')
        """
        layout = pd.DataFrame(
            {} if classes[0] is None else {"class": [c for c in classes for _ in names]},
            index=range(len(names) * len(classes)),
        )
        if len(classes) > 1:
            names = [f"{label}: {name}" for label in classes for name in names]
        return cls(names=tuple(names), layout=layout)

    def __repr__(self) -> str:
        return about(self, list_of(self.names))


@frozen
class Correction:
    """How the bias of a function of means over rows is taken out of its estimates.

    Attributes
    ----------
    underlying : callable
        ``underlying(measurement)`` returns the estimate of the means.
    correct : callable
        ``correct(means, covariance)`` returns the corrected values, shape (q,), from the means of
        all refits and their sampling covariance; missing where there is no correction.
    note : str
        Footnote: how values were corrected.
    """

    underlying: Callable[[Measurement], Estimate]
    correct: Callable[[FloatArray, FloatArray], FloatArray]
    note: str

    __repr__ = about


@frozen
class Parameter:
    """Facts about an estimand's values, by which they are tested and have intervals.

    Attributes
    ----------
    null : float or None
        Value that tables test. Set it where the estimate is nearly normal around it when it is
        true; None where noise pushes estimates away from it, as a standard deviation from 0, or
        where no value is of interest: then tables have no test.
    no_effect : float or None
        Of values that are the square of an effect, or nearly, as importances are: the value
        without any effect. The standard error grows with the distance from it, and intervals and
        tests come from ``inference.half_sample.square``. None for a curve, a loss or a
        difference.
    range : tuple of float
        The least and the largest value that there can be. Intervals stay in it: they end there if
        there is a value of `null` or `no_effect`, else they are symmetric on a logarithmic scale.
    share : bool
        Whether the values are shares, though estimates may be above 1: upper limits of others end
        at 1, and with fewer than 4 degrees of freedom there are no limits.
    effect : bool
        Whether the values are an effect, of a model that stands for the truth. With a model that
        states the covariance of its coefficients they take the delta method; with another one that
        is taken as it is they have intervals over rows and no test.
    better : {"smaller", "larger"} or None
        Which values are better, if the values say how good predictions are.
    only : {"greater"} or None
        The only alternative that there is, of values of which only a lower limit is known.
    relations : tuple of str
        How values may be compared: "difference"; of mean predictions also "ratio", of mean
        probabilities "odds ratio" too.

    Examples
    --------
    >>> import pyinterp as pi
    >>> pi.Parameter(null=0.0, range=(0, 1))
    Parameter(null=0.0, range=(0, 1))
    """

    null: float | None = None
    no_effect: float | None = None
    range: Range = REAL
    share: bool = False
    effect: bool = False
    better: Literal["smaller", "larger"] | None = None
    only: Literal["greater"] | None = None
    relations: tuple[str, ...] = ("difference",)

    __repr__ = call_form


def notes_of_terms(notes: Mapping[str, str], estimates: pd.Series[float]) -> list[str]:
    """Return the notes on variables that have a term, such as ``x``, ``x[2]`` or ``class: x``."""
    terms = [f": {term}[" for term in estimates.dropna().index]
    return [note for name, note in notes.items() if any(f": {name}[" in term for term in terms)]


@dataclass(frozen=True)
class Remark:
    """A footnote that names, at ``{}``, the terms whose values are between two numbers.

    Other footnotes on the same values follow it.
    """

    text: str
    low: float = -np.inf
    high: float = np.inf
    others: tuple[Remark, ...] = ()

    def __call__(self, estimates: pd.Series[float]) -> list[str]:
        """Return this footnote, if estimates lie between the numbers, and then the others."""
        names = list_of(estimates.index[(estimates > self.low) & (estimates < self.high)])
        own = [self.text.replace("{}", names)] if names else []
        return [*own, *(note for other in self.others for note in other(estimates))]


@frozen
class Words:
    """The words of tables and plots about an estimand.

    Attributes
    ----------
    label : str
        Heading of the estimate's column, such as "PFI".
    title : str
        Title of the table, which begins it with a capital letter.
    meaning : str
        First footnote: the meaning of a value, in a sentence.
    unit : str
        Unit of the values, empty if they have none that can be named.
    quantity : str or None
        Its name in the header, such as "PD"; the label, if None.
    of : str or None
        The feature that the header names: "bmi" in "PD of bmi (logit)".
    details : tuple of str
        Words that the header adds in parentheses: ("logit",).
    notes : tuple of str
        Further footnotes, of full notes.
    notes_on : mapping of str to str
        By term, a further footnote of full notes, which names at ``{}`` the terms that share it.
    always : tuple of str
        Further footnotes, of full and short notes.
    remarks : callable or None
        ``remarks(estimates)`` returns footnotes on the estimates, of full and short notes.
    exact : str or None
        Sentence after the meaning where there is no Monte Carlo error; None if there always is.
    inexact : str
        Why there is Monte Carlo error, for a footnote, after the largest one.
    unknown_error : str
        Why rows' contributions may be missing, so that an estimate has no standard error.
    zero_variance : str
        Reason to print no interval for a term on which all refits agree exactly.
    missing : mapping of str to str
        By term, the reason to print if its estimate is missing in some refit.
    values : tuple of int
        Numbers of distinct values of features that meet all rows because `permutations` says "all".
    as_columns : tuple of (str, str, str)
        Which columns of its own table stand next to another one's, their headings and meanings;
        where they are empty, the label and the meaning. With a heading they do so as well where
        it is asked for next to other estimands.

    Examples
    --------
    >>> import pandas as pd
    >>> import pyinterp as pi
    >>> words = pi.Words(
    ...     label="bias", title="mean error", meaning="Mean error.", notes=("Rows count once.",)
    ... )
    >>> words.label
    'bias'
    """

    label: str
    title: str
    meaning: str
    unit: str = ""
    quantity: str | None = None
    of: str | None = None
    details: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    notes_on: Mapping[str, str] = field(default_factory=dict)
    always: tuple[str, ...] = ()
    remarks: Callable[[pd.Series[float]], Sequence[str]] | None = None
    exact: str | None = None
    inexact: str = "as some of all draws are used"
    unknown_error: str = "the contributions of some rows are missing"
    zero_variance: str = "all refits agree exactly, so there is no variance"
    missing: Mapping[str, str] = field(default_factory=dict)
    values: tuple[int, ...] = ()
    as_columns: tuple[tuple[str, str, str], ...] = (("estimate", "", ""),)

    @property
    def heading(self) -> str:
        """The title as the beginning of a table."""
        return f"{self.title[:1].upper()}{self.title[1:]}"

    @property
    def description(self) -> str:
        """The name in the header, such as "PD of bmi (logit)"."""
        of = f" of {self.of}" if self.of else ""
        details = f" ({', '.join(self.details)})" if self.details else ""
        return f"{self.quantity or self.label}{of}{details}"

    def on(self, estimates: pd.Series[float]) -> list[str]:
        """Return the footnotes on the data and the estimates, of full and short notes.

        Examples
        --------
        >>> words.on(pd.Series({"bias": 0.3}))
        []
        """
        return [*self.always, *(self.remarks(estimates) if self.remarks else ())]

    def __repr__(self) -> str:
        return about(self, self.description)


def only_component(measurement: Measurement) -> Estimate:
    """Return the only estimate of a measurement, which has one component.

    Examples
    --------
    >>> case = learner.fit_model().analysis.cases[0]
    >>> share.read(share.measure(case)).value.round(2).tolist()
    [0.52]
    """
    (estimate,) = measurement.values()
    return estimate


Basis = Literal["rows", "one row", "model"]


@frozen
class Estimand:
    """A quantity of a fitted model on rows: two pure functions, and the words of its tables.

    A new estimand is a new file in this folder with a function that returns one of these. One line
    above it makes it a method of results. Variances, intervals, tests, tables and plots need no
    change.

    Attributes
    ----------
    key : hashable
        Its name and all arguments that change the result of `measure`: equal keys share one
        measurement. Arguments that only `read` uses stay out of it.
    terms : Terms
        The values, fixed before refitting.
    measure : callable
        ``measure(case)`` predicts with one fitted model and returns means over rows, by name.
    read : callable
        ``read(measurement)`` computes the estimate from those means, without predictions; by
        default it is their only component.
    pool : callable or None
        ``pool(rows)`` computes the values once, from what `read` returns of all rows, each averaged
        over the refits that were not trained on it; None if every refit has values of its own.
    form : hashable
        What `read` computes, with its arguments, where several functions read equal measurements:
        "ratio" beside "difference". Files find what was measured by `key`, `form` and `version`.
    words : Words
        The words of tables and plots.
    parameter : Parameter
        The tested value, and the possible values.
    score : Loss, Metric or None
        Loss or metric that the header shows; None for the default loss of the predictions.
    predictions : str or None
        Kind of predictions, if not the model's kind or the kind that `score` needs.
    basis : {"rows", "one row", "model"}
        Where the values come from: they are means over evaluation rows, or the prediction of one
        made-up row, or a number that the fitted model reports. The last two have no standard error
        over rows.
    leave_out : mapping of str to tuple of str
        Features without which every refit is trained again, one at a time, before it is measured.
    why_no_weights : str or None
        Why it takes no sampling weights, after "because"; None if its means are weighted.
    coverage : tuple of str
        Names of the kind of estimand in the table of coverages, ``inference/coverage.csv``, the
        most special first; empty if its intervals have not been studied.
    correction : Correction or None
        Correction of bias; tables print corrected values next to the estimates.
    diagnostic : Estimand or None
        Estimand that tables print next to this one, term by term, such as R²_j. One of its own
        stands in the next column.
    curves : bool
        Whether plots draw every row's contribution as a thin line.
    linear : bool
        Whether `measure` takes means over rows of linear functions of each row's predictions:
        these have the derivative that the predictions have.
    version : int
        Raised when the meaning of its values changes, so that old files do not answer for new ones.
    complete : callable or None
        ``complete(estimand, replicates)`` returns it with its terms and words, where only what is
        measured names them, such as the columns of a model.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> def measure(case):
    ...     return {"over": pi.Estimate.of_rows((case.whatif.factual > case.y)[:, None] * 1.0)}
    >>> share = pi.Estimand(
    ...     key="too large",
    ...     terms=pi.Terms.plain(["share"]),
    ...     measure=measure,
    ...     words=pi.Words(label="share", title="predictions above", meaning="Share above y."),
    ...     parameter=pi.Parameter(range=(0, 1)),
    ... )
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).estimate(share).params.round(2).to_dict()
    {'share': 0.57}
    """

    key: Hashable
    terms: Terms
    measure: Callable[[ModelOnRows], Measurement]
    read: Callable[[Measurement], Estimate] = only_component
    pool: Callable[[Estimate], Estimate] | None = None
    form: Hashable = ""
    words: Words
    parameter: Parameter = Parameter()
    score: Loss | Metric | None = None
    predictions: Kind | None = None
    basis: Basis = "rows"
    leave_out: Features = field(default_factory=dict)
    why_no_weights: str | None = "its weighted form is not written yet"
    coverage: tuple[str, ...] = ()
    correction: Correction | None = None
    diagnostic: Estimand | None = None
    curves: bool = False
    linear: bool = False
    complete: Callable[[Estimand, Any], Estimand] | None = None
    version: int = 1

    def __post_init__(self) -> None:
        """Raise `OptionError` unless its terms, words and parameter are possible."""
        names, words, parameter = self.terms.names, self.words, self.parameter
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise OptionError(f"Names of terms must be different, but {repeated!r} is repeated.")
        check_text("title", words.title)
        check_text("label", words.label)
        check_range(parameter.range)
        if parameter.null is not None:
            check_number("null", parameter.null, FINITE)
        if not is_hashable(self.key):
            raise OptionError(
                "The `key` of an estimand must be hashable, as measurements are kept by it, such "
                f"as a text or a tuple, not {quote(self.key)}."
            )

    @property
    def description(self) -> str:
        """The name in the header, such as "PD of bmi (logit)"."""
        return self.words.description

    def state_on_file(self) -> dict[str, Any]:
        """Return the parts that files keep: functions by name, key and form as texts."""
        state = {part.name: getattr(self, part.name) for part in fields(self)}
        score = self.score if isinstance(self.score, Loss) else None
        texts = {"key": KeyText(text_of(self.key)), "form": KeyText(text_of(self.form))}
        return {**state, **texts, "score": score}

    def __repr__(self) -> str:
        return about(self, self.description, f"{len(self.terms.names)} terms")


def check_estimate(estimate: object, estimand: Estimand, n: int) -> None:
    """Raise `OptionError` unless an estimate is of the terms and n rows, and in its range."""
    q = len(estimand.terms.names)
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
    if estimand.parameter.range == REAL:
        return
    ends = np.array(estimand.parameter.range)
    sizes = np.abs([0.0, *ends[np.isfinite(ends)], *estimate.value])
    outside = np.fmax(ends[0] - estimate.value, estimate.value - ends[1])
    (beyond,) = np.nonzero(outside > OUT_OF_RANGE * np.nanmax(sizes))
    if len(beyond):
        raise OptionError(
            f"The `range` of {estimand.words.label} is {estimand.parameter.range}, but an "
            f"estimate is {estimate.value[beyond[0]]:.6g}: give the least and the largest value "
            "that there is, or leave `range` out."
        )


def check_weights(estimand: Estimand, sample: Sample) -> None:
    """Raise `OptionError` if rows have sampling weights that the estimand does not take."""
    if sample.weights is not None and estimand.why_no_weights is not None:
        raise OptionError(
            f"{estimand.words.heading} takes no sampling weights, because "
            f"{estimand.why_no_weights}; ask for another estimand, or leave `weights` out."
        )
