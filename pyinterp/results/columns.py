"""Columns of a table of several results: ours, and those of statsmodels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.base.model import LikelihoodModelResults
from statsmodels.base.wrapper import ResultsWrapper

from pyinterp.errors import OptionError
from pyinterp.results.results import EstimandResults

__all__ = ["COEFFICIENTS", "Column", "column_of"]

COEFFICIENTS = "coefficients"


@dataclass(frozen=True, kw_only=True)
class Column:
    """What a table of several results shows of one.

    Attributes
    ----------
    learner : str
    description : str
        What the values are, such as "PFI (squared error)".
    params, bse, pvalues : Series
        By term.
    note : str
        Side and adjustment of the tests, if they have any.
    facts : dict of str to str
        The lower part of the table.
    """

    learner: str
    description: str
    params: pd.Series[float]
    bse: pd.Series[float]
    pvalues: pd.Series[float]
    note: str = ""
    facts: dict[str, str] = field(default_factory=dict)


def column_of(results: object) -> Column:
    """Return the column of results of an estimand, or of statsmodels."""
    if isinstance(results, EstimandResults):
        return _of_estimand(results)
    fitted = results._results if isinstance(results, ResultsWrapper) else results
    if isinstance(fitted, LikelihoodModelResults):
        return _of_statsmodels(fitted)
    raise OptionError(
        "`results` must hold results of an estimand such as res.pfi(), or of a model of "
        f"statsmodels such as smf.ols(...).fit(), not {type(results).__name__}."
    )


def _of_estimand(results: EstimandResults) -> Column:
    fit = results.fit
    side = "" if results.alternative == "two-sided" else f"One-sided ({results.alternative})."
    return Column(
        learner=results.context.learner,
        description=results.estimand.description,
        params=results.params,
        bse=results.bse,
        pvalues=results.pvalues,
        note=f"{side} {results.inference.note}".strip(),
        facts={
            "No. observations": str(results.nobs),
            "No. refits": str(results.context.refits),
            "Loss": f"{fit.loss:.4g}" if fit else "",
            "R² or D²": fit.share_text if fit else "",
            "Cov. type": results.variance.label,
        },
    )


def _of_statsmodels(fitted: Any) -> Column:
    """Return the column of coefficients, with the tests of statsmodels."""
    params = fitted.params
    if np.ndim(params) != 1:
        raise OptionError(
            f"Results of statsmodels must have one coefficient per term, but {_name(fitted)} has "
            f"{np.shape(params)[1]} equations; use its own `summary`."
        )
    try:
        names = fitted.model.data.param_names
        numbers = {k: np.asarray(getattr(fitted, k), float) for k in ("params", "bse", "pvalues")}
    except (AttributeError, NotImplementedError, ValueError) as error:
        raise OptionError(
            f"Results of statsmodels must have standard errors and p-values, which {_name(fitted)} "
            "has not: fit it with `fit`, not with `fit_regularized`."
        ) from error
    series = {key: pd.Series(values, index=list(names)) for key, values in numbers.items()}
    share = getattr(fitted, "rsquared", None)
    return Column(
        learner=_name(fitted),
        description=COEFFICIENTS,
        params=series["params"],
        bse=series["bse"],
        pvalues=series["pvalues"],
        facts={
            "No. observations": str(int(fitted.nobs)),
            "R², in sample": "" if share is None else f"{share:.3f}",
            "Cov. type": str(getattr(fitted, "cov_type", "")),
        },
    )


def _name(fitted: Any) -> str:
    return type(fitted.model).__name__
