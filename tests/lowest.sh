#!/usr/bin/env bash
# Tests the package with the lowest versions that `pyproject.toml` allows, in an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 OMP_NUM_THREADS=1 PYTHONPATH="$PWD"
"${1:-python3}" - <<'PYTHON' >"$place/lowest.txt"
import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in (*project["dependencies"], *extras["boost"], *extras["frames"]):
    name, bound = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
    print(f"{name}=={bound}")
PYTHON
"${1:-python3}" -m venv "$place/venv"
python="$place/venv/bin/python"
"$python" -m pip install --no-compile -r "$place/lowest.txt" pytest pytest-timeout hypothesis
"$python" -m pytest -q -p no:cacheprovider tests/docs/test_readme.py tests/contract/test_form_of_rows.py \
  tests/contract/test_plots.py tests/reference/test_saved_files.py \
  tests/unit/test_{any_frame,archive,codes,fitted,formula,frames,import,linear,native,offset,results,sample,statsmodels_formula,trees}.py
