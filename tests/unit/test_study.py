"""Coverage studies: what is counted, and that nothing is lost or counted twice after a kill."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import OptionError
from pyinterp.learner import LearnerResults
from pyinterp.simulation import CoverageStudy, ideal, molnar_linear
from pyinterp.simulation.ledger import Ledger, Line


def study(**options) -> CoverageStudy:
    settings = {
        "dgps": [molnar_linear()],
        "learners": {"lm": LinearRegression()},
        "estimands": {
            "PFI": LearnerResults.pfi,
            "PD x1": partial(LearnerResults.pd, features="x1", grid=(0.1, 0.9)),
        },
        "n": [60],
        "resamplings": {"subs": pi.Subsampling(4), "ideal": ideal(4)},
        "cov_types": {"subs": ["naive", "corrected"], "ideal": ["naive"]},
        "repetitions": 10,
        "truth_refits": 50,
        "block": 2,
    }
    return CoverageStudy(**settings | options)


def test_every_number_is_that_of_the_data_sets(tmp_path: Path) -> None:
    one = study()
    found = one.run(tmp_path / "study.jsonl", progress=False)
    frame = found.frame.set_index(["plan", "cov_type", "estimand", "term"]).sort_index()
    process = one.process("linear")
    truth = {}
    for name in one.estimands:
        part = found.frame.query("estimand == @name and plan == 'subs' and cov_type == 'naive'")
        truth[name] = part["truth"].to_numpy()
    low, high, p, estimate, bse = [], [], [], [], []
    for repetition in range(10):
        data = one.draw(process, 60, repetition)
        seed = one.stream("coverage", "linear", "lm", 60, "subs", repetition)
        results = one.learner(process, "lm", data).fit(pi.Subsampling(4), seed=seed)
        pfi = results.pfi(cov_type="corrected")
        limits = pfi.conf_int().to_numpy()
        low.append(limits[:, 0])
        high.append(limits[:, 1])
        p.append(pfi.pvalues)
        estimate.append(pfi.params)
        bse.append(pfi.bse)
    row = frame.loc["subs", "corrected", "PFI"]
    covered = (np.array(low) <= truth["PFI"]) & (truth["PFI"] <= np.array(high))
    np.testing.assert_allclose(row["coverage"], covered.mean(axis=0))
    np.testing.assert_allclose(row["rejected"], (np.array(p) < 0.05).mean(axis=0))
    np.testing.assert_allclose(row["width"], (np.array(high) - low).mean(axis=0))
    width_sd = (np.array(high) - low).std(axis=0, ddof=1)
    np.testing.assert_allclose(row["width_mcse"], width_sd / np.sqrt(10), rtol=1e-6)
    np.testing.assert_allclose(row["bias"], np.mean(estimate, axis=0) - truth["PFI"], atol=1e-12)
    np.testing.assert_allclose(row["sd"], np.std(estimate, axis=0, ddof=1), rtol=1e-6)
    np.testing.assert_allclose(row["se"], np.sqrt(np.mean(np.square(bse), axis=0)))
    assert (row["repetitions"] == 10).all()
    means = (
        found.rows.set_index(["plan", "cov_type", "estimand"])
        .sort_index()
        .loc["subs", "corrected", "PFI"]
    )
    assert means["coverage"] == pytest.approx(covered.mean())
    share = covered.mean(axis=1)
    assert means["coverage_mcse"] == pytest.approx(share.std(ddof=1) / np.sqrt(10))


def test_the_truth_is_that_of_fresh_data(tmp_path: Path) -> None:
    found = study(truth_refits=400, repetitions=2).run(tmp_path / "study.jsonl", progress=False)
    truth = found.frame.drop_duplicates(["estimand", "term"]).set_index(["estimand", "term"])
    # Least squares is right for this process: PD is x1 - 1/2.
    expected = np.array([-0.4, 0.4])
    curve = truth.loc["PD x1"]
    assert (np.abs(curve["truth"] - expected) < 4 * curve["truth_mcse"]).all()
    assert (curve["truth_mcse"] < 0.02).all()


def test_a_study_without_data_sets_has_means_only(tmp_path: Path) -> None:
    found = study(repetitions=0).run(tmp_path / "study.jsonl", progress=False)
    assert found.frame.empty
    whole = study().run(tmp_path / "whole.jsonl", progress=False)
    key = ["estimand", "term"]
    known = whole.frame.drop_duplicates(key)[[*key, "truth", "truth_mcse"]]
    pd.testing.assert_frame_equal(
        found.truths[[*key, "truth", "truth_mcse"]].sort_values(key).reset_index(drop=True),
        known.sort_values(key).reset_index(drop=True),
    )
    assert set(whole.only(estimand="PFI", plan="subs").truths["estimand"]) == {"PFI"}


def frames_equal(first: pd.DataFrame, second: pd.DataFrame) -> None:
    key = ["plan", "cov_type", "estimand", "term"]
    pd.testing.assert_frame_equal(
        first.set_index(key).sort_index(), second.set_index(key).sort_index(), rtol=1e-9
    )


def test_jobs_and_blocks_change_nothing_but_rounding(tmp_path: Path) -> None:
    whole = study().run(tmp_path / "one.jsonl", progress=False)
    jobs = study().run(tmp_path / "two.jsonl", 2, progress=False)
    frames_equal(whole.frame, jobs.frame)


def test_a_study_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    study(repetitions=4).run(path, progress=False)
    lines = Ledger(path).lines
    more = study().run(path, progress=False)
    frames_equal(more.frame, study().run(tmp_path / "other.jsonl", progress=False).frame)
    # What was there is there still, and one line stands for each row.
    assert len(lines) == len(Ledger(path).lines) == 3
    again = study().run(path, progress=False)
    frames_equal(more.frame, again.frame)


def test_a_killed_study_loses_and_repeats_nothing(tmp_path: Path, run_and_kill) -> None:
    path = tmp_path / "study.jsonl"
    done = run_and_kill("test_study", path, lines=5)
    assert 5 <= done < 11  # one block of truth and five of two plans
    resumed = study().run(path, progress=False)
    frames_equal(resumed.frame, study().run(tmp_path / "whole.jsonl", progress=False).frame)


OLDER = """\
{"row": ["truth", "linear", "lm", 60, "truth"], "blocks": [0, 1, 2], "size": 50, "terms": {"PFI": \
{"term": ["x1", "x2"], "sums": [9.37522003711772, 8.178736816272572], "squares": \
[2.793600684868651, 2.9371009654602225]}}}
{"row": ["coverage", "linear", "lm", 60, "subs"], "blocks": [0, 1, 2, 3, 4], "size": 10, "terms": \
{"PFI|naive": {"sums": [[6.0, 7.0, 2.3634641011521875, 0.7252685436132933, 0.2517002928889775, \
0.21081401175291348, 0.017902623587761464], [5.0, 6.0, 2.5086950917357664, 1.302961559568522, \
-0.4328508895412069, 0.2161284116421623, 0.03216247354954268]], "shares": 4.25}}}
"""


def test_lines_of_older_files_are_read_and_made_again(tmp_path: Path) -> None:
    """What earlier versions wrote: rows, blocks and random streams are the same."""
    only = {"estimands": {"PFI": LearnerResults.pfi}, "resamplings": {"subs": pi.Subsampling(4)}}
    one = study(cov_types={"subs": ["naive"]}, **only)
    path = tmp_path / "older.jsonl"
    path.write_text(OLDER, encoding="utf-8")
    before = one.run(path, progress=False)
    assert path.read_text(encoding="utf-8") == OLDER  # nothing was left to do
    frames_equal(before.frame, one.run(tmp_path / "newer.jsonl", progress=False).frame)


def test_lines_add_up_and_count_blocks_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "lines.jsonl")
    for block in range(3):
        terms = {"PFI": {"term": ["x"], "sums": [[block, 1.0]], "shares": 0.5}}
        ledger.add(Line(("coverage", "p", "l", 5, "half"), [block], 2, terms))
    ledger.compact()
    (line,) = Ledger(tmp_path / "lines.jsonl").lines
    assert (line.blocks, line.size) == ([0, 1, 2], 6)
    assert line.terms == {"PFI": {"term": ["x"], "sums": [[3.0, 3.0]], "shares": 1.5}}
    assert ledger.holds(line.row, 2)
    assert not ledger.holds(line.row, 3)


def test_a_dask_cluster_gives_the_same_numbers(tmp_path: Path) -> None:
    whole = study().run(tmp_path / "one.jsonl", progress=False)
    path = [str(Path(__file__).parent), *sys.path]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        parallel_config("dask"),
    ):
        client.run(sys.path.extend, path)
        shared = study().run(tmp_path / "two.jsonl", progress=False)
        workers = client.run(os.getpid)
    frames_equal(whole.frame, shared.frame)
    assert len(set(workers.values()) - {os.getpid()}) == 2


def test_plans_and_variances_must_match() -> None:
    with pytest.raises(OptionError, match=r"`cov_types` must name the plans.*\['ideal', 'subs'\]"):
        study(cov_types={"subs": ["naive"]})


def test_the_plot_shows_every_row(tmp_path: Path) -> None:
    found = study(repetitions=4).run(tmp_path / "study.jsonl", progress=False)
    data = found.plot().data
    assert len(data) == len(found.rows) == 6
    found.plot().save(tmp_path / "plot.png", verbose=False, width=6, height=4)
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_width_and_coverage_against_the_number_of_refits(tmp_path: Path) -> None:
    counts = {"2": pi.Subsampling(2), "5": pi.Subsampling(5), "half": pi.HalfSampling(3, pairs=5)}
    cov_types = {"2": ["corrected"], "5": ["corrected"], "half": ["half-sample"]}
    options = {"resamplings": counts, "cov_types": cov_types, "repetitions": 4}
    found = study(**options).run(tmp_path / "study.jsonl", progress=False)
    assert found.rows.groupby("plan")["refits"].first().to_dict() == {"2": 2, "5": 5, "half": 13}
    plot = found.only(estimand="PFI").plot_refits()
    assert sorted(plot.data["panel"].value_counts()) == [3, 3]
    plot.save(tmp_path / "plot.png", verbose=False, width=6, height=4)
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_parts_of_a_study(tmp_path: Path) -> None:
    found = study(repetitions=2).run(tmp_path / "study.jsonl", progress=False)
    part = found.only(plan="subs", estimand=["PFI"])
    assert set(part.rows["plan"]) == set(part.frame["plan"]) == {"subs"}
    assert set(part.frame["estimand"]) == {"PFI"}
    with pytest.raises(OptionError, match=r"`only` takes the columns.*got 'planned'"):
        found.only(planned="subs")


def test_a_reduced_study_shows_what_the_whole_one_shows(tmp_path: Path) -> None:
    """Tolerances are 4 standard errors; rates are those of Molnar et al., Tables 1 and 2."""
    reduced = study(
        n=[100],
        resamplings={"boot": pi.Bootstrap(15), "ideal": ideal(15), "half": pi.HalfSampling()},
        cov_types={"boot": ["naive", "corrected"], "ideal": ["naive"], "half": ["half-sample"]},
        repetitions=80,
        truth_refits=1000,
        block=10,
    )
    found = reduced.run(tmp_path / "study.jsonl", 2, progress=False)
    rows = found.rows.set_index(["estimand", "plan", "cov_type"])
    printed = {
        ("PD x1", "boot", "naive"): 0.41,
        ("PD x1", "boot", "corrected"): 0.89,
        ("PD x1", "ideal", "naive"): 0.95,
        ("PFI", "boot", "naive"): 0.27,
        ("PFI", "ideal", "naive"): 0.94,
        ("PD x1", "half", "half-sample"): 0.95,
        ("PFI", "half", "half-sample"): 0.95,
    }
    for key, rate in printed.items():
        row = rows.loc[key]
        error = max(row["coverage_mcse"], np.sqrt(rate * (1 - rate) / 80 / row["terms"]))
        assert abs(row["coverage"] - rate) < 4 * error, key
