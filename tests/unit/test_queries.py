"""Queries name the rows that pandas would, and never run code."""

from itertools import product

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.data.queries import evaluate
from pyinterp.errors import OptionError

N = 24
DATA = pd.DataFrame(
    {
        "y": np.linspace(0, 1, N) ** 2,
        "x": np.linspace(-2, 2, N),
        "k": np.arange(N) % 5,
        "g": list("abc") * 8,
        "h": pd.Categorical(list("uv") * 12),
        "o": pd.Categorical(["low", "mid", "high"] * 8, ["low", "mid", "high"], ordered=True),
        "b": np.arange(N) % 3 == 0,
        "c": pd.array([True, False, None] * 8, dtype="boolean"),
        "m": np.where(np.arange(N) % 4 == 0, np.nan, 1.0),
        "day": pd.date_range("2020-01-01", periods=N),
        "date": pd.date_range("2020-01-01", periods=N).date,
        "odd name": np.arange(N),
        "it's": np.arange(N),
        "a & b": np.arange(N),
        "größe": np.arange(N),
    }
)

AS_IN_PANDAS = [
    "x > 0",
    "x > 0 and g == 'a'",
    "(x > 0) & (g == 'a') | ~b",
    "not b or k == 2",
    "0 <= x < 1.5",
    "0 < k <= 3 != x",
    "g in ['a', 'b']",
    "g not in ('a',)",
    "k in [1, -1, 3]",
    "k % 2 == 0 and k // 2 == 1",
    "x ** 2 + 2 * k - 1 > k / 3",
    "-x > k - 2",
    "h == 'u'",
    "o >= 'mid'",
    "b",
    "b == True",
    "c and x > 5",
    "m == m",
    "day > '2020-01-09'",
    "`odd name` > 3",
    "`it's` > 3 and g == 'a'",
    "`a & b` > 3",
    "größe > 3 and g != '`odd name`'",
    " x > 0 ",
    "k > 1e-3",
    '"a" == g',
]


@pytest.mark.parametrize("query", AS_IN_PANDAS)
def test_queries_name_the_rows_of_pandas(query):
    if query.startswith("`it's`") and pd.__version__ < "3":
        pytest.skip("pandas 2 can't read apostrophes in names")
    expected = DATA.eval(query.strip(), engine="python")
    assert_array_equal(evaluate(query, DATA, "rows"), expected)
    assert bool(expected.any()) or query.startswith("c")


@pytest.mark.parametrize(
    ("query", "kept"),
    [("m != 5", 18), ("not (m > 2)", 18), ("m not in [5]", 18), ("day not in ['2020-01-01']", 23),
     ("f in [.1]", 24)],
)  # fmt: skip
def test_what_is_missing_is_not_kept_and_members_are_compared(query, kept):
    frame = DATA.assign(f=np.float32(0.1))
    assert evaluate(query, frame, "rows").sum() == kept


def test_names_in_quotes_are_columns_as_in_formulas():
    found = evaluate("Q('odd name') > 3", DATA, "rows")
    assert_array_equal(found, np.arange(N) > 3)


def test_columns_whose_names_python_reads_alike_are_told_apart():
    frame = pd.DataFrame({"µ": [1, 2], "μ": [2, 1]})
    for name in frame:
        assert_array_equal(evaluate(f"{name} > 1", frame, "rows"), frame[name] > 1)


def test_whole_numbers_neither_overflow_nor_grow():
    frame = pd.DataFrame({"k": np.array([2, 2**62])})
    assert_array_equal(evaluate("k * 4 > 100", frame, "rows"), [False, True])
    with pytest.raises(OptionError, match="OverflowError"):
        evaluate("k > 9**9**9**9", frame, "rows")


WRONG = {
    "agee > 3": "Can't find variable `agee`",
    "x = 3": "invalid syntax",
    "x > 1 & k < 2": "is not True or False",
    "g + 1 > 2": "arithmetic needs",
    "'a' * 1000000000 == g": "arithmetic needs",
    "1 > 0": "one value for all rows",
    "True": "one value for all rows",
    "k and b": "`k` is not True or False",
    "g > 1": "both must be of one kind",
    "k != '1'": "both must be of one kind",
    "h in [1]": "both must be of one kind",
    "day != 'junk'": "junk",
    "day != 2020": "both must be of one kind",
    "date != '2020-01-09'": "of type date",
    "x is 1": "not by `is`",
    "g in 'abc'": "`in` takes a column and a list",
    "'a' in g": "`in` takes a column and a list",
    "g in [g]": "`g` is none of",
    "g.isin(['a'])": "compute a column, or pass a mask",
    "x > @limit": "invalid syntax",
    "x > None": "`None` is none of",
    "(" * 5000 + "x" + ")" * 5000 + " > 1": "Can't read",
    "~" * 150 + "b": "too deep",
    "": "Can't read",
}


@pytest.mark.parametrize("query", WRONG)
def test_other_queries_are_refused_with_the_reason(query):
    with pytest.raises(OptionError, match=r"`rows` must be a query of columns") as caught:
        evaluate(query, DATA, "rows")
    assert WRONG[query] in str(caught.value)
    assert len(str(caught.value)) < 500


HARM = [
    "x.to_csv('{file}')",
    "x.to_pickle('{file}')",
    "x.to_json('{file}')",
    "x.to_string('{file}')",
    "x.values.tofile('{file}')",
    "x.to_frame().to_html('{file}')",
    "`odd name`.to_csv('{file}')",
    "Q('odd name').to_csv('{file}')",
    "open('{file}', 'w')",
    "__import__('os').system('touch {file}')",
    "__import__('pathlib').Path('{file}').touch()",
    'eval(\'open("{file}", "w")\')',
    'exec(\'open("{file}", "w")\')',
    "x.pipe(open, '{file}', 'w')",
    "g.map(lambda v: open('{file}', 'w'))",
    "(lambda: open('{file}', 'w'))()",
    "[open('{file}', 'w') for v in x][0]",
    'f\'{{open("{file}", "w")}}\'',
    "().__class__.__base__.__subclasses__()",
    "x.__class__.__init__.__globals__['__builtins__']['open']('{file}', 'w')",
    "@pd.io.common.os.system('touch {file}')",
    "@open('{file}', 'w')",
    "(w := open('{file}', 'w'))",
    "np.save('{file}', x)",
]
PLACES = [
    "{}",
    "{} != 1",
    "(x > 0) & ({} != 1)",
    "x > 0 or {} == 0",
    "not {}",
    "g in [{}]",
    "-{} + x > 0",
    "x ** {} > 0",
    "b if {} else b",
]


def test_hostile_queries_are_refused_and_write_nothing(tmp_path):
    queries = [place.format(harm) for place, harm in product(PLACES, HARM)]
    assert len(queries) > 200
    for query in queries:
        with pytest.raises(OptionError, match="`subset` must be a query"):
            pi.Learner.from_formula(
                "y ~ x", DATA, LinearRegression(), subset=query.replace("{file}", f"{tmp_path}/f")
            )
        assert not list(tmp_path.iterdir()), query


@pytest.mark.parametrize("harm", HARM[:10])
def test_hostile_rows_of_results_are_refused(harm, tmp_path):
    model = pi.FittedModel(LinearRegression().fit(DATA[["x"]], DATA["y"]), DATA[["x"]], DATA["y"])
    with pytest.raises(OptionError, match="`rows` must be a query"):
        model.pfi(rows=f"(x > 0) & ({harm.replace('{file}', f'{tmp_path}/f')} != 1)")
    assert not list(tmp_path.iterdir())


WORDS = [
    "x", "k", "g", "b", "c", "o", "day", "1", "2.5", "'a'", "True", "None", "(", ")", "[", "]", ",",
    " and ", " or ", " not ", " in ", "&", "|", "~", "==", "<", ">=", "+", "-", "*", "**", "/", "%",
    "`odd name`", "`", "'", "@", ".", ".sum", "=", ":", "lambda", "{", "}", "\\", "#", "\n", "\0",
]  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=10))
def test_words_at_random_give_values_or_the_sentence(words):
    try:
        found = evaluate("".join(words), DATA, "rows")
    except OptionError as error:
        assert str(error).startswith("`rows` must be a query")  # noqa: PT017
    else:
        assert len(found) == N
