"""Objectives of boosters: their links, and where training starts from an offset."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import optimize

from pyinterp._typing import FloatArray
from pyinterp.errors import DataError, quote
from pyinterp.models.library import HALF, Aim

# Objectives as they are spelled, without what stands before a colon.
LOG_LINKS = ("poisson", "gamma", "tweedie")
L2 = ("regression", "regression_l2", "l2", "mse", "rmse", "l2_root", "mean_squared_error",
      "root_mean_squared_error", "squarederror", "linear")  # fmt: skip
L1 = ("regression_l1", "l1", "mae", "mean_absolute_error", "absoluteerror")
QUANTILES = ("quantile", "quantileerror")
PROBABILITIES = ("quantile_alpha", "quantile", "alpha", "")  # parameters that have theirs
OTHERS = ("mape", "huber", "fair", "mean_absolute_percentage_error", "pseudohubererror")
OBJECTIVES = (*LOG_LINKS, *L2, *L1, *QUANTILES, *OTHERS)
# Others whose predictions are means or probabilities, and medians.
MEANS = re.compile(
    "squared_error|friedman_mse|aic|bic|gini|entropy|log_?loss|exponential|binary|logistic|softprob"
    "|softmax|multiclass(ova|onevsall)?|x?entropy|cross_?entropy"
)
MEDIANS = (*L1, "absolute_error")
# With canonical links scores are sums of response - prediction, so fits balance totals.
CANONICAL = ("poisson", *L2)
# Parameters that name the objective: LightGBM takes the others for `objective`, if it has them.
NAMES = (
    "loss", "objective_type", "app", "application", "objective", "loss_function", "criterion",
)  # fmt: skip
# Parameters by which probabilities are of classes that weigh otherwise than in the data.
WEIGHTS = re.compile(
    "(auto_)?class_weights?|scale_pos_weight|(is_)?unbalance|unbalanced_sets|(class_)?priors?"
)


def objective_of(model: Any) -> str:
    """Return the objective of a booster."""
    return _objective(model.get_params())[0]


def _objective(parameters: Mapping[str, Any]) -> tuple[str, dict[str, str], str]:
    """Return the objective, its own options, and the words for it."""
    name = next((name for name in NAMES if parameters.get(name) is not None), "")
    given = parameters.get(name, "l2")
    given = getattr(given, "__name__", str(given))
    parts = given.lower().split(":")
    options = [part.split("=") for part in parts.pop().split(";")] if "=" in given else []
    words = f"{name}={quote(given)}" if name else ""
    if parameters.get("reg_sqrt"):
        return f"{parts[-1]} with reg_sqrt", {}, "reg_sqrt=True"
    return parts[-1], dict(options), words


def aim_by_words(model: Any, *, q: float = HALF) -> Aim:
    """Return the aim of a model by its parameters; `q` is the default of its quantile."""
    return aim_by_parameters(model.get_params(), q)


def aim_by_parameters(parameters: Mapping[str, Any], q: float = HALF) -> Aim:
    """Return the aim that parameters name."""
    for name, value in parameters.items():
        if WEIGHTS.fullmatch(name) and str(value) not in ("None", "False", "1", "1.0"):
            return Aim("other", f"{name}={quote(value)}")
    name, options, words = _objective(parameters)
    if name in QUANTILES:
        known = {**parameters, **options, "": q}
        at = (known[key] for key in PROBABILITIES if known.get(key) is not None)
        return Aim("quantile", words, float(np.ravel(next(at))[0]))
    if name in MEDIANS:
        return Aim("quantile", words, HALF)
    if name not in (*LOG_LINKS, *L2) and not MEANS.fullmatch(name):
        kinds = (kind for kind in ("ranking", "expectile") if kind[:4] in words.lower())
        return Aim(next(kinds, "other"), words)
    log = name in LOG_LINKS and not words.startswith("criterion")  # of trees: means may be 0
    power = options.get("variance_power", parameters.get("tweedie_variance_power"))
    return Aim.mean(words, name if log else "", float(power or 1.5))


def links_of(model: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the link and the inverse link of a booster."""
    log = objective_of(model) in LOG_LINKS
    return (np.log, np.exp) if log else (np.positive, np.positive)


def start_of(model: Any, y: FloatArray, offset: FloatArray, weights: FloatArray) -> float:
    r"""Return the constant b that training of a booster adds to the offset.

    It balances totals, :math:`\sum w (y - \mu(\textrm{offset} + b)) = 0`, as the intercept of a
    generalized linear model without features. Where the user says where to start, it is that.
    """
    parameters, (link, inverse) = model.get_params(), links_of(model)
    at_0 = str(parameters.get("boost_from_average")).lower() in ("false", "-")
    score = inverse(0.0) if at_0 else parameters.get("base_score")
    mean = np.average(y, weights=weights) if score is None else np.ravel(score)[0]
    if not inverse(-np.inf) < mean < inverse(np.inf):
        raise DataError(
            f"With an offset, boosting can't start at a mean of {mean:g}, of training rows or as "
            "`base_score`; draw rows of several values into every refit (`strata=`), or leave "
            'refits without them out (`on_error="drop"`).'
        )
    start, surplus = float(link(mean)), lambda b: weights @ (y - inverse(offset + b))
    ends = start - offset.max() - 1, start - offset.min() + 1
    return start if score is not None else float(optimize.brentq(surplus, *ends, xtol=1e-14))
