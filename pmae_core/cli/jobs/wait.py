"""Waiting for the end of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pmae_core.cli.jobs.access import POLL_SECONDS, short_id
from pmae_core.cli.jobs.words import is_over, progress_text, seconds_taken, state_sentence
from pmae_core.cli.terminal import EXIT_CANCELLED, as_text, print_json, print_text, say
from pmae_core.errors import JobError
from pmae_core.words import duration

if TYPE_CHECKING:
    from pmae_core.jobs import JobRecord, JobStore
    from pmae_core.jobs.engines import Engine

Wait = Annotated[
    bool, typer.Option("--wait", help="Wait until the job ends, and show its progress.")
]


def report(
    store: JobStore, engine: Engine, record: JobRecord, *, wait: bool, as_json: bool
) -> None:
    """Print the id of a job that was submitted and, if wanted, wait for its end."""
    if not as_json:
        print_text(record.id)
    if wait:
        record = _wait_or_leave(engine, record)
    if as_json:
        print_json(record.to_dict())
    if wait:
        _exit_like(record)
    elif not as_json:
        say(f"{state_sentence(store, record)} pmae jobs show {short_id(record)}")


def _wait_or_leave(engine: Engine, record: JobRecord) -> JobRecord:
    """Wait for the end of a job; Ctrl-C ends the waiting, not the job."""
    try:
        return _wait(engine, record)
    except KeyboardInterrupt:
        short = short_id(record)
        say(
            f"The job keeps running. See its progress with pmae jobs show {short}, or stop it "
            f"with pmae jobs cancel {short}."
        )
        raise typer.Exit(EXIT_CANCELLED) from None


def _wait(engine: Engine, record: JobRecord) -> JobRecord:
    """Wait for the end of a job and show its progress: in place, or line by line in a pipe."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    with console.status("") as status:
        shown = ""
        while True:
            record = engine.wait(record.id, timeout=POLL_SECONDS)
            text = progress_text(record)
            if console.is_terminal:
                status.update(as_text(text))
            elif text != shown:
                console.print(as_text(text))
            shown = text
            if is_over(record):
                return record


def _exit_like(record: JobRecord) -> None:
    """End the command the way the job ended."""
    short = short_id(record)
    if record.state == "cancelled":
        say(f"Cancelled. Continue the job with pmae jobs resume {short}")
        raise typer.Exit(EXIT_CANCELLED)
    if record.state != "succeeded":
        reason = record.error or "The reason is unknown."
        raise JobError(f"The job {record.state}: {reason} See pmae jobs logs {short}")
    say(f"Done in {duration(seconds_taken(record))}: pmae jobs result {short}")
