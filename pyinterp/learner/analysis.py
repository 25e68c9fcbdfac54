"""Fitted models with their rows and seeds, and the sums that were measured on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import BoolArray, FloatArray, IntArray
from pyinterp.data.row_data import RowData, Rows
from pyinterp.errors import DataError, InferenceError, OptionError, quote
from pyinterp.estimands.estimand import Estimand, Problem, check_estimate
from pyinterp.estimands.estimate import Estimate, ModelOnRows
from pyinterp.estimands.groups import RowGroups
from pyinterp.estimands.questions import RequestKey, key_of
from pyinterp.estimands.risk import metric_of_rows, risk
from pyinterp.inference import CovType, Evaluations, RefitSums, Replicates, variance
from pyinterp.inference.cov_types import needs_coefficients
from pyinterp.inference.half_sample.half_refits import HalfRefits, signal_and_spread
from pyinterp.inference.replicates import CoefficientErrors, RefitEstimate
from pyinterp.learner.models import FitFacts, Models, Positions, Scope
from pyinterp.learner.row_order import order_note
from pyinterp.losses.metrics import Metric
from pyinterp.losses.rowwise import Loss, by_weight, choose, suits
from pyinterp.models.library import Aim
from pyinterp.parallel.progress import ProgressOption
from pyinterp.random import Seeds
from pyinterp.representation import about, frozen
from pyinterp.resampling.checkpoint import Shard
from pyinterp.resampling.refits import Refit, estimating
from pyinterp.resampling.splits import LATER_ROWS
from pyinterp.results.header import NOTHING, OR_OTHER, Context, GoodnessOfFit

CROSS_FITS = "cross-fits; "  # of the names of analyses
IN_SAMPLE = (
    "these rows trained the model, so that losses are too small and importances too large, also "
    "of features without effect; use `learner.fit()`"
)
AHEAD = (
    "every refit is evaluated on rows after its training rows, and no variance here allows for "
    "dependence in time"
)
TOO_ALIKE = (
    "refits on more than 7 of 10 rows are too alike for effects: intervals by their "
    "spread covered 24% to 82% in simulations; fit with `pi.HalfSampling()`, or ask for them by "
    '`cov_type="corrected"`'
)
MOST_FOLDS = 0.4  # evaluation rows per training row, below which refits are too alike
LEAST_ROWS = 2  # of a refit: a donor is another row
PAIRS = 5  # of half-sampling that are pooled: as good as 5 folds, for 10 fits on halves per feature


@frozen
class Analysis:
    """Fitted models with their rows, seeds and options, and the measurements made so far.

    Attributes
    ----------
    models : Models
        What answers estimands: the refits' models, or what was measured of them.
    problem : Problem
        Population, features and predictor, which fix the terms of estimands.
    refits : tuple of Refit
        One or more, those in pairs included.
    evaluations : Evaluations
        Which rows evaluate which refit.
    context : Context
        Names and numbers that headers of tables show.
    seeds : Seeds
        Root of the random streams.
    data : RowData or None
        The user's data, in which subgroups are named; None if every refit draws new rows.
    whole : Analysis or None
        The analysis of all rows, if this is one of some of them.
    positions : tuple of tuple of ndarray
        How the rows that evaluate are chosen, if they are some of all, as in `Scope`.
    name : str
        The same of the same rows in every session; empty of all.
    shard : Shard or None
        Which part of a plan's refits these are, if they are not all.
    sums : dict of tuple to (Estimand, RefitSums)
        What was measured, by request.
    errors_of_coefficients : dict of tuple to (Estimand, CoefficientErrors)
        What was computed for the delta method, by request.
    subsets : dict of (bytes, str) to Analysis
        Analyses of some of the rows, by mask and name.
    """

    models: Models
    problem: Problem
    refits: tuple[Refit, ...]
    evaluations: Evaluations
    context: Context
    seeds: Seeds
    data: RowData | None = None
    whole: Analysis | None = None
    positions: Positions = ()
    name: str = ""
    shard: Shard | None = None
    sums: dict[RequestKey, tuple[Estimand, RefitSums]] = field(default_factory=dict, init=False)
    errors_of_coefficients: dict[RequestKey, tuple[Estimand, CoefficientErrors]] = field(
        default_factory=dict, init=False
    )
    subsets: dict[tuple[bytes, str], Analysis] = field(default_factory=dict, init=False)
    _fits: dict[Loss | Metric, GoodnessOfFit] = field(default_factory=dict, init=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out measurements, which are made again when they are needed."""
        return vars(replace(self))

    @property
    def scope(self) -> Scope:
        """The rows that evaluate."""
        return Scope(self.evaluations, self.positions, self.name)

    @property
    def cases(self) -> tuple[ModelOnRows, ...]:
        """One case per refit; each keeps the computations on its rows as long as it exists."""
        self._check_whole()
        return self.models.cases(self.scope)

    def _check_whole(self) -> None:
        """Raise `OptionError` if the refits are a shard, which says nothing by itself."""
        if self.shard is not None:
            raise OptionError(
                "Estimates need the refits of all shards, but these are of shard "
                f"{self.shard.number} of {self.shard.count}; `pi.join` has all, when all are done."
            )

    def user_data(self, argument: str) -> RowData:
        """Return the user's data; raise `OptionError` if every refit draws new rows."""
        if self.data is None:
            raise OptionError(
                f"`{argument}` can't be with fresh draws: every refit is evaluated on rows of its "
                "own, which a mask or a column of the data does not name."
            )
        return self.data

    def among(self, rows: Rows) -> Analysis:
        """Return the analysis of the evaluation rows that a mask or a query names."""
        data = self.user_data("rows")
        mask = data.mask(rows)
        if not (mask & data.complete).any():
            name = quote(rows) if isinstance(rows, str) else "the mask"
            raise DataError(f"`rows` must keep some of the analyzed rows, but {name} keeps none.")
        return self.on(mask, rows if isinstance(rows, str) else "by a mask")

    def groups(self, by: str | npt.ArrayLike) -> RowGroups:
        """Return the groups of rows that are the levels of a column, by its name or as an array."""
        data = self.user_data("by")
        name = by if isinstance(by, str) else getattr(by, "name", None)
        column = data.column(by, "by")
        return RowGroups.of(column, data.complete, "group" if name is None else str(name))

    def on(self, rows: BoolArray, name: str) -> Analysis:
        """Return the analysis of the same fitted models on some of their evaluation rows.

        Parameters
        ----------
        rows : ndarray of bool, shape (N,)
            Which rows of the data to keep.
        name : str
            What these rows are called.

        Raises
        ------
        DataError
            If a refit keeps fewer than 2 evaluation rows.
        """
        key = rows.tobytes(), name
        if key in self.subsets:
            return self.subsets[key]
        evaluations, positions = self.evaluations.among(rows)
        counts = [len(each) for each in positions]
        if min(counts) < LEAST_ROWS:
            few = sum(count < LEAST_ROWS for count in counts)
            total, least = int(rows.sum()), self.refits[int(np.argmin(counts))].number
            raise DataError(
                f"Every refit needs at least {LEAST_ROWS} evaluation rows of a subgroup, but "
                f"{few} of {len(counts)} have fewer: the subgroup ({name}) has {total} "
                f"row{'' if total == 1 else 's'}, of which refit {least} has {min(counts)}. Merge "
                "groups, or draw within them (`strata=`)."
            )
        digest = blake2b(key[0], digest_size=16).digest()
        context = replace(
            self.context,
            n_evaluation=float(np.mean(evaluations.unit_counts)),
            resamples=tuple(each + digest for each in self.context.resamples),
            subgroup=f"{int(rows[self.problem.sample.rows].sum())}, {name}",
        )
        data = self.data and replace(self.data, complete=self.data.complete & rows)
        self.subsets[key] = replace(
            self,
            evaluations=evaluations,
            context=context,
            data=data,
            whole=self,
            positions=(*self.positions, positions),
            name=f"{self.name}{digest.hex()} {name}; ",
        )
        return self.subsets[key]

    @property
    def cross_fits(self) -> Analysis:
        """The analysis of refits that all rows evaluate equally often: of halves, the first pairs.

        Raises
        ------
        InferenceError
            If the plan leaves rows out, or evaluates some more often.
        """
        pairs = self.evaluations.pairs[:PAIRS]
        kept = sorted(k for pair in pairs for k in pair) or [*self.evaluations.estimating]
        if len(self.refits) > 1:  # a single refit may be one of many: nothing to check
            self._check_cross_fits(kept)
        key = b"", "cross-fits"
        if len(kept) == len(self.refits):
            return self
        if key not in self.subsets:
            refits = tuple(self.refits[k] for k in kept)
            evaluations, context = self.evaluations, self.context
            groups = (evaluations.groups[k] for k in kept)
            self.subsets[key] = replace(
                self,
                models=self.models.some(kept),
                refits=refits,
                evaluations=replace(
                    evaluations,
                    at=tuple(at for k, at in enumerate(evaluations.at) if k in kept),
                    groups=tuple(g if g is not None and g.kind == "pair" else None for g in groups),
                ),
                context=replace(
                    context,
                    refits=len(kept),
                    pairs=len(pairs),
                    n_train=float(np.mean([refit.n_train for refit in refits])),
                    n_evaluation=float(np.mean([refit.n_evaluation for refit in refits])),
                    resamples=tuple(context.resamples[k] for k in kept),
                ),
                positions=tuple(tuple(each[k] for k in kept) for each in self.positions),
                name=f"{self.name}{CROSS_FITS}",
            )
        return self.subsets[key]

    def _check_cross_fits(self, refits: Sequence[int]) -> None:
        """Raise `InferenceError` unless refits evaluate all rows equally often, out of sample."""
        every = self
        while every.whole is not None:
            every = every.whole
        times = every.evaluations.counts(refits)
        nobs, out = every.problem.sample.nobs, self.context.where == "out of sample"
        if not out or len(times) != nobs or times.min() < times.max() or not times.min():
            raise InferenceError(
                "Rows are pooled over refits that were not trained on them, every row over as "
                f"many, but {self.context.plan} leaves rows out, or draws them again; fit with "
                "`pi.CrossValidation(5)` or `pi.HalfSampling()`."
            )

    def _pool(self, estimand: Estimand, measured: RefitSums) -> Replicates:
        """Return one estimate of all rows, of each the mean over the refits that it evaluates."""
        evaluations = self.evaluations
        if not self.name.endswith(CROSS_FITS):  # pairs were looked at when they were picked
            self._check_cross_fits(evaluations.estimating)
        means = Replicates(evaluations=evaluations, sums=measured).row_means
        estimate = cast("Callable[[Estimate], Estimate]", estimand.pool)(Estimate.of_rows(means))
        check_estimate(estimate, estimand, len(means))
        rows = evaluations.rows
        one = RefitEstimate(estimate, rows, None, evaluations.clusters, evaluations.weights)
        return Replicates.of([one], pool=True)

    def labels(self, rows: IntArray) -> pd.Index:
        """Return the user's names of rows by their positions in the data, or these."""
        sample = self.problem.sample
        if self.data is None or sample.index is None:
            return pd.Index(rows, name="row")
        return sample.index.take(np.searchsorted(sample.rows, rows))

    @cached_property
    def estimating(self) -> tuple[Refit, ...]:
        """The refits whose mean is the estimate: all, if there are only pairs."""
        return estimating(self.refits)

    def measure(self, *asked: Estimand, progress: ProgressOption = False) -> list[RefitSums]:
        """Return the sums over refits of every estimand, in the order asked.

        Only estimands that were not measured before are computed, in one pass over the models.
        """
        self._check_whole()
        keys, new = [], dict[RequestKey, Estimand]()
        for estimand in asked:
            keys.append(key_of(estimand))
            if keys[-1] not in self.sums:
                new.setdefault(keys[-1], estimand)
        if new:
            measured = self.models.measure([*new.values()], self.scope, progress)
            self.sums.update(zip(new, zip(new.values(), measured, strict=True), strict=True))
        return [self.sums[key][1] for key in keys]

    def replicates(self, estimand: Estimand, cov_type: CovType | None = None) -> Replicates:
        """Return the estimates of every refit, as variances need them.

        With the errors of coefficients where the delta method is the variance, as it is by default
        of effects. Distributions are predicted by more than coefficients.
        """
        (measured,) = self.measure(estimand)
        if estimand.pool is not None:
            return self._pool(estimand, measured)
        half_refits = self.facts.half_refits
        if half_refits is not None and estimand.parameter.no_effect is not None:
            half_refits = replace(half_refits, mean_share=self.mean_share)
        by_delta = self.by_delta(estimand, cov_type)
        return Replicates(
            evaluations=self.evaluations,
            sums=measured,
            no_effect=estimand.parameter.no_effect,
            no_intervals=self._no_intervals(estimand, cov_type),
            half_refits=() if half_refits is None else (half_refits,),
            coefficient_errors=self.coefficient_errors(estimand) if by_delta else None,
        )

    def _no_intervals(self, estimand: Estimand, cov_type: CovType | None) -> str:
        """Why no interval of an estimand is valid, if none is."""
        about, rows = estimand.parameter, self.evaluations
        folds = 0 < rows.correction < MOST_FOLDS and not rows.pairs and rows.bootstraps is None
        if self.context.where == LATER_ROWS:
            return AHEAD
        if about.effect and folds and cov_type is None and len(rows.estimating) > 1:
            return TOO_ALIKE
        of_losses = about.better or (about.null is not None and not about.effect)
        if self.context.where == "in sample" and estimand.score and of_losses:
            return IN_SAMPLE
        return ""

    def by_delta(self, estimand: Estimand, cov_type: CovType | None = None) -> bool:
        """Whether the variance is of coefficients, if the model states theirs."""
        by_type = estimand.parameter.effect if cov_type is None else needs_coefficients(cov_type)
        return by_type and self.context.level == "model" and estimand.predictions != "distribution"

    def coefficient_errors(self, estimand: Estimand) -> CoefficientErrors | None:
        """Return how the estimates of one model change with its coefficients, if it has some."""
        key = key_of(estimand)
        if key not in self.errors_of_coefficients:
            errors = self.models.coefficient_errors(estimand, self.scope)
            if errors is None:
                return None
            self.errors_of_coefficients[key] = estimand, errors
        return self.errors_of_coefficients[key][1]

    @cached_property
    def facts(self) -> FitFacts:
        """What the fit knows of its predictions of the rows as they are."""
        return self.models.facts(self._describe) if self.whole is None else self.whole.facts

    @cached_property
    def mean_share(self) -> float:
        """The share of their training variance that means of predictions over refits keep."""
        return self.models.mean_share() if self.whole is None else self.whole.mean_share

    def need_trainer(self) -> None:
        """Raise `OptionError` if there is no learner to train again."""
        if not self.models.trains:
            raise OptionError(
                "LOCO and `population` train the learner again without each feature, but a fitted "
                "model has no learner to train; use the results of `pi.Learner(...).fit()`."
            )

    def _describe(self, factual: Sequence[FloatArray]) -> FitFacts:
        """Return statistics of the fit from predictions of the evaluation rows, by refit.

        These are predictions of halves, and footnotes on rows that look ordered in time. Repeated
        rows and rows of one fitted model have none.
        """
        context, single = self.context, self.data is not None and self.data.repeats is None
        look = single and self.models.trains
        order = order_note(self.problem.sample, self.refits, factual) if look else ""
        total = np.median([r.predictor.total for r in self.refits]) if context.offset else 1.0
        far = f"Predictions of the training rows add up to {total:.2f} times the response."
        notes = [context.plan_note, order, far if total != 1 else ""]
        half_refits = None
        halves = [r.group is not None and r.group.kind == "pair" for r in self.refits]
        if self.problem.sample.y is not None and any(halves):
            found = np.array(
                [
                    signal_and_spread(np.asarray(refit.evaluation.y), predicted)
                    for refit, predicted in zip(self.refits, factual, strict=True)
                ]
            )
            of_halves = np.array(halves)
            half_refits = HalfRefits(estimating=found[~of_halves], halves=found[of_halves])
        return FitFacts(half_refits=half_refits, plan_note=" ".join(filter(None, notes)))

    def scores(self, estimand: Estimand) -> list[Estimand]:
        """Return the estimands of how good the predictions are, by the estimand's loss or metric.

        None without a response; the second is the share explained, of a loss that has one.
        """
        problem = self.problem
        if problem.sample.y is None:
            return []
        score = estimand.score
        if isinstance(score, Metric):
            return [metric_of_rows(problem, score)]
        score = choose(score, problem.predictor, problem.response)
        found = [risk(problem, loss=score)]
        equal = problem.sample.weights is None
        if by_weight(score.constant) or (equal and score.constant is not None):
            found.append(risk(problem, loss=score, relation="explained"))
        return found

    def fit(self, estimand: Estimand) -> GoodnessOfFit | None:
        """Return how good the predictions are, by the estimand's loss or metric.

        None without a response.
        """
        scores = self.scores(estimand)
        if not scores:
            return None
        score = cast("Loss | Metric", scores[0].score)
        if score in self._fits:
            return self._fits[score]
        self.measure(*scores)
        values, *explained = [self.replicates(one) for one in scores]
        try:
            bse = float(np.sqrt(variance(values, None).cov[0, 0]))
        except InferenceError:  # one refit of one cluster
            bse = float("nan")
        self._fits[score] = GoodnessOfFit(
            name=score.name,
            loss=float(values.per_refit.mean()),
            bse=bse,
            share_name=scores[1].words.label if explained else "",
            explained_share=float(explained[0].per_refit.mean()) if explained else float("nan"),
            kind="Metric" if isinstance(score, Metric) else "Loss",
            verdict=_verdict(score, self.problem.predictor.aim),
        )
        return self._fits[score]

    __repr__ = about


def _verdict(score: Loss | Metric, aim: Aim) -> str:
    """Return the words on a learner with a negative explained share."""
    if not suits(score, aim):
        what = f"the {aim.phrase}" if aim.q is not None else f"no mean ({aim.words})"
        return f"one constant has a smaller {score.name}, but the learner predicts {what}."
    rate = "rate" if aim.name.startswith("rate") else ""
    what = f"constant {aim.phrase if aim.q is not None else rate}".rstrip()
    return NOTHING.format(what, OR_OTHER * (aim.name == "unknown"))
