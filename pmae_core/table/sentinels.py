"""Values that stand for missing ones, such as "?" or -999: finding and declaring them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from pmae_core.errors import TableError
from pmae_core.table.values import number_pattern, type_text

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
    elif _is_text(column):
        counts = column.dropna().astype(str).value_counts()
        yield from _suspect_texts(dict(zip(counts.index, counts.tolist(), strict=True)))


def _is_text(column: pd.Series) -> bool:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _is_text(dtype.categories.to_series())
    return pd.api.types.is_string_dtype(dtype) or dtype.kind == "O"


def _suspect_texts(counts: dict[str, int]) -> Iterator[Suspect]:
    words = {text: count for text, count in counts.items() if not _NUMBER.match(text.strip())}
    numbers = {text: count for text, count in counts.items() if text not in words}
    number_share = sum(numbers.values()) / sum(counts.values())
    mostly_numbers = len(numbers) > 1 and number_share >= _NUMBER_SHARE
    has_plus = any(word.strip() == "+" for word in words)
    for word, count in words.items():
        phrase = word.strip().casefold()
        if phrase in _MISSING_PHRASES and not (phrase == "-" and has_plus):
            yield word, count, f"{word!r} is often written where a value is missing."
        elif mostly_numbers and len(words) <= _MOST_WORDS_AMONG_NUMBERS:
            yield word, count, f"{word!r} stands in a column whose other values are numbers."
    if mostly_numbers:
        values = np.array([float(text) for text in numbers])
        texts, n_cells = list(numbers), np.array(list(numbers.values()))
        for position, reason in _suspect_positions(values, n_cells):
            yield texts[position], numbers[texts[position]], reason


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


def declare_missing(
    df: pd.DataFrame,
    sentinels: Sequence[object] | Mapping[str, Sequence[object]],
    *,
    decimal: str = ".",
    thousands: str | None = None,
) -> pd.DataFrame:
    """Return the table with the named values missing.

    Integers stay integers (``Int64``). A text column that only the sentinels kept from being
    numbers, booleans or dates becomes one.

    Parameters
    ----------
    df : pandas.DataFrame
        The table; it is not changed.
    sentinels : sequence, or mapping of column name to sequence
        Values for all columns, or for each column its own. ``"-999"`` and ``-999`` mean the same.
    decimal, thousands : str
        How numbers in text columns are written.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    TableError
        If the mapping names a column that the table does not have.

    Examples
    --------
    >>> table = pd.DataFrame({"age": ["41", "?", "37"], "n": [1, -9, 3]})
    >>> declare_missing(table, {"age": ["?"], "n": [-9]}).dtypes.astype(str).to_dict()
    {'age': 'Int64', 'n': 'Int64'}
    """
    if isinstance(sentinels, Mapping):
        unknown = [name for name in sentinels if name not in df.columns]
        if unknown:
            raise TableError(
                f"Sentinels are given for columns that the table does not have: "
                f"{', '.join(map(repr, unknown))}."
            )
    result = df.copy()
    for position, name in enumerate(df.columns):
        chosen = sentinels.get(name, ()) if isinstance(sentinels, Mapping) else sentinels
        values = _as_list(chosen)
        column = df.iloc[:, position]
        missing = _equals_any(column, values)
        if missing.any():
            result.isetitem(position, _without(column, missing, decimal, thousands).array)
    return result


def _as_list(values: object) -> list[object]:
    """Take a single value for a list of one."""
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        return list(values)
    return [values]


def _equals_any(column: pd.Series, values: list[object]) -> np.ndarray:
    dtype = column.dtype
    wanted: list[object] = values
    if pd.api.types.is_bool_dtype(dtype):
        wanted = [value for value in values if isinstance(value, bool | np.bool_)]
    elif pd.api.types.is_numeric_dtype(dtype):
        wanted = [number for value in values if (number := _as_number(value)) is not None]
    elif pd.api.types.is_datetime64_any_dtype(dtype):
        wanted = [date for value in values if (date := _as_date(value, column)) is not None]
    elif _is_text(column):
        spellings = {spelling for value in values for spelling in _spellings(value)}
        matches = column.map(lambda cell: str(cell).strip() in spellings, na_action="ignore")
        return np.asarray(matches.astype(object).fillna(False), bool)
    return np.asarray(column.isin(wanted) & column.notna(), bool)


def _as_number(value: object) -> int | float | None:
    if isinstance(value, bool | np.bool_):
        return None
    for number_type in (int, float):
        if number_type is int and not isinstance(value, str | int | np.integer):
            continue
        try:
            return number_type(value)  # type: ignore[arg-type, call-overload]
        except (TypeError, ValueError):
            continue
    return None


def _as_date(value: object, column: pd.Series) -> pd.Timestamp | None:
    if isinstance(value, int | float):
        return None
    try:
        date = pd.Timestamp(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    timezone = column.dt.tz
    if timezone is not None and date.tzinfo is None:
        return date.tz_localize(timezone)
    return date if (date.tzinfo is None) == (timezone is None) else None


def _spellings(value: object) -> set[str]:
    """Return how a value may be written in a text column: -999.0 is also -999."""
    spellings = {str(value).strip()}
    if isinstance(value, float) and value.is_integer():
        spellings.add(str(int(value)))
    return spellings


def _without(
    column: pd.Series, missing: np.ndarray, decimal: str, thousands: str | None
) -> pd.Series:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column.mask(missing).cat.remove_categories(column[missing].unique())
    if isinstance(dtype, np.dtype) and dtype.kind in "iub":
        return column.convert_dtypes().mask(missing)
    emptied = column.mask(missing)
    observed = emptied.dropna()
    if observed.empty or not all(isinstance(cell, str) for cell in observed):
        return emptied
    strings = pa.chunked_array([pa.array(emptied, pa.large_string(), from_pandas=True)])
    typed = type_text(strings, decimal, thousands, missing_words=())
    if pd.api.types.is_string_dtype(typed.dtype):
        return emptied
    typed.index = column.index
    return typed
