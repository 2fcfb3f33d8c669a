"""Which columns of a table lose cells, and which ones the loss depends on."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pmae_core.amputation.patterns import Name
from pmae_core.errors import AmputationError
from pmae_core.table.roles import Role
from pmae_core.table.schema import Schema
from pmae_core.words import listed


def modeled_columns(df: pd.DataFrame, schema: Schema, named: Sequence[Name]) -> list[Name]:
    """Return the columns with content: those a method imputes, and those the user names."""
    imputable = set(schema.imputable(df))
    modeled: list[Name] = [name for name in df.columns if name in named or name in imputable]
    if not modeled:
        raise AmputationError(
            "The table has no column to remove cells from: all are empty, identifiers or ignored."
        )
    return modeled


def checked_columns(df: pd.DataFrame, columns: Sequence[Name]) -> list[Name]:
    """Return the columns that the user names, or raise if they cannot lose cells."""
    wanted: list[Name] = [columns] if isinstance(columns, str) else list(dict.fromkeys(columns))
    if not wanted:
        raise AmputationError(
            "No column is named.", code="no-columns", advice="Name at least one in `columns`."
        )
    unknown = [str(name) for name in wanted if name not in df.columns]
    if unknown:
        raise AmputationError(
            f"The table has no column {listed(unknown, last='or')}.",
            advice=f"Its columns are {listed(df.columns, most=20)}.",
        )
    empty = [str(name) for name in wanted if df[name].isna().all()]
    if empty:
        be = "is" if len(empty) == 1 else "are"
        raise AmputationError(
            f"There is no cell to remove: {listed(empty)} {be} empty.", advice="Name other columns."
        )
    return wanted


def columns_in_score(
    modeled: Sequence[Name], chosen: Sequence[Name], pattern: str, mechanism: str
) -> list[Name]:
    """Return the columns that the score of a row depends on."""
    if mechanism == "MAR":
        observed = [name for name in modeled if name not in chosen]
        if not observed:
            raise AmputationError(
                "MAR needs at least one column that stays observed for the others to depend on.",
                code="mar-needs-observed",
                advice="Name fewer columns, lower column_share, or use MCAR or MNAR.",
            )
        return observed
    if pattern == "monotone":
        return list(chosen)
    return list(modeled)


def is_number(schema: Schema, name: Name) -> bool:
    """Say whether the score of rows takes a column as numbers, not as categories."""
    return schema.role(name) in (Role.NUMERICAL, Role.DATETIME)


def numbers_first(names: Sequence[Name], schema: Schema) -> list[Name]:
    """Return numerical columns before categorical ones, as the released tables have them."""
    return sorted(names, key=lambda name: not is_number(schema, name))
