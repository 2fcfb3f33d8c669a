"""The tables of a workspace: opened, changed step by step, undone, switched between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.state.documents import Documents
from dashboard.state.recent import Recent
from dashboard.state.table_state import OpenTable, TableState
from pmae_core.errors import PMAEError, SchemaError, StorageError, TableError
from pmae_core.storage.json_values import to_json_value
from pmae_core.storage.tables import StorableTable, TableStore
from pmae_core.table import Role, Schema, declare_missing

MAX_UNDO = 20
MAX_TABLES = 3  # so many tables stay on disk for undo, whatever their size
MOST_RECENT = 5  # so many can be opened again from the header

_raw_tables: Recent[pd.DataFrame] = Recent(2)
_schemas: Recent[Schema] = Recent(16)
_content_digests: Recent[str] = Recent(64)


class WorkspaceError(PMAEError):
    """Something cannot be kept in a workspace as asked."""


class TableHistory:
    """The open table of a folder, the steps that led to it, and the tables opened before.

    Parameters
    ----------
    folder
        Where all of it is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._state = Documents(folder / "state")

    def save_table(
        self,
        frame: pd.DataFrame,
        *,
        name: str,
        source: str,
        roles: Mapping[str, Role | str] | None = None,
        decimal: str = ".",
        thousands: str | None = None,
    ) -> TableState:
        """Open a table: it is written to disk and takes the place of the one before.

        Parameters
        ----------
        frame
            The table as it was read; the index is not kept.
        name, source
            What to call it, and where it comes from in words.
        roles
            Roles that are known already, where they differ from what would be inferred.
        decimal, thousands
            How numbers in its text columns are written.
        """
        frame = frame.rename(columns=str).reset_index(drop=True)
        if frame.empty:
            raise TableError(
                f"The table has {frame.shape[0]:,} rows and {frame.shape[1]:,} columns. "
                "Open one that has at least one of each."
            )
        schema = Schema.infer(frame)  # refuses repeated names
        _check_roles(frame, roles or {}, rules={})
        storable = StorableTable.from_frame(frame)
        state = TableState(
            name=name,
            source=source,
            raw=storable.digest,
            decimal=decimal,
            thousands=thousands,
            roles={column: Role(role).value for column, role in (roles or {}).items()},
            what=f"open {name}",
        )
        with self._changing_steps() as steps:
            self._put_table(storable)
            steps.append(state)
        _raw_tables.put((self.folder, state.raw), frame)
        _schemas.put((self.folder, state.cells_digest), schema)
        return state

    def table_state(self) -> TableState | None:
        """Return which table is open; None in a new workspace."""
        steps = self._steps()
        return steps[-1] if steps else None

    def table(self) -> OpenTable | None:
        """Load the open table; None in a new workspace."""
        state = self.table_state()
        return None if state is None else self.load(state)

    def load(self, state: TableState) -> OpenTable:
        """Load a table in a given state."""
        frame = self._derived(state)
        # It takes seconds on a million rows, and roles change more often than cells.
        schema = _schemas.get((self.folder, state.cells_digest), lambda: Schema.infer(frame))
        return OpenTable(
            name=state.name,
            digest=state.digest,
            frame=frame,
            schema=schema.with_roles(state.roles).with_rules(state.rules).with_levels(frame),
            sentinels=state.declared(),
            source=state.source,
            state=state,
        )

    def content_digest(self, table: OpenTable) -> str:
        """Return the digest by which storage and jobs know the cells of an open table.

        The cells of a table in which values were declared missing are stored on the way, so that
        they are encoded once.
        """
        if table.state is None:
            return self._put_content(table.frame)
        if not table.state.sentinels:
            return table.state.raw
        key = self.folder, table.state.cells_digest
        return _content_digests.get(key, lambda: self._put_content(table.frame))

    def store_content(self, table: OpenTable) -> str:
        """Make sure that the cells of an open table are in :attr:`tables`; return their digest."""
        digest = self.content_digest(table)
        if not self.tables.exists(digest):  # removed with an older step
            self._put_content(table.frame)
        return digest

    def restore_content(self, table: OpenTable) -> str:
        """Write the cells of an open table again if their file is damaged; return their digest."""
        return self._put_content(table.frame)

    def _put_content(self, frame: pd.DataFrame) -> str:
        storable = StorableTable.from_frame(frame)
        with self._state.changing("table"):  # or another tab could remove the unfinished file
            return self._put_table(storable)

    def set_roles(self, roles: Mapping[str, Role | str]) -> TableState:
        """Give some columns a role; a SchemaError says why one does not fit."""
        with self._changing_steps() as steps:
            state = _last(steps)
            frame = self._derived(state)
            _check_roles(frame, roles, state.rules)
            chosen = {name: Role(role).value for name, role in roles.items()}
            words = ", ".join(f"{name} → {role}" for name, role in chosen.items())
            state = replace(state, roles={**state.roles, **chosen}, what=words)
            self._check_rules(state, frame)
            steps.append(state)
        return steps[-1]

    def set_rules(self, rules: Mapping[str, Mapping[str, Any]]) -> TableState:
        """Declare limits, whole numbers, expressions and levels of some columns.

        The former rules of these columns are gone. A SchemaError says why one does not fit.
        """
        with self._changing_steps() as steps:
            state = _last(steps)
            declared = {name: one for name, one in {**state.rules, **rules}.items() if one}
            words = ", ".join(rules)
            state = replace(state, rules=declared, what=f"change the rules of {words}")
            self._check_rules(state, self._derived(state))
            steps.append(state)
        return steps[-1]

    def set_levels(self, column: str, levels: Sequence[Any]) -> TableState:
        """Make a column ordinal, with these levels from the lowest to the highest.

        A SchemaError says why they do not fit.
        """
        with self._changing_steps() as steps:
            state = _last(steps)
            frame = self._derived(state)
            rules = {**state.rules, column: {**state.rules.get(column, {}), "levels": list(levels)}}
            roles = {**state.roles, column: Role.ORDINAL.value}
            state = replace(state, rules=rules, roles=roles, what=f"{column} → ordinal")
            self._check_rules(state, frame)
            steps.append(state)
        return steps[-1]

    def _check_rules(self, state: TableState, frame: pd.DataFrame) -> None:
        """Raise a SchemaError if the rules of a state do not fit its table."""
        self.load(state).schema.check_rules(frame)

    def set_sentinels(
        self, sentinels: Mapping[str, Sequence[Any]], *, what: str = "change what counts as missing"
    ) -> TableState:
        """Declare which values stand for missing ones, by column; all others count again.

        Roles and rules that do not fit the new cells are undone.
        """
        as_json = {
            name: [to_json_value(value) for value in values]
            for name, values in sentinels.items()
            if len(values)
        }
        with self._changing_steps() as steps:
            state = replace(_last(steps), sentinels=as_json, what=what)
            frame = self._derived(state)
            roles = {
                name: role
                for name, role in state.roles.items()
                if _fits(frame, name, role, state.rules)
            }
            state = replace(state, roles=roles)
            steps.append(replace(state, rules=self._fitting_rules(state, frame)))
        return steps[-1]

    def _fitting_rules(self, state: TableState, frame: pd.DataFrame) -> dict[str, Any]:
        """Return those of the rules of a state that fit its table."""
        rules = dict(state.rules)
        for name in state.rules:
            own_role = {column: role for column, role in state.roles.items() if column == name}
            alone = replace(state, rules={name: state.rules[name]}, roles=own_role)
            try:
                self._check_rules(alone, frame)
            except SchemaError:
                del rules[name]
        return rules

    def recent_tables(self) -> list[TableState]:
        """Return the tables opened last, each as it was left; the open one comes first."""
        return [TableState(**state) for state in self._state.read("table").get("recent", [])]

    def switch_to(self, raw: str) -> TableState:
        """Open one of the recent tables again, as it was left.

        Parameters
        ----------
        raw
            Digest of the table as it was read.
        """
        with self._changing_steps() as steps:
            found = [state for state in self.recent_tables() if state.raw == raw]
            if not found:
                raise WorkspaceError("This table no longer exists. Open it again on the Data page.")
            steps.append(replace(found[0], what=f"open {found[0].name}"))
        return steps[-1]

    def undo(self) -> str | None:
        """Take the last step back and return it in words; None if there is none."""
        with self._changing_steps() as steps:
            return steps.pop().what if len(steps) > 1 else None

    def undoable(self) -> str | None:
        """Return the step that `undo` would undo, in words."""
        steps = self._steps()
        return steps[-1].what if len(steps) > 1 else None

    @property
    def tables(self) -> TableStore:
        """Tables of this user alone; jobs have a store of their own."""
        return TableStore(self.folder / "tables")

    def _put_table(self, table: pd.DataFrame | StorableTable) -> str:
        self.tables.folder.mkdir(mode=0o700, exist_ok=True)
        try:
            return self.tables.put(table)
        except StorageError as error:
            if isinstance(error.__cause__, OSError):
                raise error.__cause__ from None  # its sentence is one about files of the server
            raise

    def raw_table(self, state: TableState) -> pd.DataFrame:
        """Return a table as it was read, nothing declared."""
        frame = _raw_tables.get((self.folder, state.raw), lambda: self._read_table(state.raw))
        # Shallow: who writes into the copy leaves the original as it is.
        return frame.copy(deep=False)

    def _read_table(self, digest: str) -> pd.DataFrame:
        try:
            return self.tables.get(digest)
        except StorageError:
            raise TableError(
                "The open table can no longer be read from disk. Open it again on the Data page."
            ) from None

    def _derived(self, state: TableState) -> pd.DataFrame:
        raw = self.raw_table(state)
        if not state.sentinels:
            return raw
        return declare_missing(
            raw, state.declared(), decimal=state.decimal, thousands=state.thousands
        )

    def _steps(self) -> list[TableState]:
        return _steps_of(self._state.read("table"))

    @contextmanager
    def _changing_steps(self) -> Iterator[list[TableState]]:
        """Give the steps up to now, to append to or to pop from; then forget what is too old."""
        with self._state.changing("table") as document:
            steps = _steps_of(document)
            before = {step.raw for step in steps}
            yield steps
            recent = steps[-(MAX_UNDO + 1) :]
            tables = list(dict.fromkeys(step.raw for step in reversed(recent)))[:MAX_TABLES]
            document["steps"] = [asdict(step) for step in recent if step.raw in tables]
            document["recent"] = _with_latest(document.get("recent", []), steps[-1:])
            kept = before.union(tables, (state["raw"] for state in document["recent"]))
            # Those of the steps before go with the next change: this one is not written yet.
            self._remove_tables_except(kept.union(self._stored_content(steps)))

    def _stored_content(self, steps: Sequence[TableState]) -> set[str]:
        """Return the digest of the newest step's cells, if they are stored apart."""
        digests = (_content_digests.known((self.folder, step.cells_digest)) for step in steps[-1:])
        return set(filter(None, digests))

    def _remove_tables_except(self, digests: set[str]) -> None:
        kept = {self.tables.path(digest).name for digest in digests}
        for file in self.tables.folder.glob("*"):
            if file.name not in kept:
                file.unlink(missing_ok=True)


def forget_recent() -> None:
    """Forget the tables in memory, as a restart does: all are read from disk again."""
    _raw_tables.clear()
    _schemas.clear()
    _content_digests.clear()


def _steps_of(document: Mapping[str, Any]) -> list[TableState]:
    return [TableState(**step) for step in document.get("steps", [])]


def _with_latest(
    recent: Sequence[Mapping[str, Any]], latest: Sequence[TableState]
) -> list[dict[str, Any]]:
    """Return the recent tables, each once, with the latest one first."""
    raws = {state.raw for state in latest}
    others = [dict(state) for state in recent if state["raw"] not in raws]
    return [*map(asdict, latest), *others][:MOST_RECENT]


def _last(steps: Sequence[TableState]) -> TableState:
    if not steps:
        raise WorkspaceError("No table is open. Open one on the Data page.")
    return steps[-1]


def _check_roles(
    frame: pd.DataFrame,
    roles: Mapping[str, Role | str],
    rules: Mapping[str, Mapping[str, Any]],
) -> None:
    """Raise a SchemaError if a role does not fit its column, or there is no such column.

    Of the rules, only declared levels decide about a role.
    """
    levels = {
        name: {"levels": rules[name]["levels"]} for name in roles if "levels" in rules.get(name, {})
    }
    Schema.infer(frame[[name for name in roles if name in frame.columns]], roles, levels)


def _fits(
    frame: pd.DataFrame, name: str, role: str, rules: Mapping[str, Mapping[str, Any]]
) -> bool:
    try:
        _check_roles(frame, {name: role}, rules)
    except SchemaError:
        return False
    return True
