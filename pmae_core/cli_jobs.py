"""``pmae jobs``: work that goes on when the terminal is closed.

What a command needs is imported inside it, so that ``pmae --help`` answers at once.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from pmae_core.cli_common import (
    AsJson,
    InputTable,
    MethodParams,
    Methods,
    Roles,
    Seeds,
    Sentinels,
    as_text,
    given,
    read_method_params,
    read_methods,
    read_params,
    read_roles,
    read_seconds,
    say,
    show,
    with_examples,
)
from pmae_core.errors import JobError

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.jobs import JobRecord, JobSpec, JobStore
    from pmae_core.jobs.engines import Engine
    from pmae_core.jobs.estimate import CostEstimate
    from pmae_core.table import Schema

WORKSPACE = "local"
EXIT_CANCELLED = 130
SHORT_ID = 8
POLL_SECONDS = 0.5


app = typer.Typer(
    name="jobs",
    no_args_is_help=True,
    help="Work in the background: submit it, look at it, cancel and resume it.\n\n"
    "A job outlives the terminal it was started from. It is kept in the folder that PMAE_HOME "
    "names (~/.pmae without it). An id can be shortened as long as it is clear.",
)
submit_app = typer.Typer(
    name="submit",
    invoke_without_command=True,
    no_args_is_help=True,
    help=with_examples(
        "Put a job into the queue; it starts when there is room for it. Prints its id.",
        "pmae jobs submit train holes.csv --method pmae-mix --param preset=fast",
        "pmae jobs submit impute new_rows.csv --model 3f2a --wait",
        "pmae jobs submit compare holes.csv --methods pmae-mix,em,knn --seeds 3",
        "pmae jobs submit benchmark diabetes --methods em,knn --pattern general",
        "pmae jobs show 3f2a --spec > job.json && pmae jobs submit --spec job.json",
    ),
)
app.add_typer(submit_app)


# ---------------------------------------------------------------- arguments that commands share


JobId = Annotated[str, typer.Argument(metavar="ID", help="The job's id, or how it begins.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end, and show how far it is.")]
Name = Annotated[str | None, typer.Option(help="What to call the job.")]
EngineName = Annotated[
    str | None,
    typer.Option("--engine", help="local or ray; by default what PMAE_ENGINE says, else local."),
]
Seed = Annotated[int, typer.Option(min=0, help="Same seed, same result.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Threads; a fair share of the cores by default.")
]
Gpus = Annotated[int | None, typer.Option(min=0, help="GPUs; one by default if there is one.")]
MemoryMb = Annotated[
    int | None,
    typer.Option("--memory", metavar="MB", min=1, help="The job fails if it takes more memory."),
]
Params = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="A setting of the method."),
]
Pattern = Annotated[
    Literal["monotone", "quasi-monotone", "general"] | None, typer.Option(help="Shape of holes.")
]
Mechanism = Annotated[
    Literal["MCAR", "MAR", "MNAR", "self-masking"] | None,
    typer.Option(help="What makes cells missing."),
]
Coupling = Annotated[
    Literal["nested", "independent"] | None,
    typer.Option(help="How the holes of one row hang together."),
]
MethodBudget = Annotated[
    str | None, typer.Option(metavar="TIME", help="Time for each method and seed, as 90s or 10m.")
]


def _read(
    path: Path, sentinels: Sequence[str] | None, roles: Sequence[str] | None
) -> tuple[pd.DataFrame, Schema]:
    from pmae_core.table import Schema, read_table

    frame = read_table(path, sentinels=tuple(sentinels or ()))
    return frame, Schema.infer(frame, roles=read_roles(roles))


def _store() -> JobStore:
    from pmae_core.jobs import JobStore

    return JobStore()


def _engine(store: JobStore, name: str | None = None) -> Engine:
    from pmae_core.jobs.engines import make_engine

    return make_engine(store, name)


def _find(store: JobStore, job_id: str) -> JobRecord:
    """Return a job as it is, after its engine has looked after it."""
    record = store.find(job_id, WORKSPACE)
    _engine(store, record.engine).tend()
    return store.job(record.id, WORKSPACE)


# ---------------------------------------------------------------- submit


@submit_app.callback()
def submit(
    context: typer.Context,
    spec: Annotated[
        Path | None,
        typer.Option(help="A job as a JSON document, as pmae jobs show --spec prints it."),
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="The table of the document, if it is not kept here yet.")
    ] = None,
    sentinel: Sentinels = None,
    name: Name = None,
    engine: EngineName = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Submit a document, or leave it to one of the commands."""
    if context.invoked_subcommand is not None:
        if spec is not None:
            raise typer.BadParameter("A document says it all; name no kind.", param_hint="--spec")
        return
    if spec is None:
        raise typer.BadParameter(
            "Name what to do, as train TABLE, or a document with --spec.", param_hint="--spec"
        )
    from pmae_core.jobs import JobSpec

    document = JobSpec.from_json(spec.read_text(encoding="utf-8"))
    store = _store()
    if table is not None:
        frame, _ = _read(table, sentinel, None)
        if document.table != (digest := store.put_table(frame, WORKSPACE)):
            raise JobError(
                f"{table} is not the table of the document: its digest is {digest}, "
                f"not {document.table}."
            )
    for package, (then, now) in document.changed_versions().items():
        say(f"[yellow]Note:[/] the document was written with {package} {then}; here is {now}.")
    _submit(store, document, name=name, engine=engine, wait=wait, as_json=as_json)


@submit_app.command(
    help=with_examples(
        "Train a model that can be kept, and fill the table with it.",
        "pmae jobs submit train holes.csv",
        "pmae jobs submit train holes.csv --method pmae-trf --param preset=fast --wait",
    )
)
def train(
    table: InputTable,
    method: Annotated[str, typer.Option(help="pmae-mix, pmae-trf or remasker.")] = "pmae-mix",
    param: Params = None,
    fill: Annotated[bool, typer.Option(help="Fill the table, too.")] = True,
    seed: Seed = 0,
    sentinel: Sentinels = None,
    role: Roles = None,
    threads: Threads = None,
    gpus: Gpus = None,
    memory: MemoryMb = None,
    name: Name = None,
    engine: EngineName = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Submit a training."""
    params = {"method": method, "params": read_params(param), "fill": fill}
    frame, schema = _read(table, sentinel, role)
    store = _store()
    spec = _make_spec(
        store, engine, "train", params, seed, threads, gpus, memory, frame=frame, schema=schema
    )
    _submit(store, spec, name=name, engine=engine, wait=wait, as_json=as_json)


@submit_app.command(
    help=with_examples(
        "Fill the missing cells of a table, by a method or a model trained before.",
        "pmae jobs submit impute holes.csv --method missforest",
        "pmae jobs submit impute new_rows.csv --model 3f2a --draws 5",
    )
)
def impute(
    table: InputTable,
    method: Annotated[
        str | None, typer.Option(help="Any method; an unknown name lists all.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="ID", help="Use the model of this training job.")
    ] = None,
    param: Params = None,
    draws: Annotated[int, typer.Option(min=0, help="Give this many plausible fillings, too.")] = 0,
    seed: Seed = 0,
    sentinel: Sentinels = None,
    role: Roles = None,
    threads: Threads = None,
    gpus: Gpus = None,
    memory: MemoryMb = None,
    name: Name = None,
    engine: EngineName = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Submit an imputation."""
    if model and (method or param):
        raise typer.BadParameter(
            "A trained model brings its method and settings with it.", param_hint="--model"
        )
    store = _store()
    params: dict[str, Any] = {"draws": draws}
    if model:
        params["model"] = store.find(model, WORKSPACE).id
    else:
        params |= {"method": method or "pmae-mix", "params": read_params(param)}
    frame, schema = _read(table, sentinel, role)
    spec = _make_spec(
        store, engine, "impute", params, seed, threads, gpus, memory, frame=frame, schema=schema
    )
    _submit(store, spec, name=name, engine=engine, wait=wait, as_json=as_json)


@submit_app.command(
    help=with_examples(
        "Compare methods on a table: the same cells are hidden from all.",
        "pmae jobs submit compare holes.csv --methods pmae-mix,em,knn --seeds 3",
        "pmae jobs submit compare complete.csv --methods em,knn --pattern general --wait",
    )
)
def compare(
    table: InputTable,
    methods: Methods,
    seeds: Seeds = 3,
    share: Annotated[
        float | None,
        typer.Option(min=0.0, max=0.5, help="Share of observed cells to hide; 0.1 by default."),
    ] = None,
    pattern: Pattern = None,
    mechanism: Mechanism = None,
    coupling: Coupling = None,
    truth: Annotated[
        Path | None, typer.Option(help="The complete table, to judge by the table's own holes.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column that no method may see.")
    ] = None,
    param: MethodParams = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time for all, as 90s, 10m or 1h30m.")
    ] = None,
    method_budget: MethodBudget = None,
    seed: Seed = 0,
    sentinel: Sentinels = None,
    role: Roles = None,
    threads: Threads = None,
    gpus: Gpus = None,
    memory: MemoryMb = None,
    name: Name = None,
    engine: EngineName = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Submit a comparison."""
    from pmae_core.table.json_values import to_json_value

    amputation = given(pattern=pattern, mechanism=mechanism, coupling=coupling)
    if sum(map(bool, (amputation, truth, share))) > 1:
        raise typer.BadParameter(
            "Give one of these: a pattern or mechanism, the truth, or a share of cells to hide.",
            param_hint="--pattern, --truth, --share",
        )
    params = given(
        methods=read_methods(methods),
        seeds=list(range(seed, seed + seeds)),
        amputation=amputation or None,
        holdout_share=share,
        target=to_json_value(target),
        method_params=read_method_params(param),
        budget_seconds=read_seconds(budget, "--budget"),
        method_budget_seconds=read_seconds(method_budget, "--method-budget"),
    )
    frame, schema = _read(table, sentinel, role)
    store = _store()
    if truth is not None:
        params["truth"] = store.put_table(_read(truth, sentinel, None)[0], WORKSPACE)
    spec = _make_spec(
        store, engine, "compare", params, seed, threads, gpus, memory, frame=frame, schema=schema
    )
    _submit(store, spec, name=name, engine=engine, wait=wait, as_json=as_json)


@submit_app.command(
    help=with_examples(
        "Compare methods on a table of the paper, with holes made on purpose.",
        "pmae jobs submit benchmark diabetes --methods pmae-mix,em --pattern monotone",
    )
)
def benchmark(
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="A name of pmae datasets, as diabetes.")
    ],
    methods: Methods,
    seeds: Seeds = 3,
    pattern: Pattern = None,
    mechanism: Mechanism = None,
    coupling: Coupling = None,
    max_rows: Annotated[int | None, typer.Option(min=1, help="Random rows at the most.")] = None,
    param: MethodParams = None,
    method_budget: MethodBudget = None,
    seed: Seed = 0,
    threads: Threads = None,
    gpus: Gpus = None,
    memory: MemoryMb = None,
    name: Name = None,
    engine: EngineName = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Submit a benchmark."""
    params = given(
        dataset=dataset,
        methods=read_methods(methods),
        seeds=list(range(seed, seed + seeds)),
        pattern=pattern,
        mechanism=mechanism,
        coupling=coupling,
        max_rows=max_rows,
        method_params=read_method_params(param),
        method_budget_seconds=read_seconds(method_budget, "--method-budget"),
    )
    store = _store()
    spec = _make_spec(store, engine, "benchmark", params, seed, threads, gpus, memory)
    _submit(store, spec, name=name, engine=engine, wait=wait, as_json=as_json)


def _make_spec(
    store: JobStore,
    engine: str | None,
    kind: str,
    params: Mapping[str, Any],
    seed: int,
    threads: int | None,
    gpus: int | None,
    memory: int | None,
    *,
    frame: pd.DataFrame | None = None,
    schema: Schema | None = None,
) -> JobSpec:
    from dataclasses import replace

    from pmae_core.jobs import JobSpec

    usual = _engine(store, engine).default_resources()
    resources = replace(usual, **given(threads=threads, gpus=gpus, memory_mb=memory))
    return JobSpec.make(
        kind,
        params=params,
        table=None if frame is None else store.put_table(frame, WORKSPACE),
        schema=schema,
        seed=seed,
        resources=resources,
    )


def _submit(
    store: JobStore,
    spec: JobSpec,
    *,
    name: str | None,
    engine: str | None,
    wait: bool,
    as_json: bool,
) -> None:
    runner = _engine(store, engine)
    record = runner.submit(spec, WORKSPACE, name=name)
    _go_on(store, runner, record, wait=wait, as_json=as_json)


def _go_on(
    store: JobStore, engine: Engine, record: JobRecord, *, wait: bool, as_json: bool
) -> None:
    """Tell which job it is and, if wanted, wait for its end."""
    if not as_json:
        typer.echo(record.id)
    if not wait:
        if as_json:
            _print_json(record.to_dict())
        else:
            say(f"{_state_sentence(store, record)} pmae jobs show {record.id[:SHORT_ID]}")
        return
    try:
        record = _wait(engine, record)
    except KeyboardInterrupt:
        short = record.id[:SHORT_ID]
        say(
            f"The job goes on: pmae jobs show {short} tells how far it is, pmae jobs cancel "
            f"{short} stops it."
        )
        raise typer.Exit(EXIT_CANCELLED) from None
    if as_json:
        _print_json(record.to_dict())
    _end_like(record)


def _wait(engine: Engine, record: JobRecord) -> JobRecord:
    """Wait for the end of a job and show how far it is: in place, or line by line in a pipe."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    with console.status("") as status:
        shown = ""
        while True:
            record = engine.wait(record.id, timeout=POLL_SECONDS)
            text = _progress_text(record)
            if console.is_terminal:
                status.update(as_text(text))
            elif text != shown:
                console.print(as_text(text))
            shown = text
            if _is_over(record):
                return record


def _is_over(record: JobRecord) -> bool:
    return record.state.is_final or record.state == "interrupted"


def _end_like(record: JobRecord) -> None:
    """End the command as the job ended."""
    short = record.id[:SHORT_ID]
    if record.state == "cancelled":
        say(f"Cancelled; what was done is kept: pmae jobs resume {short}")
        raise typer.Exit(EXIT_CANCELLED)
    if record.state != "succeeded":
        why = record.error or "no reason is known."
        raise JobError(f"The job {record.state}: {why} See pmae jobs logs {short}")
    took = _duration(_seconds_taken(record))
    say(f"Done in {took}: pmae jobs result {short}")


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
    store = _store()
    _engine(store).tend()
    records = store.jobs(WORKSPACE, state or None, kind or None, limit=limit)
    if as_json:
        _print_json([record.to_dict() for record in records])
        return
    rows = [
        [
            record.id[:SHORT_ID],
            record.name or "",
            str(record.kind),
            str(record.state),
            _moment(record.created_at),
            _duration(_seconds_taken(record)),
            record.error or _progress_text(record),
        ]
        for record in records
    ]
    _print_table(["Id", "Name", "Kind", "State", "Submitted", "Time", ""], rows)
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
    store = _store()
    record = _find(store, job)
    if spec:
        _print_json(record.spec.to_dict())
    elif as_json:
        position = store.queue_position(record.id)
        _print_json({**record.to_dict(), "queue_position": position})
    else:
        _print_table(["", record.id], list(_facts(store, record)))


def _facts(store: JobStore, record: JobRecord) -> Iterator[tuple[str, str]]:
    """Yield what there is to say about a job, without what does not apply."""
    params = {name: value for name, value in record.spec.params.items() if value not in (None, {})}
    facts = {
        "Name": record.name,
        "Kind": record.kind,
        "State": _state_sentence(store, record),
        "Progress": _progress_text(record) if record.state == "running" else None,
        "Error": record.error,
        "Parameters": json.dumps(params, ensure_ascii=False),
        "Seed": record.spec.seed,
        "Table": record.spec.table,
        "Submitted": _moment(record.created_at),
        "Time": _duration(_seconds_taken(record)),
        "Estimate": record.estimate and _estimate_sentence(record.estimate),
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
    store = _store()
    record = _find(store, job)
    place = 0
    while True:
        is_last = not follow or _is_over(record)
        if as_json:
            place = _print_events(store, record.id, place)
        else:
            place = _print_log(record.folder / "log.txt", place)
        if is_last:
            return
        time.sleep(POLL_SECONDS)
        record = _find(store, record.id)


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
        "pmae jobs result 3f2a --file draw-1.parquet -o draw.csv",
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
    record = _find(_store(), job)
    if record.result is None:
        raise JobError(f"The job {record.id[:SHORT_ID]} has no result: it is {record.state}.")
    if output is None:
        if file is not None:
            raise typer.BadParameter("Say where to write it with --output.", param_hint="--file")
        if as_json:
            _print_json(record.result)
        else:
            facts = [(key, _plain_text(value)) for key, value in record.result.items()]
            _print_table(["", record.id], [fact for fact in facts if fact[1]])
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
    if "filled.parquet" in files and ending != ".safetensors":
        return "filled.parquet"  # written in the format that the ending says
    if usual.get(ending) in files:
        return usual[ending]
    same = [name for name in files if Path(name).suffix == ending]
    if len(same) == 1:
        return same[0]
    raise JobError(f"Say which file with --file: {', '.join(files)}.")


def _write_file(path: Path, output: Path) -> None:
    if path.suffix == ".parquet":
        from pmae_core.jobs.results import read_frame
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
    store = _store()
    record = store.find(job, WORKSPACE)
    if record.state.is_final:
        raise JobError(f"The job {record.id[:SHORT_ID]} has ended already: {record.state}.")
    record = _engine(store, record.engine).cancel(record.id)
    if as_json:
        _print_json(record.to_dict())
    else:
        has_stopped = record.state != "running"
        say(_state_sentence(store, record) if has_stopped else "Asked to stop.")


@app.command(help="Go on with a job that was interrupted, cancelled or failed.")
def resume(job: JobId, wait: Wait = False, as_json: AsJson = False) -> None:
    """Resume a job."""
    store = _store()
    record = _find(store, job)
    engine = _engine(store, record.engine)
    _go_on(store, engine, engine.resume(record.id), wait=wait, as_json=as_json)


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
    store = _store()
    _engine(store).tend()
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
        _print_json(content)
        return
    verb = "Would remove" if dry_run else "Removed"
    typer.echo(
        f"{verb} {_count(len(report.jobs), 'job')}, {_count(len(report.tables), 'table')} and "
        f"{_count(len(report.leftovers), 'leftover')}: {report.bytes_freed / 1e6:,.1f} MB."
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
    from pmae_core.jobs.estimate import estimate_cost

    budget_seconds = read_seconds(budget, "--budget")
    frame, schema = _read(table, sentinel, role)
    cost = estimate_cost(
        frame,
        read_methods(methods),
        schema=schema,
        method_params=read_method_params(param),
        seeds=seeds,
        threads=threads or _engine(_store()).default_resources().threads,
        budget_seconds=budget_seconds,
    )
    if as_json:
        _print_json(cost.to_dict())
    else:
        _print_estimate(cost)


def _print_estimate(estimate: CostEstimate) -> None:
    rows = [
        [
            cost.method,
            _duration(cost.seconds),
            "" if cost.low is None else f"{_duration(cost.low)} to {_duration(cost.high)}",
            "" if cost.memory_mb is None else f"{cost.memory_mb:,.0f} MB",
            cost.error or cost.how,
        ]
        for cost in estimate.per_method
    ]
    _print_table(["Method", "Time", "Range", "Memory", ""], rows)
    typer.echo(_estimate_sentence(estimate.to_dict()))


# ---------------------------------------------------------------- words and figures


def _state_sentence(store: JobStore, record: JobRecord) -> str:
    if record.state == "queued":
        return f"Queued, number {store.queue_position(record.id)} in the queue."
    if record.state == "running" and record.cancel_requested_at is not None:
        return "Running, asked to stop."
    return f"{str(record.state).capitalize()}."


def _progress_text(record: JobRecord) -> str:
    if record.state != "running" or record.progress is None:
        return "" if _is_over(record) else str(record.state)
    progress = record.progress
    parts = [progress.message]
    if progress.fraction is not None:
        parts.append(f"{progress.fraction:.0%}")
    if progress.eta_seconds is not None:
        parts.append(f"{_duration(progress.eta_seconds)} left")
    return ", ".join(filter(None, parts))


def _estimate_sentence(estimate: Mapping[str, Any]) -> str:
    low, high = _duration(estimate["total_low"]), _duration(estimate["total_high"])
    text = f"About {_duration(estimate['total_seconds'])} ({low} to {high})"
    unknown = [cost["method"] for cost in estimate["per_method"] if cost["seconds"] is None]
    if unknown:
        text += f", without {', '.join(unknown)}"
    if estimate["memory_mb"] is not None:
        text += f", {estimate['memory_mb']:,.0f} MB"
    if estimate.get("ratio") is not None:
        actual = _duration(estimate["actual_seconds"])
        text += f"; in fact {actual}, {estimate['ratio']:.2g} times the estimate"
    return f"{text}."


def _seconds_taken(record: JobRecord) -> float | None:
    if record.started_at is None:
        return None
    return (record.finished_at or time.time()) - record.started_at


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _moment(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _plain_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value in (None, [], {}) else json.dumps(value, ensure_ascii=False)


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def _print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*map(as_text, row))
    show(table)
