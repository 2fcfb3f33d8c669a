"""``pmae jobs list``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.jobs.access import WORKSPACE, open_store, refresh, short_id
from pmae_core.cli.jobs.words import progress_text, seconds_taken
from pmae_core.cli.options import AsJson, with_examples
from pmae_core.cli.terminal import print_json, print_table, say
from pmae_core.words import count, duration, moment

if TYPE_CHECKING:
    from pmae_core.jobs import JobRecord
    from pmae_core.jobs.store import DamagedJob

HELP = with_examples(
    "List jobs, the newest first.",
    "pmae jobs list",
    "pmae jobs list --state running --state queued --json",
)


def list_jobs(
    state: Annotated[
        list[str] | None,
        typer.Option(help="queued, running, succeeded, failed, cancelled or interrupted."),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="train, impute, compare or benchmark.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of jobs.")] = 30,
    as_json: AsJson = False,
) -> None:
    """List jobs."""
    store = open_store()
    refresh(store)
    found = store.listing(WORKSPACE, state or None, kind or None, limit=limit)
    if as_json:
        print_json([record.to_dict() for record in found.jobs])
        return
    print_table(
        ["Id", "Name", "Kind", "State", "Submitted", "Time", ""],
        [*map(_cells, found.jobs), *map(_damaged_cells, found.damaged)],
    )
    n_listed = len(found.jobs) + len(found.damaged)
    n_jobs = store.count(WORKSPACE, state or None, kind or None)
    if n_jobs > n_listed:
        say(f"{count(n_listed)} of {count(n_jobs, 'job')}; --limit shows more.")


def _cells(record: JobRecord) -> list[str]:
    return [
        short_id(record),
        record.name or "",
        str(record.kind),
        str(record.state),
        moment(record.created_at),
        duration(seconds_taken(record)),
        record.error or progress_text(record),
    ]


def _damaged_cells(job: DamagedJob) -> list[str]:
    submitted = "" if job.created_at is None else moment(job.created_at)
    return [short_id(job), job.name or "", "", "damaged", submitted, "", job.why]
