"""Names of modules, classes, functions and fields: nouns or verbs, no participle for a thing."""

import ast
import re
from pathlib import Path

import pytest

import pyinterp
import r_bridge

# English past participles that do not end in "ed", as far as code might use them.
IRREGULAR = re.compile(
    "built|chosen|done|drawn|found|given|gone|held|hidden|kept|known|left|lost|made|met|own|paid|"
    "said|seen|sent|shown|split|sought|taken|taught|told|understood|worn|written"
)
NOT_PARTICIPLES = ("need", "seed", "reseed", "speed", "embed", "feed", "red")
# A participle may stand for a thing only where this says why.
REASONS = {
    "is_fitted": "scikit-learn's word",
    "split": "a noun too: of a tree, or of rows",
    "left": "the side",
    "reserved": "an option of MCDropoutRegressor",
}


def participle(name):
    """Whether the last word of a name is a participle, or its first "own", "given" or "known"."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]
    if not words or name in REASONS or words[0] in ("is", "has", "check", "need", "memorize"):
        return False
    last = words[-1]
    if last in REASONS or last in NOT_PARTICIPLES:
        return False
    return (
        last.endswith("ed")
        or IRREGULAR.fullmatch(last) is not None
        or words[0] in ("own", "given", "known")
    )


def names(tree):
    """Yield the names of a module's top level and of its classes' methods and fields."""
    for node in [tree, *(n for n in tree.body if isinstance(n, ast.ClassDef))]:
        for part in node.body:
            if isinstance(part, ast.FunctionDef | ast.ClassDef):
                yield part.name
            elif isinstance(part, ast.Assign):
                yield from (t.id for t in part.targets if isinstance(t, ast.Name))
            elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                yield part.target.id


def test_a_participle_is_told_from_other_words():
    things = ("shown", "own_terms", "_listed", "KnownRows", "UNDEFINED")
    others = ("seed", "FeatureWhatIf", "is_called", "fitted_model", "quote")
    assert all(map(participle, things))
    assert not any(map(participle, others))


def test_no_name_is_a_participle():
    wrong = []
    for package in (pyinterp, r_bridge):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            if participle(path.stem):
                wrong.append(path.stem)
            found = names(ast.parse(path.read_text(encoding="utf-8")))
            wrong += [f"{path.relative_to(root)}: {name}" for name in found if participle(name)]
    assert not wrong


FOLDERS = sorted(
    init
    for package in (pyinterp, r_bridge)
    for init in Path(str(package.__file__)).parent.rglob("__init__.py")
    if init.parent.name != "pyinterp"
)


@pytest.mark.parametrize("init", FOLDERS, ids=lambda init: init.parent.name)
def test_the_top_of_a_folder_names_every_module_in_it(init):
    text = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
    modules = [path.stem for path in init.parent.glob("[!_]*.py")]
    folders = [path.parent.name for path in init.parent.glob("*/__init__.py")]
    assert [name for name in (*modules, *folders) if not re.search(rf"\b{name}\b", text)] == []


def documented(docstring):
    """Return the names under "Attributes" of a numpydoc docstring, and under "Parameters"."""
    result = []
    for section in ("Attributes", "Parameters"):
        _, _, rest = docstring.partition(f"\n{section}\n{'-' * len(section)}\n")
        text = re.split(r"\n[A-Z][A-Za-z ]+\n-{3,}\n", rest)[0]
        for line in re.findall(r"^([\w, ]+) : ", text, flags=re.MULTILINE):
            result += [name.strip() for name in line.split(",")]
    return result


def test_dataclasses_document_fields_that_they_have():
    """A field that is renamed has to be renamed in the docstring."""
    wrong = []
    for package in (pyinterp, r_bridge):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                decorators = [ast.unparse(d) for d in getattr(node, "decorator_list", ())]
                if not isinstance(node, ast.ClassDef) or not any(
                    "dataclass" in d for d in decorators
                ):
                    continue
                if node.bases:  # fields may be those of a base
                    continue
                present = set(names(ast.Module([node], [])))
                wrong += [
                    f"{path.relative_to(root)}: {node.name}.{name}"
                    for name in documented(ast.get_docstring(node) or "")
                    if name not in present
                ]
    assert not wrong


def test_no_class_name_is_in_the_package_twice():
    """Errors, logs and files name classes without their modules."""
    root, places = Path(str(pyinterp.__file__)).parent, {}
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(root)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
