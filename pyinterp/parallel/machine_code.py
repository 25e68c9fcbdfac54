"""Machine code of loops, by numba: made once per machine, if a folder can keep it."""

import warnings
from contextlib import suppress

import numba
from numba.core.caching import FunctionCache


def machine_code(loop):
    """Return a loop as machine code, which is made when it is first called.

    It is kept where numba finds a folder to write to (``NUMBA_CACHE_DIR``, the package's or the
    user's); without one it is kept in memory, and every process compiles.
    """
    code = numba.njit(nogil=True)(loop)
    with suppress(RuntimeError):  # numba's error if there is no such folder
        code._cache = _Cache(loop)
    return code


class _Cache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Numba's cache, which throws away files (pickles) that it can't read."""

    def load_overload(self, sig, target_context):
        """Return machine code from the disk; None, with a warning, if the file is damaged."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # noqa: BLE001 - a damaged pickle raises anything
            warnings.warn(
                f"Machine code in {self.cache_path} can't be read ({type(error).__name__}); it is "
                "compiled again.",
                RuntimeWarning,
                stacklevel=2,
            )
        try:
            self.flush()
        except OSError:
            self.disable()
        return None
