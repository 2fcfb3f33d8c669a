"""Where jobs and their tables lie on disk; nothing outside can be named."""

from __future__ import annotations

import secrets
from pathlib import Path

from pmae_core.errors import JobError
from pmae_core.jobs.params import is_digest, is_job_id


def new_job_id() -> str:
    """Return an id that nobody can guess and no other job has."""
    return secrets.token_hex(16)


class JobPaths:
    """The files of a home of jobs.

    A job's folder holds ``spec.json``, ``log.txt``, ``checkpoint/``, ``tasks/`` and
    ``result/``.

    Parameters
    ----------
    home : path
        The folder around all of them.

    Examples
    --------
    >>> JobPaths("/srv/pmae").job("0123456789abcdef" * 2).name
    '0123456789abcdef0123456789abcdef'
    """

    def __init__(self, home: str | Path) -> None:
        # The home itself may be a link; inside it no link is followed.
        self.home = Path(home).expanduser().resolve()
        self.database = self.home / "jobs.sqlite"
        self.jobs = self.home / "jobs"
        self.tables = self.home / "tables"

    def make(self) -> None:
        """Make the folders, closed to other users of the machine."""
        try:
            for folder in (self.home, self.jobs, self.tables):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise JobError(
                f"Jobs cannot be kept in {self.home}: {error.strerror or error}. "
                "Set PMAE_HOME to a folder that can be written."
            ) from error

    def job(self, job_id: str) -> Path:
        """Return the folder of a job, whether it exists or not.

        Raises
        ------
        JobError
            If the id is malformed, or the folder is a link to elsewhere.
        """
        if not is_job_id(job_id):
            raise JobError(f"{job_id!r} is no id of a job: those have 32 characters of 0-9a-f.")
        return _inside(self.jobs / job_id)

    def table(self, digest: str) -> Path:
        """Return the file of a table, whether it exists or not.

        Raises
        ------
        JobError
            If the digest is malformed, or the file is a link to elsewhere.
        """
        if not is_digest(digest):
            raise JobError(
                f"{digest!r} is no digest of a table: those have 64 characters of 0-9a-f."
            )
        return _inside(self.tables / f"{digest}.parquet")


def _inside(path: Path) -> Path:
    if path.resolve() != path:
        raise JobError(f"{path} is a link that leads elsewhere; remove it.")
    return path
