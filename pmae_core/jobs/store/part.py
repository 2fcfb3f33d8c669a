"""What the queue, the archive and the tables of a store have in common."""

from __future__ import annotations

from pathlib import Path

from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.store import rows
from pmae_core.jobs.store.database import Database
from pmae_core.jobs.store.records import JobRecord

DEFAULT_WORKSPACE = "local"


class StorePart:
    """A part of a store: it knows the folders and the database.

    Parameters
    ----------
    paths : JobPaths
        The folders, which exist.
    database : Database
        The open database.
    """

    def __init__(self, paths: JobPaths, database: Database) -> None:
        self.paths = paths
        self._database = database

    @property
    def home(self) -> Path:
        """The folder of the store."""
        return self.paths.home

    def close(self) -> None:
        """Close this thread's connection; the next use opens a new one."""
        self._database.close()

    def job(self, job_id: str, workspace: str | None = None) -> JobRecord:
        """Return a job; with a workspace, only if it belongs to that workspace."""
        self.paths.job(job_id)  # refuses a malformed id
        with self._database.reading() as connection:
            return rows.to_record(rows.find_job(connection, job_id, workspace), self.paths)
