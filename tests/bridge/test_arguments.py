"""What belongs to rows does not travel with an argument: a bootstrap would pair it with others."""

import numpy as np
import pandas as pd
import pytest

import pyinterp as pi
from pyinterp.errors import OptionError, RefitError
from r_bridge import RCode, RLearner, RModel
from r_bridge.session import SESSION

N = 60
GLOBAL = RCode("globalenv()")

pytestmark = pytest.mark.usefixtures("r")


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=N), "w": rng.uniform(0.1, 9, N)})
    frame["a b"] = frame["w"]
    return frame.assign(y=frame["x"] ** 2 + rng.normal(size=N))


@pytest.fixture
def vector(data):
    """The name of a vector of R with one value per row."""
    SESSION.call("assign", "beside", data["w"].to_numpy(), envir=GLOBAL)
    yield "beside"
    SESSION.call("rm", "beside", envir=GLOBAL)


VECTORS = {
    "weights": lambda w: {"weights": w},
    "a list": lambda w: {"weights": list(w)},
    "a series": lambda w: {"offset": pd.Series(w)},
    "the beginning of a name, which R takes": lambda w: {"we": w},
    "positions of rows": lambda w: {"subset": list(range(1, len(w) // 2))},
    "another length than the data": lambda w: {"weights": w[:30]},
    "groups": lambda w: {"groups": pd.Categorical(w > 1)},
    "an unknown name": lambda w: {"case_weight_of_mine": w},
    "a part of a list": lambda w: {"control": {"w": w}},
    "a list of vectors": lambda w: {"inbag": [w, w]},
    "a matrix": lambda w: {"prior": np.column_stack([w, w])},
    "a frame": lambda w: {"extra": pd.DataFrame({"w": w})},
}


@pytest.mark.parametrize("what", VECTORS)
def test_values_of_rows_are_refused(what, data):
    arguments = VECTORS[what](data["w"].to_numpy())
    learner = RLearner("stats::lm", formula="y ~ x", **arguments)
    with pytest.raises(OptionError, match="must not hold values of single rows"):
        learner.fit(data[["x", "w"]], data["y"])
    with pytest.raises(OptionError, match="must not hold values of single rows"):
        pi.Learner.from_formula("y ~ x + w", data, learner)


def test_what_is_not_of_rows_is_allowed(data, debian):
    debian("rpart")
    parms = {"maxdepth": 2, "cp": 0.0}
    rows = data[["x", "w"]]
    tree = RLearner("rpart::rpart", control=parms, weights=None).fit(rows, data["y"])
    assert 1 < len(np.unique(tree.predict(rows))) <= 4  # the leaves of two levels
    line = RLearner("stats::lm", x=True, method="qr").fit(data[["x"]], data["y"])
    fitted = np.polyval(np.polyfit(data["x"], data["y"], 1), data["x"])
    np.testing.assert_allclose(line.predict(data[["x"]]), fitted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("column", ["w", "a b"])
def test_columns_named_by_code_travel_with_the_rows(column, data):
    """Weights of a bootstrap are those of the rows drawn: the weighted fit, by its own formula."""
    learner = RLearner("stats::lm", formula="y ~ x", weights=RCode(f"`{column}`"))
    chosen = np.random.default_rng(1).integers(0, N, N)
    drawn = data.iloc[chosen].reset_index(drop=True)
    found = learner.fit(drawn[["x", "w", "a b"]], drawn["y"]).predict(drawn[["x", "w", "a b"]])
    root, ones = np.sqrt(drawn["w"]), np.ones(N)
    design = np.column_stack([ones, drawn["x"]])
    beta = np.linalg.lstsq(design * root.to_numpy()[:, None], drawn["y"] * root, rcond=None)[0]
    np.testing.assert_allclose(found, design @ beta, rtol=0, atol=1e-10)


@pytest.mark.parametrize("code", ["1:60", "rep(1, 60)", "nowhere", "data$w"])
def test_code_that_names_no_column_is_refused_for_rows(code, data):
    with pytest.raises(OptionError, match="must be made of columns of the data"):
        RLearner("stats::lm", weights=RCode(code)).fit(data[["x", "w"]], data["y"])


def test_vectors_of_r_are_refused(data, vector):
    X, y = data[["x", "w"]], data["y"]
    for learner in (
        RLearner("stats::lm", formula=f"y ~ x + {vector}"),
        RLearner("stats::lm", formula=f"y ~ x + offset(log({vector}))"),
        RLearner("stats::lm", weights=RCode(vector)),
        RLearner("stats::lm", case_weights=RCode(f"{vector} / 2")),
        RLearner("stats::lm", control={"w": RCode(vector)}),
    ):
        with pytest.raises(OptionError, match="must not use vectors of R with one value per row"):
            learner.fit(X, y)
    learner = pi.Learner.from_formula(
        "y ~ x", data, RLearner("stats::lm", formula="y ~ x + beside")
    )
    with pytest.raises(RefitError, match="must not use vectors of R"):
        learner.fit(pi.Bootstrap(2), seed=1, progress=False)


def test_a_column_may_have_the_name_of_a_vector(data, vector):
    """In a formula the column goes first, and code for R alone can't be told from it."""
    renamed = data.rename(columns={"w": vector})
    RLearner("stats::lm", formula=f"y ~ x + {vector}").fit(renamed[["x", vector]], data["y"])
    with pytest.raises(OptionError, match="rename it if a column is meant"):
        RLearner("stats::lm", weights=RCode(vector)).fit(renamed[["x", vector]], data["y"])


def test_arguments_of_predict(data):
    offsets = {"newoffset": data["w"].to_numpy()}
    fitted = RLearner("stats::lm").fit(data[["x"]], data["y"])
    for model in (
        fitted.set_params(predict_args=offsets),
        RModel(fitted.fit_.value, predict_args=offsets),
    ):
        with pytest.raises(OptionError, match="`newoffset` must not hold values of single rows"):
            model.predict(data[["x"]])


def test_code_in_arguments_of_predict(data, vector):
    fitted = RLearner("stats::lm").fit(data[["x"]], data["y"])
    beside = {"newoffset": RCode(vector)}
    for model in (
        fitted.set_params(predict_args=beside),
        RModel(fitted.fit_.value, predict_args=beside),
    ):
        with pytest.raises(OptionError, match="must not use vectors of R"):
            model.predict(data[["x"]])


def test_parts_of_a_list_are_handed_over_one_by_one():
    """Long vectors without names of their own were all the last one."""
    first, second = np.arange(10.0), np.arange(10.0) + 100
    add = "function(l, m) c(l[[1]][1], l[[2]][1], m$a[1], m$b$a[1])"
    found = SESSION.call(add, [first, second], {"a": first + 1, "b": {"a": second + 1}})
    assert list(found) == [0.0, 100.0, 1.0, 101.0]
    assert SESSION.call("function(x) is.character(x) && !length(x)", pd.Series([], dtype=str))[0]
