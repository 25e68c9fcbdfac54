"""What outsiders tripped over, each by hand: it works, with the right numbers, or is refused."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import specimens
from calls import CALLS, METHODS
from verdict import judge_source, wordy

from pyinterp.errors import PyinterpError

FIT = "fit(pi.Bootstrap(3), seed=1).pfi()"

# Expression, and the expression of what it must equal.
WORKS = {
    "column with a micro sign": (
        f"LF('y ~ .', d[['y', 'z']].assign(**{{'µg': d.x}}), LR).{FIT}",
        f"LF('y ~ .', d[['y', 'z']].assign(mg=d.x), LR).{FIT}",
    ),
    "micro sign in a formula": (
        f"LF('y ~ µg + z', d.assign(**{{'µg': d.x}}), LR).{FIT}",
        f"LF('y ~ mg + z', d.assign(mg=d.x), LR).{FIT}",
    ),
    "the other micro sign": (
        f"LF('y ~ \\u03bcg + z', d.assign(**{{'\\u03bcg': d.x}}), LR).{FIT}",
        f"LF('y ~ mg + z', d.assign(mg=d.x), LR).{FIT}",
    ),
    "a caller's C": (
        f"(lambda C: LF('y ~ C(k) + x', d, LR).{FIT})(1.0)",
        f"LF('y ~ C(k) + x', d, LR).{FIT}",
    ),
    "a caller's bs": (
        f"(lambda bs: LF('y ~ bs(x, df=4)', d, LR).{FIT})(1.0)",
        f"LF('y ~ bs(x, df=4)', d, LR).{FIT}",
    ),
    "a caller's Q, I and np": (
        f"(lambda Q, I, np: LF('y ~ Q(\"x\") + I(z**2)', d, LR).{FIT})(1.0, 2.0, 3.0)",
        f"LF('y ~ x + I(z**2)', d, LR).{FIT}",
    ),
    "strings of Arrow": (
        f"LF('y ~ x + g', d.assign(g=d.g.astype('string[pyarrow]')), LR).{FIT}",
        f"LF('y ~ x + g', d, LR).{FIT}",
    ),
    "strings of Arrow, frame": (
        "LF('y ~ x + g', d.assign(g=d.g.astype('string[pyarrow]')), make_pipeline("
        f"OneHotEncoder(handle_unknown='ignore'), Ridge()), design='frame').{FIT}",
        "LF('y ~ x + g', d, make_pipeline("
        f"OneHotEncoder(handle_unknown='ignore'), Ridge()), design='frame').{FIT}",
    ),
    "big-endian column": (
        f"LF('y ~ x + z', d.assign(x=d.x.astype('>f8')), LR).{FIT}",
        f"LF('y ~ x + z', d, LR).{FIT}",
    ),
    "big-endian column, tree": (
        f"LF('y ~ x + z', d.assign(x=d.x.astype('>f8')), TREE).{FIT}",
        f"LF('y ~ x + z', d, TREE).{FIT}",
    ),
    "big-endian response": (
        f"LF('y ~ x + z', d.assign(y=d.y.astype('>f8')), LR).{FIT}",
        f"LF('y ~ x + z', d, LR).{FIT}",
    ),
    "big-endian array": (
        f"pi.Learner(y, A.astype('>f8'), TREE).{FIT}",
        f"pi.Learner(y, A, TREE).{FIT}",
    ),
    "big-endian array, fitted": (
        "pi.FittedModel(TREE.fit(A, y), A.astype('>f8'), y.astype('>f8'), seed=1).pfi()",
        "pi.FittedModel(TREE.fit(A, y), A, y, seed=1).pfi()",
    ),
    "big-endian grid": (
        "res.pd('x', grid=np.array([0.0, 1.0], dtype='>f8'))",
        "res.pd('x', grid=[0.0, 1.0])",
    ),
    "one column of responses": (
        f"pi.Learner(y.to_numpy()[:, None], X, LR).{FIT}",
        f"pi.Learner(y, X, LR).{FIT}",
    ),
    "a frame of one response": (
        f"pi.Learner(y.to_frame(), X, LR).{FIT}",
        f"pi.Learner(y, X, LR).{FIT}",
    ),
    "one column of responses, fitted": (
        "pi.FittedModel(lin, X, y.to_numpy()[:, None], seed=1).pfi()",
        "pi.FittedModel(lin, X, y, seed=1).pfi()",
    ),
    "one column of responses, classes": (
        f"pi.Learner(c.to_numpy()[:, None], X, LOGIT).{FIT}",
        f"pi.Learner(c, X, LOGIT).{FIT}",
    ),
    "one column of clusters": (
        "learner.fit(pi.Bootstrap(3, cluster=d[['s']].to_numpy()), seed=1).pfi()",
        "learner.fit(pi.Bootstrap(3, cluster=d['s']), seed=1).pfi()",
    ),
    "a mask without a masked value": (
        f"pi.Learner(y, np.ma.masked_array(A, mask=np.zeros_like(A, bool)), LR).{FIT}",
        f"pi.Learner(y, A, LR).{FIT}",
    ),
    "PD of one row": (
        "pi.FittedModel(lin, X[:1], seed=1).pd('x', grid=[0.0, 1.0]).params",
        "pd.Series([lin.predict(X[:1].assign(x=v))[0] for v in (0.0, 1.0)])",
    ),
    "PD of four rows": (
        "pi.FittedModel(lin, X[:4], seed=1).pd('x', grid=[0.0, 1.0]).params",
        "pd.Series([lin.predict(X[:4].assign(x=v)).mean() for v in (0.0, 1.0)])",
    ),
    "hypotheses in a list": (
        "pf.t_test(['x = z', 'z = 0']).effect",
        "pf.t_test('x = z, z = 0').effect",
    ),
    "hypotheses in a list, statistics": (
        "pf.t_test(['x = z', 'z = 0.1']).tvalue",
        "pf.t_test('x = z, z = 0.1').tvalue",
    ),
    "weights and values": (
        "pf.t_test((np.eye(3), np.array([0.1, 0.2, 0.3]))).tvalue",
        "pf.t_test('x = 0.1, z = 0.2, g = 0.3').tvalue",
    ),
    "a table of one result in a list": (
        "pi.summary_col([pf]).as_text()",
        "pi.summary_col((pf,)).as_text()",
    ),
    "categories without rows": (
        f"LF('y ~ x + g', d.assign(g=pd.Categorical(d.g, list('abcd'))), LR).{FIT}",
        f"LF('y ~ x + g', d, LR).{FIT}",
    ),
    "read-only array": (
        "pi.FittedModel(lin, (lambda a: [a.setflags(write=False), a][1])(A), y, seed=1).pfi()",
        "pi.FittedModel(lin, A, y, seed=1).pfi()",
    ),
}
# Works as the other expression, or is refused in the package's own words.
EITHER = {
    "a table of one result, unlisted": (
        "pi.summary_col(pf).as_text()",
        "pi.summary_col([pf]).as_text()",
    ),
    "masked clusters": (
        "pi.FittedModel(lin, X, y, cluster=np.ma.masked_array(d.s, mask=d.x > 1), seed=1).pfi()",
        "pi.FittedModel(lin, X, y, cluster=d.s.where(d.x <= 1), seed=1).pfi()",
    ),
    "predict writes into its X": (
        f"LF('y ~ x + z', d, Broken('writes')).{FIT}",
        f"LF('y ~ x + z', d, Broken('none')).{FIT}",
    ),
    "fit writes into its X and y": (
        f"LF('y ~ x + z', d, FitWrites()).{FIT}",
        f"LF('y ~ x + z', d, Broken('none')).{FIT}",
    ),
    "a function writes into its X": (
        "pi.FittedModel(function('writes'), X, y, seed=1).pfi()",
        "pi.FittedModel(function('none'), X, y, seed=1).pfi()",
    ),
    "a function writes into its array": (
        "pi.FittedModel(function('writes'), A, y, seed=1).pd('x1', points=3)",
        "pi.FittedModel(function('none'), A, y, seed=1).pd('x1', points=3)",
    ),
    "a loss writes into the predictions": (
        "fm.pfi(loss=bad_loss('writes'))",
        "fm.pfi(loss='squared')",
    ),
    "complex predictions without imaginary part": (
        "pi.FittedModel(function('zero imaginary'), X, y, seed=1).pfi()",
        "pi.FittedModel(function('none'), X, y, seed=1).pfi()",
    ),
    "predictions as text": (
        "pi.FittedModel(function('strings'), X, y, seed=1).pfi()",
        "pi.FittedModel(function('none'), X, y, seed=1).pfi()",
    ),
    "hypotheses in a mapping": ("pf.t_test({'x': 0}).tvalue", "pf.t_test('x = 0').tvalue"),
}


def value(source):
    return eval(source, specimens.names())  # noqa: S307 - our own table of expressions


def same(a, b):
    """Whether two values have the same numbers, or texts."""
    if isinstance(a, str):
        return a == b
    a, b = (getattr(v, "params", v) for v in (a, b))
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", WORKS)
def test_works(case):
    source, equal = WORKS[case]
    if "pyarrow" in source:
        pytest.importorskip("pyarrow")
    assert same(value(source), value(equal))


@pytest.mark.parametrize("case", EITHER)
def test_right_or_refused(case):
    source, equal = EITHER[case]
    if judge_source(source).kind != "refusal":
        assert same(value(source), value(equal))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("who", ["res", "fm"])
def test_a_misspelt_option_is_told_by_its_name(who, method):
    if f"{who}.{method}" not in CALLS:
        pytest.skip("others answer this")
    call = CALLS[f"{who}.{method}"]
    option = max(call.kinds, key=len)
    with pytest.raises(TypeError) as refused:
        value(call.source({**call.base, option[:-1]: "5"}))
    message = str(refused.value)
    assert f"{method}()" in message
    assert f"`{option}`" in message
    assert wordy(message) == ""


def test_classifier_of_numbers_is_told_what_to_change():
    with pytest.raises(PyinterpError) as refused:
        value(f"LF('y ~ x + z', d, LOGIT).{FIT}")
    assert "rare" not in str(refused.value)  # 40 classes of one row each are numbers
    assert "regress" in str(refused.value)


def test_identifier_is_told_as_one():
    with pytest.raises(PyinterpError) as refused:
        value(f"LF('y ~ x + i', d.assign(i=['id%d' % i for i in range(N)]), LR).{FIT}")
    assert "`i`" in str(refused.value)
    assert "rare" not in str(refused.value)


def test_pd_of_one_row_has_no_interval():
    frame = value("pi.FittedModel(lin, X[:1], seed=1).pd('x', points=3)").summary_frame()
    assert frame[["std_error", "conf_low", "conf_high"]].isna().all(axis=None)


@pytest.mark.parametrize("method", ["predict", "fit"])
def test_data_are_never_written_into(method):
    names = specimens.names()
    data = names["d"]
    before = data.copy()
    kind = {"predict": "Broken('writes')", "fit": "FitWrites()"}[method]
    for source in (
        f"LF('y ~ x + z', d, {kind}).{FIT}",
        f"LF('y ~ x + z', d, {kind}, design='frame').{FIT}",
        f"pi.Learner(d['y'], d[['x', 'z']], {kind}).{FIT}",
        f"pi.FittedModel({kind}.fit(d[['x', 'z']].to_numpy(copy=True), "
        "d['y'].to_numpy(copy=True)), d[['x', 'z']], d['y']).pfi()",
    ):
        with suppress(PyinterpError):
            eval(source, names)  # noqa: S307 - our own expressions
        pd.testing.assert_frame_equal(data, before)
