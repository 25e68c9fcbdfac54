"""Entropies of mixtures of Normals by quadrature, compiled by numba."""

import numpy as np

from pyinterp.parallel.loops import Loop

# Gauss and Legendre's on [-1, 1]. A panel is as wide as the narrowest component that has mass on
# it: errors stay below 1e-8 nats.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
# A component has a share of less than 1e-18 of its mass beyond this many standard deviations.
REACH = 9.0
# Points of an even grid per standard deviation of the narrowest component: the trapezoidal rule
# converges geometrically for functions that fall off like these, and errors stay below 1e-9 nats.
FINE = 4.0
# Points that a grid has at most: of narrower components panels need fewer.
MOST = 8192
DENSITY_AT_0 = 0.3989422804014327  # of the standard Normal


@Loop
def entropies(parameters, components, nodes, weights, out):  # pragma: no cover - compiled
    """Integrate -q log q of every mixture of Normals: on an even grid, else panel by panel.

    Parameters
    ----------
    parameters : float64, (n, 2 * components)
        Means, then standard deviations.
    nodes, weights : float64, (K,)
        Of a quadrature rule on [-1, 1].
    out : float64, (n,)
        Result: entropies in nats.
    """
    grid = np.empty(MOST)
    for row in range(len(parameters)):
        means, sds = parameters[row, :components], parameters[row, components:]
        low, high, narrowest = np.inf, -np.inf, np.inf
        for m in range(components):
            low = min(low, means[m] - REACH * sds[m])
            high = max(high, means[m] + REACH * sds[m])
            narrowest = min(narrowest, sds[m])
        step = narrowest / FINE
        if high - low < (MOST - 2) * step:
            points = int((high - low) / step) + 2
            out[row] = _on_grid(means, sds, low, step, grid[:points])
        else:
            out[row] = _by_panels(means, sds, nodes, weights)


@Loop
def _on_grid(means, sds, low, step, density):  # pragma: no cover - compiled
    """Integrate by the trapezoidal rule; `density` is scratch, one number per point of the grid.

    From point to point a Normal density changes by a factor that itself changes by a constant one.
    """
    density[:] = 0.0
    for m in range(len(means)):
        spacing, start = step / sds[m], low - means[m]
        first = max(0, int(np.ceil((-start - REACH * sds[m]) / step)))
        last = min(len(density) - 1, int((-start + REACH * sds[m]) / step))
        z = (start + first * step) / sds[m]
        value = np.exp(-0.5 * z * z) / sds[m]
        factor, change = np.exp(-spacing * (z + 0.5 * spacing)), np.exp(-spacing * spacing)
        for k in range(first, last + 1):
            density[k] += value
            value *= factor
            factor *= change
    total = 0.0
    for k in range(len(density)):
        q = density[k] * (DENSITY_AT_0 / len(means))
        if q > 0:
            total -= q * np.log(q)
    return total * step


@Loop
def _by_panels(means, sds, nodes, weights):  # pragma: no cover - compiled
    """Integrate panel by panel, around every component where it is the narrowest one.

    Places are distances from its mean in its standard deviations, which keeps their digits however
    far means are from 0 and however much standard deviations differ.
    """
    total = 0.0
    for m in range(len(means)):
        at = -REACH
        while at < REACH:
            end, following = at, min(REACH, at + 1.0)
            for k in range(len(means)):
                if sds[k] < sds[m] or (sds[k] == sds[m] and k < m):
                    middle, reach = (means[k] - means[m]) / sds[m], REACH * (sds[k] / sds[m])
                    if middle - reach <= at < middle + reach:
                        end = max(end, middle + reach)
                    elif at < middle - reach:
                        following = min(following, middle - reach)
            if end == at:
                total += sds[m] * _panel(means, sds, m, at, following, nodes, weights)
                end = following
            at = end
    return total


@Loop
def _panel(means, sds, m, at, end, nodes, weights):  # pragma: no cover - compiled
    """Integrate -q log q over a panel without components that are narrower than `m`."""
    half, total = 0.5 * (end - at), 0.0
    for k in range(len(nodes)):
        place, q = sds[m] * (at + half * (nodes[k] + 1)), 0.0
        for j in range(len(means)):
            if sds[j] >= sds[m]:
                z = ((means[m] - means[j]) + place) / sds[j]
                if -REACH < z < REACH:
                    q += np.exp(-0.5 * z * z) / sds[j]
        q *= DENSITY_AT_0 / len(means)
        if q > 0:
            total -= weights[k] * q * np.log(q)
    return half * total
