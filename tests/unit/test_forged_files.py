"""A forged file opens no other file, and takes a bounded time to be refused.

What is forged is a value of a real file: a type of a column, a zone, a reference.
"""

import hashlib
import io
import json
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from pyinterp.errors import FileError, OptionError
from pyinterp.storage import archive, codecs

OPENED: list[str] = []
# A hook stays until the process ends; it is one for all tests here.
sys.addaudithook(lambda event, a: OPENED.append(str(a[0])) if event == "open" else None)

ZONE = "dateutil//etc/hostname"
TYPES = [
    f"datetime64[ns, {ZONE}]",
    f"datetime64[us, {ZONE}]",
    f"interval[datetime64[ns, {ZONE}], right]",
    f"interval[datetime64[s, {ZONE}], both]",
    f"period[{ZONE}]",
    f"period[D, {ZONE}]",
    f"Sparse[datetime64[ns, {ZONE}]]",
    f"Sparse[float64, {ZONE}]",
    f"timestamp[ns, tz={ZONE}][pyarrow]",
    f"dictionary<values={ZONE}>[pyarrow]",
    f"string[{ZONE}]",
    f"category[{ZONE}]",
    "tzfile('/etc/hostname')",
    "interval[datetime64[ns, ../../../etc/hostname], right]",
    "datetime64[ns, Nowhere/Land]",
    "S99999999999",
    "V8",
    "Int64\n",
    "",
]


def array(*values, **options):
    file = io.BytesIO()
    np.save(file, np.array(values, **options))
    return file.getvalue()


def write(path, tree, **arrays):
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in arrays.items()}
    manifest = {"format": "pyinterp", "schema": archive.SCHEMA, "about": {}, "results": tree}
    text = json.dumps(manifest | {"arrays": digests}, separators=(",", ":"))
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("manifest.json", text)
        for name, data in arrays.items():
            file.writestr(f"{name}.npy", data)
    return len(text) + sum(map(len, arrays.values()))


def column(dtype):
    return {"column": [dtype, {"objects": [[1], [None]]}]}


PLACES = {
    "values": column,
    "index": lambda dtype: {"Index": [column(dtype), "name"]},
    "series": lambda dtype: {"Series": [column(dtype), "x", {"RangeIndex": [0, 1, 1, None]}]},
    "categories": lambda dtype: {
        "Categorical": [{"array": "codes"}, {"Index": [column(dtype), None]}, False]
    },
    "levels": lambda dtype: {
        "MultiIndex": [[{"Index": [column(dtype), None]}], [{"array": "codes"}], ["x"]]
    },
    "moments": lambda dtype: {"column": [dtype, {"array": "moments"}]},
    "stamp": lambda dtype: {"Timestamp": [{"array": "moment"}, dtype]},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", [*TYPES, f"{ZONE}"])
def test_no_type_of_a_column_opens_a_file(dtype, place, tmp_path):
    path = tmp_path / "forged.pyinterp"
    moment = array("2020-01-01", dtype="M8[ns]")
    write(
        path,
        [PLACES[place](dtype)],
        codes=array(0, dtype=np.int8),
        moments=moment,
        moment=array("2020", dtype="M8[s]")[:0] or moment,
    )
    OPENED.clear()
    with pytest.raises(FileError, match=r"forged\.pyinterp' can't be read"):
        archive.load(path, tuple)
    assert not [name for name in OPENED if "etc" in name or "host" in name]


def header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


ARRAYS = {
    "no bytes": header("{'descr': '<U0', 'fortran_order': False, 'shape': (99999999999,), }\n"),
    "a large shape": header("{'descr': 'f8', 'fortran_order': False, 'shape': (10**13,), }\n"),
    "code": header("{'descr': print(1), 'fortran_order': False, 'shape': (1,), }\n"),
    "fields": header("{'descr': [('a', 'f8')], 'fortran_order': False, 'shape': (1,), }\n")
    + bytes(8),
    "any bytes": array(b"12345678", dtype="V8"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_other_types_are_refused(kind, tmp_path):
    write(tmp_path / "forged.pyinterp", [{"array": "a"}], a=ARRAYS[kind])
    with pytest.raises(FileError, match=r"forged\.pyinterp' can't be read"):
        archive.load(tmp_path / "forged.pyinterp", tuple)


COLUMNS = [
    pd.array([1, None], dtype="Int8"),
    pd.array([1.5, None], dtype="Float32"),
    pd.array([True, None], dtype="boolean"),
    pd.array(["a", None], dtype="string[python]"),
    pd.array(["a", None], dtype="str"),
    pd.array([0, 1], dtype="Sparse[int64, 0]"),
    pd.array([np.nan, 1], dtype="Sparse[float64, nan]"),
    pd.date_range("2020", periods=2, tz="Asia/Kathmandu").array,
]


ARROW = ["int64", "string", "timestamp[us]", "timestamp[s, tz=UTC]"]


@pytest.mark.parametrize("values", [*COLUMNS, *ARROW], ids=lambda v: str(getattr(v, "dtype", v)))
def test_types_come_back(values, tmp_path):
    if isinstance(values, str):
        pytest.importorskip("pyarrow")
        first = 0 if "int" in values else "2020-01-01"
        values = pd.array([first, None], dtype=f"{values}[pyarrow]")
    archive.save([values], tmp_path / "a")
    (back,) = archive.load(tmp_path / "a", tuple)
    assert back.dtype == values.dtype
    assert pd.Series(back).equals(pd.Series(values))


def of_lists():
    return pd.ArrowDtype(
        pytest.importorskip("pyarrow").list_(pytest.importorskip("pyarrow").int64())
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.array([[1], [2]], dtype=of_lists()),
        lambda: pd.period_range("2020", periods=2, freq="Q-NOV").array,
        lambda: pd.interval_range(0, 3).array,
        lambda: pd.interval_range(pd.Timestamp("2020-01-01", tz="Europe/Rome"), periods=2),
        lambda: pd.cut(pd.Series([1.0, 2.0]), 2),
    ],
)
def test_what_no_file_could_give_back_is_refused_before_saving(make, tmp_path):
    with pytest.raises(OptionError, match=r"columns of type '.*': make them numbers or texts"):
        archive.save([make()], tmp_path / "a")


FORMS = {
    "references": {"array": "a"},
    "columns": {"Series": [{"array": "a"}, None, {"RangeIndex": [0, 1, 1, None]}]},
    "indexes": {"Index": [{"array": "a"}, 0]},
    "frames": {"DataFrame": [[{"array": "a"}], *[{"Index": [{"array": "a"}, 0]}] * 2]},
    "categories": {"Categorical": [{"array": "c"}, {"Index": [{"array": "a"}, 0]}, False]},
    "moments": {"Timestamp": [{"array": "t"}, "Europe/Rome"]},
    "objects": {"class": "KeyText", "text": ""},
    "types": {"column": ["Int8", {"objects": [[0], []]}]},
}  # fmt: skip
SECONDS = 6.0  # of the processor, per MB; references took 10 when each one read its member


@pytest.mark.parametrize("form", FORMS)
def test_members_are_read_once_and_soon(form, tmp_path, monkeypatch):
    count = 200_000 // (len(json.dumps(FORMS[form])) + 1)
    path, reads = tmp_path / "bomb.pyinterp", []
    size = write(
        path,
        [FORMS[form]] * count,
        a=array(1.0),
        c=array(0, dtype=np.int8),
        t=array("2020", dtype="M8[s]").replace(b"(1,)", b"()  "),
    )
    read = zipfile.ZipFile.read
    monkeypatch.setattr(
        zipfile.ZipFile, "read", lambda z, name: reads.append(name) or read(z, name)
    )
    start = time.process_time()
    assert len(archive.load(path, tuple)) == count
    assert len(reads) == len(set(reads)) <= 4
    assert time.process_time() - start < SECONDS * size / 1e6


def test_what_is_shared_can_not_be_changed(tmp_path):
    values = np.arange(3.0)
    archive.save([values, values.copy()], tmp_path / "a")
    one, other = archive.load(tmp_path / "a", tuple)
    assert one is other
    with pytest.raises(ValueError, match="read-only"):
        one[0] = 9.0


def test_the_list_has_no_free_text():
    for text in ("Int64; import os", "x[ns, tz=a[pyarrow]", "string[a/b]", "Sparse[int64, a.b]"):
        assert codecs.TYPES.fullmatch(text) is None
