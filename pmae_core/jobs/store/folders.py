"""What the folder of a job says about it: enough to bring back a job that the database lost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from pmae_core.documents import Document
from pmae_core.errors import DamagedFileError, JobError
from pmae_core.jobs.spec import JobSpec
from pmae_core.storage.checksums import read_document
from pmae_core.storage.files import write_whole

SPEC_FILE = "spec.json"
LABELS_FILE = "labels.json"
RESULT_FILE = "result/result.json"
# Owner of a job whose folder does not name one: the command line's, which no visitor can enter.
UNKNOWN_OWNER = "local"


class JobLabels(Document):
    """What neither the specification nor the result of a job says.

    Attributes
    ----------
    workspace, engine, name
        The owner, what runs it, and what the user calls it.
    created_at : float
        When it was submitted, in seconds since 1970.
    """

    error_class = JobError
    document_name = "The labels of a job"

    workspace: Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$", description="a workspace")]
    engine: Annotated[str, Field(pattern="^[a-z][a-z0-9-]{0,31}$", description="an engine")]
    name: Annotated[str | None, Field(description="text")] = None
    created_at: Annotated[float, Field(description="a time")]


@dataclass(frozen=True)
class FoundJob:
    """A job as its folder describes it; ``result`` is None unless it succeeded."""

    id: str
    spec: JobSpec
    labels: JobLabels
    result: dict[str, Any] | None
    finished_at: float | None


def write_documents(folder: Path, spec: JobSpec, labels: JobLabels) -> None:
    """Write what describes a job into its folder."""
    write_whole(folder / SPEC_FILE, spec.to_json() + "\n")
    write_whole(folder / LABELS_FILE, labels.model_dump_json() + "\n")


def read_folder(folder: Path) -> FoundJob | None:
    """Return the job of a folder; None if its specification is gone or damaged."""
    try:
        spec = JobSpec.from_json((folder / SPEC_FILE).read_bytes())
        spec.read_schema()
        submitted_at = (folder / SPEC_FILE).stat().st_mtime
    except (OSError, ValueError, JobError):
        return None
    result = read_result(folder)
    finished_at = None if result is None else (folder / RESULT_FILE).stat().st_mtime
    return FoundJob(folder.name, spec, _labels(folder, submitted_at), result, finished_at)


def read_result(folder: Path) -> dict[str, Any] | None:
    """Return the small result of a job; None without one, or if it is damaged."""
    try:
        return read_document(folder / RESULT_FILE)
    except (FileNotFoundError, DamagedFileError):
        return None


def _labels(folder: Path, submitted_at: float) -> JobLabels:
    """Return the labels of a job; folders of earlier versions have none."""
    try:
        return JobLabels.read(json.loads((folder / LABELS_FILE).read_bytes()))
    except (OSError, ValueError, JobError):
        return JobLabels(workspace=UNKNOWN_OWNER, engine="local", created_at=submitted_at)
