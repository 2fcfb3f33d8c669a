"""Column names and labels as plain JSON, and back, without loss.

Text, whole numbers, finite decimals, booleans and None are written as they are. Other values
become an object with one key, the name of their type: ``{"date": "2024-02-29"}``.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import SchemaError


def _timestamp_to_json(value: pd.Timestamp) -> list[str | None]:
    return [value.isoformat(), None if value.tz is None else str(value.tz), value.unit]


def _timestamp_from_json(parts: list[Any]) -> pd.Timestamp:
    text, zone, unit = parts
    stamp = pd.Timestamp(text).as_unit(unit)
    return stamp if zone is None else stamp.tz_convert(zone)


def _interval_to_json(value: pd.Interval) -> list[Any]:
    return [to_json_value(value.left), to_json_value(value.right), value.closed]


def _interval_from_json(parts: list[Any]) -> pd.Interval:
    left, right, closed = parts
    return pd.Interval(from_json_value(left), from_json_value(right), closed=closed)


# Name -> (type, to JSON, from JSON). Subclasses stand before their bases: Timestamp before date.
_TAGGED: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "timestamp": (pd.Timestamp, _timestamp_to_json, _timestamp_from_json),
    "timedelta": (
        pd.Timedelta,
        lambda value: [int(value.asm8.view("int64")), value.unit],
        lambda parts: pd.Timedelta(np.timedelta64(*parts)),
    ),
    "python timedelta": (
        datetime.timedelta,
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: datetime.timedelta(*parts),
    ),
    "datetime": (
        datetime.datetime,
        lambda value: _timestamp_to_json(pd.Timestamp(value)),
        lambda parts: _timestamp_from_json(parts).to_pydatetime(),
    ),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
    "interval": (pd.Interval, _interval_to_json, _interval_from_json),
    "tuple": (
        tuple,
        lambda value: [to_json_value(part) for part in value],
        lambda parts: tuple(from_json_value(part) for part in parts),
    ),
    "float": (float, repr, float),
}


def is_json_value(value: object) -> bool:
    """Return whether `to_json_value` knows the type of a value."""
    return isinstance(value, str | bool | int | np.generic | None) or any(
        isinstance(value, kind) for kind, _, _ in _TAGGED.values()
    )


def to_json_value(value: Any) -> Any:
    """Return a column name or a label as JSON-able data.

    Examples
    --------
    >>> import datetime
    >>> to_json_value("town"), to_json_value(datetime.date(2024, 2, 29))
    ('town', {'date': '2024-02-29'})
    """
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    elif isinstance(value, np.timedelta64):
        value = pd.Timedelta(value)
    elif isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    for name, (kind, to_json, _) in _TAGGED.items():
        if isinstance(value, kind):
            return {name: to_json(value)}
    raise SchemaError(
        f"The value {value!r} of type {type(value).__name__} cannot be saved. "
        "Convert the column (or its name) to text, numbers or dates first."
    )


def from_json_value(data: Any) -> Any:
    """Return the value that `to_json_value` wrote.

    Examples
    --------
    >>> from_json_value({"date": "2024-02-29"})
    datetime.date(2024, 2, 29)
    """
    if not isinstance(data, dict):
        return data
    [(name, content)] = data.items()
    return _TAGGED[name][2](content)


def without_nan(value: Any) -> Any:
    """Return plain data in which numbers that are not finite are None, at any depth.

    Examples
    --------
    >>> without_nan({"loss": [0.5, float("nan")], "steps": 3})
    {'loss': [0.5, None], 'steps': 3}
    """
    if isinstance(value, Mapping):
        return {str(name): without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


MAX_DEPTH = 32


def json_copy(value: Any, where: str) -> Any:
    """Return a deep copy of data that JSON can hold as they are.

    Tuples become lists. Unlike `to_json_value`, nothing else is rewritten: what JSON cannot hold
    is refused.

    Parameters
    ----------
    value : object
        The data.
    where : str
        How the data are called in error messages.

    Raises
    ------
    SchemaError
        Naming the place of a value that JSON cannot hold, or that is nested too deeply.

    Examples
    --------
    >>> json_copy({"a": (1, 2.5)}, "params")
    {'a': [1, 2.5]}
    """
    return _json_copy(value, where, 0)


def _json_copy(value: Any, where: str, depth: int) -> Any:
    if value is None or type(value) in (str, int, bool):
        return value
    if depth > MAX_DEPTH:
        raise SchemaError(f"{where[:80]}... is nested more than {MAX_DEPTH} times.")
    if isinstance(value, Mapping):
        names = [name for name in value if not isinstance(name, str)]
        if names:
            raise SchemaError(f"Names in {where} must be text, not {names[0]!r}.")
        return {str(name): _json_copy(value[name], f"{where}.{name}", depth + 1) for name in value}
    if isinstance(value, list | tuple):
        return [_json_copy(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int | str):
        return int(value) if isinstance(value, int) else str(value)
    raise SchemaError(
        f"{where} is {value!r}, which JSON cannot hold. Use text, finite numbers, true, false, "
        "null, lists and objects."
    )
