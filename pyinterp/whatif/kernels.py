"""Exact what-if predictions of kernel machines, whose kernels are sums of products over columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.polynomial.chebyshev import chebpts2, chebvander
from scipy import fft, linalg, special
from scipy.spatial.distance import cdist
from sklearn.calibration import CalibratedClassifierCV

from pyinterp._typing import FloatArray, IntArray
from pyinterp.losses.rowwise import LOSSES, Loss
from pyinterp.models.links import Link, first, largest, shift
from pyinterp.models.predictor import Kind
from pyinterp.whatif.calibration import mean_link, members
from pyinterp.whatif.inputs import Before, Inputs, in_turn
from pyinterp.whatif.smooth_sums import in_cache, line_of
from pyinterp.whatif.walks.coupling import couple
from pyinterp.whatif.whatif import (
    MOST_TABLE_ROWS,
    NO_COLUMNS,
    NO_VALUES,
    PAIRS,
    PREDICTIONS,
    ExactWhatIf,
)

# What becomes of numbers before they are multiplied: nothing, or their sizes.
Of: TypeAlias = Callable[[Any], Any]
# What a factor may deviate by between nodes, and the least of a polynomial's coefficients, in units
# of its largest.
TOLERANCE, LAST = 3e-14, 1e-15
# Nodes number at most half of this degree; their number is chosen by so many values of support.
DEGREE, PROBES = 192, 33
# Rounding units of a term and its sum.
UNITS = 4
# Products of kernels and coefficients that are worth an exact mean.
PRODUCTS = 1e10
# Probabilities of pairs of classes are at least this, as in libsvm.
LEAST = 1e-7


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
    """f(x) = link(intercept + sum of k(x, support) @ coefficients over the terms k of a kernel).

    Attributes
    ----------
    terms : list of Term
    support : ndarray of shape (support, columns)
        Rows of the fit.
    coefficients : ndarray of shape (support, outputs)
    intercept : ndarray of shape (outputs,)
    link : callable
        From sums, shape (..., outputs), to predictions, shape (...) or (..., classes).
    before : callable or None
        What the model itself makes of rows.
    """

    terms: list[Term]
    support: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    link: Link
    before: Before | None = None

    def sums(
        self, rows: FloatArray, columns: IntArray, values: FloatArray, of: Of = np.asarray
    ) -> FloatArray:
        """Return sums of rows with every donor's values in some columns, (n, outputs, donors).

        With ``of=np.abs`` the terms of sums lose their signs.
        """
        if len(values) > MOST_TABLE_ROWS:
            parts = np.array_split(values, -(-len(values) // MOST_TABLE_ROWS))
            return np.concatenate([self.sums(rows, columns, p, of) for p in parts], axis=-1)
        kept = np.setdiff1d(np.arange(rows.shape[1]), columns)
        sums = np.tile(np.repeat(of(self.intercept), len(values)), (len(rows), 1))
        for term in self.terms:
            weights = term.scale * of(self.coefficients).T[:, None]
            of_values = term.factors(values, self.support, columns, of, kept=False)
            rights = [(weights * factor).reshape(-1, len(self.support)).T for factor in of_values]
            for part in in_cache(np.arange(len(rows)), len(self.support)):
                lefts = term.factors(rows[part][:, kept], self.support, kept, of, kept=True)
                for left, right in zip(lefts, rights, strict=True):
                    if right.any():
                        sums[part] += left @ right
        return sums.reshape(len(rows), -1, len(values))

    def nodes(self, column: IntArray, values: FloatArray) -> tuple[FloatArray, FloatArray] | None:
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
    """Return what a kernel machine of scikit-learn is computed from; None for other models."""
    names = {base.__name__ for base in type(model).__mro__}
    if isinstance(model, CalibratedClassifierCV):
        return _read_calibration(model) if kind == "probability" else None
    try:
        if names & {"SVC", "NuSVC"}:
            return _read_classifier(model, kind)
        if kind == "mean" and names & {"SVR", "NuSVR"}:
            support, coefficients = model.support_vectors_, model.dual_coef_.T
            return _model(_terms(model), support, coefficients, model.intercept_)
        if kind == "mean" and "KernelRidge" in names:
            return _model(_terms(model), model.X_fit_, model.dual_coef_, 0.0)
        if kind == "mean" and "GaussianProcessRegressor" in names:
            terms = _terms_of_process(model.kernel_, np.zeros(model.n_features_in_))
            coefficients = model.alpha_ * model._y_train_std
            return _model(terms, model.X_train_, coefficients, model._y_train_mean)
    except (AttributeError, KeyError, TypeError, ValueError):
        pass  # another kernel, sparse rows, several outputs, or not fitted
    return None


def _read_calibration(model: CalibratedClassifierCV) -> KernelModel | None:
    """Return the machine in a calibrated one, if it is one of two classes (``ensemble=False``)."""
    inside = members(model)
    if len(inside) != 1 or not inside[0].scores or len(model.classes_) != 2:
        return None
    found = read_kernel(inside[0].last.model, "label")
    if found is None:
        return None
    return replace(
        found,
        coefficients=-found.coefficients,  # scores are of the second class
        intercept=-found.intercept,
        link=mean_link([first], inside),
        before=inside[0].last.before,
    )


def _read_classifier(model: Any, kind: Kind) -> KernelModel | None:
    """Return what the decisions between all pairs of classes are computed from."""
    classes = len(model.classes_)
    one, other = np.triu_indices(classes, 1)
    if kind == "label" and model.break_ties and classes > 2:
        return None
    link = _votes(one, other) if kind == "label" else _platt(model._probA, model._probB, classes)
    of_class, dual = np.repeat(np.arange(classes), model.n_support_)[:, None], model._dual_coef_
    coefficients = (of_class == one) * dual[other - 1].T + (of_class == other) * dual[one].T
    return _model(_terms(model), model.support_vectors_, coefficients, model._intercept_, link)


def _model(
    terms: list[Term], support: Any, coefficients: Any, intercept: Any, link: Link = first
) -> KernelModel | None:
    """Return a model of numbers in shape; None if it predicts a constant, or several responses."""
    support, intercept = np.asarray(support, dtype=np.float64), np.ravel(intercept)
    coefficients = np.reshape(coefficients, (len(support), len(intercept)))
    several = link is first and len(intercept) > 1
    if several or not terms or not len(support):
        return None
    return KernelModel(terms, support, coefficients, intercept, link)


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


def _votes(one: IntArray, other: IntArray) -> Link:
    """Return the link from decisions between pairs of classes to the class of most votes."""
    classes = np.eye(int(other.max()) + 1)

    def labels(sums: FloatArray) -> FloatArray:
        return largest(np.where(sums[..., None] > 0, classes[one], classes[other]).sum(axis=-2))

    return labels


def _platt(slope: FloatArray, intercept: FloatArray, classes: int) -> Link:
    """Return the link from decisions between pairs of classes to probabilities, as libsvm's."""

    def probabilities(sums: FloatArray) -> FloatArray:
        p = special.expit(-(slope * sums + intercept)).clip(LEAST, 1 - LEAST)
        out = np.empty((*p.shape[:-1], classes))
        couple(np.ascontiguousarray(p).reshape(-1, len(slope)), out.reshape(-1, classes))
        return out

    return probabilities


class KernelWhatIf(ExactWhatIf):
    """What-if predictions of a kernel machine: factors of kept columns times those of others."""

    name = "kernel"
    model: KernelModel

    read = staticmethod(read_kernel)

    def encode(self, before: Before | None) -> Inputs:
        """Return the rows of which the kernel is computed."""
        before = in_turn(before, self.model.before)
        return Inputs(design=self.design, sample=self.sample, before=before)

    def table(self, rows: FloatArray, columns: IntArray, values: FloatArray) -> FloatArray:
        """Predict every row with the values of every donor in some columns."""
        found = self.model.nodes(columns, values)
        sums = self.model.sums(rows, columns, values if found is None else found[0])
        if found is not None:
            sums = np.tensordot(sums, found[1], (2, 1))
        return self.model.link(np.moveaxis(sums, 1, -1))

    def most_draws(self, columns: IntArray, values: FloatArray) -> float:
        """Return how many draws are worth predicting: they cost as much as the model's own."""
        return PREDICTIONS

    def most_pairs(self, loss: Loss, columns: IntArray, values: FloatArray) -> float:
        """Return how many pairs are worth an exact mean: no bound for sums without predictions."""
        few = min(PAIRS, PRODUCTS / len(self.model.support))
        pairs = len(self.inputs.rows) * len(values)
        if pairs <= few or self.model.nodes(columns, values) is None:
            return few
        return np.inf if loss == LOSSES["squared"] and self.model.link is first else PAIRS

    def summed_losses(
        self, y: FloatArray, loss: Loss, columns: IntArray, values: FloatArray, counts: IntArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """Sum losses over donors and over rows; None if they must be added up one by one."""
        if loss != LOSSES["squared"] or self.model.link is not first:
            return None
        found = self.model.nodes(columns, values)
        if found is None:
            return None
        nodes, weights = found
        # Weights of nodes add up to 1, so errors at nodes add up to errors at donors.
        errors = y[:, None] - self.model.sums(self.inputs.rows, columns, nodes)[:, 0]
        return _squares(errors, weights, counts), _squares(weights, errors, np.ones(len(y)))

    def compute(self, whatif: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return predictions of the engine's rows, then of what-if rows, and their rounding.

        Every term of a sum has an error of few rounding units. Partial sums of terms of both signs
        are so small that rounding them adds no more.
        """
        rows, model = np.concatenate([self.inputs.rows, whatif]), self.model
        with np.errstate(all="ignore"):  # what overflows is refused
            sums = model.sums(rows, NO_COLUMNS, NO_VALUES)[..., 0]
            predictions = model.link(sums)
            if self.predictor.kind == "label":  # a class moves by all or nothing
                return predictions, np.zeros_like(predictions)
            size = model.sums(rows, NO_COLUMNS, NO_VALUES, np.abs)[..., 0]
            return predictions, shift(model.link, sums, UNITS * np.finfo(np.float64).eps * size)


def _squares(left: FloatArray, right: FloatArray, counts: FloatArray | IntArray) -> FloatArray:
    """Return sums of (left @ right.T)^2 over its columns, each of which stands for `counts`."""
    triangle = linalg.qr(right * np.sqrt(counts)[:, None], mode="r")[0][: right.shape[1]]
    sums = left @ triangle.T
    return np.asarray(np.einsum("ij,ij->i", sums, sums))
