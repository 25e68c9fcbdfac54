"""All methods of a fitted learner or model: one for each question."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter
from typing import Any

from pyinterp.estimands.questions import Method, ask, methods
from pyinterp.learner.fitted_models import FittedModels, MethodOptions
from pyinterp.parameters import GROUPS, check_keywords, whole_signature
from pyinterp.results.results import EstimandResults
from pyinterp.results.table import Table
from pyinterp.results.together import (
    CausalResults,
    ImportanceResults,
    PopulationResults,
    UncertaintyResults,
)

Estimates = Callable[..., EstimandResults]


class Interpretable(FittedModels):
    """Methods common to a fitted learner and a single fitted model: one for each question.

    They are made of the functions of `pyinterp.estimands` that say so; type checkers find those
    of the package here.
    """

    pd: Callable[..., Any]
    ale: Estimates
    ame: Estimates
    firm: Estimates
    vint: Estimates
    h_statistic: Estimates
    pfi: Estimates
    mvim: Estimates
    cvim: Estimates
    amvim: Estimates
    loco: Estimates
    sage: Estimates
    likelihood_pfi: Estimates
    entropy_pfi: Estimates
    uncertainty: Callable[..., UncertaintyResults]
    redundancy: Callable[..., ImportanceResults]
    positivity: Estimates
    population: Callable[..., PopulationResults]
    compare_targets: Estimates
    interactions: Estimates
    products: Estimates
    native_importance: Estimates
    importance: Callable[..., ImportanceResults]
    causal: Callable[..., CausalResults]
    loss: Estimates
    metric: Estimates
    estimate: Estimates

    def summary(self, alpha: float | None = None, **options: Any) -> Table:
        """Return the table of permutation importances, ``pfi()``, as an overview of the fit.

        Parameters
        ----------
        alpha : float, optional
            Significance level of the intervals, by default 0.05.
        **options
            As of ``pfi().summary``.

        Examples
        --------
        >>> str(res.summary(notes="none", decimals=1)) == str(
        ...     res.pfi().summary(notes="none", decimals=1)
        ... )
        True
        """
        return self.pfi().summary(alpha, **options)


def _method(name: str, one: Method) -> Callable[..., Any]:
    """Return the method of results that asks the question of a name."""
    shown = whole_signature(one.function, one.reasons, MethodOptions)
    first, *others = shown.parameters.values()
    shown = shown.replace(
        parameters=[first.replace(name="self", annotation=Parameter.empty), *others]
    )

    @wraps(one.function)
    def method(self: FittedModels, /, *args: Any, **options: Any) -> Any:
        inference = {n: options.pop(n) for n in GROUPS["inference"] if n in options}
        check_keywords(name, inference, one.names, one.reasons)
        question = ask(name, *args, **options)
        return self._answers([question], **inference)[0]

    method.__name__, method.__qualname__ = name, f"{Interpretable.__name__}.{name}"
    method.__signature__ = shown  # type: ignore[attr-defined]  # what `help` shows
    return method


for _name, _one in methods().items():
    setattr(Interpretable, _name, _method(_name, _one))
