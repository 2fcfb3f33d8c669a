"""Excel workbooks."""

import datetime
import io
from collections.abc import Callable, Iterable, Iterator, Sequence

import openpyxl
import pandas as pd
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from tests.support.corpus.files import CorpusFile, people

Row = Sequence[object]
Make = Callable[[], bytes]


def workbook_files() -> Iterator[CorpusFile]:
    """Yield all files of this kind."""
    yield from _with_values()
    yield from _with_sheets()
    yield from _with_odd_cells()


def _saved(
    *sheets: Iterable[Row], change: Callable[[openpyxl.Workbook], object] | None = None
) -> Make:
    """Return what makes a workbook of these sheets, Sheet1, Sheet2 and so on."""

    def make() -> bytes:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for number, rows in enumerate(sheets, start=1):
            sheet = book.create_sheet(f"Sheet{number}")
            for row in rows:
                sheet.append(row)
        if change:
            change(book)
        buffer = io.BytesIO()
        book.save(buffer)
        return buffer.getvalue()

    return make


def _file(title: str, make: Make, columns: dict, *remarks: str, **more) -> CorpusFile:
    return CorpusFile(f"Excel: {title}", "t.xlsx", make, pd.DataFrame(columns), remarks, **more)


def _refused(title: str, make: Make, refusal: str, **options) -> CorpusFile:
    return CorpusFile(f"Excel: {title}", "t.xlsx", make, refusal=refusal, options=options)


def _rows(frame: pd.DataFrame) -> list[list[object]]:
    cells = frame.astype(object).where(frame.notna(), None)
    return [list(frame.columns), *cells.to_numpy().tolist()]


def _with_values() -> Iterator[CorpusFile]:
    for seed in range(3):
        frame = people(seed=seed)
        yield _file(f"all types, {seed}", _saved(_rows(frame)), dict(frame.items()))
    yield _file(
        "numbers stored as text", _saved([["a"], [1], ["2.5"], ["NA"]]), {"a": [1, 2.5, None]}
    )
    yield _file(
        "codes with zeros",
        _saved([["a", "b"], ["007", 1], ["012", 2]]),
        {"a": ["007", "012"], "b": [1, 2]},
    )
    yield _file(
        "numbers and words",
        _saved([["a", "b"], [1, 1], ["x", 2]]),
        {"a": ["1", "x"], "b": [1, 2]},
        "different types",
    )
    day = datetime.datetime(2024, 2, 29)

    def since_1904(book: openpyxl.Workbook) -> None:
        book.epoch = CALENDAR_MAC_1904
        sheet = book.create_sheet("Dates")
        sheet.append(["day", "n"])
        sheet.append([day, 1])

    yield _file(
        "dates since 1904", _saved(change=since_1904), {"day": [pd.Timestamp(day)], "n": [1]}
    )
    yield _file(
        "dates with times",
        _saved([["t", "n"], [datetime.datetime(2024, 2, 29, 10, 20, 30), 1], [day, 2]]),
        {"t": pd.to_datetime(["2024-02-29 10:20:30", "2024-02-29 00:00:00"]), "n": [1, 2]},
    )
    yield _file(
        "durations",
        _saved([["d", "n"], [datetime.timedelta(hours=30), 1], [datetime.timedelta(days=2), 2]]),
        {"d": pd.to_timedelta(["30h", "2D"]), "n": [1, 2]},
    )


def _with_sheets() -> Iterator[CorpusFile]:
    two = _saved([["a"], [1]], [["b"], [2]])
    yield _file("the first of two sheets", two, {"a": [1]})
    for title, sheet in (("position", 1), ("name", "Sheet2"), ("number", "2")):
        yield _file(f"a sheet by {title}", two, {"b": [2]}, options={"sheet": sheet})
    yield _refused("a sheet that does not exist", two, "has no sheet 'third'", sheet="third")
    yield _refused("an empty sheet", _saved([]), "is empty")
    yield _refused("an empty sheet before a full one", _saved([], [["a"], [1]]), "is empty")
    yield _refused("only a header", _saved([["a", "b"]]), "no rows below it")


def _with_odd_cells() -> Iterator[CorpusFile]:
    yield _file(
        "a table that begins further below",
        _saved([[], [], [None, "a", "b"], [None, 1, None], [None, 3, 4]]),
        {"a": [1, 3], "b": [None, 4]},
    )
    yield _file(
        "rows without values",
        _saved([["a", "b"], [1, 2], [], [3, 4]]),
        {"a": [1, None, 3], "b": [2, None, 4]},
    )
    yield _file(
        "repeated and blank names",
        _saved([["a", "a", None], [1, 2, 3]]),
        {"a": [1], "a.1": [2], "column_3": [3]},
        "without a name",
        "more than once",
    )
    yield _file(
        "no header",
        _saved([[5.1, 3.5], [4.9, 3.25]]),
        {"column_1": [5.1, 4.9], "column_2": [3.5, 3.25]},
        "seems to have no header",
    )
    yield _file(
        "formulas without results",
        _saved([["a", "b"], [1, "=A2+1"], [2, 3]]),
        {"a": [1, 2], "b": [None, 3]},
        "stored result",
    )
    yield _file(
        "errors",
        _saved([["a", "b"], [1, "#DIV/0!"], [2, 3]]),
        {"a": [1, 2], "b": [None, 3]},
        "#DIV/0!",
    )

    def as_percent(book: openpyxl.Workbook) -> None:
        book["Sheet1"]["A2"].number_format = "0%"
        book["Sheet1"]["A3"].number_format = '#,##0.00 "€"'

    yield _file(
        "percentages and money by format",
        _saved([["a", "b"], [0.12, 1], [1234.5, 2]], change=as_percent),
        {"a": [0.12, 1234.5], "b": [1, 2]},
    )
    names = [f"c{at}" for at in range(400)]
    wide = pd.DataFrame([range(400)], columns=names)
    yield _file("400 columns", _saved(_rows(wide)), dict(wide.items()))
