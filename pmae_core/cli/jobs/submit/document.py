"""``pmae jobs submit --spec``: submit a job from its document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.groups import InputOptions, with_option_groups
from pmae_core.cli.jobs.access import WORKSPACE, open_store
from pmae_core.cli.jobs.options import SubmitOptions
from pmae_core.cli.options import Sentinels
from pmae_core.cli.terminal import note
from pmae_core.errors import JobError

if TYPE_CHECKING:
    from pmae_core.jobs import JobSpec, JobStore


@with_option_groups
def submit_document(
    *,
    context: typer.Context,
    spec: Annotated[
        Path | None,
        typer.Option(help="A job as a JSON document, as pmae jobs show --spec prints it."),
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="The table of the document, if it is not stored here yet.")
    ] = None,
    sentinel: Sentinels = None,
    submission: SubmitOptions,
) -> None:
    """Submit a document, or leave it to one of the commands."""
    if context.invoked_subcommand is not None:
        if spec is not None:
            raise typer.BadParameter(
                f"The document already says what to do. Leave out {context.invoked_subcommand}.",
                param_hint="--spec",
            )
        return
    if spec is None:
        raise typer.BadParameter(
            "Say what to do, such as train TABLE, or give a document with --spec.",
            param_hint="--spec",
        )
    document = _read_document(spec)
    store = open_store()
    if table is not None:
        _put_table(store, document, table, InputOptions(sentinel=sentinel))
    submission.submit(store, document)


def _read_document(path: Path) -> JobSpec:
    """Read a document and say which versions have changed since it was written."""
    from pmae_core.jobs import JobSpec

    document = JobSpec.from_json(path.read_text(encoding="utf-8"))
    for package, (then, now) in document.changed_versions().items():
        note(f"the document was written with {package} {then}; this is {now}.")
    return document


def _put_table(store: JobStore, document: JobSpec, path: Path, reading: InputOptions) -> None:
    """Store the table of a document, and refuse any other."""
    digest = store.put_table(reading.read(path), WORKSPACE)
    if document.table != digest:
        raise JobError(
            f"{path} is not the table of the document: its digest is {digest}, "
            f"not {document.table}."
        )
