"""Per-row losses, and the best constant prediction under each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, check_range, check_text, is_hashable
from pyinterp.data.sample import Response
from pyinterp.errors import LossError, quote, reason, short
from pyinterp.models.library import HALF, Aim
from pyinterp.models.prediction_checks import read_only, real_numbers
from pyinterp.models.predictor import Kind, Predictor, learner_name, most_probable
from pyinterp.ranges import POSITIVE, REAL, SHARES, Range
from pyinterp.representation import about

LossName = Literal[
    "squared", "absolute", "huber", "poisson", "gamma", "binomial", "log", "brier", "rps",
    "zero_one",
]  # fmt: skip
LossFunction = Callable[[FloatArray, FloatArray], FloatArray]
LossLike: TypeAlias = "LossName | Loss | LossFunction"

# Probabilities below the rounding unit carry no information; scikit-learn's log_loss clips here.
EPSILON = float(np.finfo(np.float64).eps)
# Rows whose loss is computed twice.
TWICE = 64


@dataclass(frozen=True)
class Loss:
    r"""A per-row loss L(y, prediction).

    Parameters
    ----------
    name : str
        Its name in tables.
    function : callable
        ``function(y, prediction)``, elementwise over broadcast arrays. For regression both have
        shape (...). For classification `y` holds positions in the classes, shape (...), and
        `prediction` probabilities in their order, shape (..., number of classes).
    needs : {"mean", "probability", "label", "distribution"}
        Kind of the predictions that the function is given. With "label" the largest of a row is
        for the class that the learner's ``predict`` says; with "distribution" they are the
        parameters of distributions, shape (..., P).
    constant : callable, optional
        ``constant(y_train)``, the best prediction that ignores the features, shape () or
        (number of classes,). Without it no share of explained loss is printed. Sampling weights
        need ``np.mean`` or ``np.median``.
    unit : str
        Unit of the loss in terms of ``{y}``, the name of the response.
    range : tuple of float
        The least and the largest value that it can have: ``(0, np.inf)``. Intervals stay in it.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> double = pi.Loss("asymmetric", lambda y, f: np.where(y > f, 2.0, 1.0) * np.abs(y - f))
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).pfi(loss=double).params.round(1).to_dict()
    {'bmi': 28.0, 'bp': 7.9}
    """

    name: str
    function: LossFunction
    needs: Kind = "mean"
    constant: Callable[[FloatArray], npt.ArrayLike] | None = None
    unit: str = ""
    range: Range = REAL

    def __post_init__(self) -> None:
        check_text("name", self.name)
        check_choice("needs", self.needs, ("mean", "probability", "label", "distribution"))
        for name in ("function", "constant"):
            value = getattr(self, name)
            present = name == "function" or value is not None
            if present and (not callable(value) or isinstance(value, type)):
                raise LossError(f"The {name} of a Loss must be callable, not {quote(value)}.")
            if not is_hashable(value):
                raise LossError(
                    f"The {name} of a Loss must be hashable, as what it gives is kept; pass a "
                    "function."
                )
        try:
            self.unit.format(y="y")
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise LossError(
                f'The unit of a Loss must be a text in terms of {{y}}, such as "{{y}}²", not '
                f"{quote(self.unit)}."
            ) from error
        check_range(self.range)

    def __call__(self, y: FloatArray, prediction: FloatArray) -> FloatArray:
        """Return the loss of every row; `y` broadcasts against the predictions."""
        loss = self._values(y, prediction)
        shape = prediction.shape[:-1] if self.needs != "mean" else prediction.shape
        if loss.shape != shape:
            raise LossError(
                f"The loss `{self.name}` must return one value per prediction, shape {shape}; "
                f"it returned shape {loss.shape}."
            )
        if not np.isfinite(loss).all():
            raise LossError(
                f"The loss `{self.name}` must be finite, but it is not for some rows; "
                "check the response and the predictions it is given."
            )
        if y.shape == shape == (len(y),):
            again = self._values(y[:TWICE], prediction[:TWICE])
            first = loss[:TWICE]
            if not np.array_equal(again, first) and (
                again.shape != first.shape or not np.allclose(again, first, rtol=1e-9)
            ):
                raise LossError(
                    f"The loss `{short(self.name)}` must be the same for a row each time, whatever "
                    "rows are beside it, but it is not. A measure of all rows together is a "
                    "`metric`."
                )
        return loss

    def best_constant(self, y: FloatArray, weights: FloatArray | None = None) -> FloatArray | None:
        """Return the best prediction that ignores the features; None if the loss states none.

        None too if rows have weights with which it is not known.

        Examples
        --------
        >>> middle = pi.Loss("absolute", lambda y, f: np.abs(y - f), constant=np.median)
        >>> float(middle.best_constant(np.array([1.0, 2.0, 9.0])))
        2.0
        """
        rule = self.constant if weights is None else by_weight(self.constant)
        if rule is None:
            return None
        given = {} if weights is None else {"weights": weights}
        best = real_numbers(rule(read_only(y), **given))
        if best is None or best.ndim > 1 or not np.isfinite(best).all():
            raise LossError(
                f"The constant of the loss `{self.name}` must return a finite number, or one "
                "probability per class."
            )
        return best

    def _values(self, y: FloatArray, prediction: FloatArray) -> FloatArray:
        """Return the function's values as numbers; it gets arrays that it can't change."""
        try:
            values = self.function(read_only(y), read_only(prediction))
        except LossError:
            raise
        except Exception as error:
            raise LossError(
                f"The loss `{short(self.name)}` must work elementwise over broadcast arrays, but "
                f"for y of shape {y.shape} and predictions of shape {prediction.shape} it raised "
                f"{reason(error)}"
            ) from error
        loss = real_numbers(values)
        if loss is None:
            raise LossError(
                f"The loss `{short(self.name)}` must return real numbers, not {quote(values)}."
            )
        return loss

    def __repr__(self) -> str:
        return about(self, self.name)


METRIC = (
    ' Metrics of all rows, as the AUC, are `res.metric("roc_auc")` and `pfi(metric="roc_auc")`.'
)


def choose(loss: LossLike | None, predictor: Predictor, response: Response) -> Loss:
    """Return the loss, by its name if need be, after a check that the predictions suit it.

    The default is that of what is predicted; of shares it is the binomial deviance.
    """
    if loss is None:
        default = {"probability": "log", "label": "zero_one"}
        name = "binomial" if response.shares else default.get(predictor.kind)
        return LOSSES[name] if name else loss_of(predictor.aim)
    if isinstance(loss, str):
        check_choice("loss", loss, LOSSES, METRIC)
        chosen = LOSSES[loss]
    elif isinstance(loss, Loss):
        chosen = loss
    elif callable(loss) and not isinstance(loss, type):
        chosen = Loss(getattr(loss, "__name__", "callable"), loss, needs=predictor.kind)
    else:
        raise LossError(f"`loss` must be a name, a Loss or a function, not {quote(loss)}.")
    if chosen is LOSSES["rps"] and predictor.classes is not None and not response.ordinal:
        raise LossError(
            f"The ranked probability score needs ordered classes, but `{response.name}` has none: "
            "make it an ordered category, `astype(pd.CategoricalDtype([...], ordered=True))`, as "
            'the page "Ordered answers, and a questionnaire" does.'
        )
    # Whether the model states a distribution is seen where it is asked.
    if chosen.needs not in ("distribution", predictor.kind):
        check_needs(f"loss `{chosen.name}`", chosen.needs, predictor, response, LOSSES)
    return chosen


def loss_of(aim: Aim) -> Loss:
    """Return the loss whose least expected value is at a regressor's aim, such as the mean.

    It is pinball loss of a quantile, absolute error of the median, the deviance of a family that is
    stated, and squared error of all else.
    """
    q, power, binomial = aim.q, aim.power, aim.family == "negativebinomial"
    named = {None: "squared", 0.0: "squared", 1.0: "poisson", 2.0: "gamma"}
    if q == HALF:
        return LOSSES["absolute"]
    if q is not None:
        best = _With(_quantile, q)
        return Loss(f"pinball loss, q = {q:g}", _With(_pinball, q), "mean", best, "{y}", POSITIVE)
    if power is None or (power in named and not binomial):
        return LOSSES[named[power]]
    name = "negative binomial deviance, alpha" if binomial else "Tweedie deviance, p"
    deviance = _With(_negative_binomial if binomial else _tweedie, power)
    return Loss(f"{name} = {power:g}", deviance, "mean", np.mean, range=POSITIVE)


def suits(loss: Any, aim: Aim) -> bool:
    """Whether a loss, or metric, measures the aim of a learner's predictions."""
    if aim.q is not None:
        return loss == loss_of(aim) or (aim.q == HALF and loss.name == "mae")
    return not aim.no_mean or (aim.name == "class" and loss.needs == "label")


def check_needs(
    what: str, needs: Kind, predictor: Predictor, response: Response, table: Mapping[str, Any]
) -> None:
    """Raise `LossError`, with the names in `table` that suit, unless predictions suit a score."""

    def serves(needs: Kind) -> bool:
        both = needs in ("label", "answers") and predictor.kind in ("label", "probability")
        return needs == predictor.kind or both

    if serves(needs):
        return
    wanted = {"mean": "numeric predictions", "probability": "class probabilities"}
    wants = "a classifier" if predictor.kind == "mean" else wanted[needs]
    has = {
        "mean": "is a regressor",
        "probability": f"predicts the classes of `{response.name}`",
        "label": "has no `predict_proba`" if needs == "probability" else "predicts classes",
    }[predictor.kind]
    aim = predictor.aim
    names = [
        name
        for name, other in table.items()
        if serves(other.needs) and (aim.q is None or suits(other, aim))
    ]
    others = ", ".join(f'"{name}"' for name in names if name != "rps" or response.ordinal)
    others = others or f"the default, {loss_of(aim).name}"
    raise LossError(
        f"The {what} needs {wants}, but {learner_name(predictor.estimator)} {has}; use {others}."
    )


def _squared_error(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return squared errors."""
    return np.square(y - prediction)


def _absolute(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return absolute errors."""
    return np.abs(y - prediction)


def _huber(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return Huber losses, linear beyond errors of 1."""
    return np.asarray(special.huber(1.0, y - prediction))


def _check_positive(name: str, y: FloatArray, prediction: FloatArray, *, zero: bool) -> None:
    """Raise `LossError` unless both are positive; with `zero` a response may be 0."""
    low = y.min() < 0 if zero else y.min() <= 0
    if low or prediction.min() <= 0:
        need = "a response >= 0" if zero else "a response > 0"
        raise LossError(
            f"The loss `{name}` needs {need} and predictions > 0; the smallest are "
            f"{y.min():.6g} and {prediction.min():.6g}."
        )


def _poisson(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return Poisson deviances."""
    _check_positive("poisson", y, prediction, zero=True)
    return 2 * special.kl_div(y, prediction)


def _gamma(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return gamma deviances."""
    _check_positive("gamma", y, prediction, zero=False)
    return 2 * (y / prediction - np.log(y / prediction) - 1)


def _tweedie(y: FloatArray, prediction: FloatArray, p: float) -> FloatArray:
    _check_positive(f"Tweedie, p = {p:g}", y, prediction, zero=p < 2)
    one, two = 1 - p, 2 - p
    of_y = np.asarray(y, np.float64) ** two / (one * two)
    return 2 * (of_y - y * prediction**one / one + prediction**two / two)


def _negative_binomial(y: FloatArray, prediction: FloatArray, alpha: float) -> FloatArray:
    """Return the deviance at a variance of mean + alpha mean²."""
    _check_positive("negative binomial", y, prediction, zero=True)
    ratio = (1 + alpha * y) / (1 + alpha * prediction)
    return 2 * (special.xlogy(y, y / prediction) - (y + 1 / alpha) * np.log(ratio))


def _pinball(y: FloatArray, prediction: FloatArray, q: float) -> FloatArray:
    return np.maximum(q * (y - prediction), (q - 1) * (y - prediction))


def _quantile(y: FloatArray, q: float, weights: FloatArray | None = None) -> npt.ArrayLike:
    method: Any = "linear" if weights is None else "inverted_cdf"
    return np.quantile(y, q, weights=weights, method=method)


@dataclass(frozen=True)
class _With:
    """A function with a parameter; equal for the same two, also after pickling."""

    function: Callable[..., npt.ArrayLike]
    parameter: float

    def __call__(self, *arguments: FloatArray, **options: Any) -> Any:
        return self.function(*arguments, self.parameter, **options)


def _binomial(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return binomial deviances of shares in [0, 1]."""
    low, high = min(y.min(), prediction.min()), max(y.max(), prediction.max())
    if low < 0 or high > 1:
        raise LossError(
            "The loss `binomial` needs shares: responses and predictions must be between 0 and 1, "
            f"not {low if low < 0 else high:.6g}."
        )
    p = np.clip(prediction, EPSILON, 1 - EPSILON)
    return 2 * (special.kl_div(y, p) + special.kl_div(1 - y, 1 - p))


def _probability(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return the predicted probability of the observed class."""
    index = np.broadcast_to(y.astype(np.intp), prediction.shape[:-1])[..., None]
    return np.take_along_axis(prediction, index, axis=-1)[..., 0]


def _log(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return minus the logarithm of the observed class's probability."""
    return -np.log(np.clip(_probability(y, prediction), EPSILON, 1.0))


def _brier(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return the squared distance of probabilities from the observed class; half of it for two."""
    total: FloatArray = np.square(prediction).sum(axis=-1) - 2 * _probability(y, prediction) + 1
    return total / 2 if prediction.shape[-1] == 2 else total


def _ranked_probability(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return the mean over cuts between classes of squared errors of cumulative probabilities."""
    below = np.cumsum(prediction, axis=-1)[..., :-1]
    cuts = np.arange(below.shape[-1])
    return np.asarray(np.square(below - (y[..., None] <= cuts)).mean(axis=-1))


def _zero_one(y: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return 1 for rows whose class is not predicted, else 0."""
    return np.asarray(most_probable(prediction) != y, np.float64)


def _shares(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the share of every class in the rows, or in their weights."""
    counts = np.bincount(y.astype(np.intp), weights)
    return np.asarray(counts / counts.sum())


# Best constant predictions of rows with sampling weights.
BY_WEIGHT: Mapping[Any, Callable[..., npt.ArrayLike]] = {
    np.mean: np.average,
    np.median: _With(_quantile, HALF),
    _shares: _shares,
}


def by_weight(constant: Any) -> Callable[..., npt.ArrayLike] | None:
    """Return the best constant prediction of weighted rows; None if it is not known."""
    return constant if isinstance(constant, _With) else BY_WEIGHT.get(constant)


LOSSES: Mapping[str, Loss] = {
    "squared": Loss("squared error", _squared_error, "mean", np.mean, "{y}²", range=POSITIVE),
    "absolute": Loss("absolute error", _absolute, "mean", np.median, "{y}", range=POSITIVE),
    "huber": Loss("Huber loss", _huber, "mean", None, range=POSITIVE),
    "poisson": Loss("Poisson deviance", _poisson, "mean", np.mean, range=POSITIVE),
    "gamma": Loss("gamma deviance", _gamma, "mean", np.mean, range=POSITIVE),
    "binomial": Loss("binomial deviance", _binomial, "mean", np.mean, range=POSITIVE),
    "log": Loss("log loss", _log, "probability", _shares, range=POSITIVE),
    "brier": Loss("Brier score", _brier, "probability", _shares, range=POSITIVE),
    "rps": Loss(
        "ranked probability score", _ranked_probability, "probability", _shares, range=SHARES
    ),
    "zero_one": Loss("zero-one loss", _zero_one, "label", _shares, range=SHARES),
}
