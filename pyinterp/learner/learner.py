"""Learners: a formula or arrays, an estimator, and refits of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import effective_n_jobs

from pyinterp._typing import FilePath, FloatArray
from pyinterp.checks import check_choice, check_flag, is_list
from pyinterp.data.columns import columns_of
from pyinterp.data.design import Design, FormulaDesign
from pyinterp.data.features import Features, Groups, features_of
from pyinterp.data.formula.coding import callers_names
from pyinterp.data.frames import as_frame
from pyinterp.data.missing import Missing, MissingValues
from pyinterp.data.readers import ArrayReader, FormulaReader, Reader, reread
from pyinterp.data.row_data import RowData, Rows
from pyinterp.data.sample import Sample
from pyinterp.data.weights import Numbers, WeightsType
from pyinterp.errors import DataError, FormulaError, OptionError, quote, short
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.estimands.questions import Question, question_of
from pyinterp.hints import Hints
from pyinterp.inference import Evaluations
from pyinterp.learner.analysis import PAIRS, Analysis
from pyinterp.learner.fitted_model import FittedModel
from pyinterp.learner.models_here import ModelsHere
from pyinterp.learner.models_on_record import drop_model, without_models
from pyinterp.learner.on_file import Keepable
from pyinterp.models.adapters import by_variable, needs_intercept, says, suit, wants_every_level
from pyinterp.models.aims import declaration_of, joint_aim
from pyinterp.models.copies import fresh
from pyinterp.models.missing_values import takes_missing
from pyinterp.models.offset_model import OffsetModel, check_takes_offset
from pyinterp.models.predictor import check_estimator, is_classifier, learner_name
from pyinterp.models.row_options import check_row_options
from pyinterp.models.sample_weight import check_takes_weights
from pyinterp.models.specification import family_of, settings, specification
from pyinterp.parallel.progress import ProgressOption
from pyinterp.parameters import takes
from pyinterp.random import Seed, Seeds
from pyinterp.resampling import (
    FreshDraws,
    HalfSampling,
    Resampling,
    Splits,
    Units,
    is_half,
    plan_of,
)
from pyinterp.resampling.checkpoint import Checkpoint, Shard
from pyinterp.resampling.leave_out import LeaveOut
from pyinterp.resampling.levels import allowed_in_words
from pyinterp.resampling.proof import digest_of
from pyinterp.resampling.refits import (
    DesignState,
    OnError,
    Refit,
    RefitOptions,
    UnseenLevels,
    estimating,
    fit_alone,
    refit,
)
from pyinterp.results.header import context_of, facts_of_clusters, versions_of_packages
from pyinterp.whatif import EngineName, check_engine

# Options that come before a fit.
OF_LEARNER = dict.fromkeys(
    ("groups", "missing", "subset", "weights", "weights_type", "offset", "exposure", "design",
     "design_state", "unseen_levels", "prediction"),
    "it is an option of `pi.Learner` or `pi.Learner.from_formula`, beside the data.",
)  # fmt: skip

Measure = str | Question | Estimand | Sequence[str | Question | Estimand]
Encoding = Literal["matrix", "frame"]

MEASURE_FORM = 'names and questions of what is wanted, such as `["pfi", pi.ask("pd", "x")]`'


class Learner(Hints):
    """A learning procedure: response, variables and an estimator.

    The specification, like a model of statsmodels; `fit` returns results.

    Parameters
    ----------
    endog : array of shape (n,)
        Response.
    exog : DataFrame or array of shape (n, p)
        Variables, one per column. The estimator is given them in their form: a frame of pandas,
        polars or pyarrow with its types, names and index, an array as an array.
    estimator : estimator
        Unfitted, with ``fit`` and ``predict``: scikit-learn estimators and pipelines, XGBoost,
        LightGBM, `statsmodels_learner`.
    groups : mapping of str to list of str, optional
        Variables that are replaced jointly, by the name of the group.
    missing : {"auto", "keep", "drop", "raise"}
        What to do with rows that have missing values in a variable: "keep" hands them to the
        learner, "drop" leaves them out, "auto" keeps them if the learner takes them, as histogram
        boosting, XGBoost, LightGBM, trees, forests and pipelines with an imputer do. Rows without
        a response are always left out; a note counts them, by variable.
    subset : str or array of bool, optional
        Rows to analyze: a mask, or a query of the variables such as "age > 50".
    weights : str or array of shape (n,), optional
        Weights of the rows, or the name of their column, which is then no variable.
    weights_type : {"frequency", "sampling"}
        What they are, without default. A row of frequency 2 is two rows in all that follows, 0
        drops it. A sampling weight is the inverse of a probability of being sampled: learners are
        fitted with it, and means over rows are weighted.
    offset : str or array of shape (n,), optional
        A known part of every row's linear predictor, or the name of its column, which is then no
        variable. What-if copies of a row keep the row's. For `statsmodels_learner`, XGBoost
        and LightGBM; formulas of R's glm, gam and lm have ``offset(x)``.
    exposure : str or array of shape (n,), optional
        Instead of `offset`, for models with a logarithmic link: its logarithm is the offset.
    prediction : str, optional
        What the estimator predicts, where its parameters do not say it: "mean", "median",
        "quantile(.95)" or "other". The default loss and what R² or D² compares with follow.

    Attributes
    ----------
    estimator : estimator
        The estimator, not fitted; refits train copies of it.
    groups : mapping or None
        Variables that are replaced jointly.
    sample : Sample
        The rows analyzed.
    design : Design
        How variables are encoded for the estimator.
    features : dict of str to tuple of str
        The variables of every feature.
    endog_names : str
        Name of the response.
    exog_names : list of str
        Names of the columns that the estimator takes.
    dropped_rows : int
        Rows left out because of missing values; only rows in `subset` count, if it is given.
    missing_note : str
        The missing values behind these rows, and those that are kept; empty if there are none.

    See Also
    --------
    Learner.from_formula : The usual way to make one.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> X, y = data[["bmi", "bp", "age"]], data["progression"]
    >>> learner = pi.Learner(y, X, LinearRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).pfi().params.round().to_dict()
    {'bmi': 3031.0, 'bp': 679.0, 'age': 2.0}
    """

    _rereads = False  # fresh data are rows as a reader returns them

    def __init__(
        self,
        endog: npt.ArrayLike,
        exog: pd.DataFrame | npt.ArrayLike,
        estimator: Any,
        *,
        groups: Groups | None = None,
        missing: Missing = "auto",
        weights: Numbers = None,
        weights_type: WeightsType | None = None,
        offset: Numbers = None,
        exposure: Numbers = None,
        subset: Rows = None,
        prediction: str | None = None,
    ) -> None:
        reader, data = ArrayReader.of(endog, exog, (weights, weights_type, offset, exposure))
        options = RefitOptions(prediction=prediction)
        self._setup(
            reader, data, estimator, groups=groups, missing=missing, subset=subset, options=options
        )

    @classmethod
    def from_formula(
        cls,
        formula: str,
        data: Any,
        estimator: Any,
        *,
        design: Encoding | None = None,
        design_state: DesignState = "all",
        unseen_levels: UnseenLevels = "raise",
        groups: Groups | None = None,
        missing: Missing = "auto",
        weights: Numbers = None,
        weights_type: WeightsType | None = None,
        offset: Numbers = None,
        exposure: Numbers = None,
        subset: Rows = None,
        prediction: str | None = None,
    ) -> Learner:
        r"""Return a learner for an R-style formula and a data frame.

        Parameters
        ----------
        formula : str
            R's language, with ``.`` for every column that the response does not use and that is
            none of weights, an offset or, in `fit`, clusters:
            ``"y ~ ."``, ``"np.log(y) ~ . - id + I(x**2)"``, ``"y ~ x*z + C(g) + bs(age, df=4)"``.
            Inside function calls it is Python. What R or its packages would read in another way,
            such as ``(1 | id)``, ``offset(x)`` or ``s(x)``, is an error that says what to write.
            Features are the variables, whatever columns are built from them. An intercept column
            is passed only to estimators that do not fit one.
        data : data frame
            One row per observation: of pandas, polars, pyarrow, a relation of DuckDB, or a dict of
            columns. Columns that the formula does not use are not read.
        estimator : estimator
            As in `Learner`.
        design : {"matrix", "frame"}, optional
            "frame" hands the formula's variables over as a DataFrame, category dtype kept, to
            learners and pipelines that encode for themselves; the formula then only selects. The
            default is "frame" for learners that say so (``wants_frames``, as learners of R do), and
            "matrix" for all others.
        design_state : {"all", "refit"}
            Learn levels, knots and means once from all rows (they use no response), or anew from
            each refit's training rows, where evaluation rows outside the knots are an error.
        unseen_levels : {"raise", "allow"}
            Whether a refit whose evaluation rows have a level that its training rows lack is an
            error, or predicts it as the reference level.
        groups : mapping of str to list of str, optional
            Variables that are replaced jointly, by the name of the group.
        missing : {"auto", "keep", "drop", "raise"}
            As in `Learner`. In a matrix design, rows are kept that lack a number; those that lack
            a category, or a value from which a function such as ``bs(x)`` learns, are left out.
        weights : str or array of shape (n,), optional
            As in `Learner`. ``.`` in the formula does not stand for their column.
        weights_type : {"frequency", "sampling"}
            As in `Learner`.
        offset, exposure : str or array of shape (n,), optional
            As in `Learner`. ``.`` in the formula does not stand for their column.
        subset : str or array of bool, optional
            Rows to analyze, as in R's ``lm(subset=)``: a query of any columns such as "age > 50",
            or a mask with a value per row.
        prediction : str, optional
            As in `Learner`.

        Returns
        -------
        Learner

        Raises
        ------
        FormulaError
            If the formula can't be read, names an unknown variable, or has something that R would
            read in another way.
        DataError
            If the data can't be analyzed as they are.

        Examples
        --------
        >>> learner = pi.Learner.from_formula("progression ~ bmi * bp", data, LinearRegression())
        >>> learner.fit(pi.Holdout(0.7), seed=1).pd("bmi", grid=[20, 30]).params.round(1).to_dict()
        {'bmi[20]': 98.8, 'bmi[30]': 184.4}
        """
        if design is None:
            design = "frame" if says(estimator, "wants_frames") else "matrix"
        check_choice("design", design, ("matrix", "frame"))
        scope, beside = callers_names(), (weights, weights_type, offset, exposure)
        reader, rows = FormulaReader.of(formula, data, scope, beside, as_frame=design == "frame")
        options = RefitOptions(
            design_state=design_state, unseen_levels=unseen_levels, prediction=prediction
        )
        new = cls.__new__(cls)
        new._setup(
            reader, rows, estimator, groups=groups, missing=missing, subset=subset, options=options
        )
        return new

    def _setup(
        self,
        reader: Reader,
        data: RowData,
        estimator: Any,
        *,
        groups: Groups | None,
        missing: Missing,
        options: RefitOptions,
        subset: Rows = None,
    ) -> None:
        check_estimator(estimator)
        self._reader, self._options, self.groups = reader, options, groups
        self._subset = subset
        estimator = suit(estimator, data.response)
        self._missing = MissingValues(
            option=missing, takes=takes_missing(estimator), learner=learner_name(estimator)
        )
        self._intercept = needs_intercept(estimator)
        self._one_thread = says(estimator, "one_thread")
        self._offset = None if data.offset is None else data.offset.name
        self.endog_names = str(data.response.name)
        if data.offset is not None:
            check_takes_offset(estimator, exposure=data.offset.exposure)
            estimator = OffsetModel(estimator, data.offset.name)
        if data.weights is not None and data.weights.kind == "sampling":
            check_takes_weights(estimator)
        self.estimator = estimator
        classifier = self._classifier = is_classifier(estimator)
        self._declaration = declaration_of(options.prediction, classifier)
        self.data, self.sample = data.analyze(self._missing, subset, classifier=classifier)
        self.dropped_rows, self.missing_note = self.data.gaps, self.data.note
        sizes = {len(data.frame), self.sample.nobs}
        check_row_options(estimator.get_params(deep=True), learner_name(estimator), sizes)
        self._encode()

    def _fresh(self, data: Any) -> Sample:
        """Return the analyzed rows of new data in the form of the first."""
        reader = self._reader
        rows = reread(reader, data) if self._rereads else reader.read(reader.rows(data))
        return rows.analyze(self._missing, classifier=self._classifier)[1]

    def _encode(self) -> None:
        """Set the design and the features of the variables at hand."""
        design: Design = self._reader.design(
            self.sample.variables,
            intercept=self._intercept,
            every_level=wants_every_level(self.estimator),
        )
        no_intercept = isinstance(design, FormulaDesign) and not design.has_intercept
        if no_intercept and says(self.estimator, "fit_intercept"):
            raise FormulaError(
                f"The formula has no intercept, but {learner_name(self.estimator)} fits one; pass "
                "`fit_intercept=False`, or leave `- 1` out of the formula."
            )
        self.design, self.exog_names = design, list(design.columns)
        self.features = dict(features_of(design.variables, self.groups, self._offset))

    def __repr__(self) -> str:
        name = self._reader.formula or f"{self.endog_names} ~ {len(self.design.variables)} columns"
        return (
            f"<{type(self).__name__}: {short(name, 100)}, {specification(self.estimator)}, "
            f"{self.sample.nobs} rows>"
        )

    @takes(refused=OF_LEARNER)
    def fit(
        self,
        resampling: Resampling | Any | None = None,
        *,
        seed: Seed = None,
        n_jobs: int | None = None,
        reseed: bool = True,
        on_error: OnError = "raise",
        engine: EngineName = "auto",
        memory_mb: float = 256.0,
        progress: ProgressOption = True,
        checkpoint: FilePath | None = None,
        shard: tuple[int, int] | None = None,
        keep_models: bool = True,
        measure: Measure | None = None,
        max_evaluation_rows: int | None = None,
    ) -> LearnerResults:
        """Train and keep a model for every part of a resampling plan.

        Parameters
        ----------
        resampling : Resampling, splitter or list of pairs, optional
            A plan, a splitter of scikit-learn, or a list of (train, test) rows; see `Splits`. By
            default ``HalfSampling()``: 15 refits estimate, and 15 pairs of refits on halves
            of the data give intervals that cover. The column that names its clusters is no
            variable of the refits: ``.`` does not stand for it, unless the formula names it too.
        seed : int, Generator or None
            The same int gives the same results, for any `n_jobs`. None draws a seed, which the
            header shows.
        n_jobs : int, optional
            Jobs over refits, by joblib: ``joblib.parallel_config`` chooses the backend. Threads
            train one refit at a time, as they share streams of random numbers.
        reseed : bool
            Give every ``random_state`` (or ``random_seed``) inside the estimator another seed in
            every refit. False keeps them as they are, so that refits share the estimator's seed.
            The streams of Python, NumPy and PyTorch are seeded for every refit in any case.
        on_error : {"raise", "drop"}
            What to do when a refit fails. "drop" warns and goes on; the header has the number.
        engine : {"auto", "trees", "linear", "kernel", "batched"}
            What computes what-if predictions. "auto" is exact for tree ensembles, linear
            models and kernel machines, if that reproduces the model's own predictions, and predicts
            copies of rows otherwise.
        memory_mb : float
            Bound on the memory of one predict call's what-if copies.
        progress : bool or "log"
            Show a progress bar of the refits, on terminals and in notebooks, if they take more than
            two seconds; ``"log"`` writes lines with the time left to the logger "pyinterp" instead,
            at level INFO. By default True, as refits take longest. It is for this call: estimands
            have a `progress` of theirs.
        checkpoint : path, optional
            A folder that keeps every refit when it is done. After a kill, Ctrl-C or a loss of power
            the same call goes on there, with the same numbers: one refit of each kind is made
            again, and must predict the same. It holds pickles: open no folder of strangers.
        shard : pair of int, optional
            ``(3, 10)`` trains the third of ten parts of the refits, into `checkpoint`; ten
            processes do one part each. `join` makes the results of all of them.
        keep_models : bool
            False drops every model when it is measured, in the job that trains it: memory then
            does not grow with the number of models. The results have the same numbers, but answer
            only what `measure` asked for.
        measure : str, Question, Estimand or list of them, optional
            What is measured of models that are dropped: names of methods, questions of
            `pyinterp.ask`, or estimands, such as ``["pfi", pi.ask("pd", "bmi", by="sex")]``.
            Options of inference are for the results of `fit`.
        max_evaluation_rows : int, optional
            Evaluate refits on at most so many rows of the data: one simple random sample by
            `seed`, of which every refit has the rows that its plan evaluates. ``bse`` and intervals
            are for an analysis of so many evaluation rows. ``mcse`` is the part of ``bse`` that
            more rows take away: (1 - r/N) s² / r for a mean over r of N rows. Of a plan that draws
            new data the rows of all draws count together. At least 40; below a tenth of the rows a
            warning says how often intervals covered.

        Returns
        -------
        LearnerResults
            Of a shard, its refits alone, which `join` needs before it estimates anything.

        Raises
        ------
        RefitError
            If a refit fails; it names the refit and its cause. Before any is trained, if the
            learner can't read levels that only evaluation rows have; it names all of them.
        OptionError
            If `checkpoint` keeps refits of another call or learner; it names the difference. If
            `measure` can't be asked. If `max_evaluation_rows` is
            less than 40 and the data have more, or no sample leaves every refit 2 rows.

        Warns
        -----
        RefitWarning
            If refits failed and were dropped; if `max_evaluation_rows` is below a tenth of rows.

        Examples
        --------
        >>> res = learner.fit(pi.HalfSampling(5, pairs=5), seed=1)
        >>> len(res.refits), res.nobs
        (5, 442)
        >>> res.pfi().bse.round().to_dict()
        {'bmi': 563.0, 'bp': 185.0, 'age': 24.0}
        """
        plan = self._plan(resampling)
        check_engine(engine, memory_mb)
        questions = _questions(measure, keep_models=keep_models)
        chosen: dict[str, Any] = {"reseed": reseed, "on_error": on_error,
                                  "max_evaluation_rows": max_evaluation_rows}  # fmt: skip
        options = replace(self._options, **chosen, n_jobs=n_jobs, progress=progress)
        seeds, store, part = Seeds.start(seed), None, None
        if checkpoint is not None or shard is not None:
            store, part = _store_of(checkpoint, shard)
            # A folder keeps the seed that was drawn.
            seeds = Seeds(store.seed(seeds.entropy)) if seed is None else seeds
        model, sample, units, plan = self._for_plan(plan, seeds)
        words = self._words(plan, sample, seeds)
        analyze = partial(
            _analysis,
            sample=sample,
            features=model.features,
            words=words,
            plan=plan,
            estimator=fresh(self.estimator),
            seeds=seeds,
            options=replace(options, n_jobs=1, progress=False),
            engine=engine,
            memory_mb=memory_mb,
            n_jobs=1,
            data=None if isinstance(plan, FreshDraws) else self.data,
        )
        finish = None
        if questions:
            finish = partial(
                drop_model,
                analyze=analyze,
                questions=questions,
                pools=partial(_pools, pairs=getattr(plan, "pairs", 0), on_error=on_error),
                workers=effective_n_jobs(options.jobs),
            )
        call = {"resampling": resampling, "seed": seeds.entropy, "engine": engine, **chosen,
                "memory_mb": memory_mb, "keep_models": keep_models, "measure": measure}  # fmt: skip
        with nullcontext() if store is None else store.at_work(part):
            refits, folder, note = refit(
                self.estimator,
                model.design,
                sample,
                plan=plan,
                units=units,
                read=model._fresh,
                seeds=seeds,
                options=options,
                checkpoint=store,
                shard=part,
                finish=finish,
                begin=lambda: (self._facts(plan, sample, options, call), (self, call)),
            )
        analysis = analyze(
            refits,
            words=words | {"folder": folder, "plan_note": f"{words['plan_note']} {note}".strip()},
            options=options,
            n_jobs=1 if self._one_thread else n_jobs,
            checkpoint=store,
            shard=part,
        )
        if questions and part is None:
            analysis = without_models(analysis, questions)
        return LearnerResults(model, plan, analysis)

    def _for_plan(
        self, plan: Resampling, seeds: Seeds
    ) -> tuple[Learner, Sample, Units, Resampling]:
        """Return the learner without the column of clusters, rows, units, and the plan for them."""
        levels: dict[str, Any] = {"cluster": None, "strata": None}
        for what in levels:
            if (by := getattr(plan, what)) is not None:
                levels[what] = pd.factorize(self.data.column(by, what)[self.data.complete])[0]
        units = Units.make(self.sample.nobs, **levels)
        model, sample = self, self.sample
        if plan.cluster is not None:
            model = self._without_clusters(plan.cluster)
            sample = replace(model.sample, clusters=units.of_row)
        return model, sample, units, plan.on(sample, units, seeds.stream("splits"))

    def _plan(self, resampling: Any) -> Resampling:
        """Return the plan of a fit; raise `OptionError` unless it is one for these rows."""
        plan = HalfSampling() if resampling is None else plan_of(resampling)
        if not isinstance(plan, Resampling):
            raise OptionError(
                "`resampling` must be a plan such as pi.HalfSampling(), a splitter of scikit-learn "
                f"or a list of (train, test) rows, not {quote(plan)}."
            )
        by_row = self.data.weights is not None or self.data.offset is not None
        if (by_row or self._subset is not None) and not plan.shares_data:
            raise OptionError(
                "Weights, offsets and subsets are of the data at hand, but this plan draws new "
                "data for every refit; leave them out, or use a plan that resamples."
            )
        left_out, why = int((~self.data.complete).sum()), ""
        if self.data.repeats is not None:
            why = "frequency weights repeat rows"
        elif left_out:
            why = f"{left_out} rows are left out (missing values, or `subset`)"
        if why and isinstance(plan, Splits) and plan.of_positions:
            raise OptionError(
                f"These splits name rows by position, but {why}, which shifts positions: make them "
                "of the rows that are analyzed, or use a splitter such as KFold."
            )
        return plan

    def _words(self, plan: Resampling, sample: Sample, seeds: Seeds) -> dict[str, Any]:
        """Return the facts of the fit in headers, which no refit changes."""
        # Studies are of rows that count alike, or have sampling weights.
        study = plan.study_name if self.data.repeats is None else ""
        return {
            "level": "learner" if plan.number > 1 else "model",
            "endog_name": self.endog_names,
            "learner": learner_name(self.estimator),
            "formula": self._reader.formula,
            "specification": specification(self.estimator),
            "family": family_of(self.estimator),
            "nobs": sample.nobs,
            "dropped_rows": self.dropped_rows,
            "missing_note": self.missing_note,
            "plan": plan.label,
            "where": plan.where,
            "study_name": study + " with sampling weights" * (self.sample.weights is not None),
            "unit": "rows" if plan.cluster is None else "clusters",
            "weighting": self.data.weighting,
            **facts_of_clusters(plan.cluster, sample.clusters),
            "offset": self._offset or "",
            "seed": seeds.entropy,
            "plan_note": plan.note,
        }

    def _facts(
        self, plan: Resampling, sample: Sample, options: RefitOptions, call: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the settings that all calls with one checkpoint share."""
        names = ("reseed", "design_state", "unseen_levels", "max_evaluation_rows")
        chosen = {name: getattr(options, name) for name in names}
        chosen["keep_models"] = call["keep_models"]
        return {
            "learner": json.dumps(settings(self.estimator) | dict(versions_of_packages())),
            "data": digest_of([sample]),
            "columns": digest_of([sample], named=False),
            "formula": "".join(str(self._reader.formula).split()),
            "plan": repr(plan),
            "seed": str(call["seed"]),
            "refits": str(plan.number),
            "options": ", ".join(f"{name}={value!r}" for name, value in chosen.items()),
        }

    @takes(refused=OF_LEARNER)
    def fit_model(self, *, seed: Seed = None) -> FittedModel:
        """Train one model on all rows and interpret it on the same rows, as R's `lm` would.

        Losses and PFI are then optimistic, without standard errors. PD is what R's ``pdp::partial``
        computes.

        Parameters
        ----------
        seed : int, Generator or None
            For every ``random_state`` inside the estimator that is None, and for permutations. A
            ``random_state`` that is set stays as it is: the model is the estimator's own fit.

        Returns
        -------
        FittedModel

        Raises
        ------
        RefitError
            If the estimator can't be trained; it chains the cause.

        Examples
        --------
        >>> model = learner.fit_model()
        >>> model.pfi().params.round().to_dict()
        {'bmi': 2822.0, 'bp': 704.0, 'age': 3.0}
        """
        seeds = Seeds.start(seed)
        sample = self.sample
        predictor = fit_alone(
            by_variable(self.estimator, self.design),
            self.design.encode(sample.variables, sample.index),
            sample,
            seeds.stream("refits", 1),
            reseeds="unset",
        )
        model = FittedModel.__new__(FittedModel)
        model._assemble(
            replace(predictor, declaration=self._declaration),
            self.design,
            sample,
            self.data,
            groups=self.groups,
            seed=seeds.entropy,
            where="in sample",
            dropped_rows=self.dropped_rows,
            formula=self._reader.formula,
            specification=specification(self.estimator),
        )
        return model

    def variables_of(self, data: pd.DataFrame | npt.ArrayLike) -> pd.DataFrame:
        """Return the columns of new rows that are the learner's variables.

        Examples
        --------
        >>> learner.variables_of(data).columns.to_list()
        ['bmi', 'bp', 'age']
        """
        frame = as_frame(data)
        if self.data.offset is not None:  # it is a column beside the variables
            frame = self.data.offset.of(frame)
        return columns_of(frame, self.design.variables)

    def _with_rows(self, rows: pd.DataFrame) -> Learner:
        """Return the learner with the same specification for other rows.

        Parameters
        ----------
        rows : DataFrame
            The variables as `sample` has them, and the response, as the formula transforms it,
            as the last column.

        Raises
        ------
        OptionError
            If the learner has sampling weights or an offset, which other rows lack.
        """
        if self.sample.weights is not None or self.data.offset is not None:
            raise OptionError(
                "Other rows must need nothing but variables and a response, but this learner has "
                f"{'an offset' if self.data.offset is not None else 'sampling weights'}; fit one "
                "without."
            )
        new = Learner.__new__(Learner)
        new._rereads = True
        new._setup(
            self._reader,
            reread(self._reader, rows),
            self.estimator,
            groups=self.groups,
            missing=self._missing.option,
            options=self._options,
        )
        return new

    def _without_clusters(self, column: object) -> Learner:
        """Return the learner for which the column of clusters is no variable by ``.`` alone.

        Clusters are known with the plan, after the formula was read. The rows are the same.
        """
        if not isinstance(column, str) or column not in self.sample.variables:
            return self
        reader = self._reader.without(column)
        if reader is self._reader:
            return self
        variables = self.sample.variables.drop(columns=column)
        if variables.columns.isin([self._offset]).all():
            raise DataError(
                f"There must be a variable beside the column of clusters, {quote(column)}, but it "
                "is the only one. For clusters that are a variable too, give `cluster` an array."
            )
        new = copy(self)
        new._reader, new.sample = reader, replace(self.sample, variables=variables)
        new._encode()
        return new


def _analysis(
    refits: tuple[Refit, ...],
    *,
    sample: Sample,
    features: Features,
    words: Mapping[str, Any],
    plan: Resampling,
    estimator: Any,
    seeds: Seeds,
    options: RefitOptions,
    data: RowData | None,
    checkpoint: Checkpoint | None = None,
    shard: Shard | None = None,
    **settings: Any,
) -> Analysis:
    """Return the analysis of all refits, or of some."""
    context = context_of(refits, failed_refits=plan.number - len(refits), **words)
    if options.unseen_levels == "allow":
        note = allowed_in_words(refits, refits[0].design, sample if plan.shares_data else None)
        context = replace(context, plan_note=f"{context.plan_note} {note}".strip())
    evaluated = np.mean([refit.n_evaluation for refit in estimating(refits)])
    first = refits[0].predictor
    declaration = declaration_of(options.prediction) or first.declaration
    if declaration is None and context.choices:  # which may be of several losses
        declaration = joint_aim(refit.predictor.aim for refit in refits)
    problem = Problem(
        sample=sample,
        features=features,
        predictor=replace(first, declaration=declaration),
        design=refits[0].design,
        offset=context.offset,
    )
    leave_out = LeaveOut(
        estimator=estimator, refits=refits, seeds=seeds, options=options, checkpoint=checkpoint
    )
    return Analysis(
        problem=problem,
        refits=refits,
        models=ModelsHere(
            refits=refits, problem=problem, seeds=seeds, leave_out=leave_out, **settings
        ),
        evaluations=Evaluations.of(
            [refit.evaluation for refit in refits],
            [refit.group for refit in refits],
            correction=float(evaluated) / context.n_train if plan.shares_data else 0.0,
            share=refits[0].share,
        ),
        context=context,
        seeds=seeds,
        data=data,
        shard=shard,
    )


def _pools(refit: Refit, pairs: int, on_error: OnError) -> bool:
    """Whether rows of a refit are pooled with others' by estimands of the population."""
    group = refit.group
    every = PAIRS if on_error == "raise" else pairs  # others take the place of those that failed
    return not pairs or (is_half(group) and group.number < every)


def _questions(measure: Measure | None, *, keep_models: bool) -> tuple[Question, ...]:
    """Return the questions of `measure`; raise `OptionError` unless models are dropped for them."""
    check_flag("keep_models", keep_models)
    if keep_models and measure is not None:
        raise OptionError(
            "`measure` is for `keep_models=False`; leave it out, and ask the results that `fit` "
            "returns."
        )
    if keep_models:
        return ()
    if measure is None:
        raise OptionError(f"`keep_models=False` needs `measure`, {MEASURE_FORM}.")
    several = [measure] if isinstance(measure, str | Question | Estimand) else measure
    if not is_list(several) or not list(several):
        raise OptionError(f"`measure` must be {MEASURE_FORM}, not {quote(measure)}.")
    return tuple(map(question_of, several))


def _store_of(
    checkpoint: FilePath | None, shard: tuple[int, int] | None
) -> tuple[Checkpoint, Shard | None]:
    """Return the folder of refits and the part of them, checked."""
    if checkpoint is None:
        raise OptionError("`shard` needs a folder for its refits: give `checkpoint` too.")
    if shard is not None and (not isinstance(shard, tuple) or len(shard) != 2):
        raise OptionError(f"`shard` must be a pair such as (3, 10), not {quote(shard)}.")
    part = None if shard is None else Shard(*shard)
    return Checkpoint.at(checkpoint).make(), part


def join(
    folder: FilePath, *, n_jobs: int | None = None, progress: ProgressOption = True
) -> LearnerResults:
    """Return the results of all shards of a fit, the same as one process makes.

    Parameters
    ----------
    folder : path
        The `checkpoint` of ``fit(shard=...)``. It holds pickles: open no folder of strangers.
    n_jobs : int, optional
        As of `Learner.fit`, for what is asked of the results.
    progress : bool or "log"
        As of `Learner.fit`, True by default too.

    Raises
    ------
    FileError
        If refits are missing; it names them, and the shards that make them.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp", data, LinearRegression())
    >>> for k in (1, 2):
    ...     part = learner.fit(seed=1, checkpoint="refits", shard=(k, 2), progress=False)
    >>> len(pi.join("refits", progress=False).refits)
    15
    """
    store = Checkpoint.at(folder)
    learner, call = store.call()
    store.check_complete()
    results: LearnerResults = learner.fit(
        **call, n_jobs=n_jobs, progress=progress, checkpoint=folder
    )
    return results


@dataclass(eq=False, repr=False)
class LearnerResults(Keepable):
    """Refits of a learner, with one method per estimand.

    Made by `Learner.fit`. Options of inference belong to the methods; no method refits for them.

    Attributes
    ----------
    model : Learner
        The specification; without the column that names the plan's clusters.
    resampling : Resampling
        The plan.
    analysis : Analysis
        The fitted models with their rows, seeds and measurements.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
    >>> res = learner.fit(pi.HalfSampling(5, pairs=5), seed=1)
    >>> pfi = res.pfi()
    >>> pfi.params.round(1).to_dict()
    {'sex': 48.5, 'bmi': 2724.6, 'bp': 779.6}
    """

    model: Learner
    resampling: Resampling
    analysis: Analysis

    @property
    def refits(self) -> tuple[Refit, ...]:
        """The fitted models whose mean is the estimate, with their rows."""
        return self.analysis.estimating

    @property
    def halves(self) -> tuple[Refit, ...]:
        """The fitted models on complementary halves, two per pair; none for other plans."""
        return tuple(r for r in self.analysis.refits if is_half(r.group))

    def predict(
        self, data: pd.DataFrame | npt.ArrayLike, **others: object
    ) -> FloatArray | pd.DataFrame:
        """Predict new rows by the mean over refits.

        Parameters
        ----------
        data : DataFrame or array
            New rows with the learner's variables.
        **others
            Options of other packages, such as ``interval``: an error says what to write.

        Returns
        -------
        ndarray of shape (n,), or DataFrame of class probabilities

        Examples
        --------
        >>> res.predict(data.head(3)).round(1).tolist()
        [204.3, 103.4, 178.8]
        """
        if others:
            raise OptionError(
                f"`predict` takes new rows alone, not `{next(iter(others))}`: what a learner is "
                'sure of is a mean, as `res.pd("x", grid=[2])` has it with an interval. Limits of '
                "a single row's response need a model of its distribution, or conformal methods."
            )
        variables = self.model.variables_of(data)
        mean = np.mean([r.predictor(r.design.encode(variables)) for r in self.refits], axis=0)
        classes = self.refits[0].predictor.classes
        return mean if classes is None else pd.DataFrame(mean, columns=list(classes))
