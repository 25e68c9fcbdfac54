#!/usr/bin/env bash
# Tests in other environments: without other frames, with scikit-learn's routing of metadata, with the
# arithmetic of another processor, and with the newest version of Python. What can't be had is skipped by name.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${1:-.venv/bin/python}"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 OMP_NUM_THREADS=1 PYTHONPATH="$PWD"
ROWS=(tests/contract/test_form_of_rows.py tests/unit/test_{any_frame,fitted,frames,row_frame}.py)

quick() {  # quick NAME PYTHON TESTS...: run tests with a Python
  echo "== $1"
  "$2" -m pytest -q -p no:cacheprovider "${@:3}"
}

mkdir "$place/without"
cat >"$place/without/sitecustomize.py" <<'PYTHON'
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyarrow", "polars", "duckdb"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
PYTHON
PYTHONPATH="$place/without:$PWD" quick "without pyarrow, polars and DuckDB" "$python" "${ROWS[@]}" \
  tests/photograph tests/lasting/test_saving.py tests/bridge/test_names.py
PYINTERP_TEST_ROUTING=1 quick "with routing of metadata" "$python" \
  tests/laws/test_sampling_weights.py tests/unit/test_{fitted,frames,linear,offset,refits,trees}.py

# The same seed has the same numbers where BLAS adds up in another order.
cat >"$place/core.py" <<'PYTHON'
import numpy as np
from threadpoolctl import threadpool_info

np.ones((64, 64)) @ np.ones((64, 64))  # ends here without the instructions
print(*sorted({each["architecture"] for each in threadpool_info() if each["internal_api"] == "openblas"}))
PYTHON
own="$("$python" "$place/core.py")"
core=""
for candidate in Prescott Sandybridge Haswell; do
  other="$(OPENBLAS_CORETYPE=$candidate "$python" "$place/core.py" 2>/dev/null || true)"
  if [ -n "$other" ] && [ "$other" != "$own" ]; then core="$candidate"; fi
done
if [ -z "$core" ]; then
  echo "== arithmetic of another processor: skipped, BLAS is not OpenBLAS of x86, or knows no other"
else
  OPENBLAS_CORETYPE="$core" quick "arithmetic of another processor: $core (here ${own:-unknown})" "$python" \
    tests/docs/test_examples.py tests/photograph
  "$python" tests/studies/certificates.py >"$place/own"
  OPENBLAS_CORETYPE="$core" "$python" tests/studies/certificates.py | diff "$place/own" -
fi
# The newest version that is installed.
for version in 3.14 3.13 3.12; do
  interpreter=""
  for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
    # A shim of pyenv is there and does not run.
    if "$candidate" -c '' 2>/dev/null; then interpreter="$candidate"; fi
  done
  if [ -z "$interpreter" ]; then
    echo "== Python $version: skipped, it is not installed"
    continue
  fi
  "$interpreter" -m venv "$place/$version"
  "$place/$version/bin/python" -m pip install --no-compile -e '.[test]'
  quick "Python $version" "$place/$version/bin/python" "${ROWS[@]}" tests/docs/test_readme.py tests/unit/test_archive.py
  break
done
