"""Options of inference, the same for every estimand."""

from __future__ import annotations

from dataclasses import dataclass

from pyinterp.checks import check_choice, check_flag
from pyinterp.errors import OptionError
from pyinterp.inference.cov_types import COV_TYPES, CovType
from pyinterp.inference.intervals import ALTERNATIVES, Alternative, check_adjustment

__all__ = ["InferenceOptions"]


@dataclass(frozen=True, kw_only=True)
class InferenceOptions:
    """Options of inference, checked; none of them needs new predictions.

    `pyinterp.parameters` describes them.
    """

    cov_type: CovType | None = None
    alternative: Alternative = "two-sided"
    p_adjust: str | None = None
    simultaneous: bool = False

    def __post_init__(self) -> None:
        check_choice("alternative", self.alternative, ALTERNATIVES)
        if self.cov_type is not None:
            check_choice("cov_type", self.cov_type, COV_TYPES)
        if self.p_adjust is not None:
            check_adjustment(self.p_adjust)
        check_flag("simultaneous", self.simultaneous)
        object.__setattr__(self, "simultaneous", bool(self.simultaneous))
        if self.simultaneous and self.p_adjust is not None:
            raise OptionError(
                "Give `simultaneous` or `p_adjust`, not both: simultaneous intervals have p-values "
                "of their own, which are adjusted alike."
            )
