"""Pairs of options that are valid by what they mean: laws hold, or we refuse in our words."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from option_pairs import CHANGES, Case, Setting, cases, judge

SAMPLE, ALL, BLOCK = 100, 5000, 100


@pytest.mark.parametrize("number", range(SAMPLE))
def test_sample(number):
    case = next(islice(cases(SAMPLE, seed=1), number, None))
    outcome = judge(case, np.random.default_rng(number))
    assert not outcome.fault, f"{case}\n{outcome.fault}"


@pytest.mark.torture
@pytest.mark.parametrize("block", range(ALL // BLOCK))
def test_all(block):
    rng = np.random.default_rng(block)
    some = islice(cases(ALL), block * BLOCK, (block + 1) * BLOCK)
    faults = [f"{case}\n  {fault}" for case in some if (fault := judge(case, rng).fault)]
    assert not faults, "\n".join(faults)


def test_sampled_cases_check_every_law_and_are_mostly_results():
    laws = Counter()
    for number, case in enumerate(cases(SAMPLE, seed=1)):
        held = [name for name, change in CHANGES.items() if change.holds(case)]
        laws.update(held)
        assert len(held) >= 5, f"{number}: {case}"
    assert set(laws) == set(CHANGES)


@pytest.mark.parametrize(
    ("change", "case"),
    [
        ("subset of all rows", Case("linear", "pfi", (("fit", "n_jobs", "2"),))),
        ("predictions in batches", Case("batched", "loss", ())),
    ],
)
def test_a_difference_is_seen(change, case, monkeypatch):
    """Another response is another result, whatever the change says."""

    def other(setting):
        return Setting(setting.data.assign(y=setting.data["y"] * (1 + setting.data["w"] / 100)))

    monkeypatch.setitem(
        CHANGES, change, CHANGES[change].__class__(other, tolerance=CHANGES[change].tolerance)
    )
    for name in set(CHANGES) - {change}:
        monkeypatch.delitem(CHANGES, name)
    assert "spreads apart" in judge(case, np.random.default_rng(0)).fault
