"""The specification of a job: one small JSON document that says all of it."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import math
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from pmae_core.errors import JobError, SchemaError
from pmae_core.jobs.params import (
    MAX_SEED,
    JobKind,
    check_names,
    complete_params,
    is_digest,
    is_whole,
)
from pmae_core.table.schema import Schema

MAX_CHARACTERS = 8_000_000
_MAX_DEPTH = 32


class JobState(StrEnum):
    """Where a job stands."""

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


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a job takes of its machine.

    Attributes
    ----------
    threads : int
        Threads for numerical work. Sums depend on it, and so does the result's last bit.
    gpus : int
        Devices for it alone.
    memory_mb : int, optional
        It fails when it needs more.
    """

    threads: int = 1
    gpus: int = 0
    memory_mb: int | None = None

    def __post_init__(self) -> None:
        _check_whole("threads", self.threads, 1, 4096)
        _check_whole("gpus", self.gpus, 0, 1024)
        if self.memory_mb is not None:
            _check_whole("memory_mb", self.memory_mb, 1, 2**40)


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """A job as a document: run twice with the same versions, it gives the same result.

    Attributes
    ----------
    kind : JobKind
        What to do.
    params : dict
        What exactly, see :mod:`pmae_core.jobs.params`; complete with defaults. The
        ``target`` of a comparison is a column name as
        :func:`~pmae_core.storage.json_values.to_json_value` writes it.
    table : str, optional
        Content digest of the table to work on; a benchmark has none.
    schema : dict, optional
        ``Schema.to_dict()`` of the table; inferred where not given.
    seed : int
        Of everything random.
    resources : Resources
        What it takes of its machine.
    versions : dict
        Versions of Python and of what computes, at the time of writing.

    Examples
    --------
    >>> spec = JobSpec.make("train", params={"method": "pmae-mix"}, table="0" * 64)
    >>> JobSpec.from_json(spec.to_json()) == spec
    True
    """

    kind: JobKind
    params: Mapping[str, Any]
    table: str | None = None
    schema: Mapping[str, Any] | None = None
    seed: int = 0
    resources: Resources = field(default_factory=Resources)
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_whole("seed", self.seed, 0, MAX_SEED)
        kind = _as_kind(self.kind)
        plain = {
            "kind": kind,
            "params": complete_params(kind, _checked_json(self.params, "params"), self.seed),
            "schema": None if self.schema is None else _checked_json(self.schema, "schema"),
            "versions": _checked_json(self.versions, "versions"),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        self._check_table()

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
            If it asks for something that does not exist, or is no JSON.
        """
        spec = cls(
            kind=_as_kind(kind),
            params=params,
            table=table,
            schema=schema.to_dict() if isinstance(schema, Schema) else schema,
            seed=seed,
            resources=resources or Resources(),
            versions=installed_versions(),
        )
        spec.check()
        return spec

    def check(self) -> None:
        """Refuse what only a look at methods, datasets and roles shows to be wrong.

        Raises
        ------
        JobError
            With what there is instead.
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
        """A text that is the same for the same document only."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def read_schema(self) -> Schema | None:
        """Return the roles of the table's columns, None where they are to be inferred."""
        return None if self.schema is None else Schema.from_dict(self.schema)

    def changed_versions(self) -> dict[str, tuple[str, str]]:
        """Return what is installed in another version here: name to (document's, here's)."""
        here = installed_versions()
        return {
            name: (version, here.get(name, "not installed"))
            for name, version in self.versions.items()
            if version != here.get(name, "not installed")
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON-able data, which may be changed freely."""
        document: dict[str, Any] = json.loads(self.to_json())
        return document

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> JobSpec:
        """Return the specification of a document; :meth:`check` looks deeper.

        Raises
        ------
        JobError
            If the document has not the form of a specification.
        """
        content = _known_fields(cls, data, "job's document")
        for name in ("kind", "params"):
            if name not in content:
                raise JobError(f"The job's document has no {name}.")
        resources = content.pop("resources", {})
        return cls(
            **content, resources=Resources(**_known_fields(Resources, resources, "resources"))
        )

    def to_json(self) -> str:
        """Return the document as text: always the same for the same content."""
        content = {**vars(self), "resources": asdict(self.resources)}
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> JobSpec:
        """Return the specification that :meth:`to_json` wrote, or that was written by hand."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise JobError(f"The job's document is no JSON: {error}.") from error
        return cls.from_dict(data)

    def _check_table(self) -> None:
        if self.table is not None and not is_digest(self.table):
            raise JobError(f"A table is named by its digest of 64 characters, not {self.table!r}.")
        if self.kind.needs_table and self.table is None:
            raise JobError(f"A job of the kind {self.kind} needs a table.")
        if not self.kind.needs_table and (self.table or self.schema) is not None:
            raise JobError("A benchmark loads its table by name; leave table and schema out.")


@functools.cache
def _installed_versions() -> tuple[tuple[str, str], ...]:
    # The package's own __init__ lies above this layer, but it always is loaded before.
    pmae = sys.modules[__name__.partition(".")[0]].__version__
    numeric = ("numpy", "pandas", "scikit-learn", "scipy", "torch")
    found = {name: importlib.metadata.version(name) for name in numeric}
    return tuple({"pmae": pmae, "python": platform.python_version(), **found}.items())


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of all that computes, without importing it."""
    return dict(_installed_versions())


def _as_kind(value: str) -> JobKind:
    try:
        return JobKind(value)
    except ValueError:
        raise JobError(
            f"There is no kind of job {value!r}; choose one of: {', '.join(JobKind)}."
        ) from None


def _check_whole(name: str, value: object, least: int, most: int) -> None:
    if not is_whole(value, least, most):
        raise JobError(f"{name} must be a whole number from {least} to {most}, not {value!r}.")


def _known_fields(kind: type, data: object, what: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise JobError(f"The {what} must be an object, not {data!r}.")
    names = [known.name for known in fields(kind)]
    unknown = [str(name) for name in data if name not in names]
    if unknown:
        raise JobError(
            f"The {what} has no place for {', '.join(unknown)}; it has {', '.join(names)}."
        )
    return dict(data)


def _checked_json(value: Mapping[str, Any], where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise JobError(f"{where} must be an object, not {value!r}.")
    return _plain(value, where, 0)


def _plain(value: Any, where: str, depth: int) -> Any:
    """Return a deep copy of what JSON can hold; refuse the rest and say where it stands."""
    if value is None or type(value) in (str, int, bool):
        return value
    if depth > _MAX_DEPTH:
        raise JobError(f"{where[:80]}... is nested more than {_MAX_DEPTH} times.")
    if isinstance(value, Mapping):
        names = [name for name in value if not isinstance(name, str)]
        if names:
            raise JobError(f"Names in {where} must be texts, not {names[0]!r}.")
        return {str(name): _plain(value[name], f"{where}.{name}", depth + 1) for name in value}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int | str):
        return int(value) if isinstance(value, int) else str(value)
    raise JobError(
        f"{where} is {value!r}, which JSON cannot hold; use texts, finite numbers, "
        "true, false, null, lists and objects."
    )
