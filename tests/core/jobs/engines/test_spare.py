"""Spare workers: who gets a job, who does not, and when they end."""

import gc
import os
import signal
import subprocess
import sys

import pandas as pd
import psutil
import pytest

from pmae_core.jobs import JobSpec, JobState, Resources
from pmae_core.jobs.engines import LocalEngine, spare
from pmae_core.jobs.engines.local import available_cores
from pmae_core.jobs.worker.results import read_frame
from tests.support.paths import ROOT
from tests.support.waiting import eventually

# A spare worker that is ready sooner: it imports the rest when a job needs it, or never.
QUICK = (
    "import sys, time\n"
    "from pmae_core.jobs.worker import process, spare\n"
    "spare.load_libraries = lambda: None\n"
    "spare.LISTEN_LONGER_SECONDS = 1.0\n"
)
# Its jobs only wait until they are cancelled.
PATIENT = QUICK + (
    "def work(spec, context):\n"
    "    while not context.cancel():\n"
    "        time.sleep(0.05)\n"
    "    raise process.Cancelled('It was stopped.')\n"
    "process.run_job = work\n"
)
RUN = "sys.exit(spare.main())"


class WatchedEngine(LocalEngine):
    """Keeps a spare worker, and notes the jobs for which it starts a process."""

    def __init__(self, store, **options):
        options = {"concurrency": 2, "estimate_seconds": 0, "spare_seconds": 300.0, **options}
        super().__init__(store, **options)
        self.started = []

    def default_resources(self):
        return Resources(threads=1)

    def _start_worker(self, record, token):
        self.started.append(record.id)
        return subprocess.Popen(["sleep", "300"], start_new_session=True)

    @property
    def spare(self):
        return self._spare._spare

    def ready_spare(self):
        """Return the process of the spare worker when it is ready."""
        self.prepare()
        assert eventually(self.spare.is_ready)
        return psutil.Process(self.spare.process.pid)


@pytest.fixture(autouse=True)
def quick_spares(monkeypatch):
    monkeypatch.setattr(spare, "COMMAND", (sys.executable, "-c", QUICK + RUN))


@pytest.fixture
def engine(store):
    engine = WatchedEngine(store)
    yield engine
    engine.close()
    for record in store.jobs(states=[JobState.RUNNING]):
        os.killpg(record.worker.pid, signal.SIGKILL)


def is_gone(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_jobs_run_in_spare_workers_one_after_the_other(engine, store, spec):
    for _ in range(2):
        waiting = engine.ready_spare()
        record = engine.submit(spec)
        assert record.worker.pid == waiting.pid
        assert record.worker.exists()
        assert engine.spare.process.pid != waiting.pid, "the next one is started at once"
        ended = engine.wait(record.id)
        assert (ended.state, ended.error) == (JobState.SUCCEEDED, None)
        log = (record.folder / "log.txt").read_text()
        assert f"process {waiting.pid}" in log
        assert log.endswith("Ended: succeeded.\n")
        assert eventually(lambda waiting=waiting: is_gone(waiting))
    assert engine.started == []


def test_a_spare_worker_has_loaded_all_and_gives_the_result_of_a_new_one(
    store, small_table, monkeypatch
):
    monkeypatch.undo()
    params = {"method": "pmae-mix", "params": {"preset": "fast", "steps": 20}}
    spec = JobSpec.make("impute", params=params, table=store.put_table(small_table), seed=3)
    one_thread = {"concurrency": available_cores(), "estimate_seconds": 0}
    engine = LocalEngine(store, spare_seconds=300.0, **one_thread)
    engine.prepare()
    waiting = engine._spare._spare
    assert eventually(waiting.is_ready, 200)
    libraries = {library.path for library in psutil.Process(waiting.process.pid).memory_maps()}
    assert any("libtorch" in path for path in libraries)
    engine._spare.seconds = 0  # no other is needed
    warm = engine.submit(spec)
    assert warm.worker.pid == waiting.process.pid
    cold = LocalEngine(store, **one_thread).submit(spec)
    tables = []
    for record in (warm, cold):
        assert engine.wait(record.id, timeout=200).state is JobState.SUCCEEDED
        tables.append(read_frame(record.folder / "result" / "imputed.parquet"))
    pd.testing.assert_frame_equal(*tables, check_exact=True)


def test_a_job_in_a_spare_worker_is_a_job_like_any_other(engine, store, spec, monkeypatch):
    monkeypatch.setattr(spare, "COMMAND", (sys.executable, "-c", PATIENT + RUN))
    waiting = engine.ready_spare()
    assert waiting.nice() == max(5, psutil.Process().nice())
    assert os.getpgid(waiting.pid) == waiting.pid
    record = engine.submit(spec)
    assert eventually(lambda: any(e.kind == "WorkerStarted" for e in store.events(record.id)))
    assert store.job(record.id).state is JobState.RUNNING
    assert waiting.environ()["OMP_NUM_THREADS"] == str(spec.resources.threads)

    engine.cancel(record.id)
    assert engine.wait(record.id, timeout=30).state is JobState.CANCELLED
    assert eventually(lambda: is_gone(waiting))


def test_a_job_whose_spare_worker_is_killed_is_interrupted(engine, store, spec):
    waiting = engine.ready_spare()
    waiting.suspend()
    record = engine.submit(spec)
    assert record.worker.pid == waiting.pid
    waiting.kill()
    assert engine.wait(record.id, timeout=20).state is JobState.INTERRUPTED
    assert "ended without a result" in store.job(record.id).error


def test_a_killed_spare_worker_costs_no_job_and_is_not_replaced_at_once(engine, spec):
    waiting = engine.ready_spare()
    waiting.kill()
    assert eventually(lambda: is_gone(waiting))
    record = engine.submit(spec)
    assert (record.state, engine.started) == (JobState.RUNNING, [record.id])
    assert engine.spare.process.pid == waiting.pid

    engine._spare._next_start = 0.0
    engine.prepare()
    assert engine.spare.process.pid != waiting.pid


def test_one_that_dies_just_before_it_gets_a_job_costs_none_either(engine, spec, monkeypatch):
    waiting = engine.ready_spare()
    waiting.kill()
    engine.spare.process.wait(timeout=60)  # until its last thread has ended and its socket closed
    monkeypatch.setattr(spare.SpareWorker, "serves", lambda self, environment: True)
    record = engine.submit(spec)
    assert (record.state, engine.started) == (JobState.RUNNING, [record.id])


def test_a_job_does_not_wait_for_the_imports_of_a_spare_worker(engine, spec):
    engine.prepare()
    record = engine.submit(spec)
    assert engine.started == [record.id]


@pytest.mark.parametrize("resources", [{"threads": 2}, {"memory_mb": 4000}])
def test_jobs_with_other_resources_get_a_process_of_their_own(engine, spec, resources):
    engine.ready_spare()
    other = JobSpec.from_dict({**spec.to_dict(), "resources": resources})
    record = engine.submit(other)
    assert engine.started == [record.id]


def test_an_idle_spare_worker_ends_and_another_can_follow(store, monkeypatch):
    monkeypatch.setattr(spare, "RETRY_SECONDS", 0.0)
    engine = WatchedEngine(store, spare_seconds=0.1)
    engine.prepare()
    first = engine.spare.process
    assert first.wait(timeout=60) == 0
    engine.prepare()
    assert engine.spare.process.pid != first.pid


def test_a_spare_worker_ends_with_its_engine(store):
    engine = WatchedEngine(store)
    waiting = engine.ready_spare()
    del engine
    gc.collect()
    assert eventually(lambda: is_gone(waiting), 10)


PARENT = """
import sys, time
from pmae_core.jobs import JobStore
from pmae_core.jobs.engines import LocalEngine, spare
spare.COMMAND = (sys.executable, "-c", {script!r})
engine = LocalEngine(JobStore({home!r}), spare_seconds=300)
engine.prepare()
waiting = engine._spare._spare
while not waiting.is_ready():
    time.sleep(0.05)
assert "torch" not in sys.modules
print(waiting.process.pid, flush=True)
time.sleep(300)
"""


def test_a_spare_worker_ends_when_the_process_of_its_engine_is_killed(home):
    command = [sys.executable, "-c", PARENT.format(home=str(home), script=QUICK + RUN)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        waiting = psutil.Process(int(parent.stdout.readline()))
        assert not is_gone(waiting)
        parent.kill()
    assert eventually(lambda: is_gone(waiting), 20)


def test_engines_keep_no_spare_worker_unless_they_are_told_to(store, spec):
    engine = WatchedEngine(store, spare_seconds=0.0)
    engine.prepare()
    record = engine.submit(spec)
    assert engine.spare is None
    assert engine.started == [record.id]
    os.killpg(record.worker.pid, signal.SIGKILL)


NO_GPU = """
import torch
def refuse(*_):
    raise AssertionError("the GPU was asked for")
torch._C._cuda_init = torch._C._cuda_getDeviceCount = refuse
torch.cuda.is_available = torch.cuda.device_count = torch.cuda.init = refuse
from pmae_core.jobs.worker import spare
spare.load_libraries()
"""


@pytest.mark.slow
def test_imports_do_not_touch_the_gpu():
    # The GPUs of a job are chosen later, by a variable that CUDA reads when it is first used.
    done = subprocess.run([sys.executable, "-c", NO_GPU], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
