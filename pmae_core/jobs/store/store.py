"""The store of jobs: a SQLite file for what they are, one folder per job for what they produce."""

from __future__ import annotations

from pathlib import Path

from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.store.archive import JobArchive
from pmae_core.jobs.store.backups import DailyBackup
from pmae_core.jobs.store.database import Database
from pmae_core.jobs.store.queue import JobQueue
from pmae_core.jobs.store.tables import JobTables
from pmae_core.storage.home import pmae_home


class JobStore(JobQueue, JobArchive, JobTables):
    """All jobs of a home: their queue, their archive and their tables in one object.

    Several processes and threads may use it at once.

    Parameters
    ----------
    home : path, optional
        The folder; :func:`pmae_core.storage.home.pmae_home` by default.

    Raises
    ------
    JobError
        If the folder cannot be used, or is from a newer release. Every other method raises it,
        too, with a sentence, if something cannot be done.

    Notes
    -----
    A *workspace* is an opaque name for the owner of jobs and tables. A job can use only the
    tables and models of its own workspace.

    The process that runs a job holds its *token*, which is new with each claim. Whatever a worker
    writes is refused once its token is not the job's current one, so a job that was given up and
    started again is never reported on by two workers.
    """

    def __init__(self, home: str | Path | None = None) -> None:
        paths = JobPaths(pmae_home() if home is None else home)
        paths.make()
        super().__init__(paths, Database(paths))
        self._daily_backup = DailyBackup(paths)

    def keep_backup(self) -> None:
        """Make today's backup of the database unless there is one; nobody waits for it."""
        self._daily_backup.keep()
