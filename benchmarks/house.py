"""How the code looks from outside, beside packages of the field: counts from the files.

``python benchmarks/house.py`` downloads the wheels of the others, unpacks them and prints a table;
nothing of them is installed or run.
"""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "build" / "house"
PEERS = {
    "pyfixest": "pyfixest",
    "linearmodels": "linearmodels",
    "marginaleffects": "marginaleffects",
    "glum": "glum",
    "formulaic": "formulaic",
    "great-tables": "great_tables",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Counts(NamedTuple):
    """Of one package, tests left out."""

    files: int
    lines: int
    bodies: list[int]
    classes: list[int]
    flat: int
    folders: int
    hidden: int


def counts_of(folders: list[Path]) -> Counts:
    """Count files, functions and classes."""
    files = [file for folder in folders for file in sorted(folder.rglob("*.py")) if _ours(file)]
    bodies, classes, hidden, lines = [], [], 0, 0
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        lines += text.count("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                bodies.append(_body(node))
                public = not node.name.startswith("_")
                hidden += public and node.args.kwarg is not None
            elif isinstance(node, ast.ClassDef):
                classes.append((node.end_lineno or node.lineno) - node.lineno + 1)
    top = folders[0]
    return Counts(
        files=len(files),
        lines=lines,
        bodies=bodies,
        classes=classes,
        flat=len([f for f in top.glob("*.py") if f.name != "__init__.py"]),
        folders=len([f for f in top.iterdir() if (f / "__init__.py").exists() and _ours(f)]),
        hidden=hidden,
    )


def _ours(file: Path) -> bool:
    return not {"tests", "_tests", "__pycache__"} & set(file.parts)


def _body(function: Function) -> int:
    """Return the number of lines without decorators, signature and docstring."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    if not body:
        return 0
    return (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1


def unpack_wheel(package: str, folder: str) -> Path:
    """Download a wheel and unpack it."""
    into = PLACE / package
    if not (into / folder).exists():
        into.mkdir(parents=True, exist_ok=True)
        download = [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "-d", into]
        subprocess.run([*download, "--only-binary", ":all:", package], check=True)  # noqa: S603 - a constant command
        for wheel in into.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(into)
    return into / folder


def rows(counts: Counts) -> Iterator[tuple[str, str]]:
    """Yield the rows of the table."""
    bodies = sorted(counts.bodies)
    middle, high = statistics.median(bodies), bodies[int(0.9 * len(bodies))]
    yield "files, lines per file", f"{counts.files}, {counts.lines / counts.files:.0f}"
    yield "function body: median / p90 / max", f"{middle:g} / {high} / {bodies[-1]}"
    yield "biggest class", f"{max(counts.classes):,}"
    yield "classes / functions", f"{len(counts.classes)} / {len(bodies):,}"
    yield "top of the package", f"{counts.flat} modules + {counts.folders} folders"
    yield "public functions with `**options`", str(counts.hidden)


def main() -> None:
    """Print the table."""
    table = {"pyinterp + r_bridge": counts_of([ROOT / "pyinterp", ROOT / "r_bridge"])}
    for package, folder in PEERS.items():
        table[package] = counts_of([unpack_wheel(package, folder)])
    columns = {name: dict(rows(counts)) for name, counts in table.items()}
    print("| | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name in next(iter(columns.values())):
        print(f"| {name} | " + " | ".join(column[name] for column in columns.values()) + " |")


if __name__ == "__main__":
    main()
