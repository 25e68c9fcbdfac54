"""The judge itself: every kind of fault is seen."""

import pytest
import verdict
from calls import Call
from verdict import CHARACTERS, judge, judge_source, wordy

KINDS = {
    "res.pfi()": "result",
    "res.pd('no such')": "refusal",
    "{}['no such']": "poor refusal",
    "function('recurses')(A)": "poor refusal",
    "np.ones(10**11)": "poor refusal",
    "np.mean(np.array([]))": "warning",
    "np.random.default_rng().normal(size=3)": "unlawful",
    "np.array([1j])": "unlawful",
    "pd.DataFrame({'p_value': [1.5]})": "unlawful",
}
MESSAGES = {
    "`alpha` must be a number in (0, 1), not 5. `alpha=0.05` gives a 95% interval.": True,
    "Can't find `agee` in the formula. Variables: age, bmi. Did you mean `age`?": True,
    "One. Two. Three.": False,
    "a" * (CHARACTERS + 1): False,
    "`x` must be a number, not array([1.0, 2.0]).": False,
    "`x` must be a number, not 0    1.0\nName: x, dtype: float64.": False,
    "`x` must be a number, not <object object at 0x7f0000000000>.": False,
}


@pytest.mark.parametrize("source", KINDS)
def test_kinds(source):
    assert judge_source(source).kind == KINDS[source]


def test_hang(monkeypatch):
    monkeypatch.setattr(verdict, "LIMIT", 0.2)
    assert judge_source("any(0 for _ in iter(int, 1))").kind == "hang"


@pytest.mark.parametrize(
    "callee", ["(lambda a: a.sort())", "(lambda a: [a.sort(), fm.pd('no such')])"]
)
def test_changed_argument(callee):
    call = Call(name="sorts", callee=callee, own={"a": "by"})
    found = judge(call, {"a": "[2, 1]"})
    assert (found.kind, found.message) == ("unlawful", "the argument `a` was changed")


@pytest.mark.parametrize("message", MESSAGES)
def test_limits_of_messages(message):
    assert (wordy(message) == "") == MESSAGES[message]
