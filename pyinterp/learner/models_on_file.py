"""The models of refits as files keep them: estimators, the rows that trained them, a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pyinterp._typing import IntArray
from pyinterp.data.design import Design, FormulaDesign
from pyinterp.data.design_record import DesignRecord, record_of_design
from pyinterp.data.sample import Sample
from pyinterp.errors import FileError, reason
from pyinterp.learner.analysis import Analysis
from pyinterp.models.distant_model import DistantModel
from pyinterp.models.predictor import Predictor
from pyinterp.resampling.refits import DesignState, Refit
from pyinterp.storage.models import bytes_of, cannot_hold, models_of, unknown_types


@dataclass(frozen=True, kw_only=True)
class ModelsOnFile:
    """The models of all refits.

    Attributes
    ----------
    estimators : tuple of ndarray of uint8
        Fitted estimators, as skops writes them.
    train : tuple
        By refit, positions of its training rows among the analyzed rows; the rows themselves, of
        plans that draw their own; None if they are not known.
    design : DesignRecord
    design_state : {"all", "refit"}
        Whether every refit learned levels and knots from its training rows.
    engine : str
    memory_mb : float
        As in `Analysis`.
    """

    estimators: tuple[npt.NDArray[np.uint8], ...]
    train: tuple[IntArray | Sample | None, ...]
    design: DesignRecord
    design_state: DesignState
    engine: str
    memory_mb: float

    def refits(
        self, refits: Sequence[Refit], population: Sample, trusted: Sequence[str | type]
    ) -> tuple[Refit, ...]:
        """Return refits with their models, designs and training rows."""
        design = self.design.design(population.variables)
        estimators = models_of(self.estimators, trusted)
        every = zip(refits, estimators, self.train, strict=True)
        return tuple(self._refit(*parts, population, design) for parts in every)

    def _refit(
        self,
        refit: Refit,
        estimator: Any,
        rows: IntArray | Sample | None,
        population: Sample,
        design: Design,
    ) -> Refit:
        train = population.take(rows) if isinstance(rows, np.ndarray) else rows
        if self.design_state == "refit" and isinstance(design, FormulaDesign) and train is not None:
            design = design.relearn(train.variables)
        predictor = predictor_of(refit.predictor, estimator)
        return replace(refit, predictor=predictor, design=design, train=train)


def models_on_file(analysis: Analysis) -> ModelsOnFile:
    """Return the models of an analysis; they predict the same, bit for bit, when read again.

    Raises
    ------
    OptionError
        If a file can't hold a model or a design.
    """
    population, own_rows = analysis.problem.population, analysis.data is None
    engine, memory_mb = analysis.models.options
    designs = [refit.design for refit in analysis.refits]
    of_refits = any(
        isinstance(d, FormulaDesign) and not d.frame.equals(population.variables) for d in designs
    )
    design = designs[0]
    if of_refits and isinstance(design, FormulaDesign):
        design = design.relearn(population.variables)
    models = ModelsOnFile(
        estimators=tuple(bytes_of(_estimator(refit)) for refit in analysis.refits),
        train=tuple(_places(refit, population, own_rows=own_rows) for refit in analysis.refits),
        design=record_of_design(design, population.variables),
        design_state="refit" if of_refits else "all",
        engine=engine,
        memory_mb=memory_mb,
    )
    for k, refit in enumerate(analysis.refits):
        estimators, train = models.estimators[k : k + 1], models.train[k : k + 1]
        one = replace(models, estimators=estimators, train=train)
        try:
            (again,) = one.refits([refit], population, unknown_types(estimators))
            same = _predict_alike(refit, again)
        except Exception as error:  # whatever classes do that are made again of their state
            raise cannot_hold(refit.predictor.name, reason(error)) from error
        if not same:
            raise cannot_hold(refit.predictor.name, "what is read again predicts otherwise")
    return models


def _predict_alike(refit: Refit, again: Refit) -> bool:
    """Whether a refit and what was read of it predict the same, bit for bit."""
    rows = refit.evaluation
    before, after = (each.design.encode(rows.variables, rows.index) for each in (refit, again))
    if isinstance(before, np.ndarray):
        if not np.array_equal(before, np.asarray(after), equal_nan=True):
            return False
        after = before  # sums of a product may depend on where in memory a matrix begins
    return np.array_equal(refit.predictor(before), again.predictor(after))


def predictor_of(stub: Predictor, estimator: Any) -> Predictor:
    """Return the predictor of an estimator, of the kind and the classes of another one."""
    coded = stub.classes is not None and stub.labels == tuple(range(len(stub.classes)))
    predictor = replace(Predictor.of(estimator, stub.classes, coded=coded), ordinal=stub.ordinal)
    if (predictor.kind, predictor.classes) != (stub.kind, stub.classes):
        raise FileError("a model predicts another kind of values than the file says")
    return predictor


def _estimator(refit: Refit) -> Any:
    """Return a fitted estimator, brought here if it is on a cluster."""
    estimator = refit.predictor.estimator
    return estimator.fetch() if isinstance(estimator, DistantModel) else estimator


def _places(refit: Refit, population: Sample, *, own_rows: bool) -> IntArray | Sample | None:
    if refit.train is None or own_rows:
        return refit.train and refit.train.take(np.arange(refit.train.nobs))
    places: IntArray = np.searchsorted(population.rows, refit.train.rows)
    return places
