"""The store: one truth about every job, whoever asks and however many write."""

import json
import multiprocessing
import os
import sqlite3
import threading
import time

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import JobError
from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store import JobStore, database, retention
from pmae_core.jobs.store.records import JobProgress, ProcessId, StaleClaimError

ME = ProcessId(pid=1, created=2.0, host="here")
NOBODY = "0123456789abcdef" * 2
DAY = 86400.0


def claim(store, *, running_limit=1000, gpu_limit=0, **limits):
    return store.claim_next(
        limits.pop("engine", "local"),
        running_limit=running_limit,
        gpu_limit=gpu_limit,
        owner=ME,
        **limits,
    )


def with_resources(spec, **resources):
    return JobSpec.from_dict({**spec.to_dict(), "resources": resources})


def run_through(store, spec, state=JobState.SUCCEEDED, workspace="local"):
    """Submit a job and bring it to a state; return its id."""
    record = store.submit(spec, workspace)
    if state is JobState.QUEUED:
        return record.id
    claimed, token = claim(store)
    assert claimed.id == record.id
    if state is JobState.INTERRUPTED:
        assert store.interrupt(record.id, token, "killed")
    elif state is not JobState.RUNNING:
        assert store.finish(record.id, token, state)
    return record.id


def states_of(store, job_id):
    return [event.data["state"] for event in store.events(job_id) if event.kind == "state"]


# Submitting and looking


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


def test_a_record_is_json_without_the_token(store, spec):
    job_id = run_through(store, spec, JobState.RUNNING)
    store.heartbeat(job_id, store.job(job_id).token, progress=JobProgress(0.5, "half", 3.0))
    record = store.job(job_id)
    document = json.loads(json.dumps(record.to_dict()))
    assert record.token not in json.dumps(document)
    assert document["state"] == "running"
    assert document["progress"] == {"fraction": 0.5, "message": "half", "eta_seconds": 3.0}
    assert JobSpec.from_dict(document["spec"]) == spec
    assert record.token not in repr(record)


def test_newest_jobs_come_first_in_pages(store, spec):
    ids = [store.submit(spec).id for _ in range(7)]
    assert [record.id for record in store.jobs()] == ids[::-1]
    assert [record.id for record in store.jobs(limit=3, offset=2)] == ids[4:1:-1]


def test_jobs_are_filtered(store, spec, small_table):
    store.put_table(small_table, "other")
    done = run_through(store, spec)
    other = store.submit(spec, "other").id
    compare = JobSpec.make("compare", params={"methods": ["naive"]}, table=spec.table)
    compared = store.submit(compare).id
    assert {record.id for record in store.jobs("local")} == {done, compared}
    assert [record.id for record in store.jobs("other")] == [other]
    assert [record.id for record in store.jobs(states=["succeeded"])] == [done]
    assert [record.id for record in store.jobs(kinds=["compare"])] == [compared]
    assert store.jobs("other", states=["succeeded", "running"]) == []
    assert (store.count(), store.count("local", ["queued"]), store.count(states=[])) == (3, 1, 0)
    with pytest.raises(JobError, match=r"unknown\. Choose queued"):
        store.jobs(states=["lost"])


def test_a_job_is_found_by_the_beginning_of_its_id(store, spec):
    ids = sorted(store.submit(spec).id for _ in range(3))
    assert store.find(ids[1]).id == ids[1]
    lengths = range(1, 33)
    unique = next(n for n in lengths if sum(job_id[:n] == ids[0][:n] for job_id in ids) == 1)
    assert store.find(ids[0][:unique]).id == ids[0]
    with pytest.raises(JobError, match="no job whose id begins"):
        store.find(ids[0][:31] + ("0" if ids[0][31] != "0" else "1"))
    with pytest.raises(JobError, match="not the beginning"):
        store.find("%")
    with pytest.raises(JobError, match="no job whose id begins"):
        store.find(ids[0], workspace="other")


def test_an_abbreviation_of_two_ids_is_refused(store, spec):
    ids = [store.submit(spec).id for _ in range(17)]
    repeated = next(c for c in "0123456789abcdef" if sum(i[0] == c for i in ids) > 1)
    with pytest.raises(JobError, match="More than one job"):
        store.find(repeated)


@pytest.mark.parametrize("job_id", ["..", "../../etc", "", "' OR 1 --", NOBODY.upper()])
def test_ids_that_are_none_are_refused(store, job_id):
    for ask in (store.job, store.events, store.delete, store.queue_position):
        with pytest.raises(JobError, match="not a job id"):
            ask(job_id)
    for act in (store.request_cancel, store.resume):
        with pytest.raises(JobError, match="There is no job"):
            act(job_id)


def test_unknown_jobs_are_a_sentence(store):
    for ask in (store.job, store.delete, store.request_cancel, store.resume):
        with pytest.raises(JobError, match=f"There is no job {NOBODY}"):
            ask(NOBODY)
    with pytest.raises(JobError, match="There is no job"):
        store.set_estimate(NOBODY, {})


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


# Workspaces


def test_a_workspace_reads_only_its_own_tables(store, spec, small_table):
    pd.testing.assert_frame_equal(store.get_table(spec.table), small_table)
    with pytest.raises(JobError, match="no table"):
        store.get_table(spec.table, "other")
    with pytest.raises(JobError, match="no table"):
        store.submit(spec, "other")
    assert store.put_table(small_table, "other") == spec.table
    assert store.submit(spec, "other").workspace == "other"
    assert len(list(store.paths.tables.iterdir())) == 1


def test_the_truth_of_a_comparison_must_be_owned_too(store, spec, small_table):
    truth = store.put_table(small_table.fillna(0.0), "other")
    compare = JobSpec.make(
        "compare", params={"methods": ["naive"], "truth": truth}, table=spec.table
    )
    with pytest.raises(JobError, match=truth):
        store.submit(compare)


def test_a_workspace_sees_only_its_own_jobs(store, spec):
    record = store.submit(spec)
    assert store.job(record.id, "local").id == record.id
    with pytest.raises(JobError, match="There is no job"):
        store.job(record.id, "other")


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


# Claiming


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


def test_only_one_worker_registers_for_a_claim(store, spec):
    job_id = store.submit(spec).id
    assert not store.register_worker(job_id, "", 10, 1.0, "here")
    _, token = claim(store)
    assert not store.register_worker(job_id, "another token", 10, 1.0, "here")
    assert store.register_worker(job_id, token, 10, 1.0, "here")
    assert not store.register_worker(job_id, token, 11, 1.0, "here")
    assert store.job(job_id).worker == ProcessId(10, 1.0, "here")


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


# Events


def test_events_are_counted_and_paged(store, spec):
    job_id = store.submit(spec).id
    _, token = claim(store)
    store.append_events(job_id, token, [("progress", {"step": n}) for n in range(5)])
    events = store.events(job_id)
    assert [event.seq for event in events] == list(range(1, 8))
    assert [event.data["step"] for event in events[2:]] == list(range(5))
    assert {event.attempt for event in events[1:]} == {1}
    assert store.events(job_id, after=4, limit=2) == events[4:6]
    assert store.events(job_id, after=7) == []


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


# Ends, second thoughts and second attempts


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
    store.register_worker(job_id, old, 10, 1.0, "here")
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
    assert not store.register_worker(job_id, old, 10, 1.0, "here")
    assert not store.heartbeat(job_id, old).holds_claim
    assert not store.finish(job_id, old, JobState.SUCCEEDED)
    assert store.register_worker(job_id, new, 12, 1.0, "here")
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


def test_delete_removes_everything_of_a_job(store, spec):
    job_id = run_through(store, spec)
    folder = store.job(job_id).folder
    store.delete(job_id)
    assert not folder.exists()
    assert store.events(job_id) == []
    assert store.count() == 0
    running = run_through(store, spec, JobState.RUNNING)
    with pytest.raises(JobError, match="Cancel it first"):
        store.delete(running)


def test_a_model_that_is_waited_for_is_not_deleted(store, spec):
    train = JobSpec.make("train", params={"method": "pmae-mix"}, table=spec.table)
    trained = run_through(store, train)
    waiting = store.submit(JobSpec.make("impute", params={"model": trained}, table=spec.table)).id
    with pytest.raises(JobError, match="needed by a job that has not ended"):
        store.delete(trained)
    later = time.time() + 10 * DAY
    assert trained not in store.collect_garbage(max_jobs=0, max_age_days=5, now=later).jobs
    store.request_cancel(waiting)
    store.delete(trained)


# Clean-up


def test_without_limits_no_job_goes(store, spec):
    job_id = run_through(store, spec)
    report = store.collect_garbage(now=time.time() + 1000 * DAY)
    assert (report.jobs, report.tables, report.leftovers) == ([], [], [])
    assert store.job(job_id).folder.exists()


def test_old_jobs_go_with_folder_events_and_table(store, spec):
    job_id = run_through(store, spec)
    folder = store.job(job_id).folder
    (folder / "log.txt").write_text("x" * 1000)
    assert store.collect_garbage(max_age_days=1).jobs == []
    later = time.time() + 2 * DAY
    would = store.collect_garbage(max_age_days=1, now=later, dry_run=True)
    assert folder.exists() and store.count() == 1 and store.get_table(spec.table) is not None
    report = store.collect_garbage(max_age_days=1, now=later)
    assert report == would
    assert (report.jobs, report.tables) == ([job_id], [spec.table])
    assert report.bytes_freed > 1000
    assert not folder.exists()
    assert store.count() == 0
    assert list(store.paths.tables.iterdir()) == []
    with pytest.raises(JobError, match="no table"):
        store.get_table(spec.table)


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING, JobState.INTERRUPTED])
def test_what_has_not_ended_is_kept_four_times_as_long(store, spec, state):
    job_id = run_through(store, spec, state)
    now = time.time()
    for limits in ({"max_age_days": 1, "now": now + 3.9 * DAY}, {"max_jobs": 0}, {"max_bytes": 0}):
        assert store.collect_garbage(**limits).jobs == []
        assert store.get_table(spec.table) is not None
    assert store.collect_garbage(max_age_days=1, now=now + 4.1 * DAY).jobs == [job_id]


def test_only_so_many_ended_jobs_are_kept(store, spec):
    ids = [run_through(store, spec) for _ in range(5)]
    waiting = store.submit(spec).id
    assert store.collect_garbage(max_jobs=2).jobs == ids[:3]
    assert {record.id for record in store.jobs()} == {*ids[3:], waiting}


def test_jobs_go_until_the_rest_is_small_enough(store, spec):
    ids = [run_through(store, spec) for _ in range(4)]
    for job_id in ids:
        (store.job(job_id).folder / "log.txt").write_bytes(bytes(10_000))
    report = store.collect_garbage(max_bytes=25_000)
    assert report.jobs == ids[:2]
    assert report.bytes_freed >= 20_000
    assert sum(map(retention.bytes_of, (store.paths.jobs, store.paths.tables))) <= 25_000


def test_a_table_counts_until_its_last_job_goes(store, small_table):
    def submitted(table):
        return run_through(store, JobSpec.make("impute", params={"method": "naive"}, table=table))

    wide = pd.DataFrame({"a": np.random.default_rng(0).normal(size=5000)})
    digest = store.put_table(wide)
    old, young = submitted(digest), submitted(digest)
    small = submitted(store.put_table(small_table))
    later = time.time() + 2 * retention.GRACE_SECONDS
    report = store.collect_garbage(max_bytes=20_000, now=later)
    assert (report.jobs, report.tables) == ([old, young], [digest])
    assert store.job(small)


def test_a_table_stays_while_anybody_needs_it(store, small_table, spec):
    later = time.time() + 2 * retention.GRACE_SECONDS
    digest = store.put_table(small_table.head(5))
    assert store.collect_garbage().tables == []  # just put, and about to be used
    used = run_through(store, spec)
    assert store.collect_garbage(now=later).tables == [digest]
    store.delete(used)
    assert store.collect_garbage(now=later).tables == [spec.table]


def test_a_table_of_two_workspaces_stays_for_the_one_that_needs_it(store, small_table, spec):
    store.put_table(small_table, "other")
    run_through(store, spec, workspace="other")
    later = time.time() + 2 * retention.GRACE_SECONDS
    assert store.collect_garbage(now=later).tables == []
    pd.testing.assert_frame_equal(store.get_table(spec.table, "other"), small_table)
    with pytest.raises(JobError, match="no table"):
        store.get_table(spec.table, "local")


def test_leftovers_go_once_nobody_can_be_writing_them(store, spec):
    job_id = run_through(store, spec)
    running = run_through(store, spec, JobState.RUNNING)
    leftovers = [
        store.paths.jobs / ("0" * 32),
        store.paths.tables / ".x.parquet.1234.tmp",
        store.paths.tables / f"{'0' * 64}.parquet",
        store.job(job_id).folder / "result.tmp",
    ]
    for path in leftovers:
        path.mkdir() if path.name in ("0" * 32, "result.tmp") else path.write_text("half")
    in_use = store.job(running).folder / "result.tmp"
    in_use.mkdir()
    assert store.collect_garbage().leftovers == []
    later = time.time() + 2 * retention.GRACE_SECONDS
    assert store.collect_garbage(now=later).leftovers == sorted(leftovers)
    assert not any(path.exists() for path in leftovers)
    assert in_use.exists()
    assert (store.job(job_id).folder / "spec.json").exists()


def test_the_clean_up_follows_no_link(store, spec, tmp_path):
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "file").write_text("x")
    job_id = run_through(store, spec)
    (store.job(job_id).folder / "link").symlink_to(outside)
    (store.paths.jobs / ("0" * 32)).symlink_to(outside)
    store.collect_garbage(max_jobs=0, now=time.time() + DAY)
    assert (outside / "file").read_text() == "x"


# The file


def test_a_store_is_opened_again(home, spec, store):
    job_id = store.submit(spec).id
    assert JobStore(home).job(job_id) == store.job(job_id)


def test_the_default_home_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path / "mine"))
    assert JobStore().home == tmp_path / "mine"
    assert (tmp_path / "mine" / "jobs.sqlite").exists()


@pytest.mark.parametrize("version", range(1, len(database.MIGRATIONS)))
def test_an_older_file_is_brought_up_to_date(tmp_path, store, spec, monkeypatch, version):
    with monkeypatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", database.MIGRATIONS[:version])
        older = JobStore(tmp_path / "older")
        older.put_table(store.get_table(spec.table))
        job_id = older.submit(spec).id
        older.close()
    migrated = JobStore(tmp_path / "older")
    assert [record.spec for record in migrated.jobs()] == [spec]
    assert states_of(migrated, job_id) == ["queued"]
    assert layout(migrated.home) == layout(store.home)


def layout(home):
    """Return the version and all tables and indexes of a file."""
    with sqlite3.connect(home / "jobs.sqlite") as connection:
        version = connection.execute("PRAGMA user_version").fetchone()
        return version, sorted(
            connection.execute("SELECT type, name, sql FROM sqlite_schema"), key=str
        )


def test_a_later_release_can_add_to_the_file(home, spec, store, monkeypatch):
    job_id = store.submit(spec).id
    step = ("ALTER TABLE jobs ADD COLUMN note TEXT DEFAULT 'none'", "CREATE TABLE notes (a)")
    monkeypatch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, step))
    assert JobStore(home).job(job_id).spec == spec
    with sqlite3.connect(home / "jobs.sqlite") as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == len(database.MIGRATIONS)
        assert connection.execute("SELECT note FROM jobs").fetchall() == [("none",)]


def test_a_failed_migration_leaves_the_file_as_it_was(home, spec, store, monkeypatch):
    job_id = store.submit(spec).id
    released = database.MIGRATIONS
    monkeypatch.setattr(database, "MIGRATIONS", (*released, ("CREATE TABLE notes (a)", "OOPS")))
    with pytest.raises(JobError, match="cannot be used"):
        JobStore(home)
    monkeypatch.setattr(database, "MIGRATIONS", released)
    assert JobStore(home).job(job_id).spec == spec


def test_a_newer_file_is_refused_and_untouched(home, store):
    with sqlite3.connect(home / "jobs.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(JobError, match="newer release"):
        JobStore(home)
    with sqlite3.connect(home / "jobs.sqlite") as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 99


def test_a_file_that_is_no_store_is_a_sentence(home):
    home.mkdir()
    (home / "jobs.sqlite").write_text("something else entirely, and long enough to be noticed")
    with pytest.raises(JobError, match="cannot be used"):
        JobStore(home)


def test_a_busy_file_is_a_sentence(home, store, spec, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    other = JobStore(home)
    with sqlite3.connect(home / "jobs.sqlite", isolation_level=None) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(JobError, match="locked"):
            other.submit(spec)
        assert other.jobs() == []  # reading goes on
        connection.execute("ROLLBACK")
    assert other.submit(spec).state is JobState.QUEUED


def test_a_submission_that_fails_leaves_no_job(store, spec, monkeypatch):
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(JobError, match="disk full"):
        store.submit(spec)
    assert store.count() == 0


# Many at once


def in_processes(target, n_processes, *args):
    """Run a function in so many forked processes; return what each gives back."""
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()

    def run(number):
        try:
            results.put(target(number, *args))
        except BaseException:
            results.put(None)  # or the parent would wait for ever
            raise

    workers = [fork.Process(target=run, args=(number,)) for number in range(n_processes)]
    for worker in workers:
        worker.start()
    returned = [results.get() for _ in workers]
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * n_processes
    return returned


def test_eight_processes_writing_at_once_lose_nothing(store, spec):
    """They share a store over the fork, and one job's events between them."""
    shared = store.submit(spec).id
    _, token = claim(store)

    def write(number):
        own = store.submit(spec, name=f"writer {number}").id
        for step in range(25):
            store.append_events(shared, token, [("step", {"writer": number, "step": step})] * 2)
            store.heartbeat(shared, token, memory_mb=float(step))
        return own

    ids = in_processes(write, 8)

    assert len(set(ids)) == 8
    assert {record.id for record in store.jobs()} == {shared, *ids}
    events = store.events(shared)
    assert [event.seq for event in events] == list(range(1, 2 + 8 * 50 + 1))
    for number in range(8):
        steps = [event.data["step"] for event in events[2:] if event.data["writer"] == number]
        assert steps == [step for step in range(25) for _ in range(2)]
    assert store.submit(spec).id  # the parent's connection still works


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


def test_many_processes_may_open_a_new_home(tmp_path):
    def open_new(number):
        return JobStore(tmp_path / "new").count()

    assert in_processes(open_new, 8) == [0] * 8


def test_threads_have_connections_of_their_own(store, spec):
    def submit():
        for _ in range(5):
            store.submit(spec)

    threads = [threading.Thread(target=submit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count() == 20


def test_a_clean_up_beside_writers_removes_nothing_they_need(store, small_table):
    def put_and_submit(number):
        for step in range(10):
            table = small_table.assign(x=float(10 * number + step))
            digest = store.put_table(table)
            spec = JobSpec.make("impute", params={"method": "naive"}, table=digest)
            job_id = store.submit(spec).id
            pd.testing.assert_frame_equal(store.get_table(digest), table)
            assert store.job(job_id).folder.exists()
        return os.getpid()

    def clean(number):
        for _ in range(20):
            store.collect_garbage(max_age_days=1, max_jobs=0)
        return os.getpid()

    in_processes(lambda number: clean(0) if number == 0 else put_and_submit(number), 4)
    assert store.count() == 30


@pytest.fixture(scope="module")
def many_jobs(tmp_path_factory):
    """A store with 10,000 jobs, put in as one transaction."""
    store = JobStore(tmp_path_factory.mktemp("many") / "home")
    digest = store.put_table(pd.DataFrame({"a": [1.0, None]}))
    spec = JobSpec.make("impute", params={"method": "naive"}, table=digest)
    states = [state.value for state in JobState]
    with store._database.writing() as connection:
        connection.executemany(
            "INSERT INTO jobs (id, workspace, kind, state, engine, threads, gpus, created_at, "
            "queued_at, spec) VALUES (?, ?, 'impute', ?, 'local', 1, 0, ?, ?, ?)",
            (
                (f"{n:032x}", f"w{n % 5}", states[n % 6], float(n), float(n), spec.to_json())
                for n in range(10_000)
            ),
        )
    return store


def test_ten_thousand_jobs_are_listed_quickly(many_jobs):
    listings = [
        {},
        {"offset": 9_900},
        {"workspace": "w3"},
        {"states": ["running", "queued"]},
        {"workspace": "w1", "states": ["failed"], "kinds": ["impute"]},
    ]
    for listing in listings:
        seconds = []
        for _ in range(5):
            started = time.perf_counter()
            assert len(many_jobs.jobs(**listing)) == 100
            seconds.append(time.perf_counter() - started)
        assert min(seconds) < 0.05, listing
    started = time.perf_counter()
    last = many_jobs.queue_position(f"{9_996:032x}")
    assert last == many_jobs.count(states=["queued"])
    assert time.perf_counter() - started < 0.5
