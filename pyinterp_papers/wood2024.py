"""Wood et al. (2024): likelihood and entropy of predictive distributions, by feature."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import train_test_split

import pyinterp as pi
from pyinterp_papers.networks import BayesByBackpropClassifier, MCDropoutRegressor
from pyinterp_papers.pictures import bars, bundle, curves
from pyinterp_papers.processes import wood_classification, wood_regression, wood_ring
from pyinterp_papers.replication import Cell, Paper, long, values

if TYPE_CHECKING:
    from plotnine import ggplot


def model_of(data: pd.DataFrame, response: str, estimator: Any, test: float) -> pi.FittedModel:
    """Return a model with the rows that did not train it."""
    train, rest = train_test_split(data, test_size=test, random_state=1)
    model = estimator.fit(train.drop(columns=response), train[response])
    return pi.FittedModel(model, rest, response, seed=1)


def both(model: pi.FittedModel, permutations: int) -> pd.DataFrame:
    """Likelihood- and entropy-PFI of all features."""
    results = {
        "likelihood-PFI": model.likelihood_pfi(permutations=permutations),
        "entropy-PFI": model.entropy_pfi(permutations=permutations),
    }
    return long({k: values(r, "feature") for k, r in results.items()}, "measure")


def ice(model: pi.FittedModel, feature: str, of: Any, grid: Any, k: int = 40) -> pd.DataFrame:
    """Curves of some rows, and their mean over all rows."""
    values: pd.DataFrame = model.pd(feature, of=of, kind="ice", grid=grid).row_frame()
    values.columns = pd.Index(grid, name=feature)
    frame = pd.concat([values.iloc[:k], values.mean().rename("mean").to_frame().T])
    frame = frame.rename_axis("row").reset_index()
    return frame.melt("row", var_name=feature, value_name="ours").assign(error=np.nan)


def classification(n: int = 5000) -> pd.DataFrame:
    """A calibrated forest, without a copy, with one of x1, and with one of x5."""
    parts = {}
    versions: Any = {"no copy": None, "x10 = x1": "x1", "x10 = x5": "x5"}
    for name, copied in versions.items():
        data = wood_classification(copied).draw(n, seed=1)
        forest = pi.estimators.calibrated_forest(random_state=1)
        parts[name] = both(model_of(data, "y", forest, 0.25), permutations=2)
    return long(parts, "data")


def regression(n: int = 1000) -> pd.DataFrame:
    """A Gaussian process: half of the rows train."""
    data = wood_regression().draw(n, seed=1)
    return both(model_of(data, "y", pi.estimators.gaussian_process(), 0.5), permutations=10)


def ring() -> pd.DataFrame:
    """Entropy curves of a Gaussian process trained around a hole."""
    data = wood_ring().draw(400, seed=1)
    kernel = ConstantKernel() * RBF(1.0, "fixed") + WhiteKernel()
    model = model_of(data, "y", pi.estimators.gaussian_process(kernel=kernel), 0.5)
    grid = np.linspace(-2.4, 2.4, 33).round(2).tolist()
    parts = {x: ice(model, x, "entropy", grid).rename(columns={x: "value"}) for x in ("X1", "X2")}
    return long(parts, "feature")


def concrete() -> dict[str, pi.FittedModel]:
    """Models of the strength of concrete: 75% of the samples train."""
    estimators = {
        "Gaussian process": pi.estimators.gaussian_process(),
        "MC dropout": MCDropoutRegressor(random_state=1),
    }
    data, response = pi.datasets.load_concrete(), "compressive_strength"
    return {name: model_of(data, response, one, 0.25) for name, one in estimators.items()}


def strength() -> pd.DataFrame:
    """Likelihood- and entropy-PFI of the ingredients and of age."""
    return long({name: both(m, permutations=3) for name, m in concrete().items()}, "model")


def age() -> pd.DataFrame:
    """Entropy curves of samples by age."""
    grid = [1, 3, 7, 14, 28, 56, 90, 120, 180, 270, 365]
    return long({name: ice(m, "age", "entropy", grid) for name, m in concrete().items()}, "model")


def pima() -> dict[str, pi.FittedModel]:
    """Models of the diabetes data: 75% of the women train."""
    estimators = {
        "calibrated forest": pi.estimators.calibrated_forest(random_state=1),
        "Bayes by backprop": BayesByBackpropClassifier(random_state=1),
    }
    data = pi.datasets.load_pima_diabetes()
    return {name: model_of(data, "diabetes", one, 0.25) for name, one in estimators.items()}


def diabetes() -> pd.DataFrame:
    """Likelihood- and entropy-PFI of the measurements."""
    return long({name: both(m, permutations=10) for name, m in pima().items()}, "model")


def women(feature: str, of: Any, grid: Any) -> pd.DataFrame:
    """Curves of women, with their classes, and mean curves."""
    frame = long({k: ice(m, feature, of, list(grid)) for k, m in pima().items()}, "model")
    data = pi.datasets.load_pima_diabetes()["diabetes"]
    classes = frame["row"].map(lambda row: "mean" if row == "mean" else data[row])
    return frame.assign(diabetes=classes)


def ice_plot(x: str, y: str, panel: str, result: pd.DataFrame) -> ggplot:
    """Draw curves of rows, and their mean."""
    color = "diabetes" if "diabetes" in result else ""
    return bundle(result, x, "row", color, panel, y)


def mean_plot(result: pd.DataFrame) -> ggplot:
    """Draw the mean curves."""
    return curves(result[result["row"] == "mean"], "value", "", "feature", "entropy")


importances = partial(bars, term="feature", title="nats")
GLUCOSE, MASS = range(60, 200, 5), range(18, 60, 2)


def women_cell(feature: str, of: str, grid: range, y: str) -> Cell:
    """Return the cell of curves of women, colored by class."""
    return Cell(partial(women, feature, of, grid), partial(ice_plot, feature, y, "model"))


CELLS = {
    "figure 2": Cell(classification, partial(importances, panel="measure + data")),
    "figure 3": Cell(regression, partial(importances, panel="measure")),
    "figure 4": Cell(ring, mean_plot),
    "figure 5": Cell(draw=partial(ice_plot, "value", "entropy", "feature"), of="figure 4"),
    "figure 6": Cell(strength, partial(importances, panel="measure + model")),
    "figure 8": Cell(age, partial(ice_plot, "age", "entropy", "model")),
    "figure 9": Cell(diabetes, partial(importances, panel="measure + model")),
    "figure 10": women_cell("glucose", "entropy", GLUCOSE, "entropy"),
    "figure 11": women_cell("glucose", "nll", GLUCOSE, "-log q(y | x)"),
    "figure 12": women_cell("mass", "entropy", MASS, "entropy"),
    "figure 13": women_cell("mass", "nll", MASS, "-log q(y | x)"),
}
PAPER = Paper("wood2024", CELLS)
