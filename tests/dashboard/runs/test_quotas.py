"""Limits refuse what would be added, in a sentence that names them; nothing is lost."""

import io
import re

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dashboard import runs
from dashboard.data import uploads
from dashboard.runs import quotas
from dashboard.runs.quotas import QuotaError
from dashboard.state import session
from dashboard.state.workspace import Workspace
from pmae_core.jobs.engines import LocalEngine


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    monkeypatch.setattr(LocalEngine, "supervise", lambda engine: None)
    st.cache_resource.clear()
    st.cache_data.clear()
    own = Workspace.create()
    values = np.random.default_rng(0).normal(size=(2000, 4))
    own.save_table(pd.DataFrame(values, columns=list("abcd")), name="t", source="a test")
    monkeypatch.setattr(session, "workspace", lambda: own)
    return own


def submit():
    return runs.submit("impute", {"method": "naive"}, name="a run")


def test_a_workspace_takes_its_folder_its_runs_and_its_tables(workspace):
    alone = quotas.usage(workspace)
    job = submit()
    (job.folder / "log.txt").write_bytes(bytes(1_000_000))

    taken = quotas.usage(workspace)

    assert (alone.n_runs, taken.n_runs) == (0, 1)
    assert alone.megabytes > 0.05
    assert taken.megabytes > 1 + 1.5 * alone.megabytes  # the table is kept for the run, too


def test_a_workspace_has_so_many_runs_and_no_more(workspace, monkeypatch):
    monkeypatch.setenv("PMAE_WORKSPACE_RUNS", "2")
    first = submit()
    submit()

    with pytest.raises(QuotaError, match=r"^You have 2 runs; the limit is 2\. Remove runs"):
        submit()

    assert runs.store().count() == 2
    runs.store().request_cancel(first.id)
    runs.store().delete(first.id)
    assert submit()


def test_the_runs_of_all_workspaces_are_limited(workspace, monkeypatch):
    submit()
    monkeypatch.setenv("PMAE_TOTAL_RUNS", "1")
    monkeypatch.setattr(session, "workspace", Workspace.create)

    with pytest.raises(
        QuotaError, match=r"^This server has 1 run; the limit is 1\. .* or ask those"
    ):
        runs.check_room()


def test_a_full_workspace_starts_no_run(workspace, monkeypatch):
    monkeypatch.setenv("PMAE_WORKSPACE_MB", "0.01")

    with pytest.raises(
        QuotaError, match="the limit is 0 MB, which leaves too little room to start"
    ):
        submit()


def test_an_upload_that_is_too_much_leaves_the_one_before(workspace, monkeypatch):
    uploads.receive(workspace, io.BytesIO(b"a,b\n1,2\n"), "small.csv")
    monkeypatch.setenv("PMAE_WORKSPACE_MB", "2")

    with pytest.raises(
        QuotaError, match=r"the limit is 2 MB, .* to upload this file\. Remove runs"
    ):
        uploads.receive(workspace, io.BytesIO(bytes(3_000_000)), "large.csv")

    assert uploads.waiting_file(workspace) == "small.csv"
    assert workspace.upload_path.read_bytes() == b"a,b\n1,2\n"


def test_an_upload_takes_the_place_of_the_one_before(workspace, monkeypatch):
    monkeypatch.setenv("PMAE_WORKSPACE_MB", "2")
    for _ in range(3):
        uploads.receive(workspace, io.BytesIO(bytes(1_500_000)), "again.csv")

    assert workspace.upload_path.stat().st_size == 1_500_000


def test_all_workspaces_together_are_limited(workspace, monkeypatch):
    monkeypatch.setenv("PMAE_TOTAL_MB", "1")

    with pytest.raises(QuotaError, match=r"of all visitors have reached the limit of 1 MB"):
        quotas.check_upload(workspace, 2_000_000)

    quotas.check_upload(Workspace.create(), 100_000)


def test_uploads_in_memory_are_limited(workspace, monkeypatch):
    held = MemoryUploadedFileManager("/upload")
    held.add_file("a session", UploadedFileRec("1", "large.csv", "text/csv", bytes(3_000_000)))
    monkeypatch.setattr(quotas, "_upload_manager", lambda: held)
    quotas.check_upload(workspace, 10)
    monkeypatch.setenv("PMAE_UPLOAD_HELD_MB", "2")

    with pytest.raises(QuotaError, match="holds 3 MB of uploads in memory; the limit is 2 MB"):
        quotas.check_upload(workspace, 10)

    held.remove_session_files("a session")
    quotas.check_upload(workspace, 10)


@pytest.mark.parametrize(
    "quota",
    [
        quotas.WORKSPACE_MEGABYTES,
        quotas.WORKSPACE_RUNS,
        quotas.TOTAL_MEGABYTES,
        quotas.TOTAL_RUNS,
        quotas.UPLOAD_MEGABYTES,
    ],
    ids=lambda quota: quota.variable,
)
def test_every_limit_can_be_set_and_lifted(quota, monkeypatch):
    assert quota.limit() == quota.default > 0
    monkeypatch.setenv(quota.variable, "7")
    assert quota.limit() == 7
    monkeypatch.setenv(quota.variable, "0")
    assert quota.limit() == float("inf")
    monkeypatch.setenv(quota.variable, "much")
    with pytest.raises(QuotaError, match=re.escape(f"{quota.variable} is 'much'.")):
        quota.limit()
