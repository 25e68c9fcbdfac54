"""The page "One row by hand" recomputes limits, t and P of every kind of row, from its own code."""

import re
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from shared import normal_rows
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi

PAGE = Path(__file__).parents[2] / "docs" / "one_row_by_hand.md"
REAL, POSITIVE, SHARES, UP_TO_1 = (-np.inf, np.inf), (0, np.inf), (0, 1), (-np.inf, 1)
KINDS = {
    "Limits are the hull of two t intervals": "hull",
    "are symmetric on the log scale": "log",
    "are symmetric on the logit scale": "logit",
}


@cache
def function_of_page(name):
    cells = re.findall(r"```{code-cell} ipython3\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (cell,) = [each for each in cells if f"def {name}(" in each]
    names = {"np": np, "stats": stats}
    exec(re.split(r"\n(?=\w+ = )", cell)[0], names)  # noqa: S102 - of the page
    return names[name]


@cache
def rows():
    rng, data = normal_rows(160, "a b c d", 5)
    data["g"] = rng.choice(["u", "v", "w"], 160)
    data["y"] = data["a"] + 0.5 * data["a"] * data["b"] + (data["g"] == "u") + rng.normal(size=160)
    data["hit"] = np.where(data["a"] + rng.normal(size=160) > 0, "yes", "no")
    data["n"] = rng.poisson(np.exp(0.3 * data["a"] + 0.5))
    data["unit"] = np.arange(160) // 3
    return data


LEARNERS = {
    "linear": ("y ~ a * b + c + d + g", LinearRegression(), {}),
    "tree": ("y ~ a + b + c + d", DecisionTreeRegressor(min_samples_leaf=10, random_state=0), {}),
    "neighbors": ("y ~ a + b + c", KNeighborsRegressor(9), {}),
    "logistic": ("hit ~ a + b + c + g", LogisticRegression(), {}),
    "poisson": ("n ~ a + b + c", PoissonRegressor(alpha=1e-3), {}),
    "clusters": ("y ~ a + b + c + d", LinearRegression(), {"cluster": "unit"}),
}


@cache
def fitted(name):
    formula, estimator, options = LEARNERS[name]
    learner = pi.Learner.from_formula(formula, rows(), estimator)
    return learner.fit(pi.HalfSampling(**options), seed=1, progress=False)


# By the ends of what an estimand can be: what is asked of which learners.
OF_NUMBERS = {
    REAL: [
        "pfi()",
        'pfi(loss="absolute")',
        "pfi(simultaneous=True)",
        'pfi(p_adjust="bonferroni")',
        'pfi(["a", "b"], sampler="residual")',
        "mvim()",
        'cvim(["a", "c"])',
        'amvim(["a", "c"])',
        'loco(["a", "c"])',
        'pd("a", points=4)',
        'pd("a", points=4, simultaneous=True)',
        'ale("a")',
        'ame("a", step="sd")',
    ],
    POSITIVE: [
        'pfi(relation="ratio")',
        'firm(["a", "b"])',
        'h_statistic(["a", "b"])',
        'h_statistic(["a", "b"], squared=False)',
        'vint([("a", "b")])',
        "loss()",
        'loss(loss="absolute")',
        'metric("rmse")',
        'metric("mae")',
        'causal("a").importance',
    ],
    UP_TO_1: ['loss(relation="explained")', 'positivity("a")'],
}
OF_CLASSES = {
    REAL: ["pfi()", 'pfi(loss="brier")', 'pfi(metric="accuracy")', 'cvim(["a", "c"])'],
    SHARES: [
        'pd("a", points=4, scale="probability")',
        'pd("g", scale="probability")',
        'pd("a", points=4, scale="probability", simultaneous=True)',
        'metric("accuracy")',
        'metric("roc_auc")',
    ],
    POSITIVE: ["loss()", 'metric("brier")'],
    (-1, 1): ['metric("youden")'],
}
OF_COUNTS = {REAL: ["pfi()"], POSITIVE: ['pd("a", points=4)', "loss()", 'pfi(relation="ratio")']}
OF_CLUSTERS = {REAL: ["pfi()", 'pd("a", points=4)', 'cvim(["a", "c"])'], POSITIVE: ["loss()"]}
ASKED = {
    **dict.fromkeys(("linear", "tree", "neighbors"), OF_NUMBERS),
    "logistic": OF_CLASSES,
    "poisson": OF_COUNTS,
    "clusters": OF_CLUSTERS,
}
NOT_OF = {("neighbors", "amvim"), ("tree", "vint"), ("neighbors", "vint")}
CASES = [
    (learner, call, ends)
    for learner, asked in ASKED.items()
    for ends, calls in asked.items()
    for call in calls
    if (learner, call.partition("(")[0]) not in NOT_OF
]


def quantile_of(results, table, count):
    """Return the quantile that the table's header and footnotes name."""
    if printed := re.search(r"Limits take ([\d.]+) as the quantile of t", table):
        return float(printed[1])
    alpha = 0.05 / count if "adjusted (bonferroni)" in table else 0.05
    return float(stats.t.isf(alpha / 2, results.df_resid))


@pytest.mark.parametrize(("learner", "call", "ends"), CASES)
def test_the_page_recomputes_every_row(learner, call, ends):
    with warnings.catch_warnings(action="ignore"):
        results = eval(f"fit.{call}", {"fit": fitted(learner)})  # noqa: S307 - our own table
    frame, table = results.summary_frame(), " ".join(str(results.summary(notes="full")).split())
    rows = frame[frame["std_error"] > 0]
    assert len(rows)
    kind = next((kind for words, kind in KINDS.items() if words in table), "plain")
    quantile = quantile_of(results, table, len(rows))
    null = results.null or 0.0
    rtol = 1e-4 if "as the quantile of t" in table else 1e-8  # as printed
    for _, row in rows.iterrows():
        c, error = row["estimate"], row["std_error"]
        s0 = row.get("std_error_null", np.nan)
        found = function_of_page("limits")(c, error, quantile, kind, s0, null, ends)
        size = max(abs(row["conf_low"]), abs(row["conf_high"]), error)
        np.testing.assert_allclose(
            found, row[["conf_low", "conf_high"]].astype(float), rtol=rtol, atol=rtol * size
        )
        if kind in ("hull", "plain") and np.isfinite(row.get("statistic", np.nan)):
            divisor = s0 if kind == "hull" else error
            assert row["statistic"] == pytest.approx((c - null) / divisor, rel=1e-8)
            p = 2 * stats.t.sf(abs(row["statistic"]), results.df_resid)
            if not re.search("simultaneous|adjusted", table):
                assert row["p_value"] == pytest.approx(p, rel=1e-8)


def test_the_page_recomputes_the_limits_of_shares():
    shares = fitted("linear").population(["a", "b", "c", "d"]).importance
    for alpha in (0.05, 0.2):
        for _, row in shares.summary_frame(alpha).iterrows():
            printed = row[["estimate", "std_error", "statistic"]]
            p, low = function_of_page("share_limit")(*printed, shares.df_resid, alpha)
            assert p == pytest.approx(row["p_value"], rel=1e-10)
            assert low == pytest.approx(row["conf_low"], rel=1e-10, abs=1e-15)


def test_enough_tables_and_all_kinds_are_recomputed():
    assert len(CASES) >= 60
    assert len({call for _, call, _ in CASES}) >= 30
