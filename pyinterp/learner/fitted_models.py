"""Results of any estimand: the one place where estimates and inference come together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.data.row_data import Rows
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, quote, short
from pyinterp.estimands.estimand import Estimand
from pyinterp.estimands.groups import by_group
from pyinterp.inference import (
    Alternative,
    CovType,
    InferenceOptions,
    Replicates,
    side_by_side,
    variance,
)
from pyinterp.inference.cov_types import needs_coefficients
from pyinterp.learner.analysis import Analysis
from pyinterp.learner.delta import coefficient_errors
from pyinterp.learner.subgroups import By, among, apart, groups_of
from pyinterp.parameters import takes
from pyinterp.results.results import EstimandResults

__all__ = ["FittedModels", "Inference"]


class Inference(TypedDict, total=False):
    """Options that every estimand takes: the rows that evaluate it, and its inference."""

    rows: Rows
    by: By
    cov_type: CovType | None
    alternative: Alternative
    p_adjust: str | None
    simultaneous: bool


class FittedModels:
    """Fitted models, those of refits or a single one, for which estimands are estimated.

    Attributes
    ----------
    analysis : Analysis
        The models with their rows, seeds and measurements.
    """

    analysis: Analysis

    def __repr__(self) -> str:
        context = self.analysis.context
        refits = f", {context.refits} refits ({context.plan})" if context.level == "learner" else ""
        parts = [short(context.formula, 100), context.specification or context.learner]
        name = ", ".join(filter(None, parts))
        return f"<{type(self).__name__}: {name}{refits}, {context.nobs} rows>"

    @takes()
    def estimate(
        self,
        estimand: Estimand,
        *,
        rows: Rows = None,
        by: By = None,
        cov_type: CovType | None = None,
        alternative: Alternative = "two-sided",
        p_adjust: str | None = None,
        simultaneous: bool = False,
    ) -> EstimandResults:
        """Estimate any estimand; all other methods of estimands call this one.

        Parameters
        ----------
        estimand : Estimand
            What is estimated.
        {rows}
        {by}
        {inference}

        Returns
        -------
        EstimandResults

        Raises
        ------
        OptionError
            If `estimand` is not an Estimand, or the options do not go together.
        """
        options = InferenceOptions(
            cov_type=cov_type,
            alternative=alternative,
            p_adjust=p_adjust,
            simultaneous=simultaneous,
        )
        if not isinstance(estimand, Estimand):
            raise OptionError(
                "`estimand` must be an Estimand, such as that of `pi.mean_over_rows`, not "
                f"{quote(estimand)}."
            )
        analysis = self.analysis if rows is None else among(self.analysis, rows)
        groups = None if by is None else groups_of(analysis, by)
        if estimand.rowless and (rows is not None or by is not None):
            raise OptionError(
                f"`{'by' if rows is None else 'rows'}` would change nothing: {estimand.rowless}."
            )
        parts = [analysis] if groups is None else apart(analysis, groups)
        context = replace(
            analysis.context, engine=analysis.engine_of(estimand), plan_note=analysis.plan_note
        )
        each = [_replicates(part, estimand, options.cov_type) for part in parts]
        replicates = each[0] if groups is None else side_by_side(each)
        corrected = [_corrected_params(part, estimand, options.cov_type) for part in parts]
        beside = estimand.diagnostic
        terms = estimand if groups is None else by_group(estimand, groups)
        return EstimandResults(
            estimand=terms,
            replicates=replicates,
            variance=variance(replicates, options.cov_type),
            # No study is of groups.
            context=context
            if groups is None
            else replace(context, study_name="", groups=groups.counts),
            fit=analysis.fit(estimand),
            rows=replicates.rows,
            labels=_labels(parts),
            alternative=options.alternative,
            p_adjust=options.p_adjust,
            simultaneous=options.simultaneous,
            data=_with_response(analysis.problem.population),
            diagnostic=None if beside is None else self.estimate(beside, rows=rows, by=by),
            corrected_params=_by_term(corrected, terms),
        )


def _replicates(
    analysis: Analysis, estimand: Estimand, cov_type: CovType | None, *, checked: bool = True
) -> Replicates:
    """Return replicates, with the errors of coefficients where the delta method needs them."""
    replicates = analysis.replicates(estimand, checked=checked)
    coefficients = analysis.coefficients if _takes_delta(estimand, cov_type) else None
    if coefficients is None:
        return replicates
    errors = coefficient_errors(analysis, estimand, coefficients)
    return replace(replicates, coefficient_errors=errors)


def _takes_delta(estimand: Estimand, cov_type: CovType | None) -> bool:
    """Whether the delta method is asked for, or is the default of the estimand.

    Distributions are predicted by more than coefficients.
    """
    wanted = estimand.effect if cov_type is None else needs_coefficients(cov_type)
    return wanted and not estimand.distributional


def _labels(parts: Sequence[Analysis]) -> tuple[pd.Index, ...]:
    """Return the users' names of the evaluation rows of each refit, one group after the other."""
    return tuple(
        same[0].append(list(same[1:])) if len(same) > 1 else same[0]
        for same in zip(*(part.labels for part in parts), strict=True)
    )


def _by_term(parts: Sequence[FloatArray | None], estimand: Estimand) -> pd.Series[float] | None:
    """Return corrected estimates by term; None without correction."""
    values = [part for part in parts if part is not None]
    if not values:
        return None
    index = pd.Index(estimand.terms.names, name="term")
    return pd.Series(np.concatenate(values), index=index, name="corrected")


def _with_response(population: Sample) -> pd.DataFrame:
    """Return the variables and, under its name, the response."""
    if population.response is None or population.y is None:
        return population.variables
    name = population.response.name
    return population.variables.assign(**{name: population.response.column(population.y)})


def _corrected_params(
    analysis: Analysis, estimand: Estimand, cov_type: CovType | None
) -> FloatArray | None:
    """Return estimates corrected for the bias due to sampling variance; None without correction."""
    correction = estimand.correction
    if correction is None:
        return None
    underlying = replace(
        estimand, read=correction.underlying, varies_as_square=False, correction=None
    )
    means = _replicates(analysis, underlying, cov_type, checked=False)
    return correction.correct(means.per_refit.mean(axis=0), variance(means, cov_type).cov)
