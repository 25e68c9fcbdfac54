"""The site: few pages for readers, recipes first, and what checks the package apart from them."""

import ast
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
RECIPES = sorted((DOCS / "recipes").glob("*.md"))
# Parts for those who check or change the package, and what every public object is.
OTHERS = ("checking", "reference", "papers/index", "compare")
MOST_PAGES = 50
MOST_LINES = 45  # of code: one screen
MOST_WORDS = 40_800
MOST_PER_THOUSAND = {"what": 0.8, "whose": 0.2}  # the most of four peers' documentations


def entries(page):
    """Return the pages in the tables of contents of a page."""
    text = source(page).read_text(encoding="utf-8")
    blocks = re.findall(
        r"^```{toctree}\n(?::[^\n]*\n)*\n?(.*?)^```", text, re.MULTILINE | re.DOTALL
    )
    folder = page.rpartition("/")[0]
    lines = [line for block in blocks for line in block.splitlines() if line]
    names = (re.sub(r"^.* <(.+)>$", r"\1", line) for line in lines)  # with a title of its own
    return [f"{folder}/{name}".strip("/") for name in names]


def source(page):
    """Return the file of a page; vignettes are copied into the folder when pages are built."""
    return (DOCS.parent if page.startswith("vignettes/") else DOCS) / f"{page}.md"


def below(page):
    """Yield a page and all pages that it lists."""
    yield page
    for entry in entries(page):
        yield from below(entry)


def test_readers_have_few_pages_and_recipes_are_first():
    parts = entries("index")
    assert parts[0] == "recipes"
    read = [page for part in parts if part not in OTHERS for page in below(part)]
    assert len(read) + 1 <= MOST_PAGES
    menu = (DOCS / "index.md").read_text(encoding="utf-8").partition("## Your kind of data")[2]
    linked = set(re.findall(r"\[\]\(recipes/(\w+)\.md\)", menu))
    assert {path.stem for path in RECIPES} - linked == {"sage"}
    checking = list(below("checking"))
    assert {"trust", "reliability", "certify", "engines", "architecture"} <= set(checking)


def test_every_page_is_in_the_menu_once():
    pages = list(below("index"))
    assert len(pages) == len(set(pages))
    assert [page for page in pages if not source(page).is_file()] == []
    written = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in DOCS.rglob("*.md")
        if not {"_build", "vignettes", "generated"} & set(path.parts)
    }
    assert written <= set(pages)


def test_pages_that_messages_name_are_there():
    package = DOCS.parent / "pyinterp"
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.toml")]
    for path in package.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        texts += [
            n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)
        ]
    named = {name for text in texts for name in re.findall(r'page "([^"]+)"', text)}
    heads = (source(page).read_text(encoding="utf-8") for page in below("index"))
    titles = {title for head in heads for title in re.findall(r"^# (.+)$", head, re.MULTILINE)}
    assert named - titles == set()
    assert len(named) >= 7


def prose(path):
    """Return the words of a page that stand in sentences."""
    text = path.read_text(encoding="utf-8")
    for left_out in (
        r"\A---\n.*?\n---\n",
        r"^(`{3,})(?!\{container).*?^\1`*\s*?$",
        r"<!--.*?-->",
        r"\$\$.*?\$\$",
        r"^\s*\|[^\n]*$",
        r"(?<=\])\([^)]*\)",
    ):
        text = re.sub(left_out, "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"[A-Za-z][\w'’-]*", text.lower())


def test_pages_are_short_and_made_of_nouns():
    pages = {source(page) for page in below("index")}
    words = [word for path in pages for word in prose(path)]
    assert len(words) <= MOST_WORDS
    for word, most in MOST_PER_THOUSAND.items():
        assert words.count(word) <= most * len(words) / 1000, word


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_one_screen_of_code_with_the_sentence_for_the_paper(path):
    text = path.read_text(encoding="utf-8")
    if path.stem == "error_bars":  # questions, each with a call
        assert text.count("\n## ") >= 8
        return
    cells = re.findall(r"```{code-cell} ipython3\n(.*?)```", text, re.DOTALL)
    (cell,) = [cell for cell in cells if "[remove-" not in cell]
    assert len(cell.splitlines()) <= MOST_LINES
    assert '**For the paper.** "' in text
