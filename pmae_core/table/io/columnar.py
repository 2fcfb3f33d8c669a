"""Parquet and Feather (Arrow) files to a data frame."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pmae_core.errors import EmptyTableError, UnreadableFileError
from pmae_core.table.io.arrow_messages import STREAM_START, check_batches
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.table.io.names import clean_names
from pmae_core.table.io.rows import index_as_columns
from pmae_core.table.io.source import TableSource, parsing_foreign
from pmae_core.table.values import to_series
from pmae_core.words import listed

_MOST_BATCH_ROWS = 8192
# Arrow doubles memory as a batch grows, so one batch gets only a part of what is allowed.
_BATCHES_WITHIN_LIMITS = 8


def read_parquet(
    source: TableSource, *, limits: ReadingLimits, keep_index: bool = False
) -> pd.DataFrame:
    """Read a Parquet file after checking its metadata.

    Parameters
    ----------
    source, limits
        The file, and how large it may be.
    keep_index
        Whether an index stays one; by default it becomes the first columns.
    """
    with parsing_foreign(source, "Parquet"):
        with pq.ParquetFile(source.rewind()) as file:
            shape, schema = file.metadata, file.schema_arrow
        limits.check_shape(shape.num_rows, shape.num_columns, source.name)
        groups = (shape.row_group(index) for index in range(shape.num_row_groups))
        limits.check_expanded(sum(group.total_byte_size for group in groups), source.name)
        _check_types(source, schema)
        longest = _longest_shared_text(source, shape, schema)
        with pq.ParquetFile(source.rewind()) as file:
            batches = file.iter_batches(batch_size=_batch_rows(longest, limits))
            table = _collect(source, schema, batches, limits)
            return _to_frame(source, table, keep_index=keep_index)


def _longest_shared_text(source: TableSource, shape: pq.FileMetaData, schema: pa.Schema) -> int:
    """Return the size of the longest text that is stored once for many rows, or a bound of it."""
    texts = [position for position, field in enumerate(schema) if _is_text(field.type)]
    names = [schema.names[position] for position in texts]
    longest = 0
    with pq.ParquetFile(source.rewind(), read_dictionary=names) as file:
        for group in range(shape.num_row_groups):
            for position, name in zip(texts, names, strict=True):
                chunk = shape.row_group(group).column(position)
                if "DELTA_BYTE_ARRAY" in chunk.encodings:
                    longest = max(longest, chunk.total_uncompressed_size)
                elif chunk.has_dictionary_page:
                    # The dictionary stands before all rows, so the first of them shows it whole.
                    rows = file.iter_batches(batch_size=1, row_groups=[group], columns=[name])
                    longest = max(longest, *(_longest(c.dictionary) for c in next(rows).columns))
    return longest


def _longest(texts: pa.Array) -> int:
    return pc.max(pc.binary_length(texts)).as_py() or 0


def _is_text(kind: pa.DataType) -> bool:
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _batch_rows(longest_text: int, limits: ReadingLimits) -> int:
    """Return how many rows may be read at once, even if each repeats the longest text."""
    budget = limits.max_expanded_bytes // _BATCHES_WITHIN_LIMITS
    return max(1, min(_MOST_BATCH_ROWS, budget // max(longest_text, 1)))


def read_feather(source: TableSource, *, limits: ReadingLimits) -> pd.DataFrame:
    """Read a Feather file batch by batch, each one checked against the limits."""
    with parsing_foreign(source, "Feather"):
        with pa.ipc.open_file(source.rewind()) as file:
            limits.check_columns(len(file.schema), source.name)
            _check_types(source, file.schema)
            n_batches = file.num_record_batches
        check_batches(source.handle, limits, source.name)
        # Read as the stream that was checked: the file's index might point elsewhere.
        source.handle.seek(STREAM_START)
        with pa.ipc.open_stream(source.handle) as batches:
            table = _collect(source, batches.schema, batches, limits)
        if len(table.to_batches()) != n_batches:
            raise ValueError("its index and its batches disagree")
        return _to_frame(source, table)


def _collect(
    source: TableSource, schema: pa.Schema, batches: Iterable[pa.RecordBatch], limits: ReadingLimits
) -> pa.Table:
    collected, n_rows, n_bytes = [], 0, 0
    for batch in batches:
        # First of all: even asking a damaged batch for its size can read outside its memory.
        batch.validate(full=True)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes + sum(map(_bytes_of_views, batch.columns))
        limits.check_shape(n_rows, batch.num_columns, source.name)
        limits.check_expanded(n_bytes, source.name)
        collected.append(batch)
    return pa.Table.from_batches(collected, schema)


def _bytes_of_views(column: pa.Array) -> int:
    """Return the size of texts that a column shares by pointing at them (views), each on its own.

    A view is 16 bytes that begin with the length of the text.
    """
    if not (pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type)):
        return 0
    lengths = np.frombuffer(column.buffers()[1], "<i4")[::4]
    return int(lengths[column.offset : column.offset + len(column)].sum(dtype=np.int64))


def _check_types(source: TableSource, schema: pa.Schema) -> None:
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        raise UnreadableFileError(
            f"{source.name} has nested values in the columns {listed(map(repr, nested), 10)}.",
            advice="Write one plain value into each cell.",
        )


def _to_frame(source: TableSource, table: pa.Table, *, keep_index: bool = False) -> pd.DataFrame:
    if len(set(table.column_names)) < table.num_columns:
        # What pandas noted about columns goes by name, which says nothing if names repeat.
        table = table.replace_schema_metadata(None)
        table = table.rename_columns(clean_names(table.column_names, source.remark))
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
    _restore_types(frame, table)
    kept: list[str] = []
    if not keep_index:
        frame, kept = index_as_columns(frame)
    if kept:
        source.remark(
            f"The index of {source.name} is read as {listed(map(repr, kept), 10)}.", code="index"
        )
    frame.columns = pd.Index(clean_names(frame.columns, source.remark), dtype="str")
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
        source.remark(
            f"Column {field.name!r} of {source.name} holds decimal numbers and is read as floats."
        )
        return pa.float64()
    return kind


def _restore_types(frame: pd.DataFrame, table: pa.Table) -> None:
    """Undo where pandas made floats or objects of integers and booleans with missing cells."""
    for position, (name, dtype) in enumerate(frame.dtypes.items()):
        column = table.column(str(name))
        whole = pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)
        if whole and column.null_count and dtype in (float, object):
            frame.isetitem(position, to_series(column).array)
