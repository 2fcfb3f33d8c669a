"""Hand an incomplete table to a process that imputes it, and read what it imputed.

A folder has the table twice. Other packages read `table.csv`, which any pandas can, with numbers
for column names and for categories, and `roles.json` ("numerical" or "categorical"). Our own
methods read `table.parquet` and `schema.json`. The process adds `imputed.csv`, with one imputation
below the other, or `imputed.parquet`, and `cost.json`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from pmae_core.errors import TableError
from pmae_core.table import Schema
from pmae_core.table.schema import Role

PLAIN_ROLES = {
    Role.NUMERICAL: "numerical",
    Role.CATEGORICAL: "categorical",
    Role.BOOLEAN: "categorical",
}


def write_ours(folder: Path, table: pd.DataFrame, schema: Schema) -> None:
    """Write a table for a method of this library."""
    table.to_parquet(folder / "table.parquet")
    (folder / "schema.json").write_text(schema.to_json())


def read_ours(folder: Path) -> pd.DataFrame:
    """Return the table that a method of this library imputed."""
    return pd.read_parquet(folder / "imputed.parquet")


def write_plain(folder: Path, table: pd.DataFrame, schema: Schema) -> list[str]:
    """Write a table for another package; return the columns that are left out.

    These have a single observed value. There is nothing to learn about them, and some packages
    raise an error: gcimpute asks to remove them. `read_plain` imputes that value.

    Raises
    ------
    TableError
        If a column is neither numerical nor categorical.
    """
    roles, columns = {}, {}
    constant = constant_columns(table)
    for position, name in enumerate(table.columns):
        role = schema.role(name)
        if role not in PLAIN_ROLES:
            raise TableError(
                f"Other packages take numbers and categories only, but {name} is {role}."
            )
        if name in constant:
            continue
        plain = f"x{position}"
        roles[plain] = PLAIN_ROLES[role]
        numerical = role is Role.NUMERICAL
        columns[plain] = table[name].astype(float) if numerical else _codes(table[name])
    pd.DataFrame(columns).to_csv(folder / "table.csv", index=False)
    (folder / "roles.json").write_text(json.dumps(roles))
    return constant


def categorical_codes(folder: Path) -> list[str]:
    """Return the columns of `table.csv` with codes of categories."""
    roles = json.loads((folder / "roles.json").read_text())
    return [name for name, role in roles.items() if role == "categorical"]


def read_plain(folder: Path, table: pd.DataFrame, schema: Schema) -> list[pd.DataFrame]:
    """Return what another package imputed, with the names and categories of `table`.

    A code that no category has stays missing, so that scoring raises an error.
    """
    together = pd.read_csv(folder / "imputed.csv")
    return [
        _with_categories(together[start : start + len(table)].set_axis(table.index), table, schema)
        for start in range(0, len(together), len(table))
    ]


def _with_categories(imputed: pd.DataFrame, table: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    columns = {}
    for position, name in enumerate(table.columns):
        if name in constant_columns(table):
            columns[name] = table[name].fillna(table[name].dropna().iloc[0])
            continue
        cells = imputed[f"x{position}"]
        if schema.role(name) is not Role.NUMERICAL:
            cells = cells.map(dict(enumerate(_as_categories(table[name]).cat.categories)))
        columns[name] = cells
    return pd.DataFrame(columns)


def constant_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns with a single observed value."""
    return [name for name in table.columns if table[name].nunique() == 1]


def _codes(column: pd.Series) -> pd.Series:
    codes = _as_categories(column).cat.codes
    return codes.astype(float).where(codes >= 0)


def _as_categories(column: pd.Series) -> pd.Series:
    return column if column.dtype == "category" else column.astype("category")
