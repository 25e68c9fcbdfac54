"""`import pyinterp` is light, and every public name is there."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import pyinterp as pi

LOADED = """
import sys
before = set(sys.modules)
import pyinterp
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - set(sys.stdlib_module_names)))
"""


# Only trees and mixtures of Normals run compiled loops, and numba takes 54 MB.
LINEAR = """
import sys
import numpy as np
import pyinterp as pi
from sklearn.linear_model import LinearRegression
X = np.random.default_rng(0).normal(size=(90, 2))
pi.Learner(X[:, 0], X, LinearRegression()).fit(seed=1).pfi().summary()
print("numba" in sys.modules)
"""


def output_of(code):
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout.strip()


@pytest.mark.parametrize("module", ["pyinterp", "pyinterp.errors", "pyinterp.datasets"])
def test_importing_imports_no_third_party_module(module):
    assert output_of(LOADED.replace("import pyinterp", f"import {module}")) == "pyinterp"


def test_the_other_pyinterp_beside_this_one_is_named(tmp_path):
    (tmp_path / "pyinterp").symlink_to(Path(pi.__file__).parent)
    (tmp_path / "pyinterp_stats-0.1.0.dist-info").mkdir()
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{LOADED}"
    with_warnings = ["-c", f"import warnings; warnings.simplefilter('error')\n{code}"]
    run = partial(subprocess.run, [sys.executable, *with_warnings], capture_output=True, text=True)
    assert run().stdout.strip() == "pyinterp"
    (tmp_path / "pyinterp-2026.2.0.dist-info").mkdir()
    said = run().stderr.splitlines()[-1]
    assert said.startswith("UserWarning: PyPI's `pyinterp`, for geospatial interpolation, is ins")


def test_linear_models_need_no_numba():
    assert output_of(LINEAR) == "False"


@pytest.mark.parametrize("name", pi.__all__)
def test_every_public_name_resolves_and_is_listed(name):
    assert getattr(pi, name) is not None
    assert name in dir(pi)


def test_public_names_are_sorted_and_unique():
    assert sorted(set(pi.__all__)) == list(pi.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'pyinterp' has no attribute 'lm'"):
        pi.lm  # noqa: B018


def test_the_version_is_a_string():
    assert pi.__version__[0].isdigit()
