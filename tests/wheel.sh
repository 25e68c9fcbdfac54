#!/usr/bin/env bash
# Builds the wheel, or takes one, installs it into an empty environment and tests it away from the source tree.
# No extras are installed, so a dependency that is not declared is missing here.
set -euo pipefail
cd "$(dirname "$0")/.."
unset PYTHONPATH  # it could lead to the source
python="${1:-.venv/bin/python}"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
if [ $# -gt 1 ]; then cp "$2" "$place"; else "$python" -m pip wheel --no-deps -w "$place" .; fi
"$python" -m venv "$place/venv"
python="$place/venv/bin/python"
"$python" -m pip install "$place"/*.whl pytest pytest-timeout
mkdir "$place/tests"
cp -r pyproject.toml tests/conftest.py tests/unit/fits.py tests/photograph "$place/tests"
cp tests/unit/test_{import,fit_model,fitted,losses,samplers}.py "$place/tests"
mkdir "$place/pages"
cp README.md docs/getting_started.md docs/papers/{molnar2021,greenwell2018,khan2025,wood2024}.md "$place/pages"
cd "$place/tests"
"$python" - <<'PYTHON'
import re
import socket
from importlib import metadata, resources
from pathlib import Path

import pyinterp
import pyinterp_papers
import r_bridge

for package in (pyinterp, pyinterp_papers, r_bridge):
    if "site-packages" not in Path(package.__file__).parts:
        raise SystemExit(f"`{package.__name__}` comes from {package.__file__}, not from the wheel.")
    if not resources.files(package).joinpath("py.typed").is_file():
        raise SystemExit(f"`{package.__name__}` has no py.typed in the wheel.")
if metadata.version("pyinterp-stats") != pyinterp.__version__:
    raise SystemExit("The version of the wheel is not that of the package.")


def refuse(*_: object) -> None:
    raise SystemExit("Data that come with the wheel must not need the network.")


socket.socket.connect = refuse
if pyinterp.datasets.load_wine_quality().shape != (1599, 12):
    raise SystemExit("The wine data of the wheel are not those of the package.")
if not resources.files(pyinterp.datasets).joinpath("wine_quality_red.txt").is_file():
    raise SystemExit("The wine data of the wheel have no license beside them.")
if pyinterp.datasets.load("diabetes").shape != (442, 11):
    raise SystemExit("The diabetes data of the wheel are not those of the package.")
# The README, the first tutorial and all cells of the four papers, as they are printed.
for page in sorted(Path("../pages").glob("*.md")):
    start = "python" if page.name == "README.md" else r"\{code-cell\}.*?"
    fence = rf"^```{start}\n(.*?)^```$"
    blocks = re.findall(fence, page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if not blocks:
        raise SystemExit(f"{page.name} has no code.")
    names: dict[str, object] = {}
    for block in blocks:
        code = re.sub(r"^:tags:.*$", "", block, flags=re.MULTILINE)
        exec(compile(code, page.name, "exec"), names)  # noqa: S102 - our own pages
    print(page.name, len(blocks), "blocks run")
PYTHON
"$python" -m pytest -q -p no:cacheprovider .
