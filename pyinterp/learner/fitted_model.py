"""One fitted model on evaluation rows: model-level estimands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp.data.design import Design
from pyinterp.data.features import Groups, features_of
from pyinterp.data.missing import Missing, MissingValues
from pyinterp.data.row_data import RowData, read_rows
from pyinterp.data.sample import Sample
from pyinterp.data.weights import Numbers, WeightsType
from pyinterp.errors import DataError
from pyinterp.estimands.estimand import Problem
from pyinterp.inference import Evaluations
from pyinterp.learner.analysis import Analysis
from pyinterp.learner.models_here import ModelsHere
from pyinterp.learner.on_file import Keepable
from pyinterp.models.aims import declaration_of
from pyinterp.models.fitted_predictor import check_classes, predictor_of
from pyinterp.models.libraries import library_of
from pyinterp.models.missing_values import takes_missing
from pyinterp.models.model_reader import ModelReader
from pyinterp.models.offset_model import OffsetModel, check_takes_offset
from pyinterp.models.predictor import Predictor, check_instance, learner_name
from pyinterp.models.specification import specification
from pyinterp.random import Seed, Seeds
from pyinterp.resampling.refits import Refit
from pyinterp.results.header import context_of, facts_of_clusters
from pyinterp.whatif import EngineName, check_engine


class FittedModel(Keepable):
    """A model fitted elsewhere, on evaluation rows: model-PD, model-PFI and their inference.

    Effects of a model that states the covariance of its coefficients, such as statsmodels results,
    take the delta method. Other intervals are for this fitted model on new rows such as these: on
    rows that trained it noise gets small P. They do not allow for refitting it, so that effects
    have no test; for that fit a `Learner`.

    Parameters
    ----------
    fitted : estimator, results or callable
        Any fitted scikit-learn style estimator or pipeline, statsmodels results (of a formula or of
        arrays), a native booster of XGBoost or LightGBM, or a function of the rows that returns
        predictions.
    X : data frame or array of shape (n, p)
        Evaluation rows that did not train it, in the form that `fitted` predicts. Columns of a
        frame are matched by name if the model knows names, in any order; a missing or ambiguous
        name is an error, and other columns are left out. A model that was trained on an array knows
        none: columns are then matched by position, with a warning. For statsmodels results of a
        formula: the data frame; features are the formula's variables.
    y : array of shape (n,), or str, optional
        The response, or the name of its column in ``X``. Needed by everything that has a loss. For
        a binomial model of statsmodels that was fitted to counts, ``successes + failures ~``: the
        shares of successes, with the trials as "sampling" `weights`.
    groups : mapping of str to list of str, optional
        Variables that are replaced jointly, by the name of the group.
    cluster : str or array of shape (n,), optional
        Rows of the same cluster are not independent: standard errors are over clusters.
    classes : sequence of two or more labels, optional
        For a function or native booster that returns class probabilities: the classes in the order
        of its columns. One column is the probability of the second of two classes.
    missing : {"auto", "keep", "drop", "raise"}
        As in `Learner`, for a response, clusters and variables.
    weights : str or array of shape (n,), optional
        Weights of the evaluation rows, or the name of their column in ``X``.
    weights_type : {"frequency", "sampling"}
        As in `Learner`.
    offset, exposure : str or array of shape (n,), optional
        Of the evaluation rows, as in `Learner`; for statsmodels results that were fitted with one,
        and models of XGBoost and LightGBM.
    prediction : str, optional
        What `fitted` predicts, as in `Learner`.
    seed : int, Generator or None
        For permutations, where not all are used.
    engine : {"auto", "trees", "linear", "kernel", "batched"}
        What computes what-if predictions. "auto" is exact for tree ensembles, linear
        models and kernel machines, if that reproduces the model's own predictions, and predicts
        copies of rows otherwise.
    memory_mb : float
        Bound on the memory of one predict call's what-if copies.

    Raises
    ------
    DataError
        If rows, names or the response do not fit the model.
    OptionError
        If the model was fitted with an offset or exposure and there is none here, or without one
        and there is.
    PredictionError
        On the first question: if predictions are not real, finite, the same for the same rows and,
        for classes, probabilities that add up to 1 or labels of the model.

    Examples
    --------
    >>> import pyinterp as pi
    >>> from sklearn.linear_model import LinearRegression
    >>> data = pi.datasets.load_diabetes()
    >>> X, y = data[["age", "bmi", "bp"]], data["progression"]
    >>> model = LinearRegression().fit(X[:300], y[:300])
    >>> pfi = pi.FittedModel(model, X[300:], y[300:]).pfi()
    >>> pfi.params.round(1).to_dict()
    {'age': -9.7, 'bmi': 3071.5, 'bp': 776.8}
    """

    def __init__(
        self,
        fitted: Any,
        X: pd.DataFrame | npt.ArrayLike,
        y: npt.ArrayLike | str | None = None,
        *,
        groups: Groups | None = None,
        cluster: Numbers = None,
        classes: Sequence[Any] | None = None,
        missing: Missing = "auto",
        weights: Numbers = None,
        weights_type: WeightsType | None = None,
        offset: Numbers = None,
        exposure: Numbers = None,
        prediction: str | None = None,
        seed: Seed = None,
        engine: EngineName = "auto",
        memory_mb: float = 256.0,
    ) -> None:
        check_instance(fitted, "fitted")
        library = library_of(fitted)
        library.check(fitted)
        fitted = library.native(fitted) or fitted  # a booster, as a function of rows
        library = library_of(fitted)
        library.check_rows(fitted, X, offset is not None or exposure is not None)
        if classes is not None:
            check_classes(classes)
        check_engine(engine, memory_mb)
        rows = read_rows(
            X,
            None if isinstance(y, str) else y,
            what="X",
            endog_name="y",
            beside=(weights, weights_type, offset, exposure),
        )
        reader = ModelReader(
            fitted,
            rows,
            endog=y if isinstance(y, str) else None,
            besides=[cluster] if isinstance(cluster, str) else [],
        )
        units = () if cluster is None else (rows.values(cluster, "cluster").rename("cluster"),)
        choice = MissingValues(
            option=missing, takes=takes_missing(fitted), learner=learner_name(fitted), least=1
        )
        data = reader.read(rows).choose(choice, others=units)
        formula = library.formula(fitted)
        of_formula = library.read_formula(fitted, data.variables[data.complete])
        if of_formula is not None:
            fitted = of_formula[1]
        if data.offset is not None:
            data.offset.check_apart([str(name) for name in data.variables][:-1])
            check_takes_offset(fitted, exposure=data.offset.exposure, trained=True)
            fitted = OffsetModel(fitted, data.offset.name, fitted=True)
            data = replace(data, note=" ".join(filter(None, (data.note, fitted.note))))
        response = data.endog
        predictor, about, numbers = predictor_of(
            fitted,
            classes,
            None if response is None else response[data.complete],
            "" if response is None else str(response.name),
            None if data.weights is None else data.weights.kind,
        )
        declaration = declaration_of(prediction, predictor.classes is not None)
        predictor = replace(predictor, declaration=declaration)
        sample = data.sample(numbers, about)
        design = reader.design(sample.variables) if of_formula is None else of_formula[0]
        if units:
            of_row, clusters = pd.factorize(units[0][data.complete])
            if len(clusters) < 2:
                raise DataError(
                    "`cluster` must name two clusters or more: standard errors are over clusters, "
                    "and all rows are of the same."
                )
            sample = replace(sample, clusters=of_row.astype(np.intp))
        self._assemble(
            predictor,
            design,
            sample,
            data,
            groups=groups,
            seed=seed,
            engine=engine,
            memory_mb=memory_mb,
            where="evaluation rows",
            dropped_rows=data.gaps,
            formula=formula or "",
            specification=specification(fitted),
            **facts_of_clusters(cluster, sample.clusters),
        )

    def _assemble(
        self,
        predictor: Predictor,
        design: Design,
        sample: Sample,
        data: RowData,
        *,
        groups: Groups | None,
        seed: Seed,
        engine: EngineName = "auto",
        memory_mb: float = 256.0,
        **words: Any,
    ) -> None:
        """Set the analysis; `words` are other fields of its context."""
        seeds = Seeds.start(seed)
        offset = None if data.offset is None else data.offset.name
        refit = Refit(
            number=1,
            predictor=predictor,
            design=design,
            evaluation=sample,
            train=None,
            n_train=0,
            n_evaluation=sample.nobs,
        )
        problem = Problem(
            sample=sample,
            features=features_of(design.variables, groups, offset),
            predictor=predictor,
            design=design,
            offset=offset or "",
        )
        context = context_of(
            (refit,),
            level="model",
            endog_name=sample.response.name if sample.response is not None else "",
            learner=learner_name(predictor.estimator),
            nobs=sample.nobs,
            missing_note=data.note,
            plan="none (one fitted model)",
            failed_refits=0,
            weighting=data.weighting,
            offset=offset or "",
            seed=seeds.entropy,
            **{"clusters": "", **words},
        )
        self.analysis = Analysis(
            problem=problem,
            refits=(refit,),
            models=ModelsHere(
                refits=(refit,), problem=problem, seeds=seeds, engine=engine, memory_mb=memory_mb
            ),
            evaluations=Evaluations.of([sample], [None]),
            context=context,
            seeds=seeds,
            data=data,
        )
