"""What each kind of job can be asked to do: its parameters and their defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from pmae_core.documents import Document, whole_number
from pmae_core.errors import JobError, SchemaError
from pmae_core.storage.digests import DIGEST_PATTERN

if TYPE_CHECKING:
    from pmae_core.explain import StructuralMissingness

MAX_IMPUTATIONS = 1000
MAX_CONCLUSIONS = 20
MAX_SEED = 2**32 - 1
_MAX_ROWS = 2**53
_JOB_ID = r"[0-9a-f]{32}"


class JobKind(StrEnum):
    """What a job does."""

    TRAIN = "train"
    IMPUTE = "impute"
    COMPARE = "compare"
    BENCHMARK = "benchmark"

    @property
    def needs_table(self) -> bool:
        """Whether the job works on a table of the user; a benchmark loads its own by name."""
        return self is not JobKind.BENCHMARK

    @property
    def compares(self) -> bool:
        """Whether it compares methods, instead of fitting one."""
        return self in (JobKind.COMPARE, JobKind.BENCHMARK)


def is_job_id(value: object) -> bool:
    """Say whether a value has the form of a job's id."""
    return isinstance(value, str) and re.fullmatch(_JOB_ID, value) is not None


def digest_of_table() -> Any:
    """Return the declaration of a table's content digest, for ``Annotated[str, ...]``."""
    return Field(
        pattern=rf"\A{DIGEST_PATTERN}\z",
        description="the digest of a table (64 characters, 0-9 and a-f)",
    )


def _name_of(what: str) -> Any:
    return Field(min_length=1, description=f"the name of a {what}")


def _yes_or_no() -> Any:
    return Field(description="true or false")


_Seconds = Annotated[int | float | None, Field(gt=0, description="a positive number")]
_Object = Annotated[dict[str, Any], Field(default_factory=dict, description="an object")]
_Methods = Annotated[
    list[Annotated[str, Field(min_length=1)]],
    Field(min_length=1, description="a list of names of methods"),
]
_Seeds = Annotated[
    list[Annotated[int, whole_number(0, MAX_SEED)]],
    Field(min_length=1, description=f"a list of whole numbers from 0 to {MAX_SEED}"),
]


class JobParams(Document):
    """Base of the parameters of all kinds of jobs."""

    error_class = JobError
    field_noun = "parameter"


class TrainParams(JobParams):
    """Train a method that keeps a model, and impute the table with it unless told not to."""

    document_name = "A job of the kind train"

    method: Annotated[str, _name_of("method")]
    params: _Object
    impute: Annotated[bool, _yes_or_no()] = True


class _ImputationOptions(JobParams):
    """How many imputations are drawn, and which missing cells stay as they are."""

    document_name = "A job of the kind impute"

    imputations: Annotated[int, whole_number(0, MAX_IMPUTATIONS)] = 0
    left_alone: Annotated[
        list[dict[str, Any]],
        Field(default_factory=list, description="a list of structurally missing cells"),
    ]


class ImputeByMethodParams(_ImputationOptions):
    """Fit a method to the table and impute it."""

    method: Annotated[str, _name_of("method")]
    params: _Object


class ImputeByModelParams(_ImputationOptions):
    """Impute the table with the model of a training job."""

    model: Annotated[str, Field(pattern=rf"\A{_JOB_ID}\z", description="the id of a training job")]


class CompareParams(JobParams):
    """Compare methods on held-out cells of the table.

    ``target`` is a column name as `to_json_value` writes it, and so are the columns of
    ``conclusions``. ``conclusion_imputations`` are drawn for each of them; ``imputations`` are
    scored as a distribution.
    """

    document_name = "A job of the kind compare"

    methods: _Methods
    seeds: _Seeds
    holdout: Annotated[str | None, _name_of("holdout")] = None
    amputation: Annotated[dict[str, Any] | None, Field(description="an object")] = None
    holdout_share: Annotated[int | float, Field(description="a number")] = 0.1
    method_params: _Object
    budget_seconds: _Seconds = None
    method_budget_seconds: _Seconds = None
    target: Any = None
    truth: Annotated[str | None, digest_of_table()] = None
    downstream: Annotated[bool, _yes_or_no()] = False
    imputations: Annotated[int, whole_number(0, MAX_IMPUTATIONS)] = 5
    i_score: Annotated[bool, _yes_or_no()] = False
    conclusions: Annotated[
        list[Annotated[list[Any], Field(min_length=2)]] | None,
        Field(
            min_length=1,
            max_length=MAX_CONCLUSIONS,
            description=f"a list of at most {MAX_CONCLUSIONS} lists such as [mean, column]",
        ),
    ] = None
    conclusion_imputations: Annotated[int, whole_number(2, MAX_IMPUTATIONS)] = 20


class BenchmarkParams(JobParams):
    """Compare methods on a dataset of the library with simulated missing values."""

    document_name = "A job of the kind benchmark"

    dataset: Annotated[str, _name_of("dataset")]
    pattern: Annotated[str, _name_of("pattern")] = "general"
    mechanism: Annotated[str, _name_of("mechanism")] = "MNAR"
    coupling: Annotated[str | None, _name_of("coupling")] = None
    methods: _Methods
    seeds: _Seeds
    max_rows: Annotated[
        int | None, Field(ge=1, le=_MAX_ROWS, description="a positive whole number")
    ] = None
    method_params: _Object
    method_budget_seconds: _Seconds = None


def complete_params(kind: JobKind, params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return parameters with the defaults of those not given.

    Without ``seeds``, a comparison or benchmark takes three, starting at the job's own seed.

    Raises
    ------
    JobError
        If one is unknown, missing, or of the wrong form.

    Examples
    --------
    >>> complete_params(JobKind.TRAIN, {"method": "pmae-mix"}, seed=0)
    {'method': 'pmae-mix', 'params': {}, 'impute': True}
    """
    model = _params_model(kind, params)
    if "seeds" in model.model_fields:
        params = {"seeds": [seed, seed + 1, seed + 2], **params}
    return model.read(params).model_dump()


def _params_model(kind: JobKind, params: Mapping[str, Any]) -> type[JobParams]:
    if kind is JobKind.TRAIN:
        return TrainParams
    if kind is JobKind.COMPARE:
        return CompareParams
    if kind is JobKind.BENCHMARK:
        return BenchmarkParams
    if "model" in params and "method" in params:
        raise JobError("Name either a method or a trained model to impute with, not both.")
    return ImputeByModelParams if "model" in params else ImputeByMethodParams


def left_alone(params: Mapping[str, Any]) -> list[StructuralMissingness]:
    """Return the structurally missing cells that a job does not impute.

    Raises
    ------
    JobError
        If they do not have the form of ``StructuralMissingness.to_dict()``.
    """
    from pmae_core.explain import StructuralMissingness

    try:
        return [StructuralMissingness.from_dict(one) for one in params.get("left_alone", ())]
    except SchemaError as error:
        raise JobError(str(error)) from error
