"""Pages under test: each runs alone, in a workspace of its own."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.state import session
from dashboard.state.table_history import forget_recent
from dashboard.state.workspace import Workspace
from pmae_core.jobs import JobProgress, JobRecord, JobSpec, JobState, JobStore, ProcessId
from pmae_core.jobs.engines import LocalEngine
from pmae_core.jobs.worker.context import JobContext
from pmae_core.jobs.worker.run import fit_and_impute
from tests.support.paths import ROOT


def restart() -> None:
    """Forget what a server has in memory."""
    st.cache_data.clear()
    st.cache_resource.clear()
    forget_recent()


@pytest.fixture
def restart_server() -> Callable[[], None]:
    """Return a function that forgets all that is not on disk."""
    return restart


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Workspace:
    """Give an empty workspace; a page opens the sample in it."""
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    restart()
    return Workspace.create()


@pytest.fixture
def fill(workspace) -> Callable[[pd.DataFrame], Workspace]:
    """Return a function that opens a table in the workspace."""

    def fill_workspace(frame: pd.DataFrame, name: str = "table.csv") -> Workspace:
        workspace.save_table(frame, name=name, source="a test")
        return workspace

    return fill_workspace


@pytest.fixture
def open_page(workspace) -> Callable[[str], AppTest]:
    """Return a function that runs a page of ``pages/`` by its file name, without the header."""

    def run_page(file: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages" / file), default_timeout=60)
        app.session_state[session.TOKEN_KEY] = workspace.token
        return app.run()

    return run_page


@pytest.fixture
def open_app(workspace) -> Callable[[], AppTest]:
    """Return a function that runs the whole app, which opens on its first page."""

    def run_app(**query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60)
        app.session_state[session.TOKEN_KEY] = workspace.token
        app.query_params.update(query)
        return app.run()

    return run_app


@pytest.fixture
def edit() -> Callable[..., AppTest]:
    """Return a function that edits cells of a ``st.data_editor``, as a user does in the browser."""

    def edit_cells(
        app: AppTest, key_start: str, edited_rows: dict[int, dict], *, sender: Any = None
    ) -> AppTest:
        (drawn,) = [table for table in app.data_editor if table.key.startswith(key_start)]
        states = app._tree.get_widget_states()
        state = states.widgets.add()
        state.id = (sender or drawn).proto.id  # a browser may still show an earlier one
        state.string_value = json.dumps(
            {"edited_rows": edited_rows, "added_rows": [], "deleted_rows": []}
        )
        return app._run(states)

    return edit_cells


@pytest.fixture
def drawn() -> Callable[..., Any]:
    """Return a function that finds a widget that remembers, also when code set its value since."""

    def find(widgets: Sequence[Any], key: str) -> Any:
        (found,) = [one for one in widgets if re.fullmatch(rf"{re.escape(key)}(:\d+)?", one.key)]
        return found

    return find


# Jobs, written into the store by hand: no worker is started


@pytest.fixture
def store(workspace, monkeypatch) -> JobStore:
    """Give the store of the pages; nothing that waits in it is started, nothing is missed."""
    monkeypatch.setattr(LocalEngine, "supervise", lambda engine: None)
    return JobStore()


@pytest.fixture
def add_job(workspace, store) -> Callable[..., JobRecord]:
    """Return a function that brings a job on the open table into a state."""

    def add(
        kind: str,
        params: Mapping[str, Any],
        state: JobState | str = JobState.QUEUED,
        *,
        name: str = "a job",
        seed: int = 0,
        events: Sequence[tuple[str, Mapping[str, Any]]] = (),
        progress: JobProgress | None = None,
        error: str | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> JobRecord:
        table = workspace.table()
        spec = JobSpec.make(
            kind,
            params=params,
            table=store.put_table(table.frame, workspace.id),
            schema=table.schema,
            seed=seed,
        )
        job = store.submit(spec, workspace.id, name=name)
        if state == JobState.QUEUED:
            return job
        claimed, token = store.claim_next(
            "local", running_limit=1000, gpu_limit=0, owner=ProcessId.current()
        )
        assert claimed.id == job.id, "add jobs that wait after all others"
        store.append_events(job.id, token, events)
        store.heartbeat(job.id, token, progress=progress, memory_mb=100.0)
        if state == JobState.INTERRUPTED:
            store.interrupt(job.id, token, error or "Its worker was killed.")
        elif state != JobState.RUNNING:
            store.finish(job.id, token, JobState(state), error=error, result=result)
        return store.job(job.id)

    return add


@pytest.fixture
def add_imputation(workspace, store, add_job, tmp_path_factory) -> Callable[..., JobRecord]:
    """Return a function that really fills the open table, and keeps it as a finished job."""

    def add(params: Mapping[str, Any], *, kind: str = "impute", seed: int = 0, **job: Any):
        table = workspace.table()
        spec = JobSpec.make(kind, params=params, table="0" * 64, schema=table.schema, seed=seed)
        out = tmp_path_factory.mktemp("filling")
        context = JobContext(
            folder=tmp_path_factory.mktemp("work"),
            load_table=lambda _: table.frame,
            model_path=lambda model: store.job(model).folder / "result" / "model.safetensors",
            emit=lambda event: None,
            cancel=lambda: False,
        )
        result = fit_and_impute(spec, context, out)
        done = add_job(kind, params, JobState.SUCCEEDED, seed=seed, result=result, **job)
        out.rename(done.folder / "result")
        return done

    return add
