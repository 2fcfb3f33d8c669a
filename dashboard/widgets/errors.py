"""What a reader sees when something fails: a sentence and what to do, never a traceback."""

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import streamlit as st

from dashboard.state.notices import notify
from dashboard.text import plain
from pmae_core.errors import PMAEError

_log = logging.getLogger(__name__)
Function = TypeVar("Function", bound=Callable[..., Any])

OUR_MISTAKE = (
    "This part of the page failed. Your table and settings are safe. "
    "Reload the page; if it happens again, open another table or undo your last change."
)
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


def calm(callback: Function) -> Function:
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
        return plain(error)
    _log.error("A page failed.", exc_info=error)
    return NO_MEMORY if isinstance(error, MemoryError) else OUR_MISTAKE
