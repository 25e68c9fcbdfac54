"""SIGKILL while a file is written over an old one leaves the old or the new one, whole.

A child of a fork kills itself at one of the calls that Python makes in the writing, by its number:
no clock decides when.
"""

import os
import subprocess
import sys

import pandas as pd
import pytest

import pyinterp as pi

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")

PROGRAM = """
import os, random, signal, sys
from pathlib import Path
import matplotlib; matplotlib.use("Agg")
import pandas as pd
import plotnine
import pyinterp as pi
from sklearn.linear_model import LinearRegression

name, kills = sys.argv[1], int(sys.argv[2])
data = pi.datasets.load_diabetes().iloc[:60]
learner = pi.Learner.from_formula("progression ~ bmi + bp + sex", data, LinearRegression())
fit = learner.fit(pi.HalfSampling(3, pairs=5), seed=1, progress=False)
path, write = {
    "save": ("a.pyinterp", lambda path: fit.pfi().save(path)),
    "to_excel": ("a.xlsx", lambda path: fit.pfi().to(path)),
    "report": ("a.html", lambda path: pi.report(fit, path, features=["bmi"])),
}[name]
plotnine.ggplot.save = lambda plot, file, **options: file.write(b"drawing")  # takes seconds
calls, stop = 0, None

def hear(frame, event, argument):
    global calls
    if calls or (event == "call" and frame.f_code.co_name == "whole_file"):
        calls += 1
        if calls == stop:
            os.kill(os.getpid(), signal.SIGKILL)

def heard():
    sys.setprofile(hear)
    write(path)
    sys.setprofile(None)

write("first-" + path)  # what the first call alone does
heard()
total, calls = calls, 0
Path(path).rename("new-" + path)
chance = random.Random(1)
stops = [chance.randrange(1, total + 1) for _ in range(kills - 8)]
stops += [total - k for k in range(0, 40, 5)]  # where the file moves
for number, stop in enumerate(stops):
    Path("run").mkdir()
    os.chdir("run")
    Path(path).write_bytes(b"old")
    child = os.fork()
    if not child:
        heard()
        os._exit(3)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise SystemExit(f"child {number} was not killed: {status}")
    os.chdir("..")
    Path("run").rename(f"run-{number}")
"""
FILES = {"save": "a.pyinterp", "to_excel": "a.xlsx", "report": "a.html"}


def content(path):
    """Return what a whole file holds; anything else raises."""
    if path.suffix == ".pyinterp":
        return pi.load(path).tidy().to_json()
    if path.suffix == ".xlsx":
        return [sheet.to_json() for sheet in pd.read_excel(path, sheet_name=None).values()]
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_a_kill_leaves_the_old_or_the_new_file(name, tmp_path):
    """20 kills, seed 1."""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-W", "ignore", "-c", PROGRAM, name, "20"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    new, left = content(tmp_path / f"new-{FILES[name]}"), []
    for number in range(20):
        folder = tmp_path / f"run-{number}"
        file = folder / FILES[name]
        old = file.read_bytes() == b"old"
        left.append(old)
        assert old or content(file) == new
        # A kill leaves the temporary file behind, which begins with a dot.
        others = [each.name for each in folder.iterdir() if each != file]
        assert all(other.startswith(".a-") for other in others)
        assert len(others) <= 1
    assert any(left)
    assert not all(left)
