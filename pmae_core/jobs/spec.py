"""The specification of a job: one small JSON document that describes all of it."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import platform
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from pmae_core.documents import Document, collected, part_of, whole_number
from pmae_core.errors import JobError, SchemaError
from pmae_core.jobs.checks import check_names
from pmae_core.jobs.params import MAX_SEED, JobKind, complete_params, digest_of_table
from pmae_core.storage.json_values import json_copy
from pmae_core.table.schema import Schema
from pmae_core.words import listed

MAX_CHARACTERS = 8_000_000


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_final(self) -> bool:
        """Whether the job ended; an interrupted one waits to be resumed."""
        return self in (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)


class Resources(Document):
    """What a job takes of its machine.

    Attributes
    ----------
    threads : int
        Threads for numerical work. Sums depend on it, and so does the result's last bit.
    gpus : int
        Devices for this job alone.
    memory_mb : int, optional
        The job fails when it needs more.
    """

    error_class = JobError
    document_name = "The resources object"

    threads: Annotated[int, whole_number(1, 4096)] = 1
    gpus: Annotated[int, whole_number(0, 1024)] = 0
    memory_mb: Annotated[int | None, whole_number(1, 2**40)] = None


def _json_copied(where: str) -> BeforeValidator:
    return BeforeValidator(functools.partial(json_copy, where=where))


class JobSpec(Document):
    """A job as a document: run twice with the same versions, it gives the same result.

    Attributes
    ----------
    kind : JobKind
        What to do.
    seed : int
        Of everything random.
    resources : Resources
        What it takes of its machine.
    params : dict
        What exactly, see :mod:`pmae_core.jobs.params`; complete with defaults. The
        ``target`` of a comparison is a column name as
        :func:`~pmae_core.storage.json_values.to_json_value` writes it.
    table : str, optional
        Content digest of the table to work on; a benchmark has none.
    table_schema : dict, optional
        ``Schema.to_dict()`` of the table, ``schema`` in the document; inferred where not given.
    versions : dict
        Versions of Python and of the numerical libraries, at the time of writing.

    Examples
    --------
    >>> spec = JobSpec.make("train", params={"method": "pmae-mix"}, table="0" * 64)
    >>> JobSpec.from_json(spec.to_json()) == spec
    True
    """

    error_class = JobError
    document_name = "The job's document"

    # The parameters depend on kind and seed, which therefore are read before them.
    kind: Annotated[
        JobKind, Field(strict=False, description=f"one of {listed(JobKind, last='or')}")
    ]
    seed: Annotated[int, whole_number(0, MAX_SEED)] = 0
    resources: Annotated[Resources, part_of(Resources), Field(default_factory=Resources)]
    params: Annotated[dict[str, Any], _json_copied("params"), Field(description="an object")]
    table: Annotated[str | None, digest_of_table()] = None
    table_schema: Annotated[
        dict[str, Any] | None,
        _json_copied("schema"),
        Field(alias="schema", description="an object"),
    ] = None
    versions: Annotated[
        dict[str, Any],
        _json_copied("versions"),
        Field(default_factory=dict, description="an object"),
    ]

    @field_validator("params")
    @classmethod
    def _complete_params(cls, params: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if not {"kind", "seed"} <= info.data.keys():
            return params  # one of them was refused, and the error is about that
        with collected():
            return complete_params(info.data["kind"], params, info.data["seed"])

    @model_validator(mode="after")
    def _check_table(self) -> Self:
        if self.kind.needs_table and self.table is None:
            raise JobError(f"A job of the kind {self.kind} needs a table.")
        if not self.kind.needs_table and (self.table or self.table_schema) is not None:
            raise JobError("A benchmark loads its table by name; leave table and schema out.")
        return self

    @classmethod
    def make(
        cls,
        kind: JobKind | str,
        *,
        params: Mapping[str, Any],
        table: str | None = None,
        schema: Schema | Mapping[str, Any] | None = None,
        seed: int = 0,
        resources: Resources | None = None,
    ) -> JobSpec:
        """Return a checked specification for the versions that are installed here.

        Raises
        ------
        JobError
            If it asks for something that does not exist, or that JSON cannot hold.
        """
        spec = cls.read(
            {
                "kind": kind,
                "params": params,
                "table": table,
                "schema": schema.to_dict() if isinstance(schema, Schema) else schema,
                "seed": seed,
                "resources": resources or Resources(),
                "versions": installed_versions(),
            }
        )
        spec.check()
        return spec

    def check(self) -> None:
        """Refuse methods, datasets and column roles that do not exist.

        Raises
        ------
        JobError
            Naming the choices there are.
        """
        check_names(self.kind, self.params)
        try:
            self.read_schema()
        except SchemaError as error:
            raise JobError(str(error)) from error
        if len(self.to_json()) > MAX_CHARACTERS:
            raise JobError(
                f"A job's document has at most {MAX_CHARACTERS:,} characters; "
                f"this one has {len(self.to_json()):,}."
            )

    @property
    def tables(self) -> tuple[str, ...]:
        """Digests of all tables that the job reads."""
        return tuple(digest for digest in (self.table, self.params.get("truth")) if digest)

    @property
    def model(self) -> str | None:
        """The id of the training job whose model is used, if any."""
        return self.params.get("model")

    @property
    def digest(self) -> str:
        """A hash that is the same only for the same document."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def read_schema(self) -> Schema | None:
        """Return the roles of the table's columns, None where they are to be inferred."""
        return None if self.table_schema is None else Schema.from_dict(self.table_schema)

    def changed_versions(self) -> dict[str, tuple[str, str]]:
        """Return what is installed here in another version: name to (document's, installed)."""
        installed = installed_versions()
        return {
            name: (version, installed.get(name, "not installed"))
            for name, version in self.versions.items()
            if version != installed.get(name, "not installed")
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON-able data, which may be changed freely."""
        document: dict[str, Any] = json.loads(self.to_json())
        return document

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> JobSpec:
        """Return the specification of a document; :meth:`check` looks up what it names.

        Raises
        ------
        JobError
            If the document does not have the form of a specification.
        """
        return cls.read(data)

    def to_json(self) -> str:
        """Return the document as text: always the same for the same content."""
        content = self.model_dump(by_alias=True)
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> JobSpec:
        """Return the specification that :meth:`to_json` wrote, or that was written by hand."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise JobError(f"The job's document is not JSON: {error}.") from error
        return cls.from_dict(data)


@functools.cache
def _installed_versions() -> tuple[tuple[str, str], ...]:
    # The package's own __init__ lies above this layer, but is always loaded first.
    pmae = sys.modules[__name__.partition(".")[0]].__version__
    numeric = ("numpy", "pandas", "scikit-learn", "scipy", "torch")
    found = {name: importlib.metadata.version(name) for name in numeric}
    return tuple({"pmae": pmae, "python": platform.python_version(), **found}.items())


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of the numerical libraries, without importing them."""
    return dict(_installed_versions())
