"""The SQLite file: migrations, and errors as sentences."""

import sqlite3

import pytest

from pmae_core.errors import JobError
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store import JobStore, database, schema
from tests.support.job_states import states_of


@pytest.mark.parametrize("version", range(1, len(schema.MIGRATIONS)))
def test_an_older_file_is_brought_up_to_date(tmp_path, store, spec, monkeypatch, version):
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:version])
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
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    assert JobStore(home).job(job_id).spec == spec
    with sqlite3.connect(home / "jobs.sqlite") as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == len(schema.MIGRATIONS)
        assert connection.execute("SELECT note FROM jobs").fetchall() == [("none",)]


def test_a_failed_migration_leaves_the_file_as_it_was(home, spec, store, monkeypatch):
    job_id = store.submit(spec).id
    released = schema.MIGRATIONS
    monkeypatch.setattr(schema, "MIGRATIONS", (*released, ("CREATE TABLE notes (a)", "OOPS")))
    with pytest.raises(JobError, match="cannot be used"):
        JobStore(home)
    monkeypatch.setattr(schema, "MIGRATIONS", released)
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
