"""A data frame as an Arrow table and back, exactly, with a digest of its content.

Parquet and pandas each preserve most tables, but lose some details: the order of categories, the
type of an index, whole numbers and text in one column. So each column is written as a plain Arrow
array, and a JSON text in the table's metadata describes what it was:

- numbers and booleans stay as they are; dates, durations and periods are counts of their unit;
- nullable numbers and text have nulls;
- categories are codes, and the JSON lists the categories in their order;
- Python objects are JSON texts, one per cell, which preserve their types.

``DataFrame.attrs`` is not stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from pmae_core.errors import SchemaError, StorageError
from pmae_core.names import make_unique
from pmae_core.storage.codecs import CODECS, cell_from_json, cell_to_json
from pmae_core.words import listed

METADATA = b"pmae_frame"
FORMAT = 1

Description = dict[str, Any]


def to_arrow(frame: pd.DataFrame) -> pa.Table:
    """Return a table from which :func:`from_arrow` makes the same data frame.

    Raises
    ------
    StorageError
        If something in it cannot be stored exactly.
    """
    columns = [
        _encode(frame.iloc[:, position], f"The column {name!r}")
        for position, name in enumerate(frame.columns)
    ]
    index, levels = _encode_index(frame.index, "The index")
    description = {
        "format": FORMAT,
        "names": _embed(frame.columns, "The column names"),
        "columns": [kind for kind, _ in columns],
        "index": index,
    }
    text = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    arrays = [*(array for _, array in columns), *levels]
    table = pa.Table.from_arrays(arrays, names=_field_names(frame, len(levels)))
    return table.replace_schema_metadata({METADATA: text})


def from_arrow(table: pa.Table) -> pd.DataFrame:
    """Return the data frame that :func:`to_arrow` was given.

    Raises
    ------
    StorageError
        If it was written by a newer release.
    """
    description, arrays = _unpack(table)
    kinds = description["columns"]
    index = _decode_index(description["index"], arrays[len(kinds) :])
    columns = {
        position: pd.Series(_decode(kind, array), index=index, dtype=_dtype(kind))
        for position, (kind, array) in enumerate(zip(kinds, arrays, strict=False))
    }
    frame = pd.DataFrame(columns, index=index)
    frame.columns = _unembed(description["names"])
    return frame


def only_columns(
    schema: pa.Schema, columns: Sequence[Hashable]
) -> tuple[list[str], dict[bytes, str]]:
    """Return the fields of a table that hold some columns and the index, and their metadata.

    :func:`from_arrow` makes the data frame of these columns from them alone.

    Raises
    ------
    StorageError
        If the table lacks a column.
    """
    description = json.loads(schema.metadata[METADATA])
    names, kinds = _unembed(description["names"]), description["columns"]
    places = names.get_indexer_for(pd.Index(columns, dtype=object))
    absent = [str(name) for name, place in zip(columns, places, strict=True) if place < 0]
    if absent:
        raise StorageError(f"The table has no column {listed(absent, last='or')}.")
    kept = {
        **description,
        "names": _embed(names[places], "The column names"),
        "columns": [kinds[place] for place in places],
    }
    fields = [*(schema.names[place] for place in places), *schema.names[len(kinds) :]]
    return fields, {METADATA: json.dumps(kept)}


def content_digest(table: pa.Table) -> str:
    """Return the SHA-256 of a table of :func:`to_arrow`: equal content gives equal text."""
    digest = hashlib.sha256(table.schema.metadata[METADATA])
    for array in _unpack(table)[1]:
        for part in _content(array):
            digest.update(part)
    return digest.hexdigest()


def _unpack(table: pa.Table) -> tuple[Description, list[pa.Array]]:
    """Return the description, and the arrays with the types they had before they were written."""
    description = json.loads(table.schema.metadata[METADATA])
    if description["format"] != FORMAT:
        raise StorageError(
            "The table was stored by a newer release of pmae. Update pmae to read it."
        )
    kinds = [*description["columns"], *description["index"]["levels"]]
    arrays = [
        _whole(column.cast(pa.type_for_alias(kind["arrow"])))
        for kind, column in zip(kinds, table.columns, strict=True)
    ]
    return description, arrays


def _field_names(frame: pd.DataFrame, n_levels: int) -> list[str]:
    """Return names for people who open the file; nothing else depends on them."""
    names = [*map(str, frame.columns), *(f"index {level}" for level in range(n_levels))]
    return make_unique([name.encode(errors="backslashreplace").decode() for name in names])


# Columns


def _encode(column: pd.Series | pd.Index, where: str) -> tuple[Description, pa.Array]:
    """Return the description of a column, and its cells as an array."""
    try:
        if isinstance(column.dtype, pd.CategoricalDtype):
            return _encode_categories(column.array)
        values = column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array
        codec = next(codec for codec in CODECS.values() if codec.fits(column.dtype))
        array = _whole(codec.encode(values))
        kind = {"codec": codec.name, "arrow": str(array.type), **codec.details(values)}
        if _dtype(kind) != column.dtype:
            raise TypeError("this type cannot be described")
    except StopIteration:
        raise _inexact(column, where, "this type is not supported") from None
    except (pa.ArrowException, KeyError, TypeError, ValueError, SchemaError) as error:
        raise _inexact(column, where, str(error)) from error
    return kind, array


def _inexact(column: pd.Series | pd.Index, where: str, why: str) -> StorageError:
    return StorageError(
        f"{where} ({column.dtype}) cannot be stored exactly: {why.rstrip('.')}. "
        "Convert it to text, numbers, dates or categories first."
    )


def _decode(kind: Description, array: pa.Array) -> Any:
    if kind["codec"] == "categories":
        return pd.Categorical.from_codes(array.to_numpy(), dtype=_dtype(kind))
    return CODECS[kind["codec"]].decode(array, _dtype(kind))


def _dtype(kind: Description) -> Any:
    if kind["codec"] == "categories":
        return pd.CategoricalDtype(_unembed(kind["categories"]), ordered=kind["ordered"])
    return CODECS[kind["codec"]].dtype(kind)


def _encode_categories(values: Any) -> tuple[Description, pa.Array]:
    array = pa.array(values.codes)
    kind = {
        "codec": "categories",
        "arrow": str(array.type),
        "categories": _embed(values.categories, "The categories"),
        "ordered": values.ordered,
    }
    return kind, array


# Indexes: of rows in arrays beside the columns; of columns, and categories, within the JSON


def _encode_index(index: pd.Index, where: str) -> tuple[Description, list[pa.Array]]:
    description: Description = {"names": [cell_to_json(name) for name in index.names]}
    if isinstance(index, pd.RangeIndex):
        description["range"] = [index.start, index.stop, index.step]
        return {**description, "levels": []}, []
    description["multi"] = isinstance(index, pd.MultiIndex)
    description["freq"] = getattr(index, "freqstr", None)
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    encoded = [_encode(level, where) for level in levels]
    description["levels"] = [kind for kind, _ in encoded]
    return description, [array for _, array in encoded]


def _decode_index(description: Description, arrays: list[pa.Array]) -> pd.Index:
    names = [cell_from_json(name) for name in description["names"]]
    if "range" in description:
        start, stop, step = description["range"]
        return pd.RangeIndex(start, stop, step, name=names[0])
    levels = [
        pd.Index(_decode(kind, array), dtype=_dtype(kind))
        for kind, array in zip(description["levels"], arrays, strict=True)
    ]
    if description["multi"]:
        return pd.MultiIndex.from_arrays(levels, names=names)
    index = levels[0].rename(names[0])
    if description["freq"] is not None and not isinstance(index, pd.PeriodIndex):
        index.freq = description["freq"]
    return index


def _embed(index: pd.Index, where: str) -> Description:
    description, arrays = _encode_index(index, where)
    return {
        **description,
        "cells": [[cell_to_json(cell) for cell in array.to_pylist()] for array in arrays],
    }


def _unembed(description: Description) -> pd.Index:
    arrays = [
        pa.array([cell_from_json(cell) for cell in cells], pa.type_for_alias(kind["arrow"]))
        for kind, cells in zip(description["levels"], description["cells"], strict=True)
    ]
    return _decode_index(description, arrays)


# Content


def _whole(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _content(array: pa.Array) -> Iterator[Any]:
    """Yield bytes that depend on the values alone: not on offsets or on what lies under nulls."""
    yield np.packbits(array.is_valid().to_numpy(zero_copy_only=False))
    if pa.types.is_large_string(array.type):
        yield from _text_content(array.fill_null(""))
        return
    if array.null_count:
        array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    values = array.to_numpy(zero_copy_only=False)
    yield np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False))


def _text_content(texts: pa.Array) -> Iterator[Any]:
    _, offsets_buffer, characters = texts.buffers()
    offsets = np.frombuffer(offsets_buffer, "i8", count=len(texts) + 1, offset=8 * texts.offset)
    yield np.diff(offsets).astype("<i8", copy=False)
    if characters is not None:
        yield characters.slice(offsets[0], offsets[-1] - offsets[0])
