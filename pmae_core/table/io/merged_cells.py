"""Merged cells of a sheet: only the first cell of a range has the value that a reader sees in all.

Down the rows of a column, the value is repeated: a group that is named once belongs to all its
rows. Across columns it is not, because it would become the value of other variables, too.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from openpyxl.utils import get_column_letter

from pmae_core.errors import UnreadableFileError
from pmae_core.table.io.source import TableSource
from pmae_core.words import listed

_MOST_NAMED = 5


class MergedRange(NamedTuple):
    """First and last column and row of a range, counted from 1."""

    first_column: int
    first_row: int
    last_column: int
    last_row: int

    def __str__(self) -> str:
        first, last = get_column_letter(self.first_column), get_column_letter(self.last_column)
        return f"{first}{self.first_row}:{last}{self.last_row}"


def spread_merged(
    source: TableSource,
    columns: Mapping[int, list[object]],
    ranges: Sequence[MergedRange],
    first_data_row: int,
) -> None:
    """Repeat the values of merged ranges down their rows, and remark on all that are in the data.

    Parameters
    ----------
    source : TableSource
        Takes the remarks.
    columns : mapping of int to list
        The cells of the columns that are not empty, all from row 1 to the last row of the table;
        they are changed.
    ranges : sequence of MergedRange
        What is merged. Parts outside the table do not matter.
    first_data_row : int
        The first row below the header, counted from 1.

    Raises
    ------
    UnreadableFileError
        If ranges overlap, which no spreadsheet program writes.
    """
    area = _DataArea(columns, first_data_row)
    in_order = sorted(ranges, key=lambda merged: (merged.first_row, merged.first_column))
    inside = [(merged, part) for merged in in_order if (part := area.part_of(merged))]
    if sum(part.n_cells for _, part in inside) > area.n_cells:
        raise UnreadableFileError(
            f"{source.name} has merged ranges that overlap: the file is damaged."
        )
    repeated, across, below_names = [], [], []
    for merged, part in inside:
        first_column = columns.get(merged.first_column, [])
        value = first_column[merged.first_row - 1] if first_column else None
        if value is None:
            continue
        if merged.first_row < first_data_row:
            if area.has_missing(part):
                below_names.append(str(merged))
            continue
        if area.has_missing(part.without_column(merged.first_column)):
            across.append(str(merged))
        if len(part.rows) > 1:
            repeated.append(str(merged))
            for row in part.rows:
                first_column[row] = value
    _remark(source, "The value of cells merged over several rows is repeated in each row", repeated)
    _remark(
        source,
        "The value of cells merged over several columns stays in the first of them, and the other "
        "cells count as missing",
        across,
    )
    _remark(source, "Cells merged with a column name above them count as missing", below_names)


def _remark(source: TableSource, problem: str, ranges: Sequence[str]) -> None:
    if ranges:
        source.remark(
            f"{problem}: {listed(ranges, _MOST_NAMED)}.",
            advice="If this is wrong, unmerge these cells in Excel and enter their values.",
        )


class _Part(NamedTuple):
    """Columns by their position from 1, and rows by their place from 0."""

    columns: Sequence[int]
    rows: range

    @property
    def n_cells(self) -> int:
        return len(self.columns) * len(self.rows)

    def without_column(self, position: int) -> "_Part":
        return self._replace(columns=[one for one in self.columns if one != position])


class _DataArea:
    """The cells below the header, in columns that are not empty."""

    def __init__(self, columns: Mapping[int, list[object]], first_data_row: int) -> None:
        self._columns = columns
        self._positions = sorted(columns)
        self._rows = range(first_data_row - 1, max(map(len, columns.values()), default=0))
        self.n_cells = len(self._positions) * len(self._rows)

    def part_of(self, merged: MergedRange) -> _Part | None:
        """Return the part of a range that lies in the data; None if there is none."""
        positions = self._positions[
            bisect_left(self._positions, merged.first_column) : bisect_right(
                self._positions, merged.last_column
            )
        ]
        first = max(merged.first_row - 1, self._rows.start)
        part = _Part(positions, range(first, min(merged.last_row, self._rows.stop)))
        return part if part.n_cells else None

    def has_missing(self, part: _Part) -> bool:
        return any(self._columns[at][row] is None for at in part.columns for row in part.rows)
