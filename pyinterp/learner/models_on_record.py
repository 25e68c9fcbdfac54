"""What was measured of models that are not here: from files, and of models that were dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Never

from pyinterp._typing import FloatArray
from pyinterp.errors import FileError, OptionError, list_of
from pyinterp.estimands.estimand import Elsewhere, Estimand
from pyinterp.estimands.estimate import ModelOnRows
from pyinterp.estimands.requests import RequestKey, request_of
from pyinterp.inference import Tally
from pyinterp.inference.replicates import CoefficientErrors
from pyinterp.learner.analysis import Analysis
from pyinterp.learner.models import FitFacts, Scope
from pyinterp.learner.models_here import ModelsHere
from pyinterp.models.predictor import Predictor
from pyinterp.parallel.progress import ProgressOption
from pyinterp.storage import NAMELESS
from pyinterp.whatif import EngineName

NO_MODELS = (
    "This needs models, which neither a file nor `fit(keep_models=False)` keeps; ask a fit that "
    "keeps them."
)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was measured of one estimand.

    Attributes
    ----------
    description : str
        What the estimand is called in headers.
    tally : Tally
    errors : CoefficientErrors or None
        For the delta method of one model.
    scope : str
        Name of the rows that evaluate, as in `Scope`.
    basis : str
        As of the estimand.
    """

    description: str
    tally: Tally
    errors: CoefficientErrors | None = None
    scope: str = ""
    basis: str = "rows"


@dataclass(frozen=True, kw_only=True)
class AbsentModel:
    """The name of a model that is not kept."""

    learner_name: str

    def predict(self, *_: Any, **__: Any) -> Never:
        """Raise `FileError`."""
        raise FileError(NO_MODELS)


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordOfModels:
    """What was measured of models, and the models themselves if they came along.

    Attributes
    ----------
    findings : mapping of str to Finding
        By the text of the request, after the name of the rows that evaluate.
    fit_facts : FitFacts
    share : float or None
        As `mean_share`, if it was asked for.
    of_codes : frozenset of str
        Numbers that the first model takes as categories.
    distributions : Predictor or None
        The first model's predictor of distributions, if it was asked for.
    models : ModelsHere or None
    """

    findings: Mapping[str, Finding]
    fit_facts: FitFacts
    share: float | None
    of_codes: frozenset[str]
    distributions: Predictor | None
    models: ModelsHere | None = None

    @property
    def elsewhere(self) -> Elsewhere | None:
        """What knows facts of the first model: this, without models."""
        return self if self.models is None else None

    @property
    def trains(self) -> bool:
        """Whether there is a learner that trains again, or was: what it left out is known."""
        return True

    @property
    def options(self) -> tuple[EngineName, float]:
        """The engine that was chosen, and the bound on memory."""
        return ("auto", 256.0) if self.models is None else self.models.options

    def some(self, refits: Sequence[int]) -> RecordOfModels:
        """Return the models of some refits; what was measured has the name of their rows."""
        return self if self.models is None else replace(self, models=self.models.some(refits))

    def measure(
        self, asked: Sequence[Estimand], scope: Scope, progress: ProgressOption = False
    ) -> list[Tally]:
        """Return what was measured, or measure it if there are models."""
        texts = [scope.name + request_of(estimand) for estimand in asked]
        known = {j: self.findings[text] for j, text in enumerate(texts) if text in self.findings}
        new = {j: estimand for j, estimand in enumerate(asked) if j not in known}
        for estimand in new.values():
            if self.models is None or estimand.leave_out:
                raise self._unknown(estimand)
        tallies = {j: finding.tally for j, finding in known.items()}
        if new and self.models is not None:
            found = self.models.measure([*new.values()], scope, progress)
            tallies |= dict(zip(new, found, strict=True))
        return [tallies[j] for j in range(len(asked))]

    def _unknown(self, estimand: Estimand) -> FileError:
        known = dict.fromkeys(each.description for each in self.findings.values())
        lack = "no learner is kept that it could train again"
        if self.models is None:
            lack = "no models are kept that it could be measured on"
        return FileError(
            f"{estimand.description} was not measured with these options and rows, and {lack}; ask "
            "for it before `save`, or in `measure` of `fit`. Measured were "
            f"{list_of(known, most=20, limit=400) or 'none'}."
        )

    def coefficient_errors(self, estimand: Estimand, scope: Scope) -> CoefficientErrors | None:
        """Return what was computed for the delta method."""
        found = self.findings.get(scope.name + request_of(estimand))
        if found is not None and found.errors is not None:
            return found.errors
        return None if self.models is None else self.models.coefficient_errors(estimand, scope)

    def facts(self, describe: Callable[[Sequence[FloatArray]], FitFacts]) -> FitFacts:
        """Return what was described by the predictions of every refit's rows."""
        return self.fit_facts

    def mean_share(self) -> float:
        """Return the share of their training variance that means of predictions keep."""
        if self.share is not None:
            return self.share
        if self.models is not None:
            return self.models.mean_share()
        raise FileError(
            "No importances were measured, which this needs; ask the fit for `pfi()` before `save`."
        )

    def cases(self, scope: Scope) -> tuple[ModelOnRows, ...]:
        """Return every model on its rows; `FileError` if there are none."""
        if self.models is None:
            raise FileError(NO_MODELS)
        return self.models.cases(scope)

    def codes(self) -> frozenset[str]:
        """Return the numbers that the first model takes as categories."""
        return self.of_codes

    def predictive(self) -> Predictor:
        """Return the first model's predictor of distributions, if it was asked for."""
        if self.distributions is None:
            raise FileError(NO_MODELS)
        return self.distributions


def findings_of(analysis: Analysis, *, all_named: bool = True) -> dict[str, Finding]:
    """Return what was measured on all rows and on some, by request.

    What is found by no text of its own, as functions without a name or with the same one, is left
    out, or an `OptionError` if all must be `all_named`.
    """
    models, found, keys = analysis.models, dict[str, Finding](), dict[str, RequestKey]()
    if isinstance(models, RecordOfModels):
        found |= models.findings
    for part in parts_of(analysis):
        for key, (estimand, measured) in part.tallies.items():
            text = part.name + request_of(estimand)
            alone = NAMELESS not in text and keys.setdefault(text, key) == key
            if not alone and all_named:
                raise OptionError(
                    "A function must have a name of its own, by which what was measured with it is "
                    f"found, but {estimand.description} has one without, or two of one name: write "
                    "`def`, or `pi.Loss` with a name, or give an estimand a `key` of its own."
                )
            errors = part.errors_of_coefficients.get(key)
            if errors is None and part.by_delta(estimand) and part.coefficient_errors(estimand):
                errors = part.errors_of_coefficients[key]
            found[text] = Finding(
                description=estimand.description,
                tally=measured,
                errors=None if errors is None else errors[1],
                scope=part.name,
                basis=estimand.basis,
            )
            if not alone:
                del found[text]
    return found


def parts_of(analysis: Analysis) -> list[Analysis]:
    """Return an analysis, and those of some of its rows that were asked for."""
    parts = (part for each in analysis.subsets.values() for part in parts_of(each))
    return [analysis, *parts]


def distributions_of(analysis: Analysis) -> Predictor | None:
    """Return the first model's predictor of distributions, without the model, if it was asked for.

    That of probabilities is the predictor itself.
    """
    asked = (estimand for part in parts_of(analysis) for estimand, _ in part.tallies.values())
    kinds = {one.score.needs if one.score is not None else one.kind for one in asked}
    predictor = analysis.problem.predictor
    if predictor.kind != "probability" and "distribution" not in kinds:
        models = analysis.models
        return models.distributions if isinstance(models, RecordOfModels) else None
    absent = AbsentModel(learner_name=predictor.name)
    return without_model(analysis.problem.predictive, absent)


def without_model(predictor: Predictor, model: AbsentModel) -> Predictor:
    """Return a predictor of the same kind and classes, whose model can't be asked."""
    return replace(predictor, estimator=model, _call=model.predict)
