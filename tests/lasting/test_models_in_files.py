"""Files with models: what nobody asked before has the same answer after loading, bit for bit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
import xgboost
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import pyinterp as pi
from pyinterp.errors import FileError, OptionError
from pyinterp.storage.models import _is_own_estimator

skops = pytest.importorskip("skops.io")

N = 80
TREE = "sklearn.tree._tree.Tree"
HALVES = pi.HalfSampling(2, pairs=5)
Ask = Callable[[Any], Any]


def rows_of(n: int, rng: Any = 0) -> pd.DataFrame:
    rng = np.random.default_rng(rng)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    frame["g"] = pd.Categorical(np.resize(["a", "b", "c"], n))
    frame["y"] = frame["x"] + rng.normal(size=n)
    return frame.assign(
        k=np.where(frame["y"] > 0, "yes", "no"), c=np.arange(n) // 4, n=rng.poisson(2, n), e=2.0
    )


DATA = rows_of(N)


class Doubler(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts twice as much when it is made again."""

    factor = 1

    def fit(self, X: Any, y: Any) -> Doubler:
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.factor * self.mean_)

    def __setstate__(self, state: Any) -> None:
        vars(self).update(state, factor=2)


def fit(formula: str, estimator: Any, plan: Any = HALVES, **options: Any) -> Any:
    learner = pi.Learner.from_formula(formula, DATA, estimator, **options)
    if plan is None:
        return learner.fit_model(seed=1)
    return learner.fit(plan, seed=1, progress=False)


def booster() -> Any:
    rows = xgboost.DMatrix(DATA[["x", "z"]], DATA["y"])
    return pi.FittedModel(xgboost.train({}, rows, 3), DATA[["x", "z"]], DATA["y"], seed=1)


def array() -> Any:
    rows = DATA[["x", "z"]].to_numpy(np.float32)
    return pi.Learner(DATA["y"].to_numpy(), rows, Ridge()).fit(HALVES, seed=1, progress=False)


def frame() -> Any:
    """Of columns without names, one of a nullable type."""
    rows = DATA[["x", "c"]].astype({"c": "Int64"}).set_axis([0, 1], axis=1)
    learner = pi.Learner(DATA["y"], rows, DecisionTreeRegressor(max_depth=2))
    return learner.fit(HALVES, seed=1, progress=False)


def encoded() -> Any:
    steps = make_column_transformer((OneHotEncoder(), ["g"]), remainder="passthrough")
    return fit("y ~ x + z + g", make_pipeline(steps, RandomForestRegressor(3)), design="frame")


FORMULA = "y ~ bs(x, df=4) + z*g + np.exp(x) + I(z**2)"
# Fits, and the types that skops does not trust by itself.
FITS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "line": (lambda: fit(FORMULA, LinearRegression()), []),
    "no intercept": (lambda: fit("y ~ 0 + g + x:z", LinearRegression(fit_intercept=False)), []),
    "forest": (lambda: fit(FORMULA, RandomForestRegressor(3)), [TREE]),
    "boosting": (
        lambda: fit(FORMULA, HistGradientBoostingRegressor(max_iter=3)),
        ["sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"],
    ),
    "xgboost": (
        lambda: fit(FORMULA, xgboost.XGBRegressor(n_estimators=3)),
        ["xgboost.core.Booster", "xgboost.sklearn.XGBRegressor"],
    ),
    "lightgbm": (
        lambda: fit(
            FORMULA, lightgbm.LGBMRegressor(n_estimators=3, min_child_samples=5, verbose=-1)
        ),
        ["collections.OrderedDict", "lightgbm.basic.Booster", "lightgbm.sklearn.LGBMRegressor"],
    ),
    "booster": (booster, ["xgboost.core.Booster"]),
    "classes": (
        lambda: fit("k ~ x + z + g", make_pipeline(StandardScaler(), LogisticRegression())),
        [],
    ),
    "coded classes": (
        lambda: fit("k ~ x + z + g", xgboost.XGBClassifier(n_estimators=3)),
        ["xgboost.core.Booster", "xgboost.sklearn.XGBClassifier"],
    ),
    "labels": (lambda: fit("k ~ x + z", SVC()), []),
    "distributions": (lambda: fit("y ~ x + z", BayesianRidge()), []),
    "neighbors": (
        lambda: fit("y ~ x + z", KNeighborsRegressor()),
        ["sklearn.metrics._dist_metrics.EuclideanDistance64", "sklearn.neighbors._kd_tree.KDTree"],
    ),
    "kernels": (
        lambda: fit("y ~ x + z", GaussianProcessRegressor(alpha=1.0)),
        [f"sklearn.gaussian_process.kernels.{n}" for n in ("ConstantKernel", "Product", "RBF")],
    ),
    "statsmodels": (
        lambda: fit("y ~ x + z", pi.statsmodels_learner(sm.OLS), None),
        [
            "statsmodels.base.data.ModelData",
            "statsmodels.regression.linear_model.OLS",
            "statsmodels.regression.linear_model.OLSResults",
            "statsmodels.regression.linear_model.RegressionResultsWrapper",
        ],
    ),
    "offset": (
        lambda: fit(
            "n ~ x + z",
            xgboost.XGBRegressor(n_estimators=3, objective="count:poisson"),
            exposure="e",
        ),
        ["xgboost.core.Booster", "xgboost.sklearn.XGBRegressor"],
    ),
    "array": (array, []),
    "frame": (frame, [TREE]),
    "encoded": (encoded, [TREE]),
    "learned anew": (
        lambda: fit("y ~ center(x) + z + g", Ridge(), pi.Subsampling(3), design_state="refit"),
        [],
    ),
    "clusters": (lambda: fit("y ~ x + z", Ridge(), pi.Bootstrap(3, cluster="c")), []),
    "fresh": (
        lambda: fit("y ~ x + z", Ridge(), pi.FreshDraws(lambda rng: rows_of(40, rng), 3)),
        [],
    ),
    "one model": (lambda: fit("y ~ x + z", LinearRegression(), None), []),
    "weights": (lambda: fit("y ~ x", Ridge(), weights="e", weights_type="sampling"), []),
}
QUESTIONS: dict[str, Ask] = {
    "pd": lambda r: r.pd(feature(r), points=3),
    "pfi": lambda r: r.pfi(),
    "cvim": lambda r: r.cvim(feature(r), sampler="subgroup"),
    "loss": lambda r: r.loss(relation="explained"),
    "rows": lambda r: r.pfi(rows="x > 0"),
    "native": lambda r: r.native_importance(),
    "entropy": lambda r: r.entropy_pfi(),
}


@cache
def made(name: str) -> tuple[Any, list[str]]:
    make, trusted = FITS[name]
    return make(), trusted


def feature(results: Any) -> str:
    return next(iter(results.analysis.problem.features))


def answer(ask: Ask, results: Any) -> Any:
    """Return a table and its frame, or the words with which it is refused."""
    try:
        table = ask(results)
    except pi.errors.PyinterpError as error:
        return str(error)
    return str(table.summary(notes="full")), table.tidy().to_dict("list"), table.glance().to_dict()


def saved(results: Any, path: Path, trusted: Any = ()) -> Any:
    results.save(path, models=True)
    return pi.load(path, trusted=trusted)


@pytest.mark.parametrize("name", FITS)
def test_answers_after_loading(name: str, tmp_path: Path) -> None:
    """What was asked before saving too, and what is asked of a file that was saved again."""
    results, trusted = made(name)
    results.pfi()
    loaded = saved(results, tmp_path / "a.pyinterp", trusted)
    assert not loaded.analysis.tallies
    answers = {question: answer(ask, results) for question, ask in QUESTIONS.items()}
    assert sum(not isinstance(each, str) for each in answers.values()) >= 2
    for question, ask in QUESTIONS.items():
        np.testing.assert_equal(answer(ask, loaded), answers[question], question)
    again = saved(loaded, tmp_path / "b.pyinterp", trusted)
    np.testing.assert_equal(answer(QUESTIONS["pd"], again), answers["pd"])


@pytest.mark.parametrize("name", [name for name, (_, trusted) in FITS.items() if trusted])
def test_types_that_are_not_trusted_are_named(name: str, tmp_path: Path) -> None:
    results, trusted = made(name)
    results.save(tmp_path / "a.pyinterp", models=True)
    every = ", ".join(f'"{each}"' for each in trusted)
    with pytest.raises(FileError) as caught:
        pi.load(tmp_path / "a.pyinterp")
    assert f"load it with `trusted=[{every}]`" in str(caught.value)
    for lacking in trusted:
        with pytest.raises(FileError, match=rf"trusted=\[\"{lacking}\"\]"):
            pi.load(tmp_path / "a.pyinterp", trusted=[each for each in trusted if each != lacking])


def test_estimators_of_the_package_are_trusted(tmp_path: Path) -> None:
    """No other name of the package is: a forged file could call it."""
    booster = pi.EarlyStopping(xgboost.XGBRegressor(n_estimators=5, n_jobs=1))
    learner = pi.Learner(DATA["n"], DATA[["x", "z"]], booster)
    fit = learner.fit(pi.Subsampling(2), seed=1, progress=False)
    fit.save(tmp_path / "a.pyinterp", models=True)
    with pytest.raises(FileError, match=r"trusted=\[") as caught:
        pi.load(tmp_path / "a.pyinterp")
    assert "pyinterp" not in str(caught.value).partition("trusted=")[2]
    for name in ("pyinterp.storage.savable.load", "pyinterp.no.such", "pyinterp.Learner"):
        assert not _is_own_estimator(name)


def test_types_may_be_classes(tmp_path: Path) -> None:
    results = fit("y ~ x", xgboost.XGBRegressor(n_estimators=3))
    loaded = saved(results, tmp_path / "a.pyinterp", [xgboost.Booster, xgboost.XGBRegressor])
    assert str(loaded.pfi()) == str(results.pfi())


@pytest.mark.parametrize("trusted", [True, "sklearn.tree._tree.Tree", [1], None])
def test_trusted_is_a_list_of_types(trusted: Any, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="`trusted` must be a list of names of types"):
        pi.load(tmp_path / "none.pyinterp", trusted=trusted)


@pytest.mark.parametrize("name", ["line", "forest", "classes", "learned anew", "fresh"])
def test_new_rows_are_predicted(name: str, tmp_path: Path) -> None:
    (results, trusted), rows = made(name), DATA.iloc[::7]
    loaded = saved(results, tmp_path / "a.pyinterp", trusted)
    assert np.array_equal(loaded.predict(rows), results.predict(rows))
    with pytest.raises(pi.errors.DataError, match="New rows must have the variable `z`"):
        loaded.predict(rows.drop(columns="z"))


def test_offsets_of_new_rows_are_not_in_a_file(tmp_path: Path) -> None:
    results, trusted = made("offset")
    with pytest.raises(FileError, match="files do not keep how new rows get theirs"):
        saved(results, tmp_path / "a.pyinterp", trusted).predict(DATA)


def test_what_is_asked_later_is_saved_too(tmp_path: Path) -> None:
    results = fit("y ~ x + z", Ridge())
    results.loco("x")
    loaded = saved(results, tmp_path / "a.pyinterp")
    assert str(loaded.loco("x")) == str(results.loco("x"))
    with pytest.raises(FileError, match="no learner is kept that it could train again"):
        loaded.loco("z")
    asked = str(loaded.pd("x")), str(loaded.pfi(rows="x > 0"))
    loaded.save(tmp_path / "b.pyinterp")
    without = pi.load(tmp_path / "b.pyinterp")
    assert (str(without.pd("x")), str(without.pfi(rows="x > 0"))) == asked
    assert str(without.loco("x")) == str(results.loco("x"))
    with pytest.raises(FileError, match="was not measured"):
        without.pd("z")


def own(x: Any) -> Any:
    return x**2


def sparse() -> Any:
    results = fit("k ~ x + z", LogisticRegression(), None)
    results.analysis.refits[0].predictor.estimator.sparsify()
    return results


def dropped() -> Any:
    learner = pi.Learner.from_formula("y ~ x", DATA, Ridge())
    return learner.fit(
        HALVES, seed=1, progress=False, keep_models=False, measure=lambda res: res.pfi()
    )


XY = DATA[["x", "z"]], DATA["y"]
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "lambda": (lambda: pi.FittedModel(lambda X: np.zeros(len(X)), *XY), "hold this <lambda>"),
    "results": (
        lambda: pi.FittedModel(smf.ols("y ~ x", DATA).fit(), DATA, "y"),
        "hold this RegressionResultsWrapper",
    ),
    "another after reading": (lambda: fit("y ~ x", Doubler()), "predicts otherwise"),
    "sparse": (sparse, "sparse matrices"),
    "function in a formula": (lambda: fit("y ~ own(x)", Ridge()), r"this one has `own\(x\)`"),
    "no models": (dropped, "`models=True` needs models"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_file_holds_is_refused(name: str, tmp_path: Path) -> None:
    """What was measured can be saved all the same."""
    make, message = REFUSED[name]
    results = make()
    results.loss()
    with pytest.raises(OptionError, match=message):
        results.save(tmp_path / "a.pyinterp", models=True)
    assert not list(tmp_path.iterdir())
    results.save(tmp_path / "a.pyinterp")
    assert str(pi.load(tmp_path / "a.pyinterp").loss()) == str(results.loss())


def test_frames_of_other_libraries_are_refused(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    learner = pi.Learner(polars.Series(DATA["y"]), polars.from_pandas(DATA[["x", "z"]]), Ridge())
    results = learner.fit(HALVES, seed=1, progress=False)
    with pytest.raises(OptionError, match="not frames of other libraries"):
        results.save(tmp_path / "a.pyinterp", models=True)


def test_no_module_is_imported_before_its_types_are_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "from sklearn.linear_model import Ridge\nclass Line(Ridge):\n    pass\n"
    (tmp_path / "strange_lines.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    import strange_lines

    results = fit("y ~ x", strange_lines.Line())
    results.save(tmp_path / "a.pyinterp", models=True)
    monkeypatch.delitem(sys.modules, "strange_lines")
    with pytest.raises(FileError, match=r"trusted=\[\"strange_lines\.Line\"\]"):
        pi.load(tmp_path / "a.pyinterp")
    assert "strange_lines" not in sys.modules
    loaded = pi.load(tmp_path / "a.pyinterp", trusted=["strange_lines.Line"])
    assert str(loaded.pfi()) == str(results.pfi())
    monkeypatch.delitem(sys.modules, "strange_lines")


def test_without_skops_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = fit("y ~ x", Ridge())
    results.save(tmp_path / "a.pyinterp", models=True)
    results.save(tmp_path / "b.pyinterp")
    monkeypatch.setitem(sys.modules, "skops.io.exceptions", None)
    with pytest.raises(OptionError, match=r"pip install \"pyinterp-stats\[skops\]\""):
        results.save(tmp_path / "c.pyinterp", models=True)
    with pytest.raises(FileError, match=r"pip install \"pyinterp-stats\[skops\]\""):
        pi.load(tmp_path / "a.pyinterp")
    pi.load(tmp_path / "b.pyinterp")
