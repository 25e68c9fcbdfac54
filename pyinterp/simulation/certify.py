"""Certificates: the coverage of a table's intervals, on data like those that it was made from.

The coverage of intervals is known for the processes of studies. `certify` repeats the analysis
at hand on a process that is as much like its data as can be, and counts.

**Features** of a data set are features of as many rows of the data, drawn with replacement, so that
features go with each other as they do in the data. A row may be drawn twice, to train a refit and
to evaluate it. That biases no count: rows of a data set, each with its response, are
independent draws from one distribution, so that training and evaluation rows are independent, and
so they are in the fresh data that give the truth, where such twins are as frequent. They make the
copy unlike the data, though, for learners that remember rows, whose predictions then vary less for
a twin than for any other row, so that features without effect have negative importances. Numbers
that are not whole therefore move by a tenth of the difference of two other rows, which keeps what
is linear between them.

**Responses** are independent given features. Their mean is a row's mean prediction by the refits
that did not train on it. Averages over refits, and forests, predict too near to the mean; the least
squares line of responses on predictions mends this. Residuals from that line have mean 0 and do not
go with it, so that responses vary in the copy as in the data; each data set draws them anew, from
all rows. Probabilities of classes are sharpened likewise, by the power that fits best.

Tried on Friedman's first process with 300 rows, with a forest of 30 trees and all by out-of-sample
predictions (mean importance of X1 and X4, of five features without effect, and loss):

==============================================  =====  =====  =======  =====
Process                                            X1     X4  no part   loss
==============================================  =====  =====  =======  =====
The true one                                     8.03  14.39    0.00   6.57
Estimates in four data sets                      7.50  13.71   -0.02   6.63
Copies: all of the above                         5.97  17.10   -0.01   7.75
the same with exact rows                         5.70  17.09   -0.09   7.66
the same without the line                        3.48  10.50   -0.13   8.26
a model of all rows instead of out of sample     6.15  13.03   -0.06   9.99
==============================================  =====  =====  =======  =====

A model of all rows takes the noise of rows that it was trained on for signal: with a tree features
without effect then have an importance of 0.25. In copies weak features have less importance than in
the data (X5: 0.5, true 2.0). The table has the numbers of both.

**The truth** is the learner's under the copy: the mean estimate of refits on fresh data, trained
on as many rows as the refits of the analysis. `CoverageStudy` does the work, with its units,
streams of random numbers and file. Estimands are taken from results as they are: their terms,
grids included, are fixed.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from pyinterp._typing import FilePath, FloatArray
from pyinterp.checks import check_count, check_jobs
from pyinterp.data.features import check_names, names_of
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.inference.digits import number_format
from pyinterp.learner.learner import Learner, LearnerResults
from pyinterp.parallel.progress import ProgressOption, clock
from pyinterp.representation import cached_table
from pyinterp.resampling import Bootstrap, FreshDraws, HalfSampling, Resampling, Subsampling
from pyinterp.results.footnotes import NotesOption
from pyinterp.results.results import EstimandResults
from pyinterp.results.summary import TableOptions, Tabular, largest_first, summarize_frame
from pyinterp.results.table import Table
from pyinterp.simulation.coverage import CoverageStudy
from pyinterp.simulation.coverage_results import COLUMNS, CoverageResults
from pyinterp.simulation.data_copy import copy_of
from pyinterp.simulation.process import Process
from pyinterp.simulation.records import StudyFile
from pyinterp.storage import text_of

PLANS = (HalfSampling, Subsampling, Bootstrap)

HEADINGS = {"coverage_error": "std err", "relative_width": "rel. width"}
NOTE = (
    "coverage: share of data sets whose {:.4g}% interval holds the truth; below, above: share "
    "whose interval is below it or above it; rel. width: mean width, divided by that of an "
    "interval that knows the standard deviation of the estimates"
)
TESTS = "; rejected: share of data sets with P < {:.4g}"
CAUTION = (
    "A low coverage is a reason to distrust the intervals, a high one no proof. Data sets are "
    "copies of these data: where estimate and truth differ, coverage may too, and other data of "
    "the same kind would differ by more than these standard errors."
)
OF_NULL = (
    "The response of the copies does not depend on {}. Where its truth is the null value, rejected "
    "is the size of the test."
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Certificate(Tabular):
    """Coverage, width and power of the intervals of one table; made by `certify`.

    Attributes
    ----------
    table : EstimandResults
        The results whose intervals these are.
    counts : CoverageResults
        Counts over data sets as of any study: ``counts.rows`` has the coverage of all terms.
    sums : ndarray of shape (data sets, terms, columns)
        The same by data set; columns as in records of studies.
    alpha : float
        1 - alpha is the nominal coverage.
    truth : str
        Source of the truth, in words.
    null : tuple of str
        Features on which the response of the copies does not depend.
    seconds : float
        Duration of the call that returned this.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from pyinterp_papers.processes import molnar_linear
    >>> from sklearn.linear_model import LinearRegression
    >>> data = molnar_linear().draw(100, seed=1)
    >>> learner = pi.Learner.from_formula("y ~ .", data, LinearRegression())
    >>> results = learner.fit(pi.Subsampling(5), seed=1)
    >>> certificate = pi.certify(results, data_sets=5, truth_refits=20)
    >>> certificate.truth
    '20 refits on 63 rows'
    """

    table: EstimandResults
    counts: CoverageResults
    sums: FloatArray
    alpha: float
    truth: str
    null: tuple[str, ...]
    seconds: float

    def _error(self, coverage: float) -> float:
        """Return the standard error of a share of the data sets (Agresti and Coull)."""
        n = len(self.sums) + 4
        center = (coverage * len(self.sums) + 2) / n
        return float(np.sqrt(center * (1 - center) / n))

    @cached_table
    def frame(self) -> pd.DataFrame:
        """One row per term.

        `estimate` in the data; `truth` in the copy; `coverage` and `coverage_error`, its standard
        error, which is not 0 for shares of 0 and 1 (Agresti and Coull); the shares of intervals
        `below` and `above` the truth; `relative_width`, mean width divided by the width of an
        interval that knows the standard deviation of the estimates; `rejected`, the share of
        p-values below alpha, missing without a null value; mean `width`; `rejected_mcse`,
        `truth_mcse`, Monte Carlo errors; `bias` and `sd` of the estimates over data sets, and
        `se`, the root of the mean of their squared standard errors.
        """
        frame = self.counts.frame.set_index("term")
        missed = self.sums[:, :, COLUMNS.index("covered")] == 0
        error = self.sums[:, :, COLUMNS.index("error")]
        known = 2 * stats.norm.isf(self.alpha / 2) * frame["sd"]
        numbers = {
            "estimate": self.table.params,
            "truth": frame["truth"],
            "coverage": frame["coverage"],
            "coverage_error": frame["coverage"].map(self._error),
            "below": (missed & (error < 0)).mean(axis=0),
            "above": (missed & (error > 0)).mean(axis=0),
            "relative_width": frame["width"] / known,
            "rejected": frame["rejected"],
        }
        others = frame[["width", "rejected_mcse", "truth_mcse", "bias", "sd", "se"]]
        every = pd.DataFrame(numbers, index=frame.index).join(others)
        of = self.table.estimand
        return every if of.terms.axes else largest_first(every, of.parameter, "truth")

    def summary_frame(self) -> pd.DataFrame:
        """Return `frame`.

        Examples
        --------
        >>> certificate.summary_frame()[["truth", "coverage"]].round(3)
              truth  coverage
        term
        x2   -0.001       1.0
        x1   -0.005       1.0
        """
        return self.frame

    def summary(self, *, notes: NotesOption = "short") -> Table:
        """Return a table of coverage, width and power.

        Parameters
        ----------
        notes : {"short", "full", "none"}
            Footnotes; "full" says the same as "short".

        Examples
        --------
        >>> str(certificate.summary(notes="none")).splitlines()[-3]
        'x2  0.011670 -0.001126     1.000     0.139     0.000     0.000      2.353     0.000'
        """
        TableOptions(notes=notes)
        context, coverage = self.table.context, self.counts.rows["coverage"].iloc[0]
        number = number_format(self.frame["truth"].to_numpy(), self.frame["sd"].to_numpy())
        shown = list(map(str, self.frame.loc[:, :"rejected"].dropna(axis=1, how="all")))
        note = NOTE.format(100 * (1 - self.alpha))
        if "rejected" in shown:
            note += TESTS.format(self.alpha)
        of_null = OF_NULL.format(list_of(self.null)) if self.null else ""
        every, sizes = (f"{note}.", of_null, context.plan_note), ("estimate", "truth")
        return summarize_frame(
            self.frame.rename(columns=HEADINGS),
            {HEADINGS.get(name, name): number if name in sizes else "%.3f" for name in shown},
            title="Coverage on copies of the data",
            facts=[
                ("Estimand:", self.table.estimand.description),
                ("Data sets:", f"{len(self.sums)} of {context.nobs} rows"),
                ("Learner:", context.learner),
                ("Truth:", f"{self.truth}, std err at most {self.frame['truth_mcse'].max():.2g}"),
                ("Resampling:", f"{context.plan}, {self.table.cov_type}"),
                ("Time:", clock(self.seconds)),
                ("Coverage:", f"{coverage:.3f}, std err {self._error(coverage):.3f}"),
            ],
            notes=[] if notes == "none" else [*filter(None, every), CAUTION],
        )


def certify(
    results: LearnerResults,
    estimates: EstimandResults | None = None,
    *,
    data_sets: int = 100,
    truth_refits: int = 400,
    null: Sequence[str] = (),
    alpha: float = 0.05,
    seed: int = 0,
    n_jobs: int | None = None,
    file: FilePath | None = None,
    progress: ProgressOption = True,
) -> Certificate:
    r"""Count how often intervals of a table hold the truth, on copies of its data.

    Data sets like the data are drawn: rows with replacement, whose numbers are moved a little, and
    responses around out-of-sample predictions, with residuals from them, or from predicted
    probabilities. The same learner is fitted to each by the same plan, the same table made, and its
    intervals and tests are compared with the learner's truth for such data.

    Parameters
    ----------
    results : LearnerResults
        Results of `Learner.fit`, for ``HalfSampling``, ``Subsampling`` or ``Bootstrap``
        without clusters and strata.
    estimates : EstimandResults, optional
        Results of one estimand for these refits, such as ``results.pd("age")``: its terms, and the
        options of its inference, serve all data sets. By default ``results.pfi()``.
    data_sets : int
        Number of data sets R. The standard error of a coverage of 95% is
        :math:`\sqrt{0.95 \cdot 0.05 / R}`, 0.022 for 100 data sets.
    truth_refits : int
        Refits on fresh data whose mean estimate is the truth.
    null : sequence of str
        Features whose values come from other rows of the copy after its responses were drawn. Their
        tests are of what is true, so that the share that rejects is the size of the test.
    alpha : float
        1 - alpha is the nominal coverage.
    seed : int
        The same seed gives the same numbers, for any `n_jobs`, and the same data sets to all
        tables of the same refits; 0 by default, as the same call goes on with `file`.
    n_jobs : int, optional
        Jobs over data sets, by joblib.
    file : path, optional
        Keeps the counts, data set by data set: after Ctrl-C the same call goes on, and
        `data_sets` may be raised later.
    progress : bool or "log"
        As in `Learner.fit`, and by default True too.

    Returns
    -------
    Certificate

    Raises
    ------
    OptionError
        If the results can't be repeated on other rows, or the file was begun with other settings.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from pyinterp_papers.processes import molnar_linear
    >>> from sklearn.linear_model import LinearRegression
    >>> data = molnar_linear().draw(100, seed=1)
    >>> learner = pi.Learner.from_formula("y ~ .", data, LinearRegression())
    >>> results = learner.fit(pi.Subsampling(5), seed=1)
    >>> certificate = pi.certify(results, data_sets=5, truth_refits=20)
    >>> certificate.frame["coverage"].to_dict()
    {'x2': 1.0, 'x1': 1.0}
    """
    check_count("data_sets", data_sets)
    check_jobs(n_jobs, progress)
    if file is not None and not isinstance(file, str | os.PathLike):
        raise OptionError(f"`file` must be a path such as 'certificate.sqlite', not {quote(file)}.")
    _check(results, estimates)
    table = results.pfi() if estimates is None else estimates
    context = results.analysis.context
    estimand = replace(table.estimand, diagnostic=None, correction=None)
    options = {"p_adjust": table.p_adjust, "simultaneous": table.simultaneous}
    words = repr((results.model, estimand.description, table.exog_names, options))
    names = names_of(null, "null")
    if names:
        known = map(str, results.model.sample.variables)
        check_names(names, known, kind="variable", argument="null")
    copy = replace(copy_of(results.analysis), null=tuple(names))
    # By the name a file tells its data, and words, from others.
    text = text_of((words, copy.rows, copy.means, copy.residuals, copy.null))
    name = sha256(text.encode()).hexdigest()[:16]
    copy = replace(copy, name=f"copy {name}")
    ask = partial(LearnerResults.estimate, estimand=estimand, **options)
    study = _CopyStudy(
        dgps=[copy],
        learners={context.learner: results.model.estimator},
        estimands={table.estimand.words.label: ask},
        n=[results.nobs],
        resamplings={context.plan: results.resampling},
        cov_types={context.plan: [table.cov_type]},
        repetitions=data_sets,
        truth_refits=truth_refits,
        alpha=alpha,
        block=1,
        seed=seed,
        specification=results.model,
        train=round(context.n_train),
    )
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "certificate.sqlite") if file is None else Path(file)
        counts = study.run(path, n_jobs, progress=progress)
        every = StudyFile(path).records()
    ours = [record for record in every if record.row.process == copy.name]
    sums = [record.sums["sums"] for record in ours if record.term[1:] == (table.cov_type,)]
    return Certificate(
        table=table,
        counts=counts,
        sums=np.array(sums),
        alpha=alpha,
        truth=f"{truth_refits} refits on {study.train} rows",
        null=copy.null,
        seconds=time.monotonic() - start,
    )


def _check(results: object, table: object) -> None:
    """Raise `OptionError` unless an analysis can be repeated on other rows, and has the table."""
    if not isinstance(results, LearnerResults):
        raise OptionError(
            f"`results` must be what `Learner.fit` returns, not {quote(results)}; results of an "
            "estimand go second: `pi.certify(res, res.pd('age'))`."
        )
    plan = results.resampling
    if (
        type(plan) not in PLANS
        or plan.cluster is not None
        or plan.strata is not None
        or results.analysis.evaluations.share < 1
    ):
        raise OptionError(
            "Refits must be by HalfSampling, Subsampling or Bootstrap without clusters and strata, "
            "because data sets are drawn row by row, and evaluated on all others, not by "
            f"{quote(plan)}; fit with another plan, without `max_evaluation_rows`."
        )
    context = results.analysis.context
    if table is not None and (
        not isinstance(table, EstimandResults)
        or replace(table.context, engine=context.engine) != context
        or table.estimand.terms.groups
        or table.alternative != "two-sided"
    ):
        raise OptionError(
            "`estimates` must be two-sided results of one estimand for these refits and all rows, "
            f"such as `results.pd('age')`, not {quote(table)}."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class _CopyStudy(CoverageStudy):
    """The coverage of one table on a copy of its data.

    `specification` is the learner, `train` the number of training rows of its refits.
    """

    specification: Learner
    train: int

    def learner(self, process: Process, name: str, data: pd.DataFrame) -> Learner:
        """Return the learner on some data of the copy."""
        return self.specification._with_rows(data)

    def stream(self, *key: str | int) -> np.random.Generator:
        """Return the random stream of a key without the copy's name, which last bits change."""
        return super().stream(*(part for part in key if part != self.dgps[0].name))

    def truth_plan(self, process: Process, n: int, refits: int) -> Resampling:
        """Return refits on fresh data, trained on as many rows as in the analysis."""
        return FreshDraws(partial(process.draw, 2 * self.train), refits, fraction=0.5)
