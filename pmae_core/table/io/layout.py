"""Where the data of a delimited text file begins and how it is written."""

import csv
import io
import itertools
import re
from dataclasses import dataclass

from pmae_core.errors import EmptyTableError, TableTooLargeError, UnreadableFileError
from pmae_core.table.io.charset import TextScan
from pmae_core.table.io.dialect import TextDialect, sniff_dialect
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.source import TableSource

_SAMPLE_CHARACTERS = 1 << 20
_LONGEST_HEADER = 1 << 26
_MOST_BLANK_LINES = 1_000_000
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)


@dataclass(frozen=True)
class TextOptions:
    """How a text file is written, as far as the caller says; what is None is detected."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    header: bool | None = None


@dataclass(frozen=True)
class Layout:
    """Where a file's data begins: lines to skip, the first record, and how all is written."""

    dialect: TextDialect
    n_skipped_lines: int
    first_record: list[str]

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.first_record)


def find_layout(
    source: TableSource, scan: TextScan, options: TextOptions, limits: ReadingLimits
) -> Layout:
    """Sniff the dialect and read the first record, within the limit of columns."""
    text = scan.open(source)
    delimiter = options.delimiter
    try:
        n_skipped, first_line = _skip_to_header(text, source)
        if separator := _SEPARATOR_LINE.fullmatch(first_line):
            # Excel's own way to name the delimiter in the first line.
            delimiter = delimiter or separator[1]
            n_more, first_line = _skip_to_header(text, source)
            n_skipped += n_more + 1
        sample = first_line + text.read(_SAMPLE_CHARACTERS)
        dialect = sniff_dialect(
            sample[:_SAMPLE_CHARACTERS],
            delimiter=delimiter,
            decimal=options.decimal,
            thousands=options.thousands,
            has_header=options.header,
        )
        if dialect.quotechar not in first_line:
            # Counting is cheap, splitting a line of a million cells is not.
            limits.check_columns(first_line.count(dialect.delimiter) + 1, source.name)
        first_record = next(dialect.records(io.StringIO(sample, newline="")))
    except csv.Error as error:
        raise UnreadableFileError(
            f"The first line of {source.name} cannot be split into cells: {error}."
        ) from error
    finally:
        text.detach()
    limits.check_columns(len(first_record), source.name)
    return Layout(dialect, n_skipped, first_record)


def _skip_to_header(text: io.TextIOWrapper, source: TableSource) -> tuple[int, str]:
    """Return how many blank lines come first, and the line after them."""
    for n_before in itertools.count():
        line = text.readline(_LONGEST_HEADER)
        if len(line) == _LONGEST_HEADER:
            raise TableTooLargeError(
                f"The first line of {source.name} has more than {_LONGEST_HEADER:,} characters."
            )
        if not line:
            raise EmptyTableError(f"{source.name} is empty: it has only blank lines.")
        if line.strip():
            return n_before, line
        if n_before == _MOST_BLANK_LINES:
            raise UnreadableFileError(
                f"{source.name} begins with more than {_MOST_BLANK_LINES:,} blank lines.",
                advice="Remove them, so that it begins with the names of the columns.",
            )
    raise AssertionError("unreachable")
