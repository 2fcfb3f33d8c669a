"""The folders of jobs and their tables; no name leads outside of them."""

from __future__ import annotations

import secrets
from pathlib import Path

from pmae_core.errors import JobError
from pmae_core.jobs.params import is_job_id


def new_job_id() -> str:
    """Return an id that cannot be guessed and that no other job has."""
    return secrets.token_hex(16)


class JobPaths:
    """The files of all jobs in one home.

    A job's folder holds ``spec.json``, ``labels.json``, ``log.txt``, ``checkpoint/``,
    ``tasks/`` and ``result/``. Copies of the database are in ``backups/``, and a damaged one that
    was replaced is in ``damaged/``.

    Parameters
    ----------
    home : path
        The folder that holds them.

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
        self.backups = self.home / "backups"
        self.damaged = self.home / "damaged"
        self.lock = self.home / ".jobs.sqlite.lock"

    def make(self) -> None:
        """Make the folders, closed to other users of the machine."""
        try:
            for folder in (self.home, self.jobs, self.tables):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise JobError(
                f"Jobs cannot be stored in {self.home}: {error.strerror or error}. "
                "Set PMAE_HOME to a writable folder."
            ) from error

    def job(self, job_id: str) -> Path:
        """Return the folder of a job, whether it exists or not.

        Raises
        ------
        JobError
            If the id is malformed, or the folder is a link to elsewhere.
        """
        if not is_job_id(job_id):
            raise JobError(f"{job_id!r} is not a job id. Job ids have 32 characters of 0-9a-f.")
        folder = self.jobs / job_id
        if folder.resolve() != folder:
            raise JobError(f"{folder} is a link that leads elsewhere. Remove it.")
        return folder
