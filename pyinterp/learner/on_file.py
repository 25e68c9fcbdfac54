"""Results of refits as files keep them: sums, without models."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, Never

import numpy as np
import pandas as pd

from pyinterp._typing import FilePath
from pyinterp.data.design import ArrayDesign
from pyinterp.data.features import Features
from pyinterp.data.form import Form
from pyinterp.data.row_data import RowData
from pyinterp.data.sample import Sample
from pyinterp.errors import FileError, OptionError
from pyinterp.estimands.estimand import Problem
from pyinterp.estimands.questions import RequestKey, request_of
from pyinterp.inference import Evaluations
from pyinterp.learner.analysis import Analysis
from pyinterp.learner.interpretable import Interpretable
from pyinterp.learner.models_on_record import Finding, RecordOfModels, stated_by
from pyinterp.models.predictor import NO_MODELS, Predictor
from pyinterp.random import Seeds
from pyinterp.representation import frozen
from pyinterp.resampling.refits import Refit
from pyinterp.results.header import Context
from pyinterp.storage import NAMELESS, Savable, archive


@frozen
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
    """What is known of an encoding that is not kept, as `Design`."""

    def __init__(
        self,
        variables: tuple[str, ...],
        columns: tuple[str, ...],
        discrete: frozenset[str],
        singles: frozenset[str],
    ) -> None:
        super().__init__(variables)
        self.columns, self.discrete, self.singles = columns, discrete, singles

    def state_on_file(self) -> dict[str, Any]:
        """Return the fields that files keep: all of them."""
        names = ("variables", "columns", "discrete", "singles")
        return {name: getattr(self, name) for name in names}

    def encode(self, variables: pd.DataFrame, index: pd.Index | None = None) -> Never:
        """Raise `FileError`."""
        raise FileError(NO_MODELS)


@frozen
class AnalysisRecord:
    """An analysis as files keep it: its parts without models.

    Attributes
    ----------
    context : Context
    seed : int
    sample : Sample
    features : mapping of str to tuple of str
    design : AbsentDesign
    predictor : Predictor
        Of the first refit; its estimator is a name.
    evaluations : Evaluations
    refits : tuple of RefitRecord
    data : RowData or None
        The rows by which `rows=` and `by=` choose; None if every refit draws its own.
    models : RecordOfModels
        What was measured of them.
    """

    context: Context
    seed: int
    sample: Sample
    features: Features
    design: AbsentDesign
    predictor: Predictor
    evaluations: Evaluations
    refits: tuple[RefitRecord, ...]
    data: RowData | None
    models: RecordOfModels


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

    def save(self, path: FilePath) -> None:
        """Write the measured sums to a file, which ``pi.load`` reads.

        The loaded results answer what these were asked before, with any option of inference:
        after ``res.pfi()`` also ``pfi(p_adjust="holm")``, tests, plots and comparisons. Models are
        not in the file, which holds the columns of the data that the analysis uses, so treat it
        like the data.

        Parameters
        ----------
        path : str or path
            Such as "wine.pyinterp". An old file stays as it is until the new one is whole.

        Raises
        ------
        OptionError
            If there is no such folder, or nothing was measured.
        OSError
            If the file can't be written, as on a full disk.

        Examples
        --------
        >>> res.save("diabetes.pyinterp")
        >>> pi.load("diabetes.pyinterp").pfi().params.equals(res.pfi().params)
        True
        """
        record = record_of(self.analysis)
        if not record.models.findings:
            raise OptionError(
                "Nothing that a file can keep was measured yet: files keep results, not models. "
                'Call `res.pfi()`, `res.pd("x")` or the like first, or pickle the fit.'
            )
        archive.save(ResultsOnFile(record), path)


class ResultsOnFile(Keepable, Savable):
    """Results of refits that were loaded from a file: all that was measured.

    Methods give what they gave before saving, with any option of inference. Other estimands are an
    error that lists what the file holds.

    Attributes
    ----------
    record : AnalysisRecord
        What the file holds.
    analysis : Analysis
    """

    def __init__(self, record: AnalysisRecord) -> None:
        self.record, self.analysis = record, analysis_of(record)

    def state_on_file(self) -> dict[str, Any]:
        """Return the fields that files keep."""
        return {"record": self.record}

    @property
    def estimands(self) -> list[str]:
        """Names of the estimands that the file holds."""
        findings = self.record.models.findings.values()
        return list(dict.fromkeys(finding.description for finding in findings))


def record_of(analysis: Analysis) -> AnalysisRecord:
    """Return the record of an analysis, with its measured sums."""
    problem, data = analysis.problem, analysis.data
    sample, design = problem.sample, problem.design
    known = analysis.models if isinstance(analysis.models, RecordOfModels) else None
    stated = stated_by(problem) if known is None else known.distributions
    if data is not None:
        used = [*map(str, sample.variables), analysis.context.endog_name]
        frame = data.frame[[name for name in data.frame if name in used]]
        # No row is read again.
        data = replace(
            data, frame=frame, endog=None, form=Form(), variables=pd.DataFrame(), offset=None
        )
    return AnalysisRecord(
        context=analysis.context,
        seed=analysis.seeds.entropy,
        sample=sample,
        features=problem.features,
        design=AbsentDesign(
            tuple(map(str, sample.variables)), design.columns, design.discrete, design.singles
        ),
        predictor=problem.predictor.absent(),
        evaluations=analysis.evaluations,
        refits=tuple(
            RefitRecord(
                number=refit.number,
                # With columns of its own, not as places in others.
                evaluation=None
                if data is not None
                else refit.evaluation.take(np.arange(refit.evaluation.nobs)),
                n_train=refit.n_train,
                n_evaluation=refit.n_evaluation,
            )
            for refit in analysis.refits
        ),
        data=data,
        models=RecordOfModels(
            findings=findings(analysis) if known is None else known.findings,
            fit_facts=analysis.facts,
            share=_share(analysis),
            of_codes=problem.codes,
            distributions=stated and stated.absent(),
        ),
    )


def findings(analysis: Analysis) -> dict[str, Finding]:
    """Return the sums that were measured on all rows and on parts of them, by request.

    What is found by no text of its own, as functions without a name or with the same one, is left
    out.
    """
    found, keys, others = dict[str, Finding](), dict[str, RequestKey](), set[str]()
    for part in _parts(analysis):
        for key, (estimand, measured) in part.sums.items():
            text = part.name + request_of(estimand)
            if NAMELESS in text or keys.setdefault(text, key) != key:
                others.add(text)
                continue
            errors = part.errors_of_coefficients.get(key)
            if errors is None and part.by_delta(estimand) and part.coefficient_errors(estimand):
                errors = part.errors_of_coefficients[key]
            found[text] = Finding(
                description=estimand.description,
                sums=measured,
                errors=None if errors is None else errors[1],
                scope=part.name,
                basis=estimand.basis,
            )
    return {text: finding for text, finding in found.items() if text not in others}


def _parts(analysis: Analysis) -> list[Analysis]:
    """Return an analysis, and the analyses of parts of its rows."""
    parts = (part for each in analysis.subsets.values() for part in _parts(each))
    return [analysis, *parts]


def _share(analysis: Analysis) -> float | None:
    """Return `mean_share` of pairs of halves; None where the models that had it are not here."""
    with suppress(FileError):
        return None if analysis.facts.half_refits is None else analysis.mean_share
    return None


def analysis_of(record: AnalysisRecord) -> Analysis:
    """Return the analysis of a record."""
    sample, predictor, models = record.sample, record.predictor, record.models
    problem = Problem(
        sample=sample,
        features=record.features,
        predictor=predictor,
        design=record.design,
        elsewhere=models,
        offset=record.context.offset,
    )
    evaluations, refits = record.evaluations, []
    places = np.searchsorted(sample.rows, evaluations.rows)
    for each, at, group in zip(record.refits, evaluations.at, evaluations.groups, strict=True):
        own = each.evaluation
        refits.append(
            Refit(
                number=each.number,
                predictor=predictor,
                design=record.design,
                evaluation=sample.some(places[at]) if own is None else own,
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
        context=record.context,
        seeds=Seeds(record.seed),
        data=record.data,
    )
