"""Several importances of the same features side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.metrics import get_scorer_names

from pyinterp.checks import is_list
from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.estimands.estimand import Estimand, Problem
from pyinterp.estimands.importance.losses import Permutations
from pyinterp.estimands.importance.metric_importance import pfi
from pyinterp.estimands.importance.native import native_importance
from pyinterp.estimands.population import reading_of
from pyinterp.estimands.questions import ONE_GROUP, Question, method, methods, side_by_side
from pyinterp.losses.metrics import METRICS
from pyinterp.losses.rowwise import LOSSES, choose
from pyinterp.samplers import SamplerLike, check_names, check_sampler

BY_SQUARES = ("mvim", "cvim", "amvim")
OF_POPULATION = {"population": "population"}


@method("importance", refused={"by": ONE_GROUP})
def importance(
    problem: Problem,
    measures: str | Question | Sequence[str | Question] | None = None,
    features: str | Sequence[str] | None = None,
    *,
    permutations: Permutations = "auto",
    sampler: SamplerLike = "conditional",
) -> Mapping[str, Estimand]:
    """Return several importances of the same features side by side.

    Parameters
    ----------
    measures : str or sequence of str, optional
        "pfi", "mvim", "cvim", "amvim", "loco", "firm", "likelihood_pfi", "entropy_pfi", which
        are names of methods; "conditional_pfi", the PFI given the other features under the
        learner's loss; "native", what the fitted model reports (`native_importance`);
        "population", the share of V(y) that is lost without the feature in nature, with the P
        that it is relevant (`population`); or the
        name of a metric such as "rmse", "r2" or "roc_auc", for the PFI by that metric. All have
        default options. By default "mvim", "cvim" and "amvim" if the learner's loss is squared
        error, else "pfi" and "conditional_pfi". MVIM, CVIM and AMVIM are by squared loss
        always; beside another loss their columns say so. A feature that a measure has no value
        for, such as a category among coefficients, has none in its column.
    {features}
    {permutations}
    {sampler}
    {rows}
    {inference}

    Returns
    -------
    ImportanceResults

    Raises
    ------
    OptionError
        If there is no such measure, or the fit can't have it: a `FittedModel` no LOCO, and not
        every model reports an importance.

    Examples
    --------
    >>> res.importance(["mvim", "cvim"], ["bmi", "bp"]).params.round()
            mvim    cvim
    term
    bmi   2725.0  2342.0
    bp     780.0   626.0
    """
    if measures is None:
        squared = choose(None, problem.predictor, problem.response) is LOSSES["squared"]
        measures = BY_SQUARES if squared else ("pfi", "conditional_pfi")
    several: list[Any] = list(measures) if is_list(measures) else [measures]
    if not several or not all(isinstance(one, str | Question) for one in several):
        raise OptionError(
            "`measures` must name at least one measure, by names or questions such as "
            f'`["pfi", "cvim"]`, not {quote(measures)}.'
        )
    check_sampler(sampler)
    check_names(sampler, problem.choose(features))
    if isinstance(sampler, Mapping):  # of `pfi` the others are marginal
        sampler = {**dict.fromkeys(problem.choose(features), "conditional"), **sampler}
    options = {"features": features, "permutations": permutations, "sampler": sampler}
    return side_by_side(problem, {str(one): _measure(one, options) for one in several})


def measures() -> dict[str, str]:
    """Return the names that `importance` takes, but for metrics, with their methods."""
    names = {name: name for name, one in methods().items() if one.importance}
    return {**names, "conditional_pfi": "pfi", "native": "native_importance", **OF_POPULATION}


def _measure(measure: str | Question, options: Mapping[str, Any]) -> Callable[[Problem], Estimand]:
    """Return the function of a measure; `OptionError` if there is none."""
    if isinstance(measure, Question):
        return partial(_only, measure)
    few = {name: options[name] for name in ("features", "permutations")}
    others: dict[str, Callable[[Problem], Estimand]] = {
        "conditional_pfi": partial(_conditional, **options),
        "native": native_importance,
        "population": partial(
            reading_of, features=options["features"], sampler=options["sampler"], read="relevance"
        ),
    }
    if measure in others:
        return others[measure]
    if measure in measures():
        one = methods()[measure]
        # Where draws are of the marginal distribution by default, they are here.
        taken = {n for n, p in one.signature.parameters.items() if p.default != "marginal"}
        return partial(one.function, **{n: o for n, o in options.items() if n in taken})
    metrics = [*METRICS, *get_scorer_names()]
    if measure not in metrics:
        raise OptionError(
            f"`measures` must be among {list_of(measures(), most=20)}, or metrics: "
            f"{list_of(METRICS, most=20, limit=300)} or the name of a scorer of "
            f"scikit-learn; got {quote(measure)}." + did_you_mean(measure, [*measures(), *metrics])
        )
    return partial(pfi, metric=measure, **few)


def _only(question: Question, problem: Problem) -> Estimand:
    """Return the only estimand of a question."""
    made = question.of(problem)
    if len(made) > 1 or question.rows is not None or question.by is not None:
        raise OptionError(
            "A measure must be one estimand, whose rows are those of `importance`, not "
            f"{quote(question)}."
        )
    (one,) = made.values()
    return one


def _conditional(problem: Problem, **options: Any) -> Estimand:
    """Return the PFI given the other features, which its column says."""
    one = pfi(problem, **options)
    return replace(one, words=replace(one.words, label="PFI given the others"))
