"""Measures of importance with one value per feature, by the names that ``importance()`` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from sklearn.metrics import get_scorer_names

from pyinterp.errors import OptionError, did_you_mean, list_of, quote
from pyinterp.learner.effects import Effects
from pyinterp.learner.fitted_models import FittedModels
from pyinterp.learner.importances import Importances
from pyinterp.learner.uncertainties import Uncertainties
from pyinterp.losses.metrics import METRICS
from pyinterp.results.results import EstimandResults

__all__ = ["MEASURES", "Measure", "measures_of"]


class Measure(NamedTuple):
    """A method that measures importance, and which options of ``importance()`` it takes."""

    method: Callable[..., EstimandResults]
    options: tuple[str, ...]

    def of(self, models: FittedModels, options: Mapping[str, Any], **inference: Any) -> Any:
        """Return the importance, by the options that the method takes."""
        return self.method(models, **{name: options[name] for name in self.options}, **inference)


BY_PERMUTATION = ("features", "permutations")
MEASURES = {
    "pfi": Measure(Importances.pfi, BY_PERMUTATION),
    "mvim": Measure(Importances.mvim, BY_PERMUTATION),
    "cvim": Measure(Importances.cvim, (*BY_PERMUTATION, "sampler")),
    "amvim": Measure(Importances.amvim, (*BY_PERMUTATION, "sampler")),
    "loco": Measure(Importances.loco, ("features",)),
    "firm": Measure(Effects.firm, ("features",)),
    "likelihood_pfi": Measure(Uncertainties.likelihood_pfi, BY_PERMUTATION),
    "entropy_pfi": Measure(Uncertainties.entropy_pfi, BY_PERMUTATION),
    "native": Measure(Importances.native_importance, ()),
}


def measures_of(names: Sequence[str]) -> dict[str, Measure]:
    """Return measures by their names; the name of a metric is the PFI by that metric.

    Raises
    ------
    OptionError
        If there is no name, or one that is of no measure and of no metric.
    """
    if not names:
        raise OptionError("`measures` must name at least one measure.")
    metrics = [*METRICS, *get_scorer_names()]
    for name in names:
        if name not in MEASURES and name not in metrics:
            raise OptionError(
                f"`measures` must be among {list_of(MEASURES, most=20)}, or metrics: "
                f"{list_of(METRICS, most=20, limit=300)} or the name of a scorer of scikit-learn; "
                f"got {quote(name)}." + did_you_mean(name, [*MEASURES, *metrics])
            )
    return {
        name: MEASURES.get(name) or Measure(partial(Importances.pfi, metric=name), BY_PERMUTATION)
        for name in names
    }
