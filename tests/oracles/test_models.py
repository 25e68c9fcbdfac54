"""A fitted model of any kind, in any situation: the package against plain loops."""

import zlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, seed, settings
from lightgbm.basic import LightGBMError
from model_kinds import KINDS
from model_questions import Asked, answers, questions
from model_situations import ONCE, situations

from pyinterp.errors import PyinterpError

# The complementary log-log of a large predictor is 1, and statsmodels says how it gets there.
pytestmark = pytest.mark.filterwarnings(
    "ignore:overflow encountered in exp:RuntimeWarning:statsmodels.genmod.families.links"
)

IN_SHORT, IN_FULL = 2, 30
MOST_REFUSED = 0.1


def compare(kind, case, question, counts):
    """Ask, and compare every number; a refusal by the package's own error counts as one."""
    try:
        fitted = kind.fitted(case)
    except (ValueError, np.linalg.LinAlgError, OverflowError, LightGBMError):
        reject()  # the library itself can't fit this
    if not np.isfinite(fitted.model(fitted.X)).all():
        reject()
    counts["asked"] += 1
    try:
        for answer in answers(Asked(question, kind, fitted)):
            assert answer.agrees, answer
            counts["numbers"] += np.size(answer.got)
    except PyinterpError as error:
        counts["refused"] += 1
        counts[f"refused: {error}"] += 1


def run(name, examples, counts):
    """Compare in so many random cases, of every kind others, but the same at every call."""
    kind = KINDS[name]

    @seed(zlib.crc32(name.encode()))
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=ONCE,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=situations(), question=questions())
    def cases(case, question):
        compare(kind, case, question, counts)

    cases()


@pytest.mark.parametrize("examples", [IN_SHORT, pytest.param(IN_FULL, marks=pytest.mark.torture)])
@pytest.mark.parametrize("name", KINDS)
def test_naive(name, examples):
    counts = Counter()
    run(name, examples, counts)
    refusals = {what: k for what, k in counts.items() if what.startswith("refused:")}
    if examples == IN_FULL:
        assert counts["refused"] <= MOST_REFUSED * counts["asked"], refusals
