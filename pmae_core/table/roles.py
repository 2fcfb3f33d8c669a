"""What the columns of a table are for, and how that is seen from their cells."""

from __future__ import annotations

import enum
import re
from collections.abc import Hashable

import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.time_cells import TimeCells
from pmae_core.words import listed

_IDENTIFIER_MIN_OBSERVED = 20
_IDENTIFIER_MIN_DISTINCT = 0.95
_IDENTIFIER_NAME = re.compile(
    r"(id|ids|uuid|guid|key|index|idx|row|row[ _-]?(num|number|nr|no|id)|nr|unnamed: \d+"
    r"|.*[ _-](id|uuid|guid|key)|(id|uuid)[ _-].*)",
    re.IGNORECASE,
)
_CAMEL_CASE_IDENTIFIER = re.compile(r".*[a-z](Id|ID|Key|Uuid|UUID)")


class Role(enum.StrEnum):
    """What a column is for."""

    NUMERICAL = "numerical"
    CATEGORICAL = "categorical"
    BOOLEAN = "boolean"
    DATETIME = "datetime"
    IDENTIFIER = "identifier"
    IGNORED = "ignored"


_ROLE_OF_KIND = {
    CellKind.NUMBER: Role.NUMERICAL,
    CellKind.DURATION: Role.NUMERICAL,
    CellKind.BOOLEAN: Role.BOOLEAN,
    CellKind.DATETIME: Role.DATETIME,
    CellKind.LABEL: Role.CATEGORICAL,
    CellKind.OTHER: Role.IGNORED,
}


def infer_role(series: pd.Series, kind: CellKind, n_observed: int, n_unique: int) -> Role:
    """Return what a column is for, from its cells and its name.

    Parameters
    ----------
    series
        The column.
    kind
        What its cells are.
    n_observed, n_unique
        Number of observed cells, and of different values among them.
    """
    if _looks_like_identifier(series, kind, n_observed, n_unique):
        return Role.IDENTIFIER
    return _ROLE_OF_KIND[kind]


def as_role(role: Role | str) -> Role:
    """Return a role by its name, or raise a SchemaError that lists them."""
    try:
        return Role(role)
    except ValueError:
        raise SchemaError(
            f"There is no role {role!r}.", advice=f"Choose {listed(Role, len(Role), 'or')}."
        ) from None


def check_role(series: pd.Series, role: Role) -> None:
    """Raise a SchemaError if a column cannot have a role."""
    kind = cell_kind(series)
    if role is Role.NUMERICAL and kind is not CellKind.DURATION:
        NumberCells.fit(series)
    elif role is Role.DATETIME:
        if kind is CellKind.DURATION:
            raise SchemaError(
                f"Column {series.name!r} holds durations, not dates.",
                advice="Give it the role numerical.",
            )
        TimeCells.fit(series)
    elif role in (Role.CATEGORICAL, Role.BOOLEAN) and kind is CellKind.OTHER:
        raise SchemaError(
            f"Column {series.name!r} ({series.dtype}) holds values that cannot be categories.",
            advice="Turn them into text or numbers, or give the column the role ignored.",
        )
    elif role is Role.BOOLEAN and series.nunique() > 2:
        raise SchemaError(
            f"Column {series.name!r} has {series.nunique()} different values, "
            "but a boolean column has two.",
            advice="Give it the role categorical or numerical.",
        )


def _looks_like_identifier(
    series: pd.Series, kind: CellKind, n_observed: int, n_unique: int
) -> bool:
    """Say whether the cells only name their rows.

    A column of dtype category never is an identifier: somebody declared it.
    """
    is_text = kind is CellKind.LABEL and not isinstance(series.dtype, pd.CategoricalDtype)
    if is_text:
        return (
            n_observed >= _IDENTIFIER_MIN_OBSERVED
            and n_unique >= _IDENTIFIER_MIN_DISTINCT * n_observed
        )
    if series.dtype.kind not in "iu" or n_unique < max(2, n_observed):
        return False
    if _is_identifier_name(series.name):
        return True
    smallest, largest = int(series.min()), int(series.max())
    return n_observed >= _IDENTIFIER_MIN_OBSERVED and largest - smallest == n_observed - 1


def _is_identifier_name(name: Hashable) -> bool:
    text = str(name).strip()
    return bool(_IDENTIFIER_NAME.fullmatch(text) or _CAMEL_CASE_IDENTIFIER.fullmatch(text))
