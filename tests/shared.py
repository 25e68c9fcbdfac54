"""What tests of several folders do alike."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils.estimator_checks import check_estimator

SKIPPED = {"check_array_api_input"}  # arrays of other libraries, which need SCIPY_ARRAY_API
OWN = Path(__file__).parent / "laws" / "own_classes.py"


def check_of_sklearn(learner, **expected):
    """Check that scikit-learn's own checks pass, but for those that are expected to fail."""
    results = check_estimator(learner, expected_failed_checks=expected, on_skip=None, on_fail=None)
    failures = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failures == {}
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= SKIPPED
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == expected.keys()


def module_of(path):
    """Import a file that no package has, under its own name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def normal_rows(n, names, seed=0):
    """Return a generator, and a frame of n rows of independent normal columns that it drew."""
    rng = np.random.default_rng(seed)
    columns = names.split()
    return rng, pd.DataFrame(rng.normal(size=(n, len(columns))), columns=columns)


def own_classes(*arguments):
    """Run a script with classes of its own as `__main__`, and return what it prints."""
    path = os.pathsep.join(
        filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")])
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, *map(str, (OWN, *arguments))],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    return json.loads(done.stdout.splitlines()[-1])


def plain_table(results):
    """Return the table without what it says of a folder."""
    context = replace(results.context, folder="")
    return str(replace(results, context=context).summary())
