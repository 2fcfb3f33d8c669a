"""Text that is aligned with spaces: the columns are found by the positions that are always blank.

Splitting such text at spaces would move values into wrong columns as soon as a cell is missing or
holds two words. The positions of the characters say what belongs together.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

_BLOCK_LINES = 5_000
_LONGEST_LINE = 100_000
_BLANK = ord(" ")
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
    header, *data = [line.rstrip(" \r\n") for line in lines if line.strip()] or [""]
    if not data or any("\t" in line or len(line) > _LONGEST_LINE for line in (header, *data)):
        return ()
    text = _AlignedText.of(header, data)
    spans = text.columns()
    if len(spans) < 2 or not text.all_named(spans) or any(map(text.has_two_names, spans)):
        return ()
    return (0, *(start for start, _ in spans[1:]))


def most_lines_have(spaces: str, lines: Iterable[str]) -> bool:
    """Say whether the first line and half of the others have these spaces before some word."""
    first, *others = [line.rstrip() for line in lines]
    n_having = sum(spaces in line for line in others)
    return spaces in first.lstrip() and n_having >= len(others) / 2


def split_at(line: str, starts: tuple[int, ...]) -> list[str]:
    """Return the cells of one line of aligned text."""
    line = line.rstrip("\r\n")
    stops = (*starts[1:], len(line))
    return [line[start:stop].strip() for start, stop in zip(starts, stops, strict=True)]


@dataclass(frozen=True)
class _Gap:
    """What lines show about two runs of characters with a single blank between them.

    Attributes
    ----------
    is_wider_somewhere
        Some line has both, with more than one blank between them.
    left_alone, right_alone
        Some line has only this one.
    """

    is_wider_somewhere: bool
    left_alone: bool
    right_alone: bool


@dataclass(frozen=True)
class _AlignedText:
    """Lines, and which positions are in use: by the header, by data, by what is not a number."""

    header: str
    data: Sequence[str]
    named: np.ndarray
    filled: np.ndarray
    letters: np.ndarray

    @classmethod
    def of(cls, header: str, data: Sequence[str]) -> "_AlignedText":
        width = max(map(len, (header, *data)))
        named = next(_blocks([header], width))[0] != _BLANK
        filled, letters = np.zeros(width, bool), np.zeros(width, bool)
        for codes in _blocks(data, width):
            filled |= (codes != _BLANK).any(axis=0)
            letters |= ((codes != _BLANK) & ~np.isin(codes, _NUMBER_CODES)).any(axis=0)
        return cls(header, data, named, filled, letters)

    def columns(self) -> list[Span]:
        """Return the runs of positions in use, joined where they are words of one column.

        There are none if some word may belong to two columns.
        """
        edges = np.flatnonzero(np.diff(np.r_[0, (self.named | self.filled).astype(np.int8), 0]))
        spans = [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]
        joined: list[Span] = []
        for span, following in itertools.zip_longest(spans, spans[1:]):
            fits_left = self._are_words(joined[-1], span) if joined else False
            is_word = not self._is_named(span) and following and self._is_named(following)
            if fits_left is None or (fits_left and is_word and self._are_words(span, following)):
                return []
            if fits_left:
                joined[-1] = (joined[-1][0], span[1])
            else:
                joined.append(span)
        return joined

    def _are_words(self, left: Span, right: Span) -> bool | None:
        """Say whether two runs are words of one column: there is always one blank between them.

        Without a line that shows more, two words may as well be two cells: None.
        """
        if right[0] - left[1] > 1:
            return False
        gap = self._gap(left, right)
        if gap.is_wider_somewhere:
            return False
        left_is_number, right_is_number = map(self._is_number_like, (left, right))
        if not self._is_named(right):
            return not gap.right_alone and left_is_number <= right_is_number
        if left_is_number or right_is_number or (gap.left_alone and gap.right_alone):
            return False
        if not self._is_named(left):
            # Names of rows stand in every line.
            return True if gap.right_alone else None
        header_has_one_blank = self.named[left[1] - 1] and self.named[right[0]]
        return None if header_has_one_blank else False

    def _gap(self, left: Span, right: Span) -> _Gap:
        found = np.zeros(3, bool)
        for codes in _blocks(self.data, len(self.filled)):
            nonblank = codes != _BLANK
            in_left = nonblank[:, slice(*left)].any(axis=1)
            in_right = nonblank[:, slice(*right)].any(axis=1)
            is_narrow = nonblank[:, left[1] - 1] & nonblank[:, right[0]]
            cases = (in_left & in_right & ~is_narrow, in_left & ~in_right, in_right & ~in_left)
            found |= [case.any() for case in cases]
        return _Gap(*map(bool, found))

    def all_named(self, spans: Sequence[Span]) -> bool:
        """Say whether each column has a name; the first needs none if all others have values."""
        has_name = [self._is_named(span) for span in spans]
        has_values = [bool(self.filled[slice(*span)].any()) for span in spans]
        return all(has_name[1:]) and (has_name[0] or all(has_values))

    def has_two_names(self, span: Span) -> bool:
        """Say whether a name may be two names, over numbers that are not aligned."""
        name = self.header[slice(*span)].strip()
        return "  " in name or (" " in name and self._is_number_like(span))

    def _is_named(self, span: Span) -> bool:
        return bool(self.named[slice(*span)].any())

    def _is_number_like(self, span: Span) -> bool:
        return bool(self.filled[slice(*span)].any() and not self.letters[slice(*span)].any())


def _blocks(lines: Sequence[str], width: int) -> Iterator[np.ndarray]:
    """Yield the characters of lines as matrices of numbers, blank where lines are shorter."""
    for first in range(0, len(lines), _BLOCK_LINES):
        block = np.array(lines[first : first + _BLOCK_LINES], dtype=f"U{width}")
        codes = block.view(np.uint32).reshape(len(block), width)
        yield np.where(codes == 0, _BLANK, codes)
