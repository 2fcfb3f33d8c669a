"""Finding values that seem to stand for missing ones, such as "?" or -999."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pmae_core.table.values import is_text_column, number_pattern

_MISSING_PHRASES = frozenset(
    {
        *(
            "",
            "?",
            "??",
            "???",
            "-",
            "--",
            "---",
            ".",
            "..",
            "...",
            "*",
            "_",
            "na",
            "n/a",
            "n.a.",
            "n.a",
        ),
        *("nan", "null", "nil", "none", "<na>", "(null)", "(none)", "(blank)", "blank", "empty"),
        *("unknown", "unk", "missing", "undefined", "unspecified", "not available"),
        *("not applicable", "not known", "not recorded", "not reported", "not specified"),
        *("no data", "nodata", "no answer", "no response", "don't know", "tbd", "0000-00-00"),
        *("#n/a", "#div/0!", "#ref!", "#value!", "#num!", "#name?", "#null!"),
    }
)
_NUMBER = re.compile(number_pattern())
_PLACEHOLDER_DATES = frozenset(
    pd.Timestamp(date).as_unit("s")
    for date in (
        *("0001-01-01", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01"),
        *("1901-01-01", "1970-01-01", "2099-12-31", "2100-01-01", "2999-12-31", "9999-12-31"),
    )
)
# In a text column of numbers, up to so many kinds of words may be codes for missing.
_MOST_WORDS_AMONG_NUMBERS = 3
_NUMBER_SHARE = 0.8
# A text column of mostly different cells holds names, titles or sentences, and "None" may be one.
_NAMES_MIN_CELLS = 20
_NAMES_MIN_DISTINCT = 0.5
_NAMES_MOST_REPEATED = 2
_FAR_OUT_SPANS = 3
_FAR_OUT_COUNT = 3
_FEWEST_OTHERS = 5
# Numbers that people write for a missing one: -1, -9, 99, -999, 9999, 99.9 and so on.
_CODES = np.array(
    [-1.0, -9.0]
    + [
        sign * float("9" * n_digits + "." + "9" * n_decimals)
        for sign in (-1, 1)
        for n_digits in range(2, 11)
        for n_decimals in range(3)
    ]
)


@dataclass(frozen=True)
class SentinelSuggestion:
    """A value that seems to stand for a missing one.

    Attributes
    ----------
    column : str
        Name of the column.
    value : object
        The value as it stands in the column, fit for :func:`declare_missing`.
    count : int
        How many cells hold it.
    reason : str
        A sentence that says why it is suspected.
    """

    column: str
    value: object
    count: int
    reason: str


def suggest_sentinels(df: pd.DataFrame) -> list[SentinelSuggestion]:
    """Suggest values that seem to stand for missing ones; nothing is changed.

    Parameters
    ----------
    df : pandas.DataFrame
        The table.

    Returns
    -------
    list of SentinelSuggestion
        In the order of the columns, the most frequent value of a column first.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [41, 37, -999, 52, -999]})
    >>> [(s.column, s.value, s.count) for s in suggest_sentinels(table)]
    [('age', -999, 2)]
    """
    suggestions = []
    for name, column in df.items():
        found = [
            SentinelSuggestion(str(name), value, count, reason)
            for value, count, reason in _suspects(column)
        ]
        suggestions += sorted(found, key=lambda suggestion: -suggestion.count)
    return suggestions


Suspect = tuple[object, int, str]


def _suspects(column: pd.Series) -> Iterator[Suspect]:
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype) or not column.notna().any():
        return
    if pd.api.types.is_numeric_dtype(dtype):
        yield from _suspect_numbers(column.value_counts())
    elif pd.api.types.is_datetime64_any_dtype(dtype):
        yield from _suspect_dates(column.value_counts())
    elif is_text_column(column):
        counts = column.dropna().astype(str).value_counts()
        yield from _suspect_texts(dict(zip(counts.index, counts.tolist(), strict=True)))


def _suspect_texts(counts: dict[str, int]) -> Iterator[Suspect]:
    words = {text: count for text, count in counts.items() if not _NUMBER.match(text.strip())}
    numbers = {text: count for text, count in counts.items() if text not in words}
    number_share = sum(numbers.values()) / sum(counts.values())
    mostly_numbers = len(numbers) > 1 and number_share >= _NUMBER_SHARE
    phrases = {word for word in words if word.strip().casefold() in _MISSING_PHRASES}
    if any(word.strip() == "+" for word in words):
        phrases -= {word for word in phrases if word.strip() == "-"}
    if not mostly_numbers and _are_names(counts):
        phrases = _repeated_most(phrases, counts)
    for word, count in words.items():
        if word in phrases:
            yield word, count, f"{word!r} is often written where a value is missing."
        elif mostly_numbers and len(words) <= _MOST_WORDS_AMONG_NUMBERS:
            yield word, count, f"{word!r} stands in a column whose other values are numbers."
    if mostly_numbers:
        values = np.array([float(text) for text in numbers])
        texts, n_cells = list(numbers), np.array(list(numbers.values()))
        for position, reason in _suspect_positions(values, n_cells):
            yield texts[position], numbers[texts[position]], reason
    elif len(words) > 1 and not _are_names(counts) and _are_codes(numbers):
        for text, count in numbers.items():
            reason = f"{text.strip()} is a usual code for missing, in a column of words."
            yield text, count, reason


def _are_codes(numbers: dict[str, int]) -> bool:
    return bool(np.isin([float(text) for text in numbers], _CODES).all())


def _are_names(counts: dict[str, int]) -> bool:
    n_cells = sum(counts.values())
    return n_cells >= _NAMES_MIN_CELLS and len(counts) >= _NAMES_MIN_DISTINCT * n_cells


def _repeated_most(phrases: set[str], counts: dict[str, int]) -> set[str]:
    """Return the phrases that occur more often than any name, and so are no names."""
    names = (count for text, count in counts.items() if text not in phrases)
    most = max(names, default=0)
    return {phrase for phrase in phrases if counts[phrase] > max(most, _NAMES_MOST_REPEATED)}


def _suspect_numbers(counts: pd.Series) -> Iterator[Suspect]:
    values = counts.index.to_numpy(dtype=float)
    n_cells = counts.to_numpy(dtype=int)
    for position, reason in _suspect_positions(values, n_cells):
        # A list holds Python numbers, which read better and go into JSON.
        value = counts.index[position : position + 1].tolist()[0]
        yield value, int(n_cells[position]), reason


def _suspect_positions(values: np.ndarray, n_cells: np.ndarray) -> Iterator[tuple[int, str]]:
    """Yield positions of suspicious numbers among the different ones, and why they are."""
    is_code = np.isin(values, _CODES)
    others = np.flatnonzero(np.isfinite(values) & ~is_code)
    others = others[np.argsort(values[others])]
    if len(others) < 2:
        return
    low, high = float(values[others[0]]), float(values[others[-1]])
    for position in np.flatnonzero(is_code).tolist():
        if reason := _reason_for_code(float(values[position]), low, high):
            yield position, reason
    yield from _far_out(values, n_cells, others)


def _reason_for_code(code: float, low: float, high: float) -> str | None:
    spread = f"between {low:g} and {high:g}"
    # Columns of -1, 0 and 1 hold signs, not codes.
    if code < 0 <= low and high > 1:
        return f"{code:g} is a usual code for missing; all others lie {spread}, none is negative."
    gap = max(low - code, code - high)
    if abs(code) >= 99 and gap > high - low:
        return f"{code:g} is a usual code for missing and lies far from all others, {spread}."
    return None


def _far_out(
    values: np.ndarray, n_cells: np.ndarray, ordered: np.ndarray
) -> Iterator[tuple[int, str]]:
    """Find a repeated lowest or highest value with nothing else anywhere near; zero is natural."""
    if len(ordered) <= _FEWEST_OTHERS:
        return
    for at, nearest_at, farthest_at in ((0, 1, -1), (-1, -2, 0)):
        position = int(ordered[at])
        value = float(values[position])
        nearest, farthest = (float(values[ordered[i]]) for i in (nearest_at, farthest_at))
        gap, span = abs(value - nearest), abs(farthest - nearest)
        count = int(n_cells[position])
        if value != 0 and count >= _FAR_OUT_COUNT and gap > _FAR_OUT_SPANS * span:
            low, high = min(nearest, farthest), max(nearest, farthest)
            yield (
                position,
                f"{value:g} occurs {count:,} times, far from all others, "
                f"which lie between {low:g} and {high:g}.",
            )


def _suspect_dates(counts: pd.Series) -> Iterator[Suspect]:
    dates = pd.DatetimeIndex(counts.index)
    local = dates.tz_localize(None)
    placeholder = local.isin(_PLACEHOLDER_DATES)
    others = local[~placeholder]
    if not len(others):
        return
    for position in np.flatnonzero(placeholder).tolist():
        date = local[position]
        if max(others.min().year - date.year, date.year - others.max().year) > 1:
            reason = (
                f"{date.date()} is a usual placeholder; all other dates lie between "
                f"{others.min().date()} and {others.max().date()}."
            )
            yield dates[position], int(counts.iloc[position]), reason
