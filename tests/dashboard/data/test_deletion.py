"""Deleting everything leaves nothing of a visitor, and everything of the others."""

import io
import threading

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from dashboard import runs
from dashboard.classroom.desk import start_class
from dashboard.classroom.store import ClassQuestion, Classroom
from dashboard.data import deletion, uploads
from dashboard.state import session
from dashboard.state.one_time_codes import create_code, is_waiting
from dashboard.state.workspace import Workspace
from pmae_core.errors import JobError, TableError
from pmae_core.jobs import JobState, ProcessId
from pmae_core.jobs.engines import LocalEngine
from pmae_core.jobs.store import JobStore

MARKER = "Xq7MarkerOfThisVisitor"
OTHER = "Zw3MarkerOfAnotherOne"
QUESTION = ClassQuestion(lesson="patterns", seed=1, settings={}, right="a")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    monkeypatch.setattr(LocalEngine, "supervise", lambda engine: None)
    st.cache_resource.clear()
    return tmp_path


@pytest.fixture
def visitor(home, monkeypatch):
    """Return a function that makes a workspace with a table that holds a marker, and runs."""

    def visit(marker, states=(JobState.SUCCEEDED, JobState.RUNNING, JobState.QUEUED)):
        own = Workspace.create()
        monkeypatch.setattr(session, "workspace", lambda: own)
        monkeypatch.setattr(session, "known_workspace", lambda: own)
        rng = np.random.default_rng(0)
        table = pd.DataFrame(
            {
                f"{marker}Column": rng.normal(size=30),
                "town": [f"{marker}{number % 3}" for number in range(30)],
            }
        )
        uploads.receive(own, io.BytesIO(table.to_csv(index=False).encode()), f"{marker}.csv")
        own.save_table(table, name=f"{marker}.csv", source="a test")
        own.update("masking", note=marker)
        own.save_scenario(marker, {"a": 1})
        for state in states:
            add_run(state, marker)
        return own

    return visit


def add_run(state, marker):
    job = runs.submit("impute", {"method": "naive"}, name=f"{marker} run")
    if state == JobState.QUEUED:
        return
    claimed, token = runs.store().claim_next(
        "local", running_limit=100, gpu_limit=0, owner=ProcessId.current()
    )
    assert claimed.id == job.id
    runs.store().append_events(job.id, token, [("note", {"said": marker})])
    (job.folder / "log.txt").write_text(marker)
    if state != JobState.RUNNING:
        runs.store().finish(job.id, token, state, result={"said": marker})


def files_with(home, marker):
    return [
        path.relative_to(home)
        for path in home.rglob("*")
        if marker in path.name or (path.is_file() and marker.encode() in path.read_bytes())
    ]


def test_no_file_of_the_home_holds_anything_of_the_visitor(home, visitor):
    other = visitor(OTHER, [JobState.SUCCEEDED, JobState.RUNNING])
    own = visitor(MARKER)
    assert len(files_with(home, MARKER)) > 5
    before = files_with(home, OTHER)

    deleted = deletion.delete_everything(own)

    assert files_with(home, MARKER) == []
    assert not own.folder.exists()
    assert deleted.sentence() == "Deleted: 1 table, 3 runs and all your settings."
    assert not deleted.has_traces
    # Nothing of the others is lost. Their rows are in the database's file, no longer in its log.
    assert set(before) - set(files_with(home, OTHER)) <= {
        path for path in before if path.name == "jobs.sqlite-wal"
    }
    assert runs.store().count() == runs.store().count(other.id) == 2
    assert other.table().frame.shape == (30, 2)


def test_tables_that_were_stored_go_even_though_their_files_are_compressed(home, visitor):
    own = visitor(MARKER)
    stored = runs.store().paths.tables
    assert len(list(stored.iterdir())) == 1

    deletion.delete_everything(own)

    assert list(stored.iterdir()) == []
    assert list(runs.store().paths.jobs.iterdir()) == []


def test_links_and_classes_go(home, visitor):
    own = visitor(MARKER)
    code = create_code(own)
    other_code = create_code(Workspace.create())
    rows = pd.DataFrame({MARKER: [1.0]})
    desks = [start_class(QUESTION, rows), start_class(QUESTION, rows)]

    deleted = deletion.delete_everything(own)

    assert (is_waiting(code), is_waiting(other_code)) == (False, True)
    assert [Classroom.open(desk.classroom.code) for desk in desks] == [None, None]
    assert "2 classes" in deleted.sentence()
    assert files_with(home, MARKER) == []


def test_memory_forgets_the_table(home, visitor):
    own = visitor(MARKER)
    state, computed = own.table_state(), []

    @st.cache_resource
    def compute():
        return computed.append(1)

    compute()
    deletion.delete_everything(own)

    compute()
    assert len(computed) == 2
    with pytest.raises(TableError, match="can no longer be read"):
        own.load(state)


def test_a_store_that_cannot_be_written_deletes_nothing(home, visitor, monkeypatch):
    own = visitor(MARKER)

    def refuse(store, workspace):
        raise JobError("The job store is busy. Try again.")

    monkeypatch.setattr(JobStore, "forget_workspace", refuse)

    with pytest.raises(JobError, match="Try again"):
        deletion.delete_everything(own)

    assert own.table() is not None
    assert runs.store().count(own.id) == 3


def test_traces_that_may_be_left_are_told(home, visitor, monkeypatch):
    own = visitor(MARKER)

    def refuse(store, workspace):
        raise JobError("The job store is busy. Try again.")

    monkeypatch.setattr(JobStore, "erase_traces", refuse)

    assert deletion.delete_everything(own).has_traces
    assert not own.folder.exists()


def test_a_workspace_without_runs_is_deleted(home):
    own = Workspace.create()

    assert deletion.delete_everything(own).sentence() == (
        "Deleted: 0 tables, 0 runs and all your settings."
    )
    assert not own.folder.exists()
    assert not (home / "jobs.sqlite").exists()


def test_ended_runs_are_removed_together(home, visitor):
    own = visitor(MARKER)

    assert deletion.remove_ended_runs(own) == 1

    states = {record.state for record in runs.store().jobs(own.id)}
    assert states == {JobState.RUNNING, JobState.QUEUED}
    assert own.table() is not None


def test_two_clicks_at_once_delete_once(home, visitor):
    own = visitor(MARKER)
    start, results = threading.Barrier(2), []

    def click():
        start.wait()
        results.append(deletion.delete_everything(own).n_runs)

    clicks = [threading.Thread(target=click) for _ in range(2)]
    for one in clicks:
        one.start()
    for one in clicks:
        one.join()

    assert sorted(results) == [0, 3]
    assert files_with(home, MARKER) == []


def test_an_upload_that_is_being_read_is_forgotten(visitor):
    own = visitor(MARKER, states=())
    uploads.start_reading(own)
    assert uploads.current_reading(own) is not None

    deletion.delete_everything(own)

    assert uploads.current_reading(own) is None
