"""One file of the corpus: what it holds, and what reading it must come to."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True, eq=False)
class CorpusFile:
    """A file, and the table that it holds or the sentence with which it is refused.

    Attributes
    ----------
    title : str
        What is special about it.
    name : str
        File name; the ending counts.
    content : bytes, or callable that makes them
        The file.
    expected : DataFrame or None
        The table that must be read.
    remarks : tuple of str
        A part of each remark that must be made; there must be no other.
    doubt : tuple of float or None
        Both readings of the number that must be asked about.
    refusal : str or None
        A part of the sentence with which the file must be refused.
    options : dict
        What the reader is told.
    """

    title: str
    name: str
    content: bytes | Callable[[], bytes]
    expected: pd.DataFrame | None = None
    remarks: tuple[str, ...] = ()
    doubt: tuple[float, float] | None = None
    refusal: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def read(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else self.content()


def people(n_rows: int = 9, seed: int = 0) -> pd.DataFrame:
    """Return a table with every type of column and missing cells."""
    rng = np.random.default_rng(seed)
    born = pd.Timestamp("1950-03-01") + pd.to_timedelta(rng.integers(0, 20_000, n_rows), "D")
    frame = pd.DataFrame(
        {
            "id": rng.permutation(n_rows) + 1,
            "weight": rng.integers(400, 1200, n_rows) / 10,
            "visits": pd.array(rng.integers(0, 50, n_rows), "Int64"),
            "city": rng.choice(["Kyiv", "Bonn", "New York"], n_rows),
            "born": born,
            "smoker": rng.random(n_rows) < 0.5,
        }
    )
    frame.loc[1, "weight"] = np.nan
    frame.loc[2, ["visits", "city", "born"]] = None
    return frame


def difficult_text(frame: pd.DataFrame, texts: Sequence[str]) -> pd.DataFrame:
    """Return the table with a column of texts that need quotes."""
    return frame.assign(note=[texts[row % len(texts)] for row in range(len(frame))])


def cell_text(cell: object, decimal: str = ".", missing: str = "") -> str:
    """Return a cell as programs write it."""
    if pd.isna(cell):
        return missing
    if isinstance(cell, bool | np.bool_):
        return str(cell).lower()
    if isinstance(cell, float):
        return repr(float(cell)).replace(".", decimal)
    return str(cell).removesuffix(" 00:00:00")


def delimited(
    frame: pd.DataFrame,
    delimiter: str = ",",
    *,
    line_end: str = "\n",
    quoting: int = csv.QUOTE_MINIMAL,
    decimal: str = ".",
    missing: str = "",
    encoding: str = "utf-8",
) -> bytes:
    """Write a table as text, independently of the library."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(frame.columns)
    for row in frame.itertuples(index=False):
        writer.writerow([cell_text(cell, decimal, missing) for cell in row])
    return text.getvalue().encode(encoding)


def with_letters(cells: Sequence[str], delimiter: str = ";") -> bytes:
    """Return a file with these cells in its column ``value``, beside letters."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["value", "letter"])
    writer.writerows([cell, f"x{row}"] for row, cell in enumerate(cells))
    return text.getvalue().encode()


def beside_letters(values: Sequence[object]) -> pd.DataFrame:
    """Return the table that :func:`with_letters` writes."""
    return pd.DataFrame({"value": values, "letter": [f"x{row}" for row in range(len(values))]})


def assert_same_table(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Compare names, kinds of values, missing cells and every value exactly."""
    assert list(found.columns) == [str(name) for name in expected.columns]
    assert len(found) == len(expected)
    for name in found.columns:
        column, wanted = found[name], expected[name]
        assert column.isna().tolist() == wanted.isna().tolist(), name
        observed, values = column.dropna().tolist(), wanted.dropna().tolist()
        assert _kind(column) == _kind(wanted), f"{name}: {column.dtype}, not {wanted.dtype}"
        assert observed == values, name


def _kind(column: pd.Series) -> str:
    values = column.dropna()
    if values.empty:
        return "nothing"
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "category"
    if pd.api.types.is_bool_dtype(column.dtype):
        return "bool"
    if pd.api.types.is_integer_dtype(column.dtype):
        return "integer"
    if pd.api.types.is_float_dtype(column.dtype):
        return "integer" if values.map(_is_whole).all() else "float"
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return "date"
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return "duration"
    assert values.map(lambda value: isinstance(value, str)).all()
    return "text"


def _is_whole(value: float) -> bool:
    return bool(np.isfinite(value)) and float(value).is_integer()
