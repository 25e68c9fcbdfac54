"""What is analyzed of predictions: a scale, and one class or several."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.scales import Scale, UsedScale, classes_of, rescale, scale_of
from pyinterp.models.predictor import Predictor

__all__ = ["Outputs"]


class Outputs(NamedTuple):
    """The numbers per prediction that a curve is about.

    Attributes
    ----------
    labels : tuple
        The classes; (None,) for means.
    positions : tuple of int
        Their positions in the predictions; (-1,) for means.
    scale : Scale or "mean"
    """

    labels: tuple[Any, ...]
    positions: tuple[int, ...]
    scale: UsedScale

    @classmethod
    def of(
        cls, predictor: Predictor, scale: Scale | None, which_class: Any, *, rates: bool = False
    ) -> Outputs:
        """Return what options ask for, checked against the kind of predictions.

        Only estimands that set the offset have `rates`.
        """
        used = scale_of(predictor, scale)
        if used == "rate" and not rates:
            raise OptionError('`scale="rate"` is an option of `pd` alone.')
        labels, positions = zip(*classes_of(predictor, which_class, used), strict=True)
        return cls(labels, positions, used)

    def values(self, predictions: FloatArray) -> FloatArray:
        """Return predictions, shape (n, ...) or (n, ..., classes), as shape (outputs, n, ...)."""
        return np.asarray(rescale(predictions, self.positions, self.scale))
