"""The scripts of the page on clusters run as they stand, with bash in the place of sbatch."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor

import pyinterp as pi

PAGE = Path(__file__).resolve().parents[2] / "docs" / "overnight.md"
BLOCK = re.compile(
    r"^```\{code-block\} \w+\n:caption: (\S+)\n\n(.*?)^```$", re.DOTALL | re.MULTILINE
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="bash")


def test_scripts_of_slurm_and_dask(tmp_path):
    files = dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    assert set(files) == {"night.py", "night.sh", "join.sh", "spread.py"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (count,) = re.findall(r"^#SBATCH --array=1-(\d+)$", files["night.sh"], re.MULTILINE)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(PAGE.parents[1]), *sys.path]),
        "SLURM_ARRAY_TASK_COUNT": count,
    }

    def bash(script, **variables):
        done = subprocess.run(  # noqa: S603 - scripts of our page
            ["bash", script],  # noqa: S607
            cwd=tmp_path, env={**environment, **variables}, check=True, text=True,
            stdout=subprocess.PIPE,
        )  # fmt: skip
        return done.stdout

    for task in reversed(range(int(count))):
        bash("night.sh", SLURM_ARRAY_TASK_ID=str(task + 1))
    assert "Permutation feature importance" in bash("join.sh")
    learner = pi.Learner.from_formula(
        "progression ~ .", pi.datasets.load_diabetes(), RandomForestRegressor(20)
    )
    alone = learner.fit(seed=1).pfi().tidy()
    subprocess.run(
        [sys.executable, "spread.py"], cwd=tmp_path, env=environment, check=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    for name in ("night", "spread"):
        saved = pi.load(tmp_path / f"{name}.pyinterp").pfi().tidy()
        pd.testing.assert_frame_equal(saved, alone, check_exact=True)
