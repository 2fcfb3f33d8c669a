"""Parquet and Feather (Arrow) files to a data frame."""

import warnings
from collections.abc import Iterable

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pmae_core.errors import EmptyTableError, TableWarning, UnreadableFileError
from pmae_core.table.limits import Limits
from pmae_core.table.names import clean_names
from pmae_core.table.source import TableSource, parsing_foreign
from pmae_core.table.values import to_series

# Repeated long strings can make few bytes on disk many in memory, so the batches are small.
_BATCH_ROWS = 8192


def read_parquet(source: TableSource, *, limits: Limits) -> pd.DataFrame:
    """Read a Parquet file after a look at its metadata."""
    with parsing_foreign(source, "Parquet"), pq.ParquetFile(source.rewind()) as file:
        shape = file.metadata
        limits.check_shape(shape.num_rows, shape.num_columns, source.name)
        groups = (shape.row_group(index) for index in range(shape.num_row_groups))
        limits.check_expanded(sum(group.total_byte_size for group in groups), source.name)
        _check_types(source, file.schema_arrow)
        table = _collect(
            source, file.schema_arrow, file.iter_batches(batch_size=_BATCH_ROWS), limits
        )
        return _to_frame(source, table)


def read_feather(source: TableSource, *, limits: Limits) -> pd.DataFrame:
    """Read a Feather file batch by batch, each one checked against the limits."""
    with parsing_foreign(source, "Feather"), pa.ipc.open_file(source.rewind()) as file:
        limits.check_columns(len(file.schema), source.name)
        _check_types(source, file.schema)
        batches = (file.get_batch(index) for index in range(file.num_record_batches))
        return _to_frame(source, _collect(source, file.schema, batches, limits))


def _collect(
    source: TableSource, schema: pa.Schema, batches: Iterable[pa.RecordBatch], limits: Limits
) -> pa.Table:
    collected, n_rows, n_bytes = [], 0, 0
    for batch in batches:
        # First of all: even asking a damaged batch for its size can read outside its memory.
        batch.validate(full=True)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        limits.check_shape(n_rows, batch.num_columns, source.name)
        limits.check_expanded(n_bytes, source.name)
        collected.append(batch)
    return pa.Table.from_batches(collected, schema)


def _check_types(source: TableSource, schema: pa.Schema) -> None:
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        raise UnreadableFileError(
            f"{source.name} has nested values in the columns {', '.join(map(repr, nested[:10]))}. "
            "A table needs one plain value in each cell."
        )


def _to_frame(source: TableSource, table: pa.Table) -> pd.DataFrame:
    if len(set(table.column_names)) < table.num_columns:
        # What pandas noted about columns goes by name, which says nothing if names repeat.
        table = table.replace_schema_metadata(None)
        table = table.rename_columns(clean_names(table.column_names))
    for position, field in enumerate(table.schema):
        plain = _plain_type(source, field)
        if plain != field.type:
            column = table.column(position).cast(plain)
            table = table.set_column(position, field.with_type(plain), column)
    frame = table.to_pandas()
    if frame.empty:
        raise EmptyTableError(
            f"{source.name} has {frame.shape[1]:,} columns and {frame.shape[0]:,} rows: "
            "there is nothing to read."
        )
    _restore_holes(frame, table)
    frame.columns = pd.Index(clean_names(frame.columns), dtype="str")
    return frame


def _plain_type(source: TableSource, field: pa.Field) -> pa.DataType:
    """Return the type under which pandas has values of its own instead of Python objects."""
    kind = field.type
    if pa.types.is_null(kind):
        return pa.float64()
    if pa.types.is_date(kind):
        return pa.timestamp("s") if pa.types.is_date32(kind) else pa.timestamp("ms")
    if pa.types.is_time(kind):
        return pa.string()
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.large_string()
    if pa.types.is_decimal(kind):
        warnings.warn(
            f"Column {field.name!r} of {source.name} holds decimal numbers and is read as floats.",
            TableWarning,
            stacklevel=4,
        )
        return pa.float64()
    return kind


def _restore_holes(frame: pd.DataFrame, table: pa.Table) -> None:
    """Keep integers and booleans with holes what they are, where pandas made floats or objects."""
    for position, (name, dtype) in enumerate(frame.dtypes.items()):
        column = table.column(str(name))
        whole = pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)
        if whole and column.null_count and dtype in (float, object):
            frame.isetitem(position, to_series(column).array)
