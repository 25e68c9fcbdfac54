"""Count the cases of the oracles, over all processes, at the end of a run."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many cases were compared, in tests that failed as well."""
    total: Counter[str] = Counter()
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    for report in reports:
        if getattr(report, "when", "") == "teardown":  # counts are known after the test
            for name, counts in report.user_properties:
                if name == "oracle":
                    total.update({k: v for k, v in counts.items() if ":" not in k})
    if total:
        told = ", ".join(f"{number} {what}" for what, number in total.items())
        terminalreporter.write_line(f"cases of the naive oracles: {told}")
