"""Files that users send: written to the workspace at once, then read from there."""

import re
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from dashboard.workspace import TableState, Workspace
from pmae_core.errors import TableError, TableWarning
from pmae_core.table import ReadingLimits, TextDialect, read_table, sniff_dialect
from pmae_core.table.io.source import FORMAT_OF_ENDING

LIMITS = ReadingLimits()
SECTION = "upload"

_SAMPLE_BYTES = 1 << 20
# The library speaks to people who write code; here are buttons instead of parameters.
_READING = 'under "Read the file in another way"'
_IN_OTHER_WORDS = (
    (r"Pass encoding=\.\.\. if letters look wrong\.", f"If letters look wrong, choose {_READING}."),
    (r"pass encoding='utf-16-le' or 'utf-16-be'", f"choose UTF-16 {_READING}"),
    (r" or pass format='\w+'", ""),
    (r"or pass another delimiter", f"or choose another separator {_READING}"),
    (r"[Pp]ass (delimiter|decimal|thousands|header|sheet|encoding)=\S+", f"choose {_READING}"),
    (r",? or raise the limit \w+", ""),
)


@dataclass(frozen=True)
class ReadingOptions:
    """How a file is written, where the user knows better; None is found out."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: int | str = 0


@dataclass(frozen=True)
class OpenedFile:
    """A file that became the open table, and what was assumed on the way."""

    state: TableState
    remarks: tuple[str, ...]


def receive(workspace: Workspace, content: BinaryIO, name: str) -> None:
    """Write an upload to the workspace, where it waits to be read."""
    try:
        with workspace.upload_path.open("wb") as file:
            shutil.copyfileobj(content, file, 1 << 20)
    except OSError as error:
        workspace.upload_path.unlink(missing_ok=True)
        raise TableError(
            f"{Path(name).name} cannot be kept: {error.strerror or error}. "
            "Make room on the disk of the computer that runs this app, or take a smaller file."
        ) from error
    workspace.update(SECTION, name=Path(name).name)


def waiting_file(workspace: Workspace) -> str | None:
    """Return the name of the last upload, if it is still there."""
    name = workspace.get(SECTION).get("name")
    return name if name and workspace.upload_path.exists() else None


def open_upload(workspace: Workspace, options: ReadingOptions | None = None) -> OpenedFile:
    """Read the last upload and open it; if that fails, the table before stays open.

    Raises
    ------
    TableError
        A sentence that says what is wrong and what to do.
    """
    name = waiting_file(workspace)
    if name is None:
        raise TableError("There is no file to read. Upload one first.")
    options = options or ReadingOptions()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TableWarning)
        try:
            frame = _read(workspace.upload_path, name, options)
        except TableError as error:
            raise type(error)(_with_advice(in_other_words(str(error)))) from error
    dialect = _dialect(workspace.upload_path, name, options)
    state = workspace.save_table(
        frame,
        name=name,
        source="your file",
        decimal=dialect.decimal,
        thousands=dialect.thousands,
    )
    remarks = [str(w.message) for w in caught if issubclass(w.category, TableWarning)]
    return OpenedFile(state, tuple(dict.fromkeys(map(in_other_words, remarks))))


def is_text(name: str) -> bool:
    """Say whether a file of this name is delimited text, which can be read in several ways."""
    return FORMAT_OF_ENDING.get(Path(name).suffix.lower(), "csv") in ("csv", "tsv")


def is_workbook(name: str) -> bool:
    """Say whether a file of this name has sheets."""
    return FORMAT_OF_ENDING.get(Path(name).suffix.lower()) == "excel"


def in_other_words(sentence: str) -> str:
    """Return a sentence of the library with what to do on this page instead of in code."""
    for pattern, words in _IN_OTHER_WORDS:
        sentence = re.sub(pattern, words, sentence)
    return sentence


def _with_advice(sentence: str) -> str:
    """Say what to do where the library leaves it at what is wrong."""
    says_what_to_do = ". " in sentence
    return sentence if says_what_to_do else f"{sentence} Look into the file, or choose another one."


def _read(path: Path, name: str, options: ReadingOptions) -> pd.DataFrame:
    return read_table(
        path,
        name=name,
        sheet=options.sheet,
        delimiter=options.delimiter,
        encoding=options.encoding,
        decimal=options.decimal,
        header=options.header,
        limits=LIMITS,
    )


def _dialect(path: Path, name: str, options: ReadingOptions) -> TextDialect:
    """Find out how numbers are written: columns of text may become numbers later on."""
    if not is_text(name):
        return TextDialect()
    with path.open("rb") as file:
        sample = file.read(_SAMPLE_BYTES).decode(options.encoding or "utf-8", errors="replace")
    return sniff_dialect(sample, delimiter=options.delimiter, decimal=options.decimal)
