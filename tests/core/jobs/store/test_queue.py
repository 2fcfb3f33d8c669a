"""The queue: each job is claimed once, reported on by one worker, and ends once."""

import time

import numpy as np
import pytest

from pmae_core.errors import JobError
from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store import JobProgress, ProcessId, StaleClaimError
from tests.support.job_states import ME, claim, in_processes, run_through, states_of, with_resources

NOBODY = "0123456789abcdef" * 2


def test_a_submitted_job_is_queued_and_has_its_folder(store, spec):
    before = time.time()
    record = store.submit(spec, name="first try")
    assert record == store.job(record.id)
    assert record.spec == spec
    assert (record.state, record.attempt, record.name) == (JobState.QUEUED, 0, "first try")
    assert before <= record.created_at <= time.time()
    assert record.worker is record.result is record.error is record.progress is None
    assert JobSpec.from_json((record.folder / "spec.json").read_text()) == spec
    assert states_of(store, record.id) == ["queued"]


@pytest.mark.parametrize(
    "settings",
    [
        {"workspace": ""},
        {"workspace": "../x"},
        {"workspace": "a" * 65},
        {"engine": "Local!"},
        {"name": ""},
        {"name": "two\nlines"},
        {"name": "x" * 201},
    ],
)
def test_odd_names_are_refused(store, spec, settings):
    with pytest.raises(JobError):
        store.submit(spec, **settings)
    assert store.count() == 0


def test_a_document_is_checked_again_when_submitted(store, spec):
    document = spec.to_dict()
    document["params"]["method"] = "magic"
    with pytest.raises(JobError, match="no method 'magic'"):
        store.submit(JobSpec.from_dict(document))


def test_the_truth_of_a_comparison_must_be_owned_too(store, spec, small_table):
    truth = store.put_table(small_table.fillna(0.0), "other")
    compare = JobSpec.make(
        "compare", params={"methods": ["naive"], "truth": truth}, table=spec.table
    )
    with pytest.raises(JobError, match=truth):
        store.submit(compare)


def test_a_model_must_be_trained_and_of_the_same_workspace(store, spec, small_table):
    store.put_table(small_table, "other")
    train = JobSpec.make("train", params={"method": "pmae-mix"}, table=spec.table)
    trained = run_through(store, train)

    def impute(model):
        return JobSpec.make("impute", params={"model": model}, table=spec.table)

    assert store.submit(impute(trained)).spec.model == trained
    with pytest.raises(JobError, match="There is no job"):
        store.submit(impute(trained), "other")
    with pytest.raises(JobError, match="There is no job"):
        store.submit(impute(NOBODY))
    with pytest.raises(JobError, match="has no model"):
        store.submit(impute(run_through(store, train, JobState.QUEUED)))
    with pytest.raises(JobError, match="has no model"):
        store.submit(impute(store.submit(spec).id))


def test_the_oldest_job_is_claimed_first(store, spec):
    ids = [store.submit(spec).id for _ in range(3)]
    assert [store.queue_position(job_id) for job_id in ids] == [1, 2, 3]
    record, token = claim(store)
    assert record.id == ids[0]
    assert (record.state, record.attempt, record.starter) == (JobState.RUNNING, 1, ME)
    assert record.token == token
    assert record.worker is None
    assert [store.queue_position(job_id) for job_id in ids] == [None, 1, 2]
    assert states_of(store, ids[0]) == ["queued", "running"]


def test_nothing_is_claimed_when_nothing_waits_or_all_is_full(store, spec):
    assert claim(store) is None
    store.submit(spec)
    store.submit(spec)
    assert claim(store, running_limit=1) is not None
    assert claim(store, running_limit=1) is None
    assert claim(store, running_limit=2) is not None


def test_engines_have_queues_of_their_own(store, spec):
    local, ray = store.submit(spec).id, store.submit(spec, engine="ray").id
    assert store.queue_position(ray) == 1
    assert claim(store, engine="ray", running_limit=1)[0].id == ray
    assert claim(store, running_limit=1)[0].id == local


def test_a_job_that_waits_for_a_gpu_lets_others_pass(store, spec):
    two, one, none = (store.submit(with_resources(spec, gpus=n)).id for n in (2, 1, 0))
    assert claim(store, gpu_limit=1)[0].id == one
    assert claim(store, gpu_limit=1)[0].id == none
    assert claim(store, gpu_limit=1) is None
    assert claim(store, gpu_limit=3)[0].id == two


def test_a_job_that_waits_for_threads_does_not(store, spec):
    first, wide, small = (store.submit(with_resources(spec, threads=n)).id for n in (3, 8, 1))
    record, token = claim(store, thread_limit=4)
    assert record.id == first
    assert claim(store, thread_limit=4) is None
    store.finish(first, token, JobState.SUCCEEDED)
    assert claim(store, thread_limit=4)[0].id == wide  # wider than the machine: alone
    assert claim(store, thread_limit=4) is None
    assert store.queue_position(small) == 1


def worker(pid):
    return ProcessId(pid, "boot 1", "here")


def test_only_one_worker_registers_for_a_claim(store, spec):
    job_id = store.submit(spec).id
    assert not store.register_worker(job_id, "", worker(10))
    _, token = claim(store)
    assert not store.register_worker(job_id, "another token", worker(10))
    assert store.register_worker(job_id, token, worker(10))
    assert not store.register_worker(job_id, token, worker(11))
    assert store.job(job_id).worker == worker(10)


def test_a_job_that_an_earlier_release_started_can_be_read(store, spec):
    """It stored the time at which the worker was created."""
    job_id = store.submit(spec).id
    _, token = claim(store)
    store.register_worker(job_id, token, worker(10))
    with store._database.writing() as connection:
        connection.execute('UPDATE jobs SET worker = \'{"pid": 7, "created": 1.5, "host": "h"}\'')
    stored = store.job(job_id).worker
    assert (stored.pid, stored.host, stored.exists()) == (7, "h", False)


def test_a_heartbeat_returns_whether_to_go_on(store, spec):
    job_id = store.submit(spec).id
    _, token = claim(store)
    reply = store.heartbeat(job_id, token, memory_mb=100.0, progress=JobProgress(0.25, "quarter"))
    assert (reply.cancel_requested, reply.holds_claim) == (False, True)
    store.request_cancel(job_id)
    store.request_cancel(job_id)
    reply = store.heartbeat(job_id, token, memory_mb=50.0)
    assert (reply.cancel_requested, reply.holds_claim) == (True, True)
    record = store.job(job_id)
    assert record.memory_mb == 100.0  # the most
    assert record.progress == JobProgress(0.25, "quarter", None)
    assert record.state is JobState.RUNNING
    store.finish(job_id, token, JobState.CANCELLED)
    assert not store.heartbeat(job_id, token).holds_claim
    assert not store.heartbeat(NOBODY, token).holds_claim


def test_figures_that_are_not_finite_become_none(store, spec):
    job_id = store.submit(spec).id
    _, token = claim(store)
    data = {"a": float("nan"), "b": [np.inf, 1.5], "c": (np.float32(0.5), np.int64(3))}
    store.append_events(job_id, token, [("progress", data)])
    assert store.events(job_id)[-1].data == {"a": None, "b": [None, 1.5], "c": [0.5, 3]}
    with pytest.raises(JobError, match="JSON"):
        store.append_events(job_id, token, [("progress", {"a": object()})])


def test_events_without_the_claim_are_refused(store, spec):
    job_id = store.submit(spec).id
    with pytest.raises(StaleClaimError):
        store.append_events(job_id, "guess", [("x", {})])
    _, token = claim(store)
    store.interrupt(job_id, token, "gone")
    with pytest.raises(StaleClaimError):
        store.append_events(job_id, token, [("x", {})])
    assert states_of(store, job_id) == ["queued", "running", "interrupted"]


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED])
def test_a_job_ends_once(store, spec, state):
    job_id = store.submit(spec).id
    _, token = claim(store)
    assert not store.finish(job_id, "another token", state)
    assert store.finish(job_id, token, state, error="because", result={"score": 0.5})
    assert not store.finish(job_id, token, JobState.SUCCEEDED)
    assert not store.interrupt(job_id, token, "too late")
    record = store.job(job_id)
    assert (record.state, record.error, record.result) == (state, "because", {"score": 0.5})
    assert record.finished_at >= record.started_at
    assert record.token is None
    assert store.events(job_id)[-1].data == {"state": state.value, "why": "because"}


def test_a_job_cannot_end_in_the_middle(store, spec):
    job_id = store.submit(spec).id
    _, token = claim(store)
    for state in (JobState.QUEUED, JobState.RUNNING, JobState.INTERRUPTED):
        with pytest.raises(JobError, match="cannot end"):
            store.finish(job_id, token, state)


def test_what_does_not_run_is_cancelled_at_once(store, spec):
    queued = store.submit(spec).id
    assert store.request_cancel(queued).state is JobState.CANCELLED
    interrupted = run_through(store, spec, JobState.INTERRUPTED)
    assert store.request_cancel(interrupted).state is JobState.CANCELLED
    assert claim(store) is None


def test_cancelling_what_ended_changes_nothing(store, spec):
    job_id = run_through(store, spec)
    before = store.job(job_id)
    assert store.request_cancel(job_id) == before


def test_a_worker_that_dies_after_a_cancel_request_has_cancelled(store, spec):
    job_id = store.submit(spec).id
    _, token = claim(store)
    store.request_cancel(job_id)
    assert store.interrupt(job_id, token, "killed")
    assert store.job(job_id).state is JobState.CANCELLED


@pytest.mark.parametrize("state", [JobState.INTERRUPTED, JobState.CANCELLED, JobState.FAILED])
def test_resume_queues_again_with_a_new_claim(store, spec, state):
    job_id = store.submit(spec).id
    _, old = claim(store)
    store.register_worker(job_id, old, worker(10))
    if state is JobState.CANCELLED:
        store.request_cancel(job_id)
    if state is JobState.INTERRUPTED:
        store.interrupt(job_id, old, "killed")
    else:
        store.finish(job_id, old, state, error="x")
    kept = store.job(job_id).folder / "checkpoint"
    kept.mkdir()
    behind = store.submit(spec).id

    resumed = store.resume(job_id)

    assert (resumed.state, resumed.error, resumed.worker) == (JobState.QUEUED, None, None)
    assert resumed.cancel_requested_at is resumed.finished_at is None
    assert store.queue_position(behind) == 1
    assert store.queue_position(job_id) == 2
    claim(store)
    record, new = claim(store)
    assert (record.id, record.attempt) == (job_id, 2)
    assert new != old
    assert not store.register_worker(job_id, old, worker(10))
    assert not store.heartbeat(job_id, old).holds_claim
    assert not store.finish(job_id, old, JobState.SUCCEEDED)
    assert store.register_worker(job_id, new, worker(12))
    assert kept.is_dir()


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING, JobState.SUCCEEDED])
def test_what_needs_no_resuming_is_refused(store, spec, state):
    job_id = run_through(store, spec, state)
    with pytest.raises(JobError, match=f"is {state}; there is nothing to resume"):
        store.resume(job_id)


def test_an_estimate_is_kept(store, spec):
    job_id = store.submit(spec).id
    store.set_estimate(job_id, {"seconds": 3.5})
    assert store.job(job_id).estimate == {"seconds": 3.5}


def test_a_submission_that_fails_leaves_no_job(store, spec, monkeypatch):
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(JobError, match="disk full"):
        store.submit(spec)
    assert store.count() == 0


def test_no_job_is_claimed_twice(store, spec):
    ids = [store.submit(spec).id for _ in range(60)]

    def claim_all(number):
        mine = []
        while (found := claim(store)) is not None:
            mine.append(found[0].id)
        return mine

    claimed = [job_id for mine in in_processes(claim_all, 4) for job_id in mine]
    assert sorted(claimed) == sorted(ids)
    assert {record.attempt for record in store.jobs()} == {1}


def test_the_running_limit_holds_however_many_claim(store, spec):
    for _ in range(20):
        store.submit(spec)
    claims = in_processes(lambda number: bool(claim(store, running_limit=3)), 8)
    assert sum(claims) == 3 == store.count(states=["running"])
