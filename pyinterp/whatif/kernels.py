"""Exact what-if predictions of kernel machines, whose kernels are sums of products over columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebpts2, chebvander
from scipy import fft, linalg, special
from scipy.spatial.distance import cdist

from pyinterp._typing import FloatArray, IntArray, TwoArrays
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.models.links import only_sum, shift
from pyinterp.models.predictor import Kind
from pyinterp.whatif.smooth_sums import in_cache, line_of
from pyinterp.whatif.whatif import (
    MOST_TABLE_ROWS,
    NO_COLUMNS,
    NO_VALUES,
    PAIRS,
    PREDICTIONS,
    ExactWhatIf,
)

# What becomes of numbers before they are multiplied: nothing, or their sizes.
Of = Callable[[Any], Any]
# What a factor may deviate by between nodes, and the least of a polynomial's coefficients, in units
# of its largest.
TOLERANCE, LAST = 3e-14, 1e-15
# Nodes number at most half of this degree; their number is chosen by so many values of support.
DEGREE, PROBES = 192, 33
# Rounding units of a term and its sum.
UNITS = 4
# Products of kernels and coefficients that are worth an exact mean.
PRODUCTS = 1e10


@dataclass(frozen=True)
class Term:
    """A kernel k(x, s): scale * exp(-sum_j rates_j (x_j - s_j)^2) times powers.

    Attributes
    ----------
    rates : ndarray of shape (columns,)
    scale : float
        Not negative.
    powers : tuple of (float, float, int)
        Each is (gamma, constant, degree), of (gamma * x @ s + constant)^degree.
    """

    rates: FloatArray
    scale: float = 1.0
    powers: tuple[tuple[float, float, int], ...] = ()

    def __mul__(self, other: Term) -> Term:
        rates, powers = self.rates + other.rates, self.powers + other.powers
        return Term(rates, self.scale * other.scale, powers)

    def factors(
        self, x: FloatArray, s: FloatArray, columns: IntArray, of: Of, *, kept: bool
    ) -> list[FloatArray]:
        """Return factors of some columns: times those of all others they add up to k / scale.

        Constants are among the factors of `kept` columns. Powers of sums of both are expanded.
        """
        s, root = s[:, columns], np.sqrt(self.rates[columns])
        center = s.mean(axis=0)  # offsets would cost digits
        square = cdist((x - center) * root, (s - center) * root, "sqeuclidean")
        found = [np.exp(np.negative(square, out=square), out=square)]
        for gamma, constant, degree in self.powers:
            inner = of(gamma * x) @ of(s).T + (of(constant) if kept else 0.0)
            powers = list(accumulate([inner] * degree, np.multiply, initial=np.ones_like(inner)))
            if kept:
                powers = [special.comb(degree, q) * power for q, power in enumerate(powers)][::-1]
            found = [factor * power for factor in found for power in powers]
        return found


@dataclass(frozen=True)
class KernelModel:
    """f(x) = intercept + sum of k(x, support) @ coefficients over the terms k of a kernel.

    Attributes
    ----------
    terms : list of Term
    support : ndarray of shape (support, columns)
        Rows of the fit.
    coefficients : ndarray of shape (support,)
    intercept : float
    """

    terms: list[Term]
    support: FloatArray
    coefficients: FloatArray
    intercept: float

    def kernel_sums(
        self, rows: FloatArray, columns: IntArray, values: FloatArray, of: Of = np.asarray
    ) -> FloatArray:
        """Return sums of rows with every donor's values in some columns, shape (n, donors).

        With ``of=np.abs`` the terms of sums lose their signs.
        """
        if len(values) > MOST_TABLE_ROWS:
            parts = np.array_split(values, -(-len(values) // MOST_TABLE_ROWS))
            return np.concatenate([self.kernel_sums(rows, columns, p, of) for p in parts], axis=-1)
        kept = np.setdiff1d(np.arange(rows.shape[1]), columns)
        sums = np.full((len(rows), len(values)), of(self.intercept))
        for term in self.terms:
            weights = term.scale * of(self.coefficients)
            of_values = term.factors(values, self.support, columns, of, kept=False)
            rights = [(weights * factor).T for factor in of_values]
            for part in in_cache(np.arange(len(rows)), len(self.support)):
                lefts = term.factors(rows[part][:, kept], self.support, kept, of, kept=True)
                for left, right in zip(lefts, rights, strict=True):
                    if right.any():
                        sums[part] += left @ right
        return sums

    def nodes(self, column: IntArray, values: FloatArray) -> TwoArrays | None:
        """Return a few values of a column, and weights by which their sums tell all others'.

        Factors of the kernel are interpolated by polynomials in Chebyshev's points [1]_. None if
        these have many degrees, or are not the factors at every donor, as with one far off.

        References
        ----------
        .. [1] Trefethen, L. N. (2013). Approximation Theory and Approximation Practice, chapters 3
           and 8. SIAM.
        """
        if values.shape[1] != 1 or len(values) < PROBES or (line := line_of(values)) is None:
            return None
        middle, half, place = line
        support, probes = self.support[:, column[0]], np.zeros((PROBES, self.support.shape[1]))
        probes[:, column[0]] = np.linspace(support.min(), support.max(), PROBES)

        def factors(at: FloatArray) -> FloatArray:
            found = (
                term.factors(at, probes, column, np.asarray, kept=False) for term in self.terms
            )
            return np.hstack([factor for factors in found for factor in factors])

        at = middle + half * chebpts2(DEGREE + 1)[:, None]
        size = np.abs(fft.dct(factors(at), type=1, axis=0)) / DEGREE
        most = size.max(axis=0)
        degree = max([1, *np.flatnonzero((size > LAST * most).any(axis=1))])
        if 2 * degree > min(len(values), DEGREE):
            return None
        points = chebpts2(degree + 1)
        nodes = middle + half * points[:, None]
        weights = linalg.solve(chebvander(points, degree).T, chebvander(place, degree).T).T
        off = np.abs(weights @ factors(nodes) - factors(values))
        return (nodes, weights) if (off <= TOLERANCE * most).all() else None


def read_kernel(model: Any, kind: Kind) -> KernelModel | None:
    """Return the parts of a kernel machine of scikit-learn; None for other models."""
    names = {base.__name__ for base in type(model).__mro__}
    if kind != "mean":
        return None
    # Raises for another kernel, sparse rows, several responses, or if it is not fitted.
    if names & {"SVR", "NuSVR"}:
        support, coefficients = model.support_vectors_, model.dual_coef_
        terms, intercept = _terms(model), model.intercept_
    elif "KernelRidge" in names:
        support, coefficients = model.X_fit_, model.dual_coef_
        terms, intercept = _terms(model), 0.0
    elif "GaussianProcessRegressor" in names:
        terms = _terms_of_process(model.kernel_, np.zeros(model.n_features_in_))
        coefficients = model.alpha_ * model._y_train_std
        support, intercept = model.X_train_, model._y_train_mean
    else:
        return None
    support, intercept = np.asarray(support, np.float64), np.ravel(intercept)
    coefficients = np.reshape(coefficients, len(support))
    (constant,) = intercept
    if not terms or not len(support):  # a constant
        return None
    return KernelModel(terms, support, coefficients, constant)


def _terms(model: Any) -> list[Term]:
    """Return the terms of a kernel that has a name; KeyError if it is no sum of products."""
    name, gamma, none = model.kernel, model.gamma, np.zeros(model.n_features_in_)
    gamma = 1 / len(none) if gamma is None else getattr(model, "_gamma", gamma)
    if name == "rbf":
        return [Term(none + gamma)]
    if name == "linear":
        return [Term(none, powers=((1.0, 0.0, 1),))]
    if name in ("poly", "polynomial") and model.degree % 1 == 0:
        return [Term(none, powers=((gamma, model.coef0, int(model.degree)),))]
    raise KeyError(name)


def _terms_of_process(kernel: Any, none: FloatArray) -> list[Term]:
    """Return the terms of a Gaussian process's kernel; KeyError if it is no sum of products."""
    name = type(kernel).__name__
    if name in ("Sum", "Product"):
        left, right = _terms_of_process(kernel.k1, none), _terms_of_process(kernel.k2, none)
        return left + right if name == "Sum" else [a * b for a in left for b in right]
    makers: dict[str, Callable[[], list[Term]]] = {
        "ConstantKernel": lambda: [Term(none, kernel.constant_value)],
        "RBF": lambda: [Term(none + 0.5 / np.square(kernel.length_scale))],
        "DotProduct": lambda: [Term(none, powers=((1.0, kernel.sigma_0**2, 1),))],
        "WhiteKernel": list,  # 0 between new rows and those of the fit
    }
    return makers[name]()


class KernelWhatIf(ExactWhatIf):
    """What-if predictions of a kernel machine: factors of kept columns times those of others."""

    name = "kernel"
    model: KernelModel

    read = staticmethod(read_kernel)

    def table(self, rows: FloatArray, columns: IntArray, values: FloatArray) -> FloatArray:
        """Predict every row with the values of every donor in some columns."""
        found = self.model.nodes(columns, values)
        sums = self.model.kernel_sums(rows, columns, values if found is None else found[0])
        if found is not None:
            sums = np.tensordot(sums, found[1], (1, 1))
        return sums

    def most_draws(self, columns: IntArray, values: FloatArray) -> float:
        """Return how many draws are worth predicting: they cost as much as the model's own."""
        return PREDICTIONS

    def most_pairs(self, loss: Loss, columns: IntArray, values: FloatArray) -> float:
        """Return how many pairs are worth an exact mean: no bound for sums without predictions."""
        few = min(PAIRS, PRODUCTS / len(self.model.support))
        pairs = len(self.inputs.rows) * len(values)
        # From a few nodes, between which kernels are interpolated, sums over all donors follow.
        if pairs <= few or self.model.nodes(columns, values) is None:
            return few
        return np.inf if loss == LOSSES["squared"] else PAIRS

    def summed_losses(
        self, y: FloatArray, loss: Loss, columns: IntArray, values: FloatArray, counts: IntArray
    ) -> TwoArrays | None:
        """Sum losses over donors and over rows; None if they must be added up one by one."""
        found = self.model.nodes(columns, values) if loss == LOSSES["squared"] else None
        if found is None:
            return None
        nodes, weights = found
        # Weights of nodes add up to 1, so errors at nodes add up to errors at donors.
        errors = y[:, None] - self.model.kernel_sums(self.inputs.rows, columns, nodes)
        return _squares(errors, weights, counts), _squares(weights, errors, np.ones(len(y)))

    def predictions_with_rounding(self, whatif: FloatArray) -> TwoArrays:
        """Return predictions of the engine's rows, then of what-if rows, and their rounding.

        Every term of a sum has an error of few rounding units. Partial sums of terms of both signs
        are so small that rounding them adds no more.
        """
        rows, model = np.concatenate([self.inputs.rows, whatif]), self.model
        with np.errstate(all="ignore"):  # what overflows is refused
            sums = model.kernel_sums(rows, NO_COLUMNS, NO_VALUES)
            size = model.kernel_sums(rows, NO_COLUMNS, NO_VALUES, np.abs)
            return sums[:, 0], shift(
                only_sum, sums, sums[:, 0], UNITS * np.finfo(np.float64).eps * size
            )


def _squares(left: FloatArray, right: FloatArray, counts: FloatArray | IntArray) -> FloatArray:
    """Return sums of (left @ right.T)^2 over its columns, each of which stands for `counts`."""
    triangle = linalg.qr(right * np.sqrt(counts)[:, None], mode="r")[0][: right.shape[1]]
    sums = left @ triangle.T
    return np.asarray(np.einsum("ij,ij->i", sums, sums))
