"""What a reading process hands back: a table exactly as it was read, or the error, in one file.

The first line is JSON, and an Arrow stream follows it if there is a table. Nothing is pickled: the
process that writes the file has read somebody else's bytes.
"""

import json
from dataclasses import asdict, dataclass
from typing import BinaryIO

import pyarrow as pa

from pmae_core import errors
from pmae_core.errors import PMAEError
from pmae_core.storage.frames import from_arrow, to_arrow
from pmae_core.table.io.dialect import TextDialect
from pmae_core.table.io.number_marks import NumberDoubt
from pmae_core.table.io.reading import TableFile
from pmae_core.table.io.source import Remark, TableFormat


@dataclass(frozen=True)
class _FileFacts:
    """A :class:`TableFile` without its table."""

    format: TableFormat
    dialect: TextDialect
    encoding: str | None
    sheet: str | None
    remarks: tuple[Remark, ...]
    doubt: NumberDoubt | None


def write_table_file(file: BinaryIO, table: TableFile) -> None:
    """Write a table and what was detected about its file.

    Raises
    ------
    StorageError
        If something in the table cannot be kept exactly; nothing is written then.
    """
    arrow = to_arrow(table.frame)
    facts = _FileFacts(
        table.format, table.dialect, table.encoding, table.sheet, table.remarks, table.doubt
    )
    _write_line(file, {"facts": asdict(facts)})
    with pa.ipc.new_stream(file, arrow.schema) as stream:
        stream.write_table(arrow)


def write_error(file: BinaryIO, error: PMAEError) -> None:
    """Write an error with its sentence, its code and its advice."""
    kind = type(error).__name__
    _write_line(
        file,
        {"error": {"kind": kind, "words": [error.problem, error.code, error.advice]}},
    )


def _write_line(file: BinaryIO, content: object) -> None:
    file.write(json.dumps(content).encode() + b"\n")


def read_answer(file: BinaryIO) -> TableFile:
    """Return the table of :func:`write_table_file`, or raise the error of :func:`write_error`."""
    from pydantic import TypeAdapter  # slow to import, and only the reading process writes

    content = json.loads(file.readline())
    if "error" in content:
        problem, code, advice = content["error"]["words"]
        raise _error_class(content["error"]["kind"])(problem, code=code, advice=advice)
    facts = TypeAdapter(_FileFacts).validate_python(content["facts"])
    with pa.ipc.open_stream(file) as stream:
        frame = from_arrow(stream.read_all())
    return TableFile(
        frame,
        facts.format,
        facts.dialect,
        facts.encoding,
        facts.sheet,
        facts.remarks,
        facts.doubt,
    )


def _error_class(kind: str) -> type[PMAEError]:
    found = getattr(errors, kind, None)
    if not (isinstance(found, type) and issubclass(found, PMAEError)):
        raise ValueError(f"{kind!r} is not an error of this library.")
    return found
