"""Whether the open table is still the one that a run used."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum

from dashboard.state import session
from dashboard.state.table_state import OpenTable
from dashboard.text import listing
from pmae_core.jobs import JobRecord
from pmae_core.table import Schema


class TableChange(Enum):
    """How the open table differs from the one that a run used."""

    NONE = "none"
    ROLES = "roles"
    CELLS = "cells"
    OTHER_TABLE = "other table"


def digest_of(table: OpenTable) -> str:
    """Return the digest by which runs know a table's content."""
    return session.workspace().content_digest(table)


def schema_of(record: JobRecord) -> Schema:
    """Return the roles of columns that a run used."""
    return record.spec.read_schema() or Schema(())


def table_change(record: JobRecord, table: OpenTable, *, is_own_table: bool = True) -> TableChange:
    """Say how the open table differs from the one that a run used.

    Parameters
    ----------
    record : JobRecord
        The run.
    table : OpenTable
        The open table.
    is_own_table : bool, default True
        Whether the run used the table as it was open. If missing values were simulated in it
        first, its cells differ anyway, and only roles are compared.
    """
    then, now = schema_of(record), table.schema
    if is_own_table and record.spec.table == digest_of(table):
        return TableChange.ROLES if _changed_columns(then, now) else TableChange.NONE
    sizes = [[(column.name, column.n_rows) for column in schema] for schema in (then, now)]
    if sizes[0] != sizes[1]:
        return TableChange.OTHER_TABLE
    if is_own_table:
        return TableChange.CELLS
    return TableChange.ROLES if _changed_columns(then, now) else TableChange.NONE


def stale_sentence(record: JobRecord, table: OpenTable, *, is_own_table: bool = True) -> str | None:
    """Say how the open table differs from the one that a run used; None if it does not.

    Parameters are those of :func:`table_change`.
    """
    match table_change(record, table, is_own_table=is_own_table):
        case TableChange.NONE:
            return None
        case TableChange.ROLES:
            return (
                f"{_changed_roles_words(schema_of(record), table.schema)} since this run. The "
                "results use the previous settings; run it again to use the current ones."
            )
        case TableChange.CELLS:
            return (
                "Other cells count as missing since this run. The results use the previous table; "
                "run it again to use the current one."
            )
        case TableChange.OTHER_TABLE:
            return "This run used a different table, and its results are about that one."


def _changed_columns(then: Schema, now: Schema) -> list[Hashable]:
    settings = {column.name: (column.role, column.rules) for column in now}
    return [c.name for c in then if settings.get(c.name) != (c.role, c.rules)]


def _changed_roles_words(then: Schema, now: Schema) -> str:
    names = _changed_columns(then, now)
    if any(then.role(name) is not now.role(name) for name in names):
        what, have = ("role", "has") if len(names) == 1 else ("roles", "have")
        return f"The {what} of {listing(names)} {have} changed"
    return f"The limits or expressions of {listing(names)} have changed"
