"""``pmae jobs submit``: put work into the queue and, if wanted, wait for its end.

What a command needs is imported inside it, so that ``pmae --help`` answers at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from pmae_core.cli.jobs.words import duration, is_over, progress_text, seconds_taken, state_sentence
from pmae_core.cli.options import (
    AsJson,
    CouplingName,
    InputTable,
    MechanismName,
    MethodParams,
    Methods,
    PatternName,
    Roles,
    Seeds,
    Sentinels,
    as_text,
    given,
    print_json,
    read_method_params,
    read_methods,
    read_params,
    read_roles,
    read_seconds,
    say,
    with_examples,
)
from pmae_core.errors import JobError

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.jobs import JobRecord, JobSpec, JobStore
    from pmae_core.jobs.engines import Engine
    from pmae_core.table import Schema

WORKSPACE = "local"
EXIT_CANCELLED = 130
SHORT_ID = 8
POLL_SECONDS = 0.5

app = typer.Typer(
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


# ---------------------------------------------------------------- arguments that commands share


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
Pattern = Annotated[PatternName | None, typer.Option(help="Shape of holes.")]
Mechanism = Annotated[
    MechanismName | None,
    typer.Option(help="What makes cells missing."),
]
Coupling = Annotated[
    CouplingName | None,
    typer.Option(help="How the holes of one row hang together."),
]
MethodBudget = Annotated[
    str | None, typer.Option(metavar="TIME", help="Time for each method and seed, as 90s or 10m.")
]


def read_input(
    path: Path, sentinels: Sequence[str] | None, roles: Sequence[str] | None
) -> tuple[pd.DataFrame, Schema]:
    """Read a table and the roles of its columns."""
    from pmae_core.table import Schema, read_table

    frame = read_table(path, sentinels=tuple(sentinels or ()))
    return frame, Schema.infer(frame, roles=read_roles(roles))


def open_store() -> JobStore:
    """Return the store of jobs."""
    from pmae_core.jobs import JobStore

    return JobStore()


def engine_of(store: JobStore, name: str | None = None) -> Engine:
    """Return the engine of this name, or that of the environment."""
    from pmae_core.jobs.engines import make_engine

    return make_engine(store, name)


def find_job(store: JobStore, job_id: str) -> JobRecord:
    """Return a job as it is, after its engine has looked after it."""
    record = store.find(job_id, WORKSPACE)
    engine_of(store, record.engine).supervise()
    return store.job(record.id, WORKSPACE)


# ---------------------------------------------------------------- kinds of jobs


@app.callback()
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
    store = open_store()
    if table is not None:
        frame, _ = read_input(table, sentinel, None)
        if document.table != (digest := store.put_table(frame, WORKSPACE)):
            raise JobError(
                f"{table} is not the table of the document: its digest is {digest}, "
                f"not {document.table}."
            )
    for package, (then, now) in document.changed_versions().items():
        say(f"[yellow]Note:[/] the document was written with {package} {then}; here is {now}.")
    _submit(store, document, name=name, engine=engine, wait=wait, as_json=as_json)


@app.command(
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
    params = {"method": method, "params": read_params(param), "impute": fill}
    frame, schema = read_input(table, sentinel, role)
    store = open_store()
    spec = _make_spec(
        store, engine, "train", params, seed, threads, gpus, memory, frame=frame, schema=schema
    )
    _submit(store, spec, name=name, engine=engine, wait=wait, as_json=as_json)


@app.command(
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
    store = open_store()
    params: dict[str, Any] = {"imputations": draws}
    if model:
        params["model"] = store.find(model, WORKSPACE).id
    else:
        params |= {"method": method or "pmae-mix", "params": read_params(param)}
    frame, schema = read_input(table, sentinel, role)
    spec = _make_spec(
        store, engine, "impute", params, seed, threads, gpus, memory, frame=frame, schema=schema
    )
    _submit(store, spec, name=name, engine=engine, wait=wait, as_json=as_json)


@app.command(
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
    from pmae_core.storage.json_values import to_json_value

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
    frame, schema = read_input(table, sentinel, role)
    store = open_store()
    if truth is not None:
        params["truth"] = store.put_table(read_input(truth, sentinel, None)[0], WORKSPACE)
    spec = _make_spec(
        store, engine, "compare", params, seed, threads, gpus, memory, frame=frame, schema=schema
    )
    _submit(store, spec, name=name, engine=engine, wait=wait, as_json=as_json)


@app.command(
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
    store = open_store()
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

    from pmae_core.jobs import JobSpec

    usual = engine_of(store, engine).default_resources()
    resources = usual.changed(**given(threads=threads, gpus=gpus, memory_mb=memory))
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
    runner = engine_of(store, engine)
    record = runner.submit(spec, WORKSPACE, name=name)
    go_on(store, runner, record, wait=wait, as_json=as_json)


def go_on(store: JobStore, engine: Engine, record: JobRecord, *, wait: bool, as_json: bool) -> None:
    """Tell which job it is and, if wanted, wait for its end."""
    if not as_json:
        typer.echo(record.id)
    if not wait:
        if as_json:
            print_json(record.to_dict())
        else:
            say(f"{state_sentence(store, record)} pmae jobs show {record.id[:SHORT_ID]}")
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
        print_json(record.to_dict())
    _end_like(record)


def _wait(engine: Engine, record: JobRecord) -> JobRecord:
    """Wait for the end of a job and show how far it is: in place, or line by line in a pipe."""
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


def _end_like(record: JobRecord) -> None:
    """End the command as the job ended."""
    short = record.id[:SHORT_ID]
    if record.state == "cancelled":
        say(f"Cancelled; what was done is kept: pmae jobs resume {short}")
        raise typer.Exit(EXIT_CANCELLED)
    if record.state != "succeeded":
        why = record.error or "no reason is known."
        raise JobError(f"The job {record.state}: {why} See pmae jobs logs {short}")
    took = duration(seconds_taken(record))
    say(f"Done in {took}: pmae jobs result {short}")
