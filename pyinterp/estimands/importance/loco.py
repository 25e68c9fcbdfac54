"""Leave-one-covariate-out importance: how much worse a learner predicts if trained without it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.data.features import Features, Names
from pyinterp.errors import LossError
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import Relation, comparison
from pyinterp.estimands.questions import method
from pyinterp.estimands.risk import best_constant
from pyinterp.losses.rowwise import Loss, LossLike, choose


@method("loco", importance=True)
def leave_one_covariate_out(
    problem: Problem,
    features: Names | None = None,
    *,
    loss: LossLike | None = None,
    relation: Relation = "difference",
) -> Estimand:
    r"""Leave-one-covariate-out importance (LOCO): the loss without a feature, minus with it.

    .. math:: LOCO_S = E[L(Y, f_{-S}(X_C))] - E[L(Y, f(X))]

    Here :math:`f_{-S}` is the learner trained on the same rows without the feature (Lei et al.
    2018, section 6; Khan, Saarela and Kustra 2025, section 2.2). The estimate for a learner is
    the mean over refits. Unlike `pfi`, LOCO predicts observed rows only. It is small where
    another feature can replace this one. The true LOCO may be negative, because a learner may
    predict better without a feature.

    Every refit is trained again without each feature, with the joblib backend and `n_jobs` of
    the fit. Rows and seeds stay the same, so that the two models differ by the feature and not
    by chance. If the feature is a variable of a formula, all terms that use it are omitted. If
    no column remains, the prediction is the loss's best constant for the training rows.

    The models are dropped and their predictions kept. So another loss or relation, or a
    feature that was omitted before, needs no training.

    Parameters
    ----------
    features : str or sequence of str, optional
        Features: variables, or groups of variables that are omitted jointly. By default all.
    {loss}
    relation : {"difference", "ratio"}
        How the two expected losses are compared, per refit.
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In units of the loss; one term per feature.

    Raises
    ------
    OptionError
        For a `FittedModel`, which has no learner to train, and for a learner that refers to
        columns by position.
    LossError
        If the learner's predictions can't serve the loss, or no column is left and the loss
        states no best constant.
    RefitError
        If the learner can't be trained without a feature, for example because it names it.

    Notes
    -----
    Under squared loss and the true regression function f, LOCO is
    :math:`E\,V(f(X) \mid X_C)` (Verdinelli and Wasserman 2024; Williamson et al. 2021): for a
    linear function :math:`\beta^2 V(X_S \mid X_C)`. For an additive one of independent
    features `pfi` is twice as large.

    Examples
    --------
    >>> res.loco("bmi").conf_int().round()
              0       1
    term
    bmi   606.0  1914.0
    """
    chosen = problem.choose(features)
    row_loss = choose(loss, problem.predictor, problem.response)
    differs = relation == "difference"
    # The truth of an irrelevant feature is a little below 0, where learning its effect costs more
    # than the feature gives; above it the error grows with the value, as for PFI.
    found = comparison(
        problem,
        chosen,
        row_loss,
        relation,
        Words(
            label="LOCO",
            title="leave-one-covariate-out importance",
            meaning=(
                "the learner is trained on the same rows without the feature"
                f"{', or all variables of a group' * (max(map(len, chosen.values())) > 1)}."
            ),
            always=(
                "No P: the std err at 0 is too large for a test, and the limits are no test of 0 "
                "either; use P relevant of `population()`.",
            ),
            zero_variance=(
                "the learner predicts the same without it in every refit, which does not mean "
                "certainly 0"
            ),
        ),
        key=("loco", tuple(chosen.items()), row_loss),
        measure=partial(_measure, features=chosen, loss=row_loss),
        leave_out=chosen,
        coverage=("LOCO",) if differs else (),
        why_no_weights=None,
    )
    return replace(found, parameter=Parameter(no_effect=found.parameter.no_effect))


def _measure(case: ModelOnRows, *, features: Features, loss: Loss) -> Measurement:
    """Return the mean loss of the model, and of those trained without each feature."""
    original = loss(case.y, case.of_kind(loss.needs).factual)[:, None]
    changed = [loss(case.y, _predict(case, *feature, loss)) for feature in features.items()]
    return {
        "changed": Estimate.of_rows(np.column_stack(changed), case.weights),
        "original": Estimate.of_rows(original, case.weights),
    }


def _predict(case: ModelOnRows, name: str, variables: tuple[str, ...], loss: Loss) -> FloatArray:
    """Return predictions without a feature; the best constant if no column is left."""
    prediction = case.without(variables, loss.needs)
    if prediction is not None:
        return prediction
    constant = best_constant(case, loss)
    if constant is None:
        kind = "" if case.weights is None else " of weighted rows"
        raise LossError(
            f"Without `{name}` no column is left to predict from, and the loss `{loss.name}` "
            f"states no best constant prediction{kind}; use Loss(..., constant=np.mean)."
        )
    return constant
