"""A table on disk, kept exactly: Arrow's file format, with JSON for columns of mixed types."""

import hashlib
import json
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa

from pmae_core.errors import TableError
from pmae_core.table.cells import cell_types
from pmae_core.table.json_values import from_json_value, is_json_value, to_json_value

_MIXED = b"pmae_mixed_columns"
_BLOCK_ROWS = 50_000


def keep_table(frame: pd.DataFrame, folder: Path) -> str:
    """Write a table into a folder and return its digest, by which `load_table` finds it."""
    table = _to_arrow(frame)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".table-", delete=False) as handle:
        unfinished = Path(handle.name)
        try:
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            with pa.ipc.new_file(handle, table.schema, options=options) as file:
                file.write_table(table, max_chunksize=_BLOCK_ROWS)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    with unfinished.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    unfinished.replace(table_path(folder, digest))
    return digest


def load_table(folder: Path, digest: str) -> pd.DataFrame:
    """Return the table that `keep_table` wrote."""
    try:
        with pa.OSFile(str(table_path(folder, digest))) as file:
            table = pa.ipc.open_file(file).read_all()
    except (OSError, pa.ArrowInvalid):
        raise TableError(
            "The open table cannot be read from disk any more. Open it again on the Data page."
        ) from None
    frame = table.to_pandas()
    for name in json.loads((table.schema.metadata or {}).get(_MIXED, b"[]")):
        values = [None if pd.isna(c) else from_json_value(json.loads(c)) for c in frame[name]]
        frame[name] = pd.Series(values, index=frame.index, dtype=object)
    return frame


def table_path(folder: Path, digest: str) -> Path:
    """Return where a table lies."""
    return folder / f"{digest}.arrow"


def _to_arrow(frame: pd.DataFrame) -> pa.Table:
    mixed = [
        name
        for name, column in frame.items()
        if column.dtype == object and len(cell_types(column)) > 1
    ]
    frame = frame.copy(deep=False)
    for name in mixed:
        frame[name] = frame[name].map(_cell_as_text, na_action="ignore").astype("str")
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise TableError(
            f"The table holds values that cannot be kept: {error}. Turn them into text first."
        ) from error
    return table.replace_schema_metadata({**table.schema.metadata, _MIXED: json.dumps(mixed)})


def _cell_as_text(cell: object) -> str:
    return json.dumps(to_json_value(cell) if is_json_value(cell) else str(cell))
