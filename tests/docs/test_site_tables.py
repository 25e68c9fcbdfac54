"""Tables of pages that could fall behind: rivals, kinds of tests, importances."""

import ast
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from shared import module_of

from pyinterp.estimands.importance.measures import measures

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "studies" / "results" / "rivals.csv"
# A share that a size of 5% reaches with this probability is no sign of a larger one.
RARE = 0.001


@pytest.fixture(scope="module")
def script():
    return module_of(ROOT / "studies" / "rivals.py")


@pytest.fixture(scope="module")
def rivals():
    return pd.read_csv(TABLE).set_index(["package", "method"])


def test_the_table_has_every_method_of_the_script(script, rivals):
    assert set(rivals.index) == set(script.METHODS)
    assert len(set(rivals["data_sets"])) == 1
    assert rivals.notna().all(axis=None)


def test_our_tests_hold_their_size_in_the_table(rivals):
    ours = rivals.loc["pyinterp-stats"]
    most = stats.binom.ppf(1 - RARE, ours["data_sets"], 0.05) / ours["data_sets"]
    assert (ours["e"] <= most).all()


def test_the_script_still_makes_the_tests(script):
    """Data sets 0 to 2: strong features are found, and P is a probability."""
    for key in [("pyinterp-stats", "PFI, default"), ("scikit-learn", "PFI, mean / std as z")]:
        for number in range(3):
            p = np.asarray(script.METHODS[key](script.data_set(number), number), float)
            assert ((p >= 0) & (p <= 1)).all()
            assert (p[:2] < 0.05).all()


def test_the_page_on_trust_tells_what_every_folder_of_tests_proves():
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^proof = (\{.*?^\})", page, re.MULTILINE | re.DOTALL)
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert set(ast.literal_eval(table)) == folders


def test_the_page_on_importances_has_each_of_them():
    page = (ROOT / "docs" / "which_number.md").read_text(encoding="utf-8")
    table = page.partition("## All importances by question")[2].partition("\n## ")[0]
    for method in measures().values():
        assert f"`res.{method}(" in table, method
