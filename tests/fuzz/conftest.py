"""What the full run says at its end, and where its failures are written."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# A file for the failures of the full run, grouped by cause, each with its reproducers.
REPORT = "PYINTERP_FUZZ_REPORT"


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let loaders look in an empty folder, and write there: any text is a path to some calls."""
    monkeypatch.setenv("PYINTERP_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a line about all inputs, and write the failures if a file is named."""
    outcomes = [outcome for part in _recorded(terminalreporter) for outcome in part]
    if not outcomes:
        return
    terminalreporter.write_line(summarized(outcomes))
    if os.environ.get(REPORT):
        Path(os.environ[REPORT]).write_text(described(outcomes), encoding="utf-8")


def _recorded(reporter: Any) -> Iterator[list[dict[str, Any]]]:
    for status in ("passed", "failed"):
        for report in reporter.stats.get(status, []):
            for name, value in getattr(report, "user_properties", []):
                if name == "fuzz":
                    yield json.loads(value)


def summarized(outcomes: list[dict[str, Any]]) -> str:
    """Return inputs, results, refusals, the share of good ones, silent acceptances and hangs."""
    kinds = Counter(outcome["kind"] for outcome in outcomes)
    refused = kinds["refusal"] + kinds["poor refusal"]
    share = kinds["refusal"] / refused if refused else 1.0
    return (
        f"fuzz: {len(outcomes)} inputs, {kinds['result']} results, {refused} refusals, of which "
        f"{share:.2%} own errors within the limits, {kinds['accepted']} silent acceptances, "
        f"{kinds['unlawful']} results that break a law, {kinds['hang']} hangs"
    )


def described(outcomes: list[dict[str, Any]]) -> str:
    """Return the failures grouped by cause, the most frequent first."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for outcome in outcomes:
        if outcome["kind"] not in ("result", "refusal"):
            groups.setdefault(outcome["cause"], []).append(outcome)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return "\n".join([f"# {summarized(outcomes)}", *(_group(*item) for item in ordered)])


def _group(cause: str, outcomes: list[dict[str, Any]]) -> str:
    first = outcomes[0]
    sources = "\n".join(f"    {outcome['source']}" for outcome in outcomes)
    return f"\n## {len(outcomes)} x {cause}\n{first['message']}\n\n{sources}"
