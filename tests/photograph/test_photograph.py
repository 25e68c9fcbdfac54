"""What is computed does not change with where it is written: see ``photograph.py``."""

import numpy as np
import pandas as pd
import pytest
from photograph import FILE, numbers_of, questions, versions

TOLERANCE = 1e-12  # sums may be taken in another order
THEN = FILE.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
BEFORE = pd.read_csv(FILE, comment="#")
QUESTIONS = questions()
NOW = " ".join(f"{name}={version}" for name, version in versions().items())

pytestmark = pytest.mark.skipif(NOW != THEN, reason=f"the photograph was taken with {THEN}")


def test_the_photograph_has_every_question():
    assert list(QUESTIONS) == list(BEFORE["question"].unique())
    assert len(BEFORE) >= 400


# Every other question is left to `make torture`.
EVERY = [
    pytest.param(name, marks=[pytest.mark.torture] if k % 2 else [])
    for k, name in enumerate(QUESTIONS)
]


@pytest.mark.parametrize("name", EVERY)
def test_numbers_are_those_of_before(name):
    before = BEFORE[BEFORE["question"] == name].set_index("number")["value"]
    numbers = numbers_of(QUESTIONS[name]())
    assert list(numbers.index) == list(before.index)
    size = np.abs(before).max()
    np.testing.assert_allclose(numbers, before, rtol=TOLERANCE, atol=TOLERANCE * size)
