"""Which characters the bytes of a text file stand for, and how many lines there are."""

import codecs
import io
import re
from dataclasses import dataclass

from pmae_core.errors import TableError, UnreadableFileError
from pmae_core.table.io.source import TableSource

_CHUNK_BYTES = 1 << 22
_BYTE_ORDER_MARKS = (
    # The mark of UTF-32 begins with that of UTF-16, so it is asked first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x7f]")


@dataclass(frozen=True)
class TextScan:
    """What one pass over a text file found.

    ``min_lines_with_text`` is a lower bound of the lines with text, exact if none is empty;
    ``n_trailing_breaks`` counts the line breaks after the last line that is not empty.
    """

    encoding: str
    min_lines_with_text: int
    n_quotes: int
    n_trailing_breaks: int

    def open(self, source: TableSource) -> io.TextIOWrapper:
        """Return the text from its start; detach it after use to keep the source open."""
        return io.TextIOWrapper(source.rewind(), encoding=self.encoding, newline="")


def scan_text(source: TableSource, encoding: str | None) -> TextScan:
    """Find the encoding and count lines in one pass; UTF-8 is tried strictly first."""
    if encoding is not None:
        return _scan_as_given(source, encoding)
    head = source.rewind().read(4)
    for mark, marked_encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return _scan_as_given(source, marked_encoding)
    try:
        return _scan(source, "utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        scan = _scan(source, "cp1252")
    except UnicodeDecodeError:
        scan = _scan(source, "latin-1")
    _refuse_binary(source, scan)
    source.remark(
        f"{source.name} is not UTF-8 and was read as {scan.encoding}.",
        advice="Pass encoding=... if letters look wrong.",
        code="encoding",
    )
    return scan


def _scan_as_given(source: TableSource, encoding: str) -> TextScan:
    try:
        # Refuses names of codecs that are no text encodings, such as "zip".
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise TableError(
            f"There is no text encoding {encoding!r}.", advice="Choose one such as 'utf-8'."
        ) from error
    # A byte order mark at the start is no part of the first name.
    exact = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    try:
        return _scan(source, exact)
    except UnicodeError as error:
        raise UnreadableFileError(
            f"{source.name} is not valid {encoding}: the file is damaged, incomplete or in another "
            f"encoding ({error})."
        ) from error


def _scan(source: TableSource, encoding: str) -> TextScan:
    handle = source.rewind()
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder(encoding)("strict"), translate=True
    )
    n_breaks = n_quotes = n_trailing = n_empty_at_most = 0
    at_end = False
    while not at_end:
        chunk = handle.read(_CHUNK_BYTES)
        at_end = not chunk
        text = decoder.decode(chunk, final=at_end)
        if "\0" in text:
            line = n_breaks + text[: text.index("\0")].count("\n") + 1
            raise UnreadableFileError(
                f"{source.name} has a NUL byte in line {line}: it is damaged or not text.",
                code="utf-16",
                advice="If it is UTF-16 text, pass encoding='utf-16-le' or 'utf-16-be'.",
            )
        n_breaks += text.count("\n")
        n_quotes += text.count('"')
        # A run of r breaks holds r - 1 empty lines, at most twice the pairs that count() finds;
        # one more may lie between two chunks.
        n_empty_at_most += 2 * text.count("\n\n") + text.startswith("\n")
        content = text.rstrip("\n")
        n_trailing = len(text) - len(content) + (0 if content else n_trailing)
    min_lines_with_text = n_breaks + (n_trailing == 0) - n_empty_at_most
    return TextScan(encoding, min_lines_with_text, n_quotes, n_trailing)


def _refuse_binary(source: TableSource, scan: TextScan) -> None:
    """Raise if bytes that are not UTF-8 are not text in another encoding either."""
    sample = source.rewind().read(_CHUNK_BYTES).decode(scan.encoding)
    if len(_CONTROL.findall(sample)) > len(sample) / 100:
        raise UnreadableFileError(f"{source.name} is not text: it is damaged or of another format.")
