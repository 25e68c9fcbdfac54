"""The project's own files: changelog, citation, and the commands that are described."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import pyinterp as pi

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, TOOLS = PYPROJECT["project"], PYPROJECT["tool"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
# Of the Citation File Format 1.2.0: what a file must have, and what one of software may have.
REQUIRED = {"authors", "cff-version", "message", "title"}
ALLOWED = REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license",
    "license-url", "preferred-citation", "references", "repository", "repository-artifact",
    "repository-code", "type", "url", "version",
}  # fmt: skip


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_changelog_is_short_and_a_page_of_the_documentation():
    changelog = text_of("CHANGELOG.md")
    assert re.findall(r"^## (\S+)", changelog, re.MULTILINE)[-1] == "0.1.0"
    assert len(changelog.partition("## 0.1.0")[2].splitlines()) <= 40
    assert text_of("docs/changelog.md").startswith("```{include} ../CHANGELOG.md")
    assert "changelog" in text_of("docs/reference.md").splitlines()


def test_fragments_of_the_changelog_are_one_short_sentence():
    kinds = {kind["directory"] for kind in TOOLS["towncrier"]["type"]}
    for path in (ROOT / "changes").iterdir():
        if path.name != "README.md":
            assert path.name.split(".")[-2] in kinds, path.name
            assert len(path.read_text(encoding="utf-8").split()) <= 25, path.name


def assert_authors(authors):
    assert authors
    for author in authors:
        assert set(author) in ({"name"}, {"family-names", "given-names"}), author
        assert all(isinstance(value, str) and value for value in author.values())


def test_the_citation_is_one_of_the_format_and_of_this_package():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert set(citation) >= REQUIRED
    assert set(citation) <= ALLOWED
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    assert_authors(citation["authors"])
    assert len(citation["references"]) == 4
    assert ("date-released" in citation) == (".dev" not in pi.__version__)
    for reference in citation["references"]:
        assert {"type", "title", "authors"} <= set(reference)
        assert re.fullmatch(r"10\.48550/arXiv\.\d{4}\.\d{5}", reference["doi"])
        assert reference["type"] == "article"
        assert isinstance(reference["year"], int)
        assert_authors(reference["authors"])


def test_version_and_dependencies_are_the_same_wherever_they_stand():
    yaml = pytest.importorskip("yaml")
    recipe, version = yaml.safe_load(text_of(".ci/conda/recipe.yaml")), pi.__version__
    assert recipe["context"]["version"] == version
    assert yaml.safe_load(text_of("CITATION.cff"))["version"] == version
    assert f"pyinterp {version}\n" in text_of("README.md")
    (of_r,) = re.findall(r"^Version: (.+)$", text_of("r_package/DESCRIPTION"), re.MULTILINE)
    assert of_r == version.partition(".dev")[0]
    python, *run = [r.replace(" ", "") for r in recipe["requirements"]["run"]]
    assert python == f"python{PROJECT['requires-python']}"
    assert run == PROJECT["dependencies"]
    packages = TOOLS["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert recipe["tests"][0]["python"]["imports"] == packages


def test_the_license_of_every_dependency_is_on_its_page():
    rows = re.findall(r"^\|(.+)\|(.+)\|$", text_of("docs/licenses.md"), re.MULTILINE)
    named = {name.strip("* ") for cells, _ in rows for name in re.split(r"[|,]", cells)}
    extras = PROJECT["optional-dependencies"].values()
    every = {
        re.match(r"[\w-]+", text)[0] for some in (PROJECT["dependencies"], *extras) for text in some
    }
    assert every - named == {"pyinterp-stats"}


def test_every_command_that_is_described_is_one_of_make_and_the_other_way_round():
    described = re.findall(r"^\| `make ([\w-]+)` \|", text_of("CONTRIBUTING.md"), re.MULTILINE)
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert sorted(described) == sorted(phony.split())
    assert set(described) <= set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))


def test_the_quick_tests_are_files_of_their_folder():
    (names,) = re.findall(r"^FAST = ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    for name in names.replace("\\\n", " ").split():
        assert (ROOT / f"tests/unit/test_{name}.py").is_file(), name


def test_pages_quote_the_benchmarks():
    results = text_of("benchmarks/RESULTS.md")
    trees, entropy = (
        re.findall(
            r"^\| (.*?) \| (\S+) \| (\S+) \| (\S+)",
            results.partition(f"(`{section}`)")[2].partition("\n## ")[0],
            re.MULTILINE,
        )
        for section in ("trees", "entropy")
    )
    _, ours, theirs, _ = next(row for row in trees if row[0] == "forest of 100: PFI")
    quote = f"takes {float(ours):.2f} s of processor time. The 30 permutations of scikit-learn take"
    assert f"{quote} {float(theirs):.1f} s" in " ".join(text_of("README.md").split())
    ratios = [float(row[3]) for row in entropy if row[3][0].isdigit()]
    quote = f"The ratio of times is {min(ratios):.2f} to {max(ratios):.2f}"
    assert quote in text_of("docs/engines.md")


@pytest.mark.parametrize("folder", ["benchmarks", "studies"])
def test_scripts_import_names_that_their_neighbors_have(folder):
    trees = {path.stem: ast.parse(path.read_text("utf-8")) for path in (ROOT / folder).glob("*.py")}
    missing = []
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in trees:
                names = set(_top_level(trees[node.module]))
                missing += [f"{module}: {a.name}" for a in node.names if a.name not in names]
    assert trees
    assert not missing


def _top_level(tree):
    """Yield what a module binds outside of functions and classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        else:
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield part.id
