"""Marginal permutation importance: how much worse predictions get without a feature's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from pyinterp.design import IntArray
from pyinterp.engine import PREDICTIONS, WhatIf
from pyinterp.errors import OptionError, check_choice
from pyinterp.estimands.base import Case, Estimand, Estimate, Features, Measurement, Subject, Terms
from pyinterp.estimands.coverage import published, studied
from pyinterp.estimands.relation import Relation, difference, ratio
from pyinterp.losses import LOSSES, Loss, LossLike, choose
from pyinterp.sample import FloatArray
from pyinterp.samplers import Distinct, balanced

__all__ = ["Permutations", "permutation_importance", "some_pairs", "switched_losses"]

Permutations: TypeAlias = int | Literal["auto", "all"]

LEAST_PERMUTATIONS = 10
# Molnar et al. (2021, Table 2).
COVERAGE = {
    ("naive", "bootstrap"): published("25-68%"),
    ("naive", "subsampling"): published("21-56%"),
    ("corrected", "bootstrap"): published("67-99%"),
    ("corrected", "subsampling"): published("59-96%"),
}
HALF_SAMPLE = {("half-sample", "half-sampling"): studied("93-99%", "irrelevant features")}


def permutation_importance(
    subject: Subject,
    features: str | Sequence[str] | None = None,
    *,
    loss: LossLike | None = None,
    permutations: Permutations = "auto",
    relation: Relation = "difference",
) -> Estimand:
    r"""Marginal permutation feature importance (PFI) of features.

    .. math:: PFI_S = E[L(Y, f(\tilde X_S, X_C))] - E[L(Y, f(X))]

    with :math:`\tilde X_S` an independent draw from the marginal law of :math:`X_S`
    (Molnar et al. 2021, eq. 3), or the ratio of the two expectations.
    """
    check_choice("relation", relation, ("difference", "ratio"))
    _check_permutations(permutations)
    chosen = subject.choose(features)
    used = choose(loss, subject.predictor, subject.response)
    data = subject.population.variables
    constant = [name for name, vs in chosen.items() if not any(_varies(data[v]) for v in vs)]
    unit = used.unit.format(y=subject.response.name) if relation == "difference" else ""
    return Estimand(
        key=("pfi", tuple(chosen.items()), used, permutations),
        terms=Terms.plain(list(chosen)),
        measure=partial(_measure, features=chosen, loss=used, permutations=permutations),
        read=_difference if relation == "difference" else _ratio,
        label="PFI",
        title="Permutation feature importance",
        description=f"PFI ({used.name}{', ratio' if relation == 'ratio' else ''})",
        null=0.0 if relation == "difference" else 1.0,
        floor=0.0 if relation == "difference" else 1.0,
        unit=unit,
        notes=_notes(used, relation, unit, constant),
        coverage=_coverage(used, relation),
        exact="All pairs of rows, no Monte Carlo error.",
        zero_variance="never used by the learner in any refit, which does not mean certainly 0",
    )


def _measure(
    case: Case, *, features: Features, loss: Loss, permutations: Permutations
) -> Measurement:
    losses = loss(case.y, case.whatif.factual)
    pairs = [
        switched_losses(
            case.whatif,
            case.y,
            losses,
            variables=variables,
            loss=loss,
            permutations=permutations,
            rng=case.draw(name),
        )
        for name, variables in features.items()
    ]
    return {
        "switched": Estimate.stack([switched for switched, _ in pairs]),
        "original": Estimate.stack([original for _, original in pairs]),
    }


def _difference(measurement: Measurement) -> Estimate:
    return difference(measurement["switched"], measurement["original"])


def _ratio(measurement: Measurement) -> Estimate:
    return ratio(measurement["switched"], measurement["original"])


def _coverage(loss: Loss, relation: Relation) -> Mapping[tuple[str, str], str]:
    if relation == "ratio":
        return {}
    return HALF_SAMPLE | (COVERAGE if loss is LOSSES["squared"] else {})


def _notes(loss: Loss, relation: Relation, unit: str, constant: Sequence[str]) -> tuple[str, ...]:
    if relation == "difference":
        what = f"Increase in expected {loss.name}{f', in units of {unit},' if unit else ''}"
    else:
        what = f"Factor by which expected {loss.name} grows"
    notes = [f"{what} when the feature is replaced by an independent draw."]
    if constant:
        names = ", ".join(f"`{n}`" for n in constant)
        notes.append(f"{names}: constant in the data, so nothing can be replaced.")
    return tuple(notes)


def _check_permutations(permutations: object) -> None:
    if isinstance(permutations, str):
        check_choice("permutations", permutations, ("auto", "all"))
    elif (
        isinstance(permutations, bool)
        or not isinstance(permutations, int | np.integer)
        or permutations < 2
    ):
        raise OptionError(
            '`permutations` must be "auto", "all" or a whole number of at least 2 (the Monte Carlo '
            f"error of one permutation is unknown), not {permutations!r}."
        )


def _varies(column: pd.Series[Any]) -> bool:
    return bool((column != column.iloc[0]).any())


def switched_losses(
    whatif: WhatIf,
    y: FloatArray,
    losses: FloatArray,
    *,
    variables: Sequence[str],
    loss: Loss,
    permutations: Permutations,
    rng: np.random.Generator,
) -> tuple[Estimate, Estimate]:
    r"""Return the mean loss with `variables` replaced, and the mean loss as it is.

    With all pairs the first is the U-statistic :math:`e_{switch}` of Fisher, Rudin and Dominici
    (2019), the mean over all ordered pairs of rows i != k (i keeps :math:`x_C` and y, k donates
    :math:`x_S`). It is the average over every permutation and has no Monte Carlo error. With K
    balanced permutations each row meets K of the n - 1 donors.

    Parameters
    ----------
    whatif : WhatIf
        The model on n evaluation rows.
    y, losses : ndarray of shape (n,)
        Responses and losses of the rows as they are.
    variables : sequence of str
        The variables that are replaced jointly.
    loss : Loss
        Per-row loss.
    permutations : int, "auto" or "all"
        Number K of permutations.
    rng : numpy.random.Generator
        Used only when K < n - 1.

    Returns
    -------
    switched, original : Estimate
        With one term each and both sides' contributions.
    """
    n = len(y)
    donors = whatif.distinct(variables)
    k = _number(permutations, n, len(donors.values), whatif.most_pairs(variables, donors, loss))
    if k < n - 1:
        return some_pairs(whatif, y, losses, variables, loss, donors, balanced(n, k, rng))
    return _all_pairs(whatif, y, losses, variables, loss, donors)


def _number(permutations: Permutations, n: int, values: int, most: float) -> int:
    """Return the number of permutations; n - 1 stands for all pairs."""
    if permutations == "all" or (permutations == "auto" and n * values <= most):
        return n - 1
    wanted = max(LEAST_PERMUTATIONS, PREDICTIONS // n) if permutations == "auto" else permutations
    return min(int(wanted), n - 1)


def _all_pairs(
    whatif: WhatIf,
    y: FloatArray,
    losses: FloatArray,
    variables: Sequence[str],
    loss: Loss,
    donors: Distinct,
) -> tuple[Estimate, Estimate]:
    n = len(y)
    if len(donors.values) == 1:  # constant here: replacing it changes nothing
        return _estimate(losses, losses * 0), _estimate(losses, losses * 0)
    over_donors, over_rows = whatif.summed_losses(variables, donors, y, loss)
    # Every row also met its own values, with which its loss is what it is.
    as_row = (over_donors - losses) / (n - 1)
    as_donor = (over_rows[donors.of_row] - losses) / (n - 1)
    # As a donor, row k meets every row but itself: the mean of their own losses leaves k out.
    return (
        _estimate(as_row, as_donor - as_donor.mean()),
        _estimate(losses, (losses.mean() - losses) / (n - 1)),
    )


def some_pairs(
    whatif: WhatIf,
    y: FloatArray,
    losses: FloatArray,
    variables: Sequence[str],
    loss: Loss,
    donors: Distinct,
    index: IntArray,
) -> tuple[Estimate, Estimate]:
    """Return what `switched_losses` does, from the donors ``index[i]`` of row i, shape (n, k)."""
    n, k = index.shape
    predictions = whatif.paired(variables, donors.values, donors.of_row[index])
    matrix = loss(y[:, None], predictions)
    as_donor, met = np.zeros(n), np.zeros(n)
    np.add.at(as_donor, index, matrix)
    np.add.at(met, index, np.broadcast_to(losses[:, None], (n, k)))
    # The permutations are a sample without replacement of the n - 1 shifts of one random order.
    between = np.var(matrix.mean(axis=0), ddof=1) / k * (1 - k / (n - 1))
    return (
        _estimate(matrix.mean(axis=1), (as_donor - as_donor.mean()) / k, between),
        _estimate(losses, met / k - losses.mean()),
    )


def _estimate(rows: FloatArray, donors: FloatArray, mc_variance: float = 0.0) -> Estimate:
    return Estimate(
        value=np.array([rows.mean()]),
        rows=rows[:, None],
        donors=donors[:, None],
        mc_variance=np.array([mc_variance]),
    )
