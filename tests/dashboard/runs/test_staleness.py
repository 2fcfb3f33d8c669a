"""Whether the open table is still the one that a run used."""

import pandas as pd
import pytest
import streamlit as st

from dashboard import runs
from dashboard.runs.staleness import TableChange, stale_sentence, table_change
from dashboard.state import session
from dashboard.state.workspace import Workspace
from pmae_core.jobs.engines import LocalEngine

TABLE = pd.DataFrame({"a": [1.0, None, 3.0, -9.0], "b": [3.0, 4.5, 5.0, 6.0]})


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    monkeypatch.setattr(LocalEngine, "supervise", lambda engine: None)
    st.cache_resource.clear()
    own = Workspace.create()
    own.save_table(TABLE, name="t", source="a test")
    monkeypatch.setattr(session, "workspace", lambda: own)
    return own


@pytest.fixture
def run(workspace):
    return runs.submit("train", {"method": "pmae-mix"}, name="a run")


def test_nothing_is_said_of_the_same_table(run, workspace):
    assert table_change(run, workspace.table()) is TableChange.NONE
    assert stale_sentence(run, workspace.table()) is None


def test_roles_that_have_changed_are_named(run, workspace):
    workspace.set_roles({"b": "ignored"})

    said = stale_sentence(run, workspace.table())
    assert said.startswith("The role of `b` has changed since this run.")
    workspace.set_roles({"a": "categorical", "b": "ignored"})
    assert stale_sentence(run, workspace.table()).startswith("The roles of `a` and `b` have")


def test_other_missing_cells_are_noticed(run, workspace):
    workspace.set_sentinels({"a": [-9.0]})

    assert table_change(run, workspace.table()) is TableChange.CELLS
    assert "Other cells count as missing" in stale_sentence(run, workspace.table())


def test_a_different_table_is_called_so(run, workspace):
    workspace.save_table(TABLE.head(2), name="other", source="a test")

    assert stale_sentence(run, workspace.table()).startswith("This run used a different table")


def test_cells_of_a_simulated_table_differ_anyway(run, workspace):
    workspace.set_sentinels({"a": [-9.0]})
    assert stale_sentence(run, workspace.table(), is_own_table=False) is None

    workspace.set_roles({"b": "ignored"})
    said = stale_sentence(run, workspace.table(), is_own_table=False)
    assert "The role of `b` has changed" in said
