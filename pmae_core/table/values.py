"""From raw cells to typed columns: numbers, booleans, dates or text, and nothing is lost."""

import datetime
import re
import unicodedata
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

# Words such as "None", "none" or "no" are answers in many tables and stay as they are.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "#N/A")

_INTEGER = r"^(?:\+?0|[+-]?[1-9][0-9]*)$"
# "007" is a code: as a number it would lose its zeros.
_PADDED_INTEGER = r"^[+-]?0[0-9]+$"
_INFINITY = r"[+-]?(?i:inf|infinity)"
MINUS = "\N{MINUS SIGN}"
_ARABIC_DECIMAL = "\N{ARABIC DECIMAL SEPARATOR}"
_ARABIC_THOUSANDS = "\N{ARABIC THOUSANDS SEPARATOR}"
THOUSANDS_SPACES = " \u00a0\u2009\u202f"
_WITH_FOREIGN_DIGITS = (
    rf"^[+{MINUS}-]?[\p{{Nd}}{_ARABIC_DECIMAL}{_ARABIC_THOUSANDS}.,'’{THOUSANDS_SPACES}]+"
    rf"(?:[eE][+{MINUS}-]?[0-9]+)?$"
)
_INTEGERS_ARE_EXACT_BELOW = 2.0**53
_LONG_INTEGER = r"^[+-]?[0-9]{16,}$"
_ISO_DATE = (
    r"^[0-9]{4}(?:-[0-9]{2}-[0-9]{2}|/[0-9]{2}/[0-9]{2})"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?P<offset>Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
)

_NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def to_series(values: pa.ChunkedArray) -> pd.Series:
    """Convert an Arrow column; incomplete integers and booleans get pandas' nullable types."""
    if values.null_count:
        return values.to_pandas(types_mapper=_NULLABLE.get)
    return values.to_pandas()


def is_text_column(column: pd.Series) -> bool:
    """Say whether a column holds text, or categories that are text."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return is_text_column(dtype.categories.to_series())
    return pd.api.types.is_string_dtype(dtype) or dtype.kind == "O"


def number_pattern(
    decimal: str = ".", thousands: str | None = None, *, in_lakhs: bool = False
) -> str:
    """Return a regular expression that only complete numbers match.

    Parameters
    ----------
    decimal, thousands : str
        The marks of numbers.
    in_lakhs : bool
        Whether digits are grouped as in India: ``12,34,567``.

    Examples
    --------
    >>> bool(re.match(number_pattern(",", "."), "1.234,56"))
    True
    >>> bool(re.match(number_pattern(",", "."), "1.23"))
    False
    """
    whole = "[0-9]+"
    if thousands:
        mark = re.escape(thousands)
        higher = f"[0-9]{{1,2}}(?:{mark}[0-9]{{2}})*" if in_lakhs else "[0-9]{1,3}"
        groups = f"{mark}[0-9]{{3}}" if in_lakhs else f"(?:{mark}[0-9]{{3}})+"
        whole = f"(?:{higher}{groups}|[0-9]+)"
    point = re.escape(decimal)
    finite = rf"[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    return f"^(?:{finite}|{_INFINITY})$"


def type_text(
    values: pa.ChunkedArray,
    decimal: str = ".",
    thousands: str | None = None,
    missing_words: Sequence[str] = MISSING_WORDS,
) -> pd.Series:
    """Give a column of text cells the type that *all* its observed values have, else leave it text.

    Parameters
    ----------
    values : pyarrow.ChunkedArray
        Strings as they stand in the file.
    decimal, thousands : str
        How numbers are written. Plain numbers (``1.5``) are understood, too.
    missing_words : sequence of str
        Texts that count as missing.

    Returns
    -------
    pandas.Series
        Of type ``bool`` or ``boolean``, ``int64`` or ``Int64``, ``uint64`` or ``UInt64``,
        ``float64``, ``datetime64`` or ``str``.
    """
    trimmed = pc.utf8_trim_whitespace(values)
    words = pa.array(missing_words, trimmed.type)
    missing = pc.or_(pc.is_in(trimmed, value_set=words), pc.is_null(trimmed))
    nothing = pa.scalar(None, trimmed.type)
    trimmed = pc.if_else(missing, nothing, trimmed)
    if trimmed.null_count == len(trimmed):
        return pd.Series(np.full(len(trimmed), np.nan))
    typed = _booleans(trimmed)
    if typed is None:
        typed = _numbers(trimmed, decimal, thousands)
    if typed is None:
        typed = _dates(trimmed)
    if typed is None:
        return pc.if_else(missing, nothing, values).to_pandas()
    return typed


def type_dates(values: pa.ChunkedArray) -> pd.Series:
    """Make a column of strings dates if all of them are, else leave it text."""
    dates = _dates(values)
    return values.to_pandas() if dates is None else dates


def _booleans(values: pa.ChunkedArray) -> pd.Series | None:
    if not _all_match(values, r"^(?i:true|false)$"):
        return None
    return to_series(pc.equal(pc.utf8_lower(values), "true"))


def _numbers(values: pa.ChunkedArray, decimal: str, thousands: str | None) -> pd.Series | None:
    plain = _plain_numbers(values, decimal, thousands)
    if plain is None or pc.any(pc.match_substring_regex(plain, _PADDED_INTEGER)).as_py():
        return None
    plain = pc.utf8_ltrim(plain, characters="+")
    if not _all_match(plain, _INTEGER):
        return _floats_without_loss(plain)
    for number_type in (pa.int64(), pa.uint64()):
        try:
            return to_series(plain.cast(number_type))
        except pa.ArrowInvalid:
            continue
    # Integers of more than 64 bits stay text, because a float would lose their last digits.
    return None


def _plain_numbers(
    values: pa.ChunkedArray, decimal: str, thousands: str | None
) -> pa.ChunkedArray | None:
    """Return numbers as Python writes them, or None if some cell is not a number."""
    values = _with_ascii_digits(values)
    marks = [(decimal, thousands), (".", None), (_ARABIC_DECIMAL, _ARABIC_THOUSANDS)]
    for point, group in marks:
        is_grouped_in_lakhs = (False, True) if group == "," else (False,)
        for in_lakhs in is_grouped_in_lakhs:
            if _all_match(values, number_pattern(point, group, in_lakhs=in_lakhs)):
                if group:
                    values = pc.replace_substring(values, pattern=group, replacement="")
                return pc.replace_substring(values, pattern=point, replacement=".")
    return None


def _with_ascii_digits(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers in Arabic, full-width and other digits, or with a typographic minus, in ASCII.

    Cells that are no numbers stay as they are.
    """
    is_ascii = pc.all(pc.string_is_ascii(values), min_count=0).as_py()
    if is_ascii or not _all_match(values, _WITH_FOREIGN_DIGITS):
        return values
    cells = values.to_pylist()
    digits = {sign for cell in cells if cell for sign in cell if sign.isdecimal()}
    in_ascii = {ord(sign): str(unicodedata.decimal(sign)) for sign in digits}
    in_ascii[ord(MINUS)] = "-"
    return _chunked([cell and cell.translate(in_ascii) for cell in cells], values.type)


def _floats_without_loss(plain: pa.ChunkedArray) -> pd.Series | None:
    """Return floats, or None if a number is too large for one or an integer would lose digits."""
    floats = plain.cast(pa.float64())
    if pc.max(pc.abs(floats)).as_py() < _INTEGERS_ARE_EXACT_BELOW:
        return to_series(floats)
    infinite = plain.filter(pc.is_inf(floats))
    integers = plain.filter(pc.match_substring_regex(plain, _LONG_INTEGER)).to_pylist()
    is_exact = _all_match(infinite, f"^{_INFINITY}$") and all(
        int(text) == int(float(text)) for text in integers
    )
    return to_series(floats) if is_exact else None


def _dates(values: pa.ChunkedArray) -> pd.Series | None:
    if not _all_match(values, _ISO_DATE):
        return None
    offsets = pc.struct_field(pc.extract_regex(values, _ISO_DATE), "offset")
    if len(pc.unique(offsets.drop_null())) > 1:
        # One column holds one time zone; mixed ones stay text so that no offset is lost.
        return None
    dashed = pc.replace_substring(values, pattern="/", replacement="-")
    try:
        return pd.to_datetime(dashed.to_pandas(), format="ISO8601")
    except ValueError:
        return None


def _all_match(values: pa.ChunkedArray, pattern: str) -> bool:
    """Tell whether every observed value matches; the first thousand decide most cases cheaply."""

    def matches(part: pa.ChunkedArray) -> bool:
        return pc.all(pc.match_substring_regex(part, pattern), min_count=0).as_py()

    return matches(values.slice(0, 1000)) and matches(values)


def type_cells(
    cells: Sequence[object], *, missing_words: Sequence[str] = ()
) -> tuple[pd.Series, bool]:
    """Make a column from cells that have a type each, as in JSON and Excel.

    Parameters
    ----------
    cells : sequence
        ``None`` and NaN are missing.
    missing_words : sequence of str
        Texts that count as missing, too. If given, texts beside numbers may be numbers.

    Returns
    -------
    column : pandas.Series
    mixed : bool
        True if cells of different types had to become text.
    """
    words = frozenset(missing_words)
    observed = cells
    if float in map(type, cells) or (words and str in map(type, cells)):
        observed = [_observed_or_none(cell, words) for cell in cells]
    kinds = set(map(type, observed)) - {type(None)}
    if not kinds:
        return pd.Series(np.full(len(observed), np.nan)), False
    if kinds == {str}:
        return type_dates(_chunked(observed, pa.large_string())), False
    for makers, maker in _MAKERS:
        if kinds <= makers:
            try:
                return maker(observed), False
            except (pa.ArrowInvalid, OverflowError):
                break
    as_text = _chunked([_cell_text(cell) for cell in observed], pa.large_string())
    if missing_words and kinds <= {int, float, str}:
        typed = type_text(as_text)
        return typed, typed.dtype == "str"
    return as_text.to_pandas(), len(kinds) > 1


def _observed_or_none(cell: object, missing_words: frozenset[str]) -> object:
    if isinstance(cell, float) and cell != cell:
        return None
    if missing_words and isinstance(cell, str) and cell.strip() in missing_words:
        return None
    return cell


def _cell_text(cell: object) -> str | None:
    return None if cell is None else str(cell)


def _chunked(cells: Sequence[object], arrow_type: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, arrow_type)])


def _integers(cells: Sequence[object]) -> pd.Series:
    try:
        return to_series(_chunked(cells, pa.int64()))
    except (pa.ArrowInvalid, OverflowError):
        return to_series(_chunked(cells, pa.uint64()))


def _floats(cells: Sequence[object]) -> pd.Series:
    floats = (np.nan if cell is None else float(cell) for cell in cells)  # type: ignore[arg-type]
    return pd.Series(np.fromiter(floats, float, len(cells)))


_MAKERS: tuple[tuple[set[type], Callable[[Sequence[object]], pd.Series]], ...] = (
    ({bool}, lambda cells: to_series(_chunked(cells, pa.bool_()))),
    ({int}, _integers),
    ({int, float}, _floats),
    (
        {datetime.datetime, datetime.date},
        lambda cells: to_series(_chunked(cells, pa.timestamp("us"))),
    ),
    ({datetime.timedelta}, lambda cells: to_series(_chunked(cells, pa.duration("us")))),
)
