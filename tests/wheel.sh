#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment and tests it away from the source tree.
set -euo pipefail
cd "$(dirname "$0")/.."
unset PYTHONPATH  # it could lead to the source
build="${1:-.venv/bin/python}"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1
"$build" -m pip --quiet wheel --no-deps -w "$place" .
"$build" -m venv "$place/venv"
"$place/venv/bin/python" -m pip --quiet install "$(ls "$place"/*.whl)[test]"
mkdir "$place/away"
cp -r tests/conftest.py tests/photograph tests/unit/test_import.py tests/unit/test_pickle.py pyproject.toml "$place/away"
cd "$place/away"
"$place/venv/bin/python" - <<'PYTHON'
from importlib import metadata, resources
from pathlib import Path

import pyinterp
import r_bridge

for package in (pyinterp, r_bridge):
    if "site-packages" not in Path(package.__file__).parts:
        raise SystemExit(f"`{package.__name__}` comes from {package.__file__}, not from the wheel.")
    if not resources.files(package).joinpath("py.typed").is_file():
        raise SystemExit(f"`{package.__name__}` has no py.typed in the wheel.")
if metadata.version("pyinterp-stats") != pyinterp.__version__:
    raise SystemExit("The version of the wheel is not that of the package.")
if pyinterp.datasets.load("diabetes").shape != (442, 11):
    raise SystemExit("The diabetes data of the wheel are not those of the package.")
PYTHON
"$place/venv/bin/python" -m pytest -q -p no:cacheprovider photograph test_import.py test_pickle.py
