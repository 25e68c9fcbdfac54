"""Our numbers beside R's: pdp, vip and hstats called live, where they are installed.

What else the calls do is in `test_stand_ins.py`, which runs wherever there is R.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression

import pyinterp as pi
import r_bridge

RNG = np.random.default_rng(10)
N = 120
DATA = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"]).assign(
    k=RNG.integers(0, 6, size=N),
    f=pd.Categorical(RNG.choice(["u", "v", "w"], size=N), categories=["w", "v", "u"]),
)
Y = pd.Series(DATA["a"] * DATA["b"] + DATA["k"] + (DATA["f"] == "v"), name="y")
X = DATA[["a", "b", "k"]]
FOREST = pi.FittedModel(RandomForestRegressor(20, random_state=0).fit(X, Y), X, Y)
CLASSES = pi.FittedModel(
    RandomForestClassifier(20, random_state=0).fit(X, Y > 2), X, pd.Series(Y > 2, name="y")
)
FORMULA = pi.Learner.from_formula(
    "y ~ a * b + k + f", DATA.assign(y=Y), RandomForestRegressor(10, random_state=0)
)

THREE = pd.cut(Y, 3, labels=["lo", "mid", "hi"]).astype(str).rename("y")
GROUPED = pi.FittedModel(RandomForestRegressor(5).fit(X, Y), X, Y, groups={"both": ["a", "b"]})
TEXTS = pi.Learner.from_formula(
    "y ~ a + f + C(k)", DATA.assign(f=DATA["f"].astype(str), y=Y), RandomForestRegressor(5)
)
MODELS = {
    "forest": lambda: FOREST,
    "classes": lambda: CLASSES,
    "three": lambda: pi.FittedModel(LogisticRegression(max_iter=500).fit(X, THREE), X, THREE),
    "formula": FORMULA.fit_model,
    "refits": lambda: FORMULA.fit(pi.Bootstrap(3), seed=1, progress=False),
    "groups": lambda: GROUPED,
    "texts": TEXTS.fit_model,
}
CASES = [
    *(("pdp", "formula", None, o) for o in ({}, {"quantiles": True}, {"trim_outliers": True})),
    *(("pdp", "classes", None, o) for o in ({}, {"which_class": 2}, {"prob": True})),
    ("pdp", "refits", ["a"], {}),
    ("vip", "forest", None, {"nsim": 3}),
    ("vip", "classes", None, {}),
    ("vip", "three", ["a", "k"], {}),
    ("vip", "formula", ["f"], {}),
    ("vip", "texts", ["f", "k"], {}),
    ("hstats", "forest", None, {"pairwise_m": 3, "threeway_m": 3}),
    ("hstats", "forest", ["k", "a"], {"pairwise_m": 2, "threeway_m": 3}),
    *((what, "groups", None, {}) for what in ("pdp", "vip", "hstats")),
]


@pytest.mark.parametrize(("what", "model", "names", "options"), CASES)
def test_numbers_are_those_of_r(installed, what, model, names, options):
    installed(what, *(["pdp"] if what == "vip" else []))
    found = r_bridge.compare(MODELS[model](), what, names, **options)
    assert len(found.frame)
    assert found.max_abs_diff < 1e-10
