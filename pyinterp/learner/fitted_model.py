"""One fitted model on evaluation rows: model-level estimands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyinterp._typing import IntArray
from pyinterp.checks import check_choice, check_memory
from pyinterp.data.design import ArrayDesign, Design, FrameDesign, is_single
from pyinterp.data.features import features_of
from pyinterp.data.formula import names_in
from pyinterp.data.frames import index_of
from pyinterp.data.missing import Missing, MissingValues
from pyinterp.data.offset import Offset, read_offset
from pyinterp.data.row_data import RowData, source_frame
from pyinterp.data.sample import (
    Sample,
    as_column,
    as_frame,
    check_aligned,
    read_variables,
)
from pyinterp.data.weights import WeightsType, read_weights, take_rows
from pyinterp.errors import DataError, OptionError, did_you_mean, quote
from pyinterp.estimands.estimand import Problem
from pyinterp.learner.analysis import Analysis
from pyinterp.learner.interpretable import Interpretable
from pyinterp.models.column_names import formula_of, is_statsmodels, match, uses
from pyinterp.models.fitted import check_classes, predictor_of
from pyinterp.models.missing_values import takes_missing
from pyinterp.models.offset_model import OffsetModel, check_takes_offset
from pyinterp.models.predictor import Predictor, check_instance, learner_name
from pyinterp.models.row_options import check_offset
from pyinterp.models.specification import specification
from pyinterp.random import Seeds
from pyinterp.resampling.refits import Refit
from pyinterp.results.header import clusters_in_words, context_of
from pyinterp.whatif import ENGINES, EngineName

__all__ = ["FittedModel"]


class FittedModel(Interpretable):
    """A model fitted elsewhere, on evaluation rows: model-PD, model-PFI and their inference.

    Effects of a model that states the covariance of its coefficients, such as statsmodels results,
    take the delta method. Other intervals are for this fitted model on new rows. They do not allow
    for refitting it, so that effects have no test; for that fit a `Learner`.

    Parameters
    ----------
    fitted : estimator, results or callable
        Any fitted scikit-learn style estimator or pipeline, statsmodels results (of a formula or of
        arrays), or a function of the rows that returns predictions.
    X : DataFrame or array of shape (n, p)
        Evaluation rows, in the form that `fitted` predicts. Columns of a frame are matched by name
        if the model knows names, in any order; a missing, unexpected or ambiguous name is an error.
        For statsmodels results of a formula: the data frame; features are the formula's variables,
        and other columns are left out.
    y : array of shape (n,), or str, optional
        The response, or the name of its column in `X`. Needed by everything that has a loss. For a
        binomial model of statsmodels that was fitted to counts, ``successes + failures ~``: the
        shares of successes, with the trials as `weights`.
    groups : mapping of str to list of str, optional
        Variables that are replaced jointly, by the name of the group.
    cluster : str or array of shape (n,), optional
        Rows of the same cluster are not independent: standard errors are over clusters.
    classes : sequence of two or more labels, optional
        For a function that returns class probabilities: the classes in the order of its columns. A
        function of one column gives the probability of the second of two classes.
    missing : {"auto", "keep", "drop", "raise"}
        As in `Learner`, for a response, clusters and variables.
    weights : str or array of shape (n,), optional
        Weights of the evaluation rows, or the name of their column in `X`.
    weights_type : {"frequency", "sampling"}
        As in `Learner`.
    offset, exposure : str or array of shape (n,), optional
        Of the evaluation rows, as in `Learner`; for statsmodels results that were fitted with one,
        and models of XGBoost and LightGBM.
    seed : int, Generator or None
        For permutations, where not all are used.
    engine : {"auto", "trees", "linear", "batched"}
        What computes what-if predictions. "auto" is exact for tree ensembles and linear models,
        if that reproduces the model's own predictions, and predicts copies of rows otherwise.
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
        groups: Mapping[str, Sequence[str]] | None = None,
        cluster: str | npt.ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
        missing: Missing = "auto",
        weights: str | npt.ArrayLike | None = None,
        weights_type: WeightsType | None = None,
        offset: str | npt.ArrayLike | None = None,
        exposure: str | npt.ArrayLike | None = None,
        seed: int | np.random.Generator | None = None,
        engine: EngineName = "auto",
        memory_mb: float = 256.0,
    ) -> None:
        check_instance(fitted, "fitted")
        if is_statsmodels(fitted):
            check_offset(fitted, given=offset is not None or exposure is not None)
        if classes is not None:
            check_classes(classes)
        frame = as_frame(X, "X")
        rows = X if isinstance(X, pd.DataFrame | pd.Series) else y
        check_aligned(y, rows, "y", "X")
        check_aligned(cluster, rows, "cluster", "X")
        check_memory(memory_mb)
        name, response = _response_column(y, frame, fitted)
        every = source_frame(frame, response)
        if isinstance(y, str):
            frame = frame.drop(columns=y)
        units = None if cluster is None else _column(cluster, frame, "cluster")
        read = read_weights(weights, weights_type, frame, rows=rows, data="X")
        apart = read_offset(offset, exposure, frame, rows=rows, data="X")
        for column in (cluster, weights, offset, exposure):
            if isinstance(column, str) and column in frame and not uses(fitted, column):
                frame = frame.drop(columns=column)
        labels, repeats = index_of(X, y), None if read is None else read.repeats
        if repeats is not None:
            frame, response, units = (_repeat(part, repeats) for part in (frame, response, units))
            labels = None if labels is None else labels.take(repeats)
            every = _repeat(every, repeats)
        columns, named = match(fitted, X, frame, learner_name(fitted))
        others = [part for part in (response, units) if part is not None]
        if apart is not None:
            others.append(apart.as_column(repeats))
        at_hand = MissingValues(
            option=missing, takes=takes_missing(fitted), learner=learner_name(fitted), least=1
        ).rows(frame[columns], others)
        keep = at_hand.mask
        clusters = None if units is None else _cluster_numbers(units[keep])
        variables, design = _encoding(fitted, X, frame.loc[keep, columns], named)
        if apart is not None:
            apart.check_apart(columns)
            check_takes_offset(fitted, exposure=apart.exposure)
            fitted = OffsetModel(fitted, apart.name, fitted=True)
            rows_of = np.flatnonzero(keep) if repeats is None else repeats[keep]
            variables, design = _beside(design, variables, apart, rows_of)
        predictor, about, numbers = predictor_of(
            fitted, classes, None if response is None else response[keep], name, read is not None
        )
        sample = Sample(
            variables=variables.reset_index(drop=True),
            y=numbers,
            response=about,
            rows=np.flatnonzero(keep),
            index=None if labels is None else labels[keep],
            clusters=clusters,
            weights=None if read is None else read.of_rows(np.flatnonzero(keep)),
        )
        self._assemble(
            predictor,
            design,
            sample,
            groups=groups,
            besides=None if apart is None else apart.name,
            dropped_rows=int((~keep).sum()),
            missing_note=at_hand.note,
            plan="none (one fitted model)",
            where="evaluation rows",
            formula=formula_of(fitted) or "",
            settings=specification(fitted),
            weighting="" if read is None else read.in_words(np.flatnonzero(keep)),
            clusters=clusters_in_words(cluster, clusters),
            offset="" if apart is None else apart.name,
            seed=seed,
            engine=engine,
            memory_mb=memory_mb,
            data=RowData(
                frame=every,
                index=None if (names := index_of(X, y)) is None else pd.DataFrame(index=names),
                complete=keep,
                repeats=repeats,
                length=None if read is None else len(read.values),
                what="X",
            ),
        )

    @classmethod
    def _of_sample(
        cls, predictor: Predictor, design: Design, sample: Sample, **options: Any
    ) -> FittedModel:
        """Return a fitted model on rows that a Learner has already read and encoded."""
        new = cls.__new__(cls)
        new._assemble(predictor, design, sample, **options)
        return new

    def _assemble(
        self,
        predictor: Predictor,
        design: Design,
        sample: Sample,
        *,
        groups: Mapping[str, Sequence[str]] | None,
        besides: str | None = None,
        dropped_rows: int,
        missing_note: str = "",
        plan: str,
        where: str,
        weighting: str = "",
        clusters: str = "",
        offset: str = "",
        seed: int | np.random.Generator | None,
        engine: EngineName = "auto",
        memory_mb: float = 256.0,
        data: RowData | None = None,
        formula: str = "",
        settings: str = "",
    ) -> None:
        check_choice("engine", engine, ENGINES)
        seeds = Seeds.start(seed)
        refit = Refit(
            number=1,
            predictor=predictor,
            design=design,
            evaluation=sample,
            train=None,
            n_train=0,
            n_evaluation=sample.nobs,
        )
        self.analysis = Analysis(
            problem=Problem(
                population=sample,
                features=features_of(design.variables, groups, besides),
                discrete=design.discrete,
                predictor=predictor,
                design=design,
            ),
            refits=(refit,),
            correction=0.0,
            context=context_of(
                (refit,),
                level="model",
                endog_name=sample.response.name if sample.response is not None else "",
                learner=learner_name(predictor.estimator),
                formula=formula,
                specification=settings,
                nobs=sample.nobs,
                dropped_rows=dropped_rows,
                missing_note=missing_note,
                plan=plan,
                where=where,
                failed_refits=0,
                weighting=weighting,
                clusters=clusters,
                offset=offset,
                seed=seeds.entropy,
            ),
            seeds=seeds,
            engine=engine,
            memory_mb=memory_mb,
            data=data,
        )


def _response_column(
    y: npt.ArrayLike | str | None, frame: pd.DataFrame, fitted: Any
) -> tuple[str, pd.Series[Any] | None]:
    """Return name and values of the response, which must be the one that `fitted` predicts."""
    if y is None:
        return "", None
    named = isinstance(y, str) or (isinstance(y, pd.Series) and y.name is not None)
    name = str(y if isinstance(y, str) else y.name) if named else "y"  # type: ignore[union-attr]
    formula = formula_of(fitted)
    fitted_to = name if formula is None else formula.partition("~")[0].strip()
    if named and fitted_to != name and name in names_in(fitted_to, [name]):
        raise DataError(
            f"The model was fitted to `{fitted_to}`, not to `{name}`: pass the transformed "
            "response as an array, so that losses are on the scale of its predictions."
        )
    return name, _column(y, frame, "y").rename(name)


def _column(values: npt.ArrayLike | str, frame: pd.DataFrame, what: str) -> pd.Series[Any]:
    """Return an array, or the column of `frame` with this name, as a column."""
    if not isinstance(values, str):
        return as_column(values, len(frame), what, "X")
    if values not in frame:
        raise OptionError(
            f"`{what}` names column {quote(values)}, which is not in `X`."
            + did_you_mean(values, frame)
        )
    return frame[values]


def _repeat(part: Any, positions: IntArray) -> Any:
    """Return rows of a frame or column; None for None."""
    return None if part is None else take_rows(part, positions).reset_index(drop=True)


def _cluster_numbers(units: pd.Series[Any]) -> npt.NDArray[np.intp]:
    """Return the number of every row's cluster; raise `DataError` if there is only one."""
    numbers, clusters = pd.factorize(units)
    if len(clusters) < 2:
        raise DataError(
            "`cluster` must name two clusters or more: standard errors are over clusters, and all "
            "rows are of the same."
        )
    return numbers.astype(np.intp)


def _encoding(
    fitted: Any, X: object, frame: pd.DataFrame, named: bool
) -> tuple[pd.DataFrame, Design]:
    """Return the variables and their encoding for `fitted`: as a frame or as an array."""
    variables = read_variables(frame)
    names = getattr(fitted, "feature_names_in_", None)
    if names is not None and not named:
        # An array, for a model that knows names: it has them in its own order.
        variables = variables.set_axis([str(name) for name in names], axis=1)
    columns = list(variables.columns)
    if _takes_frames(fitted, X):
        return variables, FrameDesign(columns)
    return variables, ArrayDesign(columns, single=is_single(variables))


def _beside(
    design: Design, variables: pd.DataFrame, offset: Offset, rows: IntArray
) -> tuple[pd.DataFrame, Design]:
    """Return variables and design with the offset of the user's `rows` as their last column."""
    wider = offset.beside(variables, rows)
    names = [str(name) for name in wider.columns]
    return wider, FrameDesign(names) if isinstance(design, FrameDesign) else ArrayDesign(names)


def _takes_frames(fitted: Any, X: object) -> bool:
    """Whether a model predicts frames, as in its training, or like `X` if that is not known."""
    if is_statsmodels(fitted):
        return formula_of(fitted) is not None
    if getattr(fitted, "feature_names_in_", None) is not None:
        return True
    if getattr(fitted, "n_features_in_", None) is not None:
        return False
    return isinstance(X, pd.DataFrame)
