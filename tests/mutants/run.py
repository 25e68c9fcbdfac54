"""Mutation testing of the numbers: does a test fail for every small fault?

``make mutants`` runs it. Tests are first run once, to see which functions each of them calls. Then
faults are drawn at random, with a fixed seed and in proportion to the lines of code of each module,
and the tests that call the faulty function are run, cheapest file first, until one fails. Results
are kept in a file, so that a run that was stopped goes on where it was.
"""

import argparse
import hashlib
import importlib
import json
import os
import random
import signal
import sys
import time
import tomllib
import traceback
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from mutations import code_lines, mutants_of
from plugins import Calls, Chosen, Fault

ROOT = Path(__file__).parents[2]
PACKAGES = ("pyinterp/inference", "pyinterp/estimands")
REASONS = Path(__file__).parent / "reasons.toml"
TESTS = (
    *(
        f"tests/unit/test_{name}.py"
        for name in (
            "accumulated", "ale", "bad_input", "blame", "bootstrap", "causal", "compare_many",
            "conditional", "coverage_statements", "delta", "effects", "estimate", "estimates",
            "features", "flatness", "grids", "h_statistic", "half_refits", "half_sample",
            "importance_measures", "inference", "interaction", "interactions", "joint_tests",
            "loco", "mean_family", "mean_share", "metrics", "metrics_of_r", "monte_carlo", "native",
            "nested_bootstrap", "ordered", "permutation", "population", "ranks", "ratios",
            "register_variance", "relation", "replicates", "resampling", "results", "risk",
            "row_frame", "row_warnings", "sage", "sample_size", "shares", "simultaneous", "square",
            "tables", "two_sides", "uncertainty", "uncertainty_edges",
        )
    ),
    "tests/contract/test_one_answer.py",
    "tests/unit/test_printed_rows.py",
    "tests/laws/test_groups_of_rows.py",
    "tests/laws/test_laws.py",
)  # fmt: skip
# Imported once, before any process is forked; nothing of the package is.
WARM = (
    "hypothesis", "joblib", "numba", "pandas", "patsy", "plotnine", "scipy.optimize", "scipy.stats",
    "sklearn.compose", "sklearn.ensemble", "sklearn.linear_model", "sklearn.neural_network",
    "sklearn.svm", "statsmodels.api", "statsmodels.formula.api", "treelite",
)  # fmt: skip
# Seconds of tests that a fault must withstand, and the time after which it counts as one that
# never ends.
ENOUGH, HANGS = 90.0, 400.0
KILLED, SURVIVED, BROKEN = "killed", "survived", "broken"


def main():
    """Run what is asked for and say what survived."""
    asked = _arguments()
    asked.cache.mkdir(parents=True, exist_ok=True)
    calls = _calls(asked.cache, asked.processes)
    file = asked.cache / "results.jsonl"
    done = _read(file)
    sample = _sample(asked.number, asked.seed, asked.within)
    wanted = [
        m for m in sample if m.name not in done or (asked.again and done[m.name]["is"] == SURVIVED)
    ]
    if wanted:
        _warm()
        _run(wanted, calls, file, asked.cache, asked.processes)
    return _report([m.name for m in sample], _read(file))


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=320, help="faults that are tried")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--within", default="", help="a part of the paths of modules to try")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="try survivors again")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "mutants")
    return parser.parse_args()


def _sample(number, seed, within=""):
    every = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    modules = [name for path in every if within in (name := str(path.relative_to(ROOT)))]
    if not modules:
        raise SystemExit(f"No module of {' and '.join(PACKAGES)} has {within!r} in its path.")
    lines = {module: code_lines(ROOT, module) for module in modules}
    share = number / sum(lines.values())
    chosen = []
    for module in modules:
        every = mutants_of(ROOT, module)
        rng = random.Random(f"{seed} {module}")  # noqa: S311 - a sample, no secret
        chosen += rng.sample(every, min(len(every), round(lines[module] * share + 0.49)))
    return chosen


def _calls(cache, processes):
    """Return seconds and called functions of every test, recorded anew for files that changed."""
    files = {}
    for path in (ROOT / test for test in TESTS):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        files[path] = cache / f"calls-{path.stem}-{digest}.json"
    queue = [path for path, file in files.items() if not file.exists()]
    running = {}
    if queue:
        _warm()
    while queue or running:
        while queue and len(running) < processes:
            path = queue.pop()
            record = partial(_record, path, files[path])
            running[_fork(record, cache / f"{path.stem}.log")] = time.monotonic()
        running.pop(_wait(running, 3600)[0])
    return {k: v for file in files.values() for k, v in json.loads(file.read_text()).items()}


def _record(path, file):
    calls = Calls(ROOT, PACKAGES)
    code = pytest.main([*_options(), str(path)], plugins=[calls])
    file.write_text(json.dumps(calls.found()))
    return int(code)


def _options():
    # hypothesis, a plugin, was imported before it could be rewritten, which it need not be.
    known = "ignore::pytest.PytestAssertRewriteWarning"
    return ["-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", str(ROOT), "-W", known]


def _warm():
    sys.path.insert(0, str(ROOT))
    for name in WARM:
        importlib.import_module(name)
    import hypothesis

    # The same examples for every fault; a slow machine is none.
    hypothesis.settings.register_profile(
        "mutants", deadline=None, derandomize=True, database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    hypothesis.settings.load_profile("mutants")


def _run(wanted, calls, file, cache, processes):
    running = {}
    queue = list(wanted)
    while queue or running:
        while queue and len(running) < processes:
            mutant = queue.pop(0)
            by = cache / f"by-{len(queue)}.txt"
            by.unlink(missing_ok=True)
            tests = _tests_of(mutant, calls)
            child = _fork(partial(_try, mutant, tests, by), cache / "last.log")
            running[child] = mutant, time.monotonic(), by
        ended, code = _wait({child: start for child, (_, start, _) in running.items()}, HANGS)
        mutant, start, by = running.pop(ended)
        line = {
            "name": mutant.name,
            "line": mutant.line,
            "is": {0: SURVIVED, 1: KILLED, None: KILLED}.get(code, BROKEN),
            "by": by.read_text() if by.exists() else "time" if code is None else str(code),
            "seconds": round(time.monotonic() - start, 1),
        }
        by.unlink(missing_ok=True)
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
        print(f"{len(queue):4d} {line['is']:9s}{line['seconds']:6.1f} s {line['name'][:150]}")


def _tests_of(mutant, calls, enough=ENOUGH):
    """Return the tests that call what has the fault, the shortest first, file by file."""
    own = f"{mutant.module}:{mutant.within}"
    # A module without functions, as one of constants is, is used by its folder's.
    places = [own] if mutant.within else [f"{mutant.module}:", f"{Path(mutant.module).parent}/"]
    found = []
    for place in places:
        found = found or [
            (seconds, test)
            for test, (seconds, functions) in calls.items()
            if any(f == own or (not mutant.within and f.startswith(place)) for f in functions)
        ]
    chosen, cost, total = [], Counter(), 0.0
    for seconds, test in sorted(found):
        total += seconds
        if total > enough and chosen:
            break
        chosen.append(test)
        cost[test.partition("::")[0]] += seconds
    named = f"tests/unit/test_{Path(mutant.module).stem}.py"
    return sorted(chosen, key=lambda t: (not t.startswith(named), cost[t.partition("::")[0]]))


def _try(mutant, tests, by):
    if not tests:
        return 0
    fault = Fault(ROOT, mutant)
    sys.meta_path.insert(0, fault)
    try:
        importlib.import_module(fault.module)
    except (ImportError, OSError):  # of the environment, not of the fault
        raise
    except Exception as error:  # noqa: BLE001 - whatever the fault makes of the module
        by.write_text(f"import: {error!r}"[:200])
        return 1
    files = {}
    for test in tests:
        files.setdefault(test.partition("::")[0], []).append(test)
    for path, own in files.items():  # one after the other: most faults are seen in the first
        code = pytest.main([*_options(), "-x", "--tb=no", path], plugins=[Chosen(own, by)])
        if code:
            return int(code)
    return 0


def _fork(work, log):
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        os.setsid()
        with log.open("w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            os.chdir(ROOT)
            try:
                code = work()
            except BaseException:  # noqa: BLE001 - a process of its own must say what happened
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(code)


def _wait(started, limit):
    """Return a process that has ended and its code, None if it was ended for taking too long."""
    first = time.monotonic()
    while True:
        for child, start in started.items():
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return child, os.waitstatus_to_exitcode(status)
            if time.monotonic() - (start or first) > limit:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return child, None
        time.sleep(0.05)


def _read(file):
    if not file.exists():
        return {}
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {line["name"]: line for line in lines}


def _report(names, done):
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    count = Counter(done[name]["is"] for name in names)
    alive = [name for name in names if done[name]["is"] != KILLED]
    unexplained = [name for name in alive if name not in reasons]
    print(f"{len(names)} tried: {dict(count)}; {len(alive) - len(unexplained)} have a reason.")
    for name in unexplained:
        print(f"{done[name]['is']}, line {done[name]['line']}: {name}")
    return int(len(unexplained) > 0.03 * len(names))


if __name__ == "__main__":
    sys.exit(main())
