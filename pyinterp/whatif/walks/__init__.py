"""Walks down trees that branch only where the replaced columns split, compiled by numba.

Rows are walked in groups of 64: bit i of a word stands for row i of the group. Before the walk,
`left_bits` writes down, for every split, which rows of a group go to the left; a walk then carries
the word of the rows that have come with it, and parts it at splits of kept columns. At splits of
replaced columns it parts the donors instead.

================  ==========================================================================
Module            What is in it
================  ==========================================================================
`bits`            The trees, and the sides to which their splits send rows
`rows`            Rows as they are
`ranges`          All rows x all donors of one numerical column: a node's donors are a range
`classes`         The same, summing losses of the probability of one class
`parts`           All rows x all donors of several columns, categories or missing values
`donors_per_row`  Rows each with donors of its own, for one numerical column
================  ==========================================================================

With numba's JIT disabled the same functions run as Python; tests hold both to the same numbers.
"""

from pyinterp.whatif.walks.bits import GROUP, Splits, Trees, left_bits
from pyinterp.whatif.walks.classes import (
    BOTH_ENTROPIES,
    ENTROPY,
    LOG,
    SQUARE,
    one_class_pairs,
)
from pyinterp.whatif.walks.donors_per_row import add_up_pairs
from pyinterp.whatif.walks.parts import cross_parts
from pyinterp.whatif.walks.ranges import cross_ranges, squared_pairs
from pyinterp.whatif.walks.rows import add_up, first_leaves, preorder

__all__ = [
    "BOTH_ENTROPIES",
    "ENTROPY",
    "GROUP",
    "LOG",
    "SQUARE",
    "Splits",
    "Trees",
    "add_up",
    "add_up_pairs",
    "cross_parts",
    "cross_ranges",
    "first_leaves",
    "left_bits",
    "one_class_pairs",
    "preorder",
    "squared_pairs",
]
