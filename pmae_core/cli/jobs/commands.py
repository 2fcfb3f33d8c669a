"""``pmae jobs``: work that goes on when the terminal is closed.

``submit`` has a module of its own.
What a command needs is imported inside it, so that ``pmae --help`` answers at once.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pmae_core.cli.jobs import submit as cli_submit
from pmae_core.cli.jobs.submit import (
    POLL_SECONDS,
    SHORT_ID,
    WORKSPACE,
    Threads,
    Wait,
    engine_of,
    find_job,
    go_on,
    open_store,
    read_input,
)
from pmae_core.cli.jobs.words import (
    duration,
    estimate_sentence,
    is_over,
    moment,
    plain_text,
    print_table,
    progress_text,
    seconds_taken,
    state_sentence,
)
from pmae_core.cli.options import (
    AsJson,
    InputTable,
    MethodParams,
    Methods,
    Roles,
    Sentinels,
    as_text,
    count,
    print_json,
    read_method_params,
    read_methods,
    read_seconds,
    say,
    with_examples,
)
from pmae_core.errors import JobError

if TYPE_CHECKING:
    from pmae_core.jobs import JobRecord, JobStore
    from pmae_core.jobs.cost import CostEstimate

app = typer.Typer(
    name="jobs",
    no_args_is_help=True,
    help="Work in the background: submit it, look at it, cancel and resume it.\n\n"
    "A job outlives the terminal it was started from. It is kept in the folder that PMAE_HOME "
    "names (~/.pmae without it). An id can be shortened as long as it is clear.",
)
app.add_typer(cli_submit.app)

JobId = Annotated[str, typer.Argument(metavar="ID", help="The job's id, or how it begins.")]


# ---------------------------------------------------------------- list, show, logs


@app.command(
    "list",
    help=with_examples(
        "List jobs, the newest first.",
        "pmae jobs list",
        "pmae jobs list --state running --state queued --json",
    ),
)
def list_jobs(
    state: Annotated[
        list[str] | None,
        typer.Option(help="queued, running, succeeded, failed, cancelled or interrupted."),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="train, impute, compare or benchmark.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at the most.")] = 30,
    as_json: AsJson = False,
) -> None:
    """List jobs."""
    store = open_store()
    engine_of(store).supervise()
    records = store.jobs(WORKSPACE, state or None, kind or None, limit=limit)
    if as_json:
        print_json([record.to_dict() for record in records])
        return
    rows = [
        [
            record.id[:SHORT_ID],
            record.name or "",
            str(record.kind),
            str(record.state),
            moment(record.created_at),
            duration(seconds_taken(record)),
            record.error or progress_text(record),
        ]
        for record in records
    ]
    print_table(["Id", "Name", "Kind", "State", "Submitted", "Time", ""], rows)
    n_jobs = store.count(WORKSPACE, state or None, kind or None)
    if n_jobs > len(records):
        say(f"{len(records)} of {n_jobs:,} jobs; --limit shows more.")


@app.command(
    "show",
    help=with_examples(
        "Show all about a job, or its document, which gives the same result when run again.",
        "pmae jobs show 3f2a",
        "pmae jobs show 3f2a --spec > job.json",
    ),
)
def show_job(
    job: JobId,
    spec: Annotated[bool, typer.Option("--spec", help="Print the job's document alone.")] = False,
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
    """Yield what there is to say about a job, without what does not apply."""
    params = {name: value for name, value in record.spec.params.items() if value not in (None, {})}
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
        "Memory": record.memory_mb and f"{record.memory_mb:,.0f} MB",
        "Attempt": record.attempt or None,
        "Engine": f"{record.engine}, {record.spec.resources.threads} threads",
        "Folder": record.folder,
        "Files": ", ".join((record.result or {}).get("files", ())),
    }
    for name, fact in facts.items():
        if fact not in (None, ""):
            yield name, str(fact)


@app.command(
    help=with_examples(
        "Print what a job wrote; with --json what happened to it, an event a line.",
        "pmae jobs logs 3f2a --follow",
    )
)
def logs(
    job: JobId,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the job ends.")
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
    typer.echo(new.decode(errors="replace"), nl=False)
    return place + len(new)


def _print_events(store: JobStore, job_id: str, after: int) -> int:
    from dataclasses import asdict

    for event in store.events(job_id, after=after):
        typer.echo(json.dumps(asdict(event), ensure_ascii=False))
        after = event.seq
    return after


# ---------------------------------------------------------------- result


@app.command(
    help=with_examples(
        "Print the result of a job in short, or write one of its files.",
        "pmae jobs result 3f2a",
        "pmae jobs result 3f2a -o filled.csv",
        "pmae jobs result 3f2a -o report.html",
        "pmae jobs result 3f2a --file imputation-1.parquet -o first.csv",
    )
)
def result(
    job: JobId,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write it: a table, a report, a model."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which file; by default the one that fits the output."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Overwrite a file that exists.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print or write the result of a job."""
    record = find_job(open_store(), job)
    if record.result is None:
        raise JobError(f"The job {record.id[:SHORT_ID]} has no result: it is {record.state}.")
    if output is None:
        if file is not None:
            raise typer.BadParameter("Say where to write it with --output.", param_hint="--file")
        if as_json:
            print_json(record.result)
        else:
            facts = [(key, plain_text(value)) for key, value in record.result.items()]
            print_table(["", record.id], [fact for fact in facts if fact[1]])
        return
    if output.exists() and not force:
        raise JobError(f"{output} exists already; use --force to overwrite it.")
    chosen = file or _fitting_file(record, output)
    if chosen not in record.result["files"]:
        names = ", ".join(record.result["files"])
        raise JobError(f"The result has no file {chosen}; it has {names}.")
    _write_file(record.folder / "result" / chosen, output)
    say(f"Wrote {as_text(str(output))}.")


def _fitting_file(record: JobRecord, output: Path) -> str:
    """Return the file of a result that suits the name of the output."""
    files: list[str] = list((record.result or {})["files"])
    ending = output.suffix.lower()
    usual = {".safetensors": "model.safetensors", ".csv": "results.csv"}
    if "imputed.parquet" in files and ending != ".safetensors":
        return "imputed.parquet"  # written in the format that the ending says
    if usual.get(ending) in files:
        return usual[ending]
    same = [name for name in files if Path(name).suffix == ending]
    if len(same) == 1:
        return same[0]
    raise JobError(f"Say which file with --file: {', '.join(files)}.")


def _write_file(path: Path, output: Path) -> None:
    if path.suffix == ".parquet":
        from pmae_core.jobs.worker.results import read_frame
        from pmae_core.table import write_table

        write_table(read_frame(path), output)
    elif path.suffix != output.suffix.lower():
        raise JobError(f"{path.name} can only be written to a name that ends in {path.suffix}.")
    else:
        shutil.copyfile(path, output)


# ---------------------------------------------------------------- cancel, resume, gc


@app.command(help="Stop a job; what it has done is kept, and resume goes on from there.")
def cancel(job: JobId, as_json: AsJson = False) -> None:
    """Cancel a job."""
    store = open_store()
    record = store.find(job, WORKSPACE)
    if record.state.is_final:
        raise JobError(f"The job {record.id[:SHORT_ID]} has ended already: {record.state}.")
    record = engine_of(store, record.engine).cancel(record.id)
    if as_json:
        print_json(record.to_dict())
    else:
        has_stopped = record.state != "running"
        say(state_sentence(store, record) if has_stopped else "Asked to stop.")


@app.command(help="Go on with a job that was interrupted, cancelled or failed.")
def resume(job: JobId, wait: Wait = False, as_json: AsJson = False) -> None:
    """Resume a job."""
    store = open_store()
    record = find_job(store, job)
    engine = engine_of(store, record.engine)
    go_on(store, engine, engine.resume(record.id), wait=wait, as_json=as_json)


@app.command(
    help=with_examples(
        "Remove old jobs, tables that no job needs, and what broken work left behind.",
        "pmae jobs gc --days 30 --dry-run",
        "pmae jobs gc --jobs 100 --megabytes 2000",
    )
)
def gc(
    days: Annotated[
        float | None, typer.Option(min=0, help="Jobs that ended longer ago go.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=0, help="So many of the jobs that ended stay.")
    ] = None,
    megabytes: Annotated[
        float | None, typer.Option(min=0, help="Jobs go until all takes no more.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Clean up."""
    store = open_store()
    engine_of(store).supervise()
    report = store.collect_garbage(
        max_age_days=days,
        max_jobs=jobs,
        max_bytes=None if megabytes is None else int(megabytes * 1e6),
        dry_run=dry_run,
    )
    if as_json:
        content = {
            "jobs": report.jobs,
            "tables": report.tables,
            "leftovers": list(map(str, report.leftovers)),
            "bytes_freed": report.bytes_freed,
            "dry_run": dry_run,
        }
        print_json(content)
        return
    verb = "Would remove" if dry_run else "Removed"
    typer.echo(
        f"{verb} {count(len(report.jobs), 'job')}, {count(len(report.tables), 'table')} and "
        f"{count(len(report.leftovers), 'leftover')}: {report.bytes_freed / 1e6:,.1f} MB."
    )


# ---------------------------------------------------------------- estimate


@app.command(
    help=with_examples(
        "Say how long methods will take on a table, and how much memory, by short real runs.",
        "pmae jobs estimate holes.csv --methods pmae-mix,missforest --seeds 3",
    )
)
def estimate(
    table: InputTable,
    methods: Methods,
    seeds: Annotated[int, typer.Option(min=1, help="How often each method will run.")] = 1,
    param: MethodParams = None,
    threads: Threads = None,
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time for the short runs; 1s a method by default."),
    ] = None,
    sentinel: Sentinels = None,
    role: Roles = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the cost of methods."""
    from pmae_core.jobs.cost import estimate_cost

    budget_seconds = read_seconds(budget, "--budget")
    frame, schema = read_input(table, sentinel, role)
    cost = estimate_cost(
        frame,
        read_methods(methods),
        schema=schema,
        method_params=read_method_params(param),
        seeds=seeds,
        threads=threads or engine_of(open_store()).default_resources().threads,
        budget_seconds=budget_seconds,
    )
    if as_json:
        print_json(cost.to_dict())
    else:
        _print_estimate(cost)


def _print_estimate(estimate: CostEstimate) -> None:
    rows = [
        [
            cost.method,
            duration(cost.seconds),
            "" if cost.low is None else f"{duration(cost.low)} to {duration(cost.high)}",
            "" if cost.memory_mb is None else f"{cost.memory_mb:,.0f} MB",
            cost.error or cost.how,
        ]
        for cost in estimate.per_method
    ]
    print_table(["Method", "Time", "Range", "Memory", ""], rows)
    typer.echo(estimate_sentence(estimate.to_dict()))
