"""``pmae jobs show``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.jobs.access import JobId, find_job, open_store
from pmae_core.cli.jobs.words import (
    estimate_sentence,
    megabytes,
    progress_text,
    seconds_taken,
    state_sentence,
)
from pmae_core.cli.options import AsJson, with_examples
from pmae_core.cli.terminal import print_json, print_table
from pmae_core.words import count, duration, moment

if TYPE_CHECKING:
    from pmae_core.jobs import JobRecord, JobStore

HELP = with_examples(
    "Show everything about a job, or its document, which gives the same result when run again.",
    "pmae jobs show 3f2a",
    "pmae jobs show 3f2a --spec > job.json",
)


def show_job(
    job: JobId,
    spec: Annotated[bool, typer.Option("--spec", help="Print only the job's document.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a job."""
    store = open_store()
    record = find_job(store, job)
    if spec:
        print_json(record.spec.to_dict())
    elif as_json:
        position = store.queue_position(record.id)
        print_json({**record.to_dict(), "queue_position": position})
    else:
        print_table(["", record.id], list(_facts(store, record)))


def _facts(store: JobStore, record: JobRecord) -> Iterator[tuple[str, str]]:
    """Yield the facts about a job, without those that do not apply."""
    params = {name: value for name, value in record.spec.params.items() if value not in (None, {})}
    threads = count(record.spec.resources.threads, "thread")
    facts = {
        "Name": record.name,
        "Kind": record.kind,
        "State": state_sentence(store, record),
        "Progress": progress_text(record) if record.state == "running" else None,
        "Error": record.error,
        "Parameters": json.dumps(params, ensure_ascii=False),
        "Seed": record.spec.seed,
        "Table": record.spec.table,
        "Submitted": moment(record.created_at),
        "Time": duration(seconds_taken(record)),
        "Estimate": record.estimate and estimate_sentence(record.estimate),
        "Memory": record.memory_mb and megabytes(record.memory_mb),
        "Attempt": record.attempt or None,
        "Engine": f"{record.engine}, {threads}",
        "Folder": record.folder,
        "Files": ", ".join((record.result or {}).get("files", ())),
    }
    for name, fact in facts.items():
        if fact not in (None, ""):
            yield name, str(fact)
