"""Coverage studies: what is counted, and that nothing is lost or counted twice after a kill."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from joblib import parallel_config
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import DataError, OptionError
from pyinterp.learner.learner import LearnerResults
from pyinterp.simulation import CoverageStudy, ideal
from pyinterp.simulation.records import Record, Row, StudyFile, pool_records
from pyinterp_papers.processes import molnar_linear


def study(**options):
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


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the study as one process runs it."""
    return study().run(tmp_path_factory.mktemp("whole") / "study.sqlite", progress=False)


def test_every_number_is_that_of_the_data_sets(whole):
    one, found = study(), whole
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
    assert_allclose(row["coverage"], covered.mean(axis=0))
    assert_allclose(row["rejected"], (np.array(p) < 0.05).mean(axis=0))
    assert_allclose(row["width"], (np.array(high) - low).mean(axis=0))
    width_sd = (np.array(high) - low).std(axis=0, ddof=1)
    assert_allclose(row["width_mcse"], width_sd / np.sqrt(10), rtol=1e-6)
    assert_allclose(row["bias"], np.mean(estimate, axis=0) - truth["PFI"], atol=1e-12)
    assert_allclose(row["sd"], np.std(estimate, axis=0, ddof=1), rtol=1e-6)
    assert_allclose(row["se"], np.sqrt(np.mean(np.square(bse), axis=0)))
    assert (row["repetitions"] == 10).all()
    means = (
        found.rows.set_index(["plan", "cov_type", "estimand"])
        .sort_index()
        .loc["subs", "corrected", "PFI"]
    )
    assert means["coverage"] == pytest.approx(covered.mean())
    share = covered.mean(axis=1)
    assert means["coverage_mcse"] == pytest.approx(share.std(ddof=1) / np.sqrt(10))


def test_the_truth_is_that_of_fresh_data(tmp_path):
    found = study(truth_refits=400, repetitions=2).run(tmp_path / "study.sqlite", progress=False)
    truth = found.frame.drop_duplicates(["estimand", "term"]).set_index(["estimand", "term"])
    # Least squares is right for this process: PD is x1 - 1/2.
    expected = np.array([-0.4, 0.4])
    curve = truth.loc["PD x1"]
    assert (np.abs(curve["truth"] - expected) < 4 * curve["truth_mcse"]).all()
    assert (curve["truth_mcse"] < 0.02).all()


def test_a_study_without_data_sets_has_means_only(tmp_path, whole):
    found = study(repetitions=0).run(tmp_path / "study.sqlite", progress=False)
    assert found.frame.empty
    key = ["estimand", "term"]
    known = whole.frame.drop_duplicates(key)[[*key, "truth", "truth_mcse"]]
    pd.testing.assert_frame_equal(
        found.truths[[*key, "truth", "truth_mcse"]].sort_values(key).reset_index(drop=True),
        known.sort_values(key).reset_index(drop=True),
    )


def frames_equal(first, second):
    key = ["plan", "cov_type", "estimand", "term"]
    pd.testing.assert_frame_equal(
        first.set_index(key).sort_index(), second.set_index(key).sort_index(), rtol=1e-9
    )


def test_jobs_and_blocks_change_nothing_but_rounding(tmp_path, whole):
    jobs = study().run(tmp_path / "two.sqlite", 2, progress=False)
    frames_equal(whole.frame, jobs.frame)


def test_a_study_goes_on_where_it_was(tmp_path, whole):
    path = tmp_path / "study.sqlite"
    study(repetitions=4).run(path, progress=False)
    before = blocks_of(path)
    more = study().run(path, progress=False)
    frames_equal(more.frame, whole.frame)
    # What was there is there still; of two plans there are five blocks now, not two.
    assert before.items() <= blocks_of(path).items()
    assert (len(before), len(blocks_of(path))) == (3 * 2 + 2 * 2 + 2 * 4, 3 * 2 + 5 * 2 + 5 * 4)
    again = study().run(path, progress=False)
    pd.testing.assert_frame_equal(more.frame, again.frame)


def blocks_of(path):
    records = StudyFile(path).records()
    return {(r.row, r.term, b): r.size for r in records for b in r.blocks}


def test_a_killed_study_loses_and_repeats_nothing(tmp_path, run_and_kill, whole):
    path = tmp_path / "study.sqlite"
    done = run_and_kill("test_study", path, blocks=5)
    assert done == 5  # of 13: three blocks of truth and five of two plans
    resumed = study().run(path, progress=False)
    frames_equal(resumed.frame, whole.frame)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Return the file of a study of two data sets."""
    path = tmp_path_factory.mktemp("begun") / "study.sqlite"
    study(repetitions=2).run(path, progress=False)
    return path.read_bytes()


def row_of(frame):
    return frame.groupby("estimand")["repetitions"].max().to_dict()


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ({"block": 1}, r"block = 20, and the study has 10"),
        ({"alpha": 0.5}, r"alpha = 0.05, and the study has 0.5"),
        ({"seed": 2}, r"seed = 1, and the study has 2"),
        ({"truth_refits": 90}, r"truth_refits = 50, and the study has 90"),
        (
            {"resamplings": {"subs": pi.Subsampling(5), "ideal": ideal(4)}},
            r"refits=4, fraction=0.632.* and the study has .*refits=5",
        ),
    ],
)
def test_a_file_is_not_continued_with_other_settings(tmp_path, begun, after, message):
    path = tmp_path / "study.sqlite"
    path.write_bytes(begun)
    with pytest.raises(OptionError, match="with the settings that it was begun with.*" + message):
        study(repetitions=2, **after).run(path, progress=False)
    assert path.read_bytes() == begun


def test_a_block_that_was_smaller_is_made_again(tmp_path):
    path = tmp_path / "study.sqlite"
    small = {"repetitions": 3, "truth_refits": 50}
    assert set(row_of(study(**small).run(path, progress=False).frame).values()) == {3}
    more = study(repetitions=6).run(path, progress=False)
    assert set(row_of(more.frame).values()) == {6}
    frames_equal(more.frame, study(repetitions=6).run(tmp_path / "o.sqlite", progress=False).frame)
    means = {"repetitions": 0, "cov_types": {}, "resamplings": {}}
    path = tmp_path / "means.sqlite"
    study(truth_refits=25, **means).run(path, progress=False)
    many = study(truth_refits=60, **means).run(path, progress=False).truths
    whole = study(truth_refits=60, **means).run(tmp_path / "w.sqlite", progress=False).truths
    pd.testing.assert_frame_equal(many, whole, rtol=1e-9)


def test_estimands_and_variances_can_be_added_and_left_out(tmp_path):
    path = tmp_path / "study.sqlite"
    curve = {"PD x1": study().estimands["PD x1"]}
    naive = {"subs": ["naive"], "ideal": ["naive"]}
    study(estimands=curve, cov_types=naive, repetitions=3).run(path, progress=False)
    # An estimand, a variance and repetitions more: all of them are of all repetitions.
    found = study(repetitions=5).run(path, progress=False)
    whole = study(repetitions=5).run(tmp_path / "whole.sqlite", progress=False)
    frames_equal(found.frame, whole.frame)
    frames_equal(study().load(path).frame, whole.frame)
    # Without the estimand of before, with more repetitions; what it had stays in the file.
    only = {"estimands": {"PFI": LearnerResults.pfi}, "cov_types": naive}
    fewer = study(repetitions=7, **only).run(path, progress=False)
    assert row_of(fewer.frame) == {"PFI": 7}
    assert set(fewer.frame["cov_type"]) == {"naive"}
    assert row_of(study().load(path).frame) == {"PFI": 7, "PD x1": 5}
    frames_equal(
        study(repetitions=7).run(path, progress=False).frame,
        study(repetitions=7).run(tmp_path / "all.sqlite", progress=False).frame,
    )


def record_of(block, *, size=2, number=1.0):
    return Record(
        Row("coverage", "p", "l", 5, "half"),
        ("PFI", "naive"),
        (block,),
        size,
        {"sums": np.array([[number, 1.0]]), "shares": np.array(0.5)},
        {"block": 2},
    )


def test_records_add_up_and_count_blocks_once(tmp_path):
    file = StudyFile(tmp_path / "study.sqlite")
    for block in (3, 1, 0, 2, 3):  # the last one was made again
        file.add([record_of(block, size=2 if block < 3 else 1, number=block)])
    ((row, terms),) = pool_records(file.records()).items()
    assert row == Row("coverage", "p", "l", 5, "half")
    pool = terms["PFI", "naive"]
    assert (pool.blocks, pool.size, pool.sums["shares"]) == ((0, 1, 2, 3), 7, 2.0)
    assert pool.sums["sums"].tolist() == [[6.0, 4.0]]


def test_records_come_back_as_they_were(tmp_path):
    """Names of any letters, and every kind of row."""
    sums = {"labels": ("t", "u"), "sums": np.array([0.1, np.nan]), "squares": np.array([1e300, 2])}
    records = [
        Record(Row("truth", "p|q", "l", 5), ("a|b",), (0,), 3, sums, {"block": 20, "seed": 1}),
        record_of(1),
        Record(
            Row("importance", "p", "l", 5, "x 1, a|b"),
            ("a|b", "cvim"),
            (0, 1, 3),
            12,
            {"sums": np.arange(7.0), "squares": np.arange(7.0) / 3},
            {"block": 4},
        ),
    ]
    file = StudyFile(tmp_path / "50% of #1.sqlite")
    file.add(records)
    for record, again in zip(records, file.records(), strict=True):
        assert again[:4] == record[:4]
        assert again.settings == record.settings
        assert list(again.sums) == list(record.sums)
        for name, value in record.sums.items():
            np.testing.assert_array_equal(again.sums[name], value)


class TestTwoProcesses:
    def test_what_another_one_wrote_is_not_lost(self, tmp_path):
        first, second = (StudyFile(tmp_path / "study.sqlite") for _ in range(2))
        for file, blocks in ((first, range(3)), (second, range(3, 6))):
            for block in blocks:
                file.add([record_of(block)])
        assert [r.blocks for r in first.records()] == [(b,) for b in range(6)]

    def test_a_block_is_written_as_a_whole(self, tmp_path):
        file = StudyFile(tmp_path / "study.sqlite")
        file.add([record_of(0)])
        wrong = record_of(2)._replace(settings={"block": object()})
        with pytest.raises(AttributeError):
            file.add([record_of(1), wrong])
        assert [record.blocks for record in file.records()] == [(0,)]

    def test_two_that_do_the_same_work_count_it_once(self, tmp_path):
        path = tmp_path / "study.sqlite"
        whole = study().run(path, progress=False)
        file = StudyFile(path)
        file.add(file.records()[-4:])
        frames_equal(study().load(path).frame, whole.frame)

    def test_a_kill_within_a_block_leaves_nothing_of_it(self, tmp_path):
        path = tmp_path / "study.sqlite"
        StudyFile(path).add([record_of(0)])
        done = in_another(KILLED, path)
        assert (done.returncode, done.stderr) == (9, "")
        assert Path(f"{path}-journal").exists()  # a part was on the disk
        file = StudyFile(path)
        assert [record.blocks for record in file.records()] == [(0,)]
        file.add([record_of(1)])
        assert [record.blocks for record in file.records()] == [(0,), (1,)]


KILLED = """
import contextlib, os
connect = records.StudyFile._connection
@contextlib.contextmanager
def small(self):
    with connect(self) as connection:
        connection.execute("PRAGMA cache_size = 1")
        yield connection
def blocks():
    for block in range(1, 1000):
        if block == 500:
            os._exit(9)
        yield record._replace(blocks=(block,))
records.StudyFile._connection = small
(record,) = file.records()
file.add(blocks())
"""


def in_another(code, path):
    """Run code in another process; `file` is that of the path."""
    begin = f"from pyinterp.simulation import records\nfile = records.StudyFile({str(path)!r})\n"
    return subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", begin + code], capture_output=True, check=False, text=True
    )


def test_a_file_that_is_no_study_is_refused(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (x)")
    before = path.read_bytes()
    for call in (study().run, study().load):
        with pytest.raises(DataError, match=r"must be a database that a study has written.*other"):
            call(path)
    assert path.read_bytes() == before
    for folder in (tmp_path / "none" / "study.sqlite", tmp_path):
        with pytest.raises(DataError, match=r"folder that exists|a database that a study has"):
            study().run(folder)


def test_a_file_that_was_only_begun_is_empty(tmp_path):
    path = tmp_path / "study.sqlite"
    path.touch()
    assert study().load(path).frame.empty
    assert not study(repetitions=2).run(path, progress=False).frame.empty


def test_a_dask_cluster_gives_the_same_numbers(tmp_path, whole):
    path = [str(Path(__file__).parent), *sys.path]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        parallel_config("dask"),
    ):
        client.run(sys.path.extend, path)
        shared = study().run(tmp_path / "two.sqlite", progress=False)
        workers = client.run(os.getpid)
    frames_equal(whole.frame, shared.frame)
    assert len(set(workers.values()) - {os.getpid()}) == 2


def test_plans_and_variances_must_match():
    with pytest.raises(OptionError, match=r"`cov_types` must name .* ideal, subs; got subs\."):
        study(cov_types={"subs": ["naive"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block": 0}, "`block` must be a whole number of at least 1, not 0"),
        ({"repetitions": -3}, "`repetitions` must be a whole number of at least 0, not -3"),
        ({"truth_refits": 0}, "`truth_refits` must be a whole number of at least 1, not 0"),
        ({"repetitions": {"tree": 5}}, "`repetitions` must .* every learner; 'lm' is not in tree"),
        ({"truth_refits": {}}, "`truth_refits` must be a number or name every learner"),
        ({"alpha": 5}, r"`alpha` must be a number in \(0, 1\), not 5"),
        ({"n": [1]}, "`n` must be a whole number of at least 2, not 1"),
        ({"n": []}, "`n` must not be empty"),
        ({"estimands": {}}, "`estimands` must not be empty"),
        ({"cov_types": {"subs": ["naif"], "ideal": []}}, "\"naive\".*not 'naif'.*`naive`"),
        ({"dgps": [molnar_linear()] * 2}, "different names.*two are called 'linear'"),
    ],
)
def test_bad_input_gives_its_sentence(options, message):
    with pytest.raises(OptionError, match=message):
        study(**options)


def test_grids_that_differ_between_data_sets_are_refused(tmp_path):
    loose = study(estimands={"PD": partial(LearnerResults.pd, features="x1", points=3)})
    with pytest.raises(OptionError, match=r"the same terms for every data set.*'PD' differ.*grid"):
        loose.run(tmp_path / "study.sqlite", progress=False)


def test_rows_of_a_plan_that_was_taken_out_are_left_out(tmp_path):
    path = tmp_path / "study.sqlite"
    study(repetitions=2).run(path, progress=False)
    less = study(resamplings={"subs": pi.Subsampling(4)}, cov_types={"subs": ["naive"]})
    assert set(less.load(path).frame["plan"]) == {"subs"}


def test_the_plot_shows_every_row(tmp_path):
    found = study(repetitions=4).run(tmp_path / "study.sqlite", progress=False)
    data = found.plot().data
    assert len(data) == len(found.rows) == 6
    found.plot().save(tmp_path / "plot.png", verbose=False, width=6, height=4)
    assert (tmp_path / "plot.png").stat().st_size > 1000


@pytest.mark.calibration
def test_a_reduced_study_shows_what_the_whole_one_shows(tmp_path):
    """Tolerances are 4 standard errors; rates are those of Molnar et al., Tables 1 and 2.

    Of 40 data sets it catches gross errors only: a true 0.95 passes from about 0.85 on. The kept
    results of the whole study have the narrow bars.
    """
    reduced = study(
        n=[100],
        resamplings={"boot": pi.Bootstrap(15), "ideal": ideal(15), "half": pi.HalfSampling()},
        cov_types={"boot": ["naive", "corrected"], "ideal": ["naive"], "half": ["half-sample"]},
        repetitions=40,
        truth_refits=600,
        block=10,
    )
    found = reduced.run(tmp_path / "study.sqlite", 2, progress=False)
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
        error = max(row["coverage_mcse"], np.sqrt(rate * (1 - rate) / 40 / row["terms"]))
        assert abs(row["coverage"] - rate) < 4 * error, key
