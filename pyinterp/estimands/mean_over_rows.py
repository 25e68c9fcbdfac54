"""Estimands of users: the mean over rows of a function of responses and predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.checks import check_callable
from pyinterp.data.features import names_of
from pyinterp.errors import OptionError, quote, reason
from pyinterp.estimands.estimand import Estimand, Parameter, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.models.prediction_checks import real_numbers
from pyinterp.ranges import REAL, Range


def mean_over_rows(
    function: Callable[[FloatArray, FloatArray], Any],
    label: str,
    *,
    names: Sequence[str] | None = None,
    title: str | None = None,
    note: str | None = None,
    unit: str = "",
    null: float | None = None,
    range: Range = REAL,  # noqa: A002 - the name of the estimand's field
) -> Estimand:
    r"""Return the estimand :math:`E[g(Y, f(X))]`, for ``results.estimate``.

    Parameters
    ----------
    function : callable
        ``function(y, prediction)`` returns every row's value of g, shape (n,), or of q functions,
        shape (n, q). `y` has shape (n,), with codes 0, 1, ... of classes; `prediction` has shape
        (n,), or (n, classes) for probabilities.
    label : str
        Heading of the estimates' column, and the term's name if there is one.
    names : sequence of str, optional
        Names of the q terms.
    title, note : str, optional
        Title of the table, and its first footnote: the meaning of the value.
    unit : str
        Unit of the values.
    null : float, optional
        Value under the null hypothesis; without it tables have no test.
    range : tuple of float, optional
        The least and the largest value that the mean can have, such as ``(0, np.inf)``. Intervals
        stay in it: without `null` they are symmetric on a logarithmic scale.

    Returns
    -------
    Estimand

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> bias = pi.mean_over_rows(lambda y, prediction: prediction - y, "bias", null=0.0)
    >>> bool(abs(learner.fit(seed=1).estimate(bias).tvalues["bias"]) < 3)
    True
    """
    check_callable("function", function, "lambda y, prediction: prediction - y")
    terms = [label] if names is None else names_of(names, "names")
    if len(set(terms)) < len(terms):
        raise OptionError(f"`names` must be different, but {quote(terms)} are not.")
    return Estimand(
        key=("mean over rows", function, tuple(terms)),
        terms=Terms.plain(terms),
        measure=partial(_measure, function=function, count=len(terms)),
        words=Words(
            label=label,
            title=title or f"mean {label}",
            quantity=title or f"mean {label}",
            unit=unit,
            meaning=note or "Mean over evaluation rows.",
        ),
        parameter=Parameter(null=null, range=range),
        no_weights=None,
    )


def _measure(
    case: ModelOnRows, *, function: Callable[[FloatArray, FloatArray], Any], count: int
) -> Measurement:
    y, prediction = case.y, case.whatif.factual
    try:
        values = real_numbers(function(y, prediction))
    except Exception as error:
        raise OptionError(f"`function` can't be computed: {reason(error)}.") from error
    if values is not None and values.ndim == 1:
        values = values[:, None]
    if values is None or values.shape != (len(y), count) or not np.isfinite(values).all():
        got = "something else" if values is None else f"shape {values.shape}"
        raise OptionError(
            f"`function` must return finite numbers of shape ({len(y)}, {count}), one row per "
            f"evaluation row and one column per name; got {got}."
        )
    return {"mean": Estimate.of_rows(values, case.weights)}
