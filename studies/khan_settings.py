"""Search the setting behind Khan et al.'s Table 2: ``python studies/khan_settings.py``.

XGBoost trains on two thirds of n rows, n = 500 and 1,000, with every setting of `GRID`. The score
of a setting is the mean of (ours / printed - 1)², of squared bias, variance and delta of X1.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from xgboost import DMatrix, train

from pyinterp_papers.importance import COLUMNS, components, training_rows, validation_rows
from pyinterp_papers.processes import khan_regression
from pyinterp_papers.replication import read_table

GRID = list(product((0.05, 0.1, 0.3), (2, 4), (0.5, 0.75, 1.0)))  # rate, depth, share of rows
TREES, SIZES, MODELS, VALIDATION = (100, 200), (500, 1000), 6, 2000
QUANTITIES = ["bias2_orig", "variance_orig", "delta"]


def matrix(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that train."""
    return pd.get_dummies(frame.drop(columns="y", errors="ignore"), drop_first=True, dtype=float)


def gaps(n: int) -> pd.DataFrame:
    """Return squared relative gaps, a row per setting, a column per printed number."""
    process = khan_regression("independent")
    printed = read_table("printed", "khan2025", "table 2").set_index(["feature", "n"])
    rows, y, (switched,) = validation_rows(process, [("X1", "mvim")], n, VALIDATION, 0)
    f, other = process.f(rows), process.f(switched)
    valid = DMatrix(pd.concat([matrix(rows), matrix(switched)]))
    samples = [training_rows(process, 2 * n // 3, k) for k in range(MODELS)]
    data = [DMatrix(matrix(sample), sample["y"]) for sample in samples]
    found = {}
    for rate, depth, share in GRID:
        options = {"eta": rate, "max_depth": depth, "subsample": share, "nthread": 1}
        models = [train(options, sample, TREES[-1]) for sample in data]
        for trees in TREES:
            values = np.array([m.predict(valid, iteration_range=(0, trees)) for m in models])
            original, changed = np.split(values, 2, axis=1)
            ours = pd.Series(components(y, (f, original), (other, changed)), COLUMNS)
            ratio = ours[QUANTITIES] / printed.loc[("X1", str(n)), QUANTITIES].astype(float)
            found[rate, depth, share, trees] = np.square(ratio - 1)
    return pd.DataFrame(found).T.rename_axis(["rate", "depth", "rows", "trees"])


def main() -> None:
    """Write the score of every setting."""
    scores = pd.concat(map(gaps, SIZES), axis=1).mean(axis=1).rename("score").sort_values()
    scores.round(3).to_csv(Path(__file__).parent / "results" / "khan_settings.csv")


if __name__ == "__main__":
    main()
