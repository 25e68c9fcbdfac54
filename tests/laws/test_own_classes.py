"""Classes of a script have the same table wherever their refits are made."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from shared import own_classes

pytest.importorskip("catboost")
OWN_WAY = {"own predict", "own private step"}


def test_tables_of_own_classes_do_not_depend_on_where_refits_are_made(tmp_path: Path) -> None:
    first, then = own_classes(tmp_path), own_classes(tmp_path)
    assert len(first) == 12
    assert ("Dask" in first["module"]) == (importlib.util.find_spec("distributed") is not None)
    for name, ways in first.items():
        again, said = then[name]
        assert said == "2 of 4 refits, proven"
        every = {tuple(shown) for shown in [*ways.values(), *again]}
        assert len(every) == 1, (name, ways, again)
        ((_, engine),) = every
        assert (engine == "batched") == (name in OWN_WAY), (name, engine)
