"""Walks down trees that branch only where the replaced columns split, compiled by numba.

One walk per row and tree yields the prediction for every donor. With numba's JIT disabled the same
functions run as Python.
"""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["factual", "many_columns", "one_column", "one_column_one_output"]


@numba.njit(nogil=True, cache=True)
def _goes_left(
    q, x, threshold, missing_left, category, left_categories
):  # pragma: no cover - compiled
    k = category[q]
    if np.isnan(x):
        return missing_left[q]
    if k < 0:
        return x <= threshold[q]
    last = left_categories.shape[1] - 1
    c = int(x) if 0 <= x < last else last
    return left_categories[k, c]


@numba.njit(nogil=True, cache=True)
def one_column_one_output(  # pragma: no cover - compiled
    column, threshold, right, roots, rows, driven, position, out
):
    """`one_column` for the common case: one output, nothing missing, no categories.

    Parameters
    ----------
    threshold : float64, (nodes,)
        For leaves their value, so that a leaf is one look-up.
    out : float64, (b, donors + 1), zero at the start
    """
    donors = out.shape[1] - 1
    node = np.empty(4096, np.int32)
    low = np.empty(4096, np.int32)
    high = np.empty(4096, np.int32)
    for t in range(len(roots)):
        root = roots[t]
        for i in range(rows.shape[0]):
            x = rows[i]
            sums = out[i]
            q = root
            c = column[q]
            while c >= 0 and c != driven:
                q = q + 1 if x[c] <= threshold[q] else right[q]
                c = column[q]
            if c < 0:  # this tree does not ask for the column on this row's way
                sums[0] += threshold[q]
                continue
            top = 1
            node[0], low[0], high[0] = q, 0, donors
            while top > 0:
                top -= 1
                q, lo, hi = node[top], low[top], high[top]
                c = column[q]
                while c >= 0:
                    if c == driven:
                        p = position[q]
                        if hi <= p:
                            q += 1
                        elif lo >= p:
                            q = right[q]
                        else:
                            node[top], low[top], high[top] = right[q], p, hi
                            top += 1
                            hi = p
                            q += 1
                    else:
                        q = q + 1 if x[c] <= threshold[q] else right[q]
                    c = column[q]
                value = threshold[q]
                sums[lo] += value
                sums[hi] -= value


@numba.njit(nogil=True, cache=True)
def factual(  # pragma: no cover - compiled
    column, threshold, right, missing_left, category, left_categories, roots, leaves,
    rows, plain, out,
):  # fmt: skip
    """Add up the trees for rows as they are.

    Parameters
    ----------
    rows : float64, (b, columns)
    out : float64, (b, outputs), zero at the start
    """
    for t in range(len(roots)):
        for i in range(rows.shape[0]):
            x = rows[i]
            q = roots[t]
            c = column[q]
            while c >= 0:
                if plain:
                    q = q + 1 if x[c] <= threshold[q] else right[q]
                elif _goes_left(q, x[c], threshold, missing_left, category, left_categories):
                    q += 1
                else:
                    q = right[q]
                c = column[q]
            leaf = right[q]
            for k in range(out.shape[1]):
                out[i, k] += leaves[leaf, k]


@numba.njit(nogil=True, cache=True)
def one_column(  # pragma: no cover - compiled
    column, threshold, right, missing_left, category, left_categories, roots, leaves,
    rows, driven, position, plain, out,
):  # fmt: skip
    """Add up the trees for rows x increasing donors of one numerical column.

    Donors are in increasing order, so that a split on the column sends the first ``position[q]``
    of them to the left: the donors that reach a node are always a range. Leaf values are added at
    the range's start and taken off at its end; the caller sums along donors.

    Parameters
    ----------
    rows : float64, (b, columns)
    driven : int
        The column.
    position : int32, (nodes,)
        For nodes that split on it: how many donors go to the left.
    plain : bool
        No value of `rows` is missing and no node is categorical: the fast comparison.
    out : float64, (b, donors + 1, outputs), zero at the start
    """
    donors = out.shape[1] - 1
    outputs = out.shape[2]
    node = np.empty(4096, np.int32)
    low = np.empty(4096, np.int32)
    high = np.empty(4096, np.int32)
    # Trees outermost: a tree's nodes stay in the cache for all rows of the block.
    for t in range(len(roots)):
        for i in range(rows.shape[0]):
            x = rows[i]
            top = 1
            node[0], low[0], high[0] = roots[t], 0, donors
            while top > 0:
                top -= 1
                q, lo, hi = node[top], low[top], high[top]
                c = column[q]
                while c >= 0:
                    if c == driven:
                        p = position[q]
                        if hi <= p:
                            q += 1
                        elif lo >= p:
                            q = right[q]
                        else:
                            node[top], low[top], high[top] = right[q], p, hi
                            top += 1
                            hi = p
                            q += 1
                    elif plain:
                        q = q + 1 if x[c] <= threshold[q] else right[q]
                    elif _goes_left(q, x[c], threshold, missing_left, category, left_categories):
                        q += 1
                    else:
                        q = right[q]
                    c = column[q]
                leaf = right[q]
                for k in range(outputs):
                    value = leaves[leaf, k]
                    out[i, lo, k] += value
                    out[i, hi, k] -= value


@numba.njit(nogil=True, cache=True)
def many_columns(  # noqa: PLR0912  # pragma: no cover - compiled, one loop
    column, threshold, right, missing_left, category, left_categories, roots, leaves,
    rows, place, values, out,
):  # fmt: skip
    """Add up the trees for rows x donors of several columns, of categories or of missing values.

    The donors that reach a node are kept as a part of one array, which a split divides in place.

    Parameters
    ----------
    rows : float64, (b, columns)
    place : int32, (columns,)
        The column of `values` that replaces a column; -1 if it is kept.
    values : float64, (donors, replaced columns)
    out : float64, (b, donors, outputs), zero at the start
    """
    donors = values.shape[0]
    outputs = out.shape[2]
    node = np.empty(4096, np.int32)
    low = np.empty(4096, np.int32)
    high = np.empty(4096, np.int32)
    order = np.arange(donors)
    for t in range(len(roots)):
        for i in range(rows.shape[0]):
            x = rows[i]
            top = 1
            node[0], low[0], high[0] = roots[t], 0, donors
            while top > 0:
                top -= 1
                q, lo, hi = node[top], low[top], high[top]
                c = column[q]
                while c >= 0:
                    v = place[c]
                    if v < 0:
                        if _goes_left(q, x[c], threshold, missing_left, category, left_categories):
                            q += 1
                        else:
                            q = right[q]
                    else:
                        first, last = lo, hi
                        while first < last:
                            d = order[first]
                            if _goes_left(
                                q, values[d, v], threshold, missing_left, category, left_categories
                            ):
                                first += 1
                            else:
                                last -= 1
                                order[first], order[last] = order[last], d
                        if first == hi:
                            q += 1
                        elif first == lo:
                            q = right[q]
                        else:
                            node[top], low[top], high[top] = right[q], first, hi
                            top += 1
                            hi = first
                            q += 1
                    c = column[q]
                leaf = right[q]
                for k in range(outputs):
                    value = leaves[leaf, k]
                    for s in range(lo, hi):
                        out[i, order[s], k] += value
