"""Measurements that need a process of their own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["call", "peak_bytes", "reply"]


def call(script: str, *arguments: object, **environment: str) -> dict[str, float]:
    """Run a script of this folder in a fresh process; return what it replied."""
    command = [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)]
    done = subprocess.run(  # noqa: S603  # our own scripts
        command, capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr}")
    replied: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return replied


def reply(**values: Any) -> None:
    print(json.dumps(values))


def peak_bytes() -> int:
    """Return the peak resident memory of this process.

    On Linux `ru_maxrss` starts at the peak of the process that started this one; VmHWM does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
