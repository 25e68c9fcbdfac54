"""What is computed does not change with where it is written: see ``photograph.py``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from photograph import FILE, frame_of, questions, table_of, versions

TOLERANCE = 1e-12  # of the largest number of a column: sums may be taken in another order
BEFORE = json.loads(FILE.read_text(encoding="utf-8"))
THEN = BEFORE["versions"]
QUESTIONS = questions()

pytestmark = pytest.mark.skipif(
    versions() != THEN, reason=f"the photograph was taken with other versions: {THEN}"
)


def test_the_photograph_has_every_question() -> None:
    assert list(QUESTIONS) == list(BEFORE["answers"])
    assert sum(len(v) for a in BEFORE["answers"].values() for v in a["numbers"].values()) >= 400


# Every other question is left to `make torture`.
EVERY = [
    pytest.param(name, marks=[pytest.mark.torture] if k % 2 else [])
    for k, name in enumerate(QUESTIONS)
]


@pytest.mark.parametrize("name", EVERY)
def test_numbers_and_tables_are_those_of_before(name: str) -> None:
    before: dict[str, Any] = BEFORE["answers"][name]
    answer = QUESTIONS[name]()
    numbers = frame_of(answer).select_dtypes("number")
    assert [str(term) for term in numbers.index] == before["terms"]
    assert list(map(str, numbers.columns)) == list(before["numbers"])
    for column, values in before["numbers"].items():
        expected = np.array([np.nan if v is None else v for v in values])
        size = np.abs(expected[np.isfinite(expected)]).max(initial=1e-300)
        np.testing.assert_allclose(
            numbers[column], expected, rtol=TOLERANCE, atol=TOLERANCE * size, err_msg=column
        )
    assert table_of(answer) == before["table"]
