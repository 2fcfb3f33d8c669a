"""What one user of the dashboard has on disk: a table with its history, settings, scenarios.

A workspace is a folder whose name is an unguessable token; who knows the token may enter. It
knows nothing of Streamlit.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.state.documents import Documents
from dashboard.state.recent import Recent
from pmae_core.errors import PMAEError, SchemaError, StorageError, TableError
from pmae_core.storage.home import pmae_home
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.storage.tables import StorableTable, TableStore
from pmae_core.table import Role, Schema, declare_missing

DEFAULT_DAYS = 30.0
MAX_UNDO = 20
MAX_TABLES = 3  # so many tables stay on disk for undo, whatever their size
MAX_SCENARIOS = 100
MAX_NAME = 80

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
_TOUCH_SECONDS = 600.0
_LAST_USED = "last_used"
_UPLOAD = "upload"


_raw_tables: Recent[pd.DataFrame] = Recent(2)
_schemas: Recent[Schema] = Recent(16)
_content_digests: Recent[str] = Recent(64)


class WorkspaceError(PMAEError):
    """Something cannot be kept in a workspace as asked."""


@dataclass(frozen=True)
class TableState:
    """Which table is open and what was declared about it; the frame itself is not loaded."""

    name: str
    source: str
    raw: str  # digest of the table as it was read
    decimal: str = "."
    thousands: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # as `Schema.rules`
    sentinels: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # as JSON values
    what: str = ""  # the step that led here, in words

    @property
    def digest(self) -> str:
        """Text that changes with everything that a computation on the table depends on."""
        rules = [dict(self.rules)] if self.rules else []
        return _digest([self.cells_digest, dict(self.roles), *rules])

    @property
    def cells_digest(self) -> str:
        """Text that changes with the cells, not with roles and rules."""
        return _digest([self.raw, self.decimal, self.thousands, dict(self.sentinels)])

    def declared(self) -> dict[str, tuple[Any, ...]]:
        """Return the values declared missing, by column."""
        return {name: tuple(map(from_json_value, v)) for name, v in self.sentinels.items()}


@dataclass(frozen=True, eq=False)
class OpenTable:
    """The table that the pages work on: declared values are missing, roles are the user's.

    ``digest`` changes with the content, the sentinels, the roles and the rules: the key of all
    caches.
    ``state`` is what it was loaded from.
    """

    name: str
    digest: str
    frame: pd.DataFrame
    schema: Schema
    sentinels: Mapping[str, tuple[Any, ...]]
    source: str
    state: TableState | None = None


class Workspace:
    """One user's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._settings = Documents(folder / "settings")
        self._state = Documents(folder / "state")

    @classmethod
    def create(cls, home: Path | None = None) -> Workspace:
        """Make a new, empty workspace."""
        root = workspaces_folder(home)
        folder = root / secrets.token_urlsafe(24)
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise WorkspaceError(
                f"No workspace can be kept in {root}: {error.strerror or error}. "
                "Start the dashboard with PMAE_HOME set to a folder that can be written."
            ) from error
        workspace = cls(folder)
        workspace.touch()
        return workspace

    @classmethod
    def open(
        cls, token: str, home: Path | None = None, *, now: float | None = None
    ) -> Workspace | None:
        """Return the workspace of a token; None if there is none, or it expired."""
        if not _TOKEN.fullmatch(token):
            return None
        workspace = cls(workspaces_folder(home) / token)
        if workspace.folder.is_symlink() or not workspace.folder.is_dir():
            return None
        if workspace.is_expired(now):
            return None
        workspace.touch()
        return workspace

    @property
    def token(self) -> str:
        """The secret that opens this workspace."""
        return self.folder.name

    @property
    def id(self) -> str:
        """A name for jobs and logs, from which the token cannot be told."""
        return hashlib.sha256(self.token.encode()).hexdigest()[:32]

    def touch(self) -> None:
        """Note that the workspace is in use, which puts off its expiry."""
        file = self.folder / _LAST_USED
        if not file.exists() or time.time() - file.stat().st_mtime > _TOUCH_SECONDS:
            file.touch()

    def is_expired(self, now: float | None = None) -> bool:
        """Say whether nobody used the workspace for PMAE_WORKSPACE_DAYS days."""
        days = workspace_days()
        now = time.time() if now is None else now
        return days > 0 and now - _last_used(self.folder) > days * 86400

    # Settings

    def get(self, section: str) -> dict[str, Any]:
        """Return the settings of a section, such as a page."""
        return self._settings.read(section)

    def update(self, section: str, **values: Any) -> None:
        """Change some settings of a section; the others stay, also those of another tab."""
        try:
            with self._settings.changing(section) as settings:
                settings.update(values)
        except (TypeError, ValueError) as error:
            raise WorkspaceError(f"These settings cannot be kept: {error}.") from error

    # Scenarios

    def save_scenario(self, name: str, settings: Mapping[str, Any]) -> None:
        """Keep the settings of an amputation by name; one of the same name is replaced."""
        name = _checked_name(name)
        try:
            with self._state.changing("scenarios") as scenarios:
                scenarios.pop(name, None)
                if len(scenarios) >= MAX_SCENARIOS:
                    raise WorkspaceError(
                        f"There are {MAX_SCENARIOS} scenarios already. Delete one of them first."
                    )
                scenarios[name] = dict(settings)
        except (TypeError, ValueError) as error:
            raise WorkspaceError(f"This scenario cannot be kept: {error}.") from error

    def scenarios(self) -> dict[str, dict[str, Any]]:
        """Return the settings of all scenarios by name, the newest last."""
        return self._state.read("scenarios")

    def delete_scenario(self, name: str) -> None:
        """Forget a scenario; it is no error if it is gone already."""
        with self._state.changing("scenarios") as scenarios:
            scenarios.pop(name, None)

    # The table

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
        _check_roles(frame, roles or {})
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
            self._write_table(storable)
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
            schema=schema.with_roles(state.roles).with_rules(state.rules),
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

    def _put_content(self, frame: pd.DataFrame) -> str:
        storable = StorableTable.from_frame(frame)
        with self._state.changing("table"):  # or another tab could remove the unfinished file
            return self._put_table(storable)

    def set_roles(self, roles: Mapping[str, Role | str]) -> TableState:
        """Give some columns a role; a SchemaError says why one does not fit."""
        with self._changing_steps() as steps:
            state = _last(steps)
            frame = self._derived(state)
            _check_roles(frame, roles)
            chosen = {name: Role(role).value for name, role in roles.items()}
            words = ", ".join(f"{name} → {role}" for name, role in chosen.items())
            state = replace(state, roles={**state.roles, **chosen}, what=words)
            self._check_rules(state, frame)
            steps.append(state)
        return steps[-1]

    def set_rules(self, rules: Mapping[str, Mapping[str, Any]]) -> TableState:
        """Declare limits, whole numbers and expressions of some columns.

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

    def _check_rules(self, state: TableState, frame: pd.DataFrame) -> None:
        """Raise a SchemaError if the rules of a state do not fit its table."""
        if state.rules:
            self.load(state).schema.check_rules(frame)

    def set_sentinels(
        self, sentinels: Mapping[str, Sequence[Any]], *, what: str = "change what counts as missing"
    ) -> TableState:
        """Declare which values stand for missing ones, by column; all others count again.

        Roles and rules that do not fit the new cells are taken back.
        """
        as_json = {
            name: [to_json_value(value) for value in values]
            for name, values in sentinels.items()
            if len(values)
        }
        with self._changing_steps() as steps:
            state = replace(_last(steps), sentinels=as_json, what=what)
            frame = self._derived(state)
            roles = {name: role for name, role in state.roles.items() if _fits(frame, name, role)}
            state = replace(state, roles=roles)
            steps.append(replace(state, rules=self._fitting_rules(state, frame)))
        return steps[-1]

    def _fitting_rules(self, state: TableState, frame: pd.DataFrame) -> dict[str, Any]:
        """Return those of the rules of a state that fit its table."""
        rules = dict(state.rules)
        for name in state.rules:
            try:
                self._check_rules(replace(state, rules={name: state.rules[name]}), frame)
            except SchemaError:
                del rules[name]
        return rules

    def undo(self) -> str | None:
        """Take the last step back and return it in words; None if there is none."""
        with self._changing_steps() as steps:
            return steps.pop().what if len(steps) > 1 else None

    def undoable(self) -> str | None:
        """Return the step that `undo` would take back, in words."""
        steps = self._steps()
        return steps[-1].what if len(steps) > 1 else None

    # The last upload, as the user sent it: to be read again in another way

    @property
    def upload_path(self) -> Path:
        """Where the file that is uploaded last lies."""
        return self.folder / _UPLOAD

    @property
    def tables(self) -> TableStore:
        """Tables of this user alone; jobs have a store of their own."""
        return TableStore(self.folder / "tables")

    def _write_table(self, storable: StorableTable) -> None:
        if self.tables.exists(storable.digest):
            try:
                self.tables.get(storable.digest)
            except StorageError:
                # Opening the same table again is how a user repairs a damaged file.
                self.tables.path(storable.digest).unlink(missing_ok=True)
        self._put_table(storable)

    def _put_table(self, table: pd.DataFrame | StorableTable) -> str:
        self.tables.folder.mkdir(mode=0o700, exist_ok=True)
        return self.tables.put(table)

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
                "The open table cannot be read from disk any more. Open it again on the Data page."
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
            # Those of the steps before go with the next change: this one is not written yet.
            self._remove_tables_except(before.union(tables, self._stored_content(steps)))

    def _stored_content(self, steps: Sequence[TableState]) -> set[str]:
        """Return the digest of the newest step's cells, if they are stored apart."""
        digests = (_content_digests.known((self.folder, step.cells_digest)) for step in steps[-1:])
        return set(filter(None, digests))

    def _remove_tables_except(self, digests: set[str]) -> None:
        kept = {self.tables.path(digest).name for digest in digests}
        for file in self.tables.folder.glob("*"):
            if file.name not in kept:
                file.unlink(missing_ok=True)


def workspaces_folder(home: Path | None = None) -> Path:
    """Return where the workspaces of all users lie."""
    return (home or pmae_home()) / "workspaces"


def workspace_days() -> float:
    """Return after how many days without use a workspace goes; 0 keeps all for ever."""
    text = os.environ.get("PMAE_WORKSPACE_DAYS", "")
    try:
        days = float(text) if text.strip() else DEFAULT_DAYS
    except ValueError:
        days = -1.0
    if not 0 <= days < float("inf"):
        raise WorkspaceError(
            f"PMAE_WORKSPACE_DAYS is {text!r}. Give a number of days, or 0 to keep workspaces."
        )
    return days


def forget_recent() -> None:
    """Forget what is in memory, as a restart does: all is read from disk again."""
    _raw_tables.clear()
    _schemas.clear()
    _content_digests.clear()


def sweep(home: Path | None = None, *, now: float | None = None) -> int:
    """Remove expired workspaces and return how many they were."""
    root = workspaces_folder(home)
    n_removed = 0
    for folder in root.iterdir() if root.is_dir() else ():
        if not _TOKEN.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
            continue
        if Workspace(folder).is_expired(now):
            shutil.rmtree(folder, ignore_errors=True)
            n_removed += 1
    return n_removed


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def _steps_of(document: Mapping[str, Any]) -> list[TableState]:
    return [TableState(**step) for step in document.get("steps", [])]


def _last(steps: Sequence[TableState]) -> TableState:
    if not steps:
        raise WorkspaceError("No table is open. Open one on the Data page.")
    return steps[-1]


def _last_used(folder: Path) -> float:
    file = folder / _LAST_USED
    return (file if file.exists() else folder).stat().st_mtime


def _checked_name(name: str) -> str:
    name = " ".join(str(name).split())
    if not 1 <= len(name) <= MAX_NAME:
        raise WorkspaceError(f"Give it a name of 1 to {MAX_NAME} letters.")
    return name


def _check_roles(frame: pd.DataFrame, roles: Mapping[str, Role | str]) -> None:
    """Raise a SchemaError if a role does not fit its column, or there is no such column."""
    Schema.infer(frame[[name for name in roles if name in frame.columns]], roles)


def _fits(frame: pd.DataFrame, name: str, role: str) -> bool:
    try:
        _check_roles(frame, {name: role})
    except SchemaError:
        return False
    return True
