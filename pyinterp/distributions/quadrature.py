"""Entropies of mixtures of Normals by quadrature, compiled by numba."""

from __future__ import annotations

import numpy as np

from pyinterp.parallel.loops import compiled_loop

__all__ = ["NODES", "WEIGHTS", "entropies"]

# Gauss and Legendre's on [-1, 1]. A panel is as wide as the narrowest component that has mass on
# it: errors stay below 1e-8 nats.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
# A component has a share of less than 1e-18 of its mass beyond this many standard deviations.
REACH = 9.0
LEAST = 1e-15


@compiled_loop
def entropies(parameters, components, nodes, weights, out):  # pragma: no cover - compiled
    """Integrate -q log q of every mixture of Normals, panel by panel from left to right.

    Parameters
    ----------
    parameters : float64, (n, 2 * components)
        Means, then standard deviations.
    nodes, weights : float64, (K,)
        Of a quadrature rule on [-1, 1].
    out : float64, (n,)
        Result: entropies in nats.
    """
    for row in range(len(parameters)):
        means, sds = parameters[row, :components], parameters[row, components:]
        at, end = np.inf, -np.inf
        for m in range(components):
            at = min(at, means[m] - REACH * sds[m])
            end = max(end, means[m] + REACH * sds[m])
        total = 0.0
        while at < end:
            # The narrowest component on the panel, or the beginning of the next one.
            width, following = end - at, np.inf
            for m in range(components):
                low, high = means[m] - REACH * sds[m], means[m] + REACH * sds[m]
                if low <= at < high:
                    width = min(width, sds[m])
                elif low > at:
                    following = min(following, low)
            # Not less than what moves on in double precision.
            width = max(min(width, following - at), LEAST * (abs(at) + abs(end)))
            panel = 0.0
            for k in range(len(nodes)):
                y = at + 0.5 * width * (nodes[k] + 1)
                q = 0.0
                for m in range(components):
                    z = (y - means[m]) / sds[m]
                    if -REACH < z < REACH:
                        q += np.exp(-0.5 * z * z) / sds[m]
                q *= 0.3989422804014327 / components
                if q > 0:
                    panel -= weights[k] * q * np.log(q)
            total += 0.5 * width * panel
            at += width
        out[row] = total
