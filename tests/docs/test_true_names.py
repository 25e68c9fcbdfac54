"""What docstrings, comments and the pages for contributors name between backticks is there."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted([*(ROOT / "pyinterp").rglob("*.py"), *(ROOT / "r_bridge").rglob("*.py")])
MODULES.remove(ROOT / "pyinterp/datasets/__init__.py")  # names columns
PAGES = [ROOT / page for page in ("CONTRIBUTING.md", "docs/architecture.md")]
# Where the words of pages for contributors are besides.
SETTINGS = [ROOT / name for name in ("Makefile", "pyproject.toml", "tests/conftest.py")]
# Names of R, Python, statsmodels and others.
OTHERS = {
    "pyinterp_papers.networks",
    "pyinterp_papers.processes",
    "bmi",
    "bmj",  # a name that an example misspells
    "progression",
    "print",
    "boxplot.stats",
    "lm",
    "loess",
    "saveRDS",
    "system",
    "NUMBA_CACHE_DIR",
    "PYINTERP_DATA",
    "__del__",
    "assert",
    "except",
    "inspection",
    "CONTRIBUTING.md",
    "delta_mcse",
    "get_margeff",
    "remove_data",
    "statsmodels.stats.multitest.multipletests",
    "dart",
    "n_restarts_optimizer",
    "n_trees",
    "sklearn.model_selection",
    "torch.nn.Linear",
    "torch.optim",
}
SYMBOL = re.compile("[A-Za-z]_[A-Za-z0-9]")
NAME = re.compile(r"(?<!`)`{1,2}([A-Za-z_][\w.]*)(?:\([^`]*\))?`{1,2}(?!`)")
BLOCK = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def words_of_code():
    """Return every name and every word in a text of the code, and the names of modules."""
    words = set()
    for path in MODULES:
        words.update(path.relative_to(ROOT).with_suffix("").parts)
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        documented = {id(node) for node in docstrings(tree)}
        for node in ast.walk(tree):
            match node:
                case ast.Constant(value=str() as value) if id(node) not in documented:
                    words.update(re.findall(r"\w+", value))
                case ast.Name():
                    words.add(node.id)
                case ast.Attribute():
                    words.add(node.attr)
                case ast.arg() | ast.keyword() if node.arg:
                    words.add(node.arg)
                case ast.FunctionDef() | ast.ClassDef():
                    words.add(node.name)
                case ast.alias():
                    words.update(node.name.split("."))
    return words


def docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            match node.body[0]:
                case ast.Expr(value=ast.Constant(value=str()) as text):
                    yield text


def prose(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return BLOCK.sub("", text)
    comments = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]
    return "\n\n".join([*(str(t.value) for t in docstrings(ast.parse(text))), *comments])


WORDS = words_of_code()


@pytest.mark.parametrize("path", [*MODULES, *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_there(path):
    words = set(WORDS)
    if path in PAGES:
        words.update(*(re.findall(r"\w+", file.read_text(encoding="utf-8")) for file in SETTINGS))
    unknown = {
        name
        for name in NAME.findall(prose(path))
        if name not in OTHERS
        and not SYMBOL.fullmatch(name)
        and not set(name.removesuffix(".py").removesuffix(".toml").strip(".").split(".")) <= words
    }
    assert not unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_files_are_there(page):
    paths = set(re.findall(r"`((?:\.?[a-z_]+/)+[\w.]*)`", prose(page)))
    assert {path for path in paths if not (ROOT / path).exists()} <= {
        ".venv/bin/", "demo_output/bmi.png", "docs/_build/html"
    }  # fmt: skip
