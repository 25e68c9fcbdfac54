"""Any public module can be the first to be imported: there are no circles."""

import subprocess
import sys

import pyinterp as pi

# One name of each module first of all, as in a program of its own; other packages stay loaded.
EACH_NAME = """
import importlib, sys
for name in {names!r}:
    for module in [m for m in sys.modules if m.partition(".")[0] == "pyinterp"]:
        del sys.modules[module]
    print(getattr(importlib.import_module("pyinterp"), name).__name__)
"""


def test_every_public_module_can_be_the_first_to_be_imported():
    first = {getattr(getattr(pi, name), "__module__", name): name for name in pi.__all__}
    code = EACH_NAME.format(names=list(first.values()))
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
    names = done.stdout.split()
    assert [name.rpartition(".")[2] for name in names] == list(first.values())
