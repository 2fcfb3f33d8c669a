"""``pmae benchmark``: run the experiments of the paper, and save their results as data."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from pmae_core.cli.groups import with_option_groups
from pmae_core.cli.options import (
    MethodParams,
    QuietUntilEnd,
    read_method_params,
    read_methods,
    read_names,
    read_numbers,
    read_seconds,
    with_examples,
)
from pmae_core.cli.terminal import say
from pmae_core.errors import ImputationError
from pmae_core.words import count, duration, listed

if TYPE_CHECKING:
    from pmae_core.evaluation.parallel import Pool
    from pmae_core.events import Event
    from pmae_core.replication import ExperimentPlan, Runner, Selection
    from pmae_core.replication.run import RowsFinished

DEFAULT_MAX_ROWS = 10_000
DEFAULT_BUDGET = "15m"
DEFAULT_SEEDS = 3
_NO_EFFECT_ON_RESULTS = ("results_dir", "tasks_dir", "jobs", "engine", "retry_failed", "quiet")

HELP = with_examples(
    "Run experiments of the paper and write their results as JSON and CSV.\n\n"
    "Experiments: table2 (all methods), table3 (masking functions), table4 (from ReMasker to "
    "PMAE), grid (a and b), mechanisms, downstream, downstream-split (imputers never see test "
    "rows), mixing; or: all. Missingness is nested and, except in mechanisms, MNAR.\n\n"
    "Every finished task is saved, and the same command resumes where it stopped. Results are "
    "merged with existing ones. A task that fails becomes a row with its reason.",
    "pmae benchmark table2 --datasets diabetes,wine --patterns general --jobs 2",
    "pmae benchmark table2 --methods pmae-mix,pmae-trf --presets balanced,paper-steps",
    "pmae benchmark table3 grid --datasets diabetes --seeds 1 --max-rows 2000",
    "pmae benchmark all --full --engine ray",
)


class SelectionOptions(NamedTuple):
    """Which tasks of the experiments to run."""

    datasets: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Tables; the experiment's own by default."),
    ] = None
    patterns: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="monotone, quasi-monotone, general.")
    ] = None
    mechanisms: Annotated[str | None, typer.Option(metavar="NAME,...", help="MCAR, MAR, MNAR.")] = (
        None
    )
    methods: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Methods; the paper's by default.")
    ] = None
    presets: Annotated[
        str | None,
        typer.Option(
            "--presets",
            "--preset",
            metavar="NAME,...",
            help="Presets of PMAE, one row each: balanced, fast, paper-steps, paper. By default "
            "balanced beside other methods and paper-steps in the ablations.",
        ),
    ] = None
    a: Annotated[
        str | None, typer.Option("--a", metavar="NUMBER,...", help="Values of a in the grid.")
    ] = None
    b: Annotated[
        str | None, typer.Option("--b", metavar="NUMBER,...", help="Values of b in the grid.")
    ] = None

    def choices(self) -> dict[str, Any]:
        """Return what the user chose, None where the experiment decides."""
        names = {
            name: None if text is None else read_names(text)
            for name, text in (
                ("datasets", self.datasets),
                ("patterns", self.patterns),
                ("mechanisms", self.mechanisms),
                ("presets", self.presets),
            )
        }
        return {
            **names,
            "methods": None if self.methods is None else read_methods(self.methods),
            "a": None if self.a is None else read_numbers(self.a, "--a"),
            "b": None if self.b is None else read_numbers(self.b, "--b"),
        }


class ScaleOptions(NamedTuple):
    """How large the experiments are."""

    seeds: Annotated[
        int | None, typer.Option(min=1, help=f"Number of seeds; {DEFAULT_SEEDS} by default.")
    ] = None
    max_rows: Annotated[
        int | None,
        typer.Option(
            min=100,
            help=f"Sample this many rows from larger tables; {DEFAULT_MAX_ROWS:,} by default.",
        ),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help=f"Time per method and seed; {DEFAULT_BUDGET} by default."
        ),
    ] = None
    full: Annotated[
        bool,
        typer.Option("--full", help="As in the paper: all rows, ten seeds, no time limit."),
    ] = False

    def limits(self) -> dict[str, Any]:
        """Return the limits; those of the paper with --full."""
        from pmae_core.replication.experiments import PAPER_SEEDS

        if not self.full:
            budget = read_seconds(self.budget or DEFAULT_BUDGET, "--budget")
            max_rows = self.max_rows or DEFAULT_MAX_ROWS
            seeds = self.seeds or DEFAULT_SEEDS
            return {"seeds": seeds, "max_rows": max_rows, "budget_seconds": budget}
        if self.max_rows or self.budget:
            raise typer.BadParameter(
                "A full run has no limit on rows or time. Leave out --max-rows and --budget.",
                param_hint="--full",
            )
        return {"seeds": self.seeds or PAPER_SEEDS, "max_rows": None, "budget_seconds": None}


class ExperimentOptions(NamedTuple):
    """How the experiments run, and where their results go."""

    jobs: Annotated[
        int, typer.Option(min=1, help="Tasks that run at once, each in its own process.")
    ] = 1
    engine: Annotated[
        Literal["local", "ray"] | None,
        typer.Option(help="Where tasks run; by default PMAE_ENGINE or, without it, local."),
    ] = None
    results_dir: Annotated[Path, typer.Option(help="Folder of the results.")] = Path(
        "benchmarks/results"
    )
    tasks_dir: Annotated[Path, typer.Option(help="Folder of finished tasks.")] = Path(
        "build/benchmark"
    )
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat what failed before.")
    ] = False
    quiet: QuietUntilEnd = False

    @contextmanager
    def runner(self, command: str) -> Iterator[Runner]:
        """Give what runs the experiments on the chosen engine."""
        from pmae_core.jobs.spec import installed_versions
        from pmae_core.replication import Runner

        with _pool_maker(self.engine) as make_pool:
            yield Runner(
                tasks_dir=self.tasks_dir,
                results_dir=self.results_dir,
                about={"command": command, "versions": dict(installed_versions())},
                retry_failed=self.retry_failed,
                n_jobs=self.jobs,
                make_pool=make_pool,
            )


@with_option_groups
def benchmark(
    *,
    context: typer.Context,
    experiments: Annotated[
        list[str], typer.Argument(metavar="EXPERIMENT...", help="Names of experiments, or: all.")
    ],
    chosen: SelectionOptions,
    scale: ScaleOptions,
    param: MethodParams = None,
    running: ExperimentOptions,
) -> None:
    """Run experiments of the paper."""
    from pmae_core.replication import Selection

    params = read_method_params(param)
    selection = Selection(**scale.limits(), **chosen.choices(), method_params=params)
    plans = _plans(experiments, selection)
    with running.runner(_command(context)) as runner:
        n_results = sum(_run(runner, plan, running.quiet) for plan in plans)
    if not n_results:
        raise ImputationError("No task gave a result. The reasons are in the result files.")


def _command(context: typer.Context) -> str:
    """Return the command with what affects the results, and without the folders of this disk."""
    words = ["pmae", "benchmark", *context.params["experiments"]]
    for option in context.command.params:
        name, value = str(option.name), context.params.get(str(option.name))
        if name in (*_NO_EFFECT_ON_RESULTS, "experiments") or not value:
            continue
        flag = max(option.opts, key=len)
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [flag] if one is True else [flag, str(one)]
    return shlex.join(words)


def _plans(experiments: Sequence[str], selection: Selection) -> list[ExperimentPlan]:
    """Plan all experiments before the first one runs."""
    from pmae_core.replication import EXPERIMENTS

    names = list(EXPERIMENTS) if "all" in experiments else list(dict.fromkeys(experiments))
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        choices = [*EXPERIMENTS, "all"]
        raise typer.BadParameter(
            f"There is no experiment {unknown[0]!r}. "
            f"Choose from {listed(choices, most=len(choices))}.",
            param_hint="EXPERIMENT",
        )
    return [EXPERIMENTS[name].plan(selection) for name in names]


def _run(runner: Runner, plan: ExperimentPlan, quiet: bool) -> int:
    """Run one experiment, show its progress, and return how many tasks have a result."""
    from pmae_core.replication.run import RowsFinished

    n_results = 0
    name = plan.experiment.name

    def on_event(event: Event) -> None:
        nonlocal n_results
        if isinstance(event, RowsFinished):
            n_results += event.rows[0]["status"] == "done"
            if not (quiet or event.from_disk):
                say(f"{name} {_place(event)}: {_row_text(event.rows[0])}")

    results = replace(runner, callbacks=(on_event,)).run(plan)
    say(
        f"{name}: {count(n_results)} of {count(plan.n_tasks, 'task')} gave a result; wrote "
        f"{results.path} and the CSV beside it."
    )
    return n_results


def _place(event: RowsFinished) -> str:
    remaining = "" if event.eta_seconds is None else f", {duration(event.eta_seconds)} left"
    return f"{count(event.n_done)}/{count(event.n_tasks)}{remaining}"


def _row_text(row: Mapping[str, Any]) -> str:
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
