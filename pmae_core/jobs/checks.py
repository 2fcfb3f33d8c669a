"""Checks of what a job names: methods, datasets and options must exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pmae_core.errors import ImputationError, JobError, PMAEError
from pmae_core.jobs.params import JobKind, left_alone
from pmae_core.words import listed


def check_names(kind: JobKind, params: Mapping[str, Any]) -> None:
    """Refuse methods, parameters of methods, datasets and options that do not exist.

    Parameters
    ----------
    kind : JobKind
        What the job does.
    params : mapping
        As :func:`~pmae_core.jobs.params.complete_params` returns them.

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
        known = ", ".join(str(choice) for choice in choices if choice is not None)
        raise JobError(f"There is no {name} {value!r}; choose one of: {known}.")
