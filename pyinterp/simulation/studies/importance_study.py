"""Studies of estimated importances: where they differ from the truth, and why."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, check_count, check_list
from pyinterp.errors import DataError, OptionError, quote
from pyinterp.learner.learner import Learner
from pyinterp.resampling.refits import fit_alone
from pyinterp.simulation.components import TruthAndPredictions, components
from pyinterp.simulation.processes.process import Process
from pyinterp.simulation.studies.importance_results import ImportanceStudyResults, Measure
from pyinterp.simulation.studies.records import Record, Row, Term
from pyinterp.simulation.studies.runner import Study, Unit
from pyinterp.simulation.truth import Truth, dgp_pfi

__all__ = ["ImportanceStudy", "Validation"]


class Validation(NamedTuple):
    """Validation rows of a block.

    Attributes
    ----------
    frame : pandas.DataFrame
        The features, X.
    y : ndarray
        The response; of a class, the indicator of the second.
    switches : dict
        By feature and measure, the values that the feature has in :math:`X'_j`.
    """

    frame: pd.DataFrame
    y: FloatArray
    switches: dict[tuple[str, Measure], pd.Series]


@dataclass(frozen=True, kw_only=True, repr=False)
class ImportanceStudy(Study[ImportanceStudyResults]):
    r"""Decompose the error of estimated MVIM and CVIM (Khan et al. 2025, sections 3 and 4.4).

    .. math:: E[\widehat{MI}_j] = MI_j + \text{Bias}^2(\text{switch}) - \text{Bias}^2(\text{orig})
        + \text{Var}(\text{switch}) - \text{Var}(\text{orig}) - \delta_j,
        \quad \delta_j = 2 E[(f(X'_j) - f(X)) (f(X'_j) - E_T \hat f(X'_j))]

    where in :math:`X'_j` the feature has been drawn anew, from its marginal distribution
    (MVIM) or from its distribution given the other features (CVIM), and :math:`E_T` is over
    training sets of n rows. The loss is the squared error; that of a process with classes is the
    Brier score.

    Models come in blocks. Each model is trained on rows of its own; the models of a block share
    validation rows, drawn for the block, and features and measures share the models. Data depend
    on the process, n and the repetition only, so that learners are compared on the same data.

    Parameters
    ----------
    dgps : sequence of Process
    learners : mapping of str to estimator, or to (formula, estimator)
        The formula is ``"y ~ ."`` by default; what it learns from data (knots, levels) each model
        learns from its training rows. Where settings depend on them, a function of process and n
        that returns either.
    features : sequence of str
    measures : sequence of {"mvim", "cvim"}
    n : sequence of int
        Training rows.
    repetitions : int or mapping
        Models per row of the study, a multiple of `block`, or a mapping from the names of learners.
    block : int
        Models per block, at least 2: those whose variance is estimated, and a checkpoint.
    validation : int
        Validation rows per block.
    truth_n : int
        Rows for a truth that has no closed form.
    seed : int

    See Also
    --------
    decompose : Bias and variance of PD and PFI over refits, not of predictions.

    Notes
    -----
    Every component is estimated without bias within a block (`components`) and averaged over
    blocks; Monte Carlo errors are those between blocks. In the paper's eq. 14 :math:`\delta_j` has
    the wrong sign; that of its tables is right.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from pyinterp.simulation import ImportanceStudy, khan_regression
    >>> study = ImportanceStudy(
    ...     dgps=[khan_regression("strong", noise_features=1)],
    ...     learners={"tree": DecisionTreeRegressor(min_samples_leaf=5)},
    ...     features=["X1"],
    ...     n=[100],
    ...     repetitions=20,
    ...     validation=1000,
    ... )
    >>> results = study.run(Path(tempfile.mkdtemp()) / "study.sqlite", progress=False)
    >>> results.frame[["measure", "truth"]].round(2).values.tolist()
    [['mvim', 7.97], ['cvim', 0.53]]
    """

    features: Sequence[str]
    measures: Sequence[Measure] = ("mvim", "cvim")
    repetitions: int | Mapping[str, int] = 100
    block: int = 10
    validation: int = 5000
    truth_n: int = 1_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_list("features", self.features, "['x1']")
        check_list("measures", self.measures, "['mvim', 'cvim']")
        check_count("truth_n", self.truth_n, 2)
        for process, feature in product(self.dgps, self.features):
            process.check(feature)
        for measure in self.measures:
            check_choice("measures", measure, get_args(Measure))
        check_count("block", self.block, 2)
        check_count("validation", self.validation, 2)
        for learner in self.learners:
            total = self.count("repetitions", learner, 1)
            if total % self.block:
                raise OptionError(
                    f"`repetitions` must be a multiple of `block`, {self.block}, so that every "
                    f"block has a variance; got {total} for {quote(learner)}."
                )

    def rows(self, process: Process, n: int, block: int) -> Validation:
        """Return the validation rows of a block."""
        rng = self.stream("validation", process.name, n, block)
        frame = process.covariates(self.validation, rng)
        y = process.respond(process.f(frame), rng)
        switched = {}
        for feature, measure in self._terms():
            stream = self.stream("switched", process.name, n, block, feature, measure)
            conditional = measure == "cvim"
            values = process.redraw(feature, frame, stream, conditional=conditional)
            switched[feature, measure] = pd.Series(values).astype(frame[feature].dtype)
        return Validation(frame, y, switched)

    def truth(self, process: Process, feature: str, measure: Measure) -> Truth[float]:
        """Return the true importance, with its Monte Carlo error if it has no closed form."""
        rng = self.stream("truth", process.name, feature, measure)
        conditional = measure == "cvim"
        return dgp_pfi(process, feature, conditional=conditional, n=self.truth_n, seed=rng)

    def settings(self, row: Row) -> dict[str, Any]:
        """Return the options, besides the row, on which its numbers depend."""
        return {"block": self.block, "seed": self.seed}

    def terms(self, row: Row) -> tuple[Term, ...]:
        """Return every feature with every measure."""
        return self._terms()

    def totals(self) -> Iterator[tuple[Row, int]]:
        """Yield the rows of the study, each with its number of models."""
        for process, learner, n in product(self.dgps, self.learners, self.n):
            yield self._row(process.name, learner, n), self.count("repetitions", learner, 1)

    def _terms(self) -> tuple[tuple[str, Measure], ...]:
        return tuple(product(self.features, self.measures))

    def _row(self, process: str, learner: str, n: int) -> Row:
        """Return a row; with other validation rows, blocks or terms it is another one."""
        names = f"{' '.join(self.features)}, {' '.join(self.measures)}"
        plan = f"{self.block} models on {self.validation} rows: {names}"
        return Row("importance", process, learner, n, plan)

    def _worker(self, kind: str, records: Sequence[Record]) -> Callable[[Unit], list[Record]]:
        return partial(_decompose, self)

    def results(self, records: Sequence[Record]) -> ImportanceStudyResults:
        """Return the results of records."""
        processes = [process.name for process in self.dgps]
        learners = list(dict.fromkeys([*self.learners, *(r.row.learner for r in records)]))

        def place(record: Record) -> tuple[int, int, int]:
            row = record.row
            return processes.index(row.process), learners.index(row.learner), row.n

        ours = (r for r in records if r.row == self._row(r.row.process, r.row.learner, r.row.n))
        done = sorted((r for r in ours if r.row.process in processes), key=place)
        truths: dict[tuple[str, ...], Truth[float]] = {
            (process.name, *term): self.truth(process, *term)
            for process, term in product(self.dgps, self._terms())
            if any(record.row.process == process.name for record in done)
        }
        return ImportanceStudyResults.of(done, truths, self.validation)


def _decompose(study: ImportanceStudy, unit: Unit) -> list[Record]:
    row = unit.row
    process = study.process(row.process)
    rows = study.rows(process, row.n, unit.block)
    switched = [rows.frame.assign(**{feature: v}) for (feature, _), v in rows.switches.items()]
    first = unit.block * study.block
    predictions = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of learners, thousands of times
        for repetition in range(first, first + unit.size):
            learner = study.learner(process, row.learner, study.draw(process, row.n, repetition))
            rng = study.stream("importance", row.process, row.learner, row.n, repetition)
            predictions.append(_predictions(process, learner, rng, [rows.frame, *switched]))
    original, *others = np.stack(predictions, axis=1)
    before = TruthAndPredictions(process.f(rows.frame), original)
    records = []
    for term, frame, predicted in zip(rows.switches, switched, others, strict=True):
        parts = components(rows.y, before, TruthAndPredictions(process.f(frame), predicted))
        sums = {"sums": parts, "squares": np.square(parts)}
        records.append(unit.record(term, sums, study.settings(row)))
    return records


def _predictions(
    process: Process, learner: Learner, rng: np.random.Generator, frames: Sequence[pd.DataFrame]
) -> FloatArray:
    """Train a model and return what it predicts for frames of the same length, one row each.

    Of two classes it is the probability of the second.
    """
    sample = learner.population
    if sample.y is None or sample.response is None:
        raise DataError("A learner needs a response.")
    matrix = learner.design.encode(sample.variables)
    predictor = fit_alone(learner.estimator, matrix, sample.y, sample.response, rng)
    together = learner.variables_of(pd.concat(frames, ignore_index=True))
    predicted = predictor(learner.design.encode(together))
    if predictor.classes is not None and process.classes is not None:
        predicted = predicted[:, predictor.classes.index(process.classes[1])]
    return predicted.reshape(len(frames), -1)
