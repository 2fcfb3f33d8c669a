"""The work of each kind of job: from a specification and a context to files and a result."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from pmae_core.errors import Cancelled, JobError
from pmae_core.events import DamageFound, Event
from pmae_core.jobs.params import left_alone
from pmae_core.jobs.spec import JobKind, JobSpec
from pmae_core.jobs.worker.answers import AnswerKeeper, blend_of, remove_answer
from pmae_core.jobs.worker.context import JobContext, PhaseStarted
from pmae_core.jobs.worker.held_out import write_held_out
from pmae_core.jobs.worker.results import (
    MODEL_FILE,
    RESULT_FOLDER,
    imputation_file,
    replacing_folder,
    with_missing,
    write_frame,
    write_imputed,
)
from pmae_core.storage.files import write_sealed

if TYPE_CHECKING:
    import pandas as pd

    from pmae_core.evaluation import Comparison
    from pmae_core.jobs.worker.consequences import Consequences

MAX_NOTES = 20


def run_job(spec: JobSpec, context: JobContext) -> dict[str, Any]:
    """Do the work of a job.

    The work continues from what an earlier attempt left in the folder: the checkpoint of a
    training, the finished tasks of a comparison. The result is the same as that of one attempt.
    Damaged files are done without; the notes of the result say so.

    Parameters
    ----------
    spec : JobSpec
        What to do.
    context : JobContext
        The folder, the tables and the listeners.

    Returns
    -------
    dict
        The small, JSON-able result, also written to ``result/result.json``. Its ``files`` are in
        ``result/``.

    Raises
    ------
    Cancelled
        If the user asked to stop; checkpoint and finished tasks stay.
    PMAEError
        If the job cannot be done as asked.
    """
    with replacing_folder(context.folder / RESULT_FOLDER) as out:
        if spec.kind.compares:
            result = _compare(spec, context, out)
        else:
            fit = context.fit_remote or fit_and_impute
            result = fit(spec, context, out)
        result["files"] = sorted(path.name for path in out.iterdir())
        text = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False)
        (out / "result.json").write_text(text + "\n", encoding="utf-8")
    remove_answer(context.folder)
    return result


def fit_and_impute(spec: JobSpec, context: JobContext, out: Path) -> dict[str, Any]:
    """Do the work of a ``train`` or ``impute`` job in this process.

    Parameters
    ----------
    spec, context
        As for :func:`run_job`; only ``checkpoint/`` and ``answer/`` of the context's folder are
        used.
    out : Path
        Where to write the files of the result.

    Returns
    -------
    dict
        The small result.
    """
    params = spec.params
    frame = table_of(spec, context)
    kept_missing = _kept_missing(spec, frame)
    result: dict[str, Any] = {"kind": str(spec.kind), "seconds": {}}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if spec.model is not None:
            imputer = _load(spec.model, context, result)
        else:
            imputer = _fit(spec, frame, kept_missing, context, result)
        if hasattr(imputer, "save"):
            imputer.save(out / MODEL_FILE)
        if spec.kind is JobKind.TRAIN:
            write_held_out(imputer, frame, spec.seed, out)
        if spec.kind is JobKind.IMPUTE or params["impute"]:
            with _phase("impute", context, result):
                imputed = imputer.transform(frame)
            result |= write_imputed(frame, imputed, kept_missing, out)
        if params.get("imputations"):
            with _phase("sample", context, result):
                imputations = imputer.sample(
                    frame,
                    n=params["imputations"],
                    random_state=spec.seed,
                    callbacks=(context.emit,),
                    cancel=context.cancel,
                )
            for number, one in enumerate(imputations, start=1):
                write_frame(with_missing(one, kept_missing), out / imputation_file(number))
            result["n_imputations"] = len(imputations)
    result["notes"] = list(dict.fromkeys(str(one.message) for one in caught))[:MAX_NOTES]
    return result


def _load(model: str, context: JobContext, result: dict[str, Any]) -> Any:
    """Return a trained imputer, and note its settings: its own job may be removed later."""
    from pmae_core.imputers import load_imputer
    from pmae_core.imputers.registry import registered_as

    imputer = load_imputer(context.model_path(model))
    method, params = registered_as(imputer)
    seed = imputer.random_state
    result |= {"model": model, "method": method, "trained": {"params": params, "seed": seed}}
    result |= blend_of(imputer)
    return imputer


def _fit(
    spec: JobSpec,
    frame: pd.DataFrame,
    kept_missing: pd.DataFrame | None,
    context: JobContext,
    result: dict[str, Any],
) -> Any:
    """Return a new imputer, fitted to the table; its answers are kept meanwhile."""
    from pmae_core.imputers import make_imputer

    given = {"schema": spec.read_schema(), "random_state": spec.seed}
    imputer = make_imputer(spec.params["method"], **{**spec.params["params"], **given})
    result["method"] = spec.params["method"]
    keep_answer = AnswerKeeper(imputer, frame, kept_missing, context.folder)
    with _phase("fit", context, result):
        imputer.fit(
            frame,
            callbacks=(keep_answer, context.emit),
            cancel=context.cancel,
            checkpoint_dir=context.folder / "checkpoint",
        )
    result |= _training_of(imputer) | blend_of(imputer)
    return imputer


def _training_of(imputer: Any) -> dict[str, Any]:
    training = getattr(imputer, "training_result_", None)
    if training is None:
        return {}
    return {
        "training": {
            "reason": training.reason,
            "step": training.step,
            "best_step": training.best_step,
            "best_score": training.best_score,
        }
    }


def _kept_missing(spec: JobSpec, frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return True for the cells that are missing for a reason; None if there are none."""
    from pmae_core.explain import leave_alone

    structural = left_alone(spec.params)
    return leave_alone(frame, structural) if structural else None


def _compare(spec: JobSpec, context: JobContext, out: Path) -> dict[str, Any]:
    from pmae_core.evaluation import compare, write_comparison
    from pmae_core.jobs.worker.consequences import EarlyConclusions, compute_consequences

    started = time.monotonic()
    damages: list[str] = []
    context = _noting_damage(context, damages)
    is_benchmark = spec.kind is JobKind.BENCHMARK
    arguments = _on_benchmark_table(spec) if is_benchmark else _on_own_table(spec, context)
    budget = arguments.get("budget_seconds")
    asked: dict[str, Any] = {
        "params": spec.params,
        "arguments": arguments,
        "context": context,
        "seed": spec.seed,
        "deadline": None if budget is None else started + budget,
    }
    comparison = compare(
        **arguments,
        pool=None if context.task_pool is None else context.task_pool(),
        results_dir=context.folder / "tasks",
        callbacks=(context.emit, EarlyConclusions(**asked)),
        cancel=context.cancel,
        run_order=_quickest_first(arguments["methods"], context.expected_seconds),
    )
    consequences = compute_consequences(**asked, run_seconds=_run_seconds(comparison))
    consequences = replace(consequences, notes=damages[:MAX_NOTES] + consequences.notes)
    context.emit(PhaseStarted(phase="write"))
    write_comparison(comparison, out)
    _write_consequences(consequences, comparison, out)
    return {"kind": str(spec.kind), **_summary(comparison, consequences)}


def _run_seconds(comparison: Comparison) -> dict[str, float]:
    """Return how long a run of each method took, in the mean over seeds."""
    seconds: dict[str, list[float]] = {}
    for task in comparison.tasks:
        if task.fit_seconds is not None:
            total = task.fit_seconds + (task.impute_seconds or 0.0)
            seconds.setdefault(task.method, []).append(total)
    return {method: fmean(several) for method, several in seconds.items()}


def _noting_damage(context: JobContext, damages: list[str]) -> JobContext:
    """Return a context that also adds what was done about damaged files to a list."""

    def emit(event: Event) -> None:
        if isinstance(event, DamageFound):
            damages.append(event.sentence)
        context.emit(event)

    return replace(context, emit=emit)


def _quickest_first(
    methods: Sequence[str], expected_seconds: Callable[[], Mapping[str, float]]
) -> Iterator[str]:
    """Yield the quick methods, and then the others by their estimates, those without one last.

    The estimate takes seconds, in which the first answer would wait.
    """
    from pmae_core.imputers import list_imputers

    quick = {info.name for info in list_imputers() if info.is_quick}
    yield from (name for name in methods if name in quick)
    others = [name for name in methods if name not in quick]
    if others:
        seconds = expected_seconds()
        yield from sorted(others, key=lambda name: seconds.get(name, math.inf))


def _summary(comparison: Comparison, consequences: Consequences) -> dict[str, Any]:
    """Return the small result of a comparison."""
    statuses = [task.status for task in comparison.tasks]
    errors = [
        f"{task.method}, seed {task.seed}: {task.error}" for task in comparison.tasks if task.error
    ]
    return {
        "seconds": {
            "fit": sum(task.fit_seconds or 0.0 for task in comparison.tasks),
            "impute": sum(task.impute_seconds or 0.0 for task in comparison.tasks),
        },
        "best_method": comparison.best_method(),
        "n_tasks": len(statuses),
        "n_done": statuses.count("done"),
        "notes": errors[:MAX_NOTES] + consequences.notes,
    }


def _write_consequences(consequences: Consequences, comparison: Comparison, out: Path) -> None:
    """Write downstream scores and conclusions as tables, and a report that includes them."""
    from pmae_core.evaluation.report import comparison_report
    from pmae_core.jobs.worker.consequences import FILE, PARTS

    tables = {part: getattr(consequences, part) for part in PARTS}
    if not consequences.notes and all(table.empty for table in tables.values()):
        return
    for part, table in tables.items():
        if not table.empty:
            table.to_csv(out / f"{part}.csv", index=False)
    write_sealed(out / FILE, consequences.to_dict())
    report = comparison_report(comparison, **tables)
    (out / "report.html").write_text(report, encoding="utf-8")


def _on_own_table(spec: JobSpec, context: JobContext) -> dict[str, Any]:
    """Return the arguments of a comparison on the user's table."""
    from pmae_core.storage.json_values import from_json_value

    used_afterwards = ("downstream", "conclusions", "conclusion_imputations")
    arguments = {
        name: value
        for name, value in spec.params.items()
        if value is not None and name not in used_afterwards
    }
    if "truth" in arguments:
        arguments["truth"] = context.load_table(arguments["truth"])
    if "target" in arguments:
        arguments["target"] = from_json_value(arguments["target"])
    return {"table": table_of(spec, context), "schema": spec.read_schema(), **arguments}


def _on_benchmark_table(spec: JobSpec) -> dict[str, Any]:
    """Return the arguments of a comparison on one of the paper's tables."""
    from pmae_core.evaluation import benchmark_table

    params = spec.params
    table = benchmark_table(params["dataset"], max_rows=params.get("max_rows"), seed=spec.seed)
    missingness = ("pattern", "mechanism", "coupling")
    others = ("methods", "seeds", "method_params", "method_budget_seconds")
    return {
        "table": table.frame,
        "schema": table.schema,
        "holdout": "amputation",
        "amputation": {name: params[name] for name in missingness if params[name] is not None},
        **{name: params[name] for name in others},
        "imputations": 0,
    }


def table_of(spec: JobSpec, context: JobContext) -> pd.DataFrame:
    """Return the user's table that a job works on."""
    if spec.table is None:
        raise JobError(f"A job of the kind {spec.kind} needs a table. Name one.")
    return context.load_table(spec.table)


@contextmanager
def _phase(name: str, context: JobContext, result: dict[str, Any]) -> Iterator[None]:
    """Announce a phase of the work, stop before it if asked to, and measure its seconds."""
    if context.cancel():
        raise Cancelled(f"The job was stopped before the phase {name!r}.")
    context.emit(PhaseStarted(phase=name))
    started = time.perf_counter()
    yield
    result["seconds"][name] = time.perf_counter() - started
