"""Classes of a script have the same table wherever their refits are made."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("catboost")
OWN_WAY = {"own predict", "own private step"}


def run(folder: Path, *more: int) -> Any:
    script = Path(__file__).with_name("own_classes.py")
    command = [sys.executable, *map(str, (script, folder, *more))]
    path = os.pathsep.join(
        filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")])
    )
    done = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_tables_of_own_classes_do_not_depend_on_where_refits_are_made(tmp_path: Path) -> None:
    (first, _), (then, said) = run(tmp_path), run(tmp_path)
    assert len(first) == 12
    assert {*said.values()} == {"2 of 4 refits, proven"}
    assert ("Dask" in first["module"]) == (importlib.util.find_spec("distributed") is not None)
    for name, ways in first.items():
        every = {tuple(shown) for shown in [*ways.values(), *then[name].values()]}
        assert len(every) == 1, (name, ways, then[name])
        assert "resumed" in then[name]
        ((_, engine),) = every
        assert (engine == "batched") == (name in OWN_WAY), (name, engine)
