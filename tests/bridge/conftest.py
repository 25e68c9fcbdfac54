"""R for the tests of the bridge: skipped by name where it is absent, unless it is required."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from r_bridge.conversion import from_r
from r_bridge.errors import RMissingError
from r_bridge.packages import need
from r_bridge.session import SESSION

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "stand_ins"
REQUIRED = os.environ.get("PYINTERP_REQUIRE_R") == "1"


@pytest.fixture(scope="session")
def r():
    """Evaluate an expression of R, its value as Python has it."""
    try:
        SESSION.r  # noqa: B018 - starts R
    except RMissingError as error:
        if REQUIRED:
            pytest.fail(f"PYINTERP_REQUIRE_R=1, but: {error}")
        pytest.skip(str(error))
    return lambda expression: from_r(SESSION.evaluate(expression), SESSION.r)


def needed(*packages, always):
    """Skip, by name, without packages of R; fail if they are always there, and R is required.

    A function, such as "gbm::gbm", stands for its package.
    """
    for package in (name.partition("::")[0] for name in packages):
        try:
            need(package, "this test")
        except RMissingError as error:
            if REQUIRED and always:
                pytest.fail(f"PYINTERP_REQUIRE_R=1, but: {error}")
            pytest.skip(str(error))


@pytest.fixture(scope="session")
def installed(r):
    """Ask for packages of R that Debian does not have."""
    return partial(needed, always=False)


@pytest.fixture(scope="session")
def debian(r):
    """Ask for packages of R that Debian has."""
    return partial(needed, always=True)


@pytest.fixture(scope="session")
def rows():
    """120 rows: response `y`, numbers, an integer, strings, a factor in an order of its own."""
    rng = np.random.default_rng(6)
    n = 120
    f = pd.Categorical(rng.choice(["low", "mid", "high"], n), categories=["low", "mid", "high"])
    frame = pd.DataFrame(
        {
            "x1": rng.normal(size=n),
            "x2": rng.uniform(size=n),
            "k": rng.integers(0, 5, n),
            "f": f,
            "s": rng.choice(["a", "b"], n),
        }
    )
    y = frame["x1"] ** 2 + frame["x2"] + (f == "high") + 0.2 * rng.normal(size=n)
    return frame.assign(y=y, c=np.where(y > 1.2, "yes", "no"))


@pytest.fixture(scope="session")
def run():
    """Run a program in a process of its own; variables that are None are taken away."""

    def run(code, **variables):
        path = variables.pop("before", None)
        given = {"PYTHONPATH": os.pathsep.join(filter(None, [path, str(ROOT)])), **variables}
        env = {**os.environ, **{k: v for k, v in given.items() if v is not None}}
        for name, value in given.items():
            if value is None:
                env.pop(name, None)
        return subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", code],
            check=False,
            capture_output=True,
            text=True,
            env=env,
            timeout=540,
        )

    return run


@pytest.fixture(scope="session")
def library(r, tmp_path_factory):
    """A library of R with the stand-ins alone."""
    folder = tmp_path_factory.mktemp("library")
    program = str(Path(r("R.home()")[0], "bin", "R"))
    options = ["--no-docs", "--no-byte-compile", "--no-test-load", "--no-staged-install"]
    sources = [str(SOURCES / name) for name in ("pdp", "vip", "hstats")]
    subprocess.run(  # noqa: S603 - R itself
        [program, "CMD", "INSTALL", *options, "-l", str(folder), *sources],
        check=True,
        capture_output=True,
    )
    return str(folder)
