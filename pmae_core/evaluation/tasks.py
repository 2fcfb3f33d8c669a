"""One task of a comparison: one method, one seed, one hold-out; plain data in and out."""

from __future__ import annotations

import math
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import Cancelled, ImputationWarning, PMAEError, ScoringError
from pmae_core.evaluation.cell_gains import cell_gains
from pmae_core.evaluation.distribution import energy_score
from pmae_core.evaluation.downstream import Downstream, downstream_of_method
from pmae_core.evaluation.holdout import Holdout, HoldoutPlan
from pmae_core.evaluation.i_score import energy_i_score
from pmae_core.evaluation.imputation_scores import IMPUTATION_METRICS, score_imputations
from pmae_core.evaluation.memory import PeakMemory
from pmae_core.evaluation.metrics import (
    METRICS,
    ImputationScore,
    comparable_numbers,
    has_true_value,
    score_imputation,
)
from pmae_core.evaluation.skill import impute_with_mean, skill_over_mean
from pmae_core.evaluation.sources import reason_of
from pmae_core.events import Callback, Event, ProgressUpdate
from pmae_core.imputers import BaseImputer, make_imputer
from pmae_core.storage.json_values import without_nan
from pmae_core.table import Schema
from pmae_core.table.roles import NUMBER_ROLES
from pmae_core.words import count, exact_text

Status = Literal["done", "failed", "stopped", "not run"]
# Scores of whole tables; all others are means over columns.
TABLE_SCORES = ("energy_distance", "i_score")
SCORES = ("skill", *METRICS, *IMPUTATION_METRICS, *TABLE_SCORES)

MAX_POINTS = 2000
MIN_POINTS_PER_COLUMN = 20
MAX_NOTES = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """What to run; it can be pickled and sent to another process or machine.

    Attributes
    ----------
    method : str
        Name of the method in the comparison.
    seed : int
        Seed of the held-out cells and of the imputer.
    table : DataFrame
        The table, without a target that is left out.
    schema : Schema
        Its roles.
    holdout : HoldoutPlan
        How cells are held out.
    params : dict
        Parameters of the imputer.
    imputer : str, optional
        Name of the imputer if it differs from the method's, as for variants of one imputer.
    truth : DataFrame, optional
        The complete table, for a hold-out with known truth.
    budget_seconds : float, optional
        After this time the method is asked to stop.
    downstream : Downstream, optional
        Labels of the rows, to be predicted from the imputed features as a further score.
    imputations : int
        How many random imputations to score, of a method that draws them; 0 scores none. Any other
        method is scored by its one imputation, as a point mass.
    i_score : bool
        Whether to compute the energy-I-Score on the table itself, with its own missing values or
        simulated ones; it costs one fit for the table and one for each incomplete column.
    """

    method: str
    seed: int
    table: pd.DataFrame
    schema: Schema
    holdout: HoldoutPlan
    params: Mapping[str, Any] = field(default_factory=dict)
    imputer: str | None = None
    truth: pd.DataFrame | None = None
    budget_seconds: float | None = None
    downstream: Downstream | None = None
    imputations: int = 0
    i_score: bool = False


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """The result of a task.

    Attributes
    ----------
    method, seed
        The task.
    status : {"done", "failed", "stopped", "not run"}
        A method that exceeded its time budget is "stopped"; one that never started is "not run".
    error : str or None
        Why there is no score, as a sentence.
    scores : dict
        Overall scores by the names in ``SCORES``; nan if one does not apply.
    per_column : list of dict
        For each scored column its name, role, ``n_scored``, the metrics, ``skill`` over the mean,
        and the scores of random imputations.
    skipped : dict
        Columns that are not scored, and why.
    points : dict
        For each column some held-out cells: ``truth`` and ``imputed``, as numbers or labels.
    gains : dict
        For each column the gain over the mean in each held-out cell, and its row; see
        :func:`~pmae_core.evaluation.cell_gains.cell_gains`.
    fit_seconds, impute_seconds, peak_memory_mb : float or None
        Time and memory used; see :class:`~pmae_core.evaluation.memory.PeakMemory`.
    notes : list of str
        Warnings of the method.
    budget_seconds : float or None
        Time budget of the task.
    traceback : str or None
        Where a method failed unexpectedly, for its developers.
    downstream : dict
        If labels were predicted: the ``metric``, its value by model, and ``how`` rows were
        imputed.
    imputations : int
        How many random imputations the task asked for.
    n_imputations : int
        How many were scored: 1 for a method that gives one imputation, 0 if none was scored.
    sample_seconds : float or None
        Time used to draw them.
    """

    method: str
    seed: int
    status: Status
    error: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    per_column: list[dict[str, Any]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    points: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    gains: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    fit_seconds: float | None = None
    impute_seconds: float | None = None
    peak_memory_mb: float | None = None
    notes: list[str] = field(default_factory=list)
    budget_seconds: float | None = None
    traceback: str | None = None
    downstream: dict[str, Any] = field(default_factory=dict)
    imputations: int = 0
    n_imputations: int = 0
    sample_seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-able data; what does not apply is None."""
        plain: dict[str, Any] = without_nan(asdict(self))
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TaskResult:
        """Return the result that `to_dict` wrote."""
        try:
            result = cls(**data)
        except TypeError as error:
            raise ScoringError(f"This is not a saved result of a comparison: {error}.") from None
        result.scores.update(
            {name: math.nan for name, value in result.scores.items() if value is None}
        )
        return result


@dataclass(frozen=True, kw_only=True)
class TaskStarted(Event):
    """A method starts on one seed."""

    method: str
    seed: int

    def progress_update(self) -> ProgressUpdate:
        """Return which method runs."""
        return ProgressUpdate(note=f"{self.method}, seed {self.seed}")


@dataclass(frozen=True, kw_only=True)
class TaskProgress(Event):
    """A method reports progress."""

    method: str
    seed: int
    progress: Event

    def progress_update(self) -> ProgressUpdate | None:
        """Return which method runs, and how far it is."""
        inner = self.progress.progress_update()
        if inner is None or inner.total is None:
            return None
        name = f"{self.method}, seed {self.seed}"
        return ProgressUpdate(note=f"{name}: {inner.done} of {count(inner.total, inner.unit)}")


@dataclass(frozen=True, kw_only=True)
class TaskFinished(Event):
    """A task has its result; ``from_disk`` if it was read from disk.

    ``eta_seconds`` is a forecast for the other tasks, ``None`` before one has been run.
    """

    result: TaskResult
    n_done: int
    n_tasks: int
    from_disk: bool
    eta_seconds: float | None = None

    def progress_update(self) -> ProgressUpdate:
        """Return how many tasks are done."""
        return ProgressUpdate(
            done=self.n_done, total=self.n_tasks, unit="run", eta_seconds=self.eta_seconds
        )


def run_task(
    task: Task,
    *,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> TaskResult:
    """Hold out cells, fit, impute and score.

    Parameters
    ----------
    task : Task
        What to run.
    callbacks : sequence of callables
        Each is called with the method's own events, wrapped in :class:`TaskProgress`.
    cancel : callable, optional
        Returns ``True`` to stop.

    Returns
    -------
    TaskResult
        Scores, or the reason why there are none: a method's failure is a result too.

    Raises
    ------
    Cancelled
        Only if the user asked to stop.
    """
    started = time.perf_counter()
    is_cancelled = cancel or (lambda: False)

    def stop() -> bool:
        elapsed = time.perf_counter() - started
        return is_cancelled() or (task.budget_seconds is not None and elapsed > task.budget_seconds)

    about: dict[str, Any] = {
        "method": task.method,
        "seed": task.seed,
        "budget_seconds": task.budget_seconds,
        "imputations": task.imputations,
    }
    try:
        return TaskResult(**about, status="done", **_measure(task, callbacks, stop))
    except Cancelled:
        if is_cancelled():
            raise
        return TaskResult(**about, status="stopped", error=over_budget(task.budget_seconds))
    except PMAEError as error:
        return TaskResult(**about, status="failed", error=reason_of(error))
    except Exception as error:
        return TaskResult(
            **about,
            status="failed",
            error=reason_of(error),
            traceback=traceback.format_exc(),
        )


def over_budget(seconds: float | None) -> str:
    """Return the sentence for a method that exceeded its time budget."""
    return f"Stopped: used up its time budget of {seconds:.3g} s."


@dataclass(frozen=True)
class _Imputed:
    """What a method made of a table: one imputation, those scored as a distribution, its costs."""

    imputer: BaseImputer
    single: pd.DataFrame
    sampled: list[pd.DataFrame]
    costs: dict[str, float | None]
    notes: list[str]


def _measure(task: Task, callbacks: Sequence[Callback], stop: Callable[[], bool]) -> dict[str, Any]:
    holdout = task.holdout.make(task.table, task.schema, task.seed, task.truth)
    by_mean = impute_with_mean(holdout.incomplete, task.schema)
    missing, unlearnable = _scored_cells(holdout, by_mean)
    imputed = _impute(task, holdout, callbacks, stop)
    truth, schema = holdout.truth, task.schema

    score = score_imputation(truth, imputed.single, missing, schema)
    skill = skill_over_mean(score, score_imputation(truth, by_mean, missing, schema))
    random = score_imputations(truth, imputed.sampled, missing, schema) if imputed.sampled else None
    tables = imputed.sampled or [imputed.single]
    energies = [energy_score(truth, one, missing, schema) for one in tables]
    i_score, i_score_notes = _i_score(task, holdout, stop) if task.i_score else ({}, [])
    return {
        "scores": {
            "skill": float(skill.mean()),
            **score.overall,
            **_overall(random),
            "energy_distance": float(np.mean(energies)),
            **i_score,
        },
        "per_column": _per_column(score, skill, random),
        "skipped": {str(name): why for name, why in score.skipped.items()} | unlearnable,
        "points": _points(truth, imputed.single, missing, score, task),
        "gains": cell_gains(truth, imputed.single, by_mean, missing, schema, seed=task.seed),
        **imputed.costs,
        "notes": list(dict.fromkeys([*imputed.notes, *i_score_notes]))[:MAX_NOTES],
        "n_imputations": len(imputed.sampled),
        "downstream": _predictions(task, imputed.imputer, holdout.incomplete, imputed.single, stop),
    }


def _impute(
    task: Task, holdout: Holdout, callbacks: Sequence[Callback], stop: Callable[[], bool]
) -> _Imputed:
    imputer = make_imputer(
        task.imputer or task.method,
        **{**task.params, "schema": task.schema, "random_state": task.seed},
    )

    def forward(event: Event) -> None:
        wrapped = TaskProgress(method=task.method, seed=task.seed, progress=event)
        for callback in callbacks:
            callback(wrapped)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        with PeakMemory() as peak:
            imputer.fit(holdout.incomplete, callbacks=(forward,), cancel=stop)
            fitted = time.perf_counter()
            single = imputer.transform(holdout.incomplete)
        finished = time.perf_counter()
        sampled, failure = _sampled(imputer, single, holdout, task, stop)
        sample_seconds = time.perf_counter() - finished
    costs = {
        "fit_seconds": fitted - begin,
        "impute_seconds": finished - fitted,
        "sample_seconds": sample_seconds if task.imputations else None,
        "peak_memory_mb": peak.megabytes,
    }
    notes = [*failure, *(str(one.message) for one in caught)]
    return _Imputed(imputer, single, sampled, costs, notes)


def _sampled(
    imputer: BaseImputer,
    imputed: pd.DataFrame,
    holdout: Holdout,
    task: Task,
    stop: Callable[[], bool],
) -> tuple[list[pd.DataFrame], list[str]]:
    """Return the imputations to score as a distribution, or a note that says why there are none."""
    if not task.imputations:
        return [], []
    if not imputer.draws_samples():
        return [imputed], []
    try:
        found = imputer.sample(
            holdout.incomplete, task.imputations, random_state=task.seed, cancel=stop
        )
        return found, []
    except Cancelled:
        raise
    except PMAEError as error:
        return [], [f"Random imputations were not scored: {error}"]


def _i_score(
    task: Task, holdout: Holdout, stop: Callable[[], bool]
) -> tuple[dict[str, float], list[str]]:
    """Return the energy-I-Score on the table itself, and notes on columns without one."""
    is_simulated = task.holdout.kind == "amputation"
    try:
        found = energy_i_score(
            holdout.incomplete if is_simulated else task.table,
            task.imputer or task.method,
            schema=task.schema,
            params=task.params,
            imputations=max(task.imputations, 1),
            seed=task.seed,
            cancel=stop,
        )
    except ScoringError as error:
        return {"i_score": math.nan}, [f"No I-Score: {error}"]
    notes = [f"No I-Score for {name}: {why}." for name, why in found.skipped.items()]
    return {"i_score": found.overall}, notes


def _overall(random: pd.DataFrame | None) -> dict[str, float]:
    """Return the mean over columns of the scores of random imputations."""
    if random is None:
        return dict.fromkeys(IMPUTATION_METRICS, math.nan)
    return {name: float(random[name].astype(float).mean()) for name in IMPUTATION_METRICS}


def _predictions(
    task: Task,
    imputer: BaseImputer,
    incomplete: pd.DataFrame,
    imputed: pd.DataFrame,
    stop: Callable[[], bool],
) -> dict[str, Any]:
    """Return the scores of the downstream task, if there is one."""
    if task.downstream is None:
        return {}
    with warnings.catch_warnings():
        # The same method on fewer rows warns of the same things again.
        warnings.simplefilter("ignore", ImputationWarning)
        return downstream_of_method(
            imputer, incomplete, imputed, task.downstream, task.schema, task.seed, stop
        )


def _scored_cells(holdout: Holdout, by_mean: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Leave out columns that no method can learn: they would lower all scores alike."""
    still_missing = (by_mean.isna() & holdout.missing).any()
    unlearnable = [name for name in holdout.missing.columns if still_missing[name]]
    reasons = dict.fromkeys(map(str, unlearnable), "no method can learn it from its observed cells")
    return holdout.missing.drop(columns=unlearnable), reasons


def _per_column(
    score: ImputationScore, skill: pd.Series, random: pd.DataFrame | None
) -> list[dict[str, Any]]:
    columns = score.per_column.assign(skill=skill)
    if random is not None:
        columns = columns.join(random)
    rows: list[dict[Any, Any]] = columns.to_dict(orient="records")
    return [{"column": str(name), **row} for name, row in zip(columns.index, rows, strict=True)]


def _points(
    truth: pd.DataFrame,
    imputed: pd.DataFrame,
    missing: pd.DataFrame,
    score: ImputationScore,
    task: Task,
) -> dict[str, dict[str, list[Any]]]:
    """Return some held-out cells of each column, the same for every method."""
    names = list(score.per_column.index)
    most = max(MIN_POINTS_PER_COLUMN, MAX_POINTS // len(names))
    rng = np.random.default_rng(task.seed)
    points = {}
    for name in names:
        rows = np.flatnonzero(missing[name].to_numpy() & has_true_value(truth[name]))
        if len(rows) > most:
            rows = np.sort(rng.choice(rows, size=most, replace=False))
        cells = (
            _number_points(truth[name], imputed[name], rows, task.schema)
            if task.schema.role(name) in NUMBER_ROLES
            else _label_points(truth[name], imputed[name], rows)
        )
        points[str(name)] = dict(zip(("truth", "imputed"), cells, strict=True))
    return points


def _number_points(
    truth: pd.Series, imputed: pd.Series, rows: npt.NDArray[np.intp], schema: Schema
) -> tuple[list[Any], list[Any]]:
    true_numbers, imputed_numbers = comparable_numbers(truth, imputed, schema)
    return true_numbers[rows].tolist(), imputed_numbers[rows].tolist()


def _label_points(
    truth: pd.Series, imputed: pd.Series, rows: npt.NDArray[np.intp]
) -> tuple[list[Any], list[Any]]:
    return list(map(exact_text, truth.iloc[rows])), list(map(exact_text, imputed.iloc[rows]))
