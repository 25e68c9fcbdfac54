"""The demo says what it does, and how long it takes, before it loads what takes seconds."""

import os
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[2] / "vignettes" / "demo.py"


def test_the_demo_speaks_before_it_loads_anything(tmp_path):
    (tmp_path / "sklearn.py").write_text("raise SystemExit(3)")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ran = subprocess.run(  # noqa: S603 - our own file
        [sys.executable, str(DEMO), str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 3
    assert "45 fits of 442 patients" in ran.stdout
    assert "half a minute" in ran.stdout
    assert str(tmp_path / "out") in ran.stdout
