"""The tables of jobs: stored once by content, owned by workspaces."""

from __future__ import annotations

import pandas as pd

from pmae_core.jobs.store import rows
from pmae_core.jobs.store.part import DEFAULT_WORKSPACE, StorePart
from pmae_core.storage.tables import StorableTable, TableStore


class JobTables(StorePart):
    """The tables that jobs read."""

    def put_table(
        self, table: pd.DataFrame | StorableTable, workspace: str = DEFAULT_WORKSPACE
    ) -> str:
        """Store a table for a workspace and return its digest; equal content is stored once.

        Raises
        ------
        StorageError
            If it cannot be stored exactly, or cannot be written.
        """
        rows.check_workspace(workspace)
        if isinstance(table, pd.DataFrame):
            table = StorableTable.from_frame(table)
        self._claim_table(table.digest, workspace)
        return self._files.put(table)

    def copy_table(
        self, source: TableStore, digest: str, workspace: str = DEFAULT_WORKSPACE
    ) -> str:
        """Take a table over from another store, neither encoding nor hashing it again.

        Raises
        ------
        StorageError
            If the other store does not have it, or it cannot be written.
        """
        rows.check_workspace(workspace)
        self._claim_table(digest, workspace)
        self._files.copy_from(source, digest)
        return digest

    def get_table(self, digest: str, workspace: str = DEFAULT_WORKSPACE) -> pd.DataFrame:
        """Return a table of a workspace."""
        with self._database.reading() as connection:
            rows.check_owned(connection, digest, workspace)
        return self._files.get(digest)

    @property
    def _files(self) -> TableStore:
        return TableStore(self.paths.tables)

    def _claim_table(self, digest: str, workspace: str) -> None:
        """Note the owner of a table before its file is written: a clean-up then keeps the file."""
        with self._database.writing() as connection:
            rows.own_table(connection, digest, workspace)
