"""``pmae jobs logs``."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.jobs.access import POLL_SECONDS, JobId, find_job, open_store
from pmae_core.cli.jobs.words import is_over
from pmae_core.cli.options import AsJson, with_examples
from pmae_core.cli.terminal import print_json_text, print_text

if TYPE_CHECKING:
    from pmae_core.jobs import JobStore

HELP = with_examples(
    "Print the log of a job or, with --json, its events, one per line.",
    "pmae jobs logs 3f2a --follow",
)


def logs(
    job: JobId,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Keep printing until the job ends.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the log of a job."""
    store = open_store()
    record = find_job(store, job)
    place = 0
    while True:
        is_last = not follow or is_over(record)
        if as_json:
            place = _print_events(store, record.id, place)
        else:
            place = _print_log(record.folder / "log.txt", place)
        if is_last:
            return
        time.sleep(POLL_SECONDS)
        record = find_job(store, record.id)


def _print_log(path: Path, place: int) -> int:
    """Print a file from a place on and return where it ends now."""
    if not path.exists():
        return place
    with path.open("rb") as log:
        log.seek(place)
        new = log.read()
    # A carriage return would let a line overwrite the one before.
    print_text(re.sub("\r\n?", "\n", new.decode(errors="replace")), end="")
    return place + len(new)


def _print_events(store: JobStore, job_id: str, after: int) -> int:
    """Print the events after a number and return the number of the last one."""
    for event in store.events(job_id, after=after):
        print_json_text(json.dumps(asdict(event), ensure_ascii=False))
        after = event.seq
    return after
