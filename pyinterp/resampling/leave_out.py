"""Refits trained again without some variables; only their predictions are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from joblib import effective_n_jobs

from pyinterp._typing import FloatArray, Matrix
from pyinterp.data.design import Design
from pyinterp.data.sample import Sample
from pyinterp.errors import OptionError, RefitError, reason
from pyinterp.models.adapters import by_variable, column_positions, without_columns
from pyinterp.models.copies import kept_streams
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.models.threads import shared_cores
from pyinterp.parallel import outcomes
from pyinterp.parallel.progress import ProgressOption
from pyinterp.random import Seeds
from pyinterp.resampling.checkpoint import Checkpoint
from pyinterp.resampling.proof import prove
from pyinterp.resampling.refits import Refit, RefitOptions, fit_one, outcome_of

Key: TypeAlias = tuple[int, tuple[str, ...]]
Rest: TypeAlias = tuple[Design, Any]  # and an estimator of it
# Predictions by their kind; the first is the default of the model.
ByKind: TypeAlias = dict[Kind, FloatArray]


@dataclass(frozen=True, kw_only=True)
class LeaveOut:
    """Trains refits again on the same rows without some variables, and keeps their predictions.

    Attributes
    ----------
    estimator : estimator
        Unfitted, as it was when the refits were made.
    refits : tuple of Refit
    seeds : Seeds
        Root of the refits' random streams. A refit that is trained again uses the same
        stream again: the two differ by the variables, not by chance.
    options : RefitOptions
        As for the refits.
    checkpoint : Checkpoint or None
        Keeps the predictions of every refit that is trained again.
    """

    estimator: Any
    refits: tuple[Refit, ...]
    seeds: Seeds
    options: RefitOptions
    checkpoint: Checkpoint | None = None
    _predictions: dict[Key, ByKind | None] = field(default_factory=dict)

    def predictions(self, refit: int, variables: tuple[str, ...], kind: Kind) -> FloatArray | None:
        """Return predictions of the refit's evaluation rows by the model without `variables`.

        Those of `kind` if the model has them, else of its first kind, as labels of a classifier
        without probabilities. None if no design column remains. `train` comes first.
        """
        answers = self._predictions[refit, variables]
        return None if answers is None else answers.get(kind, next(iter(answers.values())))

    @kept_streams()
    def train(
        self, features: Mapping[str, tuple[str, ...]], label: str, progress: ProgressOption = False
    ) -> None:
        """Train every refit again without each of the features, if that is not done yet.

        One job per refit and feature, under the joblib backend that is set: nothing waits for
        the slowest feature of a refit.

        Raises
        ------
        OptionError
            If the learner refers to columns by position.
        RefitError
            If the learner can't be trained or predict without a feature.
        """
        without = cache(self._without)  # refits usually share one design
        jobs, there = [], []
        for refit, (feature, variables) in product(self.refits, features.items()):
            if (refit.number, variables) in self._predictions:
                continue
            reduced = without(refit.design, variables)
            if reduced is None:
                self._predictions[refit.number, variables] = None
                continue
            jobs.append((refit, feature, variables, reduced))
            if self.checkpoint and (kept := self.checkpoint.left_out(refit.number, variables)):
                there.append((jobs[-1], kept))
        if there and self._prove(*there[-1], times=1 + (len(there) == 1)):
            self._predictions.update({(one[0].number, one[2]): kept for one, kept in there})
            jobs = [one for one in jobs if (one[0].number, one[2]) not in self._predictions]
        if not jobs:
            return
        where = column_positions(self.estimator)
        if where:
            raise OptionError(
                f"{label} trains the learner without `{jobs[0][1]}`, but `{where}` refers to "
                "columns by position, and positions would then mean other columns; refer to them "
                "by name, or by dtype (`make_column_selector`)."
            )
        with outcomes(
            self._training([(refit, reduced) for refit, _, _, reduced in jobs]),
            len(jobs),
            n_jobs=self.options.jobs,
            label=f"{label} refits",
            progress=progress,
            # In order the first failure is the same for any jobs; a folder keeps what is done.
            ordered=self.checkpoint is None,
        ) as fits:
            for job, outcome in fits:
                refit, feature, variables, _ = jobs[job]
                if isinstance(outcome, Exception):
                    raise RefitError(
                        f"{label} trains the learner without `{feature}`, but refit {refit.number} "
                        f"then failed: {reason(outcome).rstrip('.')}. Remedy: choose settings that "
                        f"allow fewer columns, or leave `{feature}` out of `features`."
                    ) from outcome
                if self.checkpoint is not None:
                    self.checkpoint.keep_left_out(refit.number, variables, outcome)
                self._predictions[refit.number, variables] = outcome

    def _without(self, design: Design, variables: tuple[str, ...]) -> Rest | None:
        """Return what is left; settings that name columns lose those that are left out."""
        reduced = design.without(variables)
        if reduced is None:
            return None
        estimator = without_columns(self.estimator, design.columns, reduced.columns)
        return reduced, by_variable(estimator, reduced)

    def _prove(self, job: tuple[Refit, str, Any, Rest], kept: ByKind, *, times: int) -> bool:
        """Whether the kept outcome of a job is proven to be its own; others are made again."""
        refit, _, _, reduced = job

        def make() -> ByKind:
            ((train),) = self._training([(refit, reduced)])
            _, outcome = train()
            return {} if isinstance(outcome, Exception) else outcome

        return self.checkpoint is None or prove(
            refit.number, kept, make, self.checkpoint, times=times
        )

    def _training(
        self, jobs: list[tuple[Refit, Rest]]
    ) -> Iterator[Callable[[], tuple[int, ByKind | Exception]]]:
        """Yield jobs that train refits with reduced designs; rows are encoded once per refit."""
        workers = effective_n_jobs(self.options.jobs)
        last: Refit | None = None
        for job, (refit, (reduced, estimator)) in enumerate(jobs):
            full, train = refit.design, refit.train
            if train is None or train.y is None or train.response is None:
                raise OptionError(
                    "A learner can be trained again only if its training rows are known."
                )
            if refit is not last:
                last = refit
                encoded = [full.rows_of(s) for s in (train, refit.evaluation)]
            rows, evaluation = (
                _reduce(reduced, full, matrix, sample)
                for matrix, sample in zip(encoded, (train, refit.evaluation), strict=True)
            )
            fit = partial(
                fit_one,
                estimator,
                rows,
                train,
                self.seeds.stream("refits", refit.number),
                workers=workers,
                reseeds=self.options.reseeds,
            )
            yield partial(outcome_of, job, _predict, fit, evaluation, workers)


def _reduce(design: Design, full: Design, matrix: Matrix, sample: Sample) -> Matrix:
    """Return the rows in a reduced design; columns of the full matrix if all are in it."""
    place = {name: j for j, name in enumerate(full.columns)}
    if isinstance(matrix, np.ndarray) and place.keys() >= set(design.columns):
        return np.asarray(matrix[:, [place[name] for name in design.columns]])
    return design.rows_of(sample)


def _predict(fit: Callable[[], Predictor], evaluation: Matrix, workers: int) -> ByKind:
    """Train a model, and return its predictions of the evaluation rows by their kind."""
    predictor = fit()
    with shared_cores([predictor.estimator], workers):
        return predictor.by_kind(evaluation)
