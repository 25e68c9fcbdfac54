"""Objectives of boosters: their links, and where training starts from an offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from pyinterp._typing import FloatArray
from pyinterp.errors import DataError

# Objectives as they are spelled, without what stands before a colon.
LOG_LINKS = ("poisson", "gamma", "tweedie")
L2 = ("regression", "regression_l2", "l2", "mse", "rmse", "l2_root", "mean_squared_error",
      "root_mean_squared_error", "squarederror", "linear")  # fmt: skip
OTHERS = ("regression_l1", "l1", "mae", "mean_absolute_error", "mape", "huber", "fair", "quantile",
          "mean_absolute_percentage_error", "absoluteerror", "quantileerror",
          "pseudohubererror")  # fmt: skip
OBJECTIVES = (*LOG_LINKS, *L2, *OTHERS)
# With canonical links scores are sums of response - prediction, so fits balance totals.
CANONICAL = ("poisson", *L2)
# Parameters that name the objective: LightGBM takes the others for `objective`, if it has them.
NAMES = ("loss", "objective_type", "app", "application", "objective", "loss_function")


def objective_of(model: Any) -> str:
    """Return the objective of a booster."""
    parameters, given = model.get_params(), "l2"
    for alias in reversed(NAMES):
        if parameters.get(alias) is not None:
            given = parameters[alias]
    parts = str(given).lower().split(":")
    name = parts[0] if parts[0] in LOG_LINKS else parts[-1]
    return f"{name} with reg_sqrt" if parameters.get("reg_sqrt") else name


def log_family(model: Any) -> str:
    """Return the objective if its link is logarithmic, else ""."""
    name = objective_of(model)
    return name if name in LOG_LINKS else ""


def links_of(model: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the link and the inverse link of a booster."""
    return (np.log, np.exp) if log_family(model) else (np.positive, np.positive)


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
