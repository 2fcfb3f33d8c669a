"""``pmae benchmark``: run the experiments of the paper, and keep their results as data.

What the command needs is imported inside it, so that ``pmae --help`` answers at once.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pmae_core.cli.options import (
    MethodParams,
    as_text,
    read_method_params,
    read_methods,
    read_seconds,
    say,
    with_examples,
)
from pmae_core.errors import ImputationError
from pmae_core.events import Event

if TYPE_CHECKING:
    from pmae_core.evaluation.parallel import Pool
    from pmae_core.replication import ExperimentPlan, Selection

DEFAULT_MAX_ROWS = 10_000
DEFAULT_BUDGET = "15m"
DEFAULT_SEEDS = 3
_WITHOUT_BEARING = ("results_dir", "tasks_dir", "jobs", "engine", "retry_failed", "quiet")

HELP = with_examples(
    "Run experiments of the paper and write their results as JSON and CSV.\n\n"
    "Experiments: table2 (all methods), table3 (masking functions), table4 (from ReMasker to "
    "PMAE), grid (a and b), mechanisms, downstream, mixing; or: all. Holes are nested and, but "
    "for mechanisms, MNAR.\n\n"
    "Every finished task is kept, and the same command goes on where it was stopped. Results "
    "are merged with those that are there. What fails is a row with its reason.",
    "pmae benchmark table2 --datasets diabetes,wine --patterns general --jobs 2",
    "pmae benchmark table2 --methods pmae-mix,pmae-trf --presets balanced,paper-steps",
    "pmae benchmark table3 grid --datasets diabetes --seeds 1 --max-rows 2000",
    "pmae benchmark all --full --engine ray",
)


def benchmark(
    context: typer.Context,
    experiments: Annotated[
        list[str], typer.Argument(metavar="EXPERIMENT...", help="Names of experiments, or: all.")
    ],
    datasets: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Tables; those of the experiment by default."),
    ] = None,
    patterns: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="monotone, quasi-monotone, general.")
    ] = None,
    mechanisms: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="MCAR, MAR, MNAR.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Methods; those of the paper by default.")
    ] = None,
    presets: Annotated[
        str | None,
        typer.Option(
            "--presets",
            "--preset",
            metavar="NAME,...",
            help="Presets of PMAE, each a row of its own: balanced, fast, paper-steps, paper. By "
            "default balanced beside other methods and paper-steps in the ablations.",
        ),
    ] = None,
    a: Annotated[
        str | None, typer.Option("--a", metavar="NUMBER,...", help="Values of a in the grid.")
    ] = None,
    b: Annotated[
        str | None, typer.Option("--b", metavar="NUMBER,...", help="Values of b in the grid.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help=f"How many; {DEFAULT_SEEDS} by default.")
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option(
            min=100,
            help=f"Sample larger tables down to so many rows; {DEFAULT_MAX_ROWS:,} by default.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help=f"For each method and seed; {DEFAULT_BUDGET} by default."
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="As in the paper: all rows, ten seeds, no limit of time."),
    ] = False,
    param: MethodParams = None,
    jobs: Annotated[int, typer.Option(min=1, help="Tasks at a time, each in a process.")] = 1,
    engine: Annotated[
        Literal["local", "ray"] | None,
        typer.Option(help="Where tasks run; PMAE_ENGINE says it otherwise, else local."),
    ] = None,
    results_dir: Annotated[Path, typer.Option(help="Where the files of results are.")] = Path(
        "benchmarks/results"
    ),
    tasks_dir: Annotated[Path, typer.Option(help="Where finished tasks are kept.")] = Path(
        "build/benchmark"
    ),
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what failed.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only the end.")] = False,
) -> None:
    """Run experiments of the paper."""
    from pmae_core.jobs.spec import installed_versions
    from pmae_core.replication import Runner, Selection
    from pmae_core.replication.experiments import PAPER_SEEDS

    if full and (max_rows or budget):
        raise typer.BadParameter(
            "In full there is no cap on rows and no budget.", param_hint="--full"
        )
    selection = Selection(
        datasets=_names(datasets),
        patterns=_names(patterns),
        mechanisms=_names(mechanisms),
        methods=None if methods is None else read_methods(methods),
        presets=_names(presets),
        a=_numbers(a, "--a"),
        b=_numbers(b, "--b"),
        seeds=seeds or (PAPER_SEEDS if full else DEFAULT_SEEDS),
        max_rows=None if full else max_rows or DEFAULT_MAX_ROWS,
        budget_seconds=None if full else read_seconds(budget or DEFAULT_BUDGET, "--budget"),
        method_params=read_method_params(param),
    )
    plans = _plans(experiments, selection)
    with _pool_maker(engine) as make_pool:
        runner = Runner(
            tasks_dir=tasks_dir,
            results_dir=results_dir,
            about={
                "command": _command(context),
                "versions": dict(installed_versions()),
            },
            retry_failed=retry_failed,
            n_jobs=jobs,
            make_pool=make_pool,
        )
        n_results = 0
        for plan in plans:
            n_results += _run(runner, plan, quiet)
    if not n_results:
        raise ImputationError("No task gave a result; the reasons are in the files of results.")


def _command(context: typer.Context) -> str:
    """Return the command with all that bears on the results, but not with places on this disk."""
    words = ["pmae", "benchmark", *context.params["experiments"]]
    for option in context.command.params:
        name, value = str(option.name), context.params.get(str(option.name))
        if name in (*_WITHOUT_BEARING, "experiments") or not value:
            continue
        flag = max(option.opts, key=len)
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [flag] if one is True else [flag, str(one)]
    return shlex.join(words)


def _plans(experiments: Sequence[str], selection: Selection) -> list[ExperimentPlan]:
    """Decide everything before anything runs."""
    from pmae_core.replication import EXPERIMENTS

    names = list(EXPERIMENTS) if "all" in experiments else list(dict.fromkeys(experiments))
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise typer.BadParameter(
            f"There is no experiment {unknown[0]!r}; choose from {', '.join(EXPERIMENTS)}, all.",
            param_hint="EXPERIMENT",
        )
    return [EXPERIMENTS[name].plan(selection) for name in names]


def _run(runner: Any, plan: ExperimentPlan, quiet: bool) -> int:
    """Run one experiment, tell how it goes, and return how many tasks have a result."""
    from pmae_core.replication.run import RowsFinished

    n_results = 0
    name = plan.experiment.name

    def hear(event: Event) -> None:
        nonlocal n_results
        if isinstance(event, RowsFinished):
            row = event.rows[0]
            n_results += row["status"] == "done"
            if not (quiet or event.from_disk):
                say(as_text(f"{name} {_count(event)}: {_words(row)}"))

    results = replace(runner, callbacks=(hear,)).run(plan)
    say(
        f"{name}: {n_results:,} of {plan.n_tasks:,} tasks have a result; wrote "
        f"{as_text(str(results.path))} and the CSV beside it."
    )
    return n_results


def _count(event: Any) -> str:
    remaining = "" if event.eta_seconds is None else f", {_time(event.eta_seconds)} left"
    return f"{event.n_done:,}/{event.n_tasks:,}{remaining}"


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _words(row: Mapping[str, Any]) -> str:
    mechanism = "" if row["mechanism"] == "MNAR" else f" {row['mechanism']}"
    where = f"{row['dataset']}, {row['pattern']}{mechanism}, {row['variant']}, seed {row['seed']}"
    if row["status"] != "done":
        return f"{where}: {row['error'] or row['status']}"
    if "imputation_accuracy" not in row:
        return f"{where}: done"
    seconds = (row["fit_seconds"] or 0.0) + (row["impute_seconds"] or 0.0)
    return f"{where}: {100 * row['imputation_accuracy']:.1f} in {seconds:.1f} s"


@contextmanager
def _pool_maker(engine: str | None) -> Iterator[Callable[[], Pool] | None]:
    """Give what makes a pool of tasks on the chosen engine; None for this machine."""
    if (engine or os.environ.get("PMAE_ENGINE") or "local") == "local":
        yield None
        return
    from pmae_core.jobs.engines.ray_cluster import connected
    from pmae_core.jobs.engines.ray_tasks import RayTaskPool

    with connected():
        yield RayTaskPool


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str | None, option: str) -> list[float] | None:
    try:
        return None if text is None else [float(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} are no numbers with commas between.", param_hint=option
        ) from None
