"""Configuration of the documentation; `make docs` builds it."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any

from docutils.nodes import Element, SkipNode, image, literal_block, math_block, section
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator as HTMLTranslator

import pyinterp
import r_bridge
from pyinterp.errors import DataError
from r_bridge.packages import need

DOCS = Path(__file__).parent
os.environ["TQDM_DISABLE"] = "1"  # pages show no progress bars
UNAVAILABLE = """
```{{warning}}
The code of this page was not executed when it was built, and its numbers are not shown: {why}
```
"""
NO_DATA = (
    "the data were not available. Set the environment variable `PYINTERP_DATA` to a folder with "
    "their file, or allow downloads from OpenML, and build again."
)
NO_TORCH = (
    "it fits networks, and PyTorch is not installed. Install it with `make torch`, and build again."
)


def not_executed(page: str, why: str) -> str:
    """Return a notebook page as a plain page: its code is shown but not run."""
    body = page.split("\n---\n", 1)[1].replace("```{code-cell} ipython3", "```python")
    title, rest = body.strip().split("\n", 1)
    return f"{title}\n{UNAVAILABLE.format(why=why)}{rest}"


def lacks(page: str) -> str:
    """Return what a page needs that is not here, if anything; it goes into the build's log too."""
    try:
        for loader in sorted(set(re.findall(r"pi\.datasets\.(load_\w+)", page))):
            getattr(pyinterp.datasets, loader)()
    except DataError as error:
        logging.getLogger(__name__).info("A page is not executed: %s", error)
        return NO_DATA
    if re.search(r"\b(MCDropout|BayesByBackprop)", page) and find_spec("torch") is None:
        return NO_TORCH
    try:
        for package in sorted(set(re.findall(r"\b(randomForest)::", page))):
            need(package, "This page")
    except r_bridge.RMissingError as error:
        logging.getLogger(__name__).info("A page is not executed: %s", error)
        return str(error)
    return ""


# Classes whose methods have pages, and what their methods answer; others stand last.
RESULTS = (
    "LearnerResults",
    "FittedModel",
    "EstimandResults",
    "ImportanceResults",
    "CurveResults",
    "CausalResults",
    "UncertaintyResults",
    "results.together.PopulationResults",
    "results.together.ComparisonResults",
)
QUESTIONS = {
    "What does the model say at a value?": "pd ale ame predict",
    "Which features matter?": (
        "pfi mvim cvim amvim loco sage firm native_importance importance population "
        "compare_targets entropy_pfi likelihood_pfi uncertainty causal"
    ),
    "Do features interact, or depend on each other?": (
        "interactions products h_statistic vint positivity redundancy"
    ),
    "How good are the predictions?": "loss metric",
    "How sure is an estimate?": "conf_int cov_params variance_parts ranks sample_size",
    "Do estimates differ?": ("t_test wald_test f_test flat_test equality_test differences"),
    "What does it look like?": "summary plot",
    "How do I take numbers elsewhere?": (
        "summary_frame tidy glance refit_frame row_frame save to to_r"
    ),
}


def index_of(methods: list[str]) -> dict[str, list[str]]:
    """Return methods by the question that they answer."""
    listed = {question: names.split() for question, names in QUESTIONS.items()}
    rest = [name for name in methods if not any(name in names for names in listed.values())]
    groups = {q: [name for name in names if name in methods] for q, names in listed.items()}
    return {question: names for question, names in (groups | {"Others": rest}).items() if names}


def example_of(path: str, method: str) -> str:
    """Return the class from whose example the example of a method goes on."""
    every = {name: attrgetter(name)(pyinterp) for name in RESULTS}
    of = attrgetter(path)(pyinterp)
    same = (n for n, c in every.items() if getattr(c, method, None) is getattr(of, method))
    return f"pyinterp.{next(same, path)}"


def copy_vignettes() -> None:
    """Bring the vignettes, which live outside this folder, into it: Sphinx reads one folder."""
    target = DOCS / "vignettes"
    target.mkdir(exist_ok=True)
    for source in sorted((DOCS.parent / "vignettes").glob("*.md")):
        page = source.read_text(encoding="utf-8")
        why = lacks(page)
        text = not_executed(page, why) if why else page
        copy = target / source.name
        if not copy.is_file() or copy.read_text(encoding="utf-8") != text:
            copy.write_text(text, encoding="utf-8")


def as_mathml(self: HTMLTranslator, node: Element) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    display, text = "block" if isinstance(node, math_block) else "inline", node.astext()
    if r"\\" in text:  # lines below each other, as LaTeX has them in a display
        text = rf"\begin{{split}}{text}\end{{split}}"
    # The converter leaves the backslash of a large brace.
    formula = re.sub(r"\\([{}])<", r"\1<", convert(text, display=display))
    if re.search(r">(&<|\\|&#x0(0026|005C);)", formula):  # it draws what it does not know
        logging.getLogger(__name__).warning("A formula is not drawn: %s", text, location=node)
    self.body.append(
        f'<div class="formula" tabindex="0">{formula}</div>' if display == "block" else formula
    )
    raise SkipNode


class Described(SphinxPostTransform):
    """Say in words what pictures show that cells draw: the section's title, and the call."""

    default_priority = 900  # outputs of cells are images by then

    def run(self, **_: object) -> None:
        """Write the text of every picture that has none."""
        for picture in self.document.findall(image):
            above = list(_above(picture))
            cell = next((node for node in above if "cell" in node.get("classes", [])), None)
            if cell is None or picture.get("alt"):
                continue
            heading = next((n[0].astext() for n in above if isinstance(n, section)), "")
            code = next((node.astext() for node in cell.findall(literal_block)), "")
            picture["alt"] = f"{heading}. Drawn by {(code.splitlines() or ['a hidden cell'])[-1]}"


def _above(node: Element) -> Iterator[Element]:
    """Yield the parents of a node, the nearest first."""
    while node.parent is not None:
        node = node.parent
        yield node


def say_what_is_seen(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """Let what is read aloud say what is seen: corners of frames are no headings."""
    body = context.get("body", "").replace(' aria-label="Toggle hidden content"', "")
    context["body"] = body.replace("<th></th>", "<td></td>")


def setup(app: Sphinx) -> None:
    """Draw formulas without a script, which would be fetched from elsewhere; describe pictures."""
    app.connect("html-page-context", say_what_is_seen)
    app.add_html_math_renderer("mathml", (as_mathml, None), (as_mathml, None))
    app.add_post_transform(Described)


copy_vignettes()
if sys.platform == "linux":  # elsewhere frameworks of the system do not outlive a fork
    sys.path.insert(0, str(DOCS))
    importlib.import_module("kernels").install()

project = "pyinterp"
author = "The pyinterp developers"
copyright = author
version = release = pyinterp.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
templates_path = ["_templates"]
exclude_patterns = ["_build", "Thumbs.db", ".DS_Store"]
default_role = "py:obj"
# A role that leads nowhere is a warning. Names of parameters, columns and fields have no page.
nitpicky = True
nitpick_ignore_regex = [("py:obj", r"[a-z_0-9]*")]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

# Every page is executed at every build, so that what is shown is what the package prints.
nb_execution_mode = "force"
nb_execution_timeout = 1200
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True

autosummary_generate = True
autosummary_context = {
    "results": [f"pyinterp.{name}" for name in RESULTS],
    "index_of": index_of,
    "example_of": example_of,
}
suppress_warnings = ["config.cache"]  # functions of templates are not pickled
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
# The class template lists members; numpydoc's own lists would repeat them.
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"pyinterp {release}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "**": ["sidebar-nav-bs"]}  # the pages of a section
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_center": ["navbar-nav"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 9,
    "navigation_depth": 1,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
