"""Ground truth: PD and PFI of the true f of a process (Molnar et al. 2021, Definitions 1, 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pyinterp._typing import FloatArray
from pyinterp.checks import check_choice, check_count, check_flag
from pyinterp.data.sample import Response
from pyinterp.losses.rowwise import LossLike, choose
from pyinterp.models.predictor import Predictor
from pyinterp.random import Seed
from pyinterp.simulation.process import Process, check_process, generator

Method = Literal["auto", "monte-carlo"]
Value = TypeVar("Value", float, FloatArray)

CHUNK = 100_000  # rows in memory at once


class Truth(NamedTuple, Generic[Value]):
    """A true value, or one per grid point.

    Attributes
    ----------
    value : float or ndarray
    mcse : float or ndarray
        Monte Carlo standard error; 0 where `value` is a closed form.

    Examples
    --------
    >>> from pyinterp.simulation import dgp_pfi
    >>> from pyinterp_papers.processes import molnar_linear
    >>> truth = dgp_pfi(molnar_linear(), "x1", "absolute", n=10_000, seed=1)
    >>> round(truth.value, 2), round(truth.mcse, 3)
    (0.06, 0.004)
    """

    value: Value
    mcse: Value


def dgp_pd(
    process: Process,
    feature: str,
    grid: npt.ArrayLike,
    *,
    n: int = 1_000_000,
    seed: Seed = None,
    method: Method = "auto",
) -> Truth[FloatArray]:
    r"""DGP-PD: the partial dependence of the true f on a feature.

    .. math:: \text{DGP-PD}(x) = E_{X_C}[f(x, X_C)]

    (Molnar et al. 2021, Definition 1), the closed form of the process if it has one, else the mean
    over n rows of features. For classes it is the probability of the second class.

    Parameters
    ----------
    process : Process
    feature : str
    grid : array of shape (g,)
        Values of the feature: numbers or levels.
    n : int
        Rows, the same ones at every grid point.
    seed : int, Generator or None
    method : {"auto", "monte-carlo"}
        "monte-carlo" doesn't take a closed form.

    Returns
    -------
    Truth
        `value` and `mcse`, arrays of shape (g,), in units of the response.

    Examples
    --------
    >>> from pyinterp.simulation import dgp_pd
    >>> from pyinterp_papers.processes import molnar_linear
    >>> dgp_pd(molnar_linear(), "x2", [0.0, 0.5]).value
    array([0.5, 0. ])
    """
    check_process(process)
    check_choice("method", method, ("auto", "monte-carlo"))
    check_count("n", n, 2)
    values = process.grid(feature, grid)
    rng = generator(seed)
    if method == "auto":
        curve = process.pd(feature, values)
        if curve is not None:
            return Truth(curve, np.zeros(len(values)))

    def curves() -> Iterator[FloatArray]:
        for size in _sizes(n):
            frame = process.covariates(size, rng)
            at = [process.f(frame.assign(**{feature: v})) for v in values.tolist()]
            yield np.column_stack(at)

    return _mean(curves())


def dgp_pfi(
    process: Process,
    feature: str,
    loss: LossLike = "squared",
    *,
    conditional: bool = False,
    n: int = 1_000_000,
    seed: Seed = None,
    method: Method = "auto",
) -> Truth[float]:
    r"""DGP-PFI: the permutation importance of a feature for the true f.

    .. math:: \text{DGP-PFI} = E[L(Y, f(\tilde X_S, X_C))] - E[L(Y, f(X))]

    (Molnar et al. 2021, Definition 2), with :math:`\tilde X_S` an independent draw of the feature,
    or a draw given the other features (cPFI). Under squared error these are the MVIM and the CVIM
    of Khan et al. (2025, eqs 3 and 19).

    Parameters
    ----------
    process : Process
    feature : str
    loss : str, Loss or callable
        As for ``pfi()``. "squared" of a process with classes is the Brier score, the squared error
        of the second class's indicator.
    conditional : bool
        Draw the feature given the others.
    n : int
        Rows, if there is no closed form. Under squared error the noise is integrated out, as
        :math:`E[L(Y, f(\tilde X)) - L(Y, f(X))] = E[(f(\tilde X) - f(X))^2]`; else responses are
        drawn.
    seed : int, Generator or None
    method : {"auto", "monte-carlo"}
        "monte-carlo" doesn't take a closed form.

    Returns
    -------
    Truth
        `value` and `mcse`, in units of the loss.

    Examples
    --------
    >>> from pyinterp.simulation import dgp_pfi
    >>> from pyinterp_papers.processes import wood_regression
    >>> dgp_pfi(wood_regression(), "X1").value
    2.0
    >>> round(dgp_pfi(wood_regression(), "X1", conditional=True).value, 2)
    0.72
    """
    check_process(process)
    check_choice("method", method, ("auto", "monte-carlo"))
    check_count("n", n, 2)
    check_flag("conditional", conditional)
    rng = generator(seed)
    # The Brier score of two classes is the squared error of the second's indicator.
    squared = isinstance(loss, str) and (loss == "squared" or (loss == "brier" and process.classes))
    if squared and method == "auto":
        value = process.cvim(feature) if conditional else process.pfi(feature)
        if value is not None:
            return Truth(value, 0.0)
    predictor = Predictor.of(process.f, process.classes)
    response = Response(name="y", classes=process.classes)
    row_loss = None if squared else choose(loss, predictor, response)

    def differences() -> Iterator[FloatArray]:
        for size in _sizes(n):
            frame = process.covariates(size, rng)
            new = process.redraw(feature, frame, rng, conditional=conditional)
            replaced = frame.assign(**{feature: new})
            if row_loss is None:
                yield np.square(process.f(replaced) - process.f(frame))
            else:
                y = process.respond(process.f(frame), rng)
                yield row_loss(y, predictor(replaced)) - row_loss(y, predictor(frame))

    mean = _mean(values[:, None] for values in differences())
    return Truth(float(mean.value[0]), float(mean.mcse[0]))


def _sizes(n: int) -> Iterator[int]:
    """Yield the sizes of chunks that n rows are drawn in."""
    for start in range(0, n, CHUNK):
        yield min(CHUNK, n - start)


def _mean(chunks: Iterable[FloatArray]) -> Truth[FloatArray]:
    """Return column means of rows that come in chunks, with their standard errors."""
    n, mean, squares = 0, np.zeros(1), np.zeros(1)
    for rows in chunks:
        size, center = len(rows), rows.mean(axis=0)
        step = center - mean
        squares = squares + np.square(rows - center).sum(axis=0) + step**2 * n * size / (n + size)
        mean = mean + step * size / (n + size)
        n += size
    return Truth(mean, np.sqrt(squares / (n - 1) / n))
