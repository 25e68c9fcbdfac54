"""The description of R's functions: both sides have what it says, and R's functions do too."""

import inspect

import pytest

import r_bridge
from pyinterp import r_style
from pyinterp.errors import OptionError
from pyinterp.estimands.effects.grids import DECILES
from pyinterp.r_style.arguments import Curve
from pyinterp.r_style.r_functions import FUNCTIONS, PARTIAL, TABLE

MODULES = {"r_style": r_style, "r_bridge": r_bridge}
BOTH = [(n, s) for n, f in TABLE["functions"].items() for s in f.get("sides", MODULES)]
# What R does not have.
OURS = {"classes", "permutations", "seed"}
# `vi` hands its other arguments on.
HANDED_ON = {
    "vi": {*FUNCTIONS["vi_firm"].names("r_style"), *FUNCTIONS["vi_permute"].names("r_style")}
}
REQUIRED = inspect.Parameter.empty
# R stops without a metric, and in `vint` without features; others are values that R writes as code.
DEFAULTS = {
    ("r_style", "pred.var"): None,  # the variables of `pred_grid`
    ("r_style", "pred.grid"): None,
    ("r_bridge", "pred.grid"): None,
    ("r_style", "feature_names"): None,
    ("r_bridge", "feature_names"): None,
    ("r_style", "metric"): REQUIRED,
    ("r_bridge", "metric"): REQUIRED,
    ("r_bridge", "train"): REQUIRED,
    ("r_style", "var_continuous"): "sd",
    ("r_bridge", "var_continuous"): None,
    ("r_bridge", "var_categorical"): None,
}
PLAIN = {"": REQUIRED, "NULL": None, "TRUE": True, "FALSE": False, "1:9/10": DECILES}


def in_python(text):
    """Return a default of R as Python writes it."""
    if text in PLAIN:
        return PLAIN[text]
    return text.strip('"') if text.startswith('"') else float(text.rstrip("L"))


def default_of(argument, side):
    key = (side, argument.name)
    return DEFAULTS[key] if key in DEFAULTS else in_python(argument.default)


@pytest.mark.parametrize(("name", "side"), BOTH)
def test_both_sides_have_the_arguments_and_r_s_defaults(name, side):
    function = FUNCTIONS[name]
    parameters = dict(inspect.signature(getattr(MODULES[side], name)).parameters)
    defaults = {
        argument.on(side): default_of(argument, side)
        for argument in function.arguments
        if not argument.refusal(side)
    }
    others = OURS | HANDED_ON.get(name, set())
    assert {n: p.default for n, p in parameters.items() if n in defaults} == defaults
    assert set(parameters) - set(defaults) <= others


@pytest.mark.parametrize(("name", "side"), BOTH)
def test_arguments_of_r_that_one_side_lacks_are_refused_with_the_reason(name, side):
    function = FUNCTIONS[name]
    refused = [a for a in function.arguments if a.refusal(side)]
    assert refused
    for argument in refused:
        for spelling in (argument.name, argument.word):
            with pytest.raises(TypeError) as caught:
                getattr(MODULES[side], name)(None, None, **{spelling: None})
            start = f"{name}() takes no keyword argument `{spelling}`: "
            assert str(caught.value) == start + argument.refusal(side)


@pytest.mark.parametrize("name", ["hstats", "partial", "vi_firm", "vi_permute"])
def test_unknown_arguments_are_refused(name):
    with pytest.raises(
        TypeError, match=rf"^{name}\(\).* takes no keyword argument `grid_sice`; its"
    ):
        getattr(r_bridge, name)(None, None, grid_sice=3)


def test_r_s_spelling_is_answered_with_ours():
    with pytest.raises(TypeError, match=r"`grid\.resolution`: it is `grid_resolution` here"):
        r_style.partial(None, "x", **{"grid.resolution": 3})
    with pytest.raises(TypeError, match=r"vi_firm\(\) takes no .* `train`: it is `data` here"):
        r_bridge.vi_firm(None, None, train=None)


@pytest.mark.parametrize(("name", "side"), BOTH)
def test_docstrings_describe_every_argument(name, side):
    function = getattr(MODULES[side], name)
    text = inspect.getdoc(function) or ""
    start, end = text.index("Parameters"), text.index("Returns")
    lines = [line.partition(" : ")[0] for line in text[start:end].splitlines() if line[:1] != " "]
    described = {word for line in lines for word in line.replace(",", " ").split()}
    assert set(inspect.signature(function).parameters) <= described


def test_values_are_checked_by_the_description():
    PARTIAL.check({"ice": True, "inv_link": None, "grid_resolution": 4, "type": "auto"})
    for name, value in {"ice": 1, "inv_link": "exp", "grid_resolution": 0, "type": "log"}.items():
        with pytest.raises(OptionError, match=f"`{name}` must be"):
            PARTIAL.check({name: value})


def test_a_curve_has_r_s_defaults():
    curve = Curve()
    assert curve.changes() == {}
    assert Curve(prob=True, cats=["k"]).changes() == {"prob": True, "cats": ("k",)}
    described = {a.word: in_python(a.default) for a in PARTIAL.arguments if a.word in vars(curve)}
    assert vars(curve) == described


def deviations(function, formals):
    """Return R's arguments that the description lacks, or that we take with another default."""
    described = {argument.name: argument for argument in function.arguments}
    return {
        name: default
        for name, default in formals.items()
        if name != "..." and (name not in described or not as_described(described[name], default))
    }


def as_described(argument, default):
    """Whether R's default is the one described; of choices the first is taken."""
    refused = argument.refusal("r_style") and argument.refusal("r_bridge")
    first = default.removeprefix("c(").partition(",")[0] if default.startswith("c(") else default
    return bool(refused) or argument.default in (first, "range / 4")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_r_are_as_described(name, r, installed):
    function = FUNCTIONS[name]
    installed(function.package)
    methods = f"getAnywhere('{name}.default')$objs"
    code = (
        f"(function() {{ fs <- {methods}; f <- if (length(fs)) fs[[1]] else "
        f"get0('{name}', asNamespace('{function.package}'), inherits = FALSE); "
        "if (is.null(f)) character() else "
        "{ v <- vapply(formals(f), function(x) paste(deparse(x), collapse = ' '), ''); "
        "paste(names(v), v, sep = '\\n') } })()"
    )
    texts = r(code)
    if not len(texts):
        pytest.skip(f"this version of {function.package} has no {name}")
    formals = dict(text.split("\n") for text in texts)
    assert deviations(function, formals) == {}
