"""Certificates: the coverage of a table's intervals, on data like those that it was made from.

What intervals are known to cover, they cover on the processes of studies. `certify` repeats the
analysis at hand on a process that is as much like its data as can be, and counts.

**Features** of a data set are those of as many rows of the data, drawn with replacement, so that
features go with each other as they do in the data. A row may be drawn twice, to train a refit and
to evaluate it. That biases no count: rows of a data set, each with a response of its own, are
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
on as many rows as the refits of the analysis. `CoverageStudy` does the work; units, streams of
random numbers and the file are its own. Estimands are taken from results as they are: their terms,
grids included, are fixed.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from pyinterp.checks import check_count, check_jobs
from pyinterp.errors import OptionError, quote
from pyinterp.estimands.estimand import Estimand
from pyinterp.inference import CovType
from pyinterp.learner.learner import Learner, LearnerResults
from pyinterp.parallel.progress import ProgressOption, check_progress, clock, tell
from pyinterp.parallel.threads import workers
from pyinterp.resampling import Bootstrap, FreshDraws, HalfSampling, Resampling, Subsampling
from pyinterp.results.results import EstimandResults
from pyinterp.simulation.certificate import Certificate
from pyinterp.simulation.processes.data_copy import DataCopy, copy_of
from pyinterp.simulation.processes.process import Process
from pyinterp.simulation.studies.coverage_study import TRUTH_BLOCKS, CoverageStudy
from pyinterp.simulation.studies.records import StudyFile

__all__ = ["certify"]

PLANS = (HalfSampling, Subsampling, Bootstrap)


def certify(
    results: LearnerResults,
    estimates: EstimandResults | None = None,
    *,
    data_sets: int = 100,
    truth_refits: int = 400,
    alpha: float = 0.05,
    seed: int = 0,
    n_jobs: int | None = None,
    file: str | os.PathLike[str] | None = None,
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
        What `Learner.fit` has returned, for ``HalfSampling``, ``Subsampling`` or ``Bootstrap``
        without clusters and strata.
    estimates : EstimandResults, optional
        Results of one estimand for these refits, such as ``results.pd("age")``: its terms, and the
        options of its inference, are those of all data sets. By default ``results.pfi()``.
    data_sets : int
        Number of data sets R. The standard error of a coverage of 95% is
        :math:`\sqrt{0.95 \cdot 0.05 / R}`, 0.022 for 100 data sets.
    truth_refits : int
        Refits on fresh data whose mean estimate is the truth.
    alpha : float
        1 - alpha is the nominal coverage.
    seed : int
        The same seed gives the same numbers, for any `n_jobs`.
    n_jobs : int, optional
        Jobs over data sets, by joblib.
    file : path, optional
        Keeps what has been done, data set by data set: after Ctrl-C the same call goes on, and
        `data_sets` may be raised later.
    progress : bool or "log"
        As in `Learner.fit`. The time that all of it takes is told first.

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
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.simulation.molnar_linear().draw(100, seed=1)
    >>> learner = pi.Learner.from_formula("y ~ .", data, LinearRegression())
    >>> results = learner.fit(pi.Subsampling(5), seed=1)
    >>> certificate = pi.certify(results, data_sets=5, truth_refits=20)
    >>> certificate.frame["coverage"].to_dict()
    {'x2': 1.0, 'x1': 0.8}
    """
    check_count("data_sets", data_sets)
    check_jobs(n_jobs)
    check_progress(progress)
    if file is not None and not isinstance(file, str | os.PathLike):
        raise OptionError(f"`file` must be a path such as 'certificate.sqlite', not {quote(file)}.")
    _check(results, estimates)
    table = results.pfi() if estimates is None else estimates
    context = results.analysis.context
    estimand = replace(table.estimand, diagnostic=None, correction=None)
    options = {"p_adjust": table.p_adjust, "simultaneous": table.simultaneous}
    words = results.model, estimand.description, table.exog_names, options
    copy = _rename(copy_of(results.analysis), *words)
    study = _CopyStudy(
        dgps=[copy],
        learners={context.learner: results.model.estimator},
        estimands={table.estimand.label: partial(_answer, estimand, options)},
        n=[results.nobs],
        resamplings={context.plan: results.resampling},
        cov_types={context.plan: [cast("CovType", table.cov_type)]},
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
        expected = study.seconds(path) / workers(n_jobs)
        tell(f"Certificate: about {clock(expected)}", progress)
        counts = study.run(path, n_jobs, progress=progress)
        every = StudyFile(path).records()
    sums = [
        record.sums["sums"]
        for record in every
        if record.row.process == copy.name and record.term[1:] == (table.cov_type,)
    ]
    return Certificate(
        table=table,
        counts=counts,
        sums=np.array(sums),
        alpha=alpha,
        truth=f"{truth_refits} refits on {study.train} rows",
        expected_seconds=expected,
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
    if type(plan) not in PLANS or plan.cluster is not None or plan.strata is not None:
        raise OptionError(
            "Refits must be by HalfSampling, Subsampling or Bootstrap without clusters and strata, "
            f"because data sets are drawn row by row, not by {quote(plan)}; fit with another plan."
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


def _answer(
    estimand: Estimand, options: dict[str, Any], results: LearnerResults, **other: Any
) -> EstimandResults:
    """Return what refits of other data answer."""
    return results.estimate(estimand, **options, **other)


def _rename(copy: DataCopy, *words: object) -> DataCopy:
    """Return the copy with a name by which a file tells its data, and words, from others."""
    digest = blake2b(repr(words).encode(), digest_size=8)
    for part in (pd.util.hash_pandas_object(copy.rows), copy.means, copy.residuals):
        digest.update(np.ascontiguousarray(part).tobytes())
    return replace(copy, name=f"copy {digest.hexdigest()}")


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

    def truth_plan(self, process: Process, n: int, refits: int) -> Resampling:
        """Return refits on fresh data, trained on as many rows as those of the analysis."""
        return FreshDraws(partial(process.draw, 2 * self.train), refits, fraction=0.5)

    def seconds(self, path: Path) -> float:
        """Return how long what `path` lacks takes, by the time of one unit of each kind."""
        kinds = [unit.row.kind for unit in self._todo(StudyFile(path).records())]
        (copy,), (n,), (ask,) = self.dgps, self.n, self.estimands.values()
        (name,), fresh = self.resamplings, self.truth_plan(copy, n, TRUTH_BLOCKS)
        seconds = {}
        for kind, used in (("truth", fresh), ("coverage", self.plan(name, copy, n))):
            if kind in kinds:
                start = time.monotonic()
                learner = self.learner(copy, "", self.draw(copy, n, -2))
                ask(learner.fit(used, seed=self.seed, progress=False)).conf_int(self.alpha)
                seconds[kind] = time.monotonic() - start
        return sum(map(seconds.__getitem__, kinds))

    def _try(self, row: Any) -> None:
        """Do nothing: `seconds` has tried all that is done."""
