"""Errors and warnings of the bridge: what must hold, what was got and how to mend it."""

from __future__ import annotations

from pyinterp.errors import PyinterpError

__all__ = ["RCallError", "RMissingError", "RThreadError", "RWarning"]


class RMissingError(PyinterpError):
    """R, rpy2, or a package of R is absent, or their versions do not fit."""


class RThreadError(PyinterpError):
    """R was called from another thread than the one that it runs in.

    Examples
    --------
    >>> import r_bridge
    >>> issubclass(r_bridge.RThreadError, ValueError)
    True
    """


class RCallError(PyinterpError):
    """R stopped with an error.

    Attributes
    ----------
    message : str
        R's own words.
    call : str
        The call in which R stopped.
    called : str
        The call that was made.
    """

    def __init__(self, message: str, call: str = "", called: str = "") -> None:
        self.message, self.call, self.called = message.strip(), call, called
        stopped = f" in `{call}`" if call and call != called else ""
        super().__init__(f"R stopped{stopped}: {self.message}\nIt was called as: {called}")

    def __reduce__(self) -> tuple[type[RCallError], tuple[str, str, str]]:
        # It crosses processes when a refit fails in a worker.
        return type(self), (self.message, self.call, self.called)


class RWarning(UserWarning):
    """R warned.

    Examples
    --------
    >>> import r_bridge
    >>> issubclass(r_bridge.RWarning, UserWarning)
    True
    """
