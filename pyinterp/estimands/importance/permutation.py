"""Permutation importance: how much worse, or less certain, predictions get without a feature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pyinterp.checks import check_alpha, check_choice, is_count
from pyinterp.data.features import Features, Names
from pyinterp.errors import OptionError, list_of, quote
from pyinterp.estimands.effects.scales import position_of
from pyinterp.estimands.estimand import Estimand, Parameter, Problem, Words
from pyinterp.estimands.importance.losses import Permutations, Relation, comparison, measure_losses
from pyinterp.estimands.positivity import positivity, samplers_of
from pyinterp.estimands.questions import ONE_GROUP, method, side_by_side
from pyinterp.losses.predictive import entropy, negative_log_likelihood
from pyinterp.losses.rowwise import Loss, LossLike, choose
from pyinterp.models.predictor import Predictor
from pyinterp.samplers import Sampler, SamplerLike, check_sampler, is_conditional

Replacement = Literal["marginal"] | SamplerLike

ALL_PAIRS = "All pairs of rows, no Monte Carlo error."
SOME_PAIRS = 'as some of all permutations are used; `permutations="all"` has none'
NO_SAMPLER = (
    "if the feature is drawn given the others entropy-PFI is 0, as the draws have the joint "
    "distribution of the data (Wood et al. 2024, Proposition 3); `likelihood_pfi` takes it."
)
NO_USE = (
    "in no refit do predictions of evaluation rows change with it, which does not mean certainly 0"
)


def permutation_importance(
    problem: Problem,
    features: Names | None = None,
    *,
    loss: LossLike | None = None,
    permutations: Permutations = "auto",
    relation: Relation = "difference",
    sampler: Replacement = "marginal",
    of_response: bool = True,
) -> Estimand:
    r"""Permutation feature importance (PFI) of features.

    .. math:: PFI_S = E[L(Y, f(\tilde X_S, X_C))] - E[L(Y, f(X))]

    with :math:`\tilde X_S` an independent draw from the marginal distribution of :math:`X_S`
    (Molnar et al. 2021, eq. 3), or from its distribution given :math:`X_C`; or the ratio of the two
    expectations. Without `of_response` the loss is of predictions alone, as entropy is.
    """
    why_no_weights = check_permutations(permutations)
    chosen = problem.choose(features)
    if of_response or not isinstance(loss, Loss):
        loss = choose(loss, problem.predictor, problem.response)
    diagnostic: Estimand | None = None
    samplers: Mapping[str, Sampler] = {}
    if is_conditional(sampler):
        check_sampler(sampler, chosen)
        drawn = [name for name in chosen if not isinstance(sampler, Mapping) or name in sampler]
        samplers = samplers_of(
            problem, problem.choose(drawn), sampler, why_no_weights=why_no_weights
        )
        diagnostic = positivity(problem, drawn, sampler=samplers)
        coverage: tuple[str, ...] = ("conditional PFI",) if relation == "difference" else ()
    elif relation == "ratio":
        coverage = ("PFI, ratio",)
    elif isinstance(permutations, str):
        coverage = ("PFI over all pairs", "PFI")
    else:
        coverage = ("PFI by 5 permutations", "PFI") if permutations == 5 else ("PFI",)
    values: list[int] = []
    if permutations == "all" and not samplers:
        data = problem.sample.variables
        values = [len(data[list(names)].drop_duplicates()) for names in chosen.values()]
    title, replaced, notes_on = _draws_in_words(problem, chosen, samplers)
    return comparison(
        problem,
        chosen,
        loss,
        relation,
        Words(
            label="cPFI" if samplers else "PFI",
            title=title,
            meaning=f"the feature is replaced by {replaced}",
            notes_on=notes_on,
            exact="All draws, no Monte Carlo error." if samplers else ALL_PAIRS,
            inexact=SOME_PAIRS,
            zero_variance=NO_USE,
            values=tuple(values),
        ),
        key=("pfi", tuple(chosen.items()), loss, permutations, tuple(samplers.items())),
        measure=partial(
            measure_losses,
            features=chosen,
            loss=loss,
            permutations=permutations,
            samplers=samplers,
            of_response=of_response,
        ),
        coverage=coverage,
        why_no_weights=why_no_weights,
        diagnostic=diagnostic,
    )


def _draws_in_words(
    problem: Problem, features: Features, samplers: Mapping[str, Sampler]
) -> tuple[str, str, dict[str, str]]:
    """Return the title, the values that replace a feature, and further notes by feature."""
    title, replaced, notes = "permutation feature importance", "an independent draw", {}
    if samplers:
        title, replaced = f"conditional {title}", "a draw given the other features"
        if len(samplers) < len(features):
            title = "permutation feature importance, partly conditional"
            replaced += f" ({list_of(samplers)}), or an independent draw (the others)"
        notes = {name: f"Draws of {{}}: {sampler.label}." for name, sampler in samplers.items()}
    if max(map(len, features.values())) > 1:
        replaced += "; a group's variables together" + ", by those of another row" * (not samplers)
    data = problem.sample.variables
    for name in features:
        # A missing value is another value. A few rows tell it of most features.
        columns = (data[of] for of in features[name])
        if all(c[:9].nunique(dropna=False) <= 1 >= c.nunique(dropna=False) for c in columns):
            notes[name] = "{}: constant in the data, so nothing can be replaced."
    return title, f"{replaced}.", notes


def check_permutations(permutations: object) -> str | None:
    """Return why sampling weights are not taken; None for all pairs.

    Raises
    ------
    OptionError
        If this is not "auto", "all" or a number of at least 2.
    """
    if isinstance(permutations, str):
        check_choice("permutations", permutations, ("auto", "all"))
        return None
    if not is_count(permutations, 2):
        raise OptionError(
            '`permutations` must be "auto", "all" or a whole number of at least 2 (the Monte Carlo '
            f"error of one permutation is unknown), not {quote(permutations)}."
        )
    return 'weighted donors are those of all pairs of rows, `permutations="all"`'


@method("likelihood_pfi", importance=True)
def likelihood_importance(
    problem: Problem,
    features: Names | None = None,
    *,
    which_class: Any = None,
    permutations: Permutations = "auto",
    relation: Relation = "difference",
    sampler: Replacement = "marginal",
) -> Estimand:
    r"""Likelihood permutation feature importance.

    .. math:: PFI_L(j) = E[-\log q(Y | \tilde X_j, X_{-j})] - E[-\log q(Y | X)]

    where q is the predictive distribution: class probabilities, or what a regressor states
    (Wood et al. 2024, eqs 5 and 6). For classes it is the PFI for log loss.

    Parameters
    ----------
    {features}
    which_class : label, optional
        A class that is told from all others together; by default all classes jointly.
    {permutations}
    relation : {"difference", "ratio"}
        How the expected losses are compared; "ratio" for classes and counts only.
    {sampler}
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In nats; one term per feature.

    Raises
    ------
    PredictionError
        If the learner predicts neither a distribution nor class probabilities.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> labels = data.assign(high=data["progression"] > 140)
    >>> learner = pi.Learner.from_formula("high ~ bmi + bp", labels, LogisticRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).likelihood_pfi().params.round(3).to_dict()
    {'bmi': 0.191, 'bp': 0.052}
    """
    importance = _of_distribution(
        problem,
        features,
        negative_log_likelihood,
        which_class,
        permutations=permutations,
        relation=relation,
        sampler=sampler,
    )
    covered = importance.coverage == ("PFI",)
    return replace(importance, coverage=("likelihood-PFI",) if covered else ())


@method("entropy_pfi", refused={"sampler": NO_SAMPLER}, importance=True)
def entropy_importance(
    problem: Problem,
    features: Names | None = None,
    *,
    which_class: Any = None,
    permutations: Permutations = "auto",
    relation: Relation = "difference",
) -> Estimand:
    r"""Entropy permutation feature importance: how much a feature makes the model surer.

    .. math:: PFI_H(j) = E\{H[q(\cdot | \tilde X_j, X_{-j})]\} - E\{H[q(\cdot | X)]\}

    (Wood et al. 2024, section 3.2). No response is needed. It is 0 if the feature is
    independent of the others or unused, and above 0 if the model is surer where the feature
    agrees with the others.

    Parameters
    ----------
    {features}
    which_class : label, optional
        A class that is told from all others together; by default all classes jointly.
    {permutations}
    relation : {"difference", "ratio"}
        How the expected entropies are compared; "ratio" for classes and counts only.
    {rows}
    {by}
    {inference}

    Returns
    -------
    EstimandResults
        In nats; one term per feature.

    Raises
    ------
    PredictionError
        If the learner predicts neither a distribution nor class probabilities.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> labels = data.assign(high=data["progression"] > 140)
    >>> learner = pi.Learner.from_formula("high ~ bmi + bp", labels, LogisticRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).entropy_pfi().params.round(3).to_dict()
    {'bmi': 0.035, 'bp': 0.035}
    """
    importance = _of_distribution(
        problem,
        features,
        entropy,
        which_class,
        permutations=permutations,
        relation=relation,
        of_response=False,
    )
    predictor = problem.predictive
    likelihood = negative_log_likelihood(predictor, position_of(predictor, which_class))
    null = importance.parameter.null
    return replace(
        importance,
        words=replace(
            importance.words,
            details=importance.words.details[1:],
            notes=(
                f"Near {null:g}: the feature is independent of the others, or the model does not "
                f"use it; above {null:g}: the model is surer where it agrees with the others.",
            ),
        ),
        parameter=Parameter(null=null),
        coverage=("entropy-PFI",) if relation == "difference" else (),
        score=None if problem.sample.y is None else likelihood,
        predictions=None if predictor.distribution is None else "distribution",
    )


@method(
    "uncertainty", refused={"by": ONE_GROUP, "alternative": "it decides by two-sided intervals"}
)
def uncertainty(
    problem: Problem,
    features: Names | None = None,
    *,
    permutations: Permutations = "auto",
    sampler: SamplerLike = "conditional",
    alpha: float = 0.05,
) -> Mapping[str, Estimand]:
    """Likelihood-PFI, entropy-PFI and R²_j of every feature, and a decision from all three.

    Parameters
    ----------
    {features}
    {permutations}
    sampler : str, Sampler or mapping
        What learns R²_j.
    alpha : float
        Level of the intervals by which features are told apart.
    {rows}
    {inference}

    Returns
    -------
    UncertaintyResults
        With `decisions`: "informative and independent" if the interval of likelihood-PFI is
        above 0 and the interval of entropy-PFI contains 0; "informative and shared" if it
        does not; "redundant" if only entropy-PFI differs from 0; "unused" if
        neither; "undecided" if an interval is missing, or if the feature is informative and the
        model equally sure whatever its value. The rule is one of intervals: `simultaneous`
        makes them wider, most kinds of `p_adjust` do not.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> labels = data.assign(high=data["progression"] > 140)
    >>> learner = pi.Learner.from_formula("high ~ bmi + bp", labels, LogisticRegression())
    >>> learner.fit(pi.Holdout(0.7), seed=1).uncertainty().decisions.to_dict()
    {'bmi': 'informative and shared', 'bp': 'informative and shared'}
    """
    check_alpha(alpha)
    few: dict[str, Any] = {"features": features, "permutations": permutations}
    return side_by_side(
        problem,
        {
            "likelihood": partial(likelihood_importance, **few),
            "entropy": partial(entropy_importance, **few),
            "redundancy": partial(positivity, features=features, sampler=sampler),
        },
    )


def _of_distribution(
    problem: Problem,
    features: Names | None,
    loss: Callable[[Predictor, int | None], Loss],
    which_class: Any,
    *,
    relation: Relation,
    **options: Any,
) -> Estimand:
    """Return permutation importance by a loss of predictive distributions, in nats."""
    predictor = problem.predictive
    family = predictor.distribution
    based = "entropy" if loss is entropy else "likelihood"
    if relation == "ratio" and not (family is None or family.discrete):
        raise OptionError(
            "A ratio is not defined for densities, whose expected entropy or log loss may be "
            'negative; use `relation="difference"`.'
        )
    importance = permutation_importance(
        problem,
        features,
        loss=loss(predictor, position_of(predictor, which_class)),
        relation=relation,
        **options,
    )
    words, of_class = importance.words, () if which_class is None else (f"class {which_class}",)
    return replace(
        importance,
        words=replace(
            words,
            label=f"{words.label}_{'H' if loss is entropy else 'L'}",
            title=f"{based}-based {words.title}",
            quantity=f"{based}-{words.label}",
            unit="nats" if relation == "difference" else "",
            details=(*words.details, *of_class),
        ),
    )
