"""What simulations found about the coverage of nominal 95% intervals, in words for tables."""

from __future__ import annotations

__all__ = ["published", "repeated", "studied"]


def published(share: str) -> str:
    """Say what Molnar et al. (2021, section 8) found."""
    return (
        "In simulations by Molnar et al. (2021; 15 refits, n = 100 and 1,000) nominal 95% "
        f"intervals of this kind covered {share}."
    )


def repeated(share: str) -> str:
    """Say what our repetition of those simulations found, for what the paper has not printed."""
    return (
        "In simulations (the processes of Molnar et al. 2021; 15 refits, n = 100 and 1,000) "
        f"nominal 95% intervals of this kind covered {share}."
    )


def studied(share: str, *others: str) -> str:
    """Say what our studies of half-sample intervals found, and for what they are wide.

    ``studies/results`` has them; skewed outcomes and small trees were studied with intervals that
    were up to a tenth narrower.
    """
    wide = " and ".join(("unstable learners", *others))
    return (
        "In simulations (linear models, trees, forests and boosting; n = 100 to 5,000) nominal 95% "
        f"intervals covered {share}, less for very skewed outcomes and small single trees; they "
        f"are wide for {wide}."
    )
