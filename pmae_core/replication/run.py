"""Running an experiment: cell by cell, each finished task saved at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pmae_core.errors import AmputationError, Cancelled, DatasetUnavailableError, TableError
from pmae_core.evaluation import BenchmarkTable, Downstream, HoldoutPlan, benchmark_table, compare
from pmae_core.evaluation.comparison import COSTS, Comparison
from pmae_core.evaluation.parallel import Pool
from pmae_core.evaluation.tasks import TaskFinished, TaskResult
from pmae_core.events import Callback, Event
from pmae_core.replication.experiments import COUPLING, ExperimentPlan
from pmae_core.replication.mixing import mixing_rows
from pmae_core.replication.results import ResultFile, Row
from pmae_core.replication.variants import Variant
from pmae_core.table.samples.datasets import list_datasets

DOWNSTREAM_MODELS = ("linear", "boosting")
# The columns of the results: the paper's accuracy first, then what was measured beside it.
PAPER_SCORES = (
    "imputation_accuracy",
    "r2",
    "r2_unclipped",
    "accuracy",
    "rmse",
    "mae",
    "wasserstein",
    "energy_distance",
)


@dataclass(frozen=True)
class Cell:
    """One table with one kind of missingness.

    Attributes
    ----------
    dataset, pattern, mechanism : str
        Which table, and which missingness.
    max_rows : int or None
        Number of rows the table is sampled down to; None if it is used whole.
    """

    dataset: str
    pattern: str
    mechanism: str = "MNAR"
    max_rows: int | None = None

    @property
    def name(self) -> str:
        """The name of its folder of tasks."""
        mechanism = "" if self.mechanism == "MNAR" else f"-{self.mechanism}"
        rows = "" if self.max_rows is None else f"-rows{self.max_rows}"
        return f"{self.dataset}-{self.pattern}{mechanism}{rows}"

    @property
    def amputation(self) -> dict[str, str]:
        """Settings of the amputation."""
        return {"pattern": self.pattern, "mechanism": self.mechanism, "coupling": COUPLING}

    @property
    def key(self) -> Row:
        """The values that all rows of the cell share."""
        return {"dataset": self.dataset, **self.amputation, "max_rows": self.max_rows}

    def load(self) -> BenchmarkTable:
        """Load the table as the paper prepares it, sampled down if it is too large."""
        return benchmark_table(self.dataset, max_rows=self.max_rows)


@dataclass(frozen=True, kw_only=True)
class RowsFinished(Event):
    """A task of an experiment has its rows; ``eta_seconds`` is None until it can be estimated."""

    rows: list[Row]
    n_done: int
    n_tasks: int
    from_disk: bool
    eta_seconds: float | None


@dataclass(kw_only=True)
class Runner:
    """Runs experiments and writes their results.

    Attributes
    ----------
    tasks_dir : Path
        Where finished tasks are kept; experiments share tasks they have in common.
    results_dir : Path
        Where the files of results are.
    about : mapping
        How the results are made, such as command and versions. Kept in the results.
    retry_failed : bool
        Whether tasks that failed are run again.
    n_jobs : int
        Tasks at a time, each in its own process if more than 1.
    make_pool : callable, optional
        Makes a pool that runs the tasks of a comparison elsewhere, as on a cluster.
    callbacks : sequence of callables
        Each is called with :class:`RowsFinished`.
    cancel : callable
        Returns ``True`` to stop.
    """

    tasks_dir: Path
    results_dir: Path
    about: Mapping[str, Any] = field(default_factory=dict)
    retry_failed: bool = False
    n_jobs: int = 1
    make_pool: Callable[[], Pool] | None = None
    callbacks: Sequence[Callback] = ()
    cancel: Callable[[], bool] = lambda: False

    def run(self, plan: ExperimentPlan) -> ResultFile:
        """Run what is not on disk yet, and write the results after every cell.

        Returns
        -------
        ResultFile
            The results of the experiment, including those of earlier runs.

        Raises
        ------
        Cancelled
            If the user asked to stop; finished tasks are kept.
        """
        results = ResultFile(self.results_dir, plan.experiment.name)
        run = {**self.about, "settings": settings_of(plan)}
        progress = _ExperimentProgress(plan.n_tasks, self.callbacks)

        def take(rows: list[Row], from_disk: bool) -> None:
            results.add(rows)
            progress.report(rows, from_disk)

        for cell in cells_of(plan):
            try:
                self._run_cell(cell, plan, take)
            finally:
                results.write(run)
        return results

    def _run_cell(
        self, cell: Cell, plan: ExperimentPlan, take: Callable[[list[Row], bool], None]
    ) -> None:
        about_cell: Row = cell.key
        try:
            table = cell.load()
            about_cell = {**cell.key, "n_rows": len(table.frame)}
            if plan.experiment.name == "mixing":
                self._measure_mixing(cell, table, plan, about_cell, take)
            else:
                self._compare(cell, table, plan, about_cell, take)
        except (DatasetUnavailableError, TableError, AmputationError) as error:
            for variant, seed in product(plan.variants, range(plan.seeds)):
                why = {"status": "failed", "error": str(error)}
                take([{**about_cell, **_about(variant, seed), **why}], False)

    def _compare(
        self,
        cell: Cell,
        table: BenchmarkTable,
        plan: ExperimentPlan,
        about_cell: Row,
        take: Callable[[list[Row], bool], None],
    ) -> None:
        by_label = {variant.label: variant for variant in plan.variants}

        def forward(event: Event) -> None:
            if isinstance(event, TaskFinished):
                variant = by_label[event.result.method]
                about = {**about_cell, **_about(variant, event.result.seed)}
                take([{**about, **_outcome(event.result)}], event.from_disk)

        self.compare_cell(
            cell,
            table,
            plan.variants,
            seeds=plan.seeds,
            budget_seconds=plan.budget_seconds,
            downstream_rows=plan.experiment.downstream_rows,
            callbacks=(forward,),
        )

    def compare_cell(
        self,
        cell: Cell,
        table: BenchmarkTable,
        variants: Sequence[Variant],
        *,
        seeds: int,
        budget_seconds: float | None = None,
        downstream_rows: Literal["all", "training"] | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> Comparison:
        """Run or resume variants of methods on one table with one kind of missingness."""
        folder, downstream = cell.name, None
        if downstream_rows is not None:
            folder += "-downstream" if downstream_rows == "all" else "-downstream-split"
            downstream = Downstream(table.labels, table.task, downstream_rows)
        return compare(
            table.frame,
            [variant.label for variant in variants],
            seeds=range(seeds),
            schema=table.schema,
            amputation=cell.amputation,
            imputers={
                variant.label: variant.imputer
                for variant in variants
                if variant.label != variant.imputer
            },
            method_params={variant.label: variant.params for variant in variants},
            method_budget_seconds=budget_seconds,
            downstream=downstream,
            imputations=0,
            results_dir=self.tasks_dir / folder,
            retry_failed=self.retry_failed,
            callbacks=callbacks,
            cancel=self.cancel,
            n_jobs=1 if self.make_pool is not None else self.n_jobs,
            pool=None if self.make_pool is None else self.make_pool(),
        )

    def _measure_mixing(
        self,
        cell: Cell,
        table: BenchmarkTable,
        plan: ExperimentPlan,
        about_cell: Row,
        take: Callable[[list[Row], bool], None],
    ) -> None:
        holdout = HoldoutPlan(kind="amputation", amputation=cell.amputation)
        for seed, variant in product(range(plan.seeds), plan.variants):
            if self.cancel():
                raise Cancelled("The experiment was stopped.")
            rows, from_disk = mixing_rows(
                table,
                holdout,
                variant,
                seed,
                folder=self.tasks_dir / f"{cell.name}-mixing",
                budget_seconds=plan.budget_seconds,
                retry_failed=self.retry_failed,
                cancel=self.cancel,
            )
            take([{**about_cell, **_about(variant, seed), **row} for row in rows], from_disk)


def cells_of(plan: ExperimentPlan) -> Iterator[Cell]:
    """Yield the cells of a plan; a cap applies only to tables with more rows."""
    n_rows = {info.name: info.n_rows for info in list_datasets()}
    for dataset, pattern, mechanism in product(plan.datasets, plan.patterns, plan.mechanisms):
        is_capped = plan.max_rows is not None and plan.max_rows < n_rows[dataset]
        yield Cell(dataset, pattern, mechanism, plan.max_rows if is_capped else None)


def settings_of(plan: ExperimentPlan) -> dict[str, Any]:
    """Return the settings of a plan as JSON-able data."""
    return {
        "datasets": list(plan.datasets),
        "patterns": list(plan.patterns),
        "mechanisms": list(plan.mechanisms),
        "coupling": COUPLING,
        "variants": [variant.label for variant in plan.variants],
        "seeds": plan.seeds,
        "max_rows": plan.max_rows,
        "budget_seconds": plan.budget_seconds,
    }


def _about(variant: Variant, seed: int) -> Row:
    return {
        "method": variant.imputer,
        "variant": variant.label,
        **variant.describe(),
        "seed": seed,
    }


def _outcome(result: TaskResult) -> Row:
    row = {
        "status": result.status,
        "error": result.error,
        **{name: result.scores.get(name) for name in PAPER_SCORES},
        **{name: getattr(result, name) for name in COSTS},
        "budget_seconds": result.budget_seconds,
    }
    if not result.downstream:
        return row
    scores = {f"downstream_{name}": result.downstream[name] for name in DOWNSTREAM_MODELS}
    return {
        **row,
        "error": result.downstream["error"] or None,
        "downstream_metric": result.downstream["metric"],
        "downstream_how": result.downstream.get("how"),
        **scores,
        # The paper's figure: the mean over the models, all of which must have a score.
        "downstream": None if None in scores.values() else sum(scores.values()) / len(scores),
    }


class _ExperimentProgress:
    """Counts tasks, and estimates from those that were run how long the others take."""

    def __init__(self, n_tasks: int, callbacks: Sequence[Callback]) -> None:
        self.n_tasks = n_tasks
        self.callbacks = callbacks
        self.n_done = self.n_run = 0
        self.started = time.monotonic()

    def report(self, rows: list[Row], from_disk: bool) -> None:
        self.n_done += 1
        self.n_run += not from_disk
        eta = None
        if self.n_run:
            pace = (time.monotonic() - self.started) / self.n_run
            eta = pace * (self.n_tasks - self.n_done)
        event = RowsFinished(
            rows=rows,
            n_done=self.n_done,
            n_tasks=self.n_tasks,
            from_disk=from_disk,
            eta_seconds=eta,
        )
        for callback in self.callbacks:
            callback(event)
