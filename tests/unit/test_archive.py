"""Values of all kinds come back from a file as they were: types, bits, orders of memory.

Numbers and texts of numpy come back as those of Python, where these are the same.
"""

import datetime
import math
import os
import struct
import subprocess
import sys
from functools import partial
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from pyinterp.distributions.families import Gamma, Poisson
from pyinterp.errors import FileError, OptionError
from pyinterp.storage import AbsentFunction, archive

ZONES = ["UTC", "Europe/Vienna", "America/St_Johns", "Asia/Kathmandu"]
EXAMPLES = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
# Characters of their own kind: no surrogates, which no text of UTF-8 has.
texts = st.text(st.characters(codec="utf-8"), max_size=8)
numbers = st.floats(width=64)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**40), 10**40),
    numbers,
    st.sampled_from([-0.0, math.inf, -math.inf, math.nan, 5e-324]),
    texts,
    st.binary(max_size=8),
    st.dates(),
    st.datetimes(),
    st.sampled_from([pd.NA, pd.NaT, np.float32(0.1), np.datetime64("2024-01-01")]),
    st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)).map(pd.Timestamp),
    st.builds(
        lambda moment, zone: pd.Timestamp(moment, tz="UTC").tz_convert(zone),
        st.datetimes(datetime.datetime(1700, 1, 2), datetime.datetime(2200, 1, 1)),
        st.sampled_from(ZONES),
    ),
    st.timedeltas(datetime.timedelta(-9000), datetime.timedelta(9000)).map(pd.Timedelta),
)
keys = st.one_of(st.none(), st.booleans(), st.integers(), texts, st.tuples(texts, st.integers()))
plain = st.one_of(scalars, keys)
arrays = npst.arrays(
    st.one_of(
        npst.boolean_dtypes(),
        npst.integer_dtypes(endianness="?"),
        npst.unsigned_integer_dtypes(endianness="?"),
        npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
        npst.complex_number_dtypes(endianness="?", sizes=(64, 128)),
        npst.datetime64_dtypes(max_period="D", min_period="ns"),
        npst.timedelta64_dtypes(max_period="D", min_period="ns"),
        npst.byte_string_dtypes(max_len=5),
        npst.unicode_string_dtypes(max_len=5),
    ),
    npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
memory = st.sampled_from(
    [
        lambda a: a,
        np.asfortranarray,
        lambda a: a.T,
        lambda a: a[::2] if a.ndim else a,
        lambda a: a[..., ::-1] if a.ndim else a,
        lambda a: a.swapaxes(0, -1) if a.ndim else a,
    ]
)
ordered_arrays = st.builds(lambda order, array: order(array), memory, arrays)
objects = st.builds(
    lambda parts, wide: np.array([*parts, None], object)[:-1].reshape(
        (len(parts), 1) if wide else (len(parts),)
    ),
    st.lists(scalars, max_size=4),
    st.booleans(),
)
values = st.recursive(
    st.one_of(plain, ordered_arrays, objects),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)
several = st.one_of(
    values, st.dictionaries(keys, values, max_size=3), st.frozensets(keys, max_size=3)
)


def again(value, folder, kind=object):
    archive.save(value, folder / "value.pyinterp")
    return archive.load(folder / "value.pyinterp", kind)


def form(value):  # noqa: PLR0911 - one per type
    """Return what two values share only if they are the same: types, bits and orders of memory."""
    kind = type(value)
    if isinstance(value, float):
        return kind, struct.pack("d", value)
    if isinstance(value, np.ndarray):
        value = value.copy(order="K")
        body = [*map(form, value.ravel())] if value.dtype.kind == "O" else value.tobytes()
        flags = value.flags.c_contiguous, value.flags.f_contiguous
        return kind, value.dtype.str, value.shape, body, flags if value.dtype.kind != "O" else None
    if isinstance(value, np.generic):
        return kind, value.dtype.str, value.tobytes()
    if isinstance(value, dict):
        return kind, [(form(key), form(part)) for key, part in value.items()]
    if isinstance(value, set | frozenset):
        return kind, sorted(repr(form(part)) for part in value)
    if isinstance(value, list | tuple):
        return kind, [form(part) for part in value]
    if isinstance(value, pd.Timestamp):
        return kind, value.asm8.tobytes(), str(value.tz), value.unit
    return kind, repr(value)


@EXAMPLES
@given(value=several)
def test_a_value_comes_back(value, tmp_path):
    assert form(again(value, tmp_path)) == form(value)


def test_a_class_is_read_of_its_family_alone(tmp_path):
    assert again(Gamma(), tmp_path, Gamma) == Gamma()
    with pytest.raises(FileError, match="can't be read: it is no file that `save` wrote"):
        again(Gamma(), tmp_path, Poisson)


@EXAMPLES
@given(array=ordered_arrays)
def test_an_array_keeps_its_order_of_memory(array, tmp_path):
    """Sums depend on it: they must have the same bits."""
    loaded = again([array, array], tmp_path)
    assert form(loaded[0]) == form(array)
    assert not loaded[0].flags.writeable  # equal ones are one
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            assert form(loaded[0].sum()) == form(array.copy(order="K").sum())
            if array.size and array.ndim:
                assert form(loaded[0].mean(axis=0)) == form(array.copy(order="K").mean(axis=0))


rows = st.integers(0, 5)


def column(n):
    def of(part):
        return st.lists(part, min_size=n, max_size=n)

    moment = st.one_of(
        st.just(pd.NaT), st.datetimes(datetime.datetime(1700, 1, 2), datetime.datetime(2200, 1, 1))
    )
    words = st.one_of(st.none(), texts)
    of_numpy = {
        "int64": st.integers(-(2**63), 2**63 - 1), "float32": st.floats(width=32),
        "bool": st.booleans(),
    }  # fmt: skip
    of_pandas = {
        "float64": numbers, "Float64": st.one_of(st.none(), numbers),
        "boolean": st.one_of(st.none(), st.booleans()),
        **dict.fromkeys(["Int64", "Int8"], st.one_of(st.none(), st.integers(-100, 100))),
        **dict.fromkeys(["string", "string[python]", "str"], words),
    }  # fmt: skip
    return st.one_of(
        *(of(part).map(partial(np.array, dtype=kind)) for kind, part in of_numpy.items()),
        *(of(part).map(partial(pd.array, dtype=kind)) for kind, part in of_pandas.items()),
        of(scalars).map(objects_of),
        of(texts).map(objects_of),
        of(words).map(pd.Categorical),
        of(st.one_of(st.none(), st.integers(0, 3))).map(
            partial(pd.Categorical, categories=[3, 1, 0, 2], ordered=True)
        ),
        of(moment).map(lambda v: pd.array(pd.DatetimeIndex(v))),
        st.builds(
            lambda v, zone: pd.DatetimeIndex(v).tz_localize("UTC").tz_convert(zone).array,
            of(moment),
            st.sampled_from(ZONES),
        ),
        of(st.timedeltas(datetime.timedelta(-9), datetime.timedelta(9))).map(
            lambda v: pd.array(pd.TimedeltaIndex(v))
        ),
    )


def objects_of(parts):
    array = np.empty(len(parts), object)
    array[:] = parts
    return array


def index(n):
    name = st.one_of(st.none(), texts, st.integers())
    several = st.builds(
        lambda levels, names: pd.MultiIndex.from_arrays(levels, names=names[: len(levels)]),
        st.lists(column(n), min_size=1, max_size=3),
        st.lists(name, min_size=3, max_size=3),
    )
    return st.one_of(
        st.builds(lambda s, k, name: pd.RangeIndex(s, s + k * n, k, name=name),
                  st.integers(-5, 5), st.integers(1, 3), name),
        st.builds(lambda values, name: pd.Index(values, name=name), column(n), name),
        several,
    )  # fmt: skip


def frame(n):
    names = st.lists(keys, max_size=4)  # repeated ones too
    return st.builds(
        lambda columns, names, index: pd.DataFrame(
            {k: pd.Series(c, index, c.dtype) for k, c in enumerate(columns[: len(names)])}, index
        ).set_axis(pd.Index(names, dtype=object, tupleize_cols=False), axis=1),
        st.lists(column(n), min_size=4, max_size=4),
        names,
        index(n),
    )


@EXAMPLES
@given(frame=rows.flatmap(frame))
def test_a_frame_comes_back(frame, tmp_path):
    check_frames(again(frame, tmp_path), frame)


@EXAMPLES
@given(index=rows.flatmap(index))
def test_an_index_comes_back(index, tmp_path):
    pd.testing.assert_index_equal(again(index, tmp_path), index, exact=True)


def check_frames(loaded, frame):
    pd.testing.assert_frame_equal(
        loaded, frame, check_exact=True, check_column_type=True, check_index_type=True,
        check_freq=False,
    )  # fmt: skip
    for place in range(frame.shape[1]):
        one, other = loaded.iloc[:, place], frame.iloc[:, place]
        if one.dtype.kind == "f" and isinstance(one.dtype, np.dtype):
            assert one.to_numpy().tobytes() == other.to_numpy().tobytes()


def test_a_moment_of_a_clock_set_back_keeps_its_hour(tmp_path):
    """In Vienna 02:30 is there twice on 2024-10-27."""
    hours = pd.date_range("2024-10-27", periods=4, freq="30min", tz="UTC").tz_convert(ZONES[1])
    hours = hours + pd.Timedelta("30min")
    pd.testing.assert_index_equal(again(hours, tmp_path), hours._with_freq(None))
    assert [again(hour, tmp_path) for hour in hours] == list(hours)
    moment = datetime.datetime(2024, 10, 27, 2, 30, tzinfo=datetime.UTC)
    assert again(moment, tmp_path) == moment


@pytest.mark.parametrize(
    "value",
    [object(), 1j, range(3), pd.Period("2024"), datetime.time(1), type, int, slice(3)],
    ids=lambda value: type(value).__name__,
)
def test_what_files_cannot_hold_is_refused(value, tmp_path):
    with pytest.raises(OptionError, match="Files can't hold"):
        archive.save(value, tmp_path / "value.pyinterp")
    assert not list(tmp_path.iterdir())


def test_a_zone_that_iso_text_does_not_name_is_kept(tmp_path):
    moment = datetime.datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Vienna"))
    loaded = again(moment, tmp_path)
    assert loaded == moment
    assert loaded.utcoffset() == moment.utcoffset()


@pytest.mark.parametrize(
    "zone", [datetime.timezone(datetime.timedelta(hours=1), name) for name in ("CET", "my clock")]
)
def test_a_fixed_offset_keeps_its_hours_whatever_it_is_called(zone, tmp_path):
    """The CET of files has summer time."""
    moments = pd.DatetimeIndex(["2024-01-01", "2024-07-01"], tz=zone)
    for moment in (moments, moments[1]):
        assert str(again(moment, tmp_path)) == str(moment).replace(str(zone), "UTC+01:00")


@pytest.mark.parametrize(
    "zone", ["dateutil/Europe/Vienna", datetime.timezone(datetime.timedelta(seconds=3615))]
)
def test_a_zone_without_a_name_is_refused_before_saving(zone, tmp_path):
    if isinstance(zone, str) and pd.__version__ < "3":
        pytest.skip("pandas 2 can't read zones of dateutil 4")
    moments = pd.date_range("2024-07-01", periods=2, tz=zone)
    for value in (moments, moments[0]):
        with pytest.raises(OptionError, match="can't hold the time zone"):
            archive.save(value, tmp_path / "value.pyinterp")


def test_a_function_is_a_name(tmp_path):
    loaded = again({"f": np.sum, "g": partial(math.hypot, 3)}, tmp_path)
    assert loaded == {"f": AbsentFunction("sum"), "g": AbsentFunction("hypot")}
    with pytest.raises(FileError, match="`sum` is not in it"):
        loaded["f"]([1])


@EXAMPLES
@given(value=values)
def test_what_comes_back_makes_the_same_file(value, tmp_path):
    one, other = tmp_path / "one.pyinterp", tmp_path / "other.pyinterp"
    archive.save(value, one)
    archive.save(archive.load(one, object), other)
    assert one.read_bytes() == other.read_bytes()


def test_dicts_with_keys_like_tags_come_back(tmp_path):
    value = {"array": {"class": "os.system"}, "class": {"float": "nan"}}
    assert again(value, tmp_path) == value


def test_equal_arrays_are_kept_once(tmp_path):
    many = [np.arange(10_000.0) for _ in range(20)]
    archive.save(many, tmp_path / "a.pyinterp")
    assert (tmp_path / "a.pyinterp").stat().st_size < 90_000


SESSION = """
import sys
from pyinterp.storage import archive, text_of
value = {"words": set("abcdefgh"), "of": (frozenset([("x", 1), ("y", 2), None]), {"p", 1, 2.5})}
archive.save(value, sys.argv[1])
print(text_of(value))
"""


def test_sessions_agree_on_texts_and_files(tmp_path):
    """Whatever order their sets have."""
    texts, files = set(), set()
    for seed in "012":
        path = tmp_path / f"{seed}.pyinterp"
        run = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", SESSION, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        texts.add(run.stdout)
        files.add(path.read_bytes())
    assert len(texts) == len(files) == 1
