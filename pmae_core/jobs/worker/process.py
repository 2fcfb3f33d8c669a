"""The process that runs one job: ``python -m pmae_core.jobs.worker --home H --job ID``.

Engines start it; the claim on the job comes through the environment, where other users of the
machine cannot see it.
"""

from __future__ import annotations

import argparse
import faulthandler
import functools
import os
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pmae_core.errors import Cancelled, JobError, PMAEError
from pmae_core.jobs.engines import Engine, make_engine
from pmae_core.jobs.engines.local import CANCEL_GRACE_SECONDS, HOST, TOKEN_VARIABLE
from pmae_core.jobs.posix import HeldFolder, hold_lock
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store import JobRecord, JobStore, ProcessId
from pmae_core.jobs.worker.context import JobContext, PhaseStarted, WorkerStarted
from pmae_core.jobs.worker.progress import ProgressTracker, phase_weights
from pmae_core.jobs.worker.reporter import FOLDER_DELETED, Reporter, retry_while_busy
from pmae_core.jobs.worker.results import MODEL_FILE
from pmae_core.jobs.worker.run import run_job
from pmae_core.storage.checksums import checked
from pmae_core.storage.disk_trouble import DiskTrouble, disk_trouble

ALONE_SECONDS = 60.0
# A job that is done waits so long for room to say so. After that it counts as interrupted.
FINISH_SECONDS = 600.0
DISK_TROUBLE = {
    DiskTrouble.FULL: "The disk is full. Free up space, then resume the job.",
    DiskTrouble.NOT_WRITABLE: "The job may not write to its folder. Make it writable, then resume "
    "the job.",
}


def main(arguments: list[str] | None = None) -> int:
    """Run a job to its end and return the exit code of the process.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the command line by default.
    """
    faulthandler.enable()
    options = _parse(arguments)
    # Removed from the environment, so that nothing the job starts can use it.
    token = os.environ.pop(TOKEN_VARIABLE, "")
    # The disk may be full just now.
    store = retry_while_busy(lambda: JobStore(options.home))
    if not retry_while_busy(lambda: _holds_claim(store, options.job, token)):
        print("This worker does not hold the claim on the job. It ends.", flush=True)
        return 1
    record = store.job(options.job)
    folder = HeldFolder(record.folder)
    engine = make_engine(
        store,
        options.engine,
        cancel_grace=options.cancel_grace,
        estimate_seconds=options.estimate_seconds,
    )
    reporter = Reporter(
        store,
        record.id,
        token,
        memory_mb=record.spec.resources.memory_mb,
        cancel_grace=options.cancel_grace,
        supervise=engine.supervise,
        has_folder=folder.is_there,
        tracker=ProgressTracker(
            _planned_tasks(record),
            record.estimate,
            phases=phase_weights(record.spec),
            awaits_estimate=options.estimate_seconds > 0 and record.estimate is None,
        ),
    )
    print(f"Attempt {record.attempt}, process {os.getpid()}, {time.ctime()}.", flush=True)
    reporter.emit(WorkerStarted(pid=os.getpid(), host=HOST))
    reporter.start()
    end = _run(store, record, engine, reporter, options.estimate_seconds)
    if end["state"] is not JobState.CANCELLED and not folder.is_there():
        end = {"state": JobState.FAILED, "error": FOLDER_DELETED}
    reporter.stop()
    has_ended = retry_while_busy(
        lambda: store.finish(record.id, token, **end), seconds=FINISH_SECONDS
    )
    print(
        f"Ended: {end['state']}." if has_ended else "Another process ended it before.", flush=True
    )
    reporter.supervise()
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="pmae_core.jobs.worker", description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--job", required=True)
    parser.add_argument("--engine", default="local")
    parser.add_argument("--cancel-grace", type=float, default=CANCEL_GRACE_SECONDS)
    parser.add_argument("--estimate-seconds", type=float, default=0.0)
    return parser.parse_args(arguments)


def _holds_claim(store: JobStore, job_id: str, token: str) -> bool:
    """Return whether this process may run the job under this claim."""
    me = ProcessId.current()
    if store.register_worker(job_id, token, me):
        return True
    # The process that started this one may have registered it before.
    record = store.job(job_id)
    return record.token == token and record.worker is not None and record.worker.pid == me.pid


def _run(
    store: JobStore, record: JobRecord, engine: Engine, reporter: Reporter, estimate_seconds: float
) -> dict[str, Any]:
    """Do the work and return how it ended, as arguments of :meth:`JobStore.finish`."""
    context = _context(store, record, reporter)
    try:
        _wait_until_alone(record.folder, context.cancel)
        with engine.equip(record.spec, context) as equipped:

            @functools.cache
            def expected_seconds() -> dict[str, float]:
                if estimate_seconds > 0 and record.estimate is None:
                    _estimate(store, record, equipped, estimate_seconds)
                return _expected_seconds(store.job(record.id).estimate)

            if not record.spec.kind.compares:  # a comparison asks once it has a first answer
                expected_seconds()
            result = run_job(record.spec, replace(equipped, expected_seconds=expected_seconds))
            _note_actual_cost(store, record, result)
        return {"state": JobState.SUCCEEDED, "result": result}
    except Cancelled as stopped:
        print(stopped, flush=True)
        return {"state": JobState.CANCELLED}
    except PMAEError as error:
        traceback.print_exc()
        return {"state": JobState.FAILED, "error": str(error)}
    except MemoryError:
        traceback.print_exc()
        why = "There was not enough memory. Use fewer rows or a smaller method."
        return {"state": JobState.FAILED, "error": why}
    except Exception as error:
        traceback.print_exc()
        return {"state": JobState.FAILED, "error": _why_failed(error)}


def _why_failed(error: Exception) -> str:
    """Return what to tell the user about an error that was not raised on purpose."""
    trouble = disk_trouble(error) if isinstance(error, OSError) else DiskTrouble.OTHER
    return DISK_TROUBLE.get(
        trouble, f"The job failed: {type(error).__name__}: {error}. Its log has the details."
    )


def _context(store: JobStore, record: JobRecord, reporter: Reporter) -> JobContext:
    """Return what the work may use: only tables and models of the job's own workspace."""

    def model_path(job_id: str) -> Path:
        model = store.job(job_id, record.workspace).folder / "result" / MODEL_FILE
        if not model.is_file():
            raise JobError(
                f"The job {job_id} has no model; perhaps it was removed. Train it again."
            )
        return checked(model)

    return JobContext(
        folder=record.folder,
        load_table=lambda digest: store.get_table(digest, record.workspace),
        model_path=model_path,
        emit=reporter.emit,
        cancel=lambda: reporter.cancel_requested,
    )


def _wait_until_alone(folder: Path, cancel: Callable[[], bool]) -> None:
    """Wait for the end of an earlier worker, whose lock ends with its last process.

    The store allows one worker at a time. This makes sure that only one writes into the folder.
    """
    give_up_at = time.monotonic() + ALONE_SECONDS
    while not hold_lock(folder / "worker.lock"):
        if cancel():
            raise Cancelled("The job was stopped before it began.")
        if time.monotonic() > give_up_at:
            raise JobError(
                "Another process still works in the job's folder. Resume the job when it has ended."
            )
        time.sleep(0.1)


def _planned_tasks(record: JobRecord) -> list[tuple[str, int]]:
    """Return the methods and seeds of a comparison; none for another job."""
    params = record.spec.params
    methods, seeds = params.get("methods", ()), params.get("seeds", ())
    return [(method, int(seed)) for seed in seeds for method in methods]


def _estimate(store: JobStore, record: JobRecord, context: JobContext, seconds: float) -> None:
    """Estimate the cost of the job before it begins; the job runs even if that fails."""
    from pmae_core.jobs.cost import estimate_job

    context.emit(PhaseStarted(phase="estimate"))
    try:
        estimate = estimate_job(
            record.spec,
            context.load_table,
            budget_seconds=seconds,
            callbacks=(context.emit,),
            cancel=context.cancel,
        )
    except Cancelled:
        raise
    except PMAEError as error:
        print(f"The cost could not be estimated: {error}", flush=True)
        return
    if estimate is not None:
        store.set_estimate(record.id, estimate.to_dict())


def _expected_seconds(estimate: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the estimated seconds of one run of each method that has an estimate."""
    costs = (estimate or {}).get("per_method", ())
    return {cost["method"]: cost["seconds"] for cost in costs if cost["seconds"] is not None}


def _note_actual_cost(store: JobStore, record: JobRecord, result: dict[str, Any]) -> None:
    """Store the actual cost beside the estimate, if the job needed only one attempt."""
    from pmae_core.jobs.cost import CostEstimate

    expected = store.job(record.id).estimate
    if expected is not None and record.attempt == 1:
        actual = sum(result["seconds"].get(part, 0.0) for part in ("fit", "impute"))
        store.set_estimate(record.id, CostEstimate.from_dict(expected).with_actual(actual))
