"""Packages of R that a call needs: one sentence if they are absent or do not load."""

from __future__ import annotations

from r_bridge.conversion import text_from_r
from r_bridge.errors import RMissingError
from r_bridge.session import SESSION

__all__ = ["need"]

IN_PYTHON = ("pdp", "vip", "hstats")


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
        If it is absent, with the line that installs it, or can't be loaded, with R's reason.
    """
    version, reason = text_from_r(SESSION.helper("package_version", package))
    if version in ("absent", "broken"):
        cause = f"can't be loaded ({' '.join(reason.split())})" if reason else "is not installed"
        same = f" Without {package}, `pi.r_style` has the same functions."
        without = same if package in IN_PYTHON else ""
        raise RMissingError(
            f"{what} needs R's package {package}, which {cause}; run "
            f'install.packages("{package}") in R.{without}'
        )
    return tuple(int(part) for part in version.replace("-", ".").split("."))
