"""Clean-ups remove what is old, and nothing that is needed."""

import os
import time

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import JobError
from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store import retention
from tests.support.job_states import in_processes, run_through

DAY = 86400.0


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
