"""How a delimited text file is written: sniffed from a sample, every part overridable."""

import csv
import io
import itertools
import re
from dataclasses import dataclass, replace

from pmae_core.table.io.aligned import aligned_column_starts
from pmae_core.table.io.dialect import DELIMITERS, END, TextDialect
from pmae_core.table.io.number_marks import marks_of
from pmae_core.table.values import MINUS, MISSING_WORDS, number_pattern

_SAMPLE_RECORDS = 500

_ANY_NUMBER = re.compile(rf"[+{MINUS}-]?[0-9][0-9.,'’\u00a0\u2009\u202f]*(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]+")


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
    dialect = TextDialect(delimiter) if delimiter else _sniff_separation(sample)
    if not dialect.column_starts:
        dialect = _with_spaces_and_quotes(dialect, sample)
    records = _sample_records(sample, dialect)
    columns = itertools.zip_longest(*records[1:], fillvalue="")
    marks = marks_of(columns, dialect.delimiter, decimal=decimal, thousands=thousands)
    if has_header is None:
        number = re.compile(number_pattern(marks.decimal, marks.thousands))
        has_header = not (records and _looks_like_data(records[0], records[1:], number))
    return replace(
        dialect,
        decimal=decimal or marks.decimal,
        thousands=marks.thousands,
        has_header=has_header,
        is_sure_of_marks=marks.is_decided,
    )


def _with_spaces_and_quotes(dialect: TextDialect, sample: str) -> TextDialect:
    """Return the dialect with what stands around cells: spaces, and single quotes."""
    records = _sample_records(sample, dialect)
    spaced = dialect.skip_initial_space or (
        dialect.delimiter not in " \t" and _always_followed_by_space(records)
    )
    quotechar = "'" if '"' not in sample and _single_quoted(records[1:]) else '"'
    return replace(dialect, quotechar=quotechar, skip_initial_space=spaced)


def _complete_lines(sample: str) -> str:
    """Cut a last line that the sample's end may have cut already."""
    end = max(sample.rfind("\n"), sample.rfind("\r")) + 1
    return sample[:end] if sample[:end].strip() else sample


def _sample_records(sample: str, dialect: TextDialect) -> list[list[str]]:
    """Return the first records that are not blank, without one that the sample's end cuts."""
    lines = itertools.chain(io.StringIO(sample, newline=""), [END])
    complete = itertools.pairwise(dialect.records(lines))
    try:
        nonblank = (record for record, _ in complete if any(cell.strip() for cell in record))
        return list(itertools.islice(nonblank, _SAMPLE_RECORDS))
    except csv.Error:
        return []


def _sniff_separation(sample: str) -> TextDialect:
    """Choose the delimiter that splits the most records as it splits the header, or spaces."""
    splits = []
    for delimiter in DELIMITERS[:-1]:
        records = _sample_records(sample, TextDialect(delimiter))
        if records:
            splits.append(_Split(delimiter, records[0], records[1:]))
        elif delimiter in sample:
            # Nothing but blank cells.
            return TextDialect(delimiter)
    if any(split.share for split in splits):
        return TextDialect(max(splits, key=lambda split: split.score).delimiter)
    if spaced := _sniff_spaces(sample):
        return spaced
    # A header that is too narrow (a title?) or disagrees is reported by the reader, with the line.
    for fits in (_Split.is_below_title, _Split.disagrees, _Split.is_single_column):
        for split in splits:
            if fits(split):
                return TextDialect(split.delimiter)
    return TextDialect(",")


@dataclass(frozen=True)
class _Split:
    """What a delimiter makes of a sample."""

    delimiter: str
    header: list[str]
    data: list[list[str]]

    @property
    def share(self) -> float:
        """Share of the records that have as many cells as the header, if that has several."""
        if len(self.header) == 1:
            return 0.0
        agreeing = sum(len(record) == len(self.header) for record in self.data)
        return agreeing / len(self.data) if self.data else 1.0

    @property
    def score(self) -> tuple[float, bool, int, bool]:
        """How likely it is; commas occur in names, texts and decimals, others hardly ever."""
        is_other = self.delimiter != ","
        has_decimal_commas = is_other and self.share == 1 and self._commas_are_decimals()
        return self.share, has_decimal_commas, len(self.header), is_other

    def _commas_are_decimals(self) -> bool:
        cells = [cell.strip() for record in self.data for cell in record if "," in cell]
        return bool(cells) and all(map(_is_number_or_missing, cells))

    def is_below_title(self) -> bool:
        """Whether it splits all records but the first, unlike the comma in 1,5 or Smith, John."""
        widths = {len(record) for record in self.data}
        if len(self.header) > 1 or len(widths) != 1 or len(self.data) < 2:
            return False
        (width,) = widths
        if self.delimiter != "," or width != 2:
            return width > 1
        is_spaced = any(second.startswith(" ") for _, second in self.data)
        return not is_spaced and not _all_numbers(self.data)

    def disagrees(self) -> bool:
        """Whether it splits the header and some records, but otherwise."""
        return len(self.header) > 1 and any(len(record) > 1 for record in self.data)

    def is_single_column(self) -> bool:
        """Whether it splits nothing."""
        return all(len(record) == 1 for record in [self.header, *self.data])


def _sniff_spaces(sample: str) -> TextDialect | None:
    """Return how spaces separate columns, or None if they do not for sure."""
    single = TextDialect(" ")
    records = _sample_records(sample, single)
    if _all_as_wide(records) and (_all_numbers(records[1:]) or _some_column_of_numbers(records)):
        return single
    if "  " not in sample:
        return None
    if starts := aligned_column_starts(io.StringIO(sample, newline="")):
        return TextDialect(" ", column_starts=starts)
    # Beside text, nobody knows whether two words are one cell and another cell is missing.
    collapsed = TextDialect(" ", skip_initial_space=True)
    records = _sample_records(sample, collapsed)
    return collapsed if _all_as_wide(records) and _all_numbers(records[1:]) else None


def _all_as_wide(records: list[list[str]]) -> bool:
    """Say whether there are several names, none of them blank, and as many cells in each record."""
    width = len(records[0]) if records else 0
    return width > 1 and all(records[0]) and all(len(record) == width for record in records)


def _all_numbers(records: list[list[str]]) -> bool:
    cells = [cell for record in records for cell in record]
    return bool(cells) and all(map(_is_number_or_missing, cells))


def _some_column_of_numbers(records: list[list[str]]) -> bool:
    """Say whether there is a column of numbers below a name that is not a number."""
    return any(
        not _ANY_NUMBER.fullmatch(name) and all(map(_is_number_or_missing, cells)) and any(cells)
        for name, *cells in zip(*records, strict=True)
    )


def _is_number_or_missing(cell: str) -> bool:
    return _ANY_NUMBER.fullmatch(cell) is not None or cell in MISSING_WORDS


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
    first = [cell.strip().replace(MINUS, "-") for cell in first]
    if not any(number.match(cell) and not _INTEGER.fullmatch(cell) for cell in first):
        return False
    columns = itertools.zip_longest(*others, fillvalue="")
    for name, column in zip(first, columns, strict=False):
        observed = [cell.strip() for cell in column if cell.strip() not in MISSING_WORDS]
        numeric = observed and all(number.match(cell.replace(MINUS, "-")) for cell in observed)
        if numeric and not number.match(name):
            return False
    return True
