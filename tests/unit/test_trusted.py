"""Formulas that are not trusted: nothing is evaluated but what is on a list."""

from __future__ import annotations

import ast
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.data.formula.trust import FUNCTIONS_OF_NUMPY
from pyinterp.errors import FormulaError, OptionError, PyinterpError

DATA = pd.DataFrame(
    {
        "y": np.linspace(1, 2, 30) ** 2,
        "x": np.linspace(1, 3, 30),
        "k": np.arange(30) % 7,
        "g": list("abc") * 10,
        "h": pd.Categorical(list("uv") * 15),
        "odd name": np.sin(np.arange(30)),
        "µg": np.cos(np.arange(30)),
    }
)
POWER = 2  # a name of the caller


def learner(formula: str, **options: Any) -> pi.Learner:
    return pi.Learner.from_formula(formula, DATA, LinearRegression(), trusted=False, **options)


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ .",
        "y ~ . - g + Q('odd name'):x + µg",
        "np.log(y) ~ (x + k)^2",
        "I(y / x) ~ k",
        "y - x ~ k",
        "-y ~ x",
        "y**2 ~ x",
        "y ~ I(x**2) + I(-x) + I(2*x - 1.5)",
        "y ~ np.log(x + 1) + np.maximum(x, 2) + np.sqrt(k) + np.exp(-x)",
        "y ~ C(g) + C(k, Sum) + h",
        "y ~ C(g, Treatment('b')) + C(k, levels=[6, 5, 4, 3, 2, 1, 0])",
        "y ~ bs(x, df=4) + cr(k, df=3) + cc(Q('odd name'), df=3)",
        "y ~ bs(x, knots=[1.5, 2], degree=2)",
        "y ~ te(cr(x, df=3), cr(k, df=3))",
        "y ~ center(x) + standardize(k) + scale(np.log(x))",
        "y ~ I(g == 'a') + I(x > 2)",
    ],
)
def test_known_transforms_give_what_they_give_when_trusted(formula: str) -> None:
    found = learner(formula)
    trusted = pi.Learner.from_formula(formula, DATA, LinearRegression())
    rows = found.population.variables
    np.testing.assert_array_equal(found.design.encode(rows), trusted.design.encode(rows))
    np.testing.assert_array_equal(found.population.y, trusted.population.y)
    assert found.exog_names == trusted.exog_names


ATTACKS = [
    "__import__('os').system('touch PWNED')",
    "I(__import__('os').system('touch PWNED'))",
    "().__class__.__bases__[0].__subclasses__()",
    "I(().__class__)",
    "x.__class__",
    "I(x.values)",
    "x.to_csv('PWNED')",
    "x.clip(0)",
    "np.log(x).to_csv('PWNED')",
    "getattr(x, 'to_csv')('PWNED')",
    "I(getattr(getattr(x, '__class__'), '__mro__'))",
    "Q('a'.__class__)",
    "Q(eval('1'))",
    "Q(__import__('os').getcwd())",
    "Q('x' if exec('1') else 'x')",
    "Q(f'{x}')",
    "I(f'{x.to_csv()}')",
    "I(x + POWER)",
    "I(x**POWER)",
    "POWER",
    "open('PWNED', 'w')",
    "I(open)",
    "eval('x')",
    "I(exec('x'))",
    "lambda: x",
    "I((lambda v: v)(x))",
    "I([v for v in x])",
    "I({v: v for v in x})",
    "I((v for v in x))",
    "I(v := x)",
    "I(x[0])",
    "I(*[x])",
    "np.log(*[x])",
    "np.log(**{'x': x})",
    "np.log(x, out=x)",
    "np.log(x, k)",
    "np.log(x, where=open('PWNED'))",
    "np.load('PWNED')",
    "np.fromfile('PWNED')",
    "np.lib.npyio.DataSource()",
    "np.log.__class__(x)",
    "np.ones(10**9)",
    "np.memmap('PWNED')",
    "np.vectorize(x)",
    "pi.datasets.load_diabetes()",
    "I(9**9**9**9)",
    "I(x + 9**9**9)",
    "I(x**9999)",
    "I(x**x)",
    "I(x * 9**9)",
    "I(2**x)",
    "I('a' * 1000000000)",
    "I(g * 1000000000)",
    "I(I(g) * 1000000000)",
    "I(Q('g') * 100)",
    "np.multiply(g, 1000000000)",
    "C(g, levels=['a' * 1000000000])",
    "C(g, levels=[" + "'" + "a" * 10_000 + "'])",
    "C(x.map(str))",
    "C(g, open)",
    "C(g, Treatment(open('PWNED')))",
    "bs(x, df=100000000)",
    "bs(x, df=100, degree=21)",
    "bs(x, 100, None, 21)",
    "cr(x, df=10**9)",
    "bs(x, knots=[" + "1.5, " * 5000 + "2])",
    "te(x, k)",
    "I(x @ k)",
    "I(k // x)",
    "I(x % k)",
    "I(not x)",
    "I(x if k else x)",
    "I(await x)",
    "I((yield))",
    "I(x, k)",
    "I(1e400 * x)",
    "I(1j * x)",
    "I(b'x')",
    "I(...)",
    "ｅｖａｌ('x')",  # normal form NFKC: eval
    "I(__ｉmport__('os'))",
    "np.ｌoad('PWNED')",
    "𝐞xec('x')",
    "x.＿＿class＿＿",
    "I(x)\nimport os",
    "I(x);x",
    "ContrastMatrix([], [])",
    "I(" + "(" * 1000 + "x" + ")" * 1000 + ")",
    "(" * 5000 + "x" + ")" * 5000,
    "I(" + "-" * 5000 + "x)",
    "I(" + "x+" * 5000 + "x)",
    "9" * 10_000,
    "I(" + "9" * 10_000 + " + x)",
    "(x + k + g)^g",
    "np.log(" * 90 + "exec('x')" + ")" * 90,
    "te(cr(x, df=100), cr(x, df=100), cr(x, df=100))",
    "te(bs(x, df=6, degree=2), cr(k, 80), cc(x, 40))",
    "te(" + ", ".join(["bs(x, knots=[" + "1.5, 2, " * 30 + "2.5])"] * 3) + ")",
    "te(" + ", ".join(["bs(x, knots=[1.5], degree=99)"] * 3) + ")",
]
WIDE = [
    "bs(x, df=80):cr(k, df=80)",
    "bs(x, df=100):g:h:I(x > 2):I(k > 2):I(x > 1.5):C(k)",
    "(" + " + ".join(f"np.log(x + {j})" for j in range(13)) + ")**7",
    " * ".join(f"np.log(x + {j})" for j in range(13)),
    " + ".join(f"te(cr(x, df={j}), cr(k, df={j}))" for j in range(10, 26)),
    " + ".join(f"g:bs(x, df=90, upper_bound={j})" for j in range(4, 30)),
    " + ".join(f"cr(x, df=100, upper_bound={j})" for j in range(10, 70)),
    "C(k, levels=[" + ", ".join(map(str, range(100))) + "]):cr(x, df=70)",
    ":".join(f"C(g, Treatment('a'), levels=['a', 'b', 'c', 'd{j}'])" for j in range(9)),
    ":".join(f"te({', '.join(['bs(x, df=100)'] * 40)})" for _ in range(40)),
    "C(many):C(many, Sum)",
    "many:C(many, Poly) + x",
    "I(many):many",
]  # fmt: skip


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """Run in an empty folder where nothing can be imported, opened or evaluated by a formula."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "attack", ATTACKS, ids=lambda a: a[:40].encode("ascii", "replace").decode()
)
@pytest.mark.parametrize("side", ["{} ~ x", "y ~ {}", "y ~ k + {}", "y ~ k:({})"])
def test_anything_else_is_refused_before_it_is_evaluated(
    attack: str, side: str, watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluated(*_: object, **__: object) -> None:
        raise AssertionError("evaluated")

    monkeypatch.setattr("patsy.EvalEnvironment.eval", evaluated)
    with pytest.raises(FormulaError) as caught:
        learner(side.format(attack))
    assert len(str(caught.value)) <= 400


@pytest.mark.parametrize("terms", WIDE, ids=range(len(WIDE)))
def test_terms_without_end_are_refused_before_they_are_evaluated(
    terms: str, watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluated(*_: object, **__: object) -> None:
        raise AssertionError("evaluated")

    data = pd.concat([DATA] * 6, ignore_index=True)
    data["many"] = [f"level {j % 90}" for j in range(len(data))]
    monkeypatch.setattr("patsy.EvalEnvironment.eval", evaluated)
    with pytest.raises(FormulaError, match="may make 5,000 columns") as caught:
        pi.Learner.from_formula(f"y ~ k + {terms}", data, LinearRegression(), trusted=False)
    assert len(str(caught.value)) <= 400


@pytest.mark.parametrize(
    "code",
    [
        "bs(x, df=4)", "bs(x, 7, degree=2)", "bs(x, df=9, include_intercept=True)", "cc(x, df=5)",
        "bs(x, knots=[1.5, 2])", "bs(x, knots=[1.5, 2], degree=5, include_intercept=True)",
        "cr(x, df=6)", "cr(x, knots=(1.5, 2, 2.5))", "cr(x, df=6, constraints='center')", "x",
        "te(cr(x, df=3), bs(k, knots=[2], degree=1), cc(x, 4))", "g", "C(k)", "I(g)", "I(g == 'a')",
        "C(g, Poly)", "C(g, levels=['c', 'b', 'a', 'd'])", "I(x > 2)", "np.log(x)", "center(x)",
    ],
)  # fmt: skip
def test_a_factor_makes_no_more_columns_than_are_counted(code: str) -> None:
    from pyinterp.data.formula.trust import _width

    found = pi.Learner.from_formula(f"y ~ 0 + {code}", DATA, LinearRegression(fit_intercept=False))
    (factor,) = found.design.terms.factors
    made = len(found.design.columns)
    assert made <= _width(factor, DATA) <= max(2, 3 * made)  # knots and degree are counted roughly


def test_columns_of_the_data_are_as_many_as_they_are() -> None:
    """Numbers that are named, and categories of frames that pipelines encode, are not counted."""
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 5_200)))
    wide.columns = [f"x{j}" for j in range(wide.shape[1])]
    wide["y"] = np.arange(12.0)
    made = pi.Learner.from_formula("y ~ .", wide, LinearRegression(), trusted=False)
    assert len(made.features) == 5_200


@pytest.mark.parametrize("attack", ["x.clip(0)", "I(x + POWER)", "I(k // x)", "abs(x)"])
def test_the_refusal_names_the_piece_and_the_remedy(attack: str) -> None:
    with pytest.raises(FormulaError, match=r"With `trusted=False` .*`trusted=True`") as caught:
        learner(f"y ~ {attack}")
    assert attack in str(caught.value)
    assert list(pi.Learner.from_formula(f"y ~ {attack}", DATA, LinearRegression()).features)


def test_names_of_the_caller_do_not_replace_those_of_the_language() -> None:
    class Evil:
        def __getattr__(self, name: str) -> None:
            raise AssertionError(name)

    np = C = Evil()  # noqa: F841 - would be looked up by a trusted formula
    assert list(learner("y ~ np.log(x) + C(g)").features) == ["x", "g"]


def test_columns_named_like_functions_are_columns() -> None:
    named = DATA.rename(columns={"k": "eval", "x": "__class__"})
    found = pi.Learner.from_formula(
        "y ~ eval + Q('__class__')", named, LinearRegression(), trusted=False
    )
    assert set(found.features) == {"eval", "__class__"}
    with pytest.raises(FormulaError):
        pi.Learner.from_formula("y ~ eval('1')", named, LinearRegression(), trusted=False)


def test_listed_functions_are_elementwise() -> None:
    for name in FUNCTIONS_OF_NUMPY:
        assert isinstance(getattr(np, name), np.ufunc), name


@pytest.mark.parametrize("value", [None, 0, 1, "no", np.ones(3)])
def test_trusted_is_true_or_false(value: Any) -> None:
    with pytest.raises(OptionError, match="`trusted` must be True or False"):
        pi.Learner.from_formula("y ~ x", DATA, LinearRegression(), trusted=value)


NAMES = ["x", "k", "g", "h", "y", "np", "C", "Q", "I", "bs", "eval", "os", "POWER", "__import__",
         "_double", "_patsy_stobj0__center__", "center", "te", "cr"]  # fmt: skip
WORDS = [*NAMES, "'x'", "'odd name'", "1", "2", "9", "1e9", "(", ")", "[", "]", "{", "}", ".", ",",
         "=", "+", "-", "*", "**", "/", ":", "^", "~", "|", "%", "==", "<", "lambda", "for", "in",
         "if", "else", "log", "exp", "load", "__class__", "f'{x}'", "df", "levels", " ", "\n",
         "\\", "#", ";", "`", "µg", "ｅval", "@", "!", "\0"]  # fmt: skip


@settings(max_examples=400, deadline=None, derandomize=True)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=14))
@example(words=["I", "(", "x", ")"])
def test_words_at_random_are_refused_or_make_features(words: list[str]) -> None:
    found = features_or_message(f"y ~ k + {''.join(words)}")
    assert len(found) <= 400 if isinstance(found, str) else found <= set(DATA.columns)


def features_or_message(formula: str) -> set[str] | str:
    try:
        return set(learner(formula).features)
    except PyinterpError as error:
        return str(error)


EXPRESSIONS = st.recursive(
    st.sampled_from(["x", "k", "g", "Q('odd name')", "1", "2.5", "'a'", "POWER", "np", "open"]),
    lambda inner: st.one_of(
        st.builds(
            "({} {} {})".format,
            inner,
            st.sampled_from(["+", "-", "*", "/", "**", "//", "@", "<", "=="]),
            inner,
        ),
        st.builds(
            "{}({})".format, st.sampled_from(["I", "np.log", "C", "eval", "np.load", "Q"]), inner
        ),
        st.builds("{}.{}".format, inner, st.sampled_from(["T", "__class__", "values", "to_csv"])),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("(lambda: {})".format, inner),
        st.builds("{}({}, {})".format, st.sampled_from(["I", "bs", "te", "np.add"]), inner, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(code=EXPRESSIONS)
def test_expressions_that_are_accepted_hold_listed_nodes_only(code: str) -> None:
    found = features_or_message(f"y ~ x + I({code})")
    if isinstance(found, str):
        assert len(found) <= 400
        return
    for node in ast.walk(ast.parse(code)):
        assert not isinstance(node, ast.Subscript | ast.Lambda | ast.JoinedStr)
        if isinstance(node, ast.Attribute):
            assert isinstance(node.value, ast.Name)
            assert node.value.id == "np"
            assert node.attr in FUNCTIONS_OF_NUMPY
        if isinstance(node, ast.Name):
            assert node.id not in ("POWER", "open", "eval")
