#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment and tests it away from the source tree.
set -euo pipefail
cd "$(dirname "$0")/.."
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
"${1:-.venv/bin/python}" -m pip --quiet --disable-pip-version-check wheel --no-deps -w "$place" .
"${1:-.venv/bin/python}" -m venv "$place/venv"
wheel="$(ls "$place"/*.whl)"
"$place/venv/bin/python" -m pip --quiet --disable-pip-version-check install "$wheel[test]"
mkdir "$place/tests"
cp -r tests/photograph tests/unit/test_estimate.py tests/unit/test_pickle.py tests/conftest.py pyproject.toml "$place/tests"
cd "$place/tests"
"$place/venv/bin/python" -c 'import pathlib, pyinterp; assert "site-packages" in pyinterp.__file__, pyinterp.__file__
assert (pathlib.Path(pyinterp.__file__).parent / "py.typed").exists()
assert pyinterp.datasets.load("diabetes").shape == (442, 11)'
"$place/venv/bin/python" -m pytest -q -n 2 -p no:cacheprovider photograph test_pickle.py
