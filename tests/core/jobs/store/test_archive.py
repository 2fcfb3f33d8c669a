"""The archive: jobs are listed, found, followed and removed."""

import contextlib
import json
import shutil
import sqlite3
import time

import pandas as pd
import pytest

from pmae_core.errors import JobError
from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store import (
    JobProgress,
    JobStore,
    database,
)
from pmae_core.table import Schema
from tests.support.job_states import claim, run_through

NOBODY = "0123456789abcdef" * 2
DAY = 86400.0


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


def test_a_workspace_sees_only_its_own_jobs(store, spec):
    record = store.submit(spec)
    assert store.job(record.id, "local").id == record.id
    with pytest.raises(JobError, match="There is no job"):
        store.job(record.id, "other")


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


# Workspaces


def bytes_in_files(home):
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_a_forgotten_workspace_leaves_no_trace_in_the_database(store, small_table):
    marked = small_table.rename(columns={"x": "MARKER_OF_A_COLUMN"})
    for owner, table in (("mine", marked), ("other", small_table)) * 20:
        digest = store.put_table(table, owner)
        schema = Schema.infer(table)
        spec = JobSpec.make("impute", params={"method": "naive"}, table=digest, schema=schema)
        store.submit(spec, owner)
    assert b"MARKER_OF_A_COLUMN" in store.paths.database.read_bytes() + bytes_in_files(store.home)

    backups = store.home / "backups"
    copy_database(store, backups / "jobs-2026-01-01.sqlite")
    (backups / "jobs-2026-01-02.sqlite").write_bytes(b"MARKER_OF_A_COLUMN, and no database")
    (backups / ".jobs-2026-01-03.sqlite.tmp").write_bytes(b"MARKER_OF_A_COLUMN, unfinished")
    copy_database(store, store.home / "damaged" / "20260101" / "jobs.sqlite")

    report, workers = store.forget_workspace("mine")
    for job_id in report.jobs:
        shutil.rmtree(store.paths.job(job_id))
    store.erase_traces("mine")

    assert (len(report.jobs), len(report.tables), workers) == (20, 1, [])
    assert b"MARKER_OF_A_COLUMN" not in bytes_in_files(store.home)
    assert store.count("other") == store.count() == 20
    assert [path.name for path in backups.iterdir()] == ["jobs-2026-01-01.sqlite"]
    with contextlib.closing(sqlite3.connect(backups / "jobs-2026-01-01.sqlite")) as backup:
        counted = "SELECT workspace, count(*) FROM jobs JOIN events ON job_id = id"
        assert backup.execute(counted).fetchall() == [("other", 20)]


def copy_database(store, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        contextlib.closing(sqlite3.connect(store.paths.database)) as source,
        contextlib.closing(sqlite3.connect(path)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def test_a_table_that_others_own_stays_when_a_workspace_is_forgotten(store, small_table):
    digest = store.put_table(small_table, "mine")
    store.put_table(small_table, "other")

    report, _ = store.forget_workspace("mine")

    assert report.tables == []
    assert store.get_table(digest, "other") is not None


def test_what_a_workspace_takes_is_its_jobs_and_tables(store, spec):
    assert store.bytes_of_workspace("nobody") == 0
    empty = store.bytes_of_workspace("local")
    job = store.submit(spec)
    (job.folder / "log.txt").write_bytes(bytes(5000))

    assert empty > 0
    assert store.bytes_of_workspace("local") >= empty + 5000


def test_a_store_that_others_read_all_the_time_is_not_compacted_silently(store, spec, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    busy = JobStore(store.home)  # with the shorter patience
    store.submit(spec)
    reader = sqlite3.connect(store.paths.database, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM jobs").fetchall()

    with pytest.raises(JobError, match="other processes read it all the time"):
        busy.compact()

    reader.close()
    busy.compact()
