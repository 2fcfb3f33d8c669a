"""Tables by content: what is put comes back exactly, and is stored once."""

import datetime
import io
import multiprocessing
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmae_core.errors import DamagedFileError, StorageError
from pmae_core.storage.frames import content_digest, from_arrow, to_arrow
from pmae_core.storage.tables import StorableTable, TableStore
from pmae_core.table import load_dataset
from tests.support.damage import damaged_copies, with_flipped_bit


@pytest.fixture
def tables(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    return TableStore(folder)


@pytest.fixture
def others(tmp_path):
    folder = tmp_path / "others"
    folder.mkdir()
    return TableStore(folder)


def assert_same(one, other):
    """Compare content and every dtype, also those within categories and indexes."""
    pd.testing.assert_frame_equal(one, other, check_exact=True, check_column_type="exact")
    assert [str(dtype) for dtype in one.dtypes] == [str(dtype) for dtype in other.dtypes]
    assert one.columns.dtype == other.columns.dtype
    assert one.index.equals(other.index) and type(one.index) is type(other.index)
    for position, dtype in enumerate(one.dtypes):
        if dtype == np.dtype(object):
            pairs = zip(one.iloc[:, position], other.iloc[:, position], strict=True)
            assert all(type(a) is type(b) and repr(a) == repr(b) for a, b in pairs)


def of(values, dtype):
    return pd.Series(values, dtype=dtype)


COLUMNS = {
    "int8": of([1, -2, 3], "int8"),
    "uint64": of([1, 2**64 - 1, 0], "uint64"),
    "float16": of([0.1, np.nan, np.inf], "float16"),
    "float32": of([0.1, np.nan, -0.0], "float32"),
    "float64": of([0.1, 5e-324, -np.inf], "float64"),
    "bool": of([True, False, True], "bool"),
    "Int64": of([1, None, 2**63 - 1], "Int64"),
    "UInt8": of([1, None, 255], "UInt8"),
    "boolean": of([True, None, False], "boolean"),
    "Float64": pd.Series(
        pd.arrays.FloatingArray(np.array([1.5, np.nan, 0.0]), np.array([False, False, True]))
    ),
    "str": of(["a", None, "ü\0\n"], "str"),
    "string, python": of(["a", None, ""], pd.StringDtype("python")),
    "string, pyarrow": of(["a", None, ""], pd.StringDtype("pyarrow")),
    "string, python, nan": of(["a", None, ""], pd.StringDtype("python", na_value=np.nan)),
    "dates": of(["2024-02-29", None, "1600-01-01"], "datetime64[s]"),
    "dates, ns": of([1, None, -1], "datetime64[ns]"),
    "zoned": of([0, None, 10**18], "datetime64[ns, Europe/Berlin]"),
    "zoned, utc": of([0, None, 10**9], "datetime64[us, UTC]"),
    "zoned, fixed": pd.Series(
        pd.to_datetime(["2024-02-29 12:00:00+02:00", None, "2024-02-29 12:00:00+02:00"])
    ),
    "durations": of([1, None, -5], "timedelta64[ms]"),
    "periods": of([pd.Period("2024-02"), None, pd.Period("1999-12")], "period[M]"),
    "intervals": pd.Series(pd.arrays.IntervalArray.from_tuples([(0, 1), None, (1, 2.5)])),
    "categories": of(pd.Categorical(["b", None, "a"], categories=["b", "x", "a"]), None),
    "ordered": of(pd.Categorical([3, 1, None], categories=[3, 2, 1], ordered=True), None),
    "date categories": of(
        pd.Categorical(pd.to_datetime(["2024-02-29", None, "2024-01-01"]).tz_localize("UTC")), None
    ),
    "binned": pd.Series(pd.cut([0.5, np.nan, 2.0], [0, 1, 3])),
    "no category": of(pd.Categorical([None, None, None], categories=[]), None),
    "mixed": of([1, "1", 1.0], object),
    "odd": of([True, None, b"\0\xff"], object),
    "gaps": of([pd.NA, pd.NaT, np.nan], object),
    "numpy cells": of([np.int8(3), np.float32("nan"), np.datetime64(5, "ns")], object),
    "large": of([10**40, Decimal("1.10"), (1, ("a", None))], object),
    "days": of(
        [datetime.date(2024, 2, 29), datetime.time(1, 2, 3, 4), datetime.timedelta(3)], object
    ),
    "moments": of(
        [pd.Timestamp(1, tz="Europe/Berlin"), datetime.datetime(2024, 2, 29), pd.Timedelta(1)],
        object,
    ),
    "texts as objects": of(["a", None, "\ud800"], object),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_comes_back(tables, name):
    frame = pd.DataFrame({name: COLUMNS[name]})
    assert_same(tables.get(tables.put(frame)), frame)


@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_can_be_an_index_and_have_no_rows(tables, name):
    if name != "float16":  # pandas has no such index
        frame = pd.DataFrame({"a": [1, 2, 3]}, index=pd.Index(COLUMNS[name], name=name))
        assert_same(tables.get(tables.put(frame)), frame)
    empty = pd.DataFrame({name: COLUMNS[name]}).iloc[:0]
    assert_same(tables.get(tables.put(empty)), empty)


INDEXES = {
    "range": pd.RangeIndex(5, -1, -2, name="r"),
    "whole": pd.Index([3, 1, 2]),
    "repeated": pd.Index(["a", "a", None], name=("tuple", 1)),
    "days": pd.date_range("2024-01-31", periods=3, freq="ME", name="day"),
    "zoned days": pd.date_range("2024-03-30", periods=3, freq="D", tz="Europe/Berlin"),
    "steps": pd.timedelta_range("1h", periods=3, freq="h"),
    "months": pd.period_range("2024-01", periods=3, freq="M"),
    "categories": pd.CategoricalIndex(["b", "a", "b"], categories=["b", "a", "z"]),
    "levels": pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["x", None]),
}


@pytest.mark.parametrize("name", INDEXES)
def test_every_index_comes_back_on_both_sides(tables, name):
    rows = pd.DataFrame({"a": [1.5, None, 2.5]}, index=INDEXES[name])
    assert_same(tables.get(tables.put(rows)), rows)
    columns = rows.T
    assert_same(tables.get(tables.put(columns)), columns)


@pytest.mark.parametrize(
    "columns", [[1, 2.5, None], ["a", "a", "b"], [np.nan, "x", True], pd.RangeIndex(3)], ids=str
)
def test_any_column_names_come_back(tables, columns):
    frame = pd.DataFrame([[1, "x", None]], columns=columns)
    assert_same(tables.get(tables.put(frame)), frame)


def test_a_table_without_columns_comes_back(tables):
    frame = pd.DataFrame(index=pd.RangeIndex(4))
    assert_same(tables.get(tables.put(frame)), frame)


@pytest.mark.parametrize("name", ["clinic", "penguins"])
def test_the_samples_come_back(tables, name):
    frame = load_dataset(name).frame
    assert_same(tables.get(tables.put(frame)), frame)


def test_a_table_that_was_read_can_be_changed(tables):
    frame = tables.get(tables.put(pd.DataFrame({"a": [1.0, np.nan], "b": [1, 2]})))
    frame.loc[1, "a"] = 3.0
    frame.loc[0, "b"] = 7
    assert frame["a"].tolist() == [1.0, 3.0]


class Text(str):
    """Not just a text."""


@pytest.mark.parametrize(
    "column",
    [
        of([[1], [2]], object),
        of([{"a": 1}, None], object),
        of([Text("a"), Text("b")], object),
        of([object(), None], object),
        of([1 + 2j, 0], complex),
        of(["a", "\ud800"], pd.StringDtype("python")),
        of([1, 2], ">i4"),
        of([1.0, 2.0], np.longdouble),
        pd.Series(pd.arrays.SparseArray([0, 1])),
        of([1, 2], "int64[pyarrow]"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_what_cannot_be_stored_exactly_is_refused(tables, column):
    with pytest.raises(StorageError, match=r"The column 'odd one' .* stored exactly: .*Convert"):
        tables.put(pd.DataFrame({"fine": [1, 2], "odd one": column}))
    assert list(tables.path("0" * 64).parent.iterdir()) == []


# Hypothesis: any frame of these columns, indexes and names.

small = st.integers(-(2**31), 2**31 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
moments = st.integers(-(2**62), 2**62)


def series_of(cells, dtype):
    return st.lists(cells, min_size=4, max_size=4).map(
        lambda values: pd.Series(values, dtype=dtype)
    )


def maybe(cells):
    return st.none() | cells


columns_of_any_type = st.one_of(
    series_of(small, "int32"),
    series_of(st.integers(0, 2**64 - 1), "uint64"),
    series_of(st.floats(), "float64"),
    series_of(st.floats(width=32), "float32"),
    series_of(st.booleans(), "bool"),
    series_of(maybe(small), "Int64"),
    series_of(maybe(st.booleans()), "boolean"),
    series_of(maybe(texts), "str"),
    series_of(maybe(texts), "string[python]"),
    series_of(maybe(moments), "datetime64[ns]"),
    series_of(maybe(moments), "datetime64[ns, America/New_York]"),
    series_of(maybe(moments), "timedelta64[us]"),
    series_of(maybe(texts), "category"),
    series_of(maybe(small), "category"),
    series_of(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(), object
    ),
)
names = st.one_of(st.text(max_size=4), small, st.none(), st.booleans(), st.floats())


@st.composite
def frames(draw):
    columns = draw(st.lists(columns_of_any_type, max_size=4))
    labels = draw(st.lists(names, min_size=len(columns), max_size=len(columns)))
    frame = pd.DataFrame(dict(enumerate(columns)), index=range(4))
    frame.columns = pd.Index(labels, dtype=object)
    if draw(st.booleans()):
        frame.index = pd.Index(draw(columns_of_any_type))
    return frame


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(frame=frames())
def test_any_frame_comes_back_with_its_digest(frame):
    table = to_arrow(frame)
    file = io.BytesIO()
    pq.write_table(table, file)
    read = pq.ParquetFile(file).read()
    back = from_arrow(read)
    assert_same(back, frame)
    digest = content_digest(table)
    assert content_digest(read) == digest
    assert content_digest(to_arrow(back)) == digest


# Digests


def base():
    return pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None], "c": pd.Categorical(["u", "v"])})


CHANGES = {
    "value": lambda df: df.assign(a=[1.5, np.nan]),
    "missing cell": lambda df: df.assign(a=[1.0, 2.0]),
    "zero's sign": lambda df: df.assign(a=[1.0, -0.0]),
    "dtype": lambda df: df.astype({"a": "float32"}),
    "text": lambda df: df.assign(b=["x", ""]),
    "object text": lambda df: df.astype({"b": object}),
    "name": lambda df: df.rename(columns={"a": "A"}),
    "name's type": lambda df: df.set_axis([0, "b", "c"], axis=1),
    "order of columns": lambda df: df[["b", "a", "c"]],
    "order of rows": lambda df: df.iloc[::-1],
    "index": lambda df: df.set_axis([5, 6]),
    "index name": lambda df: df.rename_axis("i"),
    "order of categories": lambda df: df.assign(c=df["c"].cat.reorder_categories(["v", "u"])),
    "more categories": lambda df: df.assign(c=df["c"].cat.add_categories("w")),
    "ordered": lambda df: df.assign(c=df["c"].cat.as_ordered()),
    "fewer rows": lambda df: df.iloc[:1],
}


def test_every_change_changes_the_digest(tables):
    digests = {name: tables.put(change(base())) for name, change in CHANGES.items()}
    digests["none"] = tables.put(base())
    assert len(set(digests.values())) == len(digests)


def test_cells_cannot_be_shifted_between_texts(tables):
    assert tables.put(pd.DataFrame({"a": ["ab", "c"]})) != tables.put(
        pd.DataFrame({"a": ["a", "bc"]})
    )


def test_the_same_content_has_the_same_digest_however_it_lies_in_memory(tables):
    frame = base()
    parts = pd.concat([frame.iloc[:1], frame.iloc[1:]])
    longer = pd.concat([frame, frame], ignore_index=True).iloc[:2]
    strided = pd.DataFrame(
        {"a": np.array([1.0, 9.0, np.nan])[::2], "b": frame["b"], "c": frame["c"]}
    )
    other_nan = frame.assign(a=[1.0, -np.float64("nan")])
    digests = {
        tables.put(same) for same in (frame, frame.copy(), parts, longer, strided, other_nan)
    }
    assert len(digests) == 1
    nullable = pd.arrays.IntegerArray(np.array([1, 77]), np.array([False, True]))
    assert tables.put(pd.DataFrame({"a": nullable})) == tables.put(
        pd.DataFrame({"a": pd.array([1, None], "Int64")})
    )


def test_other_processes_find_the_same_digest(tables):
    code = (
        "import pandas as pd; from pmae_core.storage.frames import *\n"
        "frame = pd.DataFrame({'a': [1, None], 'b': ['x', 1], 'c': pd.Categorical(['u', 'v'])})\n"
        "print(content_digest(to_arrow(frame)))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, capture_output=True, check=True)
    frame = pd.DataFrame({"a": [1, None], "b": ["x", 1], "c": pd.Categorical(["u", "v"])})
    assert run.stdout.decode().strip() == tables.put(frame)


# Files


def test_the_same_table_is_stored_once(tables):
    digest = tables.put(base())
    before = tables.path(digest).stat()
    assert tables.put(base()) == digest
    assert tables.path(digest).stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in tables.path(digest).parent.iterdir()] == [f"{digest}.parquet"]


def test_what_is_not_there_is_a_sentence(tables):
    assert not tables.exists("0" * 64)
    with pytest.raises(StorageError, match="not stored here"):
        tables.get("0" * 64)
    for attempt in ("../../etc/passwd", "0" * 63, "0" * 64 + ".parquet"):
        with pytest.raises(StorageError, match="not the digest"):
            tables.get(attempt)


BAD_DIGESTS = [
    *("", ".", "..", "../" + "0" * 64, "/etc/passwd", "A" * 64, "0" * 63, "0" * 65),
    *("0" * 64 + "\n", "0" * 64 + "/..", "0" * 63 + "\0", "\u0660" * 64, None, 7),
]


@pytest.mark.parametrize("digest", BAD_DIGESTS)
def test_a_malformed_digest_is_refused(tables, digest):
    with pytest.raises(StorageError, match="not the digest"):
        tables.path(digest)


def test_links_out_of_the_folder_are_refused(tables, tmp_path):
    (tables.folder / f"{'0' * 64}.parquet").symlink_to(tmp_path / "outside.parquet")
    with pytest.raises(StorageError, match="leads elsewhere"):
        tables.get("0" * 64)


def test_a_linked_folder_is_refused_but_may_lie_behind_a_link(tables, tmp_path):
    digest = tables.put(base())
    (tmp_path / "above").mkdir()
    (tmp_path / "above" / "tables").symlink_to(tables.folder)
    with pytest.raises(StorageError, match="leads elsewhere"):
        TableStore(tmp_path / "above" / "tables").get(digest)
    (tmp_path / "link").symlink_to(tmp_path)
    assert_same(TableStore(tmp_path / "link" / "tables").get(digest), base())


def test_an_encoded_table_is_put_and_copied_without_encoding_it_again(tables, others, monkeypatch):
    storable = StorableTable.from_frame(base())
    monkeypatch.setattr("pmae_core.storage.tables.to_arrow", None)
    with monkeypatch.context() as patch:
        patch.setattr("pmae_core.storage.tables.content_digest", None)
        assert tables.put(storable) == storable.digest
    others.copy_from(tables, storable.digest)
    with monkeypatch.context() as patch:
        patch.setattr("pmae_core.storage.tables.content_digest", None)
        others.copy_from(tables, storable.digest)  # it is there already
    assert_same(others.get(storable.digest), base())
    assert len(list(others.folder.iterdir())) == 1
    with pytest.raises(StorageError, match="not stored here"):
        others.copy_from(tables, "0" * 64)


@pytest.mark.parametrize("damage", ["cut", "other bytes", "another table", "plain parquet"])
def test_a_damaged_file_is_noticed(tables, tmp_path, damage):
    digest = tables.put(base())
    path = tables.path(digest)
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "other bytes":
        path.write_bytes(b"PAR1" + bytes(200) + b"PAR1")
    elif damage == "another table":
        path.write_bytes(tables.path(tables.put(pd.DataFrame({"a": [1]}))).read_bytes())
    else:
        base().to_parquet(path)
    said = f"The stored table {digest[:12]} is damaged. Submit the table again to repair it."
    with pytest.raises(DamagedFileError, match=said):
        tables.get(digest)
    tables.put(base())
    assert_same(tables.get(digest), base())


def test_no_flipped_bit_and_no_cut_changes_what_is_read(tables):
    digest = tables.put(base())
    path = tables.path(digest)
    content = path.read_bytes()
    n_noticed = 0
    for damaged in damaged_copies(content, every=11):
        path.write_bytes(damaged)
        try:
            assert_same(tables.get(digest), base())
        except DamagedFileError:
            n_noticed += 1
    assert n_noticed > len(content) // 11  # all that are cut, and many of those that are flipped


def test_a_damaged_copy_is_replaced_by_the_original(tables, others):
    digest = tables.put(base())
    others.copy_from(tables, digest)
    damage(others.path(digest))
    others.copy_from(tables, digest)
    assert_same(others.get(digest), base())


def test_a_damaged_original_is_not_copied(tables, others):
    digest = tables.put(base())
    damage(tables.path(digest))
    with pytest.raises(DamagedFileError):
        others.copy_from(tables, digest)
    assert list(others.folder.iterdir()) == []


def test_an_intact_copy_outlives_its_original(tables, others):
    digest = tables.put(base())
    others.copy_from(tables, digest)
    damage(tables.path(digest))
    others.copy_from(tables, digest)
    assert_same(others.get(digest), base())
    tables.path(digest).unlink()
    others.copy_from(tables, digest)
    damage(others.path(digest))
    with pytest.raises(StorageError, match="not stored here"):
        others.copy_from(tables, digest)


def damage(path):
    content = path.read_bytes()
    path.write_bytes(with_flipped_bit(content, content.index(b"PAR1", 4) // 3))


def test_a_table_of_a_newer_release_is_refused(tables, monkeypatch):
    monkeypatch.setattr("pmae_core.storage.frames.FORMAT", 2)
    digest = tables.put(base())
    monkeypatch.setattr("pmae_core.storage.frames.FORMAT", 1)
    with pytest.raises(StorageError, match="newer release"):
        tables.get(digest)


def test_a_damaged_version_is_repaired(tables, others):
    digest = tables.put(base())
    path = tables.path(digest)
    path.write_bytes(path.read_bytes().replace(b'"format":1', b'"format":3'))
    with pytest.raises(StorageError, match="newer release"):
        tables.get(digest)
    with pytest.raises(DamagedFileError):
        others.copy_from(tables, digest)
    tables.put(base())
    assert_same(tables.get(digest), base())


def test_a_failed_write_leaves_nothing(tables, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(StorageError, match="disk full"):
        tables.put(base())
    assert list(tables.path("0" * 64).parent.iterdir()) == []


def _put_many(home):
    tables = TableStore(home / "tables")
    for number in range(20):
        tables.put(pd.DataFrame({"a": [number, number + 1]}))


def test_many_processes_may_put_the_same_tables(tables, tmp_path):
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=_put_many, args=(tmp_path,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    files = list((tmp_path / "tables").iterdir())
    assert len(files) == 20
    for path in files:
        tables.get(path.stem)
