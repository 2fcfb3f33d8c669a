"""``pmae jobs result``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.jobs.access import JobId, find_job, open_store, short_id
from pmae_core.cli.jobs.words import value_text
from pmae_core.cli.options import AsJson, Force, with_examples
from pmae_core.cli.terminal import print_json, print_table, say
from pmae_core.errors import JobError
from pmae_core.words import listed

if TYPE_CHECKING:
    from pmae_core.jobs import JobRecord

HELP = with_examples(
    "Print a summary of a job's result, or write one of its files.",
    "pmae jobs result 3f2a",
    "pmae jobs result 3f2a -o imputed.csv",
    "pmae jobs result 3f2a -o report.html",
    "pmae jobs result 3f2a --file imputation-1.parquet -o imputation-1.csv",
)
_IMPUTED_TABLE = "imputed.parquet"
_FILE_OF_ENDING = {".safetensors": "model.safetensors", ".csv": "results.csv"}


def result(
    job: JobId,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write a table, a report or a model."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which file; by default the one that fits the output."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Print or write the result of a job."""
    record = find_job(open_store(), job)
    if record.result is None:
        raise JobError(f"The job {short_id(record)} has no result: it is {record.state}.")
    if output is not None:
        _write(record, output, file, force=force)
    elif file is not None:
        raise typer.BadParameter("Say where to write it with --output.", param_hint="--file")
    elif as_json:
        print_json(record.result)
    else:
        facts = [(key, value_text(value)) for key, value in record.result.items()]
        print_table(["", record.id], [fact for fact in facts if fact[1]])


def _write(record: JobRecord, output: Path, file: str | None, *, force: bool) -> None:
    """Write one file of a result."""
    if output.exists() and not force:
        raise JobError(f"{output} already exists. Use --force to overwrite it.")
    files: list[str] = list((record.result or {})["files"])
    chosen = file or _fitting_file(files, output)
    if chosen not in files:
        raise JobError(f"The result has no file {chosen}. Choose from {_all_of(files)}.")
    _write_file(record.folder / "result" / chosen, output)
    say(f"Wrote {output}.")


def _fitting_file(files: list[str], output: Path) -> str:
    """Return the file of a result that suits the name of the output."""
    ending = output.suffix.lower()
    if _IMPUTED_TABLE in files and ending != ".safetensors":
        return _IMPUTED_TABLE  # written in the format of the ending
    if _FILE_OF_ENDING.get(ending) in files:
        return _FILE_OF_ENDING[ending]
    same = [name for name in files if Path(name).suffix == ending]
    if len(same) == 1:
        return same[0]
    raise JobError(f"No single file fits {output.name}. Choose with --file: {_all_of(files)}.")


def _all_of(files: list[str]) -> str:
    return listed(files, most=len(files))


def _write_file(path: Path, output: Path) -> None:
    if path.suffix == ".parquet":
        from pmae_core.jobs.worker.results import read_frame
        from pmae_core.table import write_table

        write_table(read_frame(path), output)
    elif path.suffix != output.suffix.lower():
        raise JobError(
            f"{path.name} cannot be written as {output.name}. "
            f"Use a name that ends in {path.suffix}."
        )
    else:
        from pmae_core.storage.checksums import checked

        shutil.copyfile(checked(path), output)
