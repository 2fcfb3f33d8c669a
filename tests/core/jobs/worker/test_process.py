"""The process that runs a job: its voice, its end, and its end by force."""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from pmae_core.errors import JobError
from pmae_core.jobs import JobSpec, JobState, JobStore, ProcessId
from pmae_core.jobs.engines import LocalEngine
from pmae_core.jobs.engines.local import TOKEN_VARIABLE
from pmae_core.jobs.store.database import DATABASE_FAILED
from pmae_core.jobs.worker import process as worker
from pmae_core.jobs.worker import reporter
from pmae_core.jobs.worker.results import read_frame
from tests.support.paths import ROOT
from tests.support.waiting import eventually


class ScriptEngine(LocalEngine):
    """Runs real workers whose work is a line of Python."""

    work = "pass"

    def _command(self, record):
        script = (
            "import os, subprocess, sys, time\n"
            "from pmae_core.jobs.worker import process as worker\n"
            f"os.chdir({str(record.folder)!r})\n"
            "def work(spec, context):\n"
            f"    {self.work}\n"
            "    return {'seconds': {}}\n"
            "worker.run_job = work\n"
            "sys.exit(worker.main())"
        )
        return [sys.executable, "-c", script, *self._arguments(record)]


@pytest.fixture
def engine(store):
    engine = ScriptEngine(store, concurrency=1, cancel_grace=1.0, estimate_seconds=0)
    yield engine
    for record in store.jobs(states=[JobState.RUNNING]):
        if record.worker is not None:
            os.killpg(record.worker.pid, signal.SIGKILL)


def has_started(store, record):
    return lambda: any(event.kind == "WorkerStarted" for event in store.events(record.id))


def is_gone(worker_process):
    try:
        return psutil.Process(worker_process.pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


# In this process: how each way of ending is told.


def run_here(store, spec, monkeypatch, before=lambda record: None):
    """Run a worker's main in this process, without looking after other jobs."""
    job = store.submit(spec)
    record, token = store.claim_next(
        "local", running_limit=9, gpu_limit=0, owner=ProcessId.current()
    )
    assert record.id == job.id
    before(record)
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    monkeypatch.setattr(LocalEngine, "supervise", lambda engine: None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    code = worker.main([f"--home={store.home}", f"--job={record.id}"])
    assert TOKEN_VARIABLE not in os.environ
    return code, store.job(record.id)


def test_a_job_succeeds(store, spec, small_table, monkeypatch):
    code, record = run_here(store, spec, monkeypatch)
    assert (code, record.state, record.error) == (0, JobState.SUCCEEDED, None)
    assert record.result["n_imputed"] == 10
    assert record.worker.pid == os.getpid()
    assert read_frame(record.folder / "result" / "imputed.parquet")["y"].notna().all()
    kinds = [event.kind for event in store.events(record.id)]
    assert kinds[:3] == ["state", "state", "WorkerStarted"]
    assert kinds[-1] == "state"
    assert "FitProgress" in kinds


def test_a_job_that_cannot_be_done_fails_with_a_sentence(store, small_table, monkeypatch, capfd):
    digest = store.put_table(small_table)
    params = {"methods": ["naive"], "seeds": [0], "target": "nothing"}
    spec = JobSpec.make("compare", params=params, table=digest)
    code, record = run_here(store, spec, monkeypatch)
    assert (code, record.state) == (0, JobState.FAILED)
    assert record.error == "The table has no column 'nothing' to use as the target."
    assert "Traceback" in capfd.readouterr().err


def test_a_job_that_breaks_says_so_and_leaves_the_traceback_to_the_log(
    store, spec, monkeypatch, capfd
):
    def broken(spec, context):
        raise RuntimeError("cracked")

    monkeypatch.setattr(worker, "run_job", broken)
    _, record = run_here(store, spec, monkeypatch)
    assert record.state is JobState.FAILED
    assert record.error == "The job failed: RuntimeError: cracked. Its log has the details."
    assert 'raise RuntimeError("cracked")' in capfd.readouterr().err


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "The disk is full. Free up space, then resume the job."),
        (
            errno.EROFS,
            "The job may not write to its folder. Make it writable, then resume the job.",
        ),
        (
            errno.EIO,
            "The job failed: OSError: [Errno 5] Input/output error. Its log has the details.",
        ),
    ],
)
def test_a_job_that_the_disk_ends_says_what_to_do(store, spec, monkeypatch, number, sentence):
    def broken(spec, context):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(worker, "run_job", broken)
    _, record = run_here(store, spec, monkeypatch)
    assert (record.state, record.error) == (JobState.FAILED, sentence)
    assert store.resume(record.id).state is JobState.QUEUED


def test_the_end_of_a_job_is_noted_when_there_is_room_again(store, spec, monkeypatch):
    finish, refused = JobStore.finish, []

    def full_at_first(*arguments, **end):
        if len(refused) < 2:
            refused.append(1)
            raise JobError("database or disk is full", code=DATABASE_FAILED)
        return finish(*arguments, **end)

    monkeypatch.setattr(JobStore, "finish", full_at_first)
    _, record = run_here(store, spec, monkeypatch)
    assert len(refused) == 2
    assert record.state is JobState.SUCCEEDED


@pytest.mark.parametrize("made_again", [False, True])
def test_a_job_whose_folder_was_deleted_fails_however_it_went_on(
    store, spec, monkeypatch, made_again
):
    def work(spec, context):
        shutil.rmtree(context.folder)
        if made_again:
            context.folder.mkdir()
        return run_job(spec, context)

    run_job = worker.run_job
    monkeypatch.setattr(worker, "run_job", work)
    monkeypatch.setattr(reporter, "TICK_SECONDS", 60.0)  # the end itself notices, too
    _, record = run_here(store, spec, monkeypatch)
    assert (record.state, record.error) == (JobState.FAILED, reporter.FOLDER_DELETED)
    assert record.result is None

    monkeypatch.setattr(worker, "run_job", run_job)
    store.resume(record.id)
    _, token = store.claim_next("local", running_limit=9, gpu_limit=0, owner=ProcessId.current())
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    assert worker.main([f"--home={store.home}", f"--job={record.id}"]) == 0
    assert store.job(record.id).state is JobState.SUCCEEDED


def test_a_job_cancelled_before_its_worker_was_there(store, spec, monkeypatch):
    def slow(spec, context):
        assert eventually(context.cancel, 5)
        raise worker.Cancelled("stopped")

    monkeypatch.setattr(worker, "run_job", slow)
    _, record = run_here(store, spec, monkeypatch, lambda record: store.request_cancel(record.id))
    assert record.state is JobState.CANCELLED


def test_a_cancel_that_comes_too_late_changes_nothing(store, spec, monkeypatch):
    def quick(spec, context):
        store.request_cancel(store.jobs()[0].id)
        return {"seconds": {}}

    monkeypatch.setattr(worker, "run_job", quick)
    _, record = run_here(store, spec, monkeypatch)
    assert record.state is JobState.SUCCEEDED


def test_a_worker_without_the_claim_ends_at_once(store, spec, monkeypatch):
    store.submit(spec)
    record, token = store.claim_next(
        "local", running_limit=9, gpu_limit=0, owner=ProcessId.current()
    )
    monkeypatch.setattr(worker, "run_job", lambda spec, context: pytest.fail("it worked"))
    for wrong in ("", "0" * 32):
        monkeypatch.setenv(TOKEN_VARIABLE, wrong)
        assert worker.main([f"--home={store.home}", f"--job={record.id}"]) == 1
    # The claim is right, but another process came first.
    store.register_worker(record.id, token, ProcessId(1, "boot 1", "elsewhere"))
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    assert worker.main([f"--home={store.home}", f"--job={record.id}"]) == 1
    assert store.job(record.id).state is JobState.RUNNING


def test_the_estimate_is_kept_beside_what_it_took(store, spec, monkeypatch):
    main = worker.main
    monkeypatch.setattr(worker, "main", lambda given: main([*given, "--estimate-seconds=0.5"]))
    _, record = run_here(store, spec, monkeypatch)
    assert record.state is JobState.SUCCEEDED
    seconds = record.result["seconds"]
    assert record.estimate["actual_seconds"] == pytest.approx(seconds["fit"] + seconds["impute"])
    assert "MethodProbed" in [event.kind for event in store.events(record.id)]


def test_a_job_reads_only_its_own_workspace(store, spec, small_table, monkeypatch):
    trained = store.submit(
        JobSpec.make("train", params={"method": "pmae-mix"}, table=spec.table), "local"
    )
    record = store.submit(spec, "local")
    seen = {}

    def curious(spec, context):
        for name, look in (("table", context.load_table), ("model", context.model_path)):
            try:
                look({"table": "f" * 64, "model": trained.id}[name])
            except JobError as error:
                seen[name] = str(error)
        return {"seconds": {}}

    other = store.put_table(small_table.assign(x=0.0), "other")
    assert other != spec.table
    monkeypatch.setattr(worker, "run_job", curious)
    store.request_cancel(trained.id)
    store.request_cancel(record.id)
    run_here(store, spec, monkeypatch)
    assert seen["table"].startswith("This workspace has no table")
    assert "has no model" in seen["model"]


# Processes of their own.


def test_work_that_does_not_stop_is_ended_with_all_it_started(engine, store, spec):
    engine.work = "subprocess.Popen(['sleep', '300']); open('busy', 'w').close(); time.sleep(300)"
    record = engine.submit(spec)
    assert eventually(lambda: (record.folder / "busy").exists())
    [child] = psutil.Process(record.worker.pid).children()
    store.request_cancel(record.id)
    # Nothing else supervises: the worker does it all by itself.
    assert eventually(lambda: store.job(record.id).state is JobState.CANCELLED)
    assert eventually(lambda: is_gone(record.worker) and is_gone(child))
    assert store.job(record.id).error is None


def test_too_much_memory_is_a_clear_failure_and_the_next_job_starts(engine, store, spec):
    engine.work = "hog = b'x' * 900_000_000; time.sleep(300)"
    limited = JobSpec.from_dict({**spec.to_dict(), "resources": {"memory_mb": 700}})
    record = engine.submit(limited)
    queued = engine.submit(spec)
    assert queued.state is JobState.QUEUED
    assert eventually(lambda: store.job(record.id).state is JobState.FAILED)
    failed = store.job(record.id)
    assert failed.error.startswith("The job needs more than the 700 MB of memory it may use")
    assert eventually(lambda: is_gone(record.worker))
    assert eventually(lambda: store.job(queued.id).state is not JobState.QUEUED)
    assert engine.cancel(queued.id)


def test_a_worker_whose_folder_is_deleted_ends_at_once(engine, store, spec):
    engine.work = "open('busy', 'w').close(); time.sleep(300)"
    record = engine.submit(spec)
    assert eventually(lambda: (record.folder / "busy").exists())
    shutil.rmtree(record.folder)
    # Nothing else supervises: the worker does it all by itself.
    assert eventually(lambda: store.job(record.id).state is JobState.FAILED)
    assert store.job(record.id).error == reporter.FOLDER_DELETED
    assert eventually(lambda: is_gone(record.worker))


def test_a_former_worker_that_still_works_is_waited_for(store, spec, monkeypatch):
    def hold(record):
        lock = os.open(record.folder / "worker.lock", os.O_CREAT | os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX)
        threading.Timer(0.5, os.close, [lock]).start()

    started = time.monotonic()
    _, record = run_here(store, spec, monkeypatch, hold)
    assert record.state is JobState.SUCCEEDED
    assert time.monotonic() - started >= 0.5

    monkeypatch.setattr(worker, "ALONE_SECONDS", 0.2)
    monkeypatch.setattr(threading.Timer, "start", lambda timer: None)
    _, record = run_here(store, spec, monkeypatch, hold)
    assert record.state is JobState.FAILED
    assert record.error.startswith("Another process still works in the job's folder.")


def test_a_worker_that_lost_its_claim_ends_itself(engine, store, spec):
    engine.work = "time.sleep(300)"
    record = engine.submit(spec)
    assert eventually(has_started(store, record))
    claim = store.job(record.id)
    assert store.interrupt(record.id, claim.token, "for a test")
    assert eventually(lambda: is_gone(claim.worker))
    assert store.job(record.id).state is JobState.INTERRUPTED
    assert "Another worker has this job now" in (record.folder / "log.txt").read_text()


SERVER = """
import sys
sys.path.insert(0, {root!r})
from pmae_core.jobs import JobSpec, JobStore
from pmae_core.jobs.engines import LocalEngine
store = JobStore({home!r})
engine = LocalEngine(store, concurrency=1, estimate_seconds=0)
for method in ("naive", "em"):
    print(engine.submit(JobSpec.make("impute", params=dict(method=method), table={table!r})).id)
"""


@pytest.mark.slow
def test_jobs_outlive_the_server_and_start_one_another(store, home, small_table):
    table = store.put_table(small_table)
    script = SERVER.format(root=str(ROOT), home=str(home), table=table)
    server = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    first, second = (store.job(job) for job in server.stdout.split())
    assert (first.state, second.state) == (JobState.RUNNING, JobState.QUEUED)

    # A new server looks around, and leaves what runs alone.
    LocalEngine(store, concurrency=1, estimate_seconds=0).supervise()
    assert store.job(first.id).attempt == 1
    assert store.job(first.id).error is None
    # From here on only the workers supervise.
    assert eventually(lambda: store.job(second.id).state.is_final, 200)
    for record in (store.job(first.id), store.job(second.id)):
        assert (record.state, record.attempt) == (JobState.SUCCEEDED, 1)
        assert eventually(lambda worker=record.worker: is_gone(worker))
    assert store.job(second.id).started_at >= store.job(first.id).finished_at
