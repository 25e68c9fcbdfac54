"""How loops are compiled: once per machine, if a folder can keep the machine code."""

from __future__ import annotations

import numba

__all__ = ["compiled_loop"]


def compiled_loop(loop):
    """Return a loop that is compiled when it is first called, and runs without Python's lock.

    The machine code is kept where numba finds a folder to write to (``NUMBA_CACHE_DIR``, the
    package's or the user's own); without one it is kept in memory, and every process compiles.
    """
    try:
        return numba.njit(nogil=True, cache=True)(loop)
    except RuntimeError:  # no such folder, of which numba makes an error
        return numba.njit(nogil=True)(loop)
