"""A file with every estimand gives the tables that it was saved with; older files are refused.

Requests are texts that all sessions share: `requests_4.txt` has those of the file. A change of one
is a change of what old files answer: raise `Estimand.version` where a meaning changes, and keep the
texts of all others.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from shared import module_of

import pyinterp as pi
from pyinterp.learner.on_file import findings
from pyinterp.storage.archive import SCHEMA

SAVED = Path(__file__).parent / "saved"
# Saved numbers have 15 digits; distributions of other versions of scipy differ as much.
DIGITS = 1e-9
make = module_of(SAVED / "make.py")


def check(results, table):
    now = json.loads(results.tidy().to_json(double_precision=15))
    pd.testing.assert_frame_equal(pd.DataFrame(now), pd.DataFrame(table), rtol=DIGITS, atol=DIGITS)


@pytest.fixture(scope="module")
def tables():
    return json.loads((SAVED / f"tables_{SCHEMA}.json").read_text())


@pytest.fixture(scope="module")
def fit():
    return pi.load(SAVED / f"fit_{SCHEMA}.pyinterp")


@pytest.mark.parametrize("name", make.QUESTIONS)
def test_a_file_gives_its_tables(fit, tables, name):
    results = make.QUESTIONS[name](fit)
    check(results, tables[name])
    assert str(results.summary())


def test_results_give_their_tables(fit, tables):
    assert tables.keys() == {*make.QUESTIONS, "test"}
    importance = pi.load(SAVED / f"importance_{SCHEMA}.pyinterp")
    check(importance, tables["importance"])
    assert str(pi.load(SAVED / f"test_{SCHEMA}.pyinterp")) == tables["test"]
    fit.pfi(p_adjust="holm").summary()
    fit.pfi().plot()


def test_requests_are_the_texts_that_files_have(fit):
    """Of this version and of the one that wrote the file, which holds nothing else."""
    texts = (SAVED / f"requests_{SCHEMA}.txt").read_text().splitlines()
    assert sorted(fit.record.models.findings) == texts
    fresh = make.learner().fit(pi.HalfSampling(2, pairs=5), seed=1, progress=False)
    for ask in make.QUESTIONS.values():
        ask(fresh)
    assert sorted(findings(fresh.analysis)) == texts
    assert not [text for text in texts if " at 0x" in text or re.search(r"\b_[a-z]", text)]


def test_an_older_schema_is_refused_in_words():
    with pytest.raises(pi.errors.FileError, match=r"older version .*schema 2.* fit again"):
        pi.load(SAVED / "test_2.pyinterp")


@pytest.mark.skipif(sys.platform == "win32", reason="paths")
def test_private_names_may_change(tmp_path, tables):
    """Every private function of estimands and losses has another name, and the file is read."""
    package = tmp_path / "pyinterp"
    shutil.copytree(Path(str(pi.__file__)).parent, package)
    for folder in ("estimands", "losses"):
        for path in (package / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            private = set(re.findall(r"^def (_[a-z]\w*)\(", text, flags=re.MULTILINE))
            for name in private:
                text = re.sub(rf"(?<![\w.]){name}\b", f"{name}_renamed", text)
            path.write_text(text, encoding="utf-8")
    ask = (
        "import sys, json, pyinterp as pi; assert sys.argv[2] in pi.__file__, pi.__file__;"
        "fit = pi.load(sys.argv[1]);"
        "print(json.dumps([fit.firm('x').params.tolist(), fit.pfi().params.tolist(), "
        "fit.amvim('x').params.tolist(), fit.causal('x', grid=[-1, 1]).share.params.tolist()]))"
    )
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", ask, str(SAVED / f"fit_{SCHEMA}.pyinterp"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    firm, pfi, amvim, _ = json.loads(run.stdout)
    for found, name in ((firm, "firm"), (pfi, "pfi"), (amvim, "amvim")):
        assert found == pytest.approx(list(pd.DataFrame(tables[name])["estimate"]), rel=DIGITS)
