"""``pmae compare``: which method imputes this table best, and by more than noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console

from pmae_core.cli.groups import HoldoutOptions, InputOptions, with_option_groups
from pmae_core.cli.options import (
    AsJson,
    Budget,
    InputTable,
    MethodBudget,
    MethodParams,
    Methods,
    QuietUntilEnd,
    ScoredImputations,
    Seeds,
    Target,
    WithIScore,
    read_method_params,
    read_methods,
    read_seconds,
    with_examples,
)
from pmae_core.cli.terminal import (
    as_text,
    figure,
    print_json_text,
    print_table,
    print_text,
    say,
    text_table,
)
from pmae_core.errors import ImputationError, ScoringError
from pmae_core.words import listed, percent

if TYPE_CHECKING:
    import pandas as pd
    from rich.live import Live
    from rich.table import Table

    from pmae_core.evaluation.comparison import Comparison
    from pmae_core.evaluation.tasks import TaskResult
    from pmae_core.events import Event

HELP = with_examples(
    "Compare methods on a table. All methods impute the same held-out cells; ranks show ties.\n\n"
    "Held-out cells resemble the cells that are missing already, unless you give a pattern, a "
    "mechanism or the truth. With --output, results are saved as they arrive, and the same "
    "command resumes where it stopped.",
    "pmae compare survey.csv --methods pmae,knn,em --seeds 3 --budget 10m --output compared",
    "pmae compare complete.csv --methods naive,em --pattern general --mechanism MNAR",
    "pmae compare survey.csv --methods pmae,mice --imputations 10 --rank-by distribution_skill",
    "pmae compare survey.csv --methods em,pmae-mix --param pmae-mix.steps=400 --jobs 2",
)
_SUMMARY_SCORES = {
    "skill": "Skill",
    "imputation_accuracy": "Imputation accuracy",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced",
    "rmse": "RMSE",
    "distribution_skill": "Distribution skill",
    "coverage": "Coverage",
    "energy_distance": "Energy",
    "i_score": "I-Score",
}
_RESULT_HEADERS = ("Method", "Seed", "Skill", "Seconds", "")
_MOST_LIVE_ROWS = 30


class ComparisonOptions(NamedTuple):
    """How the comparison runs, and what it writes."""

    budget: Budget = None
    method_budget: MethodBudget = None
    imputations: ScoredImputations = 5
    i_score: WithIScore = False
    rank_by: Annotated[
        str, typer.Option(help="The score that ranks the methods, such as distribution_skill.")
    ] = "skill"
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for results.csv, report.html and other files."),
    ] = None
    jobs: Annotated[
        int, typer.Option(min=1, help="Tasks that run at once, each in its own process.")
    ] = 1
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat what failed before in the same folder.")
    ] = False
    quiet: QuietUntilEnd = False
    as_json: AsJson = False

    def settings(self) -> dict[str, Any]:
        """Return the settings of the library's comparison."""
        return {
            "budget_seconds": read_seconds(self.budget, "--budget"),
            "method_budget_seconds": read_seconds(self.method_budget, "--method-budget"),
            "results_dir": None if self.output is None else self.output / "tasks",
            "retry_failed": self.retry_failed,
            "n_jobs": self.jobs,
            "imputations": self.imputations,
            "i_score": self.i_score,
        }


@with_option_groups
def compare(
    *,
    table: InputTable,
    methods: Methods,
    seeds: Seeds = 3,
    holdout: HoldoutOptions,
    target: Target = None,
    param: MethodParams = None,
    reading: InputOptions,
    running: ComparisonOptions,
) -> None:
    """Compare methods on a table."""
    chosen = read_methods(methods)
    _check_rank_by(running)
    settings = {
        "seeds": range(seeds),
        "amputation": holdout.amputation(),
        "holdout_share": 0.1 if holdout.share is None else holdout.share,
        "target": target,
        "method_params": read_method_params(param),
        **running.settings(),
    }
    frame = reading.read(table)
    settings["schema"] = reading.schema_for(frame)
    settings["truth"] = None if holdout.truth is None else InputOptions().read(holdout.truth)
    comparison = _run(frame, chosen, settings, running.quiet)
    _report(comparison, running)


def _check_rank_by(running: ComparisonOptions) -> None:
    """Refuse a score that no method can have, before any time is spent."""
    from pmae_core.evaluation.imputation_scores import IMPUTATION_METRICS
    from pmae_core.evaluation.ranking import RANKED_METRICS

    if running.rank_by not in RANKED_METRICS:
        raise ScoringError(
            f"Methods cannot be ranked by {running.rank_by!r}. Choose "
            f"{listed(RANKED_METRICS, most=len(RANKED_METRICS), last='or')}."
        )
    if running.rank_by in IMPUTATION_METRICS and not running.imputations:
        raise ScoringError(f"To rank by {running.rank_by}, --imputations must be positive.")
    if running.rank_by == "i_score" and not running.i_score:
        raise ScoringError("To rank by i_score, add --i-score.")


def _run(
    frame: pd.DataFrame, methods: Sequence[str], settings: dict[str, Any], quiet: bool
) -> Comparison:
    from pmae_core.evaluation.comparing import compare as run_comparison

    with _live_results(quiet) as show_result:
        return run_comparison(frame, methods, callbacks=(show_result,), **settings)


def _report(comparison: Comparison, running: ComparisonOptions) -> None:
    """Write and print the results; a comparison without any is an error."""
    from pmae_core.evaluation.report import write_comparison

    if running.output is not None:
        write_comparison(comparison, running.output)
    if running.as_json:
        print_json_text(comparison.to_json())
    else:
        _print_summary(comparison, running.rank_by)
    if running.output is not None and not running.quiet:
        say(f"Wrote {running.output / 'report.html'} and the results beside it.")
    if not any(task.status == "done" for task in comparison.tasks):
        raise ImputationError("No method gave a result. The reasons are above.")


# ---------------------------------------------------------------- while it runs


@contextmanager
def _live_results(quiet: bool) -> Iterator[Callable[[Event], None]]:
    """Show results as they arrive: a table that grows on a terminal, lines in a pipe."""
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda event: None
    elif not console.is_terminal:
        yield _show_line
    else:
        from rich.live import Live

        with Live(_results_table([], ""), console=console, transient=True) as live:
            yield _table_updater(live)


def _show_line(event: Event) -> None:
    from pmae_core.evaluation.tasks import TaskFinished

    if isinstance(event, TaskFinished):
        cells = filter(None, _result_cells(event.result))
        say(f"{event.n_done} of {event.n_tasks}: {', '.join(cells)}")


def _table_updater(live: Live) -> Callable[[Event], None]:
    from pmae_core.evaluation.tasks import TaskFinished, TaskStarted

    finished: list[TaskResult] = []

    def update(event: Event) -> None:
        if isinstance(event, TaskFinished):
            finished.append(event.result)
            live.update(_results_table(finished, f"{event.n_done} of {event.n_tasks} done"))
        elif isinstance(event, TaskStarted):
            live.update(_results_table(finished, f"{event.method}, seed {event.seed} ..."))

    return update


def _results_table(results: Sequence[TaskResult], caption: str) -> Table:
    rows = [_result_cells(result) for result in results[-_MOST_LIVE_ROWS:]]
    table = text_table(_RESULT_HEADERS, rows, figures={1, 2, 3})
    table.caption = as_text(caption)
    return table


def _result_cells(result: TaskResult) -> list[str]:
    if result.status != "done":
        return [result.method, f"seed {result.seed}", "", "", result.error or result.status]
    seconds = (result.fit_seconds or 0.0) + (result.impute_seconds or 0.0)
    skill = figure(result.scores.get("skill", math.nan))
    return [result.method, f"seed {result.seed}", skill, f"{seconds:.1f} s", ""]


# ---------------------------------------------------------------- at the end


def _print_summary(comparison: Comparison, rank_by: str) -> None:
    from pmae_core.evaluation.disagreement import disagreement_sentence

    summary = comparison.summary(rank_by)
    shown = {rank_by: rank_by} | _SUMMARY_SCORES
    shown = {name: title for name, title in shown.items() if summary[name].notna().any()}
    rows = [_summary_cells(str(name), row, list(shown)) for name, row in summary.iterrows()]
    headers = ["Rank", "Method", *shown.values(), "Seconds", "Memory, MB", "Remark"]
    print_table(headers, rows, figures={0, *range(2, len(headers) - 1)})
    _print_notes(comparison, summary)
    sentence = disagreement_sentence(comparison)
    if sentence:
        print_text(sentence)


def _print_notes(comparison: Comparison, summary: pd.DataFrame) -> None:
    from pmae_core.evaluation.imputation_scores import expected_coverage

    n_imputations = int(summary["n_imputations"].max())
    if n_imputations > 1:
        single = list(summary.index[summary["n_imputations"] == 1])
        masses = f" Scored as point masses: {listed(single, most=len(single))}." if single else ""
        print_text(
            f"Coverage is that of intervals from {n_imputations} imputations; perfect ones reach "
            f"{percent(expected_coverage(n_imputations))}.{masses}"
        )
    winners = comparison.column_winners()["best"]
    hopeless = [column for column, best in winners.items() if best is None]
    if hopeless:
        columns = listed(hopeless, most=len(hopeless))
        print_text(f"No method is shown to beat the mean in {columns}.")


def _summary_cells(method: str, row: pd.Series, scores: Sequence[str]) -> list[str]:
    rank = str(row["rank"]).replace("<NA>", "")
    figures = [figure(row[name]) for name in scores]
    standard_error = row[f"{scores[0]}_se"] if scores else math.nan
    if figures and figures[0] and not math.isnan(standard_error):
        figures[0] += f" ± {standard_error:.3f}"
    seconds = figure(row["fit_seconds"] + row["impute_seconds"], 1)
    memory = figure(row["peak_memory_mb"], 0)
    return [rank, method, *figures, seconds, memory, str(row["remark"])]
