"""Studies of estimated importances: where they differ from the truth, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, check_count, check_list
from pyinterp.errors import OptionError, quote
from pyinterp.learner.learner import Learner
from pyinterp.representation import about
from pyinterp.resampling.refits import fit_alone
from pyinterp.simulation.processes.process import Process
from pyinterp.simulation.studies.study import Record, Row, Study, Term, Unit, Worker, pool_records
from pyinterp.simulation.truth import Truth, dgp_pfi
from pyinterp.storage import Savable

if TYPE_CHECKING:
    from plotnine import ggplot


Measure: TypeAlias = Literal["mvim", "cvim"]

KEY = ["process", "learner", "measure", "feature", "n"]

HEADER = {
    "bias2_switch": ("Bias²", "switch"),
    "bias2_orig": ("Bias²", "orig"),
    "variance_switch": ("Variance", "switch"),
    "variance_orig": ("Variance", "orig"),
    "delta": ("", "δ"),
    "estimate": ("", "Estimate"),
    "corrected": ("", "Corrected"),
    "truth": ("", "True"),
}
COLUMNS = tuple(HEADER)[:-1]  # a block of models estimates them

# The true f of v rows, shape (v,), and the predictions of m models, shape (m, v).
TruthAndPredictions: TypeAlias = tuple[FloatArray, FloatArray]


def components(
    y: FloatArray, original: TruthAndPredictions, switched: TruthAndPredictions
) -> FloatArray:
    r"""Estimate `COLUMNS` from models trained on independent data and the same validation rows.

    Parameters
    ----------
    y : ndarray of shape (v,)
        Responses of the validation rows.
    original, switched : tuple of ndarray
        True f, shape (v,), and predictions, shape (m, v), of the rows X and of the rows
        :math:`X'_j`, in which one feature has been drawn anew; at least two models.

    Returns
    -------
    ndarray of shape (7,)
        Every entry is unbiased.

    Notes
    -----
    Means over rows of: the variance over models with divisor m - 1; the squared distance of the
    mean prediction from f less a share 1/m of that variance, which the square of a mean of m has
    in excess (so that an estimate near 0 can be below it);
    :math:`\delta_j = 2 (f(X'_j) - f(X)) (f(X'_j) - \bar f(X'_j))` with the mean prediction
    :math:`\bar f`, which is linear in it; the estimated importance, the mean over models of
    :math:`(Y - \hat f(X'_j))^2 - (Y - \hat f(X))^2`; and this estimate corrected, plus
    :math:`\delta_j` less the differences in squared bias and in variance. Of the latter the
    algebra leaves :math:`(f(X'_j) - f(X))^2 + 2 (Y - f(X)) (\bar f(X) - \bar f(X'_j))`, whose
    expectation is the importance of the true f for any learner.
    """
    bias2, variance = [], []
    for f, predicted in (switched, original):
        spread = predicted.var(axis=0, ddof=1).mean()
        distance = np.square(predicted.mean(axis=0) - f).mean()
        bias2.append(distance - spread / len(predicted))
        variance.append(spread)
    (f_switched, p_switched), (f, p) = switched, original
    delta = 2 * np.mean((f_switched - f) * (f_switched - p_switched.mean(axis=0)))
    estimate = np.mean(np.square(y - p_switched) - np.square(y - p))
    corrected = estimate + delta - (bias2[0] - bias2[1]) - (variance[0] - variance[1])
    return np.array([*bias2, *variance, delta, estimate, corrected])


@dataclass(frozen=True, eq=False, repr=False)
class ImportanceStudyResults(Savable):
    """Bias, variance and delta of estimated importances; made by ``ImportanceStudy``.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per process, learner, n (training rows), measure ("mvim" or "cvim") and feature:
        `repetitions` (models) and `validation` (rows per block of models); `bias2_switch`,
        `bias2_orig`, `variance_switch`, `variance_orig`, `delta`, `estimate` (mean of the
        estimated importances), `corrected` (which has the expectation `truth`, whatever the
        learner) and `truth`, in squared units of the response, each with a Monte Carlo standard
        error, such as `delta_mcse`, which is missing for a single block.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyinterp.simulation import ImportanceStudy, khan_regression
    >>> study = ImportanceStudy(
    ...     dgps=[khan_regression("strong", noise_features=1)],
    ...     learners={"lm": LinearRegression()},
    ...     features=["X1"],
    ...     n=[100, 200],
    ...     repetitions=20,
    ...     validation=1000,
    ... )
    >>> results = study.run("importance.sqlite", progress=False)
    >>> results.frame[["measure", "n", "truth"]].round(2)
      measure    n  truth
    0    mvim  100   7.97
    1    cvim  100   0.53
    2    mvim  200   7.97
    3    cvim  200   0.53
    """

    frame: pd.DataFrame

    def table(self, digits: int = 2) -> pd.DataFrame:
        """Return the components as Tables 2 to 7 of Khan et al. (2025) have them, rounded.

        One row per process, learner, measure, feature and n, the last varying fastest.

        Examples
        --------
        >>> results.table().shape
        (4, 8)
        """
        places = self.frame[KEY].apply(lambda column: pd.factorize(column)[0])
        ordered = self.frame.loc[places.sort_values(KEY).index]
        table = ordered.set_index(KEY)[list(HEADER)].astype(np.float64).round(digits) + 0.0  # no -0
        table.columns = pd.MultiIndex.from_tuples(HEADER.values())
        return table

    def plot(self) -> ggplot:
        """Plot delta and the estimated importance against n (Khan et al. 2025, Figures 4 to 9).

        The dashed line is the true importance; bars are 95% Monte Carlo intervals.

        Examples
        --------
        >>> plot = results.plot()
        >>> plot.save("importance.png", width=5, height=3, verbose=False)
        """
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        from pyinterp.results.plots.style import finish  # noqa: PLC0415

        named = self.frame["process"] + "\n" + self.frame["measure"].str.upper()
        panel = named + " of " + self.frame["feature"] + ", " + self.frame["learner"]
        frame = self.frame.assign(panel=pd.Categorical(panel, categories=panel.unique()))
        long = frame.melt(["panel", "n"], ["delta", "estimate"], var_name="what")
        half = 1.96 * pd.concat([frame["delta_mcse"], frame["estimate_mcse"]]).fillna(0).to_numpy()
        long = long.assign(low=long["value"] - half, high=long["value"] + half)
        truth = frame.drop_duplicates("panel")
        figure = (
            p9.ggplot(long, p9.aes("n", "value", color="what"))
            + p9.geom_hline(p9.aes(yintercept="truth"), data=truth, linetype="dashed")
            + p9.geom_linerange(p9.aes(ymin="low", ymax="high"))
            + p9.geom_line()
            + p9.geom_point()
            + p9.facet_wrap("panel", scales="free_y")
            + p9.scale_x_log10()
            + p9.scale_color_manual(values={"delta": "#D55E00", "estimate": "#0072B2"})
            + p9.labs(
                x="Training rows",
                y="Squared units of the response",
                color="",
                caption="Dashed: the true importance. Bars: 95% Monte Carlo intervals.",
            )
        )
        return finish(figure)

    def __repr__(self) -> str:
        return about(self, f"{len(self.frame)} rows")

    def __str__(self) -> str:
        return self.table().to_string()


def _describe(pool: Record) -> dict[str, float]:
    """Return means over blocks and their standard errors, which one block does not have."""
    blocks = len(pool.blocks)
    means, errors = pool.means(blocks)
    numbers = {}
    for column, mean, error in zip(COLUMNS, means.tolist(), errors.tolist(), strict=True):
        numbers[column] = mean
        numbers[f"{column}_mcse"] = error if blocks > 1 else np.nan
    return numbers


@dataclass(frozen=True, kw_only=True, repr=False)
class ImportanceStudy(Study[ImportanceStudyResults]):
    r"""Decompose the error of estimated MVIM and CVIM (Khan et al. 2025, sections 3 and 4.4).

    .. math:: E[\widehat{MI}_j] = MI_j + \text{Bias}^2(\text{switch}) - \text{Bias}^2(\text{orig})
        + \text{Var}(\text{switch}) - \text{Var}(\text{orig}) - \delta_j,
        \quad \delta_j = 2 E[(f(X'_j) - f(X)) (f(X'_j) - E_T \hat f(X'_j))]

    where in :math:`X'_j` the feature has been drawn anew, from its marginal distribution
    (MVIM) or from its distribution given the other features (CVIM), and :math:`E_T` is over
    training sets of n rows. The loss is the squared error, with classes the Brier score.

    Models come in blocks. Every model is trained on other rows; the models of a block share
    validation rows, drawn for the block, and features and measures share the models. Data depend
    on the process, n and the repetition only, so that learners are compared on the same data.

    Parameters
    ----------
    dgps : sequence of Process
    learners : mapping of str to estimator, or to (formula, estimator)
        The formula is ``"y ~ ."`` by default; each model learns its knots and levels from its
        training rows. Where settings depend on them, a function of process and n
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
    the wrong sign, in its tables the right one.

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

    def rows(
        self, process: Process, n: int, block: int
    ) -> tuple[pd.DataFrame, FloatArray, dict[Term, pd.DataFrame]]:
        """Return the validation rows of a block: features X, response, and X' of every term.

        The response of a class is the indicator of the second.

        Examples
        --------
        >>> X, y, replaced = study.rows(study.dgps[0], 100, 0)
        >>> X.shape, y.shape, list(replaced)
        ((1000, 10), (1000,), [('X1', 'mvim'), ('X1', 'cvim')])
        """
        rng = self.stream("validation", process.name, n, block)
        frame = process.covariates(self.validation, rng)
        y = process.respond(process.f(frame), rng)
        switched: dict[Term, pd.DataFrame] = {}
        for feature, measure in product(self.features, self.measures):
            stream = self.stream("switched", process.name, n, block, feature, measure)
            values = process.redraw(feature, frame, stream, conditional=measure == "cvim")
            column = pd.Series(values).astype(frame[feature].dtype)
            switched[feature, measure] = frame.assign(**{feature: column})
        return frame, y, switched

    def truth(self, process: Process, feature: str, measure: Measure) -> Truth[float]:
        """Return the true importance, with its Monte Carlo error if it has no closed form.

        Examples
        --------
        >>> round(study.truth(study.dgps[0], "X1", "mvim").value, 2)
        7.97
        """
        rng = self.stream("truth", process.name, feature, measure)
        return dgp_pfi(process, feature, conditional=measure == "cvim", n=self.truth_n, seed=rng)

    def settings(self, row: Row) -> dict[str, Any]:
        """Return the options, besides the row, on which its numbers depend.

        Examples
        --------
        >>> row, _ = next(study.totals())
        >>> study.settings(row)
        {'block': 10, 'seed': 1}
        """
        return {"block": self.block, "seed": self.seed}

    def terms(self, row: Row) -> tuple[Term, ...]:
        """Return every feature with every measure.

        Examples
        --------
        >>> row, _ = next(study.totals())
        >>> study.terms(row)
        (('X1', 'mvim'), ('X1', 'cvim'))
        """
        return tuple(product(self.features, self.measures))

    def totals(self) -> Iterator[tuple[Row, int]]:
        """Yield the rows of the study, each with its number of models.

        Examples
        --------
        >>> [(row.n, number) for row, number in study.totals()]
        [(100, 20)]
        """
        for process, learner, n in product(self.dgps, self.learners, self.n):
            yield self._row(process.name, learner, n), self.count("repetitions", learner, 1)

    def _row(self, process: str, learner: str, n: int) -> Row:
        """Return a row; with other validation rows, blocks or terms it is another one."""
        names = f"{' '.join(self.features)}, {' '.join(self.measures)}"
        plan = f"{self.block} models on {self.validation} rows: {names}"
        return Row("importance", process, learner, n, plan)

    def _worker(self, kind: str, records: Sequence[Record]) -> Worker:
        return self._decompose

    def _decompose(self, unit: Unit) -> dict[Term, dict[str, Any]]:
        """Return the components of a block of models."""
        row = unit.row
        process = self.process(row.process)
        frame, y, switched = self.rows(process, row.n, unit.block)
        frames = [frame, *switched.values()]
        predictions = []
        for repetition, learner in self._learners(unit):
            rng = self.stream("importance", row.process, row.learner, row.n, repetition)
            predictions.append(_predictions(process, learner, rng, frames))
        means = [process.f(each) for each in frames]
        original, *others = zip(means, np.stack(predictions, axis=1), strict=True)
        parts = [components(y, original, other) for other in others]
        sums = [{"sums": part, "squares": np.square(part)} for part in parts]
        return dict(zip(switched, sums, strict=True))

    def results(self, records: Sequence[Record]) -> ImportanceStudyResults:
        """Return the results of records.

        Examples
        --------
        >>> study.results([]).frame.shape[0]
        0
        """
        pools = pool_records(records)
        learners = dict.fromkeys([*self.learners, *(row.learner for row in pools)])
        sizes = sorted({row.n for row in pools})
        truth = cache(self.truth)
        rows = []
        for process, learner, n in product(self.dgps, learners, sizes):
            terms = pools.get(self._row(process.name, learner, n), {})
            for (feature, measure), pool in terms.items():
                value, error = truth(process, feature, measure)
                names = {"process": process.name, "learner": learner, "n": n}
                names |= {"measure": measure, "feature": feature}
                counts = {"repetitions": pool.size, "validation": self.validation}
                numbers = {**_describe(pool), "truth": value, "truth_mcse": error}
                rows.append({**names, **counts, **numbers})
        none = pd.DataFrame(columns=[*KEY, *HEADER])
        return ImportanceStudyResults(pd.DataFrame(rows) if rows else none)


def _predictions(
    process: Process, learner: Learner, rng: np.random.Generator, frames: Sequence[pd.DataFrame]
) -> FloatArray:
    """Train a model and return its predictions for frames of the same length, one row each.

    Of two classes it is the probability of the second.
    """
    sample = learner.population
    matrix = learner.design.encode(sample.variables)
    predictor = fit_alone(learner.estimator, matrix, sample, rng)
    together = learner.variables_of(pd.concat(frames, ignore_index=True))
    predicted = predictor(learner.design.encode(together))
    if predictor.classes is not None and process.classes is not None:
        predicted = predicted[:, predictor.classes.index(process.classes[1])]
    return predicted.reshape(len(frames), -1)
