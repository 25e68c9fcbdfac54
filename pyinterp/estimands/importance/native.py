"""Native importance: coefficients, t statistics and the like that a fitted model reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from pyinterp._typing import BoolArray, FloatArray
from pyinterp.checks import check_choice
from pyinterp.data.features import Features
from pyinterp.errors import OptionError
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.questions import method
from pyinterp.models.final_step import FinalStep, final_step
from pyinterp.models.predictor import learner_name
from pyinterp.whatif import WhatIf
from pyinterp.whatif.inputs import numbers

Native = Literal["stat", "raw", "impurity", "olden", "garson"]

# Rows in which every value of a variable is tried, to see which inputs it drives.
PROBES = 3


# The names and classes of reported importances, and these, shape (names, classes).
Report = tuple[tuple[str, ...], tuple[Any, ...], FloatArray]
# The kind, the name of its statistic, names and classes: what a measurement is kept under.
Heading = tuple[Native, str, tuple[str, ...], tuple[Any, ...]]


@method("native_importance")
def native_importance(
    problem: Problem,
    type: Native | None = None,  # noqa: A002 - vip's name
) -> Estimand:
    r"""Native importance: coefficients, t statistics and the like that a fitted model reports.

    For comparison with other importances. It needs no predictions and is no mean over rows:
    for one fitted model there is no interval, for a learner that over refits.

    Parameters
    ----------
    type : {"stat", "raw", "impurity", "olden", "garson"}, optional
        By default the first of "stat", "impurity", "olden" and "raw" that the model has.

        "stat": t or z statistic of each column of the design but the intercept, with its sign,
        of statsmodels results and `statsmodels_learner`. "raw": coefficient of each column.
        "impurity": ``feature_importances_`` of trees and ensembles, summed over the columns
        of each feature. "olden", "garson": weights of networks of one hidden layer
        (scikit-learn's MLPRegressor and MLPClassifier), per input; see
        `pyinterp.estimands.importance.native.olden` and `garson`.
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        One term per column or feature (and class). R's ``vip::vi_model`` gives the absolute
        value of t, z and coefficients, and their sign in a column of its own.

    Raises
    ------
    OptionError
        If the model has no importance, or not this one.

    Examples
    --------
    >>> res.native_importance().params.round(1).to_dict()
    {'bmi': 8.5, 'bp': 1.5, 'sex': -9.0}
    """
    if type is not None:
        check_choice("type", type, get_args(Native))
    return Estimand(
        key=("native", type, tuple(problem.features.items())),
        terms=Terms.plain(()),
        measure=partial(_measure, features=problem.features, kind=type),
        complete=_with_names,
        words=Words(label="native importance", title="native importance", meaning=""),
        basis="model",
        why_no_weights="a model reports it, whose errors take weights for precisions, if for "
        "anything",
    )


def _with_names(report: Estimand, replicates: Any) -> Estimand:
    """Return the estimand of a report with the terms that the measurements of all refits name."""
    headings = [heading for names in replicates.sums.names for heading in names]
    (kept, statistic, names, classes), *others = headings
    if kept == "impurity" and statistic == "z":
        statistic = kept
    terms = Terms.plain(names, classes)
    for _, _, *another in others:
        if (other := Terms.plain(*another)).names != terms.names:
            raise OptionError(
                f"All refits must have the same columns, but one has {', '.join(other.names)} and "
                f'another {", ".join(terms.names)}; fit with `design_state="all"`.'
            )
    label, quantity, meaning = WORDS[kept]
    return replace(
        report,
        terms=terms,
        complete=None,
        words=Words(
            label=label.format(statistic),
            title="native importance",
            quantity=quantity.format(statistic),
            meaning=meaning.format(statistic),
            zero_variance="all refits report the same number",
        ),
        parameter=Parameter(null=0.0 if kept == "raw" else None),
    )


# By kind: label, quantity and meaning, with the name of the statistic.
WORDS = {
    "stat": (
        "{}",
        "{} statistic",
        "{} statistic of each column of the design, coefficient / standard error, as the model "
        "reports it. Its size is an importance, and grows with the number of training rows.",
    ),
    "raw": (
        "coef",
        "coefficient",
        "Coefficient of each column of the design, per unit of the column.",
    ),
    "impurity": (
        "{}",
        "{} (feature_importances_)",
        "What the model reports in `feature_importances_`; of scikit-learn's trees the share of "
        "the decrease in impurity, which favors features with many values. It is in sample. A "
        "feature has the sum over its columns; a column built of several counts for each.",
    ),
    "olden": (
        "Olden",
        "Olden's connection weights",
        "Sum over hidden units of the weight to the unit times the weight from it, per input; the "
        "sign is that of the effect (Olden, Joy and Death 2004). Depends on the units of inputs.",
    ),
    "garson": (
        "Garson",
        "Garson's weights",
        "Share of the input in the absolute weights to each hidden unit, averaged over units "
        "(Garson 1991); all inputs add up to 1. Depends on the units of inputs.",
    ),
}


def olden(w_in: npt.ArrayLike, w_out: npt.ArrayLike) -> FloatArray:
    r"""Return connection weights of a network of one hidden layer (Olden, Joy and Death 2004).

    .. math:: \sum_h w_{ih} v_h

    as ``NeuralNetTools::olden`` has it, biases ignored.

    Parameters
    ----------
    w_in : array of shape (p, h)
        Weights from inputs to hidden units.
    w_out : array of shape (h,) or (h, outputs)
        Weights from hidden units to outputs.

    Returns
    -------
    ndarray of shape (p,) or (p, outputs)

    Examples
    --------
    >>> from pyinterp.estimands.importance.native import olden
    >>> olden([[1.0, 2.0], [0.0, -1.0]], [3.0, 0.5])
    array([ 4. , -0.5])
    """
    return np.asarray(np.asarray(w_in) @ np.asarray(w_out))


def garson(w_in: npt.ArrayLike, w_out: npt.ArrayLike) -> FloatArray:
    r"""Return Garson's weights of a network of one hidden layer (Garson 1991; Goh 1995).

    .. math:: \sum_h \frac{|w_{ih} v_h|}{\sum_k |w_{kh} v_h|} \Big/
        \sum_i \sum_h \frac{|w_{ih} v_h|}{\sum_k |w_{kh} v_h|}

    as ``NeuralNetTools::garson`` has it: biases are ignored, the sum is 1, and the size of the
    outgoing weights cancels. A hidden unit that is not connected to inputs or to the output counts
    for nothing.

    Parameters
    ----------
    w_in, w_out
        As for `olden`.

    Returns
    -------
    ndarray of shape (p,) or (p, outputs)

    Examples
    --------
    >>> from pyinterp.estimands.importance.native import garson
    >>> garson([[1.0, 3.0], [1.0, -1.0]], [3.0, 0.5])
    array([0.625, 0.375])
    """
    inputs, outputs = np.asarray(w_in, np.float64), np.asarray(w_out)
    products = np.abs(inputs[:, :, None] * outputs.reshape(len(outputs), -1)[None])
    into = products.sum(axis=0)
    shares = np.divide(products, into, out=np.zeros_like(products), where=into > 0).sum(axis=1)
    total = shares.sum(axis=0)
    weights = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
    return np.asarray(weights.reshape(len(inputs), *outputs.shape[1:]))


def _measure(case: ModelOnRows, *, features: Features, kind: Native | None) -> Measurement:
    """Return the importances that the model reports, by class and feature; rows have no part."""
    kinds = _kinds(case.whatif)
    if kind is None and not kinds:
        raise OptionError(
            f"{learner_name(case.whatif.predictor.estimator)} reports no importance of its own (no "
            "t statistics, coefficients, `feature_importances_`, or one hidden layer); use `pfi` "
            "or `firm`, which any model has."
        )
    kind = kinds[0] if kind is None else kind
    names, classes, values = _report(case.whatif, features, kind)
    model = _last(case.whatif).model
    uses_t = getattr(_results(model), "use_t", False)
    statistic = "t" if uses_t else getattr(model, "importance_name_", "z")  # R's have several
    value = values.T.ravel()
    rows = np.tile(value, (case.evaluation.nobs, 1))
    estimate = Estimate(value=value, rows=rows, mc_variance=np.zeros(len(value)))
    heading = (kind, statistic, tuple(names), tuple(classes))
    return {heading: estimate}


def _last(whatif: WhatIf) -> FinalStep:
    """Return the model at the end of a pipeline, and the steps before it."""
    return final_step(whatif.predictor.estimator)


def _results(model: Any) -> Any:
    """Return the statsmodels results that a model is or has; None if there are none."""
    results = getattr(model, "results_", model)
    return results if hasattr(results, "params") and hasattr(results, "model") else None


def _kinds(whatif: WhatIf) -> list[Native]:
    """Return the kinds of importance that a model has, the default first."""
    model = _last(whatif).model
    results, hidden = _results(model), len(getattr(model, "coefs_", ())) == 2
    there: dict[Native, bool] = {
        "stat": hasattr(results, "tvalues"),
        "impurity": hasattr(model, "feature_importances_"),
        "olden": hidden,
        "raw": results is not None or hasattr(model, "coef_"),
        "garson": hidden,
    }
    return [kind for kind, has_it in there.items() if has_it]


NEEDS = {
    "stat": "a model with standard errors, such as statsmodels results or "
    "`pi.statsmodels_learner(sm.OLS)`",
    "raw": "a linear model",
    "impurity": "a model with `feature_importances_`, such as a forest",
    "olden": "a network of one hidden layer, such as MLPRegressor([4])",
    "garson": "a network of one hidden layer, such as MLPRegressor([4])",
}


def _report(whatif: WhatIf, features: Features, kind: Native) -> Report:
    """Return the importances of a model; raise `OptionError` if it reports none of this kind."""
    model = _last(whatif).model
    results = _results(model)
    if kind not in _kinds(whatif):
        name = learner_name(whatif.predictor.estimator)
        raise OptionError(f'`type="{kind}"` needs {NEEDS[kind]}; {name} is not one.')
    if kind == "impurity":
        decreases = np.asarray(model.feature_importances_, np.float64)
        sums = [decreases[_driven(whatif, f, len(decreases))].sum() for f in features.values()]
        return tuple(features), (None,), np.array(sums)[:, None]
    if kind in ("olden", "garson"):
        return _by_column(whatif, (olden if kind == "olden" else garson)(*model.coefs_))
    if results is not None:
        return _of_results(whatif, results, results.tvalues if kind == "stat" else results.params)
    return _by_column(whatif, np.atleast_2d(np.asarray(model.coef_, np.float64)).T)


def _of_results(whatif: WhatIf, results: Any, values: npt.ArrayLike) -> Report:
    """Return values by column of statsmodels' design, without the intercept's."""
    names = [str(name) for name in results.model.exog_names]
    if results is not whatif.predictor.estimator:  # a learner's, trained on an array
        names = list(whatif.design.columns)
    constant = getattr(results.model.data, "const_idx", None)
    columns = [j for j in range(len(names)) if j != constant]
    # A model's other parameters, such as a dispersion, come last.
    table = np.asarray(values, np.float64)
    table = table.reshape(len(table), -1)[columns]
    classes = _labels(whatif)[1:] or [None]  # against the first
    return tuple(names[j] for j in columns), tuple(classes), table


def _by_column(whatif: WhatIf, values: FloatArray) -> Report:
    """Return values, shape (columns, outputs), with the names of a model's inputs."""
    labels, outputs = _labels(whatif), values.shape[1]
    classes = (labels[1:] or [None]) if outputs == 1 else list(whatif.predictor.classes or ())
    votes = outputs > 1 and hasattr(_last(whatif).model, "support_")
    if votes or len(classes) != outputs:
        raise OptionError(
            f"{learner_name(whatif.predictor.estimator)} has no weights of its own for each of its "
            "classes; use `pfi` or `firm`, which any model has."
        )
    if outputs > 1:
        values = values[:, [labels.index(label) for label in classes]]
    columns = _last(whatif).names(whatif.design.columns)
    if len(columns) != len(values):
        raise OptionError(
            f"The names of the {len(values)} inputs of {learner_name(whatif.predictor.estimator)} "
            "can't be told: a step of its pipeline has no `get_feature_names_out`."
        )
    return tuple(columns), tuple(classes), values


def _labels(whatif: WhatIf) -> list[Any]:
    """Return the classes in the model's order, which need not be the response's."""
    classes = getattr(_last(whatif).model, "classes_", whatif.predictor.classes)
    return [] if classes is None else np.asarray(classes).tolist()


def _driven(whatif: WhatIf, variables: Sequence[str], number: int) -> BoolArray:
    """Return which of `number` inputs of the last step change with some variables.

    The steps of a pipeline are probed: some rows are given the values of every donor.
    """
    before = _last(whatif).before
    driven = np.zeros(number, bool)
    if before is None:
        driven[whatif.design.driven(variables)] = True
        return driven
    donors = whatif.of(variables).donors.frame
    swap = whatif.design.swap(whatif.sample, variables, donors)
    every = np.arange(len(donors))
    for row in np.unique(np.linspace(0, whatif.sample.nobs - 1, PROBES).astype(np.intp)):
        table = numbers(before(swap.matrix(np.full(len(donors), row), every)))
        gaps = np.isnan(table)  # which differ from themselves
        driven |= ((table != table[:1]) & ~(gaps & gaps[:1])).any(axis=0)
    return driven
