"""Predictive distributions: Normal, log-normal, gamma, Poisson and mixtures of Normals."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import special

from pyinterp._typing import BoolArray, FloatArray
from pyinterp.checks import check_count
from pyinterp.distributions.quadrature import NODES, WEIGHTS, entropies
from pyinterp.errors import LossError, PredictionError
from pyinterp.parallel import stop_if_over
from pyinterp.representation import call_form

HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
# Of a mean: rounding makes a standard deviation below it of 0.
ROUNDING = 4 * float(np.finfo(np.float64).eps)
# From here on the series of the entropy of Poisson is off by less than 1e-10 nats.
LARGE = 200.0
# Counts above mean + SPREAD * sd + MORE have probability below 1e-16.
SPREAD, MORE = 10.0, 30.0
# Means whose counts are added together.
BLOCK = 2**10
# Mixtures of one call of the kernel, which ends before Ctrl-C is heard.
MIXTURES = 2**14


class Distribution(ABC):
    """A family of densities q(y), or of probabilities of counts, with P parameters.

    Arrays of parameters have shape (..., P). A subclass is a frozen dataclass, so that equal
    families share results.

    Attributes
    ----------
    name : str
        Its name in messages and tables.
    discrete : bool
        Whether y is a count: then the entropy is not negative.
    support : str
        Possible values of y, in words.
    above : float
        Every y is larger than this.
    positive : tuple of int
        Positions of the parameters that must be larger than 0.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> class Exponential(pi.distributions.Distribution):
    ...     parameters = ("mean",)
    ...     range = (0, np.inf)
    ...     def mean(self, parameters):
    ...         return parameters[..., 0]
    ...     def log_density(self, y, parameters):
    ...         return -np.log(parameters[..., 0]) - y / parameters[..., 0]
    ...     def entropy(self, parameters):
    ...         return 1 + np.log(parameters[..., 0])
    >>> family, parameters = Exponential(), np.array([[2.0]])
    >>> family.entropy(parameters).round(3).tolist()
    [1.693]
    """

    name: str
    discrete: bool = False
    support: str = "numbers"
    above: float = -np.inf
    positive: tuple[int, ...] = ()

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """Names of the P parameters, in order."""

    @abstractmethod
    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log q(y), shape (...); `y` broadcasts against it.

        Examples
        --------
        >>> family.log_density(np.array(1.0), parameters).round(3).tolist()
        [-1.193]
        """

    @abstractmethod
    def entropy(self, parameters: FloatArray) -> FloatArray:
        r"""Return :math:`-\int q \log q`, for counts the sum, in nats; shape (...).

        Examples
        --------
        >>> family.entropy(parameters).round(3).tolist()
        [1.693]
        """

    @abstractmethod
    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return E(y), shape (...).

        Examples
        --------
        >>> family.mean(parameters).tolist()
        [2.0]
        """

    def check(self, parameters: FloatArray, who: str) -> None:
        """Raise ``PredictionError`` unless parameters, shape (n, P), make a distribution.

        Examples
        --------
        >>> family.check(np.array([[0.0, np.inf]]), "My learner")
        """
        for place in self.positive:
            smallest = parameters[..., place].min(initial=np.inf)
            if not smallest > 0:
                raise PredictionError(
                    f"The {self.parameters[place]} of a predictive distribution must be larger "
                    f"than 0, but {who} predicts {smallest:.6g} for some row; use a learner whose "
                    "predictions stay above 0, such as one with a log link."
                )

    def covers(self, y: FloatArray) -> BoolArray:
        """Return whether each of the responses is possible, in the shape of `y`.

        Examples
        --------
        >>> family.covers(np.array([1.0, 2.0])).tolist()
        [True, True]
        """
        return np.asarray(y > self.above)

    def check_response(self, y: FloatArray) -> None:
        """Raise ``LossError`` if some response is impossible.

        Examples
        --------
        >>> family.check_response(np.array([1.0, 2.0]))
        """
        impossible = y[~self.covers(y)]
        if impossible.size:
            raise LossError(
                f"The likelihood of a {self.name} distribution is that of {self.support}, but the "
                f"response has {impossible[0]:.6g}; use a learner that states a distribution of "
                "such numbers."
            )


def check_spread(means: FloatArray, sds: FloatArray, who: str) -> None:
    """Raise ``PredictionError`` unless standard deviations are larger than 0, and than rounding."""
    certain = ~(sds > ROUNDING * np.abs(means))
    if certain.any():
        raise PredictionError(
            "The standard deviation of a predictive distribution must be larger than 0, and than "
            f"the rounding of its mean, but {who} predicts {sds[certain].min():.6g} for some row. "
            "A response that is certain has no density; give the model noise, as WhiteKernel does "
            "for Gaussian processes."
        )


def log_normal_density(y: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Return log densities of Normals."""
    return np.asarray(-HALF_LOG_2PI - np.log(sd) - 0.5 * np.square((y - mean) / sd))


@dataclass(frozen=True)
class Normal(Distribution):
    r"""Normal, with mean and standard deviation.

    Its entropy is :math:`\tfrac12 \log(2 \pi e \sigma^2)`.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> family = pi.distributions.Normal()
    >>> parameters = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> family.mean(parameters).round(3).tolist()
    [0.0, 2.0]
    """

    name = "Normal"
    parameters = ("mean", "standard deviation")

    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log densities.

        Examples
        --------
        >>> family.log_density(np.array(1.0), parameters).round(3).tolist()
        [-1.419, -2.073]
        """
        return log_normal_density(y, parameters[..., 0], parameters[..., 1])

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies.

        Examples
        --------
        >>> family.entropy(parameters).round(3).tolist()
        [1.419, 2.518]
        """
        return np.asarray(HALF_LOG_2PI + 0.5 + np.log(parameters[..., 1]))

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means.

        Examples
        --------
        >>> family.mean(parameters).round(3).tolist()
        [0.0, 2.0]
        """
        return np.asarray(parameters[..., 0])

    def check(self, parameters: FloatArray, who: str) -> None:
        """Raise ``PredictionError`` unless all standard deviations are positive.

        Examples
        --------
        >>> family.check(np.array([[0.0, -1.0]]), "My learner")
        Traceback (most recent call last):
            ...
        pyinterp.errors.PredictionError: The standard deviation of a predictive distribution
        must be larger than 0, and than the rounding of its mean, but My learner predicts -1 for
        some row. A response that is certain has no density; give the model noise, as
        WhiteKernel does for Gaussian processes.
        """
        check_spread(parameters[..., 0], parameters[..., 1], who)


@dataclass(frozen=True)
class LogNormal(Distribution):
    """Log-normal, with the mean and the standard deviation of the logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> family = pi.distributions.LogNormal()
    >>> parameters = np.array([[0.0, 0.5]])
    >>> family.mean(parameters).round(3).tolist()
    [1.133]
    """

    name = "log-normal"
    support = "numbers larger than 0"
    above = 0.0
    parameters = ("mean of the logarithm", "standard deviation of the logarithm")
    positive = (1,)

    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log densities.

        Examples
        --------
        >>> family.log_density(np.array(1.0), parameters).round(3).tolist()
        [-0.226]
        """
        log = np.log(y)
        return np.asarray(Normal().log_density(log, parameters) - log)

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies.

        Examples
        --------
        >>> family.entropy(parameters).round(3).tolist()
        [0.726]
        """
        return np.asarray(Normal().entropy(parameters) + parameters[..., 0])

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means.

        Examples
        --------
        >>> family.mean(parameters).round(3).tolist()
        [1.133]
        """
        return np.asarray(np.exp(parameters[..., 0] + 0.5 * np.square(parameters[..., 1])))


@dataclass(frozen=True)
class Gamma(Distribution):
    """Gamma, with shape and scale.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> family = pi.distributions.Gamma()
    >>> parameters = np.array([[2.0, 0.5]])
    >>> family.mean(parameters).round(3).tolist()
    [1.0]
    """

    name = "gamma"
    support = "numbers larger than 0"
    above = 0.0
    parameters = ("shape", "scale")
    positive = (0, 1)

    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log densities.

        Examples
        --------
        >>> family.log_density(np.array(1.0), parameters).round(3).tolist()
        [-0.614]
        """
        shape, scale = parameters[..., 0], parameters[..., 1]
        return np.asarray(
            special.xlogy(shape - 1, y) - y / scale - special.gammaln(shape) - shape * np.log(scale)
        )

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies.

        Examples
        --------
        >>> family.entropy(parameters).round(3).tolist()
        [0.884]
        """
        shape, scale = parameters[..., 0], parameters[..., 1]
        rest = special.gammaln(shape) + (1 - shape) * special.digamma(shape)
        return np.asarray(shape + np.log(scale) + rest)

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means.

        Examples
        --------
        >>> family.mean(parameters).round(3).tolist()
        [1.0]
        """
        return np.asarray(parameters[..., 0] * parameters[..., 1])


@dataclass(frozen=True)
class Poisson(Distribution):
    """Poisson, with its mean.

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> family = pi.distributions.Poisson()
    >>> parameters = np.array([[2.0]])
    >>> family.mean(parameters).round(3).tolist()
    [2.0]
    """

    name = "Poisson"
    support = "counts 0, 1, 2, ..."
    discrete = True
    parameters = ("mean",)
    positive = (0,)

    def log_density(self, y: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return log probabilities.

        Examples
        --------
        >>> family.log_density(np.array(1.0), parameters).round(3).tolist()
        [-1.307]
        """
        mean = parameters[..., 0]
        return np.asarray(special.xlogy(y, mean) - mean - special.gammaln(y + 1))

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies: sums over counts, for large means the series of Stirling's formula.

        Examples
        --------
        >>> family.entropy(parameters).round(3).tolist()
        [1.705]
        """
        mean = parameters[..., 0]
        values, which = np.unique(mean, return_inverse=True)
        entropy = np.empty(len(values))
        large = values > LARGE
        m = values[large]
        entropy[large] = (
            0.5 * np.log(2 * np.pi * math.e * m) - 1 / (12 * m) - 1 / (24 * m**2)
            - 19 / (360 * m**3) - 9 / (80 * m**4)
        )  # fmt: skip
        few = np.count_nonzero(~large)  # values are sorted
        for start in range(0, few, BLOCK):
            part = slice(start, min(start + BLOCK, few))
            most = values[part][-1]
            counts = np.arange(most + SPREAD * np.sqrt(most) + MORE)
            log = self.log_density(counts, values[part, None, None])
            entropy[part] = -(np.exp(log) * log).sum(axis=-1)
        return np.asarray(entropy[which.reshape(mean.shape)])

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means.

        Examples
        --------
        >>> family.mean(parameters).round(3).tolist()
        [2.0]
        """
        return np.asarray(parameters[..., 0])

    def covers(self, y: FloatArray) -> BoolArray:
        """Return whether responses are counts.

        Examples
        --------
        >>> family.covers(np.array([1.0, 1.5])).tolist()
        [True, False]
        """
        return np.asarray((y >= 0) & (y == np.floor(y)))


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

    Examples
    --------
    >>> import numpy as np
    >>> import pyinterp as pi
    >>> family = pi.distributions.NormalMixture(2)
    >>> parameters = np.array([[0.0, 2.0, 1.0, 1.0]])
    >>> family.mean(parameters).round(3).tolist()
    [1.0]
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
        """Return log densities.

        Examples
        --------
        >>> family.log_density(np.array(1.0), parameters).round(3).tolist()
        [-1.419]
        """
        means, sds = parameters[..., : self.components], parameters[..., self.components :]
        each = log_normal_density(np.asarray(y)[..., None], means, sds)
        top = each.max(axis=-1, keepdims=True)
        total = np.log(np.exp(each - top).mean(axis=-1))
        return np.asarray(total + top[..., 0])

    def entropy(self, parameters: FloatArray) -> FloatArray:
        """Return entropies.

        Examples
        --------
        >>> family.entropy(parameters).round(3).tolist()
        [1.756]
        """
        flat = np.ascontiguousarray(parameters.reshape(-1, 2 * self.components))
        entropy = np.empty(len(flat))
        for start in range(0, len(flat), MIXTURES):
            stop_if_over()
            part = slice(start, start + MIXTURES)
            entropies(flat[part], self.components, NODES, WEIGHTS, entropy[part])
        return entropy.reshape(parameters.shape[:-1])

    def mean(self, parameters: FloatArray) -> FloatArray:
        """Return means.

        Examples
        --------
        >>> family.mean(parameters).round(3).tolist()
        [1.0]
        """
        return np.asarray(parameters[..., : self.components].mean(axis=-1))

    def check(self, parameters: FloatArray, who: str) -> None:
        """Raise ``PredictionError`` unless all standard deviations are positive.

        Examples
        --------
        >>> family.check(np.array([[0.0, 2.0, 1.0, -1.0]]), "My learner")
        Traceback (most recent call last):
            ...
        pyinterp.errors.PredictionError: The standard deviation of a predictive distribution
        must be larger than 0, and than the rounding of its mean, but My learner predicts -1 for
        some row. A response that is certain has no density; give the model noise, as
        WhiteKernel does for Gaussian processes.
        """
        check_spread(parameters[..., : self.components], parameters[..., self.components :], who)
