"""Numerical derivatives, against which contributions and gradients are tested."""

import numpy as np


def derivatives(function, at, step=1e-6):
    """Return central differences of a function of an array in the direction of every element."""
    along = step * np.eye(len(at))
    return np.array([(function(at + e) - function(at - e)) / (2 * step) for e in along])
