"""What a reader sees when something fails: a sentence and what to do, never a traceback.

This is the one boundary for errors of pages: whatever a page draws is inside :func:`shown_errors`,
and whatever a callback does is inside :func:`errors_as_notices`.
"""

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import streamlit as st

from dashboard.keys import without_keys
from dashboard.state.notices import notify
from dashboard.text import plain
from pmae_core.errors import PMAEError
from pmae_core.storage.disk_trouble import DiskTrouble, disk_trouble

_log = logging.getLogger(__name__)
Function = TypeVar("Function", bound=Callable[..., Any])

OUR_MISTAKE = (
    "This part of the page failed. Your table and settings are safe. "
    "Reload the page; if it happens again, open another table or undo your last change."
)
DISK_TROUBLE = {
    DiskTrouble.FULL: (
        "The disk of the computer that runs this app is full. What was saved before is "
        "unchanged, but new changes cannot be saved. Free up space there, then try again."
    ),
    DiskTrouble.NOT_WRITABLE: (
        "The folder in which this app keeps its files is read-only or closed to it. What was saved "
        "before is unchanged, but new changes cannot be saved. Make the folder writable, then "
        "try again."
    ),
    DiskTrouble.OTHER: (
        "A file could not be read or written, so this part of the page failed. Reload the page; "
        "if it happens again, check the disk of the computer that runs this app."
    ),
}
NO_MEMORY = (
    "There is not enough memory. Your table and settings are safe. "
    "Use fewer rows or columns, or run this on a larger computer."
)


@contextmanager
def shown_errors() -> Iterator[None]:
    """Show an error of this block as a sentence in its place; what follows the block goes on."""
    try:
        yield
    except Exception as error:
        st.error(sentence_of(error), icon=":material/error:")


def fragment(function: Function) -> Function:
    """Like ``st.fragment``; errors are sentences when only the fragment is run again, too."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        with shown_errors():
            return function(*args, **kwargs)

    return st.fragment(guarded)  # type: ignore[return-value]


def errors_as_notices(callback: Function) -> Function:
    """Turn errors of a callback (``on_change``, ``on_click``) into a notice above the page."""

    @functools.wraps(callback)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return callback(*args, **kwargs)
        except Exception as error:
            notify("error", sentence_of(error))

    return guarded  # type: ignore[return-value]


def sentence_of(error: Exception) -> str:
    """Return what to tell the reader, as Markdown; what we did not expect goes to the log."""
    if isinstance(error, PMAEError):
        return plain(without_keys(str(error)))
    if isinstance(error, OSError):
        return _sentence_on_disk(error)
    _log.error("A page failed.", exc_info=error)
    return NO_MEMORY if isinstance(error, MemoryError) else OUR_MISTAKE


def _sentence_on_disk(error: OSError) -> str:
    trouble = disk_trouble(error)
    # A traceback tells nothing more about a disk that is full or may not be written.
    unexpected = trouble is DiskTrouble.OTHER
    _log.error("A page failed: %s.", error.strerror, exc_info=error if unexpected else None)
    return DISK_TROUBLE[trouble]
