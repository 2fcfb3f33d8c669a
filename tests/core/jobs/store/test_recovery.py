"""A damaged or emptied database: nothing vanishes, the rest is brought back."""

import os
import shutil
import sqlite3
import threading

import numpy as np
import pytest

from pmae_core.errors import JobError
from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store import JobStore, database, recovery
from pmae_core.jobs.store.backups import all_backups, make_backup
from pmae_core.jobs.worker.results import replacing_folder
from tests.support.damage import scramble
from tests.support.job_states import claim, in_processes, states_of


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    """Each test is a process that has checked no file yet."""
    monkeypatch.setattr(database, "_checked", set())


def empty(path):
    os.truncate(path, 0)


def remove(path):
    path.unlink()


def cut(path):
    os.truncate(path, path.stat().st_size - 4096)


def damage_a_page(path):
    content = bytearray(path.read_bytes())
    content[4096 : 3 * 4096] = np.random.default_rng(0).bytes(2 * 4096)
    path.write_bytes(content)


DAMAGES = [empty, remove, scramble, cut, damage_a_page]


def write_result(record, result):
    with replacing_folder(record.folder / "result") as out:
        (out / "result.json").write_text(result)


def damaged(store, damage):
    """Damage the database of a store that no process has open, and open it again."""
    store.close()
    damage(store.paths.database)
    database._checked.clear()
    return JobStore(store.home)


def summary(store):
    return {record.name: record.state for record in store.jobs()}


# Restoring


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("with_backup", [True, False])
def test_all_jobs_come_back(store, spec, damage, with_backup):
    store.submit(spec, name="before")
    if with_backup:
        make_backup(store.paths, "2026-01-01")
    store.put_table(store.get_table(spec.table), "visitor")
    after = store.submit(spec, "visitor", name="after")
    claim(store)
    write_result(after, '{"kind": "impute", "n_imputed": 7}')

    restored = damaged(store, damage)

    assert summary(restored) == {
        "after": JobState.SUCCEEDED,
        "before": JobState.INTERRUPTED,
    }
    job = restored.job(after.id, "visitor")
    assert (job.result, job.spec, job.attempt) == ({"kind": "impute", "n_imputed": 7}, spec, 1)
    assert job.created_at == pytest.approx(after.created_at)
    assert job.finished_at == pytest.approx(job.created_at, abs=60)
    assert restored.get_table(spec.table, "visitor") is not None
    (report,) = restored.restorations()
    assert (report.n_jobs, report.n_from_folders) == (2, 1 if with_backup else 2)
    assert (report.backup_at is not None) is with_backup


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_damaged_file_is_kept_and_the_log_says_so(store, spec, damage, caplog):
    store.submit(spec)
    store.close()
    damage(store.paths.database)
    left = store.paths.database.read_bytes() if store.paths.database.exists() else None

    restored = damaged(store, lambda path: None)

    (folder,) = restored.paths.damaged.iterdir()
    kept = folder / "jobs.sqlite"
    assert (kept.read_bytes() if kept.exists() else None) == left
    assert f"{store.paths.database} was damaged" in caplog.text
    assert str(folder) in caplog.text


def test_a_sound_store_is_left_alone(store, spec):
    job_id = store.submit(spec).id
    make_backup(store.paths, "2026-01-01")
    same = damaged(store, lambda path: None)
    assert [job.id for job in same.jobs()] == [job_id]
    assert same.job(job_id).state is JobState.QUEUED
    assert same.restorations() == []
    assert not same.paths.damaged.exists()


def test_a_new_store_is_no_emptied_one(home):
    assert JobStore(home).restorations() == []
    assert JobStore(home).jobs() == []


def test_a_file_that_is_no_store_is_refused_and_untouched(home):
    home.mkdir()
    (home / "jobs.sqlite").write_text("something else entirely, and long enough to be noticed")
    with pytest.raises(JobError, match="cannot be used"):
        JobStore(home)
    assert (home / "jobs.sqlite").read_text().startswith("something else")


def test_a_job_removed_since_the_backup_stays_removed(store, spec):
    removed = store.submit(spec, name="removed")
    store.submit(spec, name="kept")
    make_backup(store.paths, "2026-01-01")
    store.delete(removed.id)
    assert set(summary(damaged(store, empty))) == {"kept"}


def test_a_job_that_waited_does_not_start_by_itself(store, spec):
    job_id = store.submit(spec).id
    make_backup(store.paths, "2026-01-01")
    restored = damaged(store, empty)
    assert claim(restored) is None
    assert states_of(restored, job_id) == ["queued", "interrupted"]
    assert restored.resume(job_id).state is JobState.QUEUED


def test_a_worker_that_was_known_to_the_backup_goes_on(store, spec):
    store.submit(spec)
    record, token = claim(store)
    make_backup(store.paths, "2026-01-01")
    restored = damaged(store, damage_a_page)
    assert restored.heartbeat(record.id, token).holds_claim
    assert restored.finish(record.id, token, JobState.SUCCEEDED, result={"n_imputed": 1})


def test_a_job_that_ended_since_the_backup_has_its_result(store, spec):
    job = store.submit(spec)
    claim(store)
    make_backup(store.paths, "2026-01-01")
    write_result(job, '{"n_imputed": 3}')
    found = damaged(store, scramble).job(job.id)
    assert (found.state, found.result, found.token) == (JobState.SUCCEEDED, {"n_imputed": 3}, None)


def test_a_damaged_backup_is_passed_over(store, spec):
    store.submit(spec, name="a")
    make_backup(store.paths, "2026-01-01")
    make_backup(store.paths, "2026-01-02")
    scramble(all_backups(store.paths)[0])
    restored = damaged(store, empty)
    assert set(summary(restored)) == {"a"}
    assert restored.restorations()[0].n_from_folders == 0


def test_a_folder_of_an_earlier_version_belongs_to_the_command_line(store, spec):
    store.put_table(store.get_table(spec.table), "visitor")
    job = store.submit(spec, "visitor", name="a")
    (job.folder / "labels.json").unlink()
    restored = damaged(store, empty)
    assert restored.jobs("visitor") == []
    assert [one.id for one in restored.jobs("local")] == [job.id]


def test_a_folder_without_a_specification_is_left_alone(store, spec):
    whole, broken = store.submit(spec, name="whole"), store.submit(spec, name="broken")
    (broken.folder / "spec.json").write_text("{")
    assert set(summary(damaged(store, empty))) == {"whole"}
    assert broken.folder.exists() and whole.folder.exists()


def test_new_jobs_are_the_newest_after_a_restoration(store, spec):
    for name in "abc":
        store.submit(spec, name=name)
    restored = damaged(store, empty)
    restored.submit(spec, name="d")
    assert [job.name for job in restored.jobs()] == list("dcba")


# While others use it


def used(action):
    """Use a damaged store: the first time may fail, with a sentence."""
    try:
        return action()
    except JobError as error:
        assert "restored on the next use. Try again." in str(error)
        return action()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_store_that_is_open_recovers_by_itself(store, spec, damage):
    job_id = store.submit(spec).id
    make_backup(store.paths, "2026-01-01")
    with sqlite3.connect(store.paths.database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damage(store.paths.database)
    assert [job.id for job in used(store.jobs)] == [job_id]
    assert used(lambda: store.submit(spec)).state is JobState.QUEUED
    assert len(store.jobs()) == 2


def test_other_threads_use_the_restored_file(store, spec):
    job_id = store.submit(spec).id
    found = []
    ready, go = threading.Event(), threading.Event()

    def look():
        store.jobs()
        ready.set()
        go.wait(10)
        found.append([job.id for job in store.jobs()])
        store.submit(spec)
        store.close()

    thread = threading.Thread(target=look)
    thread.start()
    ready.wait(10)
    shutil.copy(store.paths.database, store.home / "copy")
    store.paths.database.unlink()
    assert [job.id for job in store.jobs()] == [job_id]
    go.set()
    thread.join()
    assert found == [[job_id]]
    assert len(store.jobs()) == 2


def open_store(number, home):
    database._checked.clear()
    return sorted(job.id for job in JobStore(home).jobs())


def test_many_processes_restore_it_once(store, spec):
    job_ids = sorted(store.submit(spec).id for _ in range(3))
    store.close()
    scramble(store.paths.database)
    assert in_processes(open_store, 4, store.home) == [job_ids] * 4
    assert len(store.restorations()) == 1


def test_a_restoration_that_fails_changes_nothing(store, spec, monkeypatch):
    job_id = store.submit(spec).id
    store.close()
    scramble(store.paths.database)
    before = store.paths.database.read_bytes()

    def fail(*args):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(recovery, "_complete", fail)
        with pytest.raises(JobError, match="disk is full"):
            damaged(store, lambda path: None)
    assert store.paths.database.read_bytes() == before
    (store.home / ".jobs.sqlite.0123.tmp").write_text("of a process that was killed")
    assert [job.id for job in JobStore(store.home).jobs()] == [job_id]
    assert not list(store.home.glob("*.tmp"))


def test_damage_anywhere_loses_no_job(store, spec):
    """Property: wherever a run of bytes is overwritten, every job is there afterwards."""
    names = {store.submit(spec, name=f"job {number}").name for number in range(30)}
    make_backup(store.paths, "2026-01-01")
    store.close()
    whole = store.paths.database.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(30):
        content = bytearray(whole)
        place, length = int(rng.integers(len(whole))), int(rng.integers(1, 6000))
        content[place : place + length] = rng.bytes(min(length, len(whole) - place))

        def damage(path, content=content):
            path.write_bytes(content)

        found = damaged(store, damage)
        listing = found.listing(limit=-1)
        assert len(listing.jobs) + len(listing.damaged) == len(names)
        assert {job.name for job in listing.jobs} <= names
        found.close()


def test_a_specification_survives_in_the_folder(store, spec):
    again = JobSpec.from_json((store.submit(spec).folder / "spec.json").read_text())
    assert again == spec
