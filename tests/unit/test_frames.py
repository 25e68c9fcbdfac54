"""Frames and arrays in one form: masks, foreign dtypes and what is no table at all."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression

import pyinterp as pi
from pyinterp.data.frames import as_frame
from pyinterp.errors import DataError

N = 40
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + RNG.normal(size=N)
GONE = np.zeros(N, bool)
GONE[[2, 5]] = True
PLAN = pi.Bootstrap(3)
LINEAR = LinearRegression()


def masked(values, fill=1e9):
    """Values with a mask, and nonsense behind it."""
    array = np.array(values)
    array[GONE] = fill
    return np.ma.MaskedArray(
        array, mask=np.broadcast_to(GONE.reshape(-1, *[1] * (array.ndim - 1)), array.shape)
    )


def importances(learner, plan=PLAN):
    return learner.fit(plan, seed=1).pfi().params.to_numpy()


WITHOUT = pi.Learner(Y[~GONE], X[~GONE], LINEAR)


@pytest.mark.parametrize(
    ("endog", "exog"),
    [
        (Y, masked(X)),
        (masked(Y), X),
        (masked(Y)[:, None], X),
        (masked(Y), masked(X)),
        (list(masked(Y)), X),
        (Y, list(masked(X))),
        (Y, tuple(masked(X))),
        (masked(Y, np.nan), masked(X, np.inf)),
        (masked(Y).astype(np.float32).astype(np.float64), masked(X)),
    ],
)
def test_masked_values_are_missing_wherever_an_array_is_taken(endog, exog):
    learner = pi.Learner(endog, exog, LINEAR)
    assert learner.dropped_rows == 2
    assert_allclose(importances(learner), importances(WITHOUT), rtol=1e-6)
    with pytest.raises(DataError, match="2 rows have missing values"):
        pi.Learner(endog, exog, LINEAR, missing="raise")


def test_masked_values_of_a_fitted_models_rows_are_missing():
    model = LINEAR.fit(X, Y)
    found = pi.FittedModel(model, masked(X), Y).pfi().params
    expected = pi.FittedModel(model, X[~GONE], Y[~GONE]).pfi().params
    assert_allclose(found, expected)


@pytest.mark.parametrize("what", ["cluster", "strata"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (masked(np.arange(N) % 8, 3), "must have no missing values; 2 rows have"),
        ([None, *"abc" * 13], "must have no missing values; 1 rows have"),
        (np.ones((N, 2)), r"must be one column .*it has shape \(40, 2\) for 40 rows"),
        (
            np.ones(N - 1),
            r"must be one column with one value per row of `exog`; it has shape \(39,\)",
        ),
        ([[1], [2, 3]], r"must be one column"),
        (3, r"must be one column"),
        (sparse.csr_matrix(np.ones((N, 1))), r"must be one column.*pass `.toarray\(\)`"),
    ],
)
def test_labels_that_do_not_fit_are_own_errors(what, labels, message):
    learner = pi.Learner(Y, X, LINEAR)
    with pytest.raises(DataError, match=f"`{what}` {message}") as caught:
        learner.fit(pi.Bootstrap(3, **{what: labels}), seed=1)
    assert len(str(caught.value)) <= 400


@pytest.mark.parametrize("what", ["cluster", "strata"])
def test_labels_of_any_form_mean_the_same(what):
    numbers = np.arange(N) % 4
    learner = pi.Learner(Y, X, LINEAR)
    expected = importances(learner, pi.Bootstrap(3, **{what: numbers}))
    forms = [
        numbers.tolist(), numbers[:, None], pd.Series(numbers), pd.Categorical(numbers),
        numbers.astype(">i4"), np.ma.MaskedArray(numbers), numbers.astype(str),
    ]  # fmt: skip
    for labels in forms:
        np.testing.assert_array_equal(
            importances(learner, pi.Bootstrap(3, **{what: labels})), expected
        )


DTYPES = [">f8", ">f4", ">i4", ">i2", "<f8", "f2", "longdouble", "i1", "u1", "u8"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["array", "frame", "formula", "response", "structured"])
def test_numbers_of_any_layout_are_read(dtype, kind):
    whole = np.round(5 * X - (5 * X).min())
    expected = importances(pi.Learner(Y, whole, LINEAR))
    given = whole.astype(dtype)
    frame = pd.DataFrame(given, columns=["a", "b"])
    if kind == "formula":
        learner = pi.Learner.from_formula("y ~ a + I(b*1)", frame.assign(y=Y), LINEAR)
    elif kind == "response":
        learner = pi.Learner(given[:, 0], X, LINEAR)
        expected = importances(pi.Learner(whole[:, 0], X, LINEAR))
    else:
        rows = {"array": given, "frame": frame, "structured": frame.to_records(index=False)}[kind]
        learner = pi.Learner(Y, rows, LINEAR)
        assert kind == "array" or list(learner.features) == ["a", "b"]
    rtol = 1e-4 if "f4" in dtype else 1e-9  # scikit-learn computes in the precision it is given
    assert_allclose(importances(learner), expected, rtol=rtol)


def test_structured_arrays_are_tables():
    rows = np.rec.fromarrays([X[:, 0], np.ma.MaskedArray(X[:, 1], GONE)], names="a,b")
    assert list(as_frame(rows).columns) == ["a", "b"]
    partly = np.ma.MaskedArray(np.asarray(rows), mask=[(gone, False) for gone in GONE])
    assert as_frame(partly)["a"].isna().sum() == 2
    assert as_frame(partly)["b"].isna().sum() == 0
    with pytest.raises(DataError, match="or a structured array"):
        as_frame(np.zeros(3, [("a", "f8", (2,))]))


class Foreign:
    """A table of another package."""

    def to_pandas(self):
        """Be never called: what it costs is the user's decision."""


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        (sparse.csr_matrix(X), r"pass `.toarray\(\)` of it"),
        (Foreign(), r"pass `.to_pandas\(\)` of it"),
        ({"a": [1, 2], "b": [3]}, "columns of one value per row, all of one length"),
        ([[1, 2], [3]], "equally long"),
        (iter([1]), "not list_iterator"),
    ],
)
def test_tables_of_other_kinds_are_refused_with_the_remedy(data, remedy):
    with pytest.raises(DataError, match=remedy):
        as_frame(data)
    with pytest.raises(DataError):
        pi.Learner(Y, data, LINEAR)
    with pytest.raises(DataError):
        pi.FittedModel(LinearRegression().fit(X, Y), data, Y)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("dtype", ["object", "Float64"])
def test_a_response_with_a_missing_value_of_any_kind(missing, dtype):
    values = pd.Series(Y, dtype="object")
    values[GONE] = missing
    for endog in (values.astype(dtype), list(values)):
        learner = pi.Learner(endog, X, LINEAR)
        assert learner.dropped_rows == 2
        assert_allclose(importances(learner), importances(WITHOUT))


@pytest.mark.parametrize("name", ["Int64", "Float64", "boolean", "string", "UInt8"])
@pytest.mark.parametrize("side", ["np.log(w + 2) ~ x", "x ~ w", "x ~ I(2*w) + x2", "w + x ~ x2"])
def test_extension_dtypes_give_what_numpy_gives(name, side):
    if name == "string":
        side, plain = "x ~ w", pd.Series(list("ab") * 20)
    else:
        plain = pd.Series(np.arange(N) % 2)
    frame = pd.DataFrame({"x": Y, "x2": X[:, 0]})
    expected = importances(pi.Learner.from_formula(side, frame.assign(w=plain), LINEAR))
    found = importances(pi.Learner.from_formula(side, frame.assign(w=plain.astype(name)), LINEAR))
    assert_allclose(found, expected, rtol=1e-9)


def arrow(values, kind):
    pa = pytest.importorskip("pyarrow")
    array = pa.array(values, type=pa.type_for_alias(kind) if kind != "dictionary" else None)
    if kind == "dictionary":
        array = array.dictionary_encode()
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


@pytest.mark.parametrize(
    "kind", ["int8", "uint64", "float", "double", "bool", "string", "large_string", "dictionary"]
)
@pytest.mark.parametrize("holes", [False, True])
def test_arrow_columns_give_what_numpy_gives(kind, holes):
    text = kind in ("string", "large_string", "dictionary")
    values = list("ab") * 20 if text else [v % 2 for v in range(N)]
    if kind == "bool":
        values = [bool(v) for v in values]
    given = [None if holes and gone else v for v, gone in zip(values, GONE, strict=True)]
    frame = pd.DataFrame({"x": Y, "x2": X[:, 0]})
    with_arrow = frame.assign(w=arrow(given, kind))
    learner = pi.Learner.from_formula("x ~ w + x2", with_arrow, LINEAR)
    plain = frame.assign(w=values)[~GONE] if holes else frame.assign(w=values)
    expected = pi.Learner.from_formula("x ~ w + x2", plain, LINEAR)
    assert learner.dropped_rows == 2 * holes
    assert learner.exog_names == expected.exog_names
    assert_allclose(importances(learner), importances(expected), rtol=1e-6)
    classes = pi.Learner.from_formula("w ~ x2", with_arrow, LogisticRegression())
    assert classes.sample.response.classes == tuple(sorted(set(values)))
    if text:
        labels = frame.assign(w=arrow(values, kind))
        importances(pi.Learner.from_formula("x ~ x2", labels, LINEAR), pi.Bootstrap(3, strata="w"))


@pytest.mark.parametrize(
    "values",
    [
        pd.date_range("2020", periods=N),
        pd.to_timedelta(np.arange(N), "D"),
        pd.Series([complex(i) for i in range(N)], dtype=object),
    ],
)
@pytest.mark.parametrize("formula", ["x ~ w", "w ~ x"])
def test_dates_and_complex_numbers_are_refused(values, formula):
    frame = pd.DataFrame({"x": Y, "w": values})
    with pytest.raises(
        DataError, match=r"Column `w` must hold numbers|`w` holds dates|needs a numeric response"
    ):
        pi.Learner.from_formula(formula, frame, LINEAR)


def test_an_identifier_is_called_one():
    frame = pd.DataFrame({"y": Y, "x": X[:, 0], "id": [f"p{i}" for i in range(N)]})
    message = r"`id` has 40 levels in 40 rows and looks like an identifier.*`y ~ \. - id`"
    for formula in ("y ~ .", "y ~ x + C(id)", "y ~ x*id"):
        with pytest.raises(DataError, match=message):
            pi.Learner.from_formula(formula, frame, LINEAR)
    assert list(pi.Learner.from_formula("y ~ . - id", frame, LINEAR).features) == ["x"]
    assert pi.Learner.from_formula("y ~ .", frame[:12], LINEAR).features  # few rows
    assert pi.Learner.from_formula("y ~ .", frame, LINEAR, design="frame").features


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.arange(N), "looks like a quantity. Use a regressor"),
        ([f"p{i}" for i in range(N)], "looks like an identifier"),
    ],
)
def test_a_classifier_of_a_quantity_or_an_identifier(values, message):
    endog = np.floor(values) if isinstance(values, np.ndarray) else values
    with pytest.raises(DataError, match=message):
        pi.Learner(endog, X, LogisticRegression())
    as_labels = pi.Learner(
        [f"class {int(v) % 30}" for v in np.arange(300)], np.ones((300, 1)), LogisticRegression()
    )
    assert as_labels.sample.response is not None
