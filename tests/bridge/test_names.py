"""Names and levels are data: none reaches R as code, and none changes a number.

Every name below is tried as a variable, as the response, as a level, as a class and as the name of
an object of R. Its payload would make a file, and nothing may be printed: the listing of an empty
folder and the streams are looked at after every test. Plain names are the witness.
Tolerance: the same numbers go to the same functions of R.
"""

import json
import random
import re
import subprocess
import unicodedata
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import pyinterp as pi
from pyinterp.errors import DataError, OptionError
from r_bridge import RCallError, RCode, RLearner, RModel
from r_bridge.names import Translation, is_plain
from r_bridge.session import SESSION

Run = Callable[..., "subprocess.CompletedProcess[str]"]

TOLERANCE = 1e-12
N = 60
SIZE = 4  # names tried at a time
LONGEST = 2_000  # of levels, in characters: R warns that it truncates longer ones
R_OWN = {".", "...", "..1", "(weights)", "(offset)"}  # names that mean something else in R's frames

CALLS = (
    'system("touch PWNR")',
    "file.create('PWNR')",
    'writeLines("x", "PWNR")',
    'print("PWNR")',
    'stop("PWNR")',
)
AROUND = (
    "{}",
    "x` + {} + `z",
    "`x`; {}; `",
    "x); {}; (y",
    "y ~ x + {}",
    '"; {}; "',
    "'); {} #",
    "x\n{}\n",
    "\\`{}\\`",
    "I({})",
    "s({})",
    "function() {}",
    "(function() {})()",
    "{{{}}}",
    "$({})",
    "`{}`",
    "\t{}",
    "{} -> a",
    "offset({})",
    "%in% {}",
    "a[[{}]]",
    "a@{}",
    "list({}",
)
WORDS = (
    *("if", "function", "TRUE", "FALSE", "NA", "NULL", "Inf", "NaN", "NA_character_", "next"),
    *("in", "else", "while", "repeat", "T", "F", "pi", "c", "data", "formula", "weights"),
    *("a.b", ".", "..", "...", "..1", "_", " ", "  ", "a b", "a  b", "-", "0", "1e5", ".5", "-1"),
    *("a:b", "a*b", "a+b", "a-b", "a^b", "a|b", "a~b", "~", "y ~ .", "(weights)", "(offset)"),
    *("(Intercept)", "`", "``", "`a`", "'", '"', "\\", "\\\\", "\n", "\t", "\r\n", ";", "#", "%"),
    *("%s%d%n", "$(touch PWNR)", "`touch PWNR`", "${HOME}", "a$b", "a@b", "a[1]", "[[", "{", "}"),
    *("é", "e\u0301", "\u212b", "Å", "ﬁ", "fi", "µg", "μg", "²", "x²", "中文", "עברית", "\u202ex"),
    *("🙂", "👩\u200d🔬", "\u200b", "\ufeff", "\u00a0", "\x01", "\x7f", "ß", "İ", "x" * 250),
    *("x" * 12_000, "é" * 3_000, "yhat", "yhat.id", "object", "newdata", "fit", "train", "self"),
)


def nasty(number):
    """Names made of payloads, words of R, punctuation and unicode; the same ones every time."""
    draw = random.Random(8)  # noqa: S311 - names, no secrets
    payloads = [around.format(call) for around in AROUND for call in CALLS]
    signs = "`'\"\\;$()[]{}%~+*:^-|!&<>=@#,. \t\nabcXYZ019_éø中🙂\u0301\u202e"
    mixed = ["".join(draw.choices(signs, k=draw.randint(1, 25))) for _ in range(number)]
    parts = [payloads, list(WORDS), mixed]
    for part in parts:
        draw.shuffle(part)
    spread = [name for three in zip(*(part * 9 for part in parts), strict=False) for name in three]
    return list(dict.fromkeys(spread))[:number]


FEW = nasty(40)
MANY = nasty(520)

pytestmark = pytest.mark.usefixtures("r")


def batches():
    """The names in the order in which they are tried; the first ones in every run."""
    starts = range(0, len(MANY), SIZE)
    marks = [() if k < len(FEW) else (pytest.mark.torture,) for k in starts]
    return [
        pytest.param(MANY[k : k + SIZE], id=str(k), marks=mark)
        for k, mark in zip(starts, marks, strict=True)
    ]


@pytest.fixture
def harmless(tmp_path, monkeypatch, capfd):
    """Nothing is written and nothing printed."""
    monkeypatch.chdir(tmp_path)
    former = SESSION.call("setwd", str(tmp_path))
    before = objects()
    yield
    SESSION.call("setwd", former)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")
    assert objects() == before


def objects():
    """What is in R's global environment, but for the state of its random numbers."""
    return set(SESSION.evaluate("ls(globalenv(), all.names = TRUE)")) - {".Random.seed"}


def plain(names):
    return [f"plain{k}" for k in range(len(names))]


@pytest.fixture(scope="module")
def values():
    """Numbers, and in the last column codes of levels."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"plain{k}": rng.normal(size=N) for k in range(SIZE - 1)})
    return frame.assign(**{f"plain{SIZE - 1}": rng.integers(0, SIZE, N)})


def with_levels(values, names, levels):
    """The values under names, with a factor in the last column."""
    frame = values.iloc[:, : len(names)].set_axis(names, axis=1)
    levels = [level[:LONGEST] for level in levels]
    codes = values[f"plain{SIZE - 1}"] % len(levels)
    return frame.assign(**{names[-1]: pd.Categorical.from_codes(codes, levels)})


REGRESSIONS = {
    "stats::lm": {},
    "stats::glm": {},
    "mgcv::gam": {},
    "rpart::rpart": {},
    "randomForest::randomForest": {"ntree": 5},
    "ranger::ranger": {"num_trees": 5, "num.threads": 1},
    "gbm::gbm": {"n_trees": 5},
    "nnet::nnet": {"size": 1, "linout": True, "trace": False},
}
CLASSIFIERS = {
    "rpart::rpart": {},
    "randomForest::randomForest": {"ntree": 5},
    "ranger::ranger": {"num_trees": 5, "num.threads": 1},
    "nnet::multinom": {"trace": False},
    "nnet::nnet": {"size": 1, "trace": False},
}


def response(values):
    return values["plain0"] + 0.3 * values[f"plain{SIZE - 1}"]


@pytest.mark.parametrize("names", batches())
def test_names_of_variables_of_the_response_and_of_levels(names, values, harmless, debian):
    y = response(values)
    witness = with_levels(values, plain(names), plain(names))
    frame = with_levels(values, names, names)
    for function, options in REGRESSIONS.items():
        debian(function)
        learner = RLearner(function, random_state=1, **options)
        expected = learner.fit(witness, y.rename("response")).predict(witness)
        other = next(name for name in [*MANY, "free"] if name not in names)
        found = learner.fit(frame, y.rename(other)).predict(frame[names[::-1]])
        assert_allclose(found, expected, rtol=0, atol=TOLERANCE, err_msg=function)


@pytest.mark.parametrize("names", batches())
def test_names_of_classes(names, values, harmless, debian):
    codes = np.arange(N) % len(names)
    witness = with_levels(values, plain(names), plain(names))
    frame = with_levels(values, names, names)
    for function, options in CLASSIFIERS.items():
        debian(function)
        learner = RLearner(function, classifier=True, random_state=1, **options)
        there = learner.fit(witness, pd.Categorical.from_codes(codes, plain(names)))
        expected, best = there.predict_proba(witness), there.predict(witness)
        classes = [name[:LONGEST] for name in names]
        here = learner.fit(frame, pd.Categorical.from_codes(codes, classes))
        assert here.classes_.tolist() == classes
        found = here.predict_proba(frame)
        assert_allclose(found, expected, rtol=0, atol=TOLERANCE, err_msg=function)
        back = dict(zip(plain(names), classes, strict=True))
        assert here.predict(frame).tolist() == [back[name] for name in best]


@pytest.mark.parametrize("names", batches())
def test_names_in_a_formula_are_the_columns(names, values, harmless):
    """Quoted as R quotes them, with a transformation, weights and an offset that name columns."""
    usable = [name for name in names if name and len(name) < 5_000 and "\u202e" not in name]
    frame = values.iloc[:, : len(usable)].set_axis(usable, axis=1)
    if not usable or "." in usable:  # which is all other columns in a formula
        return
    y = response(values)
    quoted = ["`" + re.sub(r"([\\`])", r"\\\1", name) + "`" for name in usable]
    sums = {
        "formula": " ~ " + " + ".join(f"I({name}^2)" for name in quoted),
        "weights": RCode(f"exp({quoted[0]})"),
        "offset": RCode(f"sin({quoted[-1]})"),
    }
    same = {
        "formula": " ~ " + " + ".join(f"I({name}^2)" for name in plain(usable)),
        "weights": RCode("exp(plain0)"),
        "offset": RCode(f"sin(plain{len(usable) - 1})"),
    }
    witness = frame.set_axis(plain(usable), axis=1)
    expected = RLearner("stats::lm", **same).fit(witness, y).predict(witness)
    found = RLearner("stats::lm", **sums).fit(frame, y).predict(frame)
    assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


IN_R = """function(rows, y, name) {
  rows$response <- y
  terms <- Reduce(function(a, b) call("+", a, b), lapply(setdiff(names(rows), "response"), as.name))
  assign(name, lm(eval(call("~", quote(response), terms)), rows), globalenv())
}"""


@pytest.mark.parametrize("names", batches())
def test_models_that_r_fitted_under_such_names(names, values, harmless):
    """By R's own symbols; the object has such a name too, and names of files are no code."""
    names = [name for name in names if len(name) < 1_000 and name not in R_OWN]
    names = [name for name in names if unicodedata.normalize("NFC", name) == name]
    if not names:
        return
    y, frame = response(values), values.iloc[:, : len(names)].set_axis(names, axis=1)
    SESSION.call(IN_R, frame, y, names[0])
    model = RModel(names[0])
    SESSION.call("rm", list=names[0], envir=RCode("globalenv()"))
    witness = frame.set_axis(plain(names), axis=1)
    expected = RLearner("stats::lm").fit(witness, y).predict(witness)
    assert sorted(model.feature_names_in_) == sorted(names)
    shuffled = frame[names[::-1]].assign(**{"one more": 0.0})
    assert_allclose(model.predict(shuffled), expected, rtol=0, atol=TOLERANCE)
    curve = pi.FittedModel(model, frame).pd(names[0], grid=[0.0, 1.0])
    assert np.isfinite(curve.params).all()
    for name in names:
        with pytest.raises(RCallError, match="not found"):
            RModel(name + "!")
        with pytest.raises((OptionError, RCallError)):
            RModel(name + ".rds")


COMPARE = """
import json, os
import numpy as np, pandas as pd, pyinterp as pi, r_bridge
rng = np.random.default_rng(2)
values, codes, plain = rng.normal(size=(6, 3)), np.arange(6) % 3, ["p0", "p1", "p2"]
def frame(names):
    table = pd.DataFrame(values, columns=names)
    return table.assign(**{names[2]: pd.Categorical.from_codes(codes, names)})
def model(rows):
    return rows.iloc[:, 0] * rows.iloc[:, 1] + rows.iloc[:, 2].cat.codes * rows.iloc[:, 0]
def tables(names):
    rows, (a, b, f), y = frame(names), names, values[:, 0]
    return [
        r_bridge.partial(model, rows, [a, f], grid_resolution=2),
        r_bridge.partial(model, rows, b, pred_grid={b: [0.0, 1.0]}),
        r_bridge.vi_firm(model, rows, [b, f], grid_resolution=2),
        r_bridge.vi_permute(model, rows, names, target=y, metric="rmse", nsim=2, seed=1),
        r_bridge.hstats(model, rows, [a, b, f], pairwise_m=2),
    ]
witness = tables(plain)
for names in json.loads(os.environ["NAMES"]):
    back = dict(zip(plain, names))
    def text(value):
        sign = "*" if "*" in str(value) else ":"
        return sign.join(back.get(part, part) for part in str(value).split(sign))
    for found, expected in zip(tables(names), witness):
        assert list(found.columns) == list(map(text, expected.columns))
        for j, column in enumerate(expected.columns):
            if pd.api.types.is_numeric_dtype(expected[column]):
                np.testing.assert_allclose(found.iloc[:, j], expected[column], rtol=0, atol=1e-12)
            else:
                assert list(found.iloc[:, j]) == list(map(text, expected[column]))
fitted = pi.FittedModel(model, frame(names), values[:, 0])
for what in ("pdp", "vip"):
    assert r_bridge.compare(fitted, what, nsim=1).max_abs_diff < 1e-10
assert os.listdir() == [], os.listdir()
"""


@pytest.mark.parametrize(
    "names",
    [pytest.param(FEW[:15], id="few"), pytest.param(MANY, id="many", marks=pytest.mark.torture)],
)
def test_names_handed_to_pdp_vip_and_hstats(names, run, library, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    usable = [name for name in names if name not in ("yhat", "yhat.id")]
    threes = [usable[k : k + 3] for k in range(0, len(usable) - 2, 3)]
    for k in range(0, len(threes), 60):
        done = run(COMPARE, R_LIBS=library, NAMES=json.dumps(threes[k : k + 60]))
        assert done.returncode == 0, done.stderr
        assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_r_can_not_hold_is_refused(text, values):
    """R's strings end at a null character: two names would be one."""
    x, y = values[["plain0"]], response(values)
    if text == "\ud800" and pd.Series(["a"]).dtype.storage == "pyarrow":
        pytest.skip("pandas with pyarrow makes no such text")
    for wrong in (x.assign(k=pd.Categorical([text] * N)), x.assign(k=[text] * N)):
        with pytest.raises(DataError, match="without null characters"):
            RLearner("stats::lm").fit(wrong, y)
    with pytest.raises(DataError, match="without null characters"):
        SESSION.call("names", x.rename(columns={"plain0": text}))
    with pytest.raises(DataError, match="without null characters"):
        RModel(text)
    renamed = x.rename(columns={"plain0": text})  # as a name of a column it is not handed over
    assert np.isfinite(RLearner("stats::lm").fit(renamed, y).predict(renamed)).all()


def test_levels_with_the_same_text_are_refused(values):
    two = pd.Categorical.from_codes(np.arange(N) % 2, pd.Index([1, "1"], dtype=object))
    with pytest.raises(DataError, match="must have different texts"):
        RLearner("stats::lm").fit(pd.DataFrame({"k": two}), response(values))
    with pytest.raises(DataError, match="must have different texts"):
        RLearner("rpart::rpart", classifier=True).fit(values, two)


def test_a_formula_is_code_and_one_expression_of_it(values, harmless):
    y = response(values)
    for formula in ("file.create('PWNR'); y ~ .", "y ~ .\nfile.create('PWNR')"):
        with pytest.raises(RCallError, match="not of length one"):
            RLearner("stats::lm", formula=formula).fit(values, y)
    for formula in ("file.create('PWNR')", "file.create('PWNR') ~ .", "'y' ~ ."):
        with pytest.raises(OptionError, match="must be a"):
            RLearner("stats::lm", formula=formula).fit(values, y)


def test_plain_words_stay_and_others_are_told_apart():
    names = Translation([*MANY, "x1", "a.b"], taken=["yhat"])
    words = [names.to_r(name) for name in [*MANY, "x1", "a.b"]]
    assert all(map(is_plain, words))
    assert len(set(words)) == len(set(MANY) | {"x1", "a.b"})
    assert names.to_r("x1") == "x1"
    assert names.to_r("a.b") == "a.b"
    assert "yhat" not in words
    assert [names.from_r(word) for word in words] == [*MANY, "x1", "a.b"]
    assert Translation(["a b", "2"]).new_words == {"a b": "a.b", "2": "X2"}


def test_many_names_of_one_kind_take_no_time():
    names = Translation(chr(0x4E00 + k) for k in range(10_000))
    assert len(set(names.new_words.values())) == 10_000
