"""Backups of the database: one per day, the last few kept, never of a damaged file."""

import sqlite3
import threading

import pytest

from pmae_core.jobs.store import JobStore, backups
from pmae_core.jobs.store.backups import DailyBackup, all_backups, is_sound, make_backup
from tests.support.damage import flip_byte, scramble

DAY = 86400.0


def jobs_in(path):
    with sqlite3.connect(path) as connection:
        return {row[0] for row in connection.execute("SELECT id FROM jobs")}


def keep(daily, now):
    thread = daily.keep(now)
    if thread is not None:
        thread.join()
    return thread


def test_a_backup_has_all_jobs_while_the_store_is_used(store, spec):
    job_ids = {store.submit(spec).id for _ in range(3)}  # still in the log beside the file

    make_backup(store.paths, "2026-01-01")

    (backup,) = all_backups(store.paths)
    assert jobs_in(backup) == job_ids
    assert {path.name for path in store.paths.backups.iterdir()} == {backup.name}


def test_there_is_one_per_day_and_only_the_last_ones_stay(store, spec):
    daily = DailyBackup(store.paths)
    for day in range(5):
        assert keep(daily, day * DAY) is not None
        assert keep(daily, day * DAY + 3600) is None
        assert keep(DailyBackup(store.paths), day * DAY + 7200) is None  # another process

    names = [path.name for path in all_backups(store.paths)]
    assert names == [f"jobs-1970-01-0{day}.sqlite" for day in (5, 4, 3)]


def test_a_damaged_database_does_not_replace_its_backups(store, spec, caplog):
    store.submit(spec)
    make_backup(store.paths, "1970-01-01")
    (good,) = all_backups(store.paths)
    store.close()
    content = good.read_bytes()
    scramble(store.paths.database)

    keep(DailyBackup(store.paths), 5 * DAY)

    assert [path.read_bytes() for path in all_backups(store.paths)] == [content]
    assert "No backup of" in caplog.text


def test_a_full_disk_costs_no_backup_that_there_is(store, monkeypatch, caplog):
    make_backup(store.paths, "1970-01-01")

    def fail(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "is_sound", fail)
    keep(DailyBackup(store.paths), 5 * DAY)

    assert [path.name for path in store.paths.backups.iterdir()] == ["jobs-1970-01-01.sqlite"]
    assert "No space left" in caplog.text


@pytest.mark.parametrize("damage", [scramble, lambda path: flip_byte(path, 101), None])
def test_soundness(store, spec, damage, tmp_path):
    store.submit(spec)
    make_backup(store.paths, "1970-01-01")
    (backup,) = all_backups(store.paths)
    if damage is not None:
        damage(backup)
    assert is_sound(backup) is (damage is None)


def test_a_store_makes_its_own_backup(home, store, spec):
    store.submit(spec)
    JobStore(home).keep_backup()
    for thread in threading.enumerate():
        if thread.name == "pmae-backup":
            thread.join()
    assert jobs_in(all_backups(store.paths)[0]) == {job.id for job in store.jobs()}
