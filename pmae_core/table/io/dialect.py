"""How a delimited text file is written: sniffed from a sample, every part overridable."""

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pmae_core.errors import TableError
from pmae_core.table.io.number_marks import marks_of
from pmae_core.table.values import MISSING_WORDS, number_pattern

DELIMITERS = (",", ";", "\t", "|", "^", "~", "\x1f", " ")
_SAMPLE_RECORDS = 500

_ANY_NUMBER = re.compile(r"[+-]?[0-9][0-9.,' \u00a0\u202f]*(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True)
class TextDialect:
    """How a delimited text file is written.

    Parameters
    ----------
    delimiter : str
        One ASCII character between the cells.
    decimal : str
        Decimal mark of numbers, ``"."`` or ``","``.
    thousands : str or None
        Character between groups of three digits, if any.
    quotechar : str
        Character around cells that contain delimiters or line breaks.
    has_header : bool
        Whether the first record holds the names of the columns.
    skip_initial_space : bool
        Whether a space after each delimiter belongs to the delimiter.
    """

    delimiter: str = ","
    decimal: str = "."
    thousands: str | None = None
    quotechar: str = '"'
    has_header: bool = True
    skip_initial_space: bool = False

    def __post_init__(self) -> None:
        """Refuse combinations with which no file can be read."""
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n\0':
            raise TableError(
                f"The delimiter must be one ASCII character and no quote, not {self.delimiter!r}."
            )
        if self.decimal not in (".", ","):
            raise TableError(f"The decimal mark must be '.' or ',', not {self.decimal!r}.")
        if self.thousands is not None and (len(self.thousands) != 1 or self.thousands.isalnum()):
            raise TableError(
                f"The thousands separator must be one character, not {self.thousands!r}."
            )
        if self.thousands == self.decimal:
            raise TableError(
                f"Decimal mark and thousands separator cannot both be {self.decimal!r}."
            )

    def records(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Split lines into records of cells; the iterator counts lines in ``line_num``."""
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quotechar,
            skipinitialspace=self.skip_initial_space,
        )


def sniff_dialect(
    sample_text: str,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    has_header: bool | None = None,
) -> TextDialect:
    r"""Find out how delimited text is written; what is passed is taken as given.

    Parameters
    ----------
    sample_text : str
        The first lines of the file; a last incomplete line does no harm.
    delimiter, decimal, thousands, has_header : optional
        Parts that are known. ``thousands=""`` says that there is no such separator.

    Returns
    -------
    TextDialect

    Examples
    --------
    >>> sniff_dialect("name;price\nbolt;1.234,50\nnut;0,75\n").decimal
    ','
    """
    sample = _complete_lines(sample_text)
    delimiter = delimiter or _sniff_delimiter(sample)
    records = _sample_records(sample, TextDialect(delimiter))
    spaced = delimiter not in " \t" and _always_followed_by_space(records)
    quotechar = "'" if '"' not in sample and _single_quoted(records[1:]) else '"'
    dialect = TextDialect(delimiter, quotechar=quotechar, skip_initial_space=spaced)
    records = _sample_records(sample, dialect)
    columns = itertools.zip_longest(*records[1:], fillvalue="")
    marks = marks_of(columns, delimiter, decimal=decimal, thousands=thousands)
    if has_header is None:
        number = re.compile(number_pattern(marks.decimal, marks.thousands))
        has_header = not (records and _looks_like_data(records[0], records[1:], number))
    return TextDialect(
        delimiter, decimal or marks.decimal, marks.thousands, quotechar, has_header, spaced
    )


def _complete_lines(sample: str) -> str:
    """Cut a last line that the sample's end may have cut already."""
    end = max(sample.rfind("\n"), sample.rfind("\r")) + 1
    return sample[:end] if sample[:end].strip() else sample


def _sample_records(sample: str, dialect: TextDialect) -> list[list[str]]:
    """Return the first records that are not blank, or none if the sample does not parse."""
    records = dialect.records(io.StringIO(sample, newline=""))
    try:
        nonblank = (record for record in records if any(cell.strip() for cell in record))
        return list(itertools.islice(nonblank, _SAMPLE_RECORDS))
    except csv.Error:
        return []


def _sniff_delimiter(sample: str) -> str:
    """Choose the delimiter that splits the most records as it splits the header."""
    best = too_narrow = disagreeing = single_column = ""
    best_score = (0.0, 0)
    for delimiter in DELIMITERS:
        records = _sample_records(sample, TextDialect(delimiter))
        if not records:
            continue
        header, data = records[0], records[1:]
        widths = {len(record) for record in data}
        if len(header) == 1:
            if widths <= {1}:
                single_column = single_column or delimiter
            elif len(widths) == 1 and len(data) > 1 and _splits_for_sure(delimiter, widths):
                too_narrow = too_narrow or delimiter
        elif delimiter != " " or _all_numbers(data):
            agreeing = sum(len(record) == len(header) for record in data)
            score = (agreeing / len(data) if data else 1.0, len(header))
            if score[0] > 0:
                best, best_score = max((best, best_score), (delimiter, score), key=lambda x: x[1])
            elif widths != {1}:
                disagreeing = disagreeing or delimiter
    # A header that is too narrow (a title?) or disagrees is reported by the reader, with the line.
    return best or too_narrow or disagreeing or single_column or ","


def _splits_for_sure(delimiter: str, widths: set[int]) -> bool:
    """Distinguish a delimiter below a title from the comma in ``1,5`` or ``Smith, John``."""
    return delimiter != " " and (delimiter != "," or min(widths) > 2)


def _all_numbers(records: list[list[str]]) -> bool:
    """Say whether all cells are numbers; only then may a space be a delimiter."""
    cells = [cell for record in records for cell in record]
    return bool(cells) and all(
        _ANY_NUMBER.fullmatch(cell) or cell in MISSING_WORDS for cell in cells
    )


def _always_followed_by_space(records: list[list[str]]) -> bool:
    later_cells = [cell for record in records for cell in record[1:]]
    return bool(later_cells) and all(cell.startswith(" ") for cell in later_cells)


def _single_quoted(records: list[list[str]]) -> bool:
    """Say whether all nonblank cells of some column are in single quotes."""
    for column in itertools.zip_longest(*records, fillvalue=""):
        nonblank = [cell.strip() for cell in column if cell.strip()]
        if nonblank and all(
            len(cell) > 1 and cell[0] == cell[-1] == "'" and cell.count("'") == 2
            for cell in nonblank
        ):
            return True
    return False


def _looks_like_data(first: list[str], others: list[list[str]], number: re.Pattern[str]) -> bool:
    """Say whether the first record is data: it holds decimal numbers, and numbers over numbers.

    Whole numbers such as years do occur as names, numbers such as 5.1 hardly ever.
    """
    first = [cell.strip() for cell in first]
    if not any(number.match(cell) and not _INTEGER.fullmatch(cell) for cell in first):
        return False
    columns = itertools.zip_longest(*others, fillvalue="")
    for name, column in zip(first, columns, strict=False):
        observed = [cell.strip() for cell in column if cell.strip() not in MISSING_WORDS]
        numeric = observed and all(number.match(cell) for cell in observed)
        if numeric and not number.match(name):
            return False
    return True
