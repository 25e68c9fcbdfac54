"""Results of any estimand: the one place where estimates and inference come together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self, TypeAlias, TypedDict, TypeVar, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.checks import check_jobs
from pyinterp.data.row_data import Rows
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, quote, short
from pyinterp.estimands.estimand import Correction, Estimand, Terms, check_weights
from pyinterp.estimands.groups import by_group
from pyinterp.hints import Hints
from pyinterp.inference import Alternative, CovType, check_inference, side_by_side, variance
from pyinterp.learner.analysis import Analysis
from pyinterp.parallel.progress import ProgressOption
from pyinterp.parameters import takes
from pyinterp.resampling.resampling import SMALL_SHARE
from pyinterp.results.results import EstimandResults

T = TypeVar("T")
By: TypeAlias = str | npt.ArrayLike | None
ONE_GROUP = (
    "it puts several estimands side by side; ask for one estimand by groups, such as "
    '`pfi(by="sex")`, or for one group with `rows=`.'
)


class Inference(TypedDict, total=False):
    """Options that every estimand takes: the rows that evaluate it, and its inference."""

    rows: Rows
    by: By
    cov_type: CovType | None
    alternative: Alternative
    p_adjust: str | None
    simultaneous: bool
    progress: ProgressOption


class FittedModels(Hints):
    """Fitted models, of refits or a single one, for which estimands are estimated.

    Attributes
    ----------
    analysis : Analysis
        The models with their rows, seeds and measurements.
    """

    analysis: Analysis
    # What is to be measured, on which rows, and how its progress is shown.
    _questions: list[tuple[Analysis, list[Estimand], ProgressOption]] | None = None
    # What stands in their way.
    _obstacles: list[str]

    def _together(self, ask: Callable[[Self], T]) -> T:
        """Return what a function asks of the fit, all of it measured in one pass over the models.

        Models make rows ready once then, and samplers learn once.
        """
        listener = copy(self)
        listener._questions, listener._obstacles = [], []
        ask(listener)
        if listener._obstacles:
            raise OptionError(*dict.fromkeys(listener._obstacles))
        by_rows: dict[int, list[tuple[Analysis, list[Estimand], ProgressOption]]] = {}
        for question in listener._questions:
            by_rows.setdefault(id(question[0]), []).append(question)
        for questions in by_rows.values():
            analysis, _, progress = questions[0]
            every = [estimand for _, asked, _ in questions for estimand in asked]
            analysis.measure(*every, progress=progress)
        return ask(self)

    def __repr__(self) -> str:
        context = self.analysis.context
        refits = f", {context.refits} refits ({context.plan})" if context.level == "learner" else ""
        parts = [short(context.formula, 100), context.specification or context.learner]
        name = ", ".join(filter(None, parts))
        return f"<{type(self).__name__}: {name}{refits}, {context.nobs} rows>"

    @takes()
    def estimate(self, estimand: Estimand, **inference: Unpack[Inference]) -> EstimandResults:
        """Estimate any estimand, such as one that you wrote.

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

        Examples
        --------
        >>> bias = pi.mean_over_rows(lambda y, prediction: prediction - y, "bias", null=0.0)
        >>> res.estimate(bias).summary_frame().iloc[:, :4].round(2)
              estimate  std_error  std_error_null  statistic
        term
        bias     -2.94       3.33            3.33      -0.88
        """
        if not isinstance(estimand, Estimand):
            raise OptionError(
                "`estimand` must be an Estimand, such as that of `pi.mean_over_rows`, not "
                f"{quote(estimand)}."
            )
        return self._estimate(lambda _: estimand, **inference)

    def _estimate(
        self,
        function: Callable[..., Estimand],
        /,
        *args: Any,
        rows: Rows = None,
        by: By = None,
        cov_type: CovType | None = None,
        alternative: Alternative = "two-sided",
        p_adjust: str | None = None,
        simultaneous: bool = False,
        progress: ProgressOption = False,
        **options: Any,
    ) -> EstimandResults:
        """Estimate the estimand that a function makes of the problem and other arguments."""
        try:
            estimand = function(self.analysis.problem, *args, **options)
            check_weights(estimand, self.analysis.problem.population)
        except OptionError as error:
            if self._questions is None:
                raise
            self._obstacles += error.args
            return None  # type: ignore[return-value] # nothing reads it
        check_inference(cov_type, alternative, p_adjust, simultaneous=simultaneous)
        check_jobs(None, progress)
        if estimand.basis == "model" and (rows is not None or by is not None):
            raise OptionError(
                f"`{'by' if rows is None else 'rows'}` would change nothing: "
                f"{estimand.words.title} is what the fitted model reports, whatever the "
                "evaluation rows."
            )
        analysis = self.analysis if rows is None else self.analysis.among(rows)
        if estimand.pool is not None:
            analysis.need_trainer()
            analysis = analysis.cross_fits
        share = analysis.evaluations.share
        if share < 1:
            few = ", less than a tenth of them," if share < SMALL_SHARE else ""
            inexact = f"as some of all evaluation rows{few or ','} and maybe draws, are used"
            estimand = replace(estimand, words=replace(estimand.words, inexact=inexact))
        parts, terms, context = [analysis], estimand, analysis.context
        if estimand.pool is not None:
            context = replace(context, level="population")
        if by is not None:
            groups = analysis.groups(by)
            parts = [
                analysis.on(groups.of_row == k, f"{groups.name} = {level}")
                for k, level in enumerate(groups.levels)
            ]
            terms = by_group(estimand, groups)
            context = replace(context, groups=groups.counts)
        asked = [estimand, *_beside(estimand)]
        asked += analysis.scores(estimand) if by is None else []
        if self._questions is not None:
            self._questions += [(part, asked, progress) for part in parts]
            return None  # type: ignore[return-value] # nothing reads it
        measured = [part.measure(*asked, progress=progress)[0] for part in parts]
        every = [part.replicates(estimand, cov_type) for part in parts]
        replicates = every[0] if by is None else side_by_side(every)
        # All that asks models comes before the variance, which may be an error.
        fit, correction = analysis.fit(estimand), estimand.correction
        diagnostic = None
        if estimand.diagnostic is not None:
            diagnostic = self.estimate(estimand.diagnostic, rows=rows, by=by, progress=progress)
        positions = np.concatenate([part.evaluations.estimating_rows for part in parts])
        return EstimandResults(
            estimand=terms,
            replicates=replicates,
            variance=variance(replicates, cov_type),
            context=replace(context, engine=measured[0].engine, plan_note=analysis.facts.plan_note),
            fit=fit,
            rows=positions,
            labels=analysis.labels(positions),
            alternative=estimand.parameter.only or alternative,
            p_adjust=p_adjust,
            simultaneous=bool(simultaneous),
            data=_with_response(analysis.problem.population),
            diagnostic=diagnostic,
            corrected_params=(
                None
                if correction is None
                else _corrected_params(parts, estimand, correction, terms, cov_type)
            ),
        )


def _beside(estimand: Estimand) -> list[Estimand]:
    """Return what else is read of the same measurement, or of the same rows, for its table."""
    beside = [] if estimand.correction is None else [_underlying(estimand, estimand.correction)]
    return beside if estimand.diagnostic is None else [*beside, estimand.diagnostic]


def _underlying(estimand: Estimand, correction: Correction) -> Estimand:
    """Return the means that an estimand corrects; their terms come with the numbers."""
    return replace(
        estimand,
        terms=Terms.plain(()),
        read=correction.underlying,
        form=(estimand.form, "means"),
        parameter=replace(estimand.parameter, no_effect=None),
        correction=None,
    )


def _with_response(population: Sample) -> pd.DataFrame:
    """Return the variables and, under its name, the response."""
    if population.response is None or population.y is None:
        return population.variables
    name = population.response.name
    return population.variables.assign(**{name: population.response.column(population.y)})


def _corrected_params(
    parts: Sequence[Analysis],
    estimand: Estimand,
    correction: Correction,
    terms: Estimand,
    cov_type: CovType | None,
) -> pd.Series[float]:
    """Return estimates corrected for the bias due to sampling variance."""
    underlying = _underlying(estimand, correction)
    values = []
    for part in parts:
        means = part.replicates(underlying, cov_type)
        covariance = variance(means, cov_type).cov
        values.append(correction.correct(means.per_refit.mean(axis=0), covariance))
    index = pd.Index(terms.terms.names, name="term")
    return pd.Series(np.concatenate(values), index=index, name="corrected")
