"""Results of refits as files keep them: what was measured, and models if they are wanted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Never, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import FloatArray, IntArray
from pyinterp.checks import check_flag
from pyinterp.data.columns import columns_of
from pyinterp.data.design import ArrayDesign, Design
from pyinterp.data.features import Features
from pyinterp.data.form import Form
from pyinterp.data.frames import as_frame
from pyinterp.data.row_data import RowData
from pyinterp.data.sample import Sample
from pyinterp.data.weights import Weights
from pyinterp.distributions import Distribution
from pyinterp.errors import FileError, OptionError, PyinterpError, list_of, reason
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.estimands.estimate import Measurement, ModelOnRows
from pyinterp.inference import CovType
from pyinterp.inference.half_sample.half_fits import HalfFits
from pyinterp.inference.replicates import CoefficientErrors, Replicates
from pyinterp.learner.analysis import Analysis, Finding, MeasurementKey, measurement_key
from pyinterp.learner.interpretable import Interpretable
from pyinterp.learner.models_on_file import ModelsOnFile, models_on_file
from pyinterp.models.predictor import Kind, Predictor
from pyinterp.parallel.progress import ProgressOption
from pyinterp.random import Seeds
from pyinterp.resampling.leave_out import LeaveOut
from pyinterp.resampling.refits import Refit, RefitOptions
from pyinterp.resampling.resampling import Group
from pyinterp.results.header import Context
from pyinterp.storage import Savable, fingerprint
from pyinterp.storage.savable import write
from pyinterp.whatif import Engine, EngineName

NO_MODELS = (
    "This needs models, which neither a file nor `fit(keep_models=False)` keeps; ask a fit that "
    "keeps them."
)


@dataclass(frozen=True, kw_only=True)
class RefitRecord:
    """The rows of a refit.

    Attributes
    ----------
    number : int
    evaluation : ndarray of int, or Sample
        Positions among the analyzed rows; the rows themselves, of plans that draw their own.
    n_train, n_evaluation : int
    group : Group or None
    share : float
        As in `Refit`.
    """

    number: int
    evaluation: IntArray | Sample
    n_train: int
    n_evaluation: int
    group: Group | None
    share: float = 1.0


@dataclass(frozen=True, kw_only=True)
class AbsentModel:
    """The name of a model that is not kept."""

    learner_name: str

    def predict(self, *_: Any, **__: Any) -> Never:
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
    model : AbsentModel
    kind, classes, order, labels, ordinal
        As in `Predictor`.
    distribution : Distribution or None
        The family that the models predict, if that was asked for.
    refits : tuple of RefitRecord
    correction : float
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
        By the digest of the estimand and of the rows that evaluate it.
    coefficient_errors : mapping of str to CoefficientErrors
        By the same digest, for the delta method of one model.
    engines : mapping of str to Engine
        By the digest of the rows and of the kind of predictions.
    half_fits : HalfFits or None
    mean_share : float or None
    plan_note : str
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
    model: AbsentModel
    kind: Kind
    classes: tuple[Any, ...] | None
    order: tuple[int, ...]
    labels: tuple[Any, ...] | None
    ordinal: bool
    distribution: Distribution | None
    refits: tuple[RefitRecord, ...]
    correction: float
    frame: pd.DataFrame | None
    complete: npt.NDArray[np.bool_] | None
    user_index: pd.Index | None
    findings: Mapping[str, Finding]
    coefficient_errors: Mapping[str, CoefficientErrors]
    engines: Mapping[str, Engine]
    half_fits: HalfFits | None
    mean_share: float | None
    plan_note: str
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
            if not self.analysis.problem.has_model:
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
        rows = [refit.evaluation.nobs for refit in self.analysis.refits]
        for finding in self.record.findings.values():
            for n, by_name in zip(rows, finding.by_refit, strict=True):
                for part in by_name.values():
                    tables = (part.rows, part.donors, part.below)
                    shapes = {table.shape for table in tables if table is not None}
                    if len(shapes) > 1 or part.rows.shape[1:] != part.value.shape:
                        raise FileError("a measurement has another shape than its rows")
                    if len(part.rows) > n:
                        raise FileError("a measurement is of more rows than its refit has")

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


@dataclass(frozen=True, kw_only=True)
class AnalysisOnFile(Analysis):
    """An analysis whose models are not at hand: it knows what was measured.

    Attributes
    ----------
    record : Record
    scope : str
        Digest of the rows that evaluate, if they are some of all; empty for all.
    """

    record: Record
    scope: str = ""

    @cached_property
    def cases(self) -> tuple[ModelOnRows, ...]:
        """One case per refit; `FileError` if there are no models."""
        if not self.problem.has_model:
            raise FileError(NO_MODELS)
        cases: tuple[ModelOnRows, ...] = super().cases
        return cases

    def measure(
        self, estimand: Estimand, progress: ProgressOption = False
    ) -> tuple[Measurement, ...]:
        """Return what was measured, or measure it if there are models."""
        digest = digest_of(self.scope, measurement_key(estimand))
        if digest in self.record.findings:
            return self.record.findings[digest].by_refit
        if self.problem.has_model and not estimand.leave_out:
            return super().measure(estimand, progress)
        known = dict.fromkeys(each.description for each in self.record.findings.values())
        lack = "no learner is kept that it could train again"
        if not self.problem.has_model:
            lack = "no models are kept that it could be measured on"
        raise FileError(
            f"{estimand.description} was not measured with these options and rows, and {lack}; ask "
            "for it before `save`, or in `measure` of `fit`. Measured were "
            f"{list_of(known, most=20, limit=400) or 'none'}."
        )

    def coefficient_errors(self, estimand: Estimand) -> CoefficientErrors | None:
        """Return what was computed for the delta method."""
        key = fingerprint((*measurement_key(estimand), estimand.read))
        digest = fingerprint((self.scope, key))
        if digest in self.record.coefficient_errors:
            return self.record.coefficient_errors[digest]
        return super().coefficient_errors(estimand) if self.problem.has_model else None

    def replicates(
        self, estimand: Estimand, cov_type: CovType | None = None, *, checked: bool = True
    ) -> Replicates:
        """Return the estimates of every refit; `FileError` if their parts do not go together."""
        try:
            return super().replicates(estimand, cov_type, checked=checked)
        except PyinterpError:
            raise
        except Exception as error:  # of names or shapes that no measurement has
            raise FileError(
                f"The file is damaged: its measurements of {estimand.description} do not go "
                f"together ({reason(error)}). Save the results again."
            ) from error

    def on(self, rows: npt.NDArray[np.bool_], name: str) -> AnalysisOnFile:
        """Return the analysis of some of the evaluation rows."""
        key = rows.tobytes(), name
        if key not in self.subsets:
            part = cast(AnalysisOnFile, super().on(rows, name))
            self.subsets[key] = replace(part, scope=scope_of(self.scope, *key))
        return cast(AnalysisOnFile, self.subsets[key])

    def need_trainer(self) -> LeaveOut:
        """Return what is not asked: refits without features were measured before."""
        return LeaveOut(
            estimator=None, refits=(), seeds=self.seeds, options=RefitOptions(progress=False)
        )

    def engine_of_kind(self, kind: Kind) -> Engine:
        """Return the engine that computed predictions of a kind."""
        digest = fingerprint((self.scope, kind))
        if self.problem.has_model and digest not in self.record.engines:
            return super().engine_of_kind(kind)
        whole = self.record.engines.get(fingerprint(("", kind)), self.context.engine)
        return self.record.engines.get(digest, whole)

    @property
    def half_fits(self) -> HalfFits | None:
        """What refits on halves and refits of the estimate find."""
        return self.record.half_fits

    @cached_property
    def mean_share(self) -> float:
        """The share of their training variance that means of predictions over refits keep."""
        if self.record.mean_share is not None:
            return self.record.mean_share
        if self.problem.has_model:
            return super().mean_share
        raise FileError(
            "No importances were measured, which this needs; ask the fit for `pfi()` before `save`."
        )

    @property
    def plan_note(self) -> str:
        """Footnotes on the plan."""
        return self.record.plan_note


def mean_prediction(refits: Sequence[Refit], variables: pd.DataFrame) -> FloatArray | pd.DataFrame:
    """Return the mean over refits of predictions: an array, or a column for every class."""
    mean: FloatArray = np.mean([r.predictor(r.design.encode(variables)) for r in refits], axis=0)
    classes = refits[0].predictor.classes
    return mean if classes is None else pd.DataFrame(mean, columns=list(classes))


def record_of(analysis: Analysis) -> Record:
    """Return the record of an analysis and of what it has measured."""
    problem, predictor = analysis.problem, analysis.problem.predictor
    population, data = problem.population, analysis.data
    known = vars(problem).get("predictive")
    if isinstance(analysis, AnalysisOnFile):
        kept = analysis.record
        asks = "cases" in vars(analysis)
        return replace(
            kept,
            distribution=None if known is None else known.distribution,
            findings={**kept.findings, **findings_of(analysis)},
            coefficient_errors={**kept.coefficient_errors, **errors_of(analysis)},
            engines={**(_engines(analysis) if asks else {}), **kept.engines},
            mean_share=vars(analysis).get("mean_share", kept.mean_share),
            models=None,
        )
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
        model=AbsentModel(learner_name=predictor.name),
        kind=predictor.kind,
        classes=predictor.classes,
        order=predictor.order,
        labels=predictor.labels,
        ordinal=predictor.ordinal,
        distribution=None if known is None else known.distribution,
        refits=tuple(_refit_record(refit, population, data is None) for refit in analysis.refits),
        correction=analysis.correction,
        frame=frame,
        complete=None if data is None else data.complete,
        user_index=None if data is None else data.user_index,
        weights=None if data is None else data.weights,
        findings=findings_of(analysis),
        coefficient_errors=errors_of(analysis),
        engines=_engines(analysis),
        half_fits=analysis.half_fits,
        mean_share=vars(analysis).get("mean_share"),
        plan_note=analysis.plan_note,
    )


def analysis_of(record: Record) -> AnalysisOnFile:
    """Return the analysis of a record."""
    population, model = record.population, record.model
    design = ArrayDesign([str(name) for name in population.variables])
    design.columns, design.discrete = record.columns, record.discrete
    design.singles = record.singles
    vars(design)["encode"] = model.predict
    predictor = Predictor(
        model,
        record.kind,
        record.classes,
        model.predict,
        order=record.order,
        labels=record.labels,
        ordinal=record.ordinal,
    )
    problem = Problem(
        population=population,
        features=record.features,
        predictor=predictor,
        design=design,
        has_model=False,
    )
    vars(problem)["codes"] = record.codes
    if record.kind == "probability":
        vars(problem)["predictive"] = predictor
    elif record.distribution is not None:
        stated = replace(predictor, kind="distribution", distribution=record.distribution)
        vars(problem)["predictive"] = stated
    data = None
    if record.frame is not None and record.complete is not None:
        data = RowData(
            frame=record.frame,
            endog=None,
            endog_name=record.context.endog_name,
            is_frame=True,
            form=Form(),
            user_index=record.user_index,
            complete=record.complete,
            weights=record.weights,
            repeats=_repeats(record.weights, len(record.frame)),
        )
    return AnalysisOnFile(
        record=record,
        problem=problem,
        refits=tuple(_refit(each, population, predictor, design) for each in record.refits),
        correction=record.correction,
        context=record.context,
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
    analysis: AnalysisOnFile, models: ModelsOnFile, trusted: Sequence[str | type]
) -> AnalysisOnFile:
    """Return the analysis with models, on which all is measured that was not."""
    refits = models.refits(analysis.refits, analysis.problem.population, trusted)
    problem = replace(
        analysis.problem, predictor=refits[0].predictor, design=refits[0].design, has_model=True
    )
    return replace(
        analysis,
        problem=problem,
        refits=refits,
        engine=cast(EngineName, models.engine),
        memory_mb=models.memory_mb,
    )


def digest_of(scope: str, key: MeasurementKey) -> str:
    """Return the digest of an estimand, measured on rows of some scope."""
    return fingerprint((scope, *key))


def scope_of(scope: str, rows: bytes, name: str) -> str:
    """Return the digest of some of the rows of a scope."""
    return fingerprint((scope, rows, name))


def findings_of(analysis: Analysis, scope: str = "") -> dict[str, Finding]:
    """Return what was measured on all rows and on some, by digest."""
    findings = {digest_of(scope, key): each for key, each in analysis.measurements.items()}
    for (rows, name), part in analysis.subsets.items():
        findings |= findings_of(part, scope_of(scope, rows, name))
    return findings


def errors_of(analysis: Analysis, scope: str = "") -> dict[str, CoefficientErrors]:
    """Return the errors of coefficients, by digest."""
    errors = {fingerprint((scope, key)): e for key, e in analysis.errors_of_coefficients.items()}
    for (rows, name), part in analysis.subsets.items():
        errors |= errors_of(part, scope_of(scope, rows, name))
    return errors


def _engines(analysis: Analysis, scope: str = "") -> dict[str, Engine]:
    """Return the engines of all rows and of some, by the digest of rows and kind."""
    kinds = {kind for case in analysis.cases for kind in case._by_kind}
    kinds.add(analysis.problem.predictor.kind)
    engines = {fingerprint((scope, kind)): analysis.engine_of_kind(kind) for kind in sorted(kinds)}
    for (rows, name), part in analysis.subsets.items():
        engines |= _engines(part, scope_of(scope, rows, name))
    return engines


def _refit_record(refit: Refit, population: Sample, own_rows: bool) -> RefitRecord:
    places: IntArray = np.searchsorted(population.rows, refit.evaluation.rows)
    return RefitRecord(
        number=refit.number,
        evaluation=refit.evaluation if own_rows else places,
        n_train=refit.n_train,
        n_evaluation=refit.n_evaluation,
        group=refit.group,
        share=refit.share,
    )


def _refit(record: RefitRecord, population: Sample, predictor: Predictor, design: Design) -> Refit:
    rows = record.evaluation
    return Refit(
        number=record.number,
        predictor=predictor,
        design=design,
        evaluation=population.take(rows) if isinstance(rows, np.ndarray) else rows,
        train=None,
        n_train=record.n_train,
        n_evaluation=record.n_evaluation,
        group=record.group,
        share=record.share,
    )
