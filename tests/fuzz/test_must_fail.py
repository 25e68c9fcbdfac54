"""What must be refused is refused, in the package's own words."""

from __future__ import annotations

import pytest
from must_fail import MUST_FAIL
from verdict import judge_source

LEAST = 150


@pytest.mark.parametrize(("source", "reason"), MUST_FAIL, ids=[source for source, _ in MUST_FAIL])
def test_refused(source: str, reason: str) -> None:
    verdict = judge_source(source)
    assert verdict.kind == "refusal", f"{reason}: {verdict}"


def test_list_is_long_enough() -> None:
    assert len(dict(MUST_FAIL)) >= LEAST
