"""Entropy and likelihood-PFI of the true predictive distribution of a process, in nats."""

from __future__ import annotations

import numpy as np
from scipy.special import entr, logit

from pyinterp.simulation import Process
from pyinterp_papers.processes.wood import LABEL_NOISE


def entropy(process: Process) -> float:
    r"""Return the expected entropy of the response given the features.

    With normal noise every row has :math:`\tfrac12 \log(2 \pi e \sigma^2)`; with the label noise
    :math:`\epsilon` of ``wood_classification`` it is
    :math:`-\epsilon \log \epsilon - (1 - \epsilon) \log(1 - \epsilon)`. As all rows have the same,
    the entropy-PFI of the process is 0: that of a learner comes from the learner.

    Examples
    --------
    >>> from pyinterp_papers.processes import entropy, molnar_linear
    >>> entropy(molnar_linear())
    1.4189385332046727
    """
    if process.classes is None:
        return float((1 + np.log(2 * np.pi * process.noise_sd**2)) / 2)
    return float(entr(LABEL_NOISE) + entr(1 - LABEL_NOISE))


def likelihood_pfi(process: Process, feature: str, *, conditional: bool = False) -> float | None:
    r"""Return the likelihood-PFI of a feature; None without a closed form.

    With normal noise it is the PFI under squared error, divided by :math:`2 \sigma^2`; with label
    noise :math:`(1 - 2 \epsilon) \log\{(1 - \epsilon) / \epsilon\}` times the probability that the
    other class gets the larger probability (of Wood et al. 2024, eq. 6).

    Parameters
    ----------
    process : Process
    feature : str
    conditional : bool
        With a draw given the other features.

    Examples
    --------
    >>> from pyinterp_papers.processes import likelihood_pfi, molnar_linear
    >>> likelihood_pfi(molnar_linear(), "x1")
    0.08333333333333333
    """
    squared = process.cvim(feature) if conditional else process.pfi(feature)
    if not squared:
        return squared
    if process.classes is None:
        return squared * (1 / (2 * process.noise_sd**2))
    # The other class is (1 - 2 epsilon)^2 away in squared error.
    return squared * (-float(logit(LABEL_NOISE)) / (1 - 2 * LABEL_NOISE))
