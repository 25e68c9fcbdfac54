"""Results of refits as files keep them: what was measured, and models if they are wanted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Never, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_flag
from pyinterp.data.columns import columns_of
from pyinterp.data.design import ArrayDesign
from pyinterp.data.features import Features
from pyinterp.data.form import Form
from pyinterp.data.frames import as_frame
from pyinterp.data.row_data import RowData
from pyinterp.data.sample import Sample
from pyinterp.data.weights import Weights
from pyinterp.distributions import Distribution
from pyinterp.errors import FileError, OptionError
from pyinterp.estimands.estimand import Problem
from pyinterp.inference import Evaluations
from pyinterp.learner.analysis import Analysis
from pyinterp.learner.interpretable import Interpretable
from pyinterp.learner.models import FitFacts
from pyinterp.learner.models_here import ModelsHere
from pyinterp.learner.models_on_file import ModelsOnFile, models_on_file
from pyinterp.learner.models_on_record import (
    NO_MODELS,
    AbsentModel,
    Finding,
    RecordOfModels,
    distributions_of,
    findings_of,
)
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.random import Seeds
from pyinterp.resampling.refits import Refit
from pyinterp.results.header import Context
from pyinterp.storage import Savable
from pyinterp.storage.savable import write
from pyinterp.whatif import EngineName


@dataclass(frozen=True, kw_only=True)
class RefitRecord:
    """The numbers of a refit.

    Attributes
    ----------
    number : int
    n_train, n_evaluation : int
    evaluation : Sample or None
        The rows themselves, of plans that draw their own.
    """

    number: int
    n_train: int
    n_evaluation: int
    evaluation: Sample | None


class AbsentDesign(ArrayDesign):
    """What is known of an encoding that is not kept."""

    def __init__(self, record: Record) -> None:
        super().__init__([str(name) for name in record.population.variables])
        self.columns, self.discrete, self.singles = record.columns, record.discrete, record.singles

    def encode(self, variables: pd.DataFrame, index: pd.Index | None = None) -> Never:
        """Raise `FileError`."""
        raise FileError(NO_MODELS)


@dataclass(frozen=True, kw_only=True)
class Record:
    """An analysis as files keep it: what `ResultsOnFile` needs.

    Attributes
    ----------
    context : Context
    seed : int
    population : Sample
    features : mapping of str to tuple of str
    discrete, singles : frozenset of str
        As in `Design`.
    codes : frozenset of str
        As in `Problem`.
    columns : tuple of str
        That the estimator took.
    learner_name : str
    kind, classes, order, labels, ordinal
        As in `Predictor`.
    distributions : tuple of (str, Distribution or None), or None
        Kind and family of the first model's predictor of distributions, if it was asked for.
    evaluations : Evaluations
    refits : tuple of RefitRecord
    frame : DataFrame or None
        Variables and response of all rows, by which `rows=` and `by=` choose; None if every refit
        draws its own.
    complete : ndarray of bool, or None
        Which of these rows are analyzed.
    user_index : Index or None
        The user's names of the rows.
    weights : Weights or None
        Of the user's rows; those of frequency say which row of the frame is which of them.
    findings : mapping of str to Finding
        By the text of the request.
    facts : FitFacts
    mean_share : float or None
    models : ModelsOnFile or None
    """

    context: Context
    seed: int
    population: Sample
    features: Features
    discrete: frozenset[str]
    singles: frozenset[str]
    codes: frozenset[str] = frozenset()
    columns: tuple[str, ...]
    learner_name: str
    kind: Kind
    classes: tuple[Any, ...] | None
    order: tuple[int, ...]
    labels: tuple[Any, ...] | None
    ordinal: bool
    distributions: tuple[str, Distribution | None] | None
    evaluations: Evaluations
    refits: tuple[RefitRecord, ...]
    frame: pd.DataFrame | None
    complete: npt.NDArray[np.bool_] | None
    user_index: pd.Index | None
    findings: Mapping[str, Finding]
    facts: FitFacts
    mean_share: float | None
    models: ModelsOnFile | None = None
    weights: Weights | None = None


class Keepable(Interpretable):
    """Fitted models that a file can keep."""

    @property
    def seed(self) -> int:
        """The seed that repeats these results."""
        return self.analysis.seeds.entropy

    @property
    def nobs(self) -> int:
        """Number of rows analyzed."""
        return self.analysis.context.nobs

    def save(self, path: str | os.PathLike[str], *, models: bool = False) -> None:
        """Write what was measured to a file, which ``pi.load`` reads, and models if wanted.

        The loaded results answer what these were asked before, with any option of inference:
        after ``res.pfi()`` also ``pfi(p_adjust="holm")``, tests, plots and comparisons. With models
        they answer all else too, but LOCO, which trains. The file holds the columns of the data
        that the analysis uses, so treat it like the data.

        Parameters
        ----------
        path : str or path
            Such as "wine.pyinterp". An old file stays as it is until the new one is whole.
        models : bool
            Keep the fitted models too, through skops, without pickles. Every model is read again,
            and must predict the same, bit for bit.

        Raises
        ------
        OptionError
            If there is no such folder. With models, if a file can't hold them, such as functions
            and models of R, or the formula, if skops is not installed, or if models were dropped.
        OSError
            If the file can't be written, as on a full disk.

        Examples
        --------
        >>> res.save("diabetes.pyinterp")
        >>> pi.load("diabetes.pyinterp").params.equals(res.params)
        True
        """
        check_flag("models", models)
        record = record_of(self.analysis)
        if models:
            if isinstance(self.analysis.problem.elsewhere, RecordOfModels):
                raise OptionError(
                    "`models=True` needs models, but these results have none: save those of a fit "
                    "that keeps them, or leave `models` out."
                )
            record = replace(record, models=models_on_file(self.analysis))
        write(ResultsOnFile(record), path)


class ResultsOnFile(Keepable, Savable):
    """Results of refits that were loaded from a file: all that was measured.

    Methods give what they gave before saving, with any option of inference. Other estimands are
    measured if the file has models. If not, they are an error that lists what the file holds.

    Attributes
    ----------
    record : Record
        What the file holds.
    analysis : Analysis
    """

    def __init__(self, record: Record) -> None:
        self.record, self.analysis = record, analysis_of(record)

    def read_models(self, trusted: Sequence[str | type]) -> ResultsOnFile:
        """Return these results with the models that came with them; themselves without any."""
        models = self.record.models
        if models is not None:
            self.record = replace(self.record, models=None)  # bytes that nothing needs now
            self.analysis = with_models(analysis_of(self.record), models, trusted)
        return self

    def state_on_file(self) -> dict[str, Any]:
        """Return what files keep."""
        return {"record": self.record}

    def check_state(self) -> None:
        """Raise `FileError` unless every refit has its measurements, of rows and variables."""
        every, models = set(map(str, self.record.population.variables)), self.record.models
        used = {name for names in self.record.features.values() for name in names}
        if not every.issuperset((*used, *(models.design.variables if models else ()))):
            raise FileError("a feature is not among the variables")
        evaluations = self.record.evaluations
        for finding in self.record.findings.values():
            if not finding.scope:
                finding.tally.check(evaluations)

    def predict(self, data: pd.DataFrame | npt.ArrayLike) -> FloatArray | pd.DataFrame:
        """Predict new rows by the mean over refits, as ``LearnerResults.predict``.

        Parameters
        ----------
        data : DataFrame or array
            New rows with the learner's variables.

        Raises
        ------
        FileError
            If the file has no models, or they have an offset.
        """
        if self.record.context.offset:
            raise FileError(
                "`predict` must be asked of the fit itself if it has an offset, because files do "
                f"not keep how new rows get theirs ({self.record.context.offset})."
            )
        variables = columns_of(as_frame(data), self.analysis.problem.design.variables)
        return mean_prediction(self.analysis.estimating, variables)

    @property
    def estimands(self) -> list[str]:
        """Names of the estimands that the file holds."""
        return list(dict.fromkeys(each.description for each in self.record.findings.values()))


def mean_prediction(refits: Sequence[Refit], variables: pd.DataFrame) -> FloatArray | pd.DataFrame:
    """Return the mean over refits of predictions: an array, or a column for every class."""
    mean: FloatArray = np.mean([r.predictor(r.design.encode(variables)) for r in refits], axis=0)
    classes = refits[0].predictor.classes
    return mean if classes is None else pd.DataFrame(mean, columns=list(classes))


def record_of(analysis: Analysis) -> Record:
    """Return the record of an analysis and of what it has measured."""
    problem, predictor = analysis.problem, analysis.problem.predictor
    population, data = problem.population, analysis.data
    asked = distributions_of(analysis)
    frame = None
    if data is not None:
        used = [*map(str, population.variables), analysis.context.endog_name]
        frame = data.frame[[name for name in data.frame if name in used]]
    return Record(
        context=analysis.context,
        seed=analysis.seeds.entropy,
        population=population,
        features=problem.features,
        discrete=problem.design.discrete,
        singles=problem.design.singles,
        codes=problem.codes,
        columns=tuple(problem.design.columns),
        learner_name=predictor.name,
        kind=predictor.kind,
        classes=predictor.classes,
        order=predictor.order,
        labels=predictor.labels,
        ordinal=predictor.ordinal,
        distributions=None if asked is None else (asked.kind, asked.distribution),
        evaluations=analysis.evaluations,
        refits=tuple(
            RefitRecord(
                number=refit.number,
                evaluation=refit.evaluation.at_hand() if data is None else None,
                n_train=refit.n_train,
                n_evaluation=refit.n_evaluation,
            )
            for refit in analysis.refits
        ),
        frame=frame,
        complete=None if data is None else data.complete,
        user_index=None if data is None else data.user_index,
        weights=None if data is None else data.weights,
        findings=findings_of(analysis, all_named=False),
        facts=analysis.facts,
        mean_share=_share(analysis),
    )


def _share(analysis: Analysis) -> float | None:
    """Return `mean_share` of pairs of halves; None where the models that had it are not here."""
    with suppress(FileError):
        return None if analysis.facts.half_fits is None else analysis.mean_share
    return None


def analysis_of(record: Record) -> Analysis:
    """Return the analysis of a record."""
    population, context = record.population, record.context
    model, design = AbsentModel(learner_name=record.learner_name), AbsentDesign(record)
    predictor = Predictor(
        model,
        record.kind,
        record.classes,
        model.predict,
        order=record.order,
        labels=record.labels,
        ordinal=record.ordinal,
    )
    stated = None
    if record.distributions is not None:
        kind, family = record.distributions
        stated = replace(predictor, kind=cast(Kind, kind), distribution=family)
    models = RecordOfModels(
        findings=record.findings,
        fit_facts=record.facts,
        share=record.mean_share,
        of_codes=record.codes,
        distributions=stated,
    )
    problem = Problem(
        population=population,
        features=record.features,
        predictor=predictor,
        design=design,
        elsewhere=models,
    )
    data = None
    if record.frame is not None and record.complete is not None:
        data = RowData(
            frame=record.frame,
            endog=None,
            endog_name=context.endog_name,
            is_frame=True,
            form=Form(),
            user_index=record.user_index,
            complete=record.complete,
            weights=record.weights,
            repeats=_repeats(record.weights, len(record.frame)),
        )
    evaluations, refits = record.evaluations, []
    places = np.searchsorted(population.rows, evaluations.rows)
    for each, at, group in zip(record.refits, evaluations.at, evaluations.groups, strict=True):
        own = each.evaluation
        refits.append(
            Refit(
                number=each.number,
                predictor=predictor,
                design=design,
                evaluation=population.some(places[at]) if own is None else own,
                train=None,
                n_train=each.n_train,
                n_evaluation=each.n_evaluation,
                group=group,
                share=evaluations.share,
            )
        )
    return Analysis(
        problem=problem,
        refits=tuple(refits),
        models=models,
        evaluations=evaluations,
        context=context,
        seeds=Seeds(record.seed),
        data=data,
    )


def _repeats(weights: Weights | None, rows: int) -> IntArray | None:
    """Return which of the user's rows every row is; raise `FileError` if weights do not fit."""
    if weights is None:
        return None
    values: FloatArray = weights.values  # noqa: PD011 - no frame
    if not (values >= 0).all() or rows != (
        values.sum() if weights.kind == "frequency" else len(values)
    ):
        raise FileError("the weights are not of the rows")
    return weights.repeats()


def with_models(
    analysis: Analysis, models: ModelsOnFile, trusted: Sequence[str | type]
) -> Analysis:
    """Return the analysis with models, on which all is measured that was not."""
    refits = models.refits(analysis.refits, analysis.problem.population, trusted)
    problem = replace(
        analysis.problem, predictor=refits[0].predictor, design=refits[0].design, elsewhere=None
    )
    here = ModelsHere(
        refits=refits,
        problem=problem,
        seeds=analysis.seeds,
        engine=cast(EngineName, models.engine),
        memory_mb=models.memory_mb,
    )
    known = replace(cast(RecordOfModels, analysis.models), models=here)
    return replace(analysis, problem=problem, refits=refits, models=known)
