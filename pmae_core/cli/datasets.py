"""``pmae datasets``: tables that can be loaded by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.files import check_outputs, write_tables
from pmae_core.cli.options import AsJson, Force, with_examples
from pmae_core.cli.terminal import print_json, print_table, print_text
from pmae_core.words import count

if TYPE_CHECKING:
    from pmae_core.table import DatasetInfo

HELP = with_examples(
    "List the tables that can be loaded by name, or write one of them to a file.",
    "pmae datasets",
    "pmae datasets penguins --output penguins.csv",
)


def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One table instead of the list.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the table NAME.")
    ] = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """List the tables that can be loaded by name, or write one of them to a file."""
    from pmae_core.table import list_datasets, load_dataset

    if output and not name:
        raise typer.BadParameter("Name the table to write.", param_hint="--output")
    if output and name:
        check_outputs([output], force=force)
        write_tables([(load_dataset(name).frame, output)])
        return
    infos = [load_dataset(name).info] if name else list_datasets()
    if as_json:
        print_json([asdict(info) for info in infos])
    elif name:
        print_table(["", name], [(key, str(value)) for key, value in asdict(infos[0]).items()])
    else:
        _print_list(infos)


def _print_list(infos: Iterable[DatasetInfo]) -> None:
    rows = [
        (info.name, info.kind, count(info.n_rows), "yes" if info.available else "no", info.title)
        for info in infos
    ]
    print_table(["Name", "Kind", "Rows", "On disk", "Title"], rows, figures={2, 3})
    print_text("A table that is not on disk is downloaded when you first load it.")
