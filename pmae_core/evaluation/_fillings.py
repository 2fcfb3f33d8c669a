"""Ways to fill a table, given by a method's name, an imputer, or the filled table itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from sklearn.base import clone

from pmae_core.errors import PMAEError, ScoringError
from pmae_core.imputers import BaseImputer, make_imputer
from pmae_core.table import Schema

Filling = str | BaseImputer | pd.DataFrame | Sequence[pd.DataFrame]
Fillings = Iterable[str] | Mapping[str, Filling]
MethodParams = Mapping[str, Mapping[str, Any]]


def name_imputations(methods: Fillings, frame: pd.DataFrame) -> dict[str, Filling]:
    """Return the fillings by the name they go by, after checking that they fit the table."""
    if isinstance(methods, str):
        raise ScoringError("methods must be a list of names, or a mapping of names to fillings.")
    named = dict(methods) if isinstance(methods, Mapping) else {name: name for name in methods}
    for name, filling in named.items():
        if isinstance(filling, str | BaseImputer):
            continue
        tables = [filling] if isinstance(filling, pd.DataFrame) else list(filling)
        for table in tables:
            _check_filled(name, table, frame)
    return named


def new_imputer(
    filling: str | BaseImputer, params: Mapping[str, Any], schema: Schema, seed: int
) -> BaseImputer:
    """Return a new imputer with these roles and this seed."""
    given = {"schema": schema, "random_state": seed, **params}
    if isinstance(filling, str):
        return make_imputer(filling, **given)
    imputer: BaseImputer = clone(filling)
    imputer.set_params(**given)
    return imputer


def reason_of(error: Exception) -> str:
    """Return a failure as a sentence."""
    if isinstance(error, PMAEError):
        return str(error)
    return f"The method broke: {type(error).__name__}: {error}"


def _check_filled(name: str, table: Any, frame: pd.DataFrame) -> None:
    if not isinstance(table, pd.DataFrame):
        raise ScoringError(
            f"{name} must be a method's name, an imputer or a filled DataFrame, "
            f"not a {type(table).__name__}."
        )
    if not table.index.equals(frame.index):
        raise ScoringError(f"The filled table {name} has other rows than the table with holes.")
    absent = [str(column) for column in frame.columns if column not in table.columns]
    if absent:
        raise ScoringError(f"The filled table {name} lacks the column(s) {', '.join(absent)}.")
