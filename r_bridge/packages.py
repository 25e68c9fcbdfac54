"""Packages of R that a call needs: one sentence if they are absent, or too new."""

from __future__ import annotations

from r_bridge.conversion import text_from_r
from r_bridge.errors import RMissingError
from r_bridge.session import SESSION

__all__ = ["need"]


def need(package: str, what: str) -> tuple[int, ...]:
    """Return a package's version, and load it.

    Parameters
    ----------
    package : str
    what : str
        What needs it, for the message.

    Raises
    ------
    RMissingError
        If it is absent, with the line that installs it.
    """
    version = text_from_r(SESSION.helper("package_version", package))[0]
    if version == "absent":
        raise RMissingError(
            f"{what} needs R's package {package}, which is not installed; run "
            f'install.packages("{package}") in R.'
        )
    return tuple(int(part) for part in version.replace("-", ".").split("."))
