"""A damaged or emptied database: set aside, and restored from a backup and the jobs' folders."""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from pmae_core.jobs.params import is_job_id
from pmae_core.jobs.paths import JobPaths
from pmae_core.jobs.posix import locked
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store import rows
from pmae_core.jobs.store.backups import all_backups, is_sound
from pmae_core.jobs.store.folders import SPEC_FILE, FoundJob, read_folder
from pmae_core.jobs.store.schema import migrate, transaction
from pmae_core.storage.files import replacing, write_whole
from pmae_core.storage.tables import TableStore
from pmae_core.words import count

WAIT_SECONDS = 30.0
EMPTIED = "the file was empty"
STATE_LOST = "The list of runs was damaged and restored, and the state of this run was lost."
_REPORT_FILE = "restoration.json"
# What SQLite says of the machine, not of the file.
_NOT_DAMAGE = {
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL),
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_TOOBIG),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH),
    *(sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_MISUSE),
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Restoration:
    """How a damaged database was restored.

    Attributes
    ----------
    at : float
        When, in seconds since 1970.
    why : str
        What was wrong with the file.
    backup_at : float, optional
        When the backup was made; None if there was none.
    n_jobs, n_from_folders : int
        How many jobs there are now, and how many of them were brought back from their folders.
    """

    at: float
    why: str
    backup_at: float | None
    n_jobs: int
    n_from_folders: int


def find_damage(paths: JobPaths) -> str | None:
    """Return what is wrong with the database; None if it can be used, or is yet to be made.

    The whole file is read. An emptied file is a valid new database: what gives it away are jobs
    and backups of the one before.
    """
    path = paths.database
    if not path.exists() or not path.stat().st_size:
        return EMPTIED if remains(paths) else None
    try:
        with closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as connection:
            if not connection.execute("PRAGMA user_version").fetchone()[0] and remains(paths):
                return EMPTIED
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return str(error)
    return None if found == "ok" else " ".join(found.split())


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether an error may mean that the file is damaged, not that it is busy, for example.

    That is more than SQLITE_CORRUPT: a file may have an unknown format, or no longer have tables.
    """
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF not in _NOT_DAMAGE


def remains(paths: JobPaths) -> bool:
    """Return whether there is anything to restore the database from."""
    return bool(all_backups(paths)) or next(_job_folders(paths), None) is not None


def restorations(paths: JobPaths) -> list[Restoration]:
    """Return how the database was restored, the newest first."""
    found = []
    for report in paths.damaged.glob(f"*/{_REPORT_FILE}"):
        try:
            found.append(Restoration(**json.loads(report.read_bytes())))
        except (OSError, ValueError, TypeError):
            _log.warning("%s cannot be read.", report)
    return sorted(found, key=lambda one: one.at, reverse=True)


def restore(paths: JobPaths) -> None:
    """Replace a damaged database by the newest sound backup, with what the folders add to it.

    One process does it while others wait. The damaged file is kept in ``damaged/``. Jobs whose
    folders are gone were removed since the backup, and stay so.
    """
    with locked(paths.lock):
        why = find_damage(paths)
        if why is None:
            return  # another process was faster
        for leftover in paths.home.glob(f".{paths.database.name}.*.tmp*"):
            leftover.unlink()  # of a process that was killed while it did this
        with replacing(paths.database, lasting=True) as unfinished:
            backup = next((one for one in all_backups(paths) if is_sound(one)), None)
            if backup is not None:
                shutil.copyfile(backup, unfinished)
            n_from_folders, n_jobs = _complete(unfinished, paths)
            aside = _set_aside(paths)
            backup_at = None if backup is None else backup.stat().st_mtime
            report = Restoration(time.time(), why, backup_at, n_jobs, n_from_folders)
            write_whole(aside / _REPORT_FILE, json.dumps(asdict(report), indent=1) + "\n")
    _log.warning(
        "%s was damaged (%s). It was restored from %s, with %s, of which %d from their folders. "
        "The damaged file is kept in %s.",
        *(paths.database, why, backup or "the folders of the jobs"),
        *(count(n_jobs, "job"), n_from_folders, aside),
    )


def _set_aside(paths: JobPaths) -> Path:
    """Keep the damaged file with its log under a name of its own; return the folder.

    The file itself stays until another replaces it: there is no moment without one. Processes
    that have it open notice that it was replaced, and SQLite removes no file of another one.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    aside = paths.damaged / f"{stamp}-{secrets.token_hex(3)}"
    aside.mkdir(mode=0o700, parents=True)
    for ending in ("-wal", "-shm"):
        log = paths.database.with_name(paths.database.name + ending)
        if log.exists():
            log.rename(aside / log.name)
    if paths.database.exists():
        os.link(paths.database, aside / paths.database.name)
    return aside


# What the folders add to a backup


def _complete(path: Path, paths: JobPaths) -> tuple[int, int]:
    """Bring a copy of a backup up to date; return the jobs from folders, and all jobs."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        migrate(connection, path)
        with transaction(connection):
            known = _update_known(connection, paths)
            found = [read_folder(folder) for folder in _job_folders(paths)]
            lost = [job for job in found if job is not None and job.id not in known]
            for job in sorted(lost, key=lambda job: job.labels.created_at):
                _insert(connection, job, paths)
        n_jobs = int(connection.execute("SELECT count(*) FROM jobs").fetchone()[0])
    return len(lost), n_jobs


def _update_known(connection: sqlite3.Connection, paths: JobPaths) -> set[str]:
    """Bring the jobs of a backup up to date, and return their ids.

    Those that waited may have been cancelled since, so they do not start by themselves. Whether
    one still runs is seen when workers are looked after.
    """
    known = set()
    in_backup = connection.execute("SELECT number, id, state FROM jobs").fetchall()
    for number, job_id, state in in_backup:
        folder = paths.jobs / str(job_id)
        if not is_job_id(job_id) or not folder.is_dir():
            connection.execute("DELETE FROM jobs WHERE number = ?", (number,))
            continue
        known.add(job_id)
        if state == JobState.SUCCEEDED:
            continue
        job = read_folder(folder)
        if job is not None and job.result is not None:
            _set_succeeded(connection, job)
        elif state == JobState.QUEUED:
            _set_interrupted(connection, job_id)
    return known


def _insert(connection: sqlite3.Connection, job: FoundJob, paths: JobPaths) -> None:
    rows.insert_job(connection, job.id, job.spec, job.labels)
    tables = TableStore(paths.tables)
    for digest in job.spec.tables:
        if tables.exists(digest):
            rows.own_table(connection, digest, job.labels.workspace)
    if job.result is None:
        _set_interrupted(connection, job.id)
    else:
        _set_succeeded(connection, job)


def _set_succeeded(connection: sqlite3.Connection, job: FoundJob) -> None:
    connection.execute(
        "UPDATE jobs SET state = ?, error = NULL, result = ?, finished_at = ?, token = NULL, "
        "attempt = max(attempt, 1) WHERE id = ?",
        (JobState.SUCCEEDED, rows.to_text(job.result or {}), job.finished_at, job.id),
    )
    rows.append_state(connection, job.id, JobState.SUCCEEDED, "restored from its folder")


def _set_interrupted(connection: sqlite3.Connection, job_id: str) -> None:
    connection.execute(
        "UPDATE jobs SET state = ?, error = ? WHERE id = ?",
        (JobState.INTERRUPTED, STATE_LOST, job_id),
    )
    rows.append_state(connection, job_id, JobState.INTERRUPTED, STATE_LOST)


def _job_folders(paths: JobPaths) -> Iterator[Path]:
    if not paths.jobs.is_dir():
        return
    for folder in paths.jobs.iterdir():
        is_own = is_job_id(folder.name) and not folder.is_symlink()
        if is_own and (folder / SPEC_FILE).exists():
            yield folder
