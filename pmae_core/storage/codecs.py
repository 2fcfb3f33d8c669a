"""The cells of a column as a plain Arrow array and back: one codec per family of dtypes."""

from __future__ import annotations

import base64
import datetime
import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from pmae_core.storage.json_values import from_json_value, to_json_value


class Codec:
    """How the columns of one family of dtypes are written.

    Each has a ``name`` and ``fits`` some dtypes, describes a dtype in ``details`` and reads it
    again with ``dtype``, and turns values into an array (``encode``) and back (``decode``). This
    one is for numbers and booleans of numpy.
    """

    name = "plain"

    def fits(self, dtype: Any) -> bool:
        """Return whether this codec is for columns of a dtype."""
        return isinstance(dtype, np.dtype) and dtype.kind in "biuf"

    def details(self, values: Any) -> dict[str, Any]:
        """Return JSON-able data from which :meth:`dtype` makes the dtype."""
        return {"dtype": values.dtype.str}

    def dtype(self, details: dict[str, Any]) -> Any:
        """Return the dtype that :meth:`details` described."""
        return np.dtype(details["dtype"])

    def encode(self, values: Any) -> pa.Array:
        """Return values as an array of a plain type."""
        if values.dtype.kind == "f" and np.isnan(values).any():
            # Not a number is one value here, whatever its bits.
            values = np.where(np.isnan(values), values.dtype.type("nan"), values)
        return pa.array(values, from_pandas=False)

    def decode(self, array: pa.Array, dtype: Any) -> Any:
        """Return the values that :meth:`encode` encoded."""
        return np.array(array.to_numpy(zero_copy_only=False), dtype=dtype)


class _Times(Codec):
    """Dates and durations of numpy: counts of their unit."""

    name = "times"

    def fits(self, dtype: Any) -> bool:
        return isinstance(dtype, np.dtype) and dtype.kind in "mM"

    def encode(self, values: Any) -> pa.Array:
        return pa.array(values.view("i8"))

    def decode(self, array: pa.Array, dtype: Any) -> Any:
        return np.array(array.to_numpy()).view(dtype)


class _ZonedTimes(_Times):
    """Dates with a time zone: counts of their unit in UTC."""

    name = "zoned times"

    def fits(self, dtype: Any) -> bool:
        return isinstance(dtype, pd.DatetimeTZDtype)

    def details(self, values: Any) -> dict[str, Any]:
        return {"unit": values.dtype.unit, "zone": str(values.dtype.tz)}

    def dtype(self, details: dict[str, Any]) -> Any:
        return pd.DatetimeTZDtype(details["unit"], details["zone"])

    def encode(self, values: Any) -> pa.Array:
        return pa.array(values.asi8)

    def decode(self, array: pa.Array, dtype: Any) -> Any:
        utc = super().decode(array, np.dtype(f"M8[{dtype.unit}]"))
        return pd.DatetimeIndex(utc).tz_localize("UTC").tz_convert(dtype.tz).array


class _Periods(_Times):
    """Periods: counts of their frequency."""

    name = "periods"

    def fits(self, dtype: Any) -> bool:
        return isinstance(dtype, pd.PeriodDtype)

    def details(self, values: Any) -> dict[str, Any]:
        return {"dtype": str(values.dtype)}

    def dtype(self, details: dict[str, Any]) -> Any:
        return pd.api.types.pandas_dtype(details["dtype"])

    def encode(self, values: Any) -> pa.Array:
        return pa.array(values.asi8)

    def decode(self, array: pa.Array, dtype: Any) -> Any:
        return pd.arrays.PeriodArray(super().decode(array, np.dtype("i8")), dtype=dtype)


class _Nullable(Codec):
    """Numbers and booleans with nulls."""

    name = "nullable"
    _arrays = (pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray)

    def fits(self, dtype: Any) -> bool:
        return getattr(dtype, "construct_array_type", lambda: None)() in self._arrays

    def details(self, values: Any) -> dict[str, Any]:
        return {"dtype": values.dtype.name}

    def dtype(self, details: dict[str, Any]) -> Any:
        return pd.api.types.pandas_dtype(details["dtype"])

    def encode(self, values: Any) -> pa.Array:
        # Not through pandas: a missing number and NaN are different values here.
        numbers = values.to_numpy(values.dtype.numpy_dtype, na_value=0)
        return pa.array(numbers, mask=values.isna(), from_pandas=False)

    def decode(self, array: pa.Array, dtype: Any) -> Any:
        missing = array.is_null().to_numpy(zero_copy_only=False)
        filler = False if dtype.kind == "b" else 0
        numbers = array.fill_null(filler).to_numpy(zero_copy_only=False)
        return dtype.construct_array_type()(np.array(numbers), np.array(missing))


class _Texts(Codec):
    """Text of pandas, which has several kinds of storage and of missing values."""

    name = "texts"

    def fits(self, dtype: Any) -> bool:
        return isinstance(dtype, pd.StringDtype)

    def details(self, values: Any) -> dict[str, Any]:
        return {"storage": values.dtype.storage, "missing": repr(values.dtype.na_value)}

    def dtype(self, details: dict[str, Any]) -> Any:
        missing: Any = {"nan": np.nan, "<NA>": pd.NA}[details["missing"]]
        return pd.StringDtype(details["storage"], na_value=missing)

    def encode(self, values: Any) -> pa.Array:
        return pa.array(values, type=pa.large_string())

    def decode(self, array: pa.Array, dtype: Any) -> Any:
        return dtype.__from_arrow__(array)


class _Objects(Codec):
    """Python objects (and intervals): each cell as a JSON text."""

    name = "objects"

    def fits(self, dtype: Any) -> bool:
        return dtype == np.dtype(object) or isinstance(dtype, pd.IntervalDtype)

    def details(self, values: Any) -> dict[str, Any]:
        return {"dtype": str(values.dtype)}

    def dtype(self, details: dict[str, Any]) -> Any:
        return pd.api.types.pandas_dtype(details["dtype"])

    def encode(self, values: Any) -> pa.Array:
        return pa.array([json.dumps(cell_to_json(cell)) for cell in values], pa.large_string())

    def decode(self, array: pa.Array, dtype: Any) -> Any:
        cells = [cell_from_json(json.loads(text)) for text in array.to_pylist()]
        if isinstance(dtype, pd.IntervalDtype):
            return pd.array(cells, dtype=dtype)
        values = np.empty(len(cells), dtype=object)
        for position, cell in enumerate(cells):  # all at once, tuples would become a second axis
            values[position] = cell
        return values


def cell_to_json(cell: Any) -> Any:
    """Return one Python object as JSON-able data that keeps its type.

    Raises
    ------
    TypeError, SchemaError
        If that is not possible.
    """
    if cell is None or type(cell) in (str, int, bool):
        return cell
    data = _tagged(cell)
    back = cell_from_json(json.loads(json.dumps(data)))
    if type(back) is not type(cell) or repr(back) != repr(cell):
        raise TypeError(f"the value {cell!r} of type {type(cell).__name__}")
    return data


def _tagged(cell: Any) -> Any:
    if cell is pd.NA or cell is pd.NaT:
        return {"missing": repr(cell)}
    if isinstance(cell, np.generic):
        number = cell.view("i8").item() if cell.dtype.kind in "mM" else cell.item()
        return {"numpy": [cell.dtype.str, to_json_value(number)]}
    if isinstance(cell, bytes):
        return {"bytes": base64.b64encode(cell).decode()}
    if isinstance(cell, datetime.time):
        return {"time": cell.isoformat()}
    return to_json_value(cell)


def cell_from_json(data: Any) -> Any:
    """Return the object that :func:`cell_to_json` wrote."""
    if not isinstance(data, dict):
        return data
    [(tag, content)] = data.items()
    if tag == "missing":
        return {"<NA>": pd.NA, "NaT": pd.NaT}[content]
    if tag == "numpy":
        dtype, number = np.dtype(content[0]), from_json_value(content[1])
        return np.array(number, "i8" if dtype.kind in "mM" else dtype).view(dtype)[()]
    if tag == "bytes":
        return base64.b64decode(content)
    if tag == "time":
        return datetime.time.fromisoformat(content)
    return from_json_value(data)


CODECS = {
    codec.name: codec
    for codec in (Codec(), _Times(), _ZonedTimes(), _Periods(), _Nullable(), _Texts(), _Objects())
}
