"""The page for the referee says what the analysis measured, and nothing that it did not."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

import pyinterp as pi
from pyinterp.errors import InferenceError, OptionError


def rows(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    data["twin"] = data["a"] + 0.05 * rng.normal(size=n)
    data["y"] = data["a"] + data["twin"] + 0.98 * data["b"] * 2 + rng.normal(size=n)
    data["id"] = np.arange(n) // 4
    data["w"] = np.where(data["b"] > 0, 1.0, 3.0)
    return data


def fit(formula: str = "y ~ a + b + c + twin", estimator: Any = None, **options: Any) -> Any:
    plan = options.pop("plan", None)
    data = options.pop("data", rows())
    learner = pi.Learner.from_formula(formula, data, estimator or LinearRegression(), **options)
    return learner.fit(plan, seed=1, progress=False)


def said(res: Any, **options: Any) -> dict[str, str]:
    """Return the answers by question."""
    parts = re.split(r"^\d+\. (.+\?)$", pi.referee(res, **options), flags=re.MULTILINE)[1:]
    return {q: " ".join(a.split()) for q, a in zip(parts[::2], parts[1::2], strict=True)}


@pytest.fixture(scope="module")
def res() -> Any:
    return fit()


def test_ten_questions_are_answered_in_their_order(res: Any) -> None:
    words = tomllib.loads(files("pyinterp.report_page").joinpath("referee.toml").read_text("utf-8"))
    answers = said(res)
    assert list(answers) == [each["question"] for each in words.values()]
    assert len(answers) == 10
    assert all(answers.values())
    assert not re.search(r"[{}]|nan|None", " ".join(answers.values()))
    assert "Of 4 features, " in answers["What does P test?"]
    assert "features, " not in said(res, features="a")["What does P test?"]


def test_what_is_relevant_is_what_both_tests_say(res: Any) -> None:
    pfi = res.pfi(p_adjust="holm")
    cvim = res.cvim(p_adjust="holm")
    answer = next(iter(said(res).values()))
    used = set(pfi.params.index[pfi.pvalues < 0.05])
    both = used & set(cvim.params.index[cvim.pvalues < 0.05])
    assert "b" in both
    assert _names(answer, "Used, also given the other features") == both
    assert _names(answer, "which may stand in for them") == used - both
    assert _names(answer, "Not shown to be used") == set(pfi.params.index) - used
    assert _names(answer, "R²_j above 0.8") == {"a", "twin"}
    assert "squared error" in answer
    assert "poor" not in answer
    assert "no better than a constant" not in answer


def test_p_relevant_is_told_where_it_was_measured() -> None:
    res = fit()
    answer = next(iter(said(res, features=["a", "b"]).values()))
    assert "not tested by them. P relevant of `res.population()` tests it" in answer
    assert "up to 40 fits" in answer  # 2 features, 10 refits
    p = replace(res.population(["a", "b"]).relevance, p_adjust="holm").pvalues
    trained = len(res.analysis.cross_fits.tallies)
    answer = next(iter(said(res, features=["a", "b"]).values()))
    assert _names(answer, r"see what its table needs\)") == set(p.index[p < 0.05])
    assert "not tested" not in answer
    assert len(res.analysis.cross_fits.tallies) == trained
    few = fit(plan=pi.Subsampling(20))
    assert next(iter(said(few).values())).endswith("is not tested by them.")


def _names(text: str, before: str) -> set[str]:
    found = re.search(rf"{before}: ([\w, ]+)\.", text)
    return set(found[1].split(", ")) if found else set()


def test_the_probability_of_another_order_is_what_seeds_do() -> None:
    """Of 24 seeds, as many pairs are exchanged as the first ones say."""
    data = rows(120)
    data["y"] = 1.0 * data["a"] + 1.03 * data["b"] + data["c"] * 0 + 0.5 * data["w"]
    learner = pi.Learner.from_formula("y ~ a + b", data, LinearRegression())
    fits = [learner.fit(seed=s, progress=False) for s in range(24)]
    order = np.array([f.pfi().params["a"] > f.pfi().params["b"] for f in fits])
    exchanged = 2 * order.mean() * (1 - order.mean())  # of two seeds
    stated = []
    for each in fits[:8]:
        text = list(said(each).values())[4]
        found = re.search(r"probability (\d\.\d\d)", text)
        assert found or "no two neighbors" in text
        stated.append(float(found[1]) if found else 0.0)
    assert np.mean(stated) == pytest.approx(exchanged, abs=0.15)


def test_weights_clusters_and_missing_values_are_those_of_the_fit() -> None:
    data = rows()
    data.loc[3:7, "c"] = np.nan
    plan = pi.HalfSampling(cluster="id")
    answers = list(
        said(
            fit("y ~ a + b + c", data=data, plan=plan, weights="w", weights_type="sampling")
        ).values()
    )
    assert "Clusters: id (" in answers[6]
    assert "No clusters" not in answers[6]
    assert "w (sampling)" in answers[7]
    assert "counts alike" not in answers[7]
    assert "c 5" in answers[8]
    frequency = fit(
        "y ~ a + b", weights="w", weights_type="frequency", data=rows().astype({"w": int})
    )
    assert "is two rows" in list(said(frequency).values())[7]


def test_classes_are_compared_by_one_loss_and_time_is_seen() -> None:
    data = rows()
    data["hit"] = np.where(data["b"] + np.random.default_rng(0).normal(size=200) > 0, "u", "v")
    answers = list(said(fit("hit ~ a + b", LogisticRegression(), data=data)).values())
    assert "By log loss" in answers[0]
    data.index = pd.date_range("2020", periods=200)
    assert "index of dates" in list(said(fit("y ~ a + b", data=data)).values())[5]


def test_a_learner_that_found_nothing_is_said_to_have() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    data = pd.DataFrame(z[:, None] + 0.25 * rng.normal(size=(400, 5)), columns=list("abcde"))
    data["y"] = np.where(rng.random(400) < 1 / (1 + np.exp(-1.5 * z)), "yes", "no")
    harmed = fit("y ~ a + b + c + d + e", GaussianNB(), data=data)
    answer = next(iter(said(harmed).values()))
    pfi = harmed.pfi(p_adjust="holm")
    harm = set(pfi.params.index[(pfi.pvalues < 0.05) & (pfi.params < 0)])
    assert _names(answer, "when it is drawn independently") == harm
    assert ("no better than a constant" in answer) == (pfi.fit.explained_share <= 0)


def test_intervals_are_said_to_be_as_they_are(res: Any) -> None:
    """Symmetric ones, and ones that no simulation is of, are said to be so."""
    answer = list(said(fit("y ~ a + b", plan=pi.CrossValidation(5))).values())[1]
    found = re.search(r"reaches (\S+) down and (\S+) up, by the variance corrected", answer)
    assert found
    assert found[1] == found[2]
    few = fit("y ~ a + b", plan=pi.HalfSampling(5, pairs=5))
    for results in (res, few):
        none = "No simulations say" in str(results.pfi().summary(notes="full"))
        answer = list(said(results).values())[1]
        assert ("No simulations say" in answer) == none
        assert "simulation" in answer
        assert "documentation" not in answer


def test_a_feature_that_is_not_shown_to_be_used_has_no_rows_that_decide() -> None:
    noise = list(said(fit("c ~ a + b", plan=pi.HalfSampling(5, pairs=5))).values())[3]
    assert "smaller" not in noise
    assert "No feature is shown to be used" in noise
    assert "smaller" in list(said(fit("y ~ a + b")).values())[3]


def test_a_plan_without_pairs_is_said_to_have_none() -> None:
    *_, without = said(fit("y ~ a + b", plan=pi.CrossValidation(5))).values()
    *_, halves = said(fit("y ~ a + b")).values()
    assert "pairs" not in without
    assert "15 pairs" in halves


def test_a_learner_that_uses_nothing_is_refused_in_words() -> None:
    with pytest.raises(InferenceError, match="importances are 0"):
        pi.referee(fit("y ~ a + b", DummyRegressor(), plan=pi.HalfSampling(5, pairs=5)))


def test_the_page_has_the_answers_and_the_table(res: Any, tmp_path: Path) -> None:
    text = pi.referee(res, tmp_path / "referee.html", features=["b", "c"])
    page = (tmp_path / "referee.html").read_text("utf-8")
    assert "Do rows belong together?" in page
    assert "CVIM" in page
    assert (
        str(res.importance(["pfi", "cvim"], ["b", "c"], p_adjust="holm").summary(notes="none"))
        in text
    )


def test_other_results_are_refused(res: Any, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"several refits"):
        pi.referee(res.model.fit_model())
    with pytest.raises(OptionError, match=r"several refits"):
        pi.referee(res.pfi())  # type: ignore[arg-type]
    with pytest.raises(OptionError):
        pi.referee(res, tmp_path / "no" / "such" / "folder.html")
