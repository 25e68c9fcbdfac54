"""What tables say about few clusters is what the study found; degrees of freedom follow them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fits import words_of
from sklearn.linear_model import LinearRegression

import pyinterp as pi

STUDY = Path(__file__).parents[2] / "studies" / "results" / "few_clusters.csv"


@pytest.fixture(scope="module")
def study():
    return pd.read_csv(STUDY)


def fit_of(cluster):
    data = np.random.default_rng(1).normal(size=(len(cluster), 3))
    X = pd.DataFrame(data[:, :2], columns=["x", "z"])
    learner = pi.Learner(data[:, 0] + data[:, 2], X, LinearRegression())
    return learner.fit(pi.HalfSampling(cluster=cluster), seed=1)


def repeated(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def test_the_footnote_is_what_the_study_found(study):
    said = fit_of(repeated([8] * 20)).pfi().variance.warning
    assert len(study) == 4 * 2 * 7
    assert study["data_sets"].min() >= 200
    low, high = study["covers"].min(), study["covers"].max()
    null = study[study["term"].isin(["PFI x3", "PFI x4"])]
    assert f"covered {low:.0%} to {high:.0%}" in said
    assert f"at most {np.ceil(100 * null['rejects'].max()):.0f}%" in said


@pytest.mark.parametrize(
    ("sizes", "df", "worth"),
    [([8] * 30, 15, ""), ([60, *[4] * 19], 2, "; as they differ in size, they count as 4")],
)
def test_degrees_of_freedom_are_half_the_clusters(sizes, df, worth):
    fit = fit_of(repeated(sizes))
    for results in (fit.pfi(), fit.pd("x", points=2)):
        assert results.df_resid == df
        assert f"There are {len(sizes)} clusters{worth}. With 12 to 30" in results.variance.warning
        assert results.variance.warning in words_of(results)


def test_the_group_of_the_fewest_clusters_has_the_degrees_of_freedom():
    cluster = repeated([6] * 60)
    fit = fit_of(cluster)
    for few in (cluster < 12, cluster >= 12):
        results = fit.pd("x", points=2, by=pd.Series(few, name="few"))
        assert results.df_resid == 6
        assert "There are 12 clusters in a group. With 12 to 30" in results.variance.warning


def test_the_table_of_the_page_is_the_study(study):
    page = (STUDY.parents[2] / "docs" / "resampling.md").read_text(encoding="utf-8")
    for (learner, clusters, equal), cell in study.groupby(["learner", "clusters", "equal"]):
        covers = cell.set_index("term")["covers"].map("{:.3f}".format)
        null = cell[cell["term"].isin(["PFI x3", "PFI x4"])]
        parts = [
            f"{learner}, {clusters}",
            "equal" if equal else "unequal",
            f"{cell['df'].iloc[0]:.1f}".removesuffix(".0"),
            *covers[["loss", "PFI x1", "PFI x2"]],
            ", ".join(covers[["PFI x3", "PFI x4"]]),
            ", ".join(covers[["PD 0", "PD 1"]]),
            ", ".join(null["rejects"].map("{:.3f}".format)),
        ]
        assert f"| {' | '.join(parts)} |" in page
