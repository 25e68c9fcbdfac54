"""Coverage studies: how often intervals hold the truth, with tables and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.dummy import DummyClassifier, DummyRegressor

from pyinterp._typing import FloatArray
from pyinterp.checks import (
    check_alpha,
    check_callable,
    check_choice,
    check_count,
    check_list,
    check_mapping,
)
from pyinterp.errors import DataError, OptionError, list_of, quote
from pyinterp.inference import COV_TYPES, CovType
from pyinterp.learner.learner import Learner, LearnerResults
from pyinterp.representation import about
from pyinterp.resampling import FreshDraws, Resampling
from pyinterp.results.results import EstimandResults
from pyinterp.simulation.processes.process import Process
from pyinterp.simulation.studies.study import Record, Row, Study, Term, Unit, Worker, pool_records
from pyinterp.storage import Savable

if TYPE_CHECKING:
    from plotnine import ggplot


# Process, learner, n and estimand of a truth.
Target: TypeAlias = tuple[str, str, int, str]

# Numbers that records of intervals add up over repetitions, per term.
COLUMNS = ("covered", "rejected", "width", "width2", "error", "error2", "variance")

ROW = ["process", "learner", "n", "plan", "refits", "cov_type", "estimand"]

TRUTH = ["process", "learner", "n", "estimand"]

BARS = "Dashed: 95% coverage. Bars: 95% Monte Carlo intervals."
WIDTH, FULL_WIDTH = "Mean width", "(2 x 1.96 x true sd)"


@dataclass(frozen=True, eq=False, repr=False)
class CoverageResults(Savable):
    """Coverage, width and size of intervals.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per process, learner, n, plan, variance estimator, estimand and term: `refits` (of
        the plan, those for the variance included), `repetitions`,
        `truth` and its Monte Carlo error `truth_mcse`; `coverage`, `width` (mean), `rejected`
        (share of p-values below alpha), `bias`, `sd` (of the estimates over data sets), `se` (root
        of the mean variance), each but the last with a Monte Carlo error, such as `coverage_mcse`.
    rows : pandas.DataFrame
        Means over the terms of an estimand; `coverage_mcse` allows for their dependence.
    truths : pandas.DataFrame
        Mean estimates of the learner: one row per process, learner, n, estimand and term.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyinterp import LearnerResults, Subsampling
    >>> from pyinterp.simulation import CoverageStudy, molnar_linear
    >>> study = CoverageStudy(
    ...     dgps=[molnar_linear()],
    ...     learners={"lm": LinearRegression()},
    ...     estimands={"pfi": LearnerResults.pfi},
    ...     n=[100],
    ...     resamplings={"3 refits": Subsampling(3), "6 refits": Subsampling(6)},
    ...     cov_types={"3 refits": ["corrected"], "6 refits": ["corrected"]},
    ...     repetitions=10,
    ...     truth_refits=100,
    ... )
    >>> results = study.run("coverage.sqlite", progress=False)
    >>> results.rows[["refits", "coverage"]]
       refits  coverage
    0       3      0.70
    1       6      0.65
    """

    frame: pd.DataFrame
    rows: pd.DataFrame
    truths: pd.DataFrame

    def plot(self) -> ggplot:
        """Plot width against coverage (Molnar et al., Figures 3 and 4).

        Every row of the study is a point. Lines connect the points of one process, learner and n.
        ``dataclasses.replace(results, rows=results.rows.query("n == 100")).plot()`` plots a part.

        Examples
        --------
        >>> plot = results.plot()
        >>> plot.save("coverage.png", width=5, height=3, verbose=False)
        """
        import plotnine as p9  # noqa: PLC0415 - takes a second to import

        from pyinterp.results.plots.style import finish  # noqa: PLC0415

        sizes = "n = " + self.rows["n"].astype(str)
        points = self._with_limits().assign(
            scenario=self.rows["process"] + self.rows["learner"],
            size=pd.Categorical(sizes, sizes.unique()),
        )
        figure = (
            p9.ggplot(points, p9.aes("relative_width", "coverage"))
            + p9.geom_hline(yintercept=0.95, linetype="dashed", color="gray")
            + p9.geom_line(p9.aes(group="scenario"), color="lightgray")
            + p9.geom_linerange(p9.aes(ymin="low", ymax="high", color="interval"))
            + p9.geom_point(p9.aes(color="interval", shape="learner"), size=2.5)
            + p9.guides(shape=p9.guide_legend(override_aes={"color": "gray"}))
            + p9.facet_grid("estimand ~ size")
            + p9.labs(x=f"{WIDTH} / {FULL_WIDTH}", y="Coverage", color="", shape="", caption=BARS)
        )
        return finish(figure)

    def __repr__(self) -> str:
        return about(self, f"{len(self.rows)} rows", f"{len(self.truths)} true values")

    def __str__(self) -> str:
        return self.rows.to_string()

    def _with_limits(self) -> pd.DataFrame:
        """Return the rows with 95% Monte Carlo limits of coverage; raise if there are none."""
        if self.rows.empty:
            raise DataError("A plot needs results of at least one row of the study, but has none.")
        half = 1.96 * self.rows["coverage_mcse"]
        return self.rows.assign(
            interval=self.rows["plan"] + ", " + self.rows["cov_type"],
            low=self.rows["coverage"] - half,
            high=self.rows["coverage"] + half,
        )


def _long(parts: Mapping[tuple[Any, ...], pd.DataFrame], names: list[str]) -> pd.DataFrame:
    """Return the parts below each other, their keys in the first columns."""
    if not parts:
        return pd.DataFrame(columns=[*names, "term", "truth", "truth_mcse"], dtype=object)
    return pd.concat(parts, names=names).reset_index(names).reset_index(drop=True)


def pooled_truths(records: Iterable[Record]) -> dict[Target, pd.DataFrame]:
    """Return mean and Monte Carlo error of every term, by process, learner, n and estimand."""
    truths = {}
    for row, terms in pool_records(r for r in records if r.row.kind == "truth").items():
        for (estimand,), pool in terms.items():
            mean, error = pool.means(pool.size)
            truths[*row[1:4], estimand] = pd.DataFrame(
                {"term": list(pool.sums["labels"]), "truth": mean, "truth_mcse": error}
            )
    return truths


def _describe(pool: Record, truth: pd.DataFrame) -> pd.DataFrame:
    """Return coverage, width, size, bias and standard errors of every term, with their errors."""
    r = pool.size
    mean = pd.DataFrame(pool.sums["sums"], columns=list(COLUMNS)) / r
    bessel = r / max(r - 1, 1)
    sd = np.sqrt(np.clip(mean["error2"] - mean["error"] ** 2, 0, None) * bessel)
    spread = np.sqrt(np.clip(mean["width2"] - mean["width"] ** 2, 0, None) * bessel)
    return truth.assign(
        repetitions=r,
        coverage=mean["covered"],
        coverage_mcse=np.sqrt(mean["covered"] * (1 - mean["covered"]) / r),
        width=mean["width"],
        width_mcse=spread / np.sqrt(r),
        rejected=mean["rejected"],
        rejected_mcse=np.sqrt(mean["rejected"] * (1 - mean["rejected"]) / r),
        bias=mean["error"],
        bias_mcse=sd / np.sqrt(r),
        sd=sd,
        sd_mcse=sd / np.sqrt(2 * max(r - 1, 1)),
        se=np.sqrt(mean["variance"]),
    )


def _term_means(pool: Record, part: pd.DataFrame) -> dict[str, float]:
    """Return means over the terms of an estimand."""
    r = pool.size
    coverage = float(part["coverage"].mean())
    between = max(float(pool.sums["shares"]) / r - coverage**2, 0.0) * r / max(r - 1, 1)
    vary = part["sd"] > 0
    full = 2 * stats.norm.isf(0.025) * part["sd"]
    return {
        "repetitions": r,
        "terms": len(part),
        "coverage": coverage,
        "coverage_mcse": float(np.sqrt(between / r)),
        "width": float(part["width"].mean()),
        "relative_width": float((part["width"][vary] / full[vary]).mean()),
        "rejected": float(part["rejected"].mean()),
    }


Plan: TypeAlias = Resampling | Callable[[Process, int], Resampling]
Ask: TypeAlias = Callable[..., EstimandResults]

TRAIN = 0.632
# Refits for the truth are cheaper than repetitions: so many blocks make one.
TRUTH_BLOCKS = 10


def ideal(refits: int = 15) -> Callable[[Process, int], Resampling]:
    """Return the plan with fresh data for every refit, which needs no correction (c = 0).

    As in the code behind Molnar et al. (2021, section 8), 0.632 n rows train and as many evaluate.

    Examples
    --------
    >>> from pyinterp.simulation import ideal, molnar_linear
    >>> plan = ideal(5)(molnar_linear(), 100)
    >>> plan.number
    5
    """
    check_count("refits", refits)
    return _Ideal(refits)


@dataclass(frozen=True)
class _Ideal:
    """The plan `ideal` of a process and n."""

    refits: int

    def __call__(self, process: Process, n: int) -> Resampling:
        return FreshDraws(partial(process.draw, 2 * round(TRAIN * n)), self.refits, fraction=0.5)

    def __repr__(self) -> str:
        return f"ideal({self.refits})"


@dataclass(frozen=True, kw_only=True, repr=False)
class CoverageStudy(Study[CoverageResults]):
    r"""Simulate how often intervals hold the expectation of the learner's PD or importance.

    The truth of a learner at n is the mean of its estimates over many refits on fresh data, each
    trained on 0.632 n rows and evaluated on as many. Every repetition draws n rows, on which every
    plan is tried; a data set depends on the process, n and the repetition only, so that
    learners and plans are compared on the same data.

    Parameters
    ----------
    dgps : sequence of Process
    learners : mapping of str to estimator, or to (formula, estimator)
        The formula is ``"y ~ ."`` by default. Where settings depend on them, a function of process
        and n that returns either.
    estimands : mapping of str to callable
        ``ask(results, cov_type=...)`` returns results for the fitted learner, such as
        ``LearnerResults.pfi`` or ``partial(LearnerResults.pd, features="x1", grid=[0, 1])``. Grids
        must be arrays, so that every data set has the same terms.
    n : sequence of int
        Sizes of data sets.
    resamplings : mapping of str to plan
        A plan, or a function of process and n that returns one, such as ``ideal()``.
    cov_types : mapping of str to sequence of str
        For every name in `resamplings`, the variance estimators to try.
    repetitions : int or mapping
        Data sets per row of the study, or a mapping from the names of learners; 0 for a study of
        the mean estimates of learners only.
    truth_refits : int or mapping
        Refits for the truth, likewise.
    alpha : float
        1 - alpha is the nominal coverage.
    block : int
        Repetitions per checkpoint.
    seed : int

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyinterp import LearnerResults, Subsampling
    >>> from pyinterp.simulation import CoverageStudy, molnar_linear
    >>> study = CoverageStudy(
    ...     dgps=[molnar_linear()],
    ...     learners={"lm": LinearRegression()},
    ...     estimands={"pfi": LearnerResults.pfi},
    ...     n=[100],
    ...     resamplings={"subsampling": Subsampling(5)},
    ...     cov_types={"subsampling": ["corrected"]},
    ...     repetitions=10,
    ...     truth_refits=100,
    ... )
    >>> results = study.run("coverage.sqlite", progress=False)
    >>> results.rows[["estimand", "coverage"]]
      estimand  coverage
    0      pfi      0.65
    """

    estimands: Mapping[str, Ask]
    resamplings: Mapping[str, Plan]
    cov_types: Mapping[str, Sequence[CovType]]
    repetitions: int | Mapping[str, int] = 1000
    truth_refits: int | Mapping[str, int] = 2000
    alpha: float = 0.05
    block: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        check_mapping("estimands", self.estimands, "{'pfi': LearnerResults.pfi}")
        check_mapping("resamplings", self.resamplings, "{'boot': Bootstrap(15)}", empty=True)
        check_mapping("cov_types", self.cov_types, "{'boot': ['corrected']}", empty=True)
        for ask in self.estimands.values():
            check_callable("estimands", ask, "LearnerResults.pfi")
        for plan in self.resamplings.values():
            if not isinstance(plan, Resampling):
                check_callable("resamplings", plan, "ideal()")
        if set(self.cov_types) != set(self.resamplings):
            raise OptionError(
                "`cov_types` must name the plans of `resamplings`, "
                f"{list_of(sorted(self.resamplings))}; got {list_of(sorted(self.cov_types))}."
            )
        for several in self.cov_types.values():
            check_list("cov_types", several, "['corrected']")
            for cov_type in several:
                check_choice("cov_types", cov_type, COV_TYPES)
        check_alpha(self.alpha)
        check_count("block", self.block)
        for name, least in (("repetitions", 0), ("truth_refits", 1)):
            for learner in self.learners:
                self.count(name, learner, least)

    def plan(self, name: str, process: Process, n: int) -> Resampling:
        """Return a plan of the study for data sets of n rows of a process.

        Examples
        --------
        >>> study.plan("subsampling", study.dgps[0], 100)
        Subsampling(refits=5)
        """
        plan = self.resamplings[name]
        return plan if isinstance(plan, Resampling) else plan(process, n)

    def truth_plan(self, process: Process, n: int, refits: int) -> Resampling:
        """Return the plan of refits on fresh data whose mean estimate is the truth at n.

        Examples
        --------
        >>> study.truth_plan(study.dgps[0], 100, refits=5).number
        5
        """
        return ideal(refits)(process, n)

    def settings(self, row: Row) -> dict[str, Any]:
        """Return the options, besides the row, on which its numbers depend.

        Examples
        --------
        >>> row, _ = next(study.totals())
        >>> study.settings(row)
        {'block': 200, 'seed': 1}
        """
        if row.kind == "truth":
            return {"block": self.block * TRUTH_BLOCKS, "seed": self.seed}
        return {
            "block": self.block,
            "seed": self.seed,
            "alpha": self.alpha,
            "truth_refits": self.count("truth_refits", row.learner, 1),
            "plan": plan_label(self.plan(row.plan, self.process(row.process), row.n)),
        }

    def terms(self, row: Row) -> tuple[Term, ...]:
        """Return the estimands; for coverage, each with every variance estimator of the plan.

        Examples
        --------
        >>> row, _ = next(study.totals())
        >>> study.terms(row)
        (('pfi',),)
        """
        if row.kind == "truth":
            return tuple((name,) for name in self.estimands)
        return tuple(product(self.estimands, dict.fromkeys(self.cov_types[row.plan])))

    def totals(self) -> Iterator[tuple[Row, int]]:
        """Yield the rows of the study, each with its number of refits or data sets.

        Examples
        --------
        >>> [(row.kind, number) for row, number in study.totals()]
        [('truth', 100), ('coverage', 10)]
        """
        every = list(product([process.name for process in self.dgps], self.learners, self.n))
        for process, learner, n in every:
            yield Row("truth", process, learner, n), self.count("truth_refits", learner, 0)
        for (process, learner, n), plan in product(every, self.resamplings):
            row = Row("coverage", process, learner, n, plan)
            yield row, self.count("repetitions", learner, 0)

    def _try(self, row: Row) -> None:
        """Fit a learner that learns nothing, so that plans and variances fail before the work."""
        if row.kind == "truth":
            return
        process = self.process(row.process)
        formula, _ = self.formula_and_estimator(process, row.learner, row.n)
        idle = DummyRegressor() if process.classes is None else DummyClassifier()
        learner = Learner.from_formula(formula, self.draw(process, row.n, -1), idle)
        plan = self.plan(row.plan, process, row.n)
        results = learner.fit(plan, seed=1, progress=False)
        for cov_type in self.cov_types[row.plan]:
            results.loss(cov_type=cov_type)

    def _worker(self, kind: str, records: Sequence[Record]) -> Worker:
        if kind == "truth":
            return self._truth
        return partial(self._cover, pooled_truths(records))

    def _truth(self, unit: Unit) -> dict[Term, dict[str, Any]]:
        """Return sums over a block of refits on fresh data."""
        row = unit.row
        process = self.process(row.process)
        data = self.draw(process, row.n, -1)  # for the formula and the classes only
        # "truth" stands twice: streams are named as they were when rows of the truth named a plan.
        seed = self.stream("truth", row.process, row.learner, row.n, "truth", unit.block, unit.size)
        plan = self.truth_plan(process, row.n, unit.size)
        learner = self.learner(process, row.learner, data)
        results = learner.fit(plan, seed=seed, progress=False)
        sums = {}
        for term in unit.terms:
            answer = self._ask(term[0], results)
            values = answer.replicates.per_refit
            sums[term] = {
                "labels": tuple(answer.params.index),
                "sums": values.sum(axis=0),
                "squares": np.square(values).sum(axis=0),
            }
        return sums

    def _cover(
        self, truths: Mapping[Target, pd.DataFrame], unit: Unit
    ) -> dict[Term, dict[str, Any]]:
        """Return sums over a block of data sets.

        The share of terms covered varies less over data sets than single terms.
        """
        row = unit.row
        plan = self.plan(row.plan, self.process(row.process), row.n)
        columns: dict[Term, list[FloatArray]] = {term: [] for term in unit.terms}
        for repetition, learner in self._learners(unit):
            seed = self.stream("coverage", row.process, row.learner, row.n, row.plan, repetition)
            results = learner.fit(plan, seed=seed, progress=False)
            for term in unit.terms:
                truth = truths[*row[1:4], term[0]]
                columns[term].append(self._one(term, results, truth))
        sums = {}
        for term, values in columns.items():
            each = np.array(values)
            shares = each[:, :, COLUMNS.index("covered")].mean(axis=1)
            sums[term] = {"sums": each.sum(axis=0), "shares": np.square(shares).sum()}
        return sums

    def _ask(self, name: str, results: LearnerResults, **options: Any) -> EstimandResults:
        """Return the answer of the user's function of an estimand."""
        answer = self.estimands[name](results, **options)
        if not isinstance(answer, EstimandResults):
            raise OptionError(
                f"The estimand {quote(name)} must return results such as those of pfi(), not "
                f"{quote(answer)}."
            )
        return answer

    def _one(self, term: Term, results: LearnerResults, truth: pd.DataFrame) -> FloatArray:
        """Return `COLUMNS` for one data set, shape (terms, columns).

        A term without variance, whose interval is the estimate itself, covers only if it is the
        truth.
        """
        estimand, cov_type = term
        answer = self._ask(estimand, results, cov_type=cov_type)
        if list(answer.params.index) != list(truth["term"]):
            raise OptionError(
                f"An estimand must have the same terms for every data set, but those of "
                f"{quote(estimand)} differ: {list_of(answer.params.index, most=4)} and "
                f"{list_of(truth['term'], most=4)}. Give its grid."
            )
        estimate, value = np.asarray(answer.params), truth["truth"].to_numpy()
        limits = answer.conf_int(self.alpha).to_numpy().T
        low, high = (np.where(np.isnan(limit), estimate, limit) for limit in limits)
        width, error = high - low, estimate - value
        covered = (low <= value) & (value <= high)
        rejected = np.nan_to_num(np.asarray(answer.pvalues), nan=1.0) < self.alpha
        variance = np.square(np.asarray(answer.bse))
        columns = covered, rejected, width, width**2, error, error**2, variance
        return np.column_stack(columns).astype(np.float64)

    def results(self, records: Sequence[Record]) -> CoverageResults:
        """Return the results of records.

        Examples
        --------
        >>> study.results([]).rows.shape[0]
        0
        """
        truths = pooled_truths(records)
        parts: dict[tuple[Any, ...], pd.DataFrame] = {}
        rows = []
        for row, terms in pool_records(r for r in records if r.row.kind == "coverage").items():
            if row.plan in self.resamplings:
                refits = self.plan(row.plan, self.dgps[0], self.n[0]).number
                for (estimand, cov_type), pool in terms.items():
                    names = *row[1:], refits, cov_type, estimand
                    part = _describe(pool, truths[*row[1:4], estimand])
                    parts[names] = part
                    rows.append(dict(zip(ROW, names, strict=True)) | _term_means(pool, part))
        return CoverageResults(_long(parts, ROW), pd.DataFrame(rows), _long(truths, TRUTH))


def plan_label(plan: Resampling) -> str:
    """Return a plan in words: its label, and its options that are numbers or names."""
    names: list[str] = [field.name for field in fields(plan)] if is_dataclass(plan) else []
    options = {name: getattr(plan, name) for name in names}
    plain = [f"{k}={v!r}" for k, v in options.items() if isinstance(v, int | float | str)]
    return f"{plan.label} ({', '.join(plain)})"
