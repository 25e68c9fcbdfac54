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
COLUMNS = "| where | s | refits per second | bytes on the wire, per refit, in sizes of the data |"


def many_machines(pairs: int) -> str:
    """Return the section; runs of all kinds take turns."""
    kinds = [("loky", 2), ("dask", 1), ("dask", 2), ("killed", 2)]
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {kind: [] for kind in kinds}
    for _ in range(pairs):
        for kind, jobs in kinds:
            middle = {}
            if kind == "killed":
                middle = {"PYINTERP_KILL_AFTER": str(runs["dask", 2][-1]["seconds"] / 2)}
            runs[kind, jobs].append(call("cluster.py", kind, jobs, **middle))
    medians = {
        kind: sorted(each, key=lambda run: run["seconds"])[len(each) // 2]
        for kind, each in runs.items()
    }
    words = {
        "loky": "loky, {} jobs",
        "dask": "Dask, {} workers",
        "killed": "Dask, {} workers, one killed in the middle",
    }
    lines = [
        f"| {words[kind].format(jobs)} | {run['seconds']:.1f} | {FITS / run['seconds']:.2f} | "
        f"{run['sent'] / run['data'] / FITS:.2f} |"
        for (kind, jobs), run in medians.items()
    ]
    seconds = {kind: run["seconds"] for kind, run in medians.items()}
    body = "\n".join(lines)
    return f"""## Many machines

{FITS} forests of {TREES} trees on wine, by `fit`; workers are processes of one machine
with two cores. Bytes are those of the loopback interface: every copy that scheduler, workers and
the user's process exchange, without estimands.

{COLUMNS}
|---|---|---|---|
{body}

Two workers train {seconds["dask", 1] / seconds["dask", 2]:.2f} times as many refits per second as
one (1.7 asked), and {seconds["loky", 2] / seconds["dask", 2]:.2f} times as many as two jobs of loky
(.9 asked). With a worker killed in the middle of the fit it takes
{seconds["killed", 2] / seconds["dask", 2]:.2f} times as long (1.5 asked).
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
