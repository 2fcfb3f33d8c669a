"""Tables of jobs: stored once, readable only by their owners."""

import pandas as pd
import pytest

from pmae_core.errors import JobError, StorageError
from pmae_core.storage.tables import StorableTable, TableStore


def test_a_workspace_reads_only_its_own_tables(store, spec, small_table):
    pd.testing.assert_frame_equal(store.get_table(spec.table), small_table)
    with pytest.raises(JobError, match="no table"):
        store.get_table(spec.table, "other")
    with pytest.raises(JobError, match="no table"):
        store.submit(spec, "other")
    assert store.put_table(small_table, "other") == spec.table
    assert store.submit(spec, "other").workspace == "other"
    assert len(list(store.paths.tables.iterdir())) == 1


def test_a_table_is_copied_from_another_store(store, small_table, tmp_path):
    (tmp_path / "mine").mkdir()
    mine = TableStore(tmp_path / "mine")
    digest = mine.put(small_table)
    assert store.copy_table(mine, digest, "me") == digest
    pd.testing.assert_frame_equal(store.get_table(digest, "me"), small_table)
    with pytest.raises(JobError, match="no table"):
        store.get_table(digest, "other")
    with pytest.raises(StorageError, match="not stored here"):
        store.copy_table(mine, "0" * 64, "me")


def test_an_encoded_table_is_not_encoded_again(store, small_table, monkeypatch):
    storable = StorableTable.from_frame(small_table)
    monkeypatch.setattr("pmae_core.storage.tables.to_arrow", None)
    assert store.put_table(storable, "me") == storable.digest
    pd.testing.assert_frame_equal(store.get_table(storable.digest, "me"), small_table)
