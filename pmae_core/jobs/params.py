"""What each kind of job can be asked to do: its parameters, their defaults and checks."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, get_args

from pmae_core.errors import ImputationError, JobError, PMAEError, SchemaError

if TYPE_CHECKING:
    from pmae_core.explain import StructuralMissingness

MAX_DRAWS = 1000
MAX_CONCLUSIONS = 20
MAX_SEED = 2**32 - 1
_REQUIRED = ...
_DIGEST = re.compile(r"[0-9a-f]{64}")
_JOB_ID = re.compile(r"[0-9a-f]{32}")


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
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def is_job_id(value: object) -> bool:
    """Say whether a value has the form of a job's id."""
    return isinstance(value, str) and _JOB_ID.fullmatch(value) is not None


def is_whole(value: object, least: int, most: int) -> bool:
    """Say whether a value is a whole number within bounds; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


@dataclass(frozen=True)
class _Parameter:
    """One parameter: a check, the same in words, and what it is when not given."""

    fits: Callable[[Any], bool]
    wanted: str
    default: Any = _REQUIRED


def _optional(parameter: _Parameter) -> _Parameter:
    return _Parameter(
        lambda value: value is None or parameter.fits(value), f"{parameter.wanted} or null", None
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list_of(value: object, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(map(fits, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_conclusion(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and _is_text(value[0])


_TEXT = _Parameter(_is_text, "a text")
_OBJECT = _Parameter(lambda value: isinstance(value, dict), "an object", {})
_SECONDS = _optional(_Parameter(lambda value: _is_number(value) and value > 0, "a positive number"))
_METHODS = _Parameter(lambda value: _is_list_of(value, _is_text), "a list of names of methods")
_SEEDS = _Parameter(
    lambda value: _is_list_of(value, lambda seed: is_whole(seed, 0, MAX_SEED)),
    f"a list of whole numbers from 0 to {MAX_SEED}",
)
_DRAWS = _Parameter(
    lambda value: is_whole(value, 0, MAX_DRAWS), f"a whole number from 0 to {MAX_DRAWS}", 0
)

_TRAIN = {
    "method": _TEXT,
    "params": _OBJECT,
    "fill": _Parameter(lambda value: isinstance(value, bool), "true or false", True),
}
_FILLING = {
    "draws": _DRAWS,
    "leave_alone": _Parameter(
        lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value),
        "a list of structural holes",
        [],
    ),
}
_IMPUTE_BY_METHOD = {"method": _TEXT, "params": _OBJECT, **_FILLING}
_IMPUTE_BY_MODEL = {"model": _Parameter(is_job_id, "the id of a training job"), **_FILLING}
_COMPARE = {
    "methods": _METHODS,
    "seeds": _SEEDS,
    "holdout": _optional(_TEXT),
    "amputation": _optional(_OBJECT),
    "holdout_share": _Parameter(_is_number, "a number", 0.1),
    "method_params": _OBJECT,
    "budget_seconds": _SECONDS,
    "method_budget_seconds": _SECONDS,
    "target": _Parameter(lambda value: True, "a column name", None),
    "truth": _optional(_Parameter(is_digest, "the digest of a table")),
    "downstream": _Parameter(lambda value: isinstance(value, bool), "true or false", False),
    "conclusions": _optional(
        _Parameter(
            lambda value: _is_list_of(value, _is_conclusion) and len(value) <= MAX_CONCLUSIONS,
            f"a list of at most {MAX_CONCLUSIONS} lists such as [mean, column]",
        )
    ),
    "conclusion_draws": _Parameter(
        lambda value: is_whole(value, 2, MAX_DRAWS), f"a whole number from 2 to {MAX_DRAWS}", 20
    ),
}
_BENCHMARK = {
    "dataset": _TEXT,
    "pattern": _Parameter(_is_text, "a text", "general"),
    "mechanism": _Parameter(_is_text, "a text", "MNAR"),
    "coupling": _optional(_TEXT),
    "methods": _METHODS,
    "seeds": _SEEDS,
    "max_rows": _optional(
        _Parameter(lambda value: is_whole(value, 1, 2**53), "a positive whole number")
    ),
    "method_params": _OBJECT,
    "method_budget_seconds": _SECONDS,
}


def complete_params(kind: JobKind, params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return parameters with the defaults of those not given.

    Without ``seeds``, a comparison or benchmark takes three from the job's own seed on.

    Raises
    ------
    JobError
        If one is unknown, lacking, or of the wrong form.

    Examples
    --------
    >>> complete_params(JobKind.TRAIN, {"method": "pmae-mix"}, seed=0)
    {'method': 'pmae-mix', 'params': {}, 'fill': True}
    """
    known = _known_params(kind, params)
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise JobError(
            f"A job of the kind {kind} has no parameter {', '.join(unknown)}; "
            f"it has {', '.join(known)}."
        )
    defaults = {name: copy.copy(parameter.default) for name, parameter in known.items()}
    if "seeds" in known:
        defaults["seeds"] = [seed, seed + 1, seed + 2]
    completed = {name: params.get(name, default) for name, default in defaults.items()}
    for name, value in completed.items():
        if value is _REQUIRED:
            raise JobError(f"A job of the kind {kind} needs the parameter {name}.")
        if not known[name].fits(value):
            raise JobError(f"The parameter {name} must be {known[name].wanted}, not {value!r}.")
    return completed


def _known_params(kind: JobKind, params: Mapping[str, Any]) -> dict[str, _Parameter]:
    if kind is JobKind.IMPUTE:
        if "model" in params and "method" in params:
            raise JobError("Name either a method or a trained model to impute with, not both.")
        return _IMPUTE_BY_MODEL if "model" in params else _IMPUTE_BY_METHOD
    return {JobKind.TRAIN: _TRAIN, JobKind.COMPARE: _COMPARE, JobKind.BENCHMARK: _BENCHMARK}[kind]


def check_names(kind: JobKind, params: Mapping[str, Any]) -> None:
    """Refuse methods, parameters of methods, datasets and words that do not exist.

    Parameters
    ----------
    kind : JobKind
        What the job does.
    params : mapping
        As :func:`complete_params` returns them.

    Raises
    ------
    JobError
        Saying what there is instead.
    """
    for method, method_params in _methods(params).items():
        _check_method(kind, method, method_params)
    if kind is JobKind.IMPUTE and "method" in params and params["draws"]:
        _check_draws(params["method"])
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
    """Return the holes that a job leaves empty.

    Raises
    ------
    JobError
        If they are written in another form than ``StructuralMissingness.to_dict()``.
    """
    from pmae_core.explain import StructuralMissingness

    try:
        return [StructuralMissingness.from_dict(hole) for hole in params.get("leave_alone", ())]
    except SchemaError as error:
        raise JobError(str(error)) from error


def _methods(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the methods of a job with their parameters."""
    if "methods" not in params:
        return {params["method"]: params["params"]} if "method" in params else {}
    strangers = sorted(set(params["method_params"]) - set(params["methods"]))
    if strangers:
        raise JobError(f"There are parameters for {', '.join(strangers)}, which is not compared.")
    return {name: params["method_params"].get(name, {}) for name in params["methods"]}


def _check_method(kind: JobKind, method: str, params: Any) -> None:
    from pmae_core.imputers import make_imputer

    if not isinstance(params, dict):
        raise JobError(f"The parameters of {method} must be an object, not {params!r}.")
    reserved = sorted({"schema", "random_state"} & set(params))
    if reserved:
        raise JobError(
            f"Leave {' and '.join(reserved)} out of the parameters of {method}: "
            "the job has a schema and a seed of its own."
        )
    try:
        imputer = make_imputer(method, **params)
    except ImputationError as error:
        raise JobError(str(error)) from error
    if kind is JobKind.TRAIN and not hasattr(imputer, "save"):
        raise JobError(
            f"{method} has no model that could be kept for later; use a job of the kind impute."
        )


def _check_draws(method: str) -> None:
    from pmae_core.imputers import list_imputers

    able = [info.name for info in list_imputers() if info.draws_samples]
    if method not in able:
        raise JobError(
            f"{method} has one filling only; several draws come from: {', '.join(able)}."
        )


def _check_consequences(params: Mapping[str, Any]) -> None:
    from pmae_core.inference.estimands import Estimand
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
        listed = ", ".join(str(choice) for choice in choices if choice is not None)
        raise JobError(f"There is no {name} {value!r}; choose one of: {listed}.")
