"""What each kind of job can be asked to do: its parameters, their defaults and checks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import Field

from pmae_core.documents import Document, whole_number
from pmae_core.errors import ImputationError, JobError, PMAEError, SchemaError
from pmae_core.words import listed

if TYPE_CHECKING:
    from pmae_core.explain import StructuralMissingness

MAX_IMPUTATIONS = 1000
MAX_CONCLUSIONS = 20
MAX_SEED = 2**32 - 1
_MAX_ROWS = 2**53
_DIGEST = r"[0-9a-f]{64}"
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


def is_digest(value: object) -> bool:
    """Say whether a value has the form of a table's content digest."""
    return isinstance(value, str) and re.fullmatch(_DIGEST, value) is not None


def is_job_id(value: object) -> bool:
    """Say whether a value has the form of a job's id."""
    return isinstance(value, str) and re.fullmatch(_JOB_ID, value) is not None


def digest_of_table() -> Any:
    """Return the declaration of a table's content digest, for ``Annotated[str, ...]``."""
    return Field(
        pattern=rf"\A{_DIGEST}\z", description="the digest of a table (64 characters, 0-9 and a-f)"
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
    ``conclusions``. ``conclusion_imputations`` are drawn for each of them.
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


def check_names(kind: JobKind, params: Mapping[str, Any]) -> None:
    """Refuse methods, parameters of methods, datasets and options that do not exist.

    Parameters
    ----------
    kind : JobKind
        What the job does.
    params : mapping
        As :func:`complete_params` returns them.

    Raises
    ------
    JobError
        Naming the choices there are.
    """
    for method, method_params in _methods(params).items():
        _check_method(kind, method, method_params)
    if kind is JobKind.IMPUTE and "method" in params and params["imputations"]:
        _check_imputations(params["method"])
    if kind is JobKind.IMPUTE:
        left_alone(params)
    if kind is JobKind.COMPARE:
        from pmae_core.evaluation.holdout import HoldoutKind

        _check_choice("holdout", params["holdout"], (None, *get_args(HoldoutKind)))
        _check_consequences(params)
    if kind is JobKind.BENCHMARK:
        from pmae_core.amputation.patterns import COUPLINGS, MECHANISMS, PATTERNS
        from pmae_core.table import list_datasets

        _check_choice("dataset", params["dataset"], [info.name for info in list_datasets()])
        _check_choice("pattern", params["pattern"], PATTERNS)
        _check_choice("mechanism", params["mechanism"], MECHANISMS)
        _check_choice("coupling", params["coupling"], (None, *COUPLINGS))


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


def _methods(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the methods of a job with their parameters."""
    if "methods" not in params:
        return {params["method"]: params["params"]} if "method" in params else {}
    unused = sorted(set(params["method_params"]) - set(params["methods"]))
    if unused:
        raise JobError(
            f"method_params has parameters for {listed(unused)}, which "
            f"{'is' if len(unused) == 1 else 'are'} not compared. Add the method or leave its "
            "parameters out."
        )
    return {name: params["method_params"].get(name, {}) for name in params["methods"]}


def _check_method(kind: JobKind, method: str, params: Any) -> None:
    from pmae_core.imputers import make_imputer

    if not isinstance(params, dict):
        raise JobError(f"The parameters of {method} must be an object, not {params!r}.")
    reserved = sorted({"schema", "random_state"} & set(params))
    if reserved:
        raise JobError(
            f"Leave {listed(reserved)} out of the parameters of {method}: "
            "the job has its own schema and seed."
        )
    try:
        imputer = make_imputer(method, **params)
    except ImputationError as error:
        raise JobError(str(error)) from error
    if kind is JobKind.TRAIN and not hasattr(imputer, "save"):
        raise JobError(f"{method} has no model to keep; use a job of the kind impute instead.")


def _check_imputations(method: str) -> None:
    from pmae_core.imputers import list_imputers

    able = [info.name for info in list_imputers() if info.draws_samples]
    if method not in able:
        raise JobError(
            f"{method} gives one imputation only. For several, use one of: {', '.join(able)}."
        )


def _check_consequences(params: Mapping[str, Any]) -> None:
    from pmae_core.inference.stability import Estimand
    from pmae_core.storage.json_values import from_json_value

    if params["downstream"] and params["target"] is None:
        raise JobError("A downstream task needs a target to predict.")
    for kind, *columns in params["conclusions"] or ():
        try:
            Estimand.read((kind, *map(from_json_value, columns)))
        except PMAEError as error:
            raise JobError(str(error)) from error


def _check_choice(name: str, value: Any, choices: Any) -> None:
    if value not in choices:
        known = ", ".join(str(choice) for choice in choices if choice is not None)
        raise JobError(f"There is no {name} {value!r}; choose one of: {known}.")
