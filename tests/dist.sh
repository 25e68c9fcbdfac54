#!/usr/bin/env bash
# Builds the sdist, and the wheel from it, into dist/. The same commit must give the same bytes twice, and both
# must have the files of the repository and nothing else; README and getting started run from the wheel.
set -euo pipefail
cd "$(dirname "$0")/.."
python="$(realpath -s "${1:-.venv/bin/python}")"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
export SOURCE_DATE_EPOCH
if [ -n "$(git status --porcelain)" ]; then
  echo "dist: commit first; what is not committed would be in the archives and not in the tag." >&2
  exit 1
fi
for k in 1 2; do "$python" -m build --outdir "$place/$k" . >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }; done
diff -r "$place/1" "$place/2"
"$python" -m twine check --strict "$place"/1/*
"$python" - "$place/1" <<'PYTHON'
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

(wheel,), (sdist,) = (list(Path(sys.argv[1]).glob(kind)) for kind in ("*.whl", "*.tar.gz"))
tracked = set(subprocess.check_output(["git", "ls-files"], text=True).splitlines())
with zipfile.ZipFile(wheel) as archive:
    names = archive.namelist()
    (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    metadata = message_from_bytes(archive.read(about))
beside = about.partition("/")[0]
packed = {name for name in names if not name.startswith(beside)}
with tarfile.open(sdist) as archive:
    sources = {name.partition("/")[2] for name in archive.getnames()} - {"PKG-INFO"}
build = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
packages = build["targets"]["wheel"]["packages"]
wanted = {name for name in tracked if name.partition("/")[0] in packages}
for what, differ in (("wheel", packed ^ wanted), ("sdist", sources ^ tracked)):
    if differ:
        raise SystemExit(f"The {what} and the repository differ in {sorted(differ)[:9]}.")
for field in ("Name", "Version", "Summary", "License-Expression", "Requires-Python", "Description-Content-Type"):
    if not metadata[field]:
        raise SystemExit(f"The metadata have no {field}.")
if f"{beside}/licenses/LICENSE" not in names:
    raise SystemExit("The wheel has no license.")
if not metadata.get_all("Project-URL"):
    print("dist: [project.urls] is empty; RELEASING.md says what a publisher fills in.")
PYTHON
tests/wheel.sh "$python" "$place"/1/*.whl
rm -rf dist
cp -r "$place/1" dist
sha256sum dist/*
