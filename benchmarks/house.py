"""The code of the package beside its peers: how much there is, and how far a call walks in it.

``python benchmarks/house.py`` prints a table of what is installed. A way is the number of functions
of the package that a later call runs, the number of their files, and the depth of the deepest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from counts import Size, Way, size_of, way_of
from sklearn.linear_model import LinearRegression

import pyinterp as pi

FORMULA = "progression ~ bmi + bp + sex"
FEATURES = ["bmi", "bp", "sex"]
Call = Callable[[], Any]


def pyinterp_calls(data: pd.DataFrame) -> Iterator[tuple[str, Call]]:
    """Yield the calls of this package."""
    learner = pi.Learner.from_formula(FORMULA, data, LinearRegression())

    def fit() -> pi.LearnerResults:
        return learner.fit(seed=1, progress=False)

    results = fit()
    results.pd("bmi")
    yield "fit", fit
    yield "pfi", fit().pfi
    yield "pd", lambda: results.pd("bmi")
    importances = results.pfi()
    str(importances.summary())
    yield "table", lambda: str(importances.summary())


def sklearn_calls(data: pd.DataFrame) -> Iterator[tuple[str, Call]]:
    """Yield the calls of scikit-learn."""
    inspection = import_module("sklearn.inspection")
    X, y = data[FEATURES], data["progression"]
    model = LinearRegression().fit(X, y)
    yield "fit", lambda: LinearRegression().fit(X, y)
    yield "pfi", lambda: inspection.permutation_importance(model, X, y, random_state=1)
    yield "pd", lambda: inspection.partial_dependence(model, X, ["bmi"])


def statsmodels_calls(data: pd.DataFrame) -> Iterator[tuple[str, Call]]:
    """Yield the calls of statsmodels, which have no importance and no partial dependence."""
    ols = import_module("statsmodels.formula.api").ols
    results = ols(FORMULA, data).fit()
    yield "fit", lambda: ols(FORMULA, data).fit()
    yield "table", lambda: str(results.summary())


def linearmodels_calls(data: pd.DataFrame) -> Iterator[tuple[str, Call]]:
    """Yield the calls of linearmodels, likewise."""
    ols = import_module("linearmodels.iv").IV2SLS
    results = ols.from_formula(FORMULA, data).fit()
    yield "fit", lambda: ols.from_formula(FORMULA, data).fit()
    yield "table", lambda: str(results.summary)


# The folder whose code is counted, and the calls. Ways are those in the whole package.
PACKAGES: dict[str, Callable[[pd.DataFrame], Iterator[tuple[str, Call]]]] = {
    "pyinterp": pyinterp_calls,
    "sklearn.inspection": sklearn_calls,
    "statsmodels": statsmodels_calls,
    "linearmodels": linearmodels_calls,
}


def column_of(size: Size, ways: Mapping[str, Way]) -> dict[str, str]:
    """Return the cells of a package."""
    return {
        "tokens": f"{size.tokens:,}",
        "lines of code": f"{size.lines:,}",
        "classes": f"{size.classes:,}",
        **{f"way of {name}": " / ".join(map(str, way)) for name, way in ways.items()},
    }


def main() -> None:
    """Print the table."""
    data = pi.datasets.load_diabetes()
    columns = {}
    for name, calls in PACKAGES.items():
        try:
            folder = Path(str(import_module(name).__file__)).parent
        except ModuleNotFoundError:
            print(f"{name} is not installed.")
            continue
        top = Path(str(import_module(name.partition(".")[0]).__file__)).parent
        files = [f for f in sorted(folder.rglob("*.py")) if "tests" not in f.parts]
        for _, call in calls(data):
            call()
        ways = {which: way_of(call, top) for which, call in calls(data)}
        columns[name] = column_of(size_of(files), ways)
    print(pd.DataFrame(columns).fillna("").to_string())


if __name__ == "__main__":
    main()
