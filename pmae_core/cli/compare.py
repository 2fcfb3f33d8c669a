"""``pmae compare``: which method fills this table best, and by more than noise.

What the command needs is imported inside it, so that ``pmae --help`` answers at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

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
    read_method_params,
    read_methods,
    read_roles,
    read_seconds,
    say,
    show,
    with_examples,
)
from pmae_core.errors import ImputationError
from pmae_core.events import Event

if TYPE_CHECKING:
    from pmae_core.evaluation.comparison import Comparison
    from pmae_core.evaluation.tasks import TaskResult

HELP = with_examples(
    "Compare methods on a table: the same cells are hidden from all, ranks are given with ties.\n\n"
    "Cells are hidden like those that miss already, unless a pattern or the truth is given. With "
    "--output results are kept as they come, and the same command goes on where it was stopped.",
    "pmae compare holes.csv --methods pmae-mix,knn,em --seeds 3 --budget 10m --output compared",
    "pmae compare complete.csv --methods naive,em --pattern general --mechanism MNAR",
    "pmae compare holes.csv --methods em,pmae-mix --param pmae-mix.steps=400 --jobs 2",
)


def compare(
    table: InputTable,
    methods: Methods,
    seeds: Seeds = 3,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time for all, as 90s, 10m or 1h30m.")
    ] = None,
    method_budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time for each method and seed.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for results.csv, report.html and the like."),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(min=0.0, max=0.5, help="Share of observed cells to hide; 0.1 by default."),
    ] = None,
    pattern: Annotated[
        PatternName | None,
        typer.Option(help="Make holes of this shape instead of holes like the table's own."),
    ] = None,
    mechanism: Annotated[
        MechanismName | None,
        typer.Option(help="What makes these cells missing."),
    ] = None,
    coupling: Annotated[
        CouplingName | None,
        typer.Option(help="How the holes of one row hang together."),
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="The complete table, to judge by the table's own holes.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column that no method may see.")
    ] = None,
    param: MethodParams = None,
    sentinel: Sentinels = None,
    role: Roles = None,
    jobs: Annotated[int, typer.Option(min=1, help="Tasks at a time, each in a process.")] = 1,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what failed in the same folder.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only the end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare methods on a table."""
    from pmae_core.evaluation.comparing import compare as run_comparison
    from pmae_core.evaluation.report import write_comparison
    from pmae_core.table import read_table

    chosen = read_methods(methods)
    params = read_method_params(param)
    roles = read_roles(role) or None
    budget_seconds = read_seconds(budget, "--budget")
    method_budget_seconds = read_seconds(method_budget, "--method-budget")
    amputation = given(pattern=pattern, mechanism=mechanism, coupling=coupling)
    if sum(map(bool, (amputation, truth, share))) > 1:
        raise typer.BadParameter(
            "Give one of these: a pattern or mechanism, the truth, or a share of cells to hide.",
            param_hint="--pattern, --truth, --share",
        )
    frame = read_table(table, sentinels=tuple(sentinel or ()))
    true_frame = None if truth is None else read_table(truth)
    with _standings(quiet) as show:
        comparison = run_comparison(
            frame,
            chosen,
            seeds=range(seeds),
            schema=roles,
            amputation=amputation or None,
            holdout_share=0.1 if share is None else share,
            truth=true_frame,
            target=target,
            method_params=params,
            budget_seconds=budget_seconds,
            method_budget_seconds=method_budget_seconds,
            results_dir=None if output is None else output / "tasks",
            retry_failed=retry_failed,
            callbacks=(show,),
            n_jobs=jobs,
        )
    if output is not None:
        write_comparison(comparison, output)
    if as_json:
        typer.echo(comparison.to_json())
    else:
        _print_summary(comparison)
    if output is not None and not quiet:
        say(f"Wrote {as_text(str(output / 'report.html'))} and the results beside it.")
    if not any(task.status == "done" for task in comparison.tasks):
        raise ImputationError("No method gave a result; the reasons are above.")


# ---------------------------------------------------------------- while it runs


@contextmanager
def _standings(quiet: bool) -> Iterator[Callable[[Event], None]]:
    """Show results as they come: a table that grows on a terminal, lines in a pipe."""
    from pmae_core.evaluation.tasks import TaskFinished, TaskStarted

    console = Console(stderr=True, highlight=False)
    finished: list[TaskResult] = []
    if quiet or not console.is_terminal:

        def show_line(event: Event) -> None:
            if isinstance(event, TaskFinished) and not quiet:
                count = f"{event.n_done} of {event.n_tasks}"
                say(f"{count}: {as_text(', '.join(filter(None, _result_cells(event.result))))}")

        yield show_line
        return

    with Live(_results_table(finished, ""), console=console, transient=True) as live:

        def show_table(event: Event) -> None:
            if isinstance(event, TaskFinished):
                finished.append(event.result)
                live.update(_results_table(finished, f"{event.n_done} of {event.n_tasks} done"))
            elif isinstance(event, TaskStarted):
                live.update(_results_table(finished, f"{event.method}, seed {event.seed} ..."))

        yield show_table


def _results_table(results: Sequence[TaskResult], caption: str) -> Table:
    headers = ["Method", "Seed", "Imputation accuracy", "Seconds", ""]
    rows = [_result_cells(result) for result in results[-30:]]
    table = _table(headers, rows, words={0, 4})
    table.caption = as_text(caption)
    return table


def _result_cells(result: TaskResult) -> list[str]:
    if result.status != "done":
        return [result.method, f"seed {result.seed}", "", "", result.error or result.status]
    seconds = (result.fit_seconds or 0.0) + (result.impute_seconds or 0.0)
    accuracy = _figure(result.scores["imputation_accuracy"])
    return [result.method, f"seed {result.seed}", accuracy, f"{seconds:.1f} s", ""]


# ---------------------------------------------------------------- at the end


def _print_summary(comparison: Comparison) -> None:
    summary = comparison.summary()
    scores = {
        "imputation_accuracy": "Imputation accuracy",
        "r2_unclipped": "R²",
        "accuracy": "Accuracy",
        "rmse": "RMSE",
        "energy": "Energy",
    }
    rows = []
    for method, row in summary.iterrows():
        rank = str(row["rank"]) if row["n_done"] else ""
        error = row["imputation_accuracy_se"]
        figures = [_figure(row[name]) for name in scores]
        if figures[0] and not math.isnan(error):
            figures[0] += f" ± {error:.3f}"
        seconds = _figure(row["fit_seconds"] + row["impute_seconds"], 1)
        memory = _figure(row["peak_memory_mb"], 0)
        rows.append([rank, str(method), *figures, seconds, memory, str(row["remark"])])
    headers = ["Rank", "Method", *scores.values(), "Seconds", "Memory, MB", "Remark"]
    show(_table(headers, rows, words={1, len(headers) - 1}))
    hopeless = [
        str(column) for column, row in comparison.column_winners().iterrows() if row["best"] is None
    ]
    if hopeless:
        typer.echo(f"No method beats the mean in: {', '.join(hopeless)}.")


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, words: set[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, header in enumerate(headers):
        table.add_column(header, justify="left" if place in words else "right")
    for row in rows:
        table.add_row(*map(as_text, row))
    return table


def _figure(value: float, decimals: int = 3) -> str:
    return "" if math.isnan(value) else f"{value:.{decimals}f}"
