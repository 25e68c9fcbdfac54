"""Mutated inputs of every public callable: a lawful result or a helpful refusal, nothing else."""

import pytest
from calls import CALLS
from inputs import full, sample
from verdict import Verdict, judge

SAMPLE = 300


def judged(given):
    """Judge an input; a result where there must be a refusal is a silent acceptance."""
    verdict = judge(given.call, given.arguments)
    if verdict.kind == "result" and given.must_fail:
        changes = ", ".join(f"{name}={value}" for name, value in given.changed)
        return Verdict("accepted", changes, f"accepted: {changes}")
    return verdict


@pytest.mark.parametrize("name", CALLS)
def test_valid_calls_give_results(name):
    verdict = judge(CALLS[name], CALLS[name].base)
    refused = name in REFUSED and verdict.kind == "refusal"
    assert refused or verdict.kind == "result", f"{CALLS[name].source(CALLS[name].base)}\n{verdict}"


# What is asked of results that have no answer, or of data that are not there.
REFUSED = {"load_pima_diabetes", "load_concrete"}


@pytest.mark.parametrize("given", sample(SAMPLE), ids=str)
def test_sample(given):
    verdict = judged(given)
    assert verdict.right, f"{given.source}\n{verdict}"


@pytest.mark.torture
@pytest.mark.parametrize("name", CALLS)
def test_all(name):
    outcomes = [(given.source, judged(given)) for given in full(name)]
    wrong = [f"{source}\n  {verdict}" for source, verdict in outcomes if not verdict.right]
    shown = "\n".join(wrong[:5])
    assert not wrong, f"{len(wrong)} of {len(outcomes)} inputs, the first:\n{shown}"
