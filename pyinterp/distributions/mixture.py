"""Equal-weight mixtures of Normals: deep ensembles, draws of a posterior, forests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyinterp._typing import FloatArray
from pyinterp.checks import check_count
from pyinterp.distributions.distribution import Distribution
from pyinterp.distributions.families import check_spread, log_normal_density
from pyinterp.distributions.quadrature import NODES, WEIGHTS, entropies
from pyinterp.parallel import go_on
from pyinterp.representation import call_form

__all__ = ["NormalMixture"]

# Rows of one call of the kernel, which ends before Ctrl-C is heard.
BLOCK = 2**14


@dataclass(frozen=True)
class NormalMixture(Distribution):
    r"""Mixture of M Normals with equal weights.

    .. math:: q(y) = \frac1M \sum_m N(y; \mu_m, \sigma_m)

    Its parameters are the M means, then the M standard deviations. The entropy, which has no closed
    form, is found by quadrature, with an error below 1e-6 nats.

    Parameters
    ----------
    components : int
        M.
    """

    components: int
    name = "Normal mixture"

    __repr__ = call_form

    def __post_init__(self) -> None:
        check_count("components", self.components)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        numbers = range(1, self.components + 1)
        return tuple(f"{name} {m}" for name in ("mean", "standard deviation") for m in numbers)

    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log densities."""
        means, sds = parameters[..., : self.components], parameters[..., self.components :]
        each = log_normal_density(np.asarray(y)[..., None], means, sds)
        top = each.max(axis=-1, keepdims=True)
        total = np.log(np.exp(each - top).mean(axis=-1))
        return np.asarray(total + top[..., 0])

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies."""
        flat = np.ascontiguousarray(parameters.reshape(-1, 2 * self.components))
        entropy = np.empty(len(flat))
        for start in range(0, len(flat), BLOCK):
            go_on()
            part = slice(start, start + BLOCK)
            entropies(flat[part], self.components, NODES, WEIGHTS, entropy[part])
        return entropy.reshape(parameters.shape[:-1])

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means."""
        return np.asarray(parameters[..., : self.components].mean(axis=-1))

    def check(self, parameters: FloatArray, who: str) -> None:
        """Raise `PredictionError` unless all standard deviations are positive."""
        check_spread(parameters[..., : self.components], parameters[..., self.components :], who)
