"""Mutants of a module: copies with one small fault each, by Python's own syntax tree."""

from __future__ import annotations

import ast
import builtins
import copy
from collections import Counter
from typing import NamedTuple

__all__ = ["Mutant", "code_lines", "mutants_of", "mutated"]

Step = tuple[str, int | None]

BINARY = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
# A constant below this in size is a tolerance: its mutants are large ones.
TOLERANCE = 1e-3
# Functions that can be left out: what Python has built in does not run without, or is the same.
NUMERIC = {"abs", "bool", "max", "min", "round", "sorted", "sum"}
# What tables and messages say; no number comes from it.
WORDS = {
    "coverage", "description", "engine", "exact", "fixed", "inexact", "interval_note", "kind",
    "label", "missing", "note", "notes", "remarks", "test_note", "title", "too_few", "unit",
    "what", "zero_variance",
}  # fmt: skip
WORDS_OF = {"_description", "_notes", "_unit", "note"}


class Mutant(NamedTuple):
    """One fault.

    Attributes
    ----------
    module : str
        Path of the module in the repository.
    within : str
        The function or method that has the fault; empty for a module's or class's body.
    steps : tuple of (field, position)
        Way from the module to the node that is replaced.
    choice : int
        Which of the node's replacements.
    line : int
    before, after : str
        The node's source.
    count : int
        Which of the same faults in the function, from 1.
    """

    module: str
    within: str
    steps: tuple[Step, ...]
    choice: int
    line: int
    before: str
    after: str
    count: int = 1

    @property
    def name(self):
        """What the fault is, whatever line it is on."""
        which = f" ({self.count})" if self.count > 1 else ""
        return f"{self.module}:{self.within or 'body'}: {self.before} -> {self.after}{which}"


def mutants_of(root, module):
    """Return all mutants of a module."""
    found = []
    times = Counter()
    for steps, node, within in _sites(ast.parse((root / module).read_text(encoding="utf-8"))):
        for choice, new in enumerate(_replacements(node)):
            before, after = (_source(n) for n in (node, new))
            made = Mutant(module, within, steps, choice, node.lineno, before, after)
            if before != after:
                times[made.name] += 1
                found.append(made._replace(count=times[made.name]))
    return found


def mutated(root, mutant):
    """Return the module with the fault."""
    tree = ast.parse((root / mutant.module).read_text(encoding="utf-8"))
    holder = tree
    for field, position in mutant.steps[:-1]:
        holder = _at(holder, field, position)
    field, position = mutant.steps[-1]
    node = _at(holder, field, position)
    new = ast.copy_location(list(_replacements(node))[mutant.choice], node)
    if position is None:
        setattr(holder, field, new)
    else:
        getattr(holder, field)[position] = new
    return ast.fix_missing_locations(tree)


def code_lines(root, module):
    """Return how many lines of a module hold what could be mutated."""
    tree = ast.parse((root / module).read_text(encoding="utf-8"))
    return len({node.lineno for _, node, _ in _sites(tree)})


def _at(holder, field, position):
    value = getattr(holder, field)
    return value if position is None else value[position]


def _source(node):
    return " ".join(ast.unparse(node).split())


def _sites(tree):
    """Yield expressions and statements that count, with the way to them and what they are in."""

    def visit(node, steps, within, outer):
        if steps and isinstance(node, ast.expr | ast.stmt):
            yield steps, node, within
        for field, value in ast.iter_fields(node):
            for position, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.AST) or _no_code(node, field, child):
                    continue
                inside, around = within, outer
                if isinstance(child, ast.FunctionDef) and not within:
                    inside = f"{outer}{child.name}"
                elif isinstance(child, ast.ClassDef) and not within:
                    around = f"{outer}{child.name}."
                yield from visit(child, (*steps, (field, position)), inside, around)

    yield from visit(tree, (), "", "")


def _no_code(parent, field, child):
    """Whether a node is a docstring, a type, a message or another text."""
    return (
        field in ("annotation", "returns", "bases", "decorator_list")
        or isinstance(parent, ast.Raise)
        or isinstance(child, ast.JoinedStr | ast.Import | ast.ImportFrom)
        or (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant))
        or (isinstance(child, ast.FunctionDef) and child.name in WORDS_OF)
        or (isinstance(child, ast.keyword) and child.arg in WORDS)
        or _for_types(child)
    )


def _for_types(child):
    """Whether a statement says what is exported, or serves types alone."""
    if isinstance(child, ast.If):
        return _source(child.test) == "TYPE_CHECKING"
    if isinstance(child, ast.AnnAssign):
        return _source(child.annotation) == "TypeAlias"
    return isinstance(child, ast.Assign) and _source(child.targets[0]) == "__all__"


def _replacements(node):
    """Yield what stands in the place of a node, one fault each."""
    if isinstance(node, ast.BinOp):
        yield from _of_binary(node)
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield node.operand
    elif isinstance(node, ast.Compare):
        yield from _of_comparison(node)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        yield from node.values
    elif isinstance(node, ast.Constant):
        yield from (ast.Constant(value) for value in _other_values(node.value))
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.comprehension | ast.ListComp | ast.GeneratorExp | ast.DictComp):
        yield from _without_filters(node)
    elif isinstance(node, ast.stmt):
        yield from _of_statement(node)


def _of_binary(node):
    if type(node.op) in BINARY:
        yield ast.BinOp(node.left, BINARY[type(node.op)](), node.right)
    yield node.left
    if isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
        yield node.right


def _of_comparison(node):
    for k, op in enumerate(node.ops):
        for other in COMPARISONS[type(op)]:
            ops = [*node.ops[:k], other(), *node.ops[k + 1 :]]
            yield ast.Compare(node.left, ops, node.comparators)


def _other_values(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        if value == 0:
            return [1.0]
        return [value * 1e8] if abs(value) < TOLERANCE else [value * 2, value + 1]
    return []


def _of_call(node):
    """Without the call, and without each of its options if the function may have defaults."""
    name = _source(node.func)
    plain = isinstance(node.func, ast.Name)
    removable = name != "np.asarray" and (
        not plain or name in NUMERIC or (name.islower() and not hasattr(builtins, name))
    )
    if not removable or name == "partial":
        pass
    elif node.args and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]
    elif isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
        yield node.func.value
    if plain and name != "replace":
        return
    for k, option in enumerate(node.keywords):
        if option.arg is not None and option.arg not in WORDS:
            made = copy.copy(node)
            made.keywords = [*node.keywords[:k], *node.keywords[k + 1 :]]
            yield made


def _without_filters(node):
    for k, part in enumerate(getattr(node, "generators", ())):
        if part.ifs:
            made = copy.copy(node)
            made.generators = [copy.copy(g) for g in node.generators]
            made.generators[k].ifs = []
            yield made


def _of_statement(node):
    if isinstance(node, ast.If):
        for truth in (True, False):
            made = copy.copy(node)
            made.test = ast.Constant(truth)
            yield made
    elif isinstance(node, ast.AugAssign):
        if type(node.op) in BINARY:
            yield ast.AugAssign(node.target, BINARY[type(node.op)](), node.value)
        yield ast.Pass()
    elif isinstance(node, ast.Raise | ast.Continue) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(ast.Constant(None))
