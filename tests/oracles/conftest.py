"""Count the cases of the oracles, over all processes, at the end of a run."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    total: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, counts in report.user_properties:
                if name == "oracle":
                    total.update({k: v for k, v in counts.items() if ":" not in k})
    if total:
        told = ", ".join(f"{number} {what}" for what, number in total.items())
        terminalreporter.write_line(f"naive oracles of passed tests: {told}")
