"""Loaders of public data: what they return, where they look, and what they refuse."""

from __future__ import annotations

import hashlib
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
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


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """An entry of ``tables.toml``: no entry has other fields."""

    name: str
    sha256: str
    openml_id: int = 0
    openml_sha256: str = ""
    columns: list[str] = field(default_factory=list)
    openml_names: dict[str, str] = field(default_factory=dict)
    decimals: dict[str, int] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)


DATA_SETS = {name: DataSet(name=name, **entries) for name, entries in TABLES.items()}
AMES, CONCRETE, PIMA = (DATA_SETS[name] for name in ("ames", "concrete", "pima_diabetes"))
RED = DATA_SETS["wine_quality_red"]
PINNED = [spec for spec in DATA_SETS.values() if spec.openml_id]

# Half a unit in the 15th digit of a longitude: OpenML's copy can't be nearer to the file.
COORDINATE_TOLERANCE = 5e-14

LOADERS: dict[str, Callable[..., pd.DataFrame]] = {
    "wine_quality_white": lambda **k: datasets.load_wine_quality("white", **k),
    "concrete": datasets.load_concrete,
    "pima_diabetes": datasets.load_pima_diabetes,
    "ames": datasets.load_ames,
    "ames_kaggle_train": partial(datasets.load, "ames_kaggle_train"),
}
SHAPES = {
    "wine_quality_white": (4898, 12),
    "concrete": (1030, 9),
    "pima_diabetes": (768, 9),
    "ames": (2930, 81),
    "ames_kaggle_train": (1460, 81),
}
RESPONSES = {
    "wine_quality_white": "quality",
    "concrete": "compressive_strength",
    "pima_diabetes": "diabetes",
    "ames": "Sale_Price",
    "ames_kaggle_train": "SalePrice",
}
# Types in the order int64, float64, category.
TYPE_COUNTS = {
    "wine_quality_white": (1, 11, 0),
    "concrete": (1, 8, 0),
    "pima_diabetes": (6, 2, 1),
    "ames": (33, 2, 46),
    "ames_kaggle_train": (35, 3, 43),
}
MISSING = {"ames_kaggle_train": 6965}
DUPLICATES = {"wine_quality_white": 937, "concrete": 25}

every_data_set = pytest.mark.parametrize("spec", PINNED, ids=lambda s: s.name)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset the folder, and fail on any download that a test did not fake."""

    def refuse(**kwargs: object) -> None:
        pytest.fail(f"unexpected download: {kwargs}")

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)


@pytest.fixture
def source_folder() -> Path:
    """Return the folder with the pinned files, not announced to the package."""
    for folder in CANDIDATES:
        if folder.is_dir():
            return folder
    pytest.skip(f"no data: {VARIABLE} names no folder and there is no ../shared/data")


@pytest.fixture
def data_folder(source_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Announce the folder with the pinned files to the package."""
    monkeypatch.setenv(VARIABLE, str(source_folder))
    return source_folder


def canonical_csv(frame: pd.DataFrame) -> bytes:
    """Return the canonical text by its definition."""
    texts = frame.astype(object).map(
        lambda v: v if isinstance(v, str) else np.format_float_positional(float(v), trim="-")
    )
    return texts.mask(frame.isna(), "").to_csv(index=False, lineterminator="\n").encode()


def raw_table(folder: Path, spec: DataSet) -> pd.DataFrame:
    return pd.read_csv(folder / f"{spec.name}.csv", keep_default_na=False, na_values=[""])


def openml_layout(folder: Path, spec: DataSet) -> pd.DataFrame:
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
    return frame[frame.columns[::-1]]


def fake_openml(monkeypatch: pytest.MonkeyPatch, frame: pd.DataFrame) -> list[dict[str, object]]:
    """Let `fetch_openml` return `frame`, and return the list of calls it will get."""
    calls: list[dict[str, object]] = []

    def fetch(**kwargs: object) -> SimpleNamespace:
        calls.append(kwargs)
        return SimpleNamespace(frame=frame)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return calls


class TestReading:
    @every_data_set
    def test_shape_types_and_response(self, spec: DataSet, data_folder: Path) -> None:
        frame = LOADERS[spec.name]()
        assert frame.shape == SHAPES[spec.name]
        kinds = [str(kind) for kind in frame.dtypes]
        counts = tuple(kinds.count(kind) for kind in ("int64", "float64", "category"))
        assert counts == TYPE_COUNTS[spec.name]
        assert RESPONSES[spec.name] in frame
        assert list(frame.columns) == list(raw_table(data_folder, spec).columns)
        assert isinstance(frame.index, pd.RangeIndex)
        assert int(frame.isna().sum().sum()) == MISSING.get(spec.name, 0)

    @every_data_set
    def test_writing_back_gives_the_pinned_file(self, spec: DataSet, data_folder: Path) -> None:
        content = canonical_csv(LOADERS[spec.name]())
        assert content == (data_folder / f"{spec.name}.csv").read_bytes()
        assert hashlib.sha256(content).hexdigest() == spec.sha256

    @every_data_set
    def test_duplicates_are_the_documented_ones(self, spec: DataSet, data_folder: Path) -> None:
        assert data_folder.is_dir()
        assert int(LOADERS[spec.name]().duplicated().sum()) == DUPLICATES.get(spec.name, 0)

    def test_red_wines_come_with_the_package(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        frame = datasets.load_wine_quality()
        content = canonical_csv(frame)
        file = Path(datasets.__file__).with_name("wine_quality_red.csv")
        assert file.read_bytes() == content
        assert hashlib.sha256(content).hexdigest() == RED.sha256
        about = " ".join(file.with_suffix(".txt").read_text(encoding="utf-8").split())
        assert "License: Creative Commons Attribution 4.0" in about
        assert "doi:10.1016/j.dss.2009.05.016" in about
        assert frame.shape == (1599, 12)
        assert [str(kind) for kind in frame.dtypes] == ["float64"] * 11 + ["int64"]
        assert int(frame.duplicated().sum()) == 240
        scores = frame["quality"].value_counts().sort_index()
        assert scores.to_dict() == {3: 10, 4: 53, 5: 681, 6: 638, 7: 199, 8: 18}
        monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
        pd.testing.assert_frame_equal(datasets.load("wine_quality_red"), frame)

    def test_airfoils_come_with_the_package(self) -> None:
        frame = datasets.load_airfoil()
        content = canonical_csv(frame)
        file = Path(datasets.__file__).with_name("airfoil.csv")
        assert file.read_bytes() == content
        assert hashlib.sha256(content).hexdigest() == DATA_SETS["airfoil"].sha256
        about = " ".join(file.with_suffix(".txt").read_text(encoding="utf-8").split())
        assert "License: Creative Commons Attribution 4.0" in about
        assert "doi:10.24432/C5VW2C" in about
        assert frame.shape == (1503, 6)
        assert frame.nunique().tolist()[:5] == [21, 27, 6, 4, 105]

    @pytest.mark.usefixtures("data_folder")
    def test_white_wine_scores(self) -> None:
        white = datasets.load_wine_quality("white")["quality"].value_counts().sort_index()
        assert white.to_dict() == {3: 20, 4: 163, 5: 1457, 6: 2198, 7: 880, 8: 175, 9: 5}

    @pytest.mark.usefixtures("data_folder")
    def test_pima_zeros(self) -> None:
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

    @pytest.mark.usefixtures("data_folder")
    def test_ames_traps(self) -> None:
        frame = datasets.load_ames()
        assert int((frame["Mas_Vnr_Type"] == "None").sum()) == 1775
        assert int((frame["Misc_Feature"] == "None").sum()) == 2824
        assert "WD " in frame["Sale_Type"].cat.categories
        assert set(frame["BsmtFin_SF_1"]) == set(range(8))
        area = frame["Total_Bsmt_SF"] - frame["BsmtFin_SF_2"] - frame["Bsmt_Unf_SF"]
        assert int(area.min()) == 0
        assert int(area.max()) > 1000
        assert int((frame["Lot_Frontage"] == 0).sum()) == 490
        assert int((frame["Gr_Liv_Area"] > 4000).sum()) == 5
        for name in frame.columns[frame.dtypes == "category"]:
            levels = list(frame[name].cat.categories)
            assert levels == sorted(set(frame[name]))
            assert not frame[name].cat.ordered
        assert "Hayden_Lake" not in frame["Neighborhood"].cat.categories

    def test_diabetes_needs_no_folder(self) -> None:
        frame = datasets.load_diabetes()
        assert frame.shape == (442, 11)
        assert list(frame.columns) == [
            *["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"],
            "progression",
        ]
        assert set(frame.dtypes.astype(str)) == {"float64"}
        bunch = sklearn.datasets.load_diabetes(scaled=False)
        np.testing.assert_array_equal(frame.drop(columns="progression"), bunch.data)
        np.testing.assert_array_equal(frame["progression"], bunch.target)
        assert set(frame["sex"]) == {1.0, 2.0}


class TestFolder:
    def test_altered_file(
        self, source_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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

    def test_folder_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = fake_openml(monkeypatch, pd.DataFrame())
        monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
        with pytest.raises(DataError, match=r"read in .*nowhere.*unset PYINTERP_DATA"):
            datasets.load_concrete()
        assert calls == []

    def test_file_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = fake_openml(monkeypatch, pd.DataFrame())
        monkeypatch.setenv(VARIABLE, str(tmp_path))
        with pytest.raises(DataError, match=r"concrete\.csv.*FileNotFoundError") as caught:
            datasets.load_concrete()
        assert isinstance(caught.value.__cause__, FileNotFoundError)
        assert calls == []

    @pytest.mark.parametrize("value", [None, ""], ids=["unset", "empty"])
    def test_unset_goes_to_openml(self, value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
        if value is not None:
            monkeypatch.setenv(VARIABLE, value)
        calls = fake_openml(monkeypatch, pd.DataFrame({"cement": [1]}))
        with pytest.raises(DataError):
            datasets.load_concrete()
        assert len(calls) == 1

    @pytest.mark.usefixtures("data_folder")
    def test_folder_needs_no_openml(self, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = fake_openml(monkeypatch, pd.DataFrame())
        datasets.load_concrete()
        assert calls == []


class TestOpenml:
    @every_data_set
    def test_good_copy(
        self, spec: DataSet, source_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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
    def test_copy_off_by_one_unit_in_the_last_place(
        self, spec: DataSet, source_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        frame = openml_layout(source_folder, spec)
        kinds = raw_table(source_folder, spec).dtypes
        numbers = [name for name in spec.columns if kinds[name] == "float64"]
        names = [spec.openml_names.get(name, name) for name in numbers]
        values = frame[names].to_numpy()
        frame[names] = np.where(values == 0, 0, np.nextafter(values, np.inf))
        fake_openml(monkeypatch, frame)
        assert LOADERS[spec.name]().shape == SHAPES[spec.name]

    @every_data_set
    def test_altered_copy(
        self, spec: DataSet, source_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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

    @pytest.mark.parametrize(
        "alter",
        [
            pytest.param(lambda f: f.iloc[::-1], id="row order"),
            pytest.param(lambda f: f.iloc[:-1], id="row lost"),
            pytest.param(lambda f: f.assign(age=f["age"] + 0.5), id="fraction"),
            pytest.param(lambda f: f.assign(age=None), id="missing"),
            pytest.param(lambda f: f.assign(age="high"), id="text"),
            pytest.param(lambda f: f.assign(water=np.inf), id="infinite"),
        ],
    )
    def test_other_alterations(
        self,
        alter: Callable[[pd.DataFrame], pd.DataFrame],
        source_folder: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        frame = openml_layout(source_folder, CONCRETE)
        fake_openml(monkeypatch, alter(frame))
        with pytest.raises(DataError, match="differs from the pinned data"):
            datasets.load_concrete()

    def test_concrete_with_more_digits(
        self, source_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # UCI's spreadsheet: 238.05 where the text file has 238.1, 79.98611 where it has 79.99.
        frame = openml_layout(source_folder, CONCRETE)
        frame["cement"] = frame["cement"].replace(238.1, 238.05)
        frame["strength"] = frame["strength"] - 0.00389
        fake_openml(monkeypatch, frame)
        mended = datasets.load_concrete()
        assert int((mended["cement"] == 238.1).sum()) == int((frame["cement"] == 238.05).sum()) > 0
        assert mended["compressive_strength"].iloc[0] == 79.99

    def test_column_names_need_not_match_in_punctuation(
        self, source_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        frame = openml_layout(source_folder, DATA_SETS["wine_quality_white"])
        frame.columns = [name.replace("_", ".").upper() for name in frame.columns]
        fake_openml(monkeypatch, frame.assign(ID=1))
        assert datasets.load_wine_quality("white").columns[-1] == "quality"

    def test_column_missing(self, source_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        frame = openml_layout(source_folder, PIMA)
        fake_openml(monkeypatch, frame.rename(columns={"plas": "gluc"}))
        with pytest.raises(DataError, match=r"one column `plas`, but has 0 among .*gluc"):
            datasets.load_pima_diabetes()

    def test_column_ambiguous(self, source_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        frame = openml_layout(source_folder, PIMA)
        fake_openml(monkeypatch, frame.assign(Plas=1))
        with pytest.raises(DataError, match="one column `plas`, but has 2"):
            datasets.load_pima_diabetes()

    @pytest.mark.parametrize(
        "error",
        [
            URLError("no route to host"),
            TimeoutError("timed out"),
            IncompleteRead(b""),
            ValueError("md5 checksum does not match"),
        ],
        ids=lambda e: type(e).__name__,
    )
    def test_download_fails(self, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
        def fetch(**_: object) -> None:
            raise error

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        with pytest.raises(DataError, match=r"OpenML.* must be downloaded") as caught:
            datasets.load_concrete()
        assert caught.value.__cause__ is error
        assert type(error).__name__ in str(caught.value)
        assert "set PYINTERP_DATA to a folder that holds concrete.csv" in str(caught.value)

    def test_a_bug_is_not_a_failed_download(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fetch() -> None:
            """Take no arguments, so that the call is a TypeError."""

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        with pytest.raises(TypeError):
            datasets.load_concrete()


class TestText:
    def test_reading_keeps_none_and_na_and_rounds_correctly(self) -> None:
        content = b"x,g\n-93.67906939999999,None\n0.00266337,NA\n,WD \n"
        frame = parse_csv(content)
        assert list(frame["x"].iloc[:2]) == [-93.67906939999999, 0.00266337]
        assert np.isnan(frame["x"].iloc[2])
        assert list(frame["g"]) == ["None", "NA", "WD "]
        assert canonical_csv(frame) == content


class TestRegistry:
    def test_names_files_and_pins_are_distinct(self) -> None:
        for attribute in ("name", "sha256", "openml_id"):
            assert len({getattr(spec, attribute) for spec in PINNED}) == len(PINNED)

    @every_data_set
    def test_entry_is_consistent(self, spec: DataSet) -> None:
        names = spec.columns
        assert len(set(names)) == len(names)
        assert RESPONSES[spec.name] in names
        assert {*spec.openml_names, *spec.decimals} <= set(names)
        assert len(spec.sha256) == 64
        assert (len(spec.openml_sha256) == 64) == (spec is AMES)

    @pytest.mark.parametrize(
        ("loader", "spec"),
        [
            ("load_wine_quality", DATA_SETS["wine_quality_white"]),
            ("load_concrete", CONCRETE),
            ("load_pima_diabetes", PIMA),
            ("load_ames", AMES),
        ],
        ids=lambda v: v if isinstance(v, str) else v.name,
    )
    def test_docstring_describes_the_table(
        self, loader: str, spec: DataSet, data_folder: Path
    ) -> None:
        words = " ".join((inspect.getdoc(getattr(datasets, loader)) or "").split())
        assert "References ----------" in words
        assert "License: " in words
        assert str(spec.openml_id) in words
        assert str(SHAPES[spec.name]) in words
        assert f"``{spec.name}.csv``" in words
        for name, kind in datasets.load(spec.name).dtypes.items():
            assert f"{name} {kind}" in words


class TestLoad:
    @every_data_set
    def test_is_what_the_loader_returns(self, spec: DataSet, data_folder: Path) -> None:
        assert data_folder.is_dir()
        pd.testing.assert_frame_equal(datasets.load(spec.name), LOADERS[spec.name]())

    def test_diabetes(self) -> None:
        pd.testing.assert_frame_equal(datasets.load("diabetes"), datasets.load_diabetes())
        assert datasets.load("diabetes").shape == (442, 11)

    def test_every_name_is_documented(self) -> None:
        assert all(
            f'"{name}"' in (datasets.load.__doc__ or "") for name in (*DATA_SETS, "diabetes")
        )

    def test_wrong_name(self) -> None:
        with pytest.raises(OptionError, match=r"`name` must be one of .*Did you mean `concrete`"):
            datasets.load("concret")


class TestOptions:
    def test_wrong_color(self) -> None:
        with pytest.raises(OptionError, match=r'`color` must be one of "red", "white", not .rose'):
            datasets.load_wine_quality("rose")  # type: ignore[arg-type]

    def test_wrong_zeros(self) -> None:
        with pytest.raises(OptionError, match=r"`zeros` must be one of .*Did you mean `missing`"):
            datasets.load_pima_diabetes("mising")  # type: ignore[arg-type]


class TestImport:
    def test_loads_no_third_party_module(self) -> None:
        code = (
            "import sys; before = set(sys.modules); import pyinterp.datasets; "
            "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
            "print(*sorted(new - sys.stdlib_module_names))"
        )
        root = Path(datasets.__file__).parents[2]
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
        assert done.stdout.split() == ["pyinterp"]

    def test_every_public_name_is_a_loader(self) -> None:
        assert len(datasets.__all__) == 8
        for name in datasets.__all__:
            assert getattr(datasets, name).__name__ == name
            assert name in dir(datasets)

    def test_unknown_name(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'load_iris'"):
            _ = datasets.load_iris
