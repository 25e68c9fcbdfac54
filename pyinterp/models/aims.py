"""What a prediction is: a mean, a quantile or another number, read from an estimator's own words.

From an `Aim` follow the default loss, the constant that R² and D² compare with, words of effects,
and what is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pyinterp.errors import OptionError, quote
from pyinterp.models.final_step import final_step
from pyinterp.models.libraries import library_of
from pyinterp.models.library import HALF, Aim

QUANTILE = re.compile(r"median|quantile\(0?(\.0*[1-9]\d*)\)")
# Parameters of wrappers: the first that an estimator has says what predicts in the end.
INSIDE = ("final_estimator", "estimator", "regressor", "estimators")


def aim_of(given: Any) -> Aim:
    """Return the aim of an estimator, fitted or not, or of results; wrappers have their inside's.

    An attribute `prediction` of a class says it, as the option of that name does.
    """
    model = final_step(given).model
    text = getattr(model, "prediction", None)
    if isinstance(text, str):
        return aim_by_text(text)
    aim, inside = library_of(model).aim(model), _inside(model)
    if aim.words or not inside:
        return aim
    joint = joint_aim(map(aim_of, inside))
    # A family is of the response that the model inside is given, which may be below 0.
    other_scale = getattr(model, "transformer", None) is not None
    return replace(joint, family="", power=None) if other_scale else joint


def joint_aim(aims: Iterable[Aim]) -> Aim:
    """Return the aim of the mean of several predictions; a mean of two quantiles is no quantile."""
    several = list({replace(each, words=""): each for each in aims}.values())
    words = next((each.words for each in several if each.no_mean), "")
    return several[0] if len(several) == 1 else Aim("other" if words else "mean", words)


def declaration_of(prediction: str | None, classifier: bool = False) -> Aim | None:
    """Return the aim that the option `prediction` declares, which is for numbers."""
    if classifier and prediction is not None:
        raise OptionError("`prediction` is for numbers: leave it out, as the learner has classes.")
    return None if prediction is None else aim_by_text(prediction)


def aim_by_text(text: object) -> Aim:
    """Return the aim that a user declares."""
    words = f"prediction={quote(text)}"
    if text in ("mean", "other"):
        return Aim(str(text), words)
    found = QUANTILE.fullmatch(str(text))
    if not found:
        raise OptionError(
            '`prediction` must be "mean", "median", "quantile(.95)" of any probability, or '
            f'"other", not {quote(text)}.'
        )
    return Aim("quantile", words, float(found[1] or HALF))


def _inside(model: Any) -> list[Any]:
    """Return the estimators that a wrapper was given."""
    names = [name for name in INSIDE if hasattr(model, name)]
    given = model.get_params(deep=False) if names and hasattr(model, "get_params") else {}
    value = next((given[name] for name in names if name in given), None)
    pairs = value if isinstance(value, list) else [("", value)]
    return [each for _, each in pairs if hasattr(each, "predict")]
