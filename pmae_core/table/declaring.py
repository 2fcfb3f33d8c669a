"""Declaring values such as "?" or -999 missing."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from pmae_core.errors import TableError
from pmae_core.table.values import is_text_column, type_text
from pmae_core.words import listed


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
                f"{listed(map(repr, unknown))}."
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
    elif is_text_column(column):
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
    without = column.mask(missing)
    observed = without.dropna()
    if observed.empty or not all(isinstance(cell, str) for cell in observed):
        return without
    strings = pa.chunked_array([pa.array(without, pa.large_string(), from_pandas=True)])
    typed = type_text(strings, decimal, thousands, missing_words=())
    if pd.api.types.is_string_dtype(typed.dtype):
        return without
    typed.index = column.index
    return typed
