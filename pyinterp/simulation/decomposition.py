"""Bias, variance and mean squared error of a learner's PD and PFI over refits on fresh data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, check_count, check_jobs
from pyinterp.data.features import names_of
from pyinterp.estimands.effects.grids import Grid
from pyinterp.learner.learner import Learner
from pyinterp.losses.rowwise import LossLike
from pyinterp.models.predictor import learner_name
from pyinterp.parallel import outcomes
from pyinterp.parallel.progress import ProgressOption, check_progress
from pyinterp.random import Seeds
from pyinterp.resampling import FreshDraws
from pyinterp.results.results import EstimandResults
from pyinterp.simulation.decomposition_results import (
    PARTS,
    Decomposition,
    EstimandName,
)
from pyinterp.simulation.processes.process import Process, check_process, formula_and_estimator
from pyinterp.simulation.truth import Truth, dgp_pd, dgp_pfi

__all__ = ["decompose"]

BLOCK = 10  # refits that one job makes


def decompose(
    process: Process,
    learner: Any,
    estimand: EstimandName = "pd",
    features: str | Sequence[str] | None = None,
    *,
    grid: Grid = "quantile",
    points: int = 20,
    loss: LossLike = "squared",
    n: int = 100,
    evaluation: int = 2000,
    repetitions: int = 200,
    truth_n: int = 1_000_000,
    seed: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = True,
) -> Decomposition:
    r"""Bias-variance decomposition of the PD or the PFI of a learner.

    .. math:: E_F[(\theta_f - \theta_{\hat f})^2]
        = (\theta_f - E_F[\theta_{\hat f}])^2 + V_F[\theta_{\hat f}]

    where :math:`\theta_f` is the DGP-PD at a grid point, or the DGP-PFI of a feature, and F the
    distribution of the models that the learner makes of n rows (Molnar et al. 2021, section 5,
    Appendices A and B). Every refit is trained on fresh rows and evaluated on other fresh rows.

    Parameters
    ----------
    process : Process
    learner : estimator, or tuple of formula and estimator
        Alone, an estimator has the formula ``"y ~ ."``. What the formula learns from data (knots,
        means, levels) is learned once, from a draw of n rows that is the same for all refits.
    estimand : {"pd", "pfi"}
    features : str or sequence of str, optional
        By default all of the formula.
    grid : {"quantile", "equidistant", "unique"}, array or mapping
        Of PD, as in ``pd()``: fixed from a draw of n rows, or as it is, by feature if it is a
        mapping. The grid is the same for all refits.
    points : int
        Grid points per feature.
    loss : str, Loss or callable
        Of PFI; "squared" of a process with classes is the Brier score.
    n : int
        Training rows of every refit.
    evaluation : int
        Evaluation rows of every refit, at least 20. :math:`\theta_{\hat f}` is an expectation, of
        which that many rows give an estimate: its error counts as variance. The column
        `monte_carlo` says how much of the variance it is.
    repetitions : int
        Number of refits.
    truth_n : int
        Rows for a truth that has no closed form.
    seed : int, Generator or None
        The same int gives the same results, for any `n_jobs`.
    n_jobs : int, optional
        Jobs over refits, by joblib: ``joblib.parallel_config`` chooses the backend.
    progress : bool or "log"
        Show a progress bar, or write lines to a log, as `Learner.fit` does.

    Returns
    -------
    Decomposition
        With `frame` and `plot()`.

    Raises
    ------
    OptionError
        If an option or a feature is unknown.
    FormulaError
        If the formula can't be read or names an unknown variable.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from pyinterp.simulation import decompose, molnar_linear
    >>> done = decompose(
    ...     molnar_linear(), DecisionTreeRegressor(max_depth=2), "pfi", repetitions=20, seed=1
    ... )
    >>> list(done.frame["feature"])
    ['x1', 'x2']
    """
    check_process(process)
    check_choice("estimand", estimand, ("pd", "pfi"))
    check_jobs(n_jobs)
    check_progress(progress)
    check_count("n", n, 2)
    check_count("evaluation", evaluation, 2 * PARTS)
    check_count("repetitions", repetitions, 2)
    check_count("points", points, 2)
    check_count("truth_n", truth_n, 2)
    if process.classes is not None and isinstance(loss, str) and loss == "squared":
        loss = "brier"
    seeds = Seeds.start(seed)
    formula, estimator = formula_and_estimator(learner)
    model = _learner(process, formula, estimator, n, seeds)
    names = list(model.features) if features is None else names_of(features)
    for feature in names:
        process.check(feature)
    task = _Task(
        process=process,
        formula=formula,
        estimator=estimator,
        estimand=estimand,
        loss=loss,
        features=tuple(dict.fromkeys(names)),
        grid=grid,
        points=points,
        n=n,
        evaluation=evaluation,
        seeds=seeds,
    )
    first = task.results(model, 1)
    layout = task.layout(first)
    starts = range(1, repetitions + 1, BLOCK)
    blocks = [range(start, min(start + BLOCK, repetitions + 1)) for start in starts]
    with outcomes(
        (partial(task.estimates, block) for block in blocks),
        len(blocks),
        n_jobs=n_jobs,
        label=f"Refits, {BLOCK} a block",
        progress=progress,
        unit="block",
    ) as done:
        estimates, errors = zip(*done, strict=True)
    return Decomposition(
        process=process.name,
        learner=learner_name(estimator),
        estimand=estimand,
        description=first[0].estimand.description if estimand == "pfi" else "PD",
        n=n,
        evaluation=evaluation,
        seed=seeds.entropy,
        layout=layout,
        truth=task.truth(layout, truth_n),
        estimates=np.concatenate(estimates),
        monte_carlo=np.concatenate(errors),
        parts=task.parts(first),
    )


@dataclass(frozen=True, kw_only=True)
class _Task:
    """Process, learner, estimand and sizes: all that the estimates of a refit depend on."""

    process: Process
    formula: str
    estimator: Any
    estimand: EstimandName
    features: tuple[str, ...]
    grid: Grid
    points: int
    loss: LossLike
    n: int
    evaluation: int
    seeds: Seeds

    def results(self, learner: Learner, k: int) -> list[EstimandResults]:
        """Train on fresh rows and evaluate on others; PD has one result per feature."""
        rows = self.n + self.evaluation
        plan = FreshDraws(partial(self.process.draw, rows), refits=1, fraction=self.n / rows)
        sequence = np.random.SeedSequence(self.seeds.entropy, spawn_key=(k,))
        seed = int(sequence.generate_state(1, np.uint64)[0])
        fitted = learner.fit(plan, seed=seed, progress=False)
        if self.estimand == "pfi":
            return [fitted.pfi(self.features, loss=self.loss)]
        label = None if self.process.classes is None else self.process.classes[1]
        grids = (
            self.grid if isinstance(self.grid, Mapping) else dict.fromkeys(self.features, self.grid)
        )
        return [
            fitted.pd(f, grid=grids.get(f, "quantile"), points=self.points, which_class=label)
            for f in self.features
        ]

    def estimates(self, repetitions: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """Return the estimates of some refits, one row each, and their squared errors."""
        # Formulas can't be sent to other processes, so the learner is made there.
        learner = _learner(self.process, self.formula, self.estimator, self.n, self.seeds)
        estimates, errors = [], []
        for k in repetitions:
            results = self.results(learner, k)
            estimates.append(np.concatenate([r.params.to_numpy() for r in results]))
            errors.append(np.concatenate([np.square(r.bse.to_numpy()) for r in results]))
        return np.array(estimates), np.array(errors)

    def layout(self, results: Sequence[EstimandResults]) -> pd.DataFrame:
        """Return the feature and, of PD, the grid value of every term."""
        if self.estimand == "pfi":
            return pd.DataFrame({"feature": list(self.features)})
        parts = [
            pd.DataFrame({"feature": feature, "value": result.estimand.terms.layout["value"]})
            for feature, result in zip(self.features, results, strict=True)
        ]
        return pd.concat(parts, ignore_index=True)

    def parts(self, results: Sequence[EstimandResults]) -> FloatArray:
        """Return means over disjoint parts of the evaluation rows of one refit's ICE curves."""
        if self.estimand == "pfi":
            return np.empty((0, len(self.features)))
        rows = np.concatenate([r.row_frame().to_numpy() for r in results], axis=1)
        return np.array([part.mean(axis=0) for part in np.array_split(rows, PARTS)])

    def truth(self, layout: pd.DataFrame, n: int) -> Truth[FloatArray]:
        """Return the true PD or PFI of every term."""
        values: list[float] = []
        errors: list[float] = []
        for feature in self.features:
            rng = self.seeds.stream("draws", name=feature)
            if self.estimand == "pd":
                grid = layout["value"][layout["feature"] == feature].tolist()
                curve = dgp_pd(self.process, feature, grid, n=n, seed=rng)
                values.extend(curve.value)
                errors.extend(curve.mcse)
            else:
                importance = dgp_pfi(self.process, feature, self.loss, n=n, seed=rng)
                values.append(importance.value)
                errors.append(importance.mcse)
        return Truth(np.array(values), np.array(errors))


def _learner(process: Process, formula: str, estimator: Any, n: int, seeds: Seeds) -> Learner:
    """Return the learner, made of the draw that fixes grids and what the formula learns."""
    return Learner.from_formula(formula, process.draw(n, seeds.stream("splits")), estimator)
