"""``pmae jobs gc``: garbage collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.jobs.access import open_store, refresh
from pmae_core.cli.options import AsJson, with_examples
from pmae_core.cli.terminal import print_json, print_text
from pmae_core.words import count, listed

if TYPE_CHECKING:
    from pmae_core.jobs.store.records import GarbageReport

HELP = with_examples(
    "Remove old jobs, tables that no job needs, and leftovers of interrupted work.",
    "pmae jobs gc --days 30 --dry-run",
    "pmae jobs gc --workspace-days 30",
    "pmae jobs gc --jobs 100 --megabytes 2000",
)


def gc(
    days: Annotated[
        float | None,
        typer.Option(min=0, help="Remove jobs that ended more than this many days ago."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=0, help="Keep this many of the jobs that have ended.")
    ] = None,
    megabytes: Annotated[
        float | None,
        typer.Option(min=0, help="Remove the oldest jobs until the others take no more space."),
    ] = None,
    workspace_days: Annotated[
        float,
        typer.Option(
            min=0,
            help="Remove workspaces of the dashboard that nobody has used for this many days, "
            "with their jobs and tables; 0 keeps all.",
        ),
    ] = 0.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be removed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove what is no longer needed."""
    from pmae_core.jobs.collection import collect

    store = open_store()
    refresh(store)
    report = collect(
        store,
        unused_days=workspace_days,
        max_age_days=days,
        max_jobs=jobs,
        max_bytes=None if megabytes is None else int(megabytes * 1e6),
        dry_run=dry_run,
    )
    _print(report, dry_run=dry_run, as_json=as_json)


def _print(report: GarbageReport, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        content = {
            "workspaces": report.workspaces,
            "jobs": report.jobs,
            "tables": report.tables,
            "leftovers": list(map(str, report.leftovers)),
            "bytes_freed": report.bytes_freed,
            "dry_run": dry_run,
        }
        print_json(content)
        return
    verb = "Would remove" if dry_run else "Removed"
    removed = {
        "workspace": len(report.workspaces),
        "job": len(report.jobs),
        "table": len(report.tables),
        "leftover": len(report.leftovers),
    }
    counts = [count(number, word) for word, number in removed.items() if number or word == "job"]
    print_text(f"{verb} {listed(counts)}: {report.bytes_freed / 1e6:,.1f} MB.")
