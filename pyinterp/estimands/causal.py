"""Causal effects of a feature, and importances as their mean squares, by plug-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pyinterp._typing import FloatArray, TwoArrays
from pyinterp.errors import OptionError, quote
from pyinterp.estimands.effects.grids import Grid
from pyinterp.estimands.effects.partial_dependence import partial_dependence
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Terms, Words
from pyinterp.estimands.estimate import Estimate, Measurement, ModelOnRows
from pyinterp.estimands.importance.losses import Permutations, marginal_losses, mean_over_draws
from pyinterp.estimands.importance.permutation import NO_USE
from pyinterp.estimands.importance.variable_importance import NO_TEST, cvim, mvim, without_rounding
from pyinterp.estimands.positivity import positivity, samplers_of
from pyinterp.estimands.questions import ONE_GROUP, method
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.ranges import POSITIVE
from pyinterp.samplers import Draws, Sampler, SamplerLike

MEASURES = ("MVIM", "CVIM")
CATE = "; every row's own, its CATE, is in `row_frame()`"
ASSUMPTIONS = (
    "Assumptions that no table can test: given the others the feature is as good as randomized "
    "(conditional ignorability: no unmeasured confounder, and none of them is its effect), it "
    "varies for every row (positivity, see R²_j), and the learner has found E(Y | X)."
)


@method("causal", refused={"by": ONE_GROUP})
def causal(
    problem: Problem,
    feature: str,
    *,
    grid: Grid = "quantile",
    points: int | None = None,
    permutations: Permutations = "auto",
    sampler: SamplerLike = "conditional",
) -> Mapping[str, Estimand]:
    r"""Causal effects, importance and share of variance of one feature, by plug-in.

    The model f replaces :math:`E(Y_x \mid Z)`, so that the effect of the feature on one row is
    :math:`CATE(x, x^*, z) = f(x, z) - f(x^*, z)`. The result has the mean of this effect over
    rows. It has MVIM and CVIM twice: as mean squares of the effect (Khan, Saarela and Kustra
    2025, Theorems 1 to 5) and as permutation estimates. It has the causal decomposition of
    variance (eq. 23; Chen et al. 2020): CVIM / (2 V(Y)), the share of variance that the feature
    explains causally, and the shares of the other variables and of the residuals. All this is
    causal only under the assumptions that the table states.

    Parameters
    ----------
    feature : str
        One variable.
    grid, points
        As for `pd`; effects are against the first level or the smallest value.
    {permutations}
    {sampler}
    {rows}
    {inference}

    Returns
    -------
    CausalResults

    Examples
    --------
    >>> causal = res.causal("bmi", grid=[20, 30])
    >>> causal.effects.params.round(1).to_dict()
    {'bmi[20]': 0.0, 'bmi[30]': 84.9}
    >>> causal.importance.params.round().to_dict()
    {'MVIM': 2748.0, 'CVIM': 2342.0}
    """
    importance = causal_importance(problem, feature, permutations=permutations, sampler=sampler)
    share = causal_share(problem, feature, importance, sampler)
    return {
        "effects": causal_effects(problem, feature, grid=grid, points=points),
        "importance": importance,
        "share": share,
        "rest": causal_rest(share),
    }


def causal_effects(
    problem: Problem, feature: str, *, grid: Grid = "quantile", points: int | None = None
) -> Estimand:
    r"""Plug-in average effects of setting a feature, against its first level or smallest value.

    .. math:: E_Z[CATE(x, x_0, Z)], \quad CATE(x, x_0, z) = f(x, z) - f(x_0, z)

    with f in the place of :math:`E(Y_x \mid Z)`. A row contributes its CATE; with sampling weights,
    the weighted mean and its weighted deviation from it.
    """
    effects = partial_dependence(problem, feature, grid=grid, points=points, kind="c-ice")
    equal = problem.sample.weights is None
    if len(effects.terms.names) < 2:
        raise OptionError(
            f"An effect is of one value against another, but the grid of {quote(feature)} has one "
            "only; give two or more."
        )
    return replace(
        effects,
        words=replace(
            effects.words,
            label="effect",
            title=f"average effects of {feature}",
            quantity="effect",
            of=f"{feature}, plug-in",
            details=(),
            meaning=(
                f"Mean difference of predictions with {feature} set to the value and to the first "
                f"one{CATE if equal else ''}. Causal only under the assumptions at CVIM / 2 V(Y). "
                "A learner that shrinks has too small effects: `population()` estimates nature."
            ),
            zero_variance=(
                "the value that others are compared with, or a feature that no refit uses"
            ),
        ),
        score=problem.squared_loss,
        curves=equal,
        why_no_weights=None,
    )


def causal_importance(
    problem: Problem,
    feature: str,
    *,
    permutations: Permutations = "auto",
    sampler: SamplerLike = "conditional",
) -> Estimand:
    r"""MVIM and CVIM by plug-in of the effects, next to their permutation estimates.

    .. math:: MVIM = E_{X, X^*} E_{Z \mid X}\, CATE^2(X, X^*, Z), \qquad
        CVIM = E_Z E_{X, X^* \mid Z}\, CATE^2(X, X^*, Z)

    (Khan, Saarela and Kustra 2025, Theorems 1 to 5, the fourth without its factor 2.)
    """
    if not isinstance(feature, str):
        raise OptionError(f"`causal` is about one feature; got {quote(feature)}.")
    if len(problem.choose(feature)[feature]) > 1:
        raise OptionError(
            f"`causal` is about one variable, but {quote(feature)} is a group; make a learner "
            "without that group."
        )
    both = (
        mvim(problem, feature, permutations=permutations),
        cvim(problem, feature, permutations=permutations, sampler=sampler),
    )
    importance = Estimand(
        key=("causal", feature, permutations, *(one.key for one in both)),
        terms=Terms.plain(MEASURES),
        measure=partial(
            _measure,
            feature=feature,
            sampler=samplers_of(problem, problem.choose(feature), sampler)[feature],
            permutations=permutations,
        ),
        read=_read,
        words=Words(
            label="importance",
            title=f"importance of {feature} as mean squared effects",
            quantity="MVIM and CVIM",
            of=feature,
            unit=both[0].words.unit,
            meaning=(
                "Mean squared difference of predictions with the feature exchanged between rows "
                "(MVIM; Theorems 1 and 2 of Khan, Saarela and Kustra 2025) or redrawn given the "
                "others (CVIM; Theorems 3 to 5), by plug-in. If the learner has found E(Y | X), "
                "they agree with those by permutation."
            ),
            notes=(NO_TEST,),
            zero_variance=NO_USE,
        ),
        # Noise makes effects vary: mean squares are above 0 whatever the truth, and have no test.
        parameter=Parameter(range=POSITIVE, no_effect=0.0),
        coverage=("plug-in importance",),
        why_no_weights=None,
        score=problem.squared_loss,
    )
    permuted = Estimand(
        key=("causal, beside", *(one.key for one in both)),
        terms=Terms.plain(MEASURES),
        measure=partial(_measure_by_permutation, estimands=both),
        words=Words(
            label="permuted",
            title=f"importance of {feature} by permutation",
            unit=both[0].words.unit,
            meaning=(
                "The increase of squared error that exchanging or redrawing the feature causes."
            ),
        ),
        why_no_weights=None,
        score=problem.squared_loss,
    )
    return replace(importance, diagnostic=permuted)


def causal_share(
    problem: Problem, feature: str, importance: Estimand, sampler: SamplerLike
) -> Estimand:
    r"""Share of the response's variance that a feature explains causally, :math:`CVIM / 2 V(Y)`.

    The between-exposure term of the causal variance decomposition (Chen et al. 2020; Khan, Saarela
    and Kustra 2025, eq. 23), by plug-in.
    """
    overlap = positivity(problem, feature, sampler=sampler)
    share = Terms.plain(["CVIM / 2 V(Y)"])
    return replace(
        importance,
        terms=share,
        read=_read_share,
        form="share",
        words=replace(
            importance.words,
            label="share of V(Y)",
            title=f"share of variance explained by {feature}",
            quantity="CVIM / 2 V(Y)",
            unit="",
            meaning=(
                "CVIM / 2 V(Y), the share of V(Y) that the feature explains causally, given the "
                f"others (Chen et al. 2020); plug-in. {ASSUMPTIONS}"
            ),
        ),
        coverage=(),
        # Under the name of the share, next to which it stands.
        diagnostic=replace(overlap, terms=share, key=(overlap.key, "share")),
    )


def causal_rest(share: Estimand) -> Estimand:
    r"""Shares of the response's variance that the feature does not explain, by plug-in.

    .. math:: V(Y) = V_Z\, E(Y \mid Z) + E_Z\, V_{X \mid Z}\, E(Y \mid X, Z) + E\, V(Y \mid X, Z)

    (Chen et al. 2020; Khan, Saarela and Kustra 2025, eq. 23). The second term is CVIM / 2. The
    first is :math:`V(f) - CVIM / 2`, the third the mean squared error. The remainder is
    :math:`2\, Cov(f, Y - f)` and 0 if f is :math:`E(Y \mid X, Z)`.
    """
    return replace(
        share,
        terms=Terms.plain(["other variables", "residual", "remainder"]),
        read=_read_rest,
        form="rest",
        words=replace(
            share.words,
            title="rest of the variance",
            quantity="shares of V(Y)",
            meaning=(
                "Shares of V(Y): what the other variables explain, V(f) - CVIM / 2; the squared "
                "error; and the remainder, 2 Cov(f, Y - f). With the feature's share they add up "
                "to 1. The remainder is 0 if the learner has found E(Y | X), below 0 if it "
                "overfits and above if it shrinks."
            ),
            notes=(),
            zero_variance="predictions that do not vary",
        ),
        parameter=Parameter(),  # by noise a difference can be below 0
        diagnostic=None,
    )


def _measure(
    case: ModelOnRows, *, feature: str, sampler: Sampler, permutations: Permutations
) -> Measurement:
    """Return mean changes of predictions by marginal and conditional draws, and mean squares."""
    whatif, predictions = case.whatif.of((feature,)), case.whatif.factual
    two_classes = predictions.ndim == 2
    loss = SECOND if two_classes else LOSSES["squared"]
    # Plug-in: the model's predictions take the place of the response.
    factual = predictions[:, 1] if two_classes else predictions
    n, weights, draw = len(factual), case.weights, partial(case.draw, feature)
    marginal, _ = marginal_losses(whatif, factual, np.zeros(n), loss, permutations, draw, weights)

    def squares(block: Draws, outputs: FloatArray) -> TwoArrays:
        """Return squared differences of two draws, whose mean is twice the draws' variance."""
        values = outputs[..., 1] if two_classes else outputs
        p, every, left, scale = block.weights, values, 1.0, 1.0
        if p is None or (weights is not None and block.donors is not None):
            # The feature's own value is a draw as well.
            every = np.column_stack([values, factual[block.rows]])
            shares = np.ones_like(every)
            if weights is not None and p is not None and block.donors is not None:
                shares = weights[np.column_stack([block.donors, block.rows])]
            p = shares / shares.sum(axis=1, keepdims=True)
            left, scale = 1 - p[:, -1:], 1 - np.square(p).sum(axis=1, keepdims=True)
        mean = (p * every).sum(axis=1, keepdims=True)
        apart = 2 * np.square(without_rounding(every - mean, values)) / scale
        return left * apart[:, : values.shape[1]], (p * apart).sum(axis=1)

    conditional = mean_over_draws(
        whatif, case.conditional(sampler, (feature,)), permutations, draw(), squares
    )
    of_y, of_f = (values - np.average(values, weights=weights) for values in (case.y, factual))
    deviations = of_y, without_rounding(of_f, factual)
    # Variances divide by n - 1, as CVIM does, or by what weights have for it.
    scale = n / (n - 1) if weights is None else 1 / (1 - np.square(weights / weights.sum()).sum())
    columns = np.column_stack([*np.sqrt(scale) * np.array(deviations), case.y - factual])
    of_rows = Estimate.of_rows(2 * np.square(columns), weights)
    return {"marginal": marginal, "conditional": conditional, "squares": of_rows}


def _measure_by_permutation(case: ModelOnRows, *, estimands: Sequence[Estimand]) -> Measurement:
    """Return MVIM and CVIM as they are estimated by permutation."""
    return {"both": Estimate.stack([one.read(one.measure(case)) for one in estimands])}


def _read(measurement: Measurement) -> Estimate:
    """Return the mean squared effects: of marginal draws, then of conditional ones."""
    return Estimate.stack([measurement["marginal"], measurement["conditional"]])


def _read_share(measurement: Measurement) -> Estimate:
    """Return the mean squared effect of conditional draws over the response's variance."""
    response = measurement["squares"].linear(np.eye(3)[:1])
    return measurement["conditional"].over(response)


def _read_rest(measurement: Measurement) -> Estimate:
    """Return the parts of the response's variance beside the effects, as three shares."""
    response, model, errors = (measurement["squares"].linear(row[None]) for row in np.eye(3))
    parts = model.minus(measurement["conditional"]), errors, response.minus(model).minus(errors)
    return Estimate.stack([part.over(response) for part in parts])


# Squared error of the second class's probability.
SECOND = Loss(
    "squared error of the probability",
    lambda y, predictions: np.square(y - predictions[..., 1]),
    needs="probability",
)
