"""Text that is aligned with spaces: the columns are found by the positions that are always blank.

Splitting such text at spaces would move values into wrong columns as soon as a cell is missing or
holds two words. The positions of the characters say what belongs together.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

_BLOCK_CHARACTERS = 1 << 22
_LONGEST_LINE = 10_000
_BLANK = ord(" ")
# Of numbers, dates and times.
_NUMBER_CODES = np.array([ord(sign) for sign in "0123456789.,+-%:/"], np.uint32)


def aligned_column_starts(lines: Iterable[str]) -> tuple[int, ...]:
    """Return where the columns of aligned text begin; nothing if that cannot be decided.

    Columns are separated by positions that are blank in every line. Each column needs a name in the
    first line, except the first one, which may hold names of rows.

    Parameters
    ----------
    lines : iterable of str
        All lines of the file, the one with the names first.

    Examples
    --------
    >>> aligned_column_starts(["name   age  city", "Anna    41  Kyiv", "Bert        Bonn"])
    (0, 7, 12)
    >>> aligned_column_starts(["name", "Anna Maria", "Bert"])
    ()
    """
    header, *data = [line.rstrip(" \r\n") for line in lines if line.strip()] or [""]
    if not data or any("\t" in line or len(line) > _LONGEST_LINE for line in (header, *data)):
        return ()
    columns = _joined(_runs(header, data))
    if len(columns) < 2 or not _all_named(columns):
        return ()
    if any(_has_two_names(header[column.start : column.stop], column) for column in columns):
        return ()
    return (0, *(column.start for column in columns[1:]))


def split_at(line: str, starts: tuple[int, ...]) -> list[str]:
    """Return the cells of one line of aligned text."""
    line = line.rstrip("\r\n")
    stops = (*starts[1:], len(line))
    return [line[start:stop].strip() for start, stop in zip(starts, stops, strict=True)]


@dataclass(frozen=True)
class _Run:
    """Positions between two that are blank in every line.

    Attributes
    ----------
    start, stop
        The first position, and the one after the last.
    is_number
        Whether lines below the header have characters there, and only those of numbers.
    lines
        Which lines have characters there; the first is the header.
    follows
        In which of them a character, one blank and the run's first character come in a row.
    """

    start: int
    stop: int
    is_number: bool
    lines: np.ndarray
    follows: np.ndarray

    @property
    def is_named(self) -> bool:
        return bool(self.lines[0])

    @property
    def has_values(self) -> bool:
        return bool(self.lines[1:].any())

    def with_next(self, other: "_Run") -> "_Run":
        """Return both runs as one."""
        return _Run(
            self.start,
            other.stop,
            self.is_number and other.is_number,
            self.lines | other.lines,
            self.follows,
        )


def _runs(header: str, data: Sequence[str]) -> list[_Run]:
    # A blank position at the end closes the last run.
    width = max(map(len, (header, *data))) + 1
    used = next(_blocks([header], width))[0] != _BLANK
    digits, letters = np.zeros(width, bool), np.zeros(width, bool)
    for codes in _blocks(data, width):
        is_of_number = np.isin(codes, _NUMBER_CODES)
        digits |= is_of_number.any(axis=0)
        letters |= ((codes != _BLANK) & ~is_of_number).any(axis=0)
    edges = np.flatnonzero(np.diff(np.r_[0, (used | digits | letters).astype(np.int8)]))
    starts, stops = edges[::2], edges[1::2]
    lines, follows = [], []
    for codes in _blocks([header, *data], width):
        nonblank = codes != _BLANK
        lines.append(np.logical_or.reduceat(nonblank, edges, axis=1)[:, ::2])
        follows.append(nonblank[:, starts] & nonblank[:, starts - 2] & (starts > 1))
    return [
        _Run(
            int(start),
            int(stop),
            is_number=bool(digits[start:stop].any() and not letters[start:stop].any()),
            lines=in_lines,
            follows=after_one_blank,
        )
        for start, stop, in_lines, after_one_blank in zip(
            starts, stops, np.vstack(lines).T, np.vstack(follows).T, strict=True
        )
    ]


def _blocks(lines: Sequence[str], width: int) -> Iterator[np.ndarray]:
    """Yield the characters of lines as matrices of numbers, blank where lines are shorter."""
    n_lines = max(_BLOCK_CHARACTERS // width, 1)
    for first in range(0, len(lines), n_lines):
        block = np.array(lines[first : first + n_lines], dtype=f"U{width}")
        codes = block.view(np.uint32).reshape(len(block), width)
        yield np.where(codes == 0, _BLANK, codes)


def _joined(runs: Sequence[_Run]) -> list[_Run]:
    """Join runs that are words of one column; return none if a word may belong to two columns."""
    columns: list[_Run] = []
    for run, following in itertools.zip_longest(runs, runs[1:]):
        fits_left = _are_words(columns[-1], run) if columns else False
        is_word_before_name = not run.is_named and following is not None and following.is_named
        fits_right = _are_words(run, following) if is_word_before_name else False
        if fits_left is None or (fits_left and fits_right is not False):
            return []
        if fits_left:
            columns[-1] = columns[-1].with_next(run)
        else:
            columns.append(run)
    return columns


def _are_words(left: _Run, right: _Run) -> bool | None:
    """Say whether two runs are words of one column: there is always one blank between them.

    Without a line that shows more, two words may as well be two cells: None.
    """
    is_wider = bool((left.lines & right.lines & ~right.follows).any())
    if right.start - left.stop > 1 or is_wider:
        return False
    left_is_alone = bool((left.lines & ~right.lines)[1:].any())
    right_is_alone = bool((right.lines & ~left.lines)[1:].any())
    if not right.is_named:
        return not right_is_alone and left.is_number <= right.is_number
    if left.is_number or right.is_number or (left_is_alone and right_is_alone):
        return False
    if not left.is_named and right_is_alone:
        # Names of rows would stand in every line.
        return True
    return None


def _all_named(columns: Sequence[_Run]) -> bool:
    """Say whether each column has a name; the first needs none if all others have values."""
    first, *others = columns
    has_row_names = not first.is_named and all(column.has_values for column in columns)
    return all(column.is_named for column in others) and (first.is_named or has_row_names)


def _has_two_names(header: str, column: _Run) -> bool:
    """Say whether a name may be two names, over numbers that are not aligned."""
    name = header.strip()
    return "  " in name or (" " in name and column.is_number)
