"""What the package has to know of a library of learners: one object per library."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.design import Design
from pyinterp.distributions import Distribution
from pyinterp.models.links import Link
from pyinterp.models.trees import Ensemble
from pyinterp.representation import frozen

# From a model's inputs to parameters of distributions, shape (n, P).
Parameters = Callable[[Any], FloatArray]
# A family, and the function that gives its parameters.
Statement = tuple[Distribution, Parameters]

MEANS = ("mean", "rate per exposure", "probability")
HALF = 0.5
POWERS = {"poisson": 1.0, "gamma": 2.0, "inversegaussian": 3.0, "inverse.gaussian": 3.0}
# Remedies of several libraries.
RANKING = (
    "a learner has no groups of rows to rank within: fit the model yourself, and explain it by "
    "`pi.FittedModel`."
)
STOPPING = (
    "a learner has no rows to stop by: leave early stopping out of its parameters, and pass it as "
    "`pi.EarlyStopping(estimator)`, which takes some of the training rows."
)


@dataclass(frozen=True)
class Aim:
    """What a prediction is, of the distribution of the response given the features.

    Attributes
    ----------
    name : str
        "mean", "rate per exposure", "probability", "quantile", "class", "ranking", "expectile",
        "other" or "unknown".
    words : str
        What says so, such as "loss='quantile'"; empty if nothing does.
    q : float or None
        The probability of a quantile, of the median 0.5.
    family : str
        Of means that are positive, by a logarithmic link.
    power : float or None
        Of the mean, to which the family's variance is proportional; of negative binomials alpha.
    """

    name: str = "unknown"
    words: str = ""
    q: float | None = None
    family: str = ""
    power: float | None = None

    @classmethod
    def mean(cls, words: str, family: str = "", power: float | None = None) -> Aim:
        """Return the aim at a mean: of a family, unless it is empty, by a logarithmic link."""
        family = family.lower()
        return cls("mean", words, None, family, POWERS.get(family, power) if family else None)

    @property
    def no_mean(self) -> bool:
        """Whether something says that it is neither a mean nor a probability."""
        return bool(self.words) and self.name not in MEANS

    @property
    def phrase(self) -> str:
        """What tables call a prediction."""
        if self.q is not None:
            return "median" if self.q == HALF else f"{100 * self.q:g}% quantile"
        return "expected value" if self.name in MEANS else "prediction"


class Offset(NamedTuple):
    """How a model is given an offset.

    Attributes
    ----------
    keyword : str
        Of `fit`; of `predict` too, unless that has `linear`.
    linear : str
        The option by which ``predict`` returns linear predictors without the offset: of boosters.
    base : str
        The parameter whose value `predict` adds, unless it is given an offset.
    beside : mapping
        Other options of `predict`.
    """

    keyword: str
    linear: str = ""
    base: str = ""
    beside: Mapping[str, Any] = {}


class Booster:
    """A booster that was trained without a class of scikit-learn, as a function of rows.

    Parameters
    ----------
    booster : object
    predict : callable
        From rows to predictions.
    objective : str
        The name of its objective.
    k : int
        Its number of classes.
    names : list of str or None
        Of its columns; None if it was trained on an array.
    number : int
        Of its columns.
    aim : Aim
        What it predicts.
    code : str
        How the booster is asked for predictions.

    Attributes
    ----------
    classes : tuple of int or None
        0, 1, ..., if it predicts probabilities.
    """

    learner_name = "Booster"

    def __init__(
        self,
        booster: Any,
        predict: Callable[[Any], Any],
        objective: str,
        k: int,
        names: list[str] | None,
        number: int,
        aim: Aim,
        code: str = "model.predict(X)",
    ) -> None:
        self.aim = aim
        self.booster, self.predict_rows, self.code = booster, predict, code
        self.feature_names_in_, self.n_features_in_ = names, number
        probabilities = {"binary:logistic", "binary", "multi:softprob", "multiclass"}
        self.classes = tuple(range(max(k, 2))) if objective in probabilities else None

    def __call__(self, X: Any) -> Any:
        """Return the booster's predictions of rows."""
        return self.predict_rows(X)


class Prediction(NamedTuple):
    """What results predict.

    Attributes
    ----------
    probabilities : bool
        Of classes.
    classes : sequence or None
        Of probabilities, in order; None if they are 0 and 1.
    shares : bool
        Shares of successes.
    trials : bool
        Shares of counts of successes and failures.
    ordinal : bool
        Whether the classes have an order.
    """

    probabilities: bool = False
    classes: Sequence[Any] | None = None
    shares: bool = False
    trials: bool = False
    ordinal: bool = False


def _nothing(_: Any, *__: Any) -> None:
    """Know nothing of a model."""


def _aim_of_ours(model: Any) -> Aim:
    """Return the aim that a model of ours has."""
    aim = getattr(model, "aim", None)
    return aim if isinstance(aim, Aim) else Aim()


@frozen
class Library:
    """A library of learners; its defaults are those of one that keeps scikit-learn's rules.

    Attributes
    ----------
    package : str
        What it is imported as.
    recognizes : callable or None
        Whether an object is a fitted model of the library; None: by the package of its class.
    regular : bool
        Whether its models predict other rows by the same rule as the rows that are checked: exact
        engines serve no others.
    families : mapping of str to str
        By kind of learner, of which simulations say how often intervals cover, the pattern of
        module and name of a class.
    remedies : mapping of str to str
        By words of its error messages, what to do where they do not tell.
    defaults : mapping
        Defaults that are not among the parameters of an estimator, which hands out copies of lists.
    threads : int or None
        What None stands for as a number of threads.
    wants_codes : bool
        Whether classifiers must be given class positions 0, 1, ... instead of labels.
    missing : {"tags", "refuses", ""}
        Whether tags are right where they say that missing values are refused; or all are refused.
    check : callable
        Raises `OptionError` if a model predicts no response.
    check_rows : callable
        ``check_rows(fitted, X, offset)`` raises it if a model can't predict rows, or needs an
        offset that is not there, or has none.
    offset : callable
        The `Offset` of a model, fitted or not; None if it takes none.
    rates : {"all", "trained", ""}
        Which regressors without an offset may be taken to predict rates.
    aim : callable
        What a model, fitted or not, predicts; without words if it may be what a model inside does.
    validation : mapping of str to str or None
        What `fit` calls values of validation rows; None if its estimators don't stop by them.
    stops : callable
        ``stops(model, rounds)`` returns the options of `fit` by which a model stops.
    names : callable
        Names of columns of a fitted model that has no `feature_names_in_`.
    default_name : str
        What the library calls column j of an array, ``default_name.format(j)``.
    spelling : callable
        How it spells the name of a column.
    results : bool
        Whether fitted models are results, which are given frames by a formula only.
    number : callable
        The number of columns of results.
    categories : callable
        Positions of inputs that a fitted model takes as categories.
    native : callable
        A `Booster` of what was trained without a class of scikit-learn; None for other models.
    estimator : str
        The class to use as a learner: a prefix for a native booster, ``{}`` stands for a class.
    trees : callable
        The trees of a fitted model; None for other models.
    link : callable
        ``link(results, kind)`` returns the inverse link of results with ``params``.
    distribution : callable
        The predictive distribution that a fitted regressor states.
    formula : callable
        The formula of results; None if they have none.
    read_formula : callable
        ``read_formula(results, variables)`` returns the package's own design of the formula and
        results that take its matrix; None if it can't be read.
    prediction : callable
        ``prediction(results, classes, response)`` returns what results predict, by the classes that
        the user gave, if any.
    """

    package: str
    recognizes: Callable[[Any], bool] | None = None
    regular: bool = True
    families: Mapping[str, str] = field(default_factory=dict)
    remedies: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    threads: int | None = None
    wants_codes: bool = False
    missing: Literal["tags", "refuses", ""] = ""
    check: Callable[[Any], None] = _nothing
    check_rows: Callable[[Any, Any, bool], None] = _nothing
    offset: Callable[[Any], Offset | None] = _nothing
    rates: Literal["all", "trained", ""] = "all"
    aim: Callable[[Any], Aim] = _aim_of_ours
    validation: Mapping[str, str] | None = None
    stops: Callable[[Any, int], Mapping[str, Any]] = lambda _, __: {}
    names: Callable[[Any], list[str] | None] = _nothing
    default_name: str = ""
    spelling: Callable[[str], str] = str
    results: bool = False
    number: Callable[[Any], int | None] = _nothing
    categories: Callable[[Any], Collection[int]] = lambda _: ()
    native: Callable[[Any], Booster | None] = _nothing
    estimator: str = "{}()"
    trees: Callable[[Any], Ensemble | None] = _nothing
    link: Callable[[Any, str], Link | None] = _nothing
    distribution: Callable[[Any], Statement | None] = _nothing
    formula: Callable[[Any], str | None] = _nothing
    read_formula: Callable[[Any, pd.DataFrame], tuple[Design, Any] | None] = _nothing
    prediction: Callable[[Any, Any, Any], Prediction] = lambda _, __, ___: Prediction()
