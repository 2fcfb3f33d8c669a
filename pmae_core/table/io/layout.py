"""Where the data of a delimited text file begins and how it is written."""

import csv
import io
import itertools
import re
from dataclasses import dataclass, replace

from pmae_core.errors import EmptyTableError, TableTooLargeError, UnreadableFileError
from pmae_core.table.io.aligned import aligned_column_starts
from pmae_core.table.io.charset import TextScan
from pmae_core.table.io.dialect import TextDialect
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.sniffing import sniff_dialect
from pmae_core.table.io.source import TableSource
from pmae_core.words import count

_SAMPLE_CHARACTERS = 1 << 20
_LONGEST_HEADER = 1 << 26
_MOST_BLANK_LINES = 1_000_000
_LINES_FOR_A_LOOK = 500
_MOST_COMMENTS = 1000
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)


@dataclass(frozen=True)
class TextOptions:
    """How a text file is written, as far as the caller says; what is None is detected."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    header: bool | None = None
    promised_delimiter: str | None = None  # by the file's ending; the content may prove it wrong


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
    start = _read_start(source, scan)
    known = replace(options, delimiter=options.delimiter or start.named_delimiter)
    if start.comments:
        start = _without_comments(source, start, known)
    dialect = _sniff(start, known)
    first_line = start.first_line
    if dialect.quotechar not in first_line and dialect.delimiter != " ":
        # Counting is cheap, splitting a line of a million cells is not.
        limits.check_columns(first_line.count(dialect.delimiter) + 1, source.name)
    if dialect.column_starts:
        dialect = replace(dialect, column_starts=_column_starts(source, scan, start.n_skipped))
    first_record = _first_record(source, start.lines, dialect)
    limits.check_columns(len(first_record), source.name)
    if len(first_record) == 1 and known.delimiter is None:
        _check_single_column(source, start.lines[:_SAMPLE_CHARACTERS])
    return Layout(dialect, start.n_skipped, first_record)


@dataclass(frozen=True)
class _Start:
    """The first lines of a file from the header on, and what comes before them."""

    n_skipped: int
    lines: str
    comments: tuple[str, ...] = ()  # the last of the skipped lines, from the first one with # on
    named_delimiter: str | None = None

    @property
    def first_line(self) -> str:
        """The line of the header."""
        return io.StringIO(self.lines, newline="").readline()


def _read_start(source: TableSource, scan: TextScan) -> _Start:
    text = scan.open(source)
    named_delimiter = None
    try:
        n_skipped, first_line = _skip_to_header(text, source)
        if separator := _SEPARATOR_LINE.fullmatch(first_line):
            # Excel's own way to name the delimiter in the first line.
            named_delimiter = separator[1]
            n_more, first_line = _skip_to_header(text, source)
            n_skipped += n_more + 1
        comments: list[str] = []
        while _is_comment(first_line, comments):
            comments.append(first_line)
            first_line = text.readline(_LONGEST_HEADER)
        lines = first_line + text.read(_SAMPLE_CHARACTERS)
    finally:
        text.detach()
    return _Start(n_skipped + len(comments), lines, tuple(comments), named_delimiter)


def _is_comment(line: str, comments: list[str]) -> bool:
    is_blank_below = bool(comments) and line.isspace()
    return (line.startswith("#") or is_blank_below) and len(comments) < _MOST_COMMENTS


def _without_comments(source: TableSource, start: _Start, options: TextOptions) -> _Start:
    """Decide whether the last line that begins with # holds the names, as in ``#id,age``."""
    n_skipped, last = start.n_skipped - len(start.comments), start.comments[-1]
    whole = _Start(n_skipped, "".join(start.comments) + start.lines)
    if not start.lines:
        return whole
    dialect = _sniff(start, options)
    width = len(_first_record(source, start.lines, dialect))
    if width == 1:
        return whole
    n_comments = sum(line.startswith("#") for line in start.comments)
    if last.startswith("#") and len(_first_record(source, last, dialect)) == width:
        n_comments -= 1
        start = _Start(start.n_skipped - 1, last + start.lines)
    if n_comments:
        source.remark(
            f"{source.name} begins with {count(n_comments, 'line')} of comments (#), which "
            f"{'is' if n_comments == 1 else 'are'} skipped.",
            code="comments",
        )
    return start


def _sniff(start: _Start, options: TextOptions) -> TextDialect:
    def sniff(delimiter: str | None) -> TextDialect:
        return sniff_dialect(
            start.lines[:_SAMPLE_CHARACTERS],
            delimiter=delimiter,
            decimal=options.decimal,
            thousands=options.thousands,
            has_header=options.header,
        )

    promised = options.promised_delimiter
    if options.delimiter or promised is None:
        return sniff(options.delimiter)
    if promised in start.first_line:
        return sniff(promised)
    found = sniff(None)
    return found if found.delimiter in start.first_line else sniff(promised)


def _first_record(source: TableSource, sample: str, dialect: TextDialect) -> list[str]:
    try:
        return next(dialect.records(io.StringIO(sample, newline="")))
    except csv.Error as error:
        raise UnreadableFileError(
            f"The first line of {source.name} cannot be split into cells: {error}."
        ) from error


def _column_starts(source: TableSource, scan: TextScan, n_skipped_lines: int) -> tuple[int, ...]:
    """Return where columns begin by all lines: a value below the sample may be wider."""
    text = scan.open(source)
    try:
        starts = aligned_column_starts(itertools.islice(text, n_skipped_lines, None))
    finally:
        text.detach()
    if not starts:
        raise _undecided_spaces(source)
    return starts


def _check_single_column(source: TableSource, sample: str) -> None:
    """Refuse text that is aligned in some other way, and remark on what may be several columns."""
    if sample.startswith('"'):
        return
    nonblank = (line.rstrip() for line in io.StringIO(sample, newline="") if line.strip())
    header, *data = itertools.islice(nonblank, _LINES_FOR_A_LOOK)
    n_spaced = sum(" " in line for line in data)
    if " " not in header.lstrip() or n_spaced < len(data) / 2:
        return
    if "  " in header.lstrip():
        raise _undecided_spaces(source)
    source.remark(
        f"{source.name} was read as one column of text with spaces.",
        advice="Pass delimiter=' ' if each space separates two cells.",
        code="one-column",
    )


def _undecided_spaces(source: TableSource) -> UnreadableFileError:
    return UnreadableFileError(
        f"The columns of {source.name} seem to be separated by spaces, but they are not aligned in "
        "every line, so values could end up in the wrong column.",
        code="spaces",
        advice="Save the table with commas or tabs between the cells, or pass delimiter=',' to "
        "read each line as one cell.",
    )


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
