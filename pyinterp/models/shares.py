"""Binomial models of statsmodels that were fitted to shares: successes among trials."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.errors import DataError, OptionError, short

__all__ = ["check_shares", "predicts_shares"]


def predicts_shares(results: Any) -> bool:
    """Whether results of a binomial model are of shares: of two columns of counts, or of numbers.

    A response with two levels is also two columns, of 0 and 1, named after the levels.
    """
    model = results.model
    if type(model).__name__ in ("MNLogit", "OrderedModel"):
        return False
    endog = getattr(model, "endog", None)  # a share once the model is made; gone with its data
    fractions = endog is not None and not np.isin(endog, (0, 1)).all()
    return fractions or _counts_trials(model)


def check_shares(results: Any, y: FloatArray, name: str, *, weighted: bool) -> None:
    """Raise unless a response is shares, weighted by trials where the model counts these."""
    if (y < 0).any() or (y > 1).any():
        wrong = float(y[(y < 0) | (y > 1)][0])
        raise DataError(
            "The model predicts shares of successes, so the response must be between 0 and 1, but "
            f"`{short(name)}` is {wrong:g} in some row; pass successes / trials."
        )
    if _counts_trials(results.model) and not weighted:
        raise OptionError(
            "The model was fitted to counts of successes and failures, so losses must weigh rows "
            'by trials; pass `weights=` successes + failures, and `weights_type="sampling"`.'
        )


def _counts_trials(model: Any) -> bool:
    """Whether a model was fitted to two columns, successes and failures."""
    names = getattr(model, "endog_names", None)
    trials = getattr(model, "n_trials", None)
    if trials is not None and np.any(np.asarray(trials) != 1):
        return True
    # Levels are named "sex[female]" and so on, by either version of statsmodels.
    return isinstance(names, list) and not all(str(name).endswith("]") for name in names)
