"""Parquet and Feather files."""

import datetime
import decimal
import functools
import io
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from tests.support.corpus.files import CorpusFile, people


def columnar_files() -> Iterator[CorpusFile]:
    """Yield all files of this kind."""
    for format_, write in (("parquet", _parquet), ("feather", _feather)):
        for file in (*_of_frames(write), *_of_arrow(write), *_refused(write)):
            yield CorpusFile(
                f"{format_.title()}: {file.title}",
                f"t.{format_}",
                file.content,
                file.expected,
                file.remarks,
                refusal=file.refusal,
            )
    yield from _compressed()
    yield from _damaged()


Write = Callable[[pa.Table], bytes]


def _parquet(table: pa.Table, **options) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def _feather(table: pa.Table, compression: str = "uncompressed") -> bytes:
    buffer = io.BytesIO()
    pyarrow.feather.write_feather(table, buffer, compression=compression)
    return buffer.getvalue()


def _of_frames(write: Write) -> Iterator[CorpusFile]:
    def file(title: str, frame: pd.DataFrame, expected: pd.DataFrame, *remarks: str) -> CorpusFile:
        make = functools.partial(write, pa.Table.from_pandas(frame))
        return CorpusFile(title, "", make, expected, remarks)

    frame = people()
    yield file("all types", frame, frame)
    named = frame.set_index("id")
    yield file("an index with a name", named, named.reset_index(), "The index")
    unnamed = frame.set_index(pd.Index([f"r{row}" for row in range(len(frame))]))
    yield file("an index without a name", unnamed, unnamed.reset_index(), "The index")
    several = frame.dropna().set_index(["city", "born"])
    yield file("several indexes", several, several.reset_index(), "The index")
    sliced = frame.iloc[3:]
    yield file("row numbers that do not begin at 0", sliced, sliced.reset_index(), "The index")
    filtered = frame[frame["id"] > 4]
    yield file("row numbers with gaps", filtered, filtered.reset_index(), "The index")
    categories = pd.DataFrame({"c": pd.Categorical(["x", None, "y"], ["y", "x", "z"]), "n": 1})
    yield file("categories", categories, categories)
    nullable = pd.DataFrame(
        {
            "small": pd.array([1, None, 3], "Int8"),
            "unsigned": pd.array([2**63, None, 3], "UInt64"),
            "float": pd.array([0.5, None, 3], "Float32"),
            "bool": pd.array([True, None, False], "boolean"),
            "text": pd.array(["NA", None, ""], "string"),
        }
    )
    yield file("nullable types", nullable, nullable)
    zoned = pd.DataFrame(
        {"t": pd.to_datetime(["2024-01-01", None]).tz_localize("Europe/Kyiv"), "n": [1, 2]}
    )
    yield file("time zones", zoned, zoned)
    durations = pd.DataFrame({"d": pd.to_timedelta([1, None], unit="s"), "n": [1, 2]})
    yield file("durations", durations, durations)
    numbered = pd.DataFrame([[1.5, "x"]], columns=[2019, 2020])
    yield file("numbers as names", numbered, numbered.rename(columns=str))


def _of_arrow(write: Write) -> Iterator[CorpusFile]:
    def file(title: str, arrays: dict, expected: dict, *remarks: str) -> CorpusFile:
        make = functools.partial(write, pa.table(arrays))
        return CorpusFile(title, "", make, pd.DataFrame(expected), remarks)

    yield file(
        "integers with missing ones",
        {"a": pa.array([2**60 + 1, None]), "b": pa.array([1, None], pa.uint8())},
        {"a": pd.array([2**60 + 1, None], "Int64"), "b": [1, None]},
    )
    day = datetime.date(2024, 2, 29)
    yield file(
        "days",
        {"d32": pa.array([day, None], pa.date32()), "d64": pa.array([day, None], pa.date64())},
        {name: pd.to_datetime(["2024-02-29", None]) for name in ("d32", "d64")},
    )
    yield file(
        "decimal numbers",
        {"a": pa.array([decimal.Decimal("1.25"), None], pa.decimal128(9, 2))},
        {"a": [1.25, None]},
        "decimal numbers and is read as floats",
    )
    yield file("nothing but missing", {"a": pa.nulls(2), "b": [1, 2]}, {"a": np.nan, "b": [1, 2]})
    yield file("bytes", {"a": pa.array([b"x", None]), "b": [1, 2]}, {"a": ["x", None], "b": [1, 2]})
    yield file(
        "times of day",
        {"a": pa.array([datetime.time(10, 20), None], pa.time64("us"))},
        {"a": ["10:20:00.000000", None]},
    )
    yield file("large texts", {"a": pa.array(["x", None], pa.large_string())}, {"a": ["x", None]})
    for unit in ("s", "ms", "us"):
        moment = datetime.datetime(2024, 2, 29, 10)
        yield file(
            f"moments in {unit}",
            {"a": pa.array([moment, None], pa.timestamp(unit))},
            {"a": pd.to_datetime(["2024-02-29 10:00", None])},
        )
    yield file(
        "texts that look like numbers and missing",
        {"a": ["007", "NA", ""], "b": [1, 2, 3]},
        {"a": ["007", "NA", ""], "b": [1, 2, 3]},
    )
    yield file(
        "infinite numbers and NaN",
        {"a": [np.inf, np.nan, 1.5]},
        {"a": [np.inf, np.nan, 1.5]},
    )
    repeated = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    yield CorpusFile(
        "repeated names",
        "",
        functools.partial(write, repeated),
        pd.DataFrame({"a": [1], "a.1": [2]}),
        ("more than once",),
    )


def _refused(write: Write) -> Iterator[CorpusFile]:
    nested = {"lists": [[1, 2], [3]], "records": [{"x": 1}, {"x": 2}]}
    for title, column in nested.items():
        make = functools.partial(write, pa.table({"id": [1, 2], "v": column}))
        yield CorpusFile(title, "", make, refusal="nested values in the columns 'v'")
    empty = functools.partial(write, pa.table({"a": pa.array([], pa.int64())}))
    yield CorpusFile("no rows", "", empty, refusal="nothing to read")


def _compressed() -> Iterator[CorpusFile]:
    frame = people(200)
    table = pa.Table.from_pandas(frame)
    for compression in ("snappy", "gzip", "zstd", "brotli", "none"):
        make = functools.partial(_parquet, table, compression=compression)
        yield CorpusFile(f"Parquet: {compression}", "t.parquet", make, frame)
    for compression in ("lz4", "zstd"):
        make = functools.partial(_feather, table, compression)
        yield CorpusFile(f"Feather: {compression}", "t.feather", make, frame)


def _damaged() -> Iterator[CorpusFile]:
    table = pa.Table.from_pandas(people())
    for name, content in (("t.parquet", _parquet(table)), ("t.feather", _feather(table))):
        yield CorpusFile(f"half of {name}", name, content[: len(content) // 2], refusal="damaged")
        wrong = "t.csv"
        yield CorpusFile(f"{name} named {wrong}", wrong, content, refusal="but its content is")
    yield CorpusFile(
        "text named t.parquet", "t.parquet", b"a,b\n1,2\n", refusal="should be parquet"
    )
