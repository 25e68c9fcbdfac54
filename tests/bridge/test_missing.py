"""What can be missing is one sentence with the line that mends it; each in a process of its own."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

START = """
from r_bridge import RMissingError
from r_bridge.session import SESSION
for _ in range(2):  # asking again says the same
    try:
        SESSION.call("identity", 1)
    except RMissingError as error:
        print(error)
"""

needs_r = pytest.mark.skipif(shutil.which("R") is None, reason="R is not installed")


def shim(folder, code):
    """Make a package rpy2 that fails as `code` says, and return the path before all others."""
    package = folder / "rpy2"
    package.mkdir()
    (package / "__init__.py").write_text(code, encoding="utf-8")
    return str(folder)


def sentences(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_importing_the_bridge_imports_no_rpy2_and_starts_no_r(run):
    look = "print('rpy2' in sys.modules, dir(r_bridge))\nfrom r_bridge import RLearner\n"
    done = run(f"import sys, r_bridge\n{look}{look}")
    assert [line.split()[0] for line in sentences(done)] == ["False", "False"]


def test_rpy2_is_absent(run, tmp_path):
    gone = shim(tmp_path, "raise ModuleNotFoundError(\"No module named 'rpy2'\", name='rpy2')")
    first, second = sentences(run(START, before=gone))
    assert first == second
    assert first == (
        "`r_bridge` needs rpy2, which is not installed; install it with pip install "
        '"pyinterp-stats[r]".'
    )


@needs_r
def test_versions_that_do_not_fit(run, tmp_path):
    pytest.importorskip("_cffi_backend")
    kinds = ["ValueError", "RuntimeError", "OSError", "FFI.error"]
    code = "import builtins\nfrom _cffi_backend import FFI\nraise eval(builtins.kind)('no R_new')"
    each = f"import builtins\nfor builtins.kind in {kinds}: exec({START!r})"
    said = sentences(run(each, before=shim(tmp_path, code)))
    assert len(said) == 2 * len(kinds)
    assert said[::2] == said[1::2]
    for line in said:
        assert line.startswith("rpy2 can't use R: ")
        assert 'pip install "rpy2-rinterface<3.6.6"' in line
        assert "no R_new" in line


def test_r_home_is_nowhere(run, tmp_path):
    pytest.importorskip("rpy2.rinterface_lib")
    first, second = sentences(run(START, R_HOME=str(tmp_path)))
    assert first == second
    assert first.startswith(f"`r_bridge` needs R, but R_HOME is {str(tmp_path)!r}")
    assert "apt-get install r-base-core" in first


def test_r_home_has_the_library_but_nothing_else(run, r, tmp_path):
    home = Path(r("R.home()")[0])
    for part in ("bin", "lib"):
        (tmp_path / part).symlink_to(home / part)
    (message, _) = sentences(run(START, R_HOME=str(tmp_path)))
    assert "no library of R in" in message


def test_there_is_no_r_in_path(run, tmp_path):
    pytest.importorskip("rpy2.rinterface_lib")
    first, second = sentences(run(START, R_HOME=None, PATH=str(tmp_path)))
    assert first == second
    assert first.startswith("`r_bridge` needs R, but there is no `R` in PATH; install R")


CALLS = """
import pandas as pd, r_bridge
from r_bridge.session import SESSION
SESSION.call(".libPaths", {lib!r}, **{{"include.site": False}})
rows = pd.DataFrame({{"x1": [1.0, 2, 3, 4, 5], "x2": [3.0, 1, 2, 5, 4]}})
model = lambda frame: frame.x1 + frame.x2
for call in (
    lambda: r_bridge.partial(model, rows, "x1"),
    lambda: r_bridge.vi_firm(model, rows),
    lambda: r_bridge.vi_permute(model, rows, target=rows.x1, metric="rmse"),
    lambda: r_bridge.hstats(model, rows),
    lambda: r_bridge.RLearner("nothere::fit").fit(rows, rows.x1),
):
    try:
        call()
    except r_bridge.RMissingError as error:
        print(error)
"""


def test_packages_of_r_are_absent(run, r, tmp_path):
    expected = [("partial", "pdp"), ("vi_firm", "pdp"), ("vi_permute", "vip"), ("hstats", "hstats")]
    found = sentences(run(CALLS.format(lib=str(tmp_path))))
    assert found[:-1] == [
        f"`r_bridge.{name}` needs R's package {package}, which is not installed; run "
        f'install.packages("{package}") in R. Without {package}, `pi.r_style` has the same '
        "functions."
        for name, package in expected
    ]
    assert found[-1].startswith('`RLearner("nothere::fit")` needs R\'s package nothere')
