"""A bar for work that reports events, in terminals and notebooks, and a clean end on an interrupt.

One mechanism for fits, imputations and comparisons, in Python as on the command line: each event
says itself how far the work is (see :meth:`pmae_core.events.Event.progress_update`).
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pmae_core.colors import IMPUTED
from pmae_core.display import Html, as_html, html_box, share_bar
from pmae_core.events import Callback, Event, ProgressUpdate
from pmae_core.words import count, duration, time_left

# A notebook keeps every update until it has drawn it.
SECONDS_BETWEEN_UPDATES = 0.2
_NOTEBOOK_WIDTH = 200  # pixels of the bar
_TERMINAL_WIDTH = 12  # letters, so that all fits into 80


@dataclass(frozen=True)
class Watched:
    """What work is to call and to ask while it runs."""

    callbacks: Sequence[Callback]
    cancel: Callable[[], bool]


@contextmanager
def watched(
    title: str,
    *,
    progress: bool,
    callbacks: Sequence[Callback],
    cancel: Callable[[], bool] | None,
) -> Iterator[Watched]:
    """Add a bar to the callbacks of work, and an interrupt to its cancellation, if wanted.

    Parameters
    ----------
    title : str
        What is done, such as "Fitting".
    progress : bool
        Whether a bar is wanted. If not, nothing changes.
    callbacks : sequence of callables
        Those that the caller gave.
    cancel : callable or None
        The one that the caller gave.
    """
    is_cancelled = cancel or (lambda: False)
    if not progress:
        yield Watched(callbacks, is_cancelled)
        return
    with interruptible() as is_interrupted:

        def is_stopped() -> bool:
            return is_interrupted() or is_cancelled()

        with progress_bar(title, is_stopped) as show:
            yield Watched((*callbacks, show), is_stopped)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let work end cleanly after the first interrupt (Ctrl-C); the second stops it at once."""
    is_interrupted = False

    def on_interrupt(*_: Any) -> None:
        nonlocal is_interrupted
        if is_interrupted:
            raise KeyboardInterrupt
        is_interrupted = True

    with _interrupts_go_to(on_interrupt):
        yield lambda: is_interrupted


def _interrupts_go_to(handler: Callable[..., None]) -> Any:
    # Python hands signals to the main thread only; work in another one is interrupted by its owner.
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _handled(handler)


@contextmanager
def _handled(handler: Callable[..., None]) -> Iterator[None]:
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


# ---------------------------------------------------------------- the bar


class _Bar(Protocol):
    def show(self, update: ProgressUpdate) -> None: ...

    def close(self, outcome: str) -> None: ...


@contextmanager
def progress_bar(
    title: str, is_stopped: Callable[[], bool], *, is_shown: bool = True
) -> Iterator[Callback]:
    """Show a bar for the events of some work, starting with the first that says how far it is.

    Parameters
    ----------
    title : str
        What is done, such as "Fitting".
    is_stopped : callable
        Whether the work was asked to stop, for the last words in a notebook.
    is_shown : bool, default True
        If not, events are not shown.
    """
    if not is_shown:
        yield lambda event: None
        return
    bar = _bar_for_here(title)
    now = ProgressUpdate()
    started = time.monotonic()
    is_done = False

    def show_event(event: Event) -> None:
        nonlocal now
        update = event.progress_update()
        if update is not None:
            now = update if update.total is not None else replace(now, note=update.note)
            if now.total is not None:
                bar.show(now)

    try:
        yield show_event
        is_done = not is_stopped()
    finally:
        took = duration(time.monotonic() - started)
        bar.close(f"done in {took}" if is_done else f"stopped after {took}")


def _bar_for_here(title: str) -> _Bar:
    from rich.console import Console

    console = Console(stderr=True)
    return _NotebookBar(title) if console.is_jupyter else _TerminalBar(title, console)


class _TerminalBar:
    """A bar on stderr, which keeps stdout for results."""

    def __init__(self, title: str, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        self._progress = Progress(
            TextColumn(title),
            BarColumn(bar_width=_TERMINAL_WIDTH),
            TextColumn("{task.completed}/{task.total} {task.fields[unit]}s"),
            TextColumn("{task.fields[remaining]}"),
            # Names of users are no markup.
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
        )
        self._task = self._progress.add_task("", unit="", remaining="", note="")

    def show(self, update: ProgressUpdate) -> None:
        eta = update.eta_seconds
        self._progress.update(
            self._task,
            completed=update.done,
            total=update.total,
            unit=update.unit,
            remaining="" if eta is None else f"{duration(eta)} left",
            note=update.note,
        )
        self._progress.start()

    def close(self, outcome: str) -> None:
        self._progress.stop()


class _NotebookBar:
    """A bar in the output of a cell: without widgets, and saved with the notebook."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._handle: Any = None
        self._shown_at = 0.0
        self._newest = ProgressUpdate()

    def show(self, update: ProgressUpdate) -> None:
        self._newest = update
        if time.monotonic() - self._shown_at >= SECONDS_BETWEEN_UPDATES:
            self._shown_at = time.monotonic()
            eta = update.eta_seconds
            self._display([_done_words(update), "" if eta is None else time_left(eta), update.note])

    def close(self, outcome: str) -> None:
        if self._handle is not None:
            self._display([_done_words(self._newest), outcome])

    def _display(self, words: Sequence[str]) -> None:
        from IPython.display import display

        text = ", ".join(filter(None, words))
        content = {
            "text/html": notebook_bar(self._title, self._newest, text),
            "text/plain": f"{self._title}: {text}",
        }
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


def notebook_bar(title: str, update: ProgressUpdate, text: str) -> str:
    """Return a bar and the text beside it as HTML."""
    bar = share_bar((update.done or 0) / (update.total or 1), IMPUTED, width=_NOTEBOOK_WIDTH)
    row = "display: flex; align-items: center; flex-wrap: wrap"
    aside = "margin: 0 0.7rem 0 0"
    parts = f'<span style="{aside}">{as_html(title)}</span><span style="{aside}">{bar}</span>'
    parts += f"<span>{as_html(text)}</span>"
    return html_box(Html(f'<div style="{row}">{parts}</div>'))


def _done_words(update: ProgressUpdate) -> str:
    if update.total is None:
        return ""
    return f"{count(update.done or 0)} of {count(update.total, update.unit)}"
