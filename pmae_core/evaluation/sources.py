"""Where imputed tables come from: a method's name, an imputer, or the tables themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from sklearn.base import clone

from pmae_core.errors import PMAEError, ScoringError
from pmae_core.imputers import BaseImputer, make_imputer
from pmae_core.table import Schema
from pmae_core.words import listed

ImputationSource = str | BaseImputer | pd.DataFrame | Sequence[pd.DataFrame]
ImputationSources = Iterable[str] | Mapping[str, ImputationSource]
MethodParams = Mapping[str, Mapping[str, Any]]

COMPLETE_CASES = "complete cases"
TRUE_DATA = "true data"
NOTHING_MISSING = "nothing missing"


def name_imputations(
    methods: ImputationSources, frame: pd.DataFrame
) -> dict[str, ImputationSource]:
    """Return the sources by name, after checking that their tables match the incomplete one.

    Parameters
    ----------
    methods : iterable of str, or mapping of name to source
        Names of imputers; or a mapping to names, imputers, an imputed table or several of them.
    frame : DataFrame
        The table with its missing values.

    Raises
    ------
    ScoringError
        If a source is none of these, or if an imputed table has different rows or lacks columns.
    """
    if isinstance(methods, str):
        raise ScoringError(
            "methods must be a list of names, or a mapping of names to methods or imputed tables."
        )
    named = dict(methods) if isinstance(methods, Mapping) else {name: name for name in methods}
    for name, source in named.items():
        if isinstance(source, str | BaseImputer):
            continue
        tables = [source] if isinstance(source, pd.DataFrame) else list(source)
        for table in tables:
            _check_imputed(name, table, frame)
    return named


def refuse_reference_names(names: Iterable[str]) -> None:
    """Raise a ScoringError if a method has the name of a reference row."""
    taken = [name for name in (COMPLETE_CASES, TRUE_DATA) if name in names]
    if taken:
        raise ScoringError(
            f"The name {taken[0]!r} is reserved for a reference row. Rename the method."
        )


def new_imputer(
    source: str | BaseImputer, params: Mapping[str, Any], schema: Schema, seed: int
) -> BaseImputer:
    """Return an unfitted imputer with these roles and this seed.

    Parameters
    ----------
    source : str or BaseImputer
        Name of an imputer, or an imputer to copy.
    params : mapping
        Parameters that replace those of the imputer.
    schema : Schema
        Roles of the columns.
    seed : int
        Seed of the imputer.
    """
    given = {"schema": schema, "random_state": seed, **params}
    if isinstance(source, str):
        return make_imputer(source, **given)
    imputer: BaseImputer = clone(source)
    imputer.set_params(**given)
    return imputer


def reason_of(error: Exception) -> str:
    """Return the reason of a failure as a sentence."""
    if isinstance(error, PMAEError):
        return str(error)
    return f"The method failed unexpectedly: {type(error).__name__}: {error}"


def _check_imputed(name: str, table: Any, frame: pd.DataFrame) -> None:
    if not isinstance(table, pd.DataFrame):
        raise ScoringError(
            f"{name} must be a method's name, an imputer or an imputed DataFrame, "
            f"not a {type(table).__name__}."
        )
    if not table.index.equals(frame.index):
        raise ScoringError(
            f"The imputed table {name} does not have the same rows as the incomplete table "
            "(compared by index)."
        )
    absent = [column for column in frame.columns if column not in table.columns]
    if absent:
        raise ScoringError(f"The imputed table {name} lacks the column(s) {listed(absent)}.")
