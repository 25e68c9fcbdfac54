"""Probabilities of classes from those of pairs of classes, as libsvm couples them."""

from __future__ import annotations

import numpy as np

from pyinterp.parallel.loops import Loop


@Loop
def couple(pairs, out):
    """Couple probabilities of pairs of classes [1]_ by libsvm's iteration, which stops early.

    Parameters
    ----------
    pairs : float64, (n, classes * (classes - 1) / 2)
        Probabilities of the first class of (0, 1), (0, 2), ..., (1, 2), ...
    out : float64, (n, classes)
        Result.

    References
    ----------
    .. [1] Wu, T.-F., Lin, C.-J. and Weng, R. C. (2004). Probability estimates for multi-class
       classification by pairwise coupling. Journal of Machine Learning Research 5, 975-1005.
    """
    k = out.shape[1]
    r, q, qp = np.zeros((k, k)), np.zeros((k, k)), np.empty(k)
    for row in range(len(out)):
        p, pair = out[row], 0
        for i in range(k):
            for j in range(i + 1, k):
                r[i, j] = pairs[row, pair]
                r[j, i] = 1 - pairs[row, pair]
                pair += 1
        for i in range(k):
            p[i] = 1 / k
            q[i, i] = 0.0
            for j in range(k):
                if j != i:
                    q[i, i] += r[j, i] * r[j, i]
                    q[i, j] = -r[j, i] * r[i, j]
        for _ in range(max(100, k)):
            pqp = 0.0
            for i in range(k):
                qp[i] = 0.0
                for j in range(k):
                    qp[i] += q[i, j] * p[j]
                pqp += p[i] * qp[i]
            error = 0.0
            for i in range(k):
                error = max(error, abs(qp[i] - pqp))
            if error < 0.005 / k:
                break
            for i in range(k):
                step = (pqp - qp[i]) / q[i, i]
                scale = 1 / (1 + step)
                p[i] += step
                pqp = (pqp + step * (step * q[i, i] + 2 * qp[i])) * scale * scale
                for j in range(k):
                    qp[j] = (qp[j] + step * q[i, j]) * scale
                    p[j] *= scale
