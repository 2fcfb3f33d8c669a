"""Where a table comes from (path, bytes or buffer) and which format it really has."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, cast, get_args
from xml.etree.ElementTree import ParseError
from xml.parsers.expat.errors import XML_ERROR_NO_MEMORY, codes

from pmae_core.errors import EmptyTableError, TableError, TableTooLargeError, UnreadableFileError
from pmae_core.table.io.limits import ReadingLimits
from pmae_core.words import listed

TableFormat = Literal["csv", "tsv", "excel", "parquet", "feather", "jsonl"]

FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)

FORMAT_OF_ENDING: dict[str, TableFormat] = {
    ".csv": "csv",
    ".txt": "csv",
    ".dat": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xls": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}

_MAGIC_OF_FORMAT: dict[bytes, TableFormat] = {
    b"PK\x03\x04": "excel",
    b"PAR1": "parquet",
    b"ARROW1": "feather",
}

_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_FOREIGN_MAGIC = {
    b"PK\x05\x06": "an empty zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x1f\x9d": "a compress archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"\x04\x22\x4d\x18": "an lz4 archive",
    b"7z\xbc\xaf\x27\x1c": "a 7-zip archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"%PDF-": "a PDF document",
    b"\x89PNG\r\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"SQLite format 3\x00": "an SQLite database",
    b"\x89HDF\r\n": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"\x7fELF": "a program",
    b"FEA1": "a Feather file of the old version 1",
    b"<stata_dta>": "a Stata file",
    # Older versions begin with their number and the order of bytes.
    **dict.fromkeys(
        (bytes([version, order, 1]) for version in range(113, 116) for order in (1, 2)),
        "a Stata file",
    ),
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"HEADER RECORD*******": "a SAS transport file",
    bytes(12) + b"\xc2\xea\x81\x60": "a SAS file",
    b"RDX2": "an R data file",
    b"RDX3": "an R data file",
}


@dataclass(frozen=True)
class Remark:
    """What was changed or assumed while a table was read.

    Attributes
    ----------
    problem : str
        What was assumed, in a sentence.
    advice : str
        What to do if that is wrong, for people who write code.
    code : str or None
        What a page can offer help for.
    """

    problem: str
    advice: str = ""
    code: str | None = None

    def __str__(self) -> str:
        return f"{self.problem} {self.advice}".strip()


@dataclass(frozen=True)
class TableSource:
    """An open, seekable binary file with the name that error sentences call it by.

    Readers note in ``remarks`` what they changed or assumed.
    """

    handle: BinaryIO
    name: str
    ending: str
    remarks: list[Remark] = field(default_factory=list)

    def remark(self, problem: str, *, advice: str = "", code: str | None = None) -> None:
        """Note what is changed or assumed."""
        self.remarks.append(Remark(problem, advice, code))

    def rewind(self) -> BinaryIO:
        """Return the handle at its start."""
        self.handle.seek(0)
        return self.handle


@contextmanager
def open_source(source: object, name: str | None, limits: ReadingLimits) -> Iterator[TableSource]:
    """Open a path, bytes or binary buffer, check its size, and close what was opened here."""
    with io.BytesIO() as nothing_to_close:
        handle: BinaryIO = nothing_to_close
        if isinstance(source, bytes | bytearray | memoryview):
            handle = io.BytesIO(source)
        elif isinstance(source, str | os.PathLike):
            handle = _open_path(source)
            name = name or Path(os.fsdecode(source)).name
        elif hasattr(source, "read"):
            handle = _seekable(cast(BinaryIO, source), limits)
            name = name or _name_of_buffer(source)
        else:
            raise TableError(
                f"A table cannot be read from an object of type {type(source).__name__}.",
                advice="Pass a path, bytes or a binary file.",
            )
        label = repr(name or "unnamed table")
        try:
            n_bytes = handle.seek(0, os.SEEK_END)
            if n_bytes == 0:
                raise EmptyTableError(f"{label} is empty: it has no bytes.")
            limits.check_file_size(n_bytes, label)
            yield TableSource(handle, label, Path(name or "").suffix.lower())
        finally:
            if handle is not source:
                handle.close()


def _open_path(path: str | os.PathLike[str]) -> BinaryIO:
    location = Path(os.fsdecode(path))
    try:
        if location.is_dir():
            raise TableError(f"'{location}' is a folder.", advice="Name one file inside it.")
        if location.exists() and not location.is_file():
            raise TableError(f"'{location}' is not a regular file.")
        return location.open("rb")
    except FileNotFoundError as error:
        raise TableError(f"There is no file '{location}'.", advice="Check the path.") from error
    except (OSError, ValueError) as error:
        raise TableError(f"'{str(location)[:200]}' cannot be opened: {error}.") from error


def _seekable(buffer: BinaryIO, limits: ReadingLimits) -> BinaryIO:
    """Return the buffer itself if it can seek, else a copy in memory within the limit."""
    if isinstance(buffer, io.TextIOBase):
        raise TableError("The file is open as text.", advice="Open it in binary mode ('rb').")
    if hasattr(buffer, "seekable") and buffer.seekable():
        buffer.seek(0)
        return buffer
    # One byte more than allowed is enough to know that the limit is exceeded.
    return io.BytesIO(buffer.read(limits.max_bytes + 1))


def _name_of_buffer(buffer: object) -> str | None:
    name = getattr(buffer, "name", None)
    return Path(name).name if isinstance(name, str) else None


def detect_format(source: TableSource, wanted: str | None) -> TableFormat:
    """Return the format asked for or that of the name's ending, checked against the content.

    Without either, the content decides.
    """
    if wanted is not None and wanted not in FORMATS:
        raise TableError(
            f"There is no format {wanted!r}.", advice=f"Choose {listed(FORMATS, 9, 'or')}."
        )
    head = source.rewind().read(4096)
    promised = wanted or FORMAT_OF_ENDING.get(source.ending)
    found = _format_of_content(head, source)
    if promised is None:
        return found or _format_of_text(head)
    if found is not None and found != promised:
        raise UnreadableFileError(
            f"{source.name} should be {promised}, but its content is {_title(found)}.",
            code="format",
            advice=f"If it is a table, give it the right ending or pass format={found!r}.",
        )
    if found is None and promised in _MAGIC_OF_FORMAT.values():
        raise UnreadableFileError(
            f"{source.name} should be {promised}, but its content is not: the file is damaged, "
            "incomplete or of another format."
        )
    return promised


def _title(found: TableFormat) -> str:
    return "an Excel workbook or another zip archive" if found == "excel" else found


def _format_of_content(head: bytes, source: TableSource) -> TableFormat | None:
    """Return the format by magic bytes, None for text; raise for what is not a table at all."""
    if head.startswith(_OLE_MAGIC):
        _refuse_old_office_file(source)
    for magic, title in _FOREIGN_MAGIC.items():
        if head.startswith(magic):
            is_archive = "archive" in title
            advice = "Unpack it first." if is_archive else "Save the table in another format."
            raise UnreadableFileError(
                f"{source.name} is {title}, which cannot be read.", advice=advice
            )
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        raise UnreadableFileError(
            f"{source.name} is a web page, not a table.",
            advice="Check the download: it may have needed a login.",
        )
    for magic, table_format in _MAGIC_OF_FORMAT.items():
        if head.startswith(magic):
            return table_format
    return None


def _refuse_old_office_file(source: TableSource) -> None:
    handle = source.rewind()
    # The directory of such a file names its streams in UTF-16.
    encrypted = "EncryptedPackage".encode("utf-16-le")
    overlap = b""
    while chunk := handle.read(1 << 20):
        if encrypted in overlap + chunk:
            raise UnreadableFileError(
                f"{source.name} is protected by a password.",
                advice="Save it without one and read it again.",
            )
        overlap = chunk[-len(encrypted) :]
    raise UnreadableFileError(
        f"{source.name} is an Excel file of the old kind (.xls).",
        advice="Save it as .xlsx or .csv.",
    )


def _format_of_text(head: bytes) -> TableFormat:
    """Distinguish JSON from delimited text by the first character."""
    return "jsonl" if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")) else "csv"


@contextmanager
def parsing_foreign(source: TableSource, title: str) -> Iterator[None]:
    """Turn whatever a third-party parser raises on damaged input into one sentence.

    These parsers document no complete list of what they raise on hostile bytes, so every
    ``Exception`` counts; the original stays attached as the cause.
    """
    try:
        yield
    except TableError:
        raise
    except Exception as error:
        if _is_out_of_memory(error):
            raise TableTooLargeError(
                f"{source.name} does not fit into memory.", code="memory"
            ) from error
        detail = str(error).strip().splitlines()
        raise UnreadableFileError(
            f"{source.name} cannot be read as {title}: the file is damaged or incomplete"
            + (f" ({detail[0][:200]})." if detail else ".")
        ) from error


def _is_out_of_memory(error: Exception) -> bool:
    if isinstance(error, ParseError):
        return error.code == codes[XML_ERROR_NO_MEMORY]
    return isinstance(error, MemoryError)
