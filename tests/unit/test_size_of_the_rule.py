"""The default inference stays as small as it was decided to be: constants, lines, names."""

import ast
from pathlib import Path

from counts import size_of

import pyinterp

PACKAGE = Path(pyinterp.__file__).parent
FOLDER = PACKAGE / "inference" / "half_sample"
# What the rule chooses, and what its refusals and warnings do.
RULE = ("MARGIN", "LARGEST_GROWTH", "BEYOND_NOISE")
GUARDS = ("CERTAIN", "LARGEST_IDLE_SHARE", "LARGEST_SKEWNESS", "STABLE", "MOST_CLUSTERS")
MOST_LINES = 550


def constants(path):
    """List the names that a module gives to values."""
    return [
        target.id
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id != "__all__"
    ]


def test_there_are_three_constants_of_the_rule_and_five_of_the_guards():
    path = FOLDER / "constants.py"
    assert constants(path) == [*RULE, *GUARDS, "LEAST_T"]
    words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    rule, guards = words.split("The guards")
    assert all(f"`{name}`" in rule for name in RULE)
    assert all(f"`{name}`" in guards for name in GUARDS)


def test_no_constant_is_elsewhere():
    """But for the plan's two, rounding, the level of a contrast's sides, and `LEAST_T` of mcse."""
    others = {name for path in FOLDER.glob("*.py") for name in constants(path)} - {*RULE, *GUARDS}
    assert others == {"ROUNDING", "SIZES", "MIXTURES", "ALPHA", "MORE_ROWS", "LEAST_T"}


def test_the_folder_is_small():
    assert 100 < size_of(FOLDER.glob("*.py")).lines <= MOST_LINES
