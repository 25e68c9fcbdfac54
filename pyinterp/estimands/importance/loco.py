"""Leave-one-covariate-out importance: how much worse a learner predicts if trained without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.data.features import Features
from pyinterp.errors import LossError
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import Relation, comparison
from pyinterp.estimands.risk import best_constant
from pyinterp.losses.rowwise import LOSSES, Loss, LossLike, choose


def leave_one_covariate_out(
    problem: Problem,
    features: str | Sequence[str] | None = None,
    *,
    loss: LossLike | None = None,
    relation: Relation = "difference",
) -> Estimand:
    r"""Leave-one-covariate-out importance (LOCO) of features.

    .. math:: LOCO_S = E[L(Y, f_{-S}(X_C))] - E[L(Y, f(X))]

    with :math:`f_{-S}` the learner trained on the same rows without :math:`X_S` (Lei et al. 2018;
    Khan, Saarela and Kustra 2025, section 2.2), or the ratio of the two expectations.
    """
    chosen = problem.choose(features)
    row_loss = choose(loss, problem.predictor, problem.response)
    differs = relation == "difference"
    notes: tuple[str, ...] = ()
    if differs and row_loss == LOSSES["squared"]:
        notes = ("Under squared loss CVIM estimates twice LOCO's target.",)
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
            meaning="the learner is trained on the same rows without the feature.",
            notes=notes,
            always=("No P: the std err of noise is too large. `population()` has P relevant.",),
            zero_variance=(
                "the learner predicts the same without it in every refit, which does not mean "
                "certainly 0"
            ),
        ),
        key=("loco", tuple(chosen.items()), row_loss),
        measure=partial(_measure, features=chosen, loss=row_loss),
        leave_out=chosen,
        coverage=("LOCO",) if differs else (),
        no_weights=None,
    )
    return replace(found, parameter=Parameter(no_effect=found.parameter.no_effect))


def _measure(case: ModelOnRows, *, features: Features, loss: Loss) -> Measurement:
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
