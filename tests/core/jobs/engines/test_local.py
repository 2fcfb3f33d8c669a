"""Queue, reconciliation and cancelling, mostly with processes that only pretend to work."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest

from pmae_core.errors import JobError
from pmae_core.jobs import JobSpec, JobState, ProcessId, Resources
from pmae_core.jobs.engines import LocalEngine, local, make_engine
from pmae_core.jobs.engines.gpus import reserve_gpus, visible_gpus
from tests.support.paths import ROOT
from tests.support.shell_engine import ShellEngine
from tests.support.waiting import eventually

ELSEWHERE = ProcessId(1, "boot 1", "elsewhere")


@pytest.fixture
def engine(store):
    engine = ShellEngine(store, concurrency=2, cancel_grace=0.0)
    yield engine
    for record in store.jobs(states=[JobState.RUNNING]):
        kill(record)


def kill(record):
    """Kill the group of a worker that a test started."""
    if record.worker is not None and record.worker.host == local.HOST:
        try:
            os.killpg(record.worker.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def states(store, records):
    return [store.job(record.id).state.value for record in records]


def test_as_many_run_as_there_is_room_for_and_the_others_wait_in_order(engine, store, spec):
    records = [engine.submit(spec) for _ in range(5)]
    assert states(store, records) == ["running"] * 2 + ["queued"] * 3
    assert [store.queue_position(record.id) for record in records] == [None, None, 1, 2, 3]

    kill(store.job(records[0].id))
    assert eventually(lambda: engine.supervise() or store.job(records[2].id).state == "running")
    assert states(store, records) == ["interrupted", "running", "running", "queued", "queued"]
    assert "ended without a result" in store.job(records[0].id).error

    engine.cancel(records[3].id)
    assert store.job(records[3].id).state is JobState.CANCELLED
    assert store.queue_position(records[4].id) == 1


def test_jobs_do_not_fight_for_cores(store, spec, monkeypatch):
    monkeypatch.setattr(local, "available_cores", lambda: 4)
    engine = ShellEngine(store, concurrency=4)
    document = spec.to_dict()
    wide = JobSpec.from_dict({**document, "resources": {"threads": 3}})
    records = [engine.submit(wide), engine.submit(wide), engine.submit(spec)]
    try:
        assert states(store, records) == ["running", "queued", "queued"]
        environment = psutil.Process(store.job(records[0].id).worker.pid).environ()
        assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "3"
        assert environment["PMAE_JOBS"] == "4"
        assert engine.default_resources() == Resources(threads=1, gpus=0)
    finally:
        kill(store.job(records[0].id))


def test_pages_come_before_jobs_on_a_busy_machine(engine, store, spec):
    worker = psutil.Process(store.job(engine.submit(spec).id).worker.pid)
    assert worker.nice() == max(local.NICENESS, psutil.Process().nice())


def test_an_interrupted_job_is_resumed_with_a_new_claim(engine, store, spec):
    record = engine.submit(spec)
    first = store.job(record.id)
    kill(first)
    assert engine.wait(record.id, timeout=20).state is JobState.INTERRUPTED
    second = engine.resume(record.id)
    assert (second.state, second.attempt) == (JobState.RUNNING, 2)
    assert second.token != first.token
    assert second.worker.pid != first.worker.pid


def test_a_job_whose_folder_was_deleted_while_it_waited_starts_in_a_new_one(engine, store, spec):
    waiting = store.submit(spec)
    shutil.rmtree(waiting.folder)
    engine.line = "touch started; exec sleep 300"
    engine.supervise()
    assert store.job(waiting.id).state is JobState.RUNNING
    assert eventually(lambda: (waiting.folder / "started").exists())


def test_waiting_ends_with_the_time(engine, store, spec):
    record = engine.submit(spec)
    assert engine.wait(record.id, timeout=0.3).state is JobState.RUNNING


def test_a_worker_that_will_not_stop_is_terminated_then_killed_with_all_it_started(
    engine, store, spec, monkeypatch
):
    monkeypatch.setattr(local, "TERMINATE_AFTER_SECONDS", 0.3)
    monkeypatch.setattr(local, "KILL_AFTER_SECONDS", 1.0)
    engine.line = (
        "trap 'touch asked' TERM; (trap '' TERM; echo $$ > group; sleep 300) & "
        "while true; do wait; done"
    )
    record = engine.submit(spec)
    assert eventually(lambda: (record.folder / "group").exists())
    pids = [p.pid for p in psutil.process_iter() if group_of(p.pid) == record.worker.pid]
    assert len(pids) >= 2

    assert engine.cancel(record.id).state is JobState.RUNNING
    ended = engine.wait(record.id, timeout=20)
    assert ended.state is JobState.CANCELLED
    assert ended.error == "The job did not stop by itself and was ended."
    assert (record.folder / "asked").exists()
    assert eventually(lambda: not any(is_running(pid) for pid in pids))


def group_of(pid):
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_what_a_killed_worker_started_is_ended_before_the_job_can_be_resumed(engine, store, spec):
    engine.line = "sleep 300 & echo $! > child; wait"
    record = engine.submit(spec)
    child = record.folder / "child"
    assert eventually(lambda: child.exists() and child.read_text().strip())
    os.kill(record.worker.pid, signal.SIGKILL)
    assert engine.wait(record.id, timeout=20).state is JobState.INTERRUPTED
    assert eventually(lambda: not is_running(int(child.read_text())))


def test_a_number_that_another_process_has_now_is_neither_alive_nor_ended(engine, store, spec):
    record, token = claimed(store, spec)
    stranger = subprocess.Popen(["sleep", "300"], start_new_session=True)
    former = replace(ProcessId.of(stranger.pid), birth=ProcessId.current().birth)
    store.register_worker(record.id, token, former)
    engine.supervise()
    assert store.job(record.id).state is JobState.INTERRUPTED
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def claimed(store, spec, owner=None):
    store.submit(spec)
    claim = store.claim_next(
        "local", running_limit=99, gpu_limit=0, owner=owner or ProcessId.current()
    )
    assert claim is not None
    return claim


def test_a_job_whose_starter_died_before_its_worker_was_there(engine, store, spec):
    dead = subprocess.Popen(["true"])
    owner = ProcessId.of(dead.pid)
    dead.wait()
    record, token = claimed(store, spec, owner)
    engine.supervise()
    assert store.job(record.id).state is JobState.INTERRUPTED
    assert "did not start" in store.job(record.id).error
    # A worker that comes too late is turned away.
    assert not store.register_worker(record.id, token, ProcessId.current())


def test_a_job_whose_worker_does_not_come(engine, store, spec, monkeypatch):
    record, _ = claimed(store, spec)
    engine.supervise()
    assert store.job(record.id).state is JobState.RUNNING
    monkeypatch.setattr(local, "START_SECONDS", 0.0)
    engine.supervise()
    assert store.job(record.id).state is JobState.INTERRUPTED


def test_a_worker_of_another_machine_is_judged_by_its_silence(engine, store, spec, monkeypatch):
    record, token = claimed(store, spec)
    store.register_worker(record.id, token, ELSEWHERE)
    engine.supervise()
    assert store.job(record.id).state is JobState.RUNNING
    monkeypatch.setattr(local, "SILENCE_SECONDS", 0.0)
    engine.supervise()
    assert store.job(record.id).state is JobState.INTERRUPTED
    assert "elsewhere" in store.job(record.id).error


def set_clock(monkeypatch, seconds):
    """Let this process see what it would see if the clock of the machine were set."""
    clock, created = time.time, psutil.Process.create_time
    monkeypatch.setattr(time, "time", lambda: clock() + seconds)
    # On Linux psutil counts from the time of the boot, which moves along.
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: created(self) + seconds)


@pytest.mark.parametrize("seconds", [3.0, -3.0, 7200.0, -7200.0])
def test_setting_the_clock_interrupts_no_job(engine, store, spec, monkeypatch, seconds):
    here = engine.submit(spec)
    starting, _ = claimed(store, spec)
    there, token = claimed(store, spec)
    store.register_worker(there.id, token, ELSEWHERE)
    set_clock(monkeypatch, seconds)
    engine.supervise()
    engine.supervise()
    assert states(store, [here, starting, there]) == ["running"] * 3


def test_a_clock_set_back_does_not_protect_a_worker_that_will_not_stop(
    engine, store, spec, monkeypatch
):
    monkeypatch.setattr(local, "TERMINATE_AFTER_SECONDS", 0.1)
    monkeypatch.setattr(local, "KILL_AFTER_SECONDS", 0.2)
    engine.line = "trap '' TERM; while true; do sleep 1; done"
    record = engine.submit(spec)
    engine.cancel(record.id)
    set_clock(monkeypatch, -7200.0)
    assert engine.wait(record.id, timeout=20).state is JobState.CANCELLED


def test_a_worker_silent_for_days_needs_no_watching(engine, store, spec, monkeypatch):
    record, token = claimed(store, spec)
    store.register_worker(record.id, token, ELSEWHERE)
    set_clock(monkeypatch, 2 * 86400.0)
    engine.supervise()
    assert "has not reported for 2 days" in store.job(record.id).error


def test_a_job_of_an_earlier_release_is_known_by_its_time_of_creation(engine, store, spec):
    record = engine.submit(spec)
    created = psutil.Process(record.worker.pid).create_time()
    assert local.is_alive(
        ProcessId.from_dict({"pid": record.worker.pid, "created": created, "host": local.HOST})
    )


def test_a_worker_that_cannot_be_started(store, spec):
    class Broken(LocalEngine):
        def _command(self, record):
            return ["/nonexistent/python"]

    record = Broken(store).submit(spec)
    assert record.state is JobState.FAILED
    assert "could not be started" in record.error


def test_a_worker_that_dies_at_once_is_missed(store, spec):
    engine = ShellEngine(store)
    engine.line = "echo no such module; exit 3"
    record = engine.wait(engine.submit(spec).id, timeout=20)
    assert record.state is JobState.INTERRUPTED
    assert (record.folder / "log.txt").read_text() == "no such module\n"


SUPERVISOR = """
import sys
from tests.support.shell_engine import ShellEngine
from tests.support.waiting import eventually
from pmae_core.jobs import JobStore
engine = ShellEngine(JobStore({home!r}), concurrency=8)
engine.line = "echo once >> started; exec sleep 300"
print("ready", flush=True)
sys.stdin.readline()
for _ in range(30):
    engine.supervise()
"""


def test_several_processes_that_supervise_at_once_start_each_job_once(engine, store, spec, home):
    script = SUPERVISOR.format(home=str(home))
    supervisors = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for supervisor in supervisors:
        assert supervisor.stdout.readline() == "ready\n"
    records = [store.submit(spec) for _ in range(12)]
    for supervisor in supervisors:
        supervisor.stdin.write("go\n")
        supervisor.stdin.flush()
    assert [supervisor.wait(timeout=60) for supervisor in supervisors] == [0, 0, 0]

    # Those who started them are gone; the workers are not, and nobody takes them for dead.
    ShellEngine(store, concurrency=8).supervise()
    running = store.jobs(states=[JobState.RUNNING])
    assert len(running) == 8
    assert states(store, records) == ["running"] * 8 + ["queued"] * 4
    assert {record.attempt for record in running} == {1}
    assert eventually(lambda: all((r.folder / "started").exists() for r in running))
    assert {(r.folder / "started").read_text() for r in running} == {"once\n"}

    # Nor does any of two that look at once resume or start one twice.
    for record in running[:3]:
        kill(record)
    assert eventually(lambda: engine.supervise() or store.count(states=[JobState.INTERRUPTED]) == 3)


def test_engines_are_chosen_by_name_or_environment(store, monkeypatch):
    monkeypatch.delenv("PMAE_ENGINE", raising=False)
    assert isinstance(make_engine(store), LocalEngine)
    monkeypatch.setenv("PMAE_ENGINE", "cloud")
    with pytest.raises(JobError, match=r"There is no engine 'cloud'\. Choose local or ray"):
        make_engine(store)


@pytest.mark.parametrize("value", ["0", "many", "-1"])
def test_a_concurrency_that_makes_no_sense(store, monkeypatch, value):
    monkeypatch.setenv("PMAE_JOBS", value)
    with pytest.raises(JobError, match="PMAE_JOBS must be"):
        LocalEngine(store)


def test_concurrency_comes_from_the_environment(store, monkeypatch):
    monkeypatch.setenv("PMAE_JOBS", "7")
    assert LocalEngine(store).concurrency == 7
    monkeypatch.delenv("PMAE_JOBS")
    monkeypatch.setattr(local, "available_cores", lambda: 64)
    assert LocalEngine(store).concurrency == local.MAX_JOBS


def test_more_gpus_than_there_are_would_wait_for_ever(store, spec, monkeypatch):
    monkeypatch.setattr(local, "visible_gpus", lambda: ("0",))
    greedy = JobSpec.from_dict({**spec.to_dict(), "resources": {"gpus": 2}})
    with pytest.raises(JobError, match="wants 2 GPU"):
        LocalEngine(store).submit(greedy)
    assert store.count() == 0


def test_a_worker_that_starts_another_hands_on_the_machine_as_it_was(store, spec, monkeypatch):
    monkeypatch.setattr(local, "visible_gpus", lambda: ("0", "1"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    record = store.submit(JobSpec.from_dict({**spec.to_dict(), "resources": {"gpus": 1}}))
    engine = LocalEngine(store)
    first = engine._environment(record.spec.resources)
    with engine.equip(record.spec, "context"):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"
        monkeypatch.setenv("PYTHONPATH", first["PYTHONPATH"])
        second = engine._environment(record.spec.resources)
    assert first["CUDA_VISIBLE_DEVICES"] == second["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert first["PYTHONPATH"] == second["PYTHONPATH"] == os.pathsep.join([str(ROOT), "/somewhere"])


def test_gpus_are_shared_out_and_come_back_with_a_death(tmp_path):
    script = (
        f"import sys, time; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path; from pmae_core.jobs.engines.gpus import reserve_gpus\n"
        f"print(reserve_gpus(Path({str(tmp_path)!r}), ('0', '1', '2'), 2), flush=True)\n"
        "time.sleep(300)"
    )
    other = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline().strip() == "('0', '1')"
        assert reserve_gpus(tmp_path, ("0", "1", "2"), 1) == ("2",)
        other.kill()
        other.wait()
        assert reserve_gpus(tmp_path, ("0", "1"), 2) == ("0", "1")
    finally:
        other.kill()


def test_gpus_that_cuda_may_see(monkeypatch):
    for listed, expected in (("0,3", ("0", "3")), ("", ()), ("-1", ())):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
        visible_gpus.cache_clear()
        assert visible_gpus() == expected
    visible_gpus.cache_clear()


# Workspaces


def test_a_workspace_goes_with_the_worker_that_runs_its_job(engine, store, small_table):
    digest = store.put_table(small_table, "mine")
    spec = JobSpec.make("impute", params={"method": "naive"}, table=digest)
    engine.line = "(while true; do mkdir -p $PWD; touch $PWD/more; done) & wait"
    running, second, waiting = (engine.submit(spec, "mine") for _ in range(3))
    assert (running.state, waiting.state) == (JobState.RUNNING, JobState.QUEUED)
    others = store.submit(spec_of(store, small_table, "other"), "other")

    report = engine.remove_workspace("mine")

    assert set(report.jobs) == {running.id, second.id, waiting.id}
    assert not local.is_alive(running.worker)
    assert not any(record.folder.exists() for record in (running, second, waiting))
    assert report.tables == []  # the other workspace has the same one
    assert [record.id for record in store.jobs()] == [others.id]


def spec_of(store, table, workspace):
    digest = store.put_table(table, workspace)
    return JobSpec.make("impute", params={"method": "naive"}, table=digest)
