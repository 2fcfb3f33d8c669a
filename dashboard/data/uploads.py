"""Files that users send: written to the workspace at once, then read from there.

A process of its own reads them, within limits of time and memory; see ``readings``.
"""

import functools
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from dashboard.data import upload_limits
from dashboard.data.readings import READINGS, Reading, ReadingOptions
from dashboard.runs import quotas
from dashboard.state.table_state import TableState
from dashboard.state.workspace import Workspace
from pmae_core.errors import TableError
from pmae_core.table.io.number_marks import NumberDoubt
from pmae_core.table.io.reading_process import ReadingProcess
from pmae_core.table.io.source import FORMAT_OF_ENDING, Remark

SECTION = "upload"

# The library advises people who write code; here are buttons instead of parameters.
_READING = 'under "Read the file in another way"'
_ADVICE = {
    "encoding": f"If letters look wrong, choose another encoding {_READING}.",
    "utf-16": f"If it is UTF-16 text, choose UTF-16 {_READING}.",
    "format": "If it is a table, give it the right ending.",
    "delimiter": "Put cells that contain the delimiter in quotes, remove title lines above the "
    f"header, or choose another separator {_READING}.",
    "spaces": "Save the table with commas or tabs between the cells.",
    "read-by-spaces": f"If this is wrong, choose another separator {_READING}.",
    "one-column": f"If each space separates two cells, choose the space as separator {_READING}.",
    "header": f"If this is wrong, choose what the first line holds {_READING}.",
    "decimal-comma": f"If there are two columns, choose the comma as separator {_READING}.",
    "sheet": f"Choose one of these names, or a number, {_READING}: the first sheet is 1.",
    "max_bytes": "Take a part of it.",
    "max_expanded_bytes": "Take a part of it.",
    "max_packing": "Save the table as .csv.",
    "max_columns": "Keep only the columns you need.",
    "max_rows": "Take a sample of its rows.",
    "max_cells": "Take fewer rows or columns.",
    "seconds": "Take fewer rows or columns, or save the table as .csv or .parquet, which are read "
    "faster. The administrator of this server can raise the limit.",
    "memory": "Take fewer rows or columns. The administrator of this server can raise the limit.",
}
_QUESTION = "number_question"
_ANY_ADVICE = "Look into the file, or choose another one."


@dataclass(frozen=True)
class OpenedFile:
    """A file that became the open table, and what was assumed on the way."""

    state: TableState
    remarks: tuple[str, ...]


def receive(workspace: Workspace, content: BinaryIO, name: str) -> None:
    """Write an upload to the workspace, where it waits to be read."""
    quotas.check_upload(workspace, content.seek(0, os.SEEK_END))
    content.seek(0)
    cancel_reading(workspace)  # or the file would change under it
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
    return name if isinstance(name, str) and name and workspace.upload_path.exists() else None


def start_reading(workspace: Workspace, options: ReadingOptions | None = None) -> None:
    """Begin to read the last upload; a reading before it is cancelled."""
    name = waiting_file(workspace)
    if name is None:
        raise TableError("There is no file to read. Upload one first.")
    options = options or ReadingOptions()
    start = functools.partial(
        ReadingProcess,
        workspace.upload_path,
        name=name,
        limits=upload_limits.table_limits(),
        process_limits=upload_limits.process_limits(),
        **asdict(options),
    )
    READINGS.add(workspace.id, Reading(name, options, start))


def current_reading(workspace: Workspace) -> Reading | None:
    """Return the reading that goes on, or whose table is not open yet."""
    return READINGS.find(workspace.id)


def wait_for_reading(workspace: Workspace, seconds: float | None = None) -> bool:
    """Wait until the reading ends, at most so long; say whether it has ended."""
    return READINGS.wait(workspace.id, seconds)


def cancel_reading(workspace: Workspace) -> Reading | None:
    """End the reading that goes on and return it; the file stays and can be read again."""
    return READINGS.cancel(workspace.id)


def open_upload(workspace: Workspace) -> OpenedFile | None:
    """Open the table of a reading that has ended; None if there is none, or another tab opened it.

    If that fails, the table before stays open.

    Raises
    ------
    TableError
        A sentence that says what is wrong and what to do.
    """
    reading = READINGS.take_ended(workspace.id)
    if reading is None:
        return None
    try:
        table = reading.result()
    except TableError as error:
        advice = _ADVICE.get(error.code or "", error.advice) or _ANY_ADVICE
        raise type(error)(error.problem, code=error.code, advice=advice) from error
    state = workspace.save_table(
        table.frame,
        name=reading.name,
        source="your file",
        # Columns of text may become numbers later on.
        decimal=table.dialect.decimal,
        thousands=table.dialect.thousands,
    )
    _keep_question(workspace, state, table.doubt, reading.options)
    # What is asked needs no remark.
    remarks = [remark for remark in table.remarks if remark.code != "number-marks"]
    return OpenedFile(state, tuple(dict.fromkeys(map(_sentence, remarks))))


# Numbers that can be read in two ways


@dataclass(frozen=True)
class NumberQuestion:
    """A number that nothing in its file decides: thousands or decimals?

    Attributes
    ----------
    column, text
        Where the number stands, and how it is written.
    values
        Both ways to read it; the first was taken.
    otherwise
        How to read the file in the second way.
    """

    column: str
    text: str
    values: tuple[float, float]
    otherwise: ReadingOptions


def number_question(workspace: Workspace, state: TableState) -> NumberQuestion | None:
    """Return the open question on the numbers of the open table, if it is the last upload."""
    kept = workspace.get(SECTION).get(_QUESTION)
    if not isinstance(kept, dict) or kept["table"] != state.raw or waiting_file(workspace) is None:
        return None
    return NumberQuestion(
        kept["column"],
        kept["text"],
        tuple(kept["values"]),
        ReadingOptions(**kept["otherwise"]),
    )


def settle_question(workspace: Workspace) -> None:
    """Note that the numbers were read as they should be."""
    workspace.update(SECTION, **{_QUESTION: None})


def _keep_question(
    workspace: Workspace, state: TableState, doubt: NumberDoubt | None, options: ReadingOptions
) -> None:
    if doubt is None:
        settle_question(workspace)
        return
    taken, other = doubt.readings
    otherwise = replace(options, decimal=other.decimal, thousands=other.thousands or "")
    question = {
        "table": state.raw,
        "column": doubt.column,
        "text": doubt.text,
        "values": [taken.value, other.value],
        "otherwise": asdict(otherwise),
    }
    workspace.update(SECTION, **{_QUESTION: question})


def is_text(name: str) -> bool:
    """Say whether a file of this name is delimited text, which can be read in several ways."""
    return FORMAT_OF_ENDING.get(Path(name).suffix.lower(), "csv") in ("csv", "tsv")


def is_workbook(name: str) -> bool:
    """Say whether a file of this name has sheets."""
    return FORMAT_OF_ENDING.get(Path(name).suffix.lower()) == "excel"


def _sentence(remark: Remark) -> str:
    advice = _ADVICE.get(remark.code or "", remark.advice)
    return f"{remark.problem} {advice}".strip()
