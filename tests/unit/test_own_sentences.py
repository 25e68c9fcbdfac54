"""What is handed out is a copy; odd options, disks and texts have sentences of their own."""

import errno
import shutil

import numpy as np
import pandas as pd
import pytest
from fits import fit_of
from sklearn.linear_model import LinearRegression

import pyinterp as pi
from pyinterp.errors import FileError, OptionError
from pyinterp.resampling import checkpoint

HALVES = pi.HalfSampling(0, pairs=5)


def data(names=("x", "z")):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, len(names))), columns=list(names))
    return frame.assign(y=frame.iloc[:, 0] + rng.normal(size=80))


@pytest.fixture(scope="module")
def fitted():
    return fit_of("y ~ x + z", data(), LinearRegression(), HALVES)


TABLES = {
    "params": lambda p: p.params,
    "bse": lambda p: p.bse,
    "mcse": lambda p: p.mcse,
    "tvalues": lambda p: p.tvalues,
    "pvalues": lambda p: p.pvalues,
    "bse_null": lambda p: p.bse_null,
    "row_warnings": lambda p: p.row_warnings,
    "conf_int": lambda p: p.conf_int(),
    "cov_params": lambda p: p.cov_params(),
    "summary_frame": lambda p: p.summary_frame(),
    "tidy": lambda p: p.tidy(),
    "refit_frame": lambda p: p.refit_frame(),
    "row_frame": lambda p: p.row_frame(),
    "variance_parts": lambda p: p.variance_parts(),
    "statistics": lambda p: pd.Series(p.inference.statistic, copy=False),
    "p_values": lambda p: pd.Series(p.inference.p_values, copy=False),
    "mc_variance": lambda p: pd.Series(p.replicates.mc_variance, copy=False),
    "idle_share": lambda p: pd.Series(p.replicates.idle_share, copy=False),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_copies(name, fitted):
    pfi = fitted.pfi()
    before, table = str(pfi), TABLES[name](pfi)
    numbers = table.select_dtypes("number") if table.ndim == 2 else table
    for column in numbers.columns if table.ndim == 2 else [None]:
        if column is None:
            table.iloc[:] = 99.0
        else:
            table[column] = 99.0
    assert str(pfi) == before
    assert not TABLES[name](pfi).equals(table)


def test_tables_of_several_are_copies(fitted):
    both = fitted.importance(["pfi", "cvim"])
    before = str(both)
    of_both, of_one = both.params, both["pfi"].params
    of_both["pfi"], of_one[:] = 99.0, 99.0
    assert str(both) == before
    with pytest.raises(AttributeError):
        both["pfi"].params = before


@pytest.mark.parametrize("name", ["effect", "sd", "tvalue", "pvalue", "facts", "notes", "c_names"])
def test_contrasts_can_not_be_changed(name, fitted):
    values = getattr(fitted.pfi().t_test("x = z, z = 0"), name)
    with pytest.raises((ValueError, TypeError), match=r"read-only|assignment"):
        values[0] = 99.0


@pytest.mark.parametrize("names", [1, "ab", ["a", "b"], [], pd.DataFrame({"a": [1]}), {"a": 1}])
def test_names_of_hypotheses_are_a_list(names, fitted):
    test = fitted.pfi().t_test("x = z")
    for show in (test.summary, test.summary_frame):
        with pytest.raises(OptionError, match="`xname` must be a list of names, one for each of 1"):
            show(xname=names)
    assert "mine" in str(test.summary(xname=["mine"]))


@pytest.mark.parametrize(
    "options",
    [{"width": 1e-300}, {"width": 1e-200}, {"effect": 1e-300}, {"width": 5e-324},
     {"effect": 5e-324}, {"width": 1.0, "alpha": 1e-320}],
)  # fmt: skip
def test_sizes_out_of_reach(options, fitted):
    with pytest.raises(OptionError, match="must be within reach of some number of rows"):
        fitted.ame().sample_size(**options)


@pytest.mark.parametrize("sign", ["\x00", "\x01", "\x0b", "\x1f", "\ufffe"])
@pytest.mark.parametrize("end", ["docx", "xlsx"])
def test_word_and_excel_hold_no_control_characters(sign, end, tmp_path):
    frame = data(("x", f"a{sign}b"))
    res = fit_of("y ~ .", frame, LinearRegression(), HALVES)
    path = tmp_path / f"a.{end}"
    with pytest.raises(OptionError, match="can't hold control characters, as in"):
        res.pfi().to(path)
    assert not path.exists()
    if end == "docx":
        with pytest.raises(OptionError, match="can't hold control characters, as in"):
            res.pfi("x").summary(title=f"a{sign}b").to(path)


def learner():
    return pi.Learner.from_formula("y ~ x + z", data(), LinearRegression())


@pytest.mark.parametrize("end", ["csv", "html", "md", "tex", "txt", "docx"])
def test_half_of_a_character(end, fitted, tmp_path):
    path = tmp_path / f"a.{end}"
    with pytest.raises(OptionError, match=r"Files hold whole characters|can't hold control"):
        fitted.pfi().summary(title="a\ud800b").to(path)
    assert not [*tmp_path.iterdir()]


def test_an_empty_checkpoint_is_no_folder():
    with pytest.raises(OptionError, match="`checkpoint` must be the path of a folder, not ''"):
        learner().fit(HALVES, checkpoint="")


@pytest.mark.parametrize("end", [1, 2, 3, 4, 6])
def test_a_full_disk(end, tmp_path, monkeypatch):
    """The first file is the seed's or the call's; later ones are refits."""
    count, folder = iter(range(1, 100)), tmp_path / "kept"
    whole = checkpoint.whole_file

    def full(file):
        if next(count) >= end:
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(file)

    monkeypatch.setattr(checkpoint, "whole_file", full)
    with pytest.raises(FileError, match=r"stays and has room, but .* can't be written .*No space"):
        learner().fit(HALVES, checkpoint=folder)
    monkeypatch.undo()
    assert learner().fit(HALVES, checkpoint=folder).pfi().nobs == 80


@pytest.mark.parametrize("part", ["refits", "."])
def test_a_folder_that_goes(part, tmp_path, monkeypatch):
    folder, write = tmp_path / "kept", checkpoint._write

    def gone(file, content):
        if file.parent.name == "refits":
            shutil.rmtree(folder / part, ignore_errors=True)
        write(file, content)

    monkeypatch.setattr(checkpoint, "_write", gone)
    with pytest.raises(FileError, match=r"`checkpoint` must be a folder that stays"):
        learner().fit(HALVES, checkpoint=folder)
