"""The template of a variance in `write_your_own.md` is right: fresh samples vary by as much."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import pyinterp as pi
from pyinterp.errors import InferenceError
from pyinterp.estimands.estimate import Estimate
from pyinterp.inference import Replicates, Variance, cov_types
from pyinterp.inference.replicates import RefitEstimate
from pyinterp.resampling import Group

PAGE = Path(__file__).resolve().parents[2] / "docs" / "write_your_own.md"
CELL = re.compile(r"```\{code-cell\} python3\n(.*?)```", re.DOTALL)
SAMPLES, ROWS, GROUPS = 400, 200, 10
Z = 3.0  # standard errors of the simulation that a number may be off


@pytest.fixture(scope="module")
def page() -> Iterator[dict[str, Any]]:
    """All that the section on a variance defines, by name."""
    registry = cov_types.COV_TYPES, cov_types._PLACES, cov_types._NEEDS_OF
    before = [dict(part) for part in registry]
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("## A variance\n")
    (cell,) = CELL.findall(rest.partition("\n## ")[0])
    names = {"pi": pi, "np": np, "data": pi.datasets.load_diabetes()}
    exec(cell, names)  # noqa: S102 - our own page
    yield names
    for former, now in zip(before, registry, strict=True):
        now.clear()
        now.update(former)


def pfi(X: np.ndarray, y: np.ndarray, train: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """PFI over all pairs of rows under squared error, of least squares: b (2 cov(e, x) + 2 b v)."""
    design = np.column_stack([np.ones(len(X)), X])
    beta = np.linalg.lstsq(design[train], y[train], rcond=None)[0]
    errors, away = y[rows] - design[rows] @ beta, X[rows] - X[rows].mean(axis=0)
    n = len(rows) - 1
    return 2 * beta[1:] * (errors @ away / n + beta[1:] * np.square(away).sum(axis=0) / n)


def nested(X: np.ndarray, y: np.ndarray, fold: np.ndarray) -> Replicates:
    """Nested cross-validation of least squares, by loops."""
    refits = []
    for k in range(GROUPS):
        for j in [k, *(j for j in range(GROUPS) if j != k)]:
            train, rows = np.flatnonzero((fold != j) & (fold != k)), np.flatnonzero(fold == j)
            value = pfi(X, y, train, rows)
            group = Group("fold", k, size=GROUPS, inner=j != k)
            estimate = Estimate.of_rows(np.tile(value, (len(rows), 1)))
            refits.append(RefitEstimate(estimate, rows, group))
    return Replicates.of(tuple(refits), correction=0.0)


def test_loops_give_the_numbers_of_the_page(page: dict[str, Any]) -> None:
    fit, data = page["groups"], page["data"]
    X = data.drop(columns="progression").to_numpy(dtype=float)
    fold = np.full(len(data), -1)
    for k, refit in enumerate(r for r in fit.refits if not r.group.inner):
        fold[refit.evaluation.rows] = k
    everything = nested(X, data["progression"].to_numpy(), fold)
    names = list(data.drop(columns="progression"))
    found = fit.pfi(names, cov_type="jackknife")
    np.testing.assert_allclose(found.params, everything.per_refit.mean(axis=0), rtol=1e-9)
    expected = page["without_group"](everything)
    np.testing.assert_allclose(found.bse, np.sqrt(np.diag(expected.cov)), rtol=1e-8)
    text = " ".join(str(found.summary()).split())
    assert (
        "Intervals (jackknife, 10 groups) are for the learner trained on 90% of the rows." in text
    )


def of_folds(replicates: Replicates) -> Variance:
    """Return what the page warns of: its formula with the folds' estimates."""
    values = replicates.per_refit
    away = values - values.mean(axis=0)
    return Variance(cov=(GROUPS - 1) / GROUPS * away.T @ away, df=GROUPS - 1, note="")


def ratios(variances: np.ndarray, estimates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of estimated variances over the variance of the estimates, and its standard error."""
    away = np.square(estimates - estimates.mean(axis=0))
    ratio = variances.mean(axis=0) / away.mean(axis=0)
    relative = variances / variances.mean(axis=0) - away / away.mean(axis=0)
    return ratio, ratio * relative.std(axis=0) / np.sqrt(len(estimates))


def test_it_is_the_variance_of_estimates_over_fresh_samples(page: dict[str, Any]) -> None:
    """y = 2 a + b + 2 noise; a and b are correlated, c has no effect."""
    rng = np.random.default_rng(1)
    kinds: dict[str, Callable[[Replicates], Variance]] = {
        "jackknife": page["without_group"],
        "of folds": of_folds,
        "naive": cov_types.COV_TYPES["naive"],
    }
    estimates, squares = [], {kind: [] for kind in kinds}
    for _ in range(SAMPLES):
        X = rng.normal(size=(ROWS, 3))
        X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
        y = X @ [2.0, 1.0, 0.0] + 2 * rng.normal(size=ROWS)
        replicates = nested(X, y, rng.permutation(np.arange(ROWS) % GROUPS))
        estimates.append(replicates.per_refit.mean(axis=0))
        for kind, variance in kinds.items():
            squares[kind].append(np.diag(variance(replicates).cov))
    values, known = np.array(estimates), np.array(squares["jackknife"])
    ratio, error = ratios(known, values)
    assert (np.abs(ratio - 1) < Z * error)[:2].all()
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"was {ratio[0]:.2f} for a and {ratio[1]:.2f} for b" in text
    assert f"For c it was {ratio[2]:.2f}" in text
    # Without an effect there is no linear part, and the jackknife errs on the side of caution.
    assert ratio[2] > 1 + Z * error[2]
    for kind, said in (
        ("of folds", "{:.0f}, {:.0f} and {:.0f} times"),
        ("naive", "{:.2f}, {:.2f} and {:.2f}"),
    ):
        wrong, error = ratios(np.array(squares[kind]), values)
        assert (np.abs(wrong - 1) > Z * error).all()
        assert said.format(*wrong) in text
    reach = stats.t.ppf(0.975, GROUPS - 1) * np.sqrt(known)
    covered = (np.abs(values - values.mean(axis=0)) < reach).mean(axis=0)
    assert (np.abs(covered - 0.95) < Z * np.sqrt(0.95 * 0.05 / SAMPLES))[:2].all()
    assert covered[2] > 0.95


def test_what_it_is_not_for_is_refused(page: dict[str, Any]) -> None:
    linear = page["linear"]
    twice = linear.fit(pi.NestedCrossValidation(3, repeats=2), seed=1)
    with pytest.raises(InferenceError, match=r"needs one partition.*got 6 folds, 3 in a partition"):
        twice.pfi("bmi", cov_type="jackknife")
    with pytest.raises(InferenceError, match="NestedCrossValidation"):
        linear.fit(pi.CrossValidation(3), seed=1).pfi("bmi", cov_type="jackknife")
