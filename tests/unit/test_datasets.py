"""Loaders of public data: what they return, where they look, and what they refuse."""

from __future__ import annotations

import hashlib
import inspect
import os
from functools import partial
from http.client import IncompleteRead
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from pyinterp import datasets
from pyinterp.datasets import TABLES, parse_csv
from pyinterp.errors import DataError, OptionError

VARIABLE = "PYINTERP_DATA"
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
CANDIDATES = [Path(p) for p in (os.environ.get(VARIABLE), SHARED) if p]


DEFAULTS = {"openml_id": 0, "openml_sha256": "", "openml_names": {}}
DATA_SETS = {
    name: SimpleNamespace(**DEFAULTS | entries, name=name) for name, entries in TABLES.items()
}
AMES, CONCRETE, PIMA = (DATA_SETS[name] for name in ("ames", "concrete", "pima_diabetes"))
PINNED = [spec for spec in DATA_SETS.values() if spec.openml_id]

# Half a unit in the 15th digit of a longitude: OpenML's copy can't be nearer to the file.
COORDINATE_TOLERANCE = 5e-14

LOADERS = {
    "wine_quality_white": partial(datasets.load_wine_quality, "white"),
    "concrete": datasets.load_concrete,
    "pima_diabetes": datasets.load_pima_diabetes,
    "ames": datasets.load_ames,
    "boston": partial(datasets.load, "boston"),
    "ames_kaggle_train": partial(datasets.load, "ames_kaggle_train"),
}
# Types in the order int64, float64, category.
TYPE_COUNTS = {
    "wine_quality_white": (1, 11, 0),
    "concrete": (1, 8, 0),
    "pima_diabetes": (6, 2, 1),
    "ames": (33, 2, 46),
    "boston": (3, 11, 0),
    "ames_kaggle_train": (35, 3, 43),
}

every_data_set = pytest.mark.parametrize("spec", PINNED, ids=lambda s: s.name)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """Unset the folder, and fail on any download that a test did not fake."""

    def refuse(**kwargs):
        pytest.fail(f"unexpected download: {kwargs}")

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)


@pytest.fixture
def source_folder():
    """Return the folder with the pinned files, not announced to the package."""
    for folder in CANDIDATES:
        if folder.is_dir():
            return folder
    pytest.skip(f"no data: {VARIABLE} names no folder and there is no ../shared/data")


@pytest.fixture
def data_folder(source_folder, monkeypatch):
    """Announce the folder with the pinned files to the package."""
    monkeypatch.setenv(VARIABLE, str(source_folder))
    return source_folder


def canonical_csv(frame):
    """Return the canonical text by its definition."""
    texts = frame.astype(object).map(
        lambda v: v if isinstance(v, str) else np.format_float_positional(float(v), trim="-")
    )
    return texts.mask(frame.isna(), "").to_csv(index=False, lineterminator="\n").encode()


def raw_table(folder, spec):
    return pd.read_csv(folder / f"{spec.name}.csv", keep_default_na=False, na_values=[""])


def openml_layout(folder, spec):
    """Return the table as OpenML documents its copy, columns in another order."""
    frame = raw_table(folder, spec)
    if spec is PIMA:
        frame.columns = ["preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age", "class"]
        texts = {"neg": "tested_negative", "pos": "tested_positive"}
        frame["class"] = frame["class"].map(texts).astype("category")
    elif spec is CONCRETE:
        frame = frame.astype("float64").rename(columns={"compressive_strength": "strength"})
    elif spec is AMES:
        text = frame.select_dtypes(exclude="number").columns
        frame[text] = frame[text].astype("category")
        for name in ("Longitude", "Latitude"):
            frame[name] = [float(f"{v:.15g}") for v in frame[name]]
    elif spec.name.startswith("wine"):
        frame = frame.astype("float64")
    elif spec.name == "boston":
        frame = frame.astype({"chas": "category", "rad": "category"})
    return frame[frame.columns[::-1]]


def fake_openml(monkeypatch, frame):
    """Let `fetch_openml` return `frame`, and return the list of calls it will get."""
    calls = []

    def fetch(**kwargs):
        calls.append(kwargs)
        return SimpleNamespace(frame=frame)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return calls


class TestReading:
    @every_data_set
    def test_writing_back_gives_the_pinned_file(self, spec, data_folder):
        frame = LOADERS[spec.name]()
        content = canonical_csv(frame)
        assert content == (data_folder / f"{spec.name}.csv").read_bytes()
        assert hashlib.sha256(content).hexdigest() == spec.sha256
        kinds = [str(kind) for kind in frame.dtypes]
        counts = tuple(kinds.count(kind) for kind in ("int64", "float64", "category"))
        assert counts == TYPE_COUNTS[spec.name]
        assert isinstance(frame.index, pd.RangeIndex)
        pd.testing.assert_frame_equal(datasets.load(spec.name), frame)

    @pytest.mark.parametrize(
        ("name", "load", "doi"),
        [
            ("wine_quality_red", datasets.load_wine_quality, "10.1016/j.dss.2009.05.016"),
            ("airfoil", datasets.load_airfoil, "10.24432/C5VW2C"),
        ],
    )
    def test_two_come_with_the_package(self, name, load, doi, tmp_path, monkeypatch):
        frame = load()
        content = canonical_csv(frame)
        file = Path(datasets.__file__).with_name(f"{name}.csv")
        assert file.read_bytes() == content
        assert hashlib.sha256(content).hexdigest() == DATA_SETS[name].sha256
        about = " ".join(file.with_suffix(".txt").read_text(encoding="utf-8").split())
        assert "License: Creative Commons Attribution 4.0" in about
        assert f"doi:{doi}" in about
        monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
        pd.testing.assert_frame_equal(datasets.load(name), frame)

    @pytest.mark.usefixtures("data_folder")
    def test_pima_zeros(self):
        kept = datasets.load_pima_diabetes()
        assert list(kept["diabetes"].cat.categories) == ["neg", "pos"]
        assert kept["diabetes"].value_counts().to_dict() == {"neg": 500, "pos": 268}
        zeros = {"glucose": 5, "pressure": 35, "triceps": 227, "insulin": 374, "mass": 11}
        missing = datasets.load_pima_diabetes(zeros="missing")
        assert {name: int((kept[name] == 0).sum()) for name in zeros} == zeros
        assert {n: int(k) for n, k in missing.isna().sum().items() if k} == zeros
        assert set(missing[list(zeros)].dtypes.astype(str)) == {"float64"}
        assert int((missing["pregnant"] == 0).sum()) == 111
        missing[list(zeros)] = missing[list(zeros)].fillna(0)
        pd.testing.assert_frame_equal(missing, kept, check_dtype=False)

    def test_diabetes_needs_no_folder(self):
        frame = datasets.load_diabetes()
        bunch = sklearn.datasets.load_diabetes(scaled=False)
        assert list(frame.columns) == [*bunch.feature_names, "progression"]
        assert set(frame.dtypes.astype(str)) == {"float64"}
        np.testing.assert_array_equal(frame.drop(columns="progression"), bunch.data)
        np.testing.assert_array_equal(frame["progression"], bunch.target)
        pd.testing.assert_frame_equal(datasets.load("diabetes"), frame)


class TestFolder:
    def test_altered_file(self, source_folder, tmp_path, monkeypatch):
        content = (source_folder / "concrete.csv").read_bytes()
        monkeypatch.setenv(VARIABLE, str(tmp_path))
        target = tmp_path / "concrete.csv"
        target.write_bytes(content)
        assert datasets.load_concrete().shape == (1030, 9)
        altered = content.replace(b"79.99", b"79.98", 1)
        target.write_bytes(altered)
        with pytest.raises(DataError, match=r"concrete\.csv .* must have the SHA-256") as caught:
            datasets.load_concrete()
        message = str(caught.value)
        assert CONCRETE.sha256 in message
        assert hashlib.sha256(altered).hexdigest() in message
        assert "unset PYINTERP_DATA" in message

    @pytest.mark.parametrize(
        ("folder", "words"),
        [
            ("nowhere", r"read in .*nowhere.*unset PYINTERP_DATA"),
            ("", r"concrete\.csv.*FileNotFoundError"),
        ],
    )
    def test_folder_or_file_missing(self, folder, words, tmp_path, monkeypatch):
        monkeypatch.setenv(VARIABLE, str(tmp_path / folder))
        with pytest.raises(DataError, match=words):
            datasets.load_concrete()

    @pytest.mark.parametrize("value", [None, ""], ids=["unset", "empty"])
    def test_unset_goes_to_openml(self, value, monkeypatch):
        if value is not None:
            monkeypatch.setenv(VARIABLE, value)
        calls = fake_openml(monkeypatch, pd.DataFrame({"cement": [1]}))
        with pytest.raises(DataError):
            datasets.load_concrete()
        assert len(calls) == 1


class TestOpenml:
    @every_data_set
    def test_good_copy(self, spec, source_folder, tmp_path, monkeypatch):
        calls = fake_openml(monkeypatch, openml_layout(source_folder, spec))
        online = LOADERS[spec.name](data_home=tmp_path)
        assert calls == [
            {"data_id": spec.openml_id, "as_frame": True, "parser": "auto", "data_home": tmp_path}
        ]
        monkeypatch.setenv(VARIABLE, str(source_folder))
        local = LOADERS[spec.name]()
        if spec is AMES:
            for name in ("Longitude", "Latitude"):
                error = (online.pop(name) - local.pop(name)).abs()
                assert float(error.max()) <= COORDINATE_TOLERANCE
        pd.testing.assert_frame_equal(online, local, check_exact=True)

    @every_data_set
    def test_copy_off_by_one_unit_in_the_last_place(self, spec, source_folder, monkeypatch):
        frame = openml_layout(source_folder, spec)
        kinds = raw_table(source_folder, spec).dtypes
        numbers = [name for name in spec.columns if kinds[name] == "float64"]
        names = [spec.openml_names.get(name, name) for name in numbers]
        values = frame[names].to_numpy()
        frame[names] = np.where(values == 0, 0, np.nextafter(values, np.inf))
        fake_openml(monkeypatch, frame)
        assert len(LOADERS[spec.name]()) == len(frame)

    @every_data_set
    def test_altered_copy(self, spec, source_folder, monkeypatch):
        frame = openml_layout(source_folder, spec)
        name = spec.openml_names.get(spec.columns[0], spec.columns[0])
        frame.loc[7, name] = next(v for v in frame[name] if v != frame[name].iloc[7])
        fake_openml(monkeypatch, frame)
        with pytest.raises(DataError, match="differs from the pinned data") as caught:
            LOADERS[spec.name]()
        message = str(caught.value)
        assert f"data_id={spec.openml_id}" in message
        assert (spec.openml_sha256 or spec.sha256) in message
        assert f"set PYINTERP_DATA to a folder that holds {spec.name}.csv" in message
        assert ("MASS::Boston" in message) == (spec.name == "boston")

    @pytest.mark.parametrize(
        "alter",
        [
            lambda f: f.iloc[::-1],
            lambda f: f.iloc[:-1],
            lambda f: f.assign(age=f["age"] + 0.5),
            lambda f: f.assign(age=None),
            lambda f: f.assign(age="high"),
            lambda f: f.assign(water=np.inf),
        ],
        ids=["row order", "row lost", "fraction", "missing", "text", "infinite"],
    )
    def test_other_alterations(self, alter, source_folder, monkeypatch):
        fake_openml(monkeypatch, alter(openml_layout(source_folder, CONCRETE)))
        with pytest.raises(DataError, match="differs from the pinned data"):
            datasets.load_concrete()

    def test_concrete_with_more_digits(self, source_folder, monkeypatch):
        # UCI's spreadsheet: 238.05 where the text file has 238.1, 79.98611 where it has 79.99.
        frame = openml_layout(source_folder, CONCRETE)
        frame["cement"] = frame["cement"].replace(238.1, 238.05)
        frame["strength"] = frame["strength"] - 0.00389
        fake_openml(monkeypatch, frame)
        mended = datasets.load_concrete()
        assert int((mended["cement"] == 238.1).sum()) == int((frame["cement"] == 238.05).sum()) > 0
        assert mended["compressive_strength"].iloc[0] == 79.99

    def test_column_names_need_not_match_in_punctuation(self, source_folder, monkeypatch):
        frame = openml_layout(source_folder, DATA_SETS["wine_quality_white"])
        frame.columns = [name.replace("_", ".").upper() for name in frame.columns]
        fake_openml(monkeypatch, frame.assign(ID=1))
        assert datasets.load_wine_quality("white").columns[-1] == "quality"

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda f: f.rename(columns={"plas": "gluc"}), "`plas`, but has 0 among .*gluc"),
            (lambda f: f.assign(Plas=1), "`plas`, but has 2"),
        ],
    )
    def test_column_missing_or_ambiguous(self, change, words, source_folder, monkeypatch):
        fake_openml(monkeypatch, change(openml_layout(source_folder, PIMA)))
        with pytest.raises(DataError, match=f"one column {words}"):
            datasets.load_pima_diabetes()

    @pytest.mark.parametrize(
        "error",
        [
            URLError("no route to host"),
            IncompleteRead(b""),
            ValueError("md5 checksum does not match"),
        ],
        ids=lambda e: type(e).__name__,
    )
    def test_download_fails(self, error, monkeypatch):
        def fetch(**_):
            raise error

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        with pytest.raises(DataError, match=r"OpenML.* must be downloaded") as caught:
            datasets.load_concrete()
        assert caught.value.__cause__ is error
        assert type(error).__name__ in str(caught.value)
        assert "set PYINTERP_DATA to a folder that holds concrete.csv" in str(caught.value)


class TestText:
    def test_reading_keeps_none_and_na_and_rounds_correctly(self):
        content = b"x,g\n-93.67906939999999,None\n0.00266337,NA\n,WD \n"
        frame = parse_csv(content)
        assert list(frame["x"].iloc[:2]) == [-93.67906939999999, 0.00266337]
        assert np.isnan(frame["x"].iloc[2])
        assert list(frame["g"]) == ["None", "NA", "WD "]
        assert canonical_csv(frame) == content


class TestRegistry:
    @pytest.mark.parametrize(
        ("loader", "name"),
        [
            ("load_wine_quality", "wine_quality_white"),
            ("load_concrete", "concrete"),
            ("load_pima_diabetes", "pima_diabetes"),
            ("load_ames", "ames"),
            ("load_boston", "boston"),
        ],
    )
    def test_docstring_describes_the_table(self, loader, name, data_folder):
        words = " ".join((inspect.getdoc(getattr(datasets, loader)) or "").split())
        frame = datasets.load(name)
        said = ["References ----------", "License: ", f"``{name}.csv``", str(frame.shape)]
        said += [str(DATA_SETS[name].openml_id)]
        said += [f"{column} {kind}" for column, kind in frame.dtypes.items()]
        assert [text for text in said if text not in words] == []


class TestLoad:
    def test_every_name_is_documented(self):
        said = datasets.load.__doc__ or ""
        assert all(f'"{name}"' in said for name in (*DATA_SETS, "diabetes"))

    @pytest.mark.parametrize(
        ("load", "wrong", "words"),
        [
            (datasets.load, "concret", "`name` must be one of .*Did you mean `concrete`"),
            (datasets.load_wine_quality, "rose", '`color` must be one of "red", "white", not'),
            (datasets.load_pima_diabetes, "mising", "`zeros` must be .*Did you mean `missing`"),
        ],
    )
    def test_wrong_words(self, load, wrong, words):
        with pytest.raises(OptionError, match=words):
            load(wrong)
