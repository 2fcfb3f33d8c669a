"""Text that is aligned with spaces: the columns are found by the positions that are always blank.

Splitting such text at spaces would move values into wrong columns as soon as a cell is missing or
holds two words. The positions of the characters say what belongs together.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

import numpy as np

_BLOCK_LINES = 5_000
_LONGEST_LINE = 100_000
_BLANK = ord(" ")
_SEVERAL_SPACES = re.compile("  +")
# Of numbers, dates and times.
_NUMBER_CODES = np.array([ord(sign) for sign in "0123456789.,+-%:/"], np.uint32)

Span = tuple[int, int]


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
    text = (line.rstrip() for line in lines)
    header = next(filter(None, text), "")
    data = _Occupied.of(text)
    if data is None or len(header) > _LONGEST_LINE:
        return ()
    named = _nonblank([header], max(len(header), data.width))[0]
    data.widen(len(named))
    spans = _joined(_spans(named | data.filled), named, data)
    if len(spans) < 2 or not _all_named(spans, named, data):
        return ()
    if any(_are_two_columns(header, span, data) for span in spans):
        return ()
    return (0, *(start for start, _ in spans[1:]))


def looks_aligned(lines: Iterable[str]) -> bool:
    """Say whether the first line and half of the others have several spaces between words."""
    first, *others = [_SEVERAL_SPACES.search(line.strip()) is not None for line in lines]
    return first and sum(others) >= len(others) / 2


def split_at(line: str, starts: tuple[int, ...]) -> list[str]:
    """Return the cells of one line of aligned text."""
    line = line.rstrip("\r\n")
    stops = (*starts[1:], len(line))
    return [line[start:stop].strip() for start, stop in zip(starts, stops, strict=True)]


class _Occupied:
    """Which positions of lines are in use.

    Attributes
    ----------
    filled
        Some line has a character there.
    letters
        Some line has a character there that does not belong to a number.
    between_words
        Every line has a single blank there, between two characters.
    """

    def __init__(self, lines: list[str]) -> None:
        self.width = max(map(len, lines))
        codes = _codes(lines, self.width)
        nonblank = codes != _BLANK
        self.filled = nonblank.any(axis=0)
        self.letters = (nonblank & ~np.isin(codes, _NUMBER_CODES)).any(axis=0)
        self.between_words = np.zeros(self.width, bool)
        inside = nonblank[:, :-2] & ~nonblank[:, 1:-1] & nonblank[:, 2:]
        self.between_words[1:-1] = inside.all(axis=0)

    @classmethod
    def of(cls, lines: Iterator[str]) -> _Occupied | None:
        """Gather lines block by block; None if there are none, or if they cannot be aligned."""
        found: _Occupied | None = None
        nonempty = filter(None, lines)
        while block := list(itertools.islice(nonempty, _BLOCK_LINES)):
            if any("\t" in line or len(line) > _LONGEST_LINE for line in block):
                return None
            more = cls(block)
            found = more if found is None else found.together_with(more)
        return found

    def together_with(self, other: _Occupied) -> _Occupied:
        self.widen(other.width)
        other.widen(self.width)
        self.filled |= other.filled
        self.letters |= other.letters
        self.between_words &= other.between_words
        return self

    def widen(self, width: int) -> None:
        more = max(width - self.width, 0)
        self.filled, self.letters, self.between_words = (
            np.pad(part, (0, more)) for part in (self.filled, self.letters, self.between_words)
        )
        self.width += more

    def is_number_like(self, span: Span) -> bool:
        return not self.letters[slice(*span)].any()


def _codes(lines: list[str], width: int) -> np.ndarray:
    """Return the characters of lines as a matrix of numbers, blank where lines are shorter."""
    codes = np.array(lines, dtype=f"U{max(width, 1)}").view(np.uint32).reshape(len(lines), -1)
    return np.where(codes == 0, _BLANK, codes)


def _nonblank(lines: list[str], width: int) -> np.ndarray:
    return _codes(lines, width) != _BLANK


def _spans(filled: np.ndarray) -> list[Span]:
    """Return the runs of positions in use."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], filled.astype(np.int8), [0]])))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _joined(spans: list[Span], named: np.ndarray, data: _Occupied) -> list[Span]:
    """Join spans that are words of one column: in every line, one space stands between them."""
    joined = spans[:1]
    for span in spans[1:]:
        if _are_words(joined[-1], span, named, data):
            joined[-1] = (joined[-1][0], span[1])
        else:
            joined.append(span)
    return joined


def _are_words(left: Span, right: Span, named: np.ndarray, data: _Occupied) -> bool:
    gap = left[1]
    if right[0] - gap > 1 or not data.between_words[gap]:
        return False
    if not named[slice(*right)].any():
        return True
    has_number = data.is_number_like(left) or data.is_number_like(right)
    return not has_number and bool(named[gap - 1] and named[gap + 1])


def _all_named(spans: list[Span], named: np.ndarray, data: _Occupied) -> bool:
    """Say whether each column has a name; the first needs none if all others have values."""
    has_name = [bool(named[slice(*span)].any()) for span in spans]
    has_value = [bool(data.filled[slice(*span)].any()) for span in spans]
    return all(has_name[1:]) and (has_name[0] or all(has_value))


def _are_two_columns(header: str, span: Span, data: _Occupied) -> bool:
    """Say whether a name may be two names over numbers that are not aligned."""
    name = header[slice(*span)].strip()
    return "  " in name or (" " in name and data.is_number_like(span))
