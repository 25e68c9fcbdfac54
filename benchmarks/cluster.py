"""Section on many machines: refits per second, bytes sent, and the time that a lost worker costs.

As a script it is one measurement: `cluster.py dask 1`, `cluster.py dask 2`, `cluster.py loky 2`,
`cluster.py killed 2`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from child import call, reply
from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.ensemble import RandomForestRegressor

import pyinterp as pi

TREES, FITS = 200, 45
KINDS = (
    ("loky, 2 jobs", "loky", 2),
    ("Dask, 1 worker", "dask", 1),
    ("Dask, 2 workers", "dask", 2),
    ("Dask, 2 workers, one killed in the middle", "killed", 2),
)
COLUMNS = "| where | s | refits per second | bytes on the wire, per refit, in sizes of the data |"


def cluster() -> str:
    """Return the section."""
    lines, before = [], 0.0
    for words, kind, jobs in KINDS:
        run = call("cluster.py", kind, jobs, PYINTERP_KILL_AFTER=str(before / 2))
        before = run["seconds"]
        lines.append(
            f"| {words} | {before:.1f} | {FITS / before:.2f} | "
            f"{run['sent'] / run['data'] / FITS:.2f} |"
        )
        print(lines[-1], flush=True)
    body = "\n".join(lines)
    return f"""
{FITS} forests of {TREES} trees on wine, by `fit`; workers are processes of one machine with two
cores. Seconds are those of the clock, of one run each. Bytes are those of the loopback interface:
every copy that scheduler, workers and the user's process exchange, without estimands.

{COLUMNS}
|---|---|---|---|
{body}
"""


def received() -> int:
    lines = Path("/proc/net/dev").read_text().splitlines()
    (line,) = [line for line in lines if line.strip().startswith("lo:")]
    return int(line.split(":")[1].split()[0])


def measure(kind: str, jobs: int) -> dict[str, Any]:
    data = pi.datasets.load_wine_quality()
    learner = pi.Learner.from_formula("quality ~ .", data, RandomForestRegressor(TREES))
    small = pi.Learner.from_formula("quality ~ .", data, RandomForestRegressor(2))

    def work(model: pi.Learner) -> tuple[float, int]:
        sent, start = received(), time.perf_counter()
        model.fit(seed=1, n_jobs=jobs if kind == "loky" else None, progress=False)
        seconds = time.perf_counter() - start
        return seconds, received() - sent

    size = int(data.to_numpy().nbytes)
    if kind == "loky":
        work(small)  # workers start and import
        seconds, sent = work(learner)
        return {"seconds": seconds, "sent": sent, "data": size}
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        LocalCluster(n_workers=jobs, **options) as cluster,
        Client(cluster),
        parallel_config("dask"),
    ):
        work(small)
        if kind == "killed":
            pids = [nanny.pid for nanny in cluster.workers.values()]
            after = float(os.environ["PYINTERP_KILL_AFTER"])
            threading.Timer(after, os.kill, (pids[0], signal.SIGKILL)).start()
        seconds, sent = work(learner)
    return {"seconds": seconds, "sent": sent, "data": size}


if __name__ == "__main__":
    reply(**measure(sys.argv[1], int(sys.argv[2])))
