"""How a delimited text file is written, and its lines split accordingly."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pmae_core.errors import TableError
from pmae_core.table.io.aligned import split_at

DELIMITERS = (",", ";", "\t", "|", "^", "~", "\x1f", " ")
LONGEST_CELL = 1 << 24
# A known last line shows whether text ends inside quotes: then it is part of that cell.
END = "\0"


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
        Whether spaces after each delimiter belong to the delimiter.
    column_starts : tuple of int
        Where the columns begin, if the text is aligned with spaces instead of delimited.
    is_sure_of_marks : bool
        Whether some number that was sniffed can be read with these marks only. If not, another
        number of the file may decide.
    """

    delimiter: str = ","
    decimal: str = "."
    thousands: str | None = None
    quotechar: str = '"'
    has_header: bool = True
    skip_initial_space: bool = False
    column_starts: tuple[int, ...] = ()
    is_sure_of_marks: bool = True

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

    @property
    def has_collapsed_spaces(self) -> bool:
        """Whether any number of spaces is one delimiter."""
        return self.delimiter == " " and self.skip_initial_space

    def records(self, lines: Iterable[str]) -> "Records":
        """Split lines into records of cells; the iterator counts lines in ``line_num``."""
        if self.column_starts:
            return _AlignedRecords(lines, self.column_starts)
        if self.has_collapsed_spaces:
            lines = (line.strip(" \r\n") + "\n" for line in lines)
        # The limit holds for the whole process, so it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quotechar,
            skipinitialspace=self.skip_initial_space,
        )


class Records(Protocol):
    """Records of cells, and the number of lines that were read for them."""

    @property
    def line_num(self) -> int:
        """Number of lines that were read."""

    def __iter__(self) -> Iterator[list[str]]:
        """Return itself."""

    def __next__(self) -> list[str]:
        """Return the next record."""


class _AlignedRecords:
    """The records of aligned text: one per line."""

    def __init__(self, lines: Iterable[str], column_starts: tuple[int, ...]) -> None:
        self.line_num = 0
        self._lines = iter(lines)
        self._column_starts = column_starts

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        line = next(self._lines)
        self.line_num += 1
        return split_at(line, self._column_starts) if line.strip() else []
