"""Which mark separates decimals and which one groups thousands, in the numbers of a text file.

``1,234`` can be read in two ways. Most files have other numbers that can be read in one way only,
such as ``0,5`` or ``1,234,567``. Where no number of the whole file decides, the reader must ask.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from pmae_core.table.values import MINUS, MISSING_WORDS, THOUSANDS_SPACES

Mark = Literal[".", ","]

_SIGN = f"[+{MINUS}-]?"
_ANY_NUMBER = re.compile(rf"{_SIGN}[0-9][0-9.,'’{THOUSANDS_SPACES}]*(?:[eE][+-]?[0-9]+)?")
# A mark does not group thousands if not three digits follow, or a zero or many digits precede.
_DECIMAL_ONLY = {
    mark: re.compile(
        rf"{_SIGN}(?:[0-9]*{re.escape(mark)}(?:[0-9]{{1,2}}|[0-9]{{4,}})"
        rf"|(?:0|[0-9]{{4,}}){re.escape(mark)}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    )
    for mark in (".", ",")
}
_GROUPED_ONCE = {
    mark: rf"{_SIGN}[1-9][0-9]{{0,2}}{re.escape(mark)}[0-9]{{3}}" for mark in (".", ",")
}
_GROUPED_OFTEN = re.compile(
    rf"{_SIGN}[1-9][0-9]{{0,2}}(?P<thousands>[.,'’{THOUSANDS_SPACES}])[0-9]{{3}}"
    r"(?:(?P=thousands)[0-9]{3})+"
)
_GROUPED_WITH_DECIMALS = re.compile(
    rf"{_SIGN}[1-9][0-9]{{0,2}}(?P<thousands>[.,'’{THOUSANDS_SPACES}])[0-9]{{3}}"
    r"(?:(?P=thousands)[0-9]{3})*(?P<decimal>[.,])[0-9]+"
)
# As in India: 12,34,567. Nobody writes so with other marks.
_GROUPED_IN_LAKHS = re.compile(rf"{_SIGN}[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}(?:\.[0-9]+)?")
_GROUPED_OTHERWISE = re.compile(
    rf"{_SIGN}[1-9][0-9]{{0,2}}(?P<thousands>['’{THOUSANDS_SPACES}])[0-9]{{3}}(?:(?P=thousands)[0-9]{{3}})*"
)
_MOST_DECIDING = 10_000
_MARKS: tuple[Mark, ...] = (".", ",")
_OTHER: dict[str, Mark] = {".": ",", ",": "."}


@dataclass(frozen=True)
class NumberReading:
    """One way to read a number."""

    decimal: Mark
    thousands: str | None
    value: float


@dataclass(frozen=True)
class NumberDoubt:
    """A number that can be read in two ways, where nothing in the file decides.

    Attributes
    ----------
    column : str
        The column of the number.
    text : str
        The number as it is written.
    readings : tuple of NumberReading
        Both ways to read it; the first was taken.
    """

    column: str
    text: str
    readings: tuple[NumberReading, NumberReading]


@dataclass(frozen=True)
class NumberMarks:
    """The marks of a file.

    Attributes
    ----------
    decimal, thousands
        As :class:`TextDialect` has them.
    is_decided : bool
        Whether some number can be read in this way only, and no column in the other way only.
    """

    decimal: Mark
    thousands: str | None
    is_decided: bool


@dataclass
class _Evidence:
    """How many numbers can be read in one way only."""

    decimals: Counter[str] = field(default_factory=Counter)
    thousands: Counter[tuple[str, str]] = field(default_factory=Counter)  # with the decimal mark
    grouped_once: set[str] = field(default_factory=set)
    columns: Counter[str] = field(default_factory=Counter)  # that have one decimal mark for sure

    def add(self, column: Iterable[str]) -> None:
        observed = [cell for cell in map(str.strip, column) if cell not in MISSING_WORDS]
        numbers = [cell for cell in observed if _ANY_NUMBER.fullmatch(cell)]
        before = self.decimals.copy()
        for cell in numbers:
            self._add_number(cell)
        found = self.decimals - before
        if len(found) == 1:
            self.columns.update(found.keys())
        self.add_spaces(numbers, is_whole=len(numbers) == len(observed))

    def _add_number(self, cell: str) -> None:
        for mark in _MARKS:
            if _DECIMAL_ONLY[mark].fullmatch(cell):
                self.decimals[mark] += 1
            elif re.fullmatch(_GROUPED_ONCE[mark], cell):
                self.grouped_once.add(mark)
        if (both := _GROUPED_WITH_DECIMALS.fullmatch(cell)) and both["decimal"] != both[
            "thousands"
        ]:
            self.decimals[both["decimal"]] += 1
            self.thousands[both["thousands"], both["decimal"]] += 1
        elif (often := _GROUPED_OFTEN.fullmatch(cell)) and often["thousands"] in _OTHER:
            decimal = _OTHER[often["thousands"]]
            self.decimals[decimal] += 1
            self.thousands[often["thousands"], decimal] += 1
        elif _GROUPED_IN_LAKHS.fullmatch(cell):
            self.decimals["."] += 1
            self.thousands[",", "."] += 1

    def add_spaces(self, numbers: Sequence[str], *, is_whole: bool) -> None:
        """Take spaces and apostrophes for thousands if all cells of the column are numbers then."""
        found = [match for cell in numbers if (match := _GROUPED_OTHERWISE.fullmatch(cell))]
        marks = {match["thousands"] for match in found}
        if is_whole and len(marks) == 1:
            (mark,) = marks
            for decimal in _MARKS:
                self.thousands[mark, decimal] += len(found)


def marks_of(
    columns: Iterable[Iterable[str]],
    delimiter: str,
    *,
    decimal: str | None = None,
    thousands: str | None = None,
) -> NumberMarks:
    """Weigh the numbers that can be read in one way only; what is given is not questioned.

    Parameters
    ----------
    columns
        The cells below the header, column by column.
    delimiter : str
        Between the cells.
    decimal, thousands : str, optional
        What is known. ``thousands=""`` says that there is no such mark.

    Examples
    --------
    >>> marks_of([["1,234", "0,5"]], ";")
    NumberMarks(decimal=',', thousands=None, is_decided=True)
    >>> marks_of([["1,234", "2,345"]], ";").is_decided
    False
    """
    evidence = _Evidence()
    for column in columns:
        evidence.add(column)
    return _weigh(evidence, delimiter, decimal, thousands)


def _weigh(
    evidence: _Evidence, delimiter: str, decimal: str | None, thousands: str | None
) -> NumberMarks:
    is_told = decimal is not None or thousands is not None
    found: Mark
    if decimal is not None:
        found = "," if decimal == "," else "."
    else:
        found = _decimal_mark(evidence, delimiter, thousands)
    if thousands is None:
        thousands = _thousands_mark(evidence, found)
    is_decided = bool(evidence.decimals) and not evidence.columns[_OTHER[found]]
    return NumberMarks(found, thousands or None, is_told or is_decided)


def _decimal_mark(evidence: _Evidence, delimiter: str, thousands: str | None) -> Mark:
    if thousands in _OTHER:
        return _OTHER[str(thousands)]
    points, commas = evidence.decimals["."], evidence.decimals[","]
    if delimiter == ",":
        # Between commas, a quoted "1,2" may as well be a list of two answers.
        commas = sum(n for (_, decimal), n in evidence.thousands.items() if decimal == ",")
    if commas != points:
        return "," if commas > points else "."
    # Without a majority: programs that separate cells by ";" write decimal commas.
    is_open = commas > 0 or "," in evidence.grouped_once
    return "," if is_open and (delimiter == ";" or thousands == "") else "."


def _thousands_mark(evidence: _Evidence, decimal: Mark) -> str | None:
    seen = {
        mark: n for (mark, with_decimal), n in evidence.thousands.items() if with_decimal == decimal
    }
    if seen:
        return max(seen, key=lambda mark: seen[mark])
    mark = _OTHER[decimal]
    return mark if mark in evidence.grouped_once and not evidence.decimals[mark] else None


# The whole file


def marks_of_table(cells: pa.Table, delimiter: str, *, decimal: str | None = None) -> NumberMarks:
    """Weigh the numbers of a whole table of text; only those that may decide leave Arrow."""
    evidence = _Evidence()
    for column in cells.columns:
        evidence.grouped_once |= {
            mark for mark in _MARKS if _first_grouped(column, mark) is not None
        }
        evidence.add(_deciding_cells(column))
        evidence.add_spaces(_numbers_grouped_otherwise(column), is_whole=True)
    return _weigh(evidence, delimiter, decimal, None)


def _deciding_cells(column: pa.ChunkedArray) -> list[str]:
    """Return different numbers with a mark, without those that are grouped once."""
    if not any(_contains(column, mark) for mark in _MARKS):
        return []
    trimmed = pc.utf8_trim_whitespace(column)
    marked = pc.match_substring_regex(trimmed, rf"^{_SIGN}[0-9]*[.,][0-9.,eE+-]*$")
    once = pc.match_substring_regex(trimmed, "^(?:" + "|".join(_GROUPED_ONCE.values()) + ")$")
    deciding = trimmed.filter(pc.and_(marked, pc.invert(once)))
    found: list[str] = pc.unique(deciding).slice(0, _MOST_DECIDING).to_pylist()
    return found


def _numbers_grouped_otherwise(column: pa.ChunkedArray) -> list[str]:
    """Return a number with spaces or apostrophes, if all cells of the column are numbers then."""
    for mark in f"'’{THOUSANDS_SPACES}":
        if not _contains(column, mark):
            continue
        trimmed = pc.utf8_trim_whitespace(column)
        observed = trimmed.filter(pc.invert(pc.is_in(trimmed, pa.array(MISSING_WORDS))))
        number = rf"^{_SIGN}(?:[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|[0-9]+)(?:[.,][0-9]+)?$"
        is_grouped = rf"^{_SIGN}[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+$"
        grouped = pc.match_substring_regex(observed, is_grouped)
        if pc.all(pc.match_substring_regex(observed, number)).as_py() and pc.any(grouped).as_py():
            return [str(observed[pc.index(grouped, True).as_py()].as_py())]
    return []


def _contains(column: pa.ChunkedArray, mark: str) -> bool:
    return pc.any(pc.match_substring(column, mark)).as_py() is True


def doubt_of_table(
    cells: pa.Table, names: Sequence[str], marks: NumberMarks, delimiter: str
) -> NumberDoubt | None:
    """Return a number of the table that can be read in two ways; None if all are decided."""
    if marks.is_decided:
        return None
    # Between commas, nobody groups thousands by points.
    doubtful: tuple[Mark, ...] = (",",) if delimiter == "," else (",", ".")
    for mark in doubtful:
        for name, column in zip(names, cells.columns, strict=True):
            text = _first_grouped(column, mark)
            if text is not None and not _deciding_cells(column):
                return _doubt(name, text, mark, marks)
    return None


def _first_grouped(column: pa.ChunkedArray, mark: str) -> str | None:
    if not _contains(column, mark):
        return None
    trimmed = pc.utf8_trim_whitespace(column)
    found = pc.index(pc.match_substring_regex(trimmed, f"^{_GROUPED_ONCE[mark]}$"), True).as_py()
    return None if found < 0 else str(trimmed[found].as_py())


def _doubt(column: str, text: str, mark: Mark, taken: NumberMarks) -> NumberDoubt:
    plain = text.replace(MINUS, "-")
    whole = NumberReading(_OTHER[mark], mark, float(plain.replace(mark, "")))
    parted = NumberReading(mark, None, float(plain.replace(mark, ".")))
    first, second = (parted, whole) if taken.decimal == mark else (whole, parted)
    return NumberDoubt(column, text, (first, second))
