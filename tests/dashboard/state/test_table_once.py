"""A table is encoded once on its way from an upload to its jobs, and hashed once per store."""

import io

import pytest

from dashboard import runs
from dashboard.data import uploads
from dashboard.runs.staleness import digest_of
from dashboard.state import session
from dashboard.state.table_history import forget_recent
from dashboard.state.workspace import Workspace
from pmae_core.jobs.engines import LocalEngine
from pmae_core.storage import frames
from pmae_core.storage.codecs import CODECS


@pytest.fixture
def own(tmp_path, monkeypatch, read_inline):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    monkeypatch.delenv("PMAE_ENGINE", raising=False)
    monkeypatch.setattr(LocalEngine, "supervise", lambda engine: None)
    own = Workspace.create()
    monkeypatch.setattr(session, "workspace", lambda: own)
    forget_recent()
    return own


@pytest.fixture
def work(monkeypatch):
    """Count how often the one column of a table is encoded and hashed."""
    counts = {"encoded": 0, "hashed": 0}
    encode, content = CODECS["plain"].encode, frames._content

    def counted_encode(values):
        counts["encoded"] += 1
        return encode(values)

    def counted_content(array):
        counts["hashed"] += 1
        return content(array)

    monkeypatch.setattr(CODECS["plain"], "encode", counted_encode)
    monkeypatch.setattr(frames, "_content", counted_content)
    return counts


def upload(own):
    uploads.receive(own, io.BytesIO(b"x\n1.5\n-9\n\n4.5\n"), "small.csv")
    uploads.start_reading(own)
    return uploads.open_upload(own)


def submit():
    return runs.submit("impute", {"method": "naive"}, name="naive on small")


def test_an_uploaded_table_is_encoded_once_and_its_copy_checked_once_for_all_its_jobs(own, work):
    upload(own)
    assert work == {"encoded": 1, "hashed": 1}
    submitted = [submit(), submit()]
    assert {job.spec.table for job in submitted} == {digest_of(session.open_table())}
    assert work == {"encoded": 1, "hashed": 2}


def test_a_table_with_declared_missing_values_is_encoded_once_more(own, work):
    upload(own)
    own.set_sentinels({"x": [-9.0]})
    digest = digest_of(session.open_table())
    assert submit().spec.table == digest
    own.set_roles({"x": "categorical"})  # the same cells
    assert submit().spec.table == digest
    assert work == {"encoded": 2, "hashed": 3}
    assert runs.store().get_table(digest, own.id)["x"].isna().sum() == 2


def test_a_job_that_reads_its_table_checks_its_digest_and_encodes_nothing(own, work):
    upload(own)
    record = submit()
    runs.store().get_table(record.spec.table, own.id)
    assert work == {"encoded": 1, "hashed": 3}


@pytest.mark.parametrize("whose", ["workspace", "jobs", "both"])
def test_submitting_again_repairs_a_damaged_table(own, whose):
    upload(own)
    table = session.open_table()
    digest = submit().spec.table
    damaged = {"workspace": [own.tables], "jobs": [runs.store()._files]}
    damaged["both"] = damaged["workspace"] + damaged["jobs"]
    for number, tables in enumerate(damaged[whose]):
        tables.path(digest).write_bytes(b"nonsense" * number)
    assert submit().spec.table == digest
    assert runs.store().get_table(digest, own.id).equals(table.frame)


def test_a_table_whose_file_went_with_an_old_step_can_still_be_submitted(own, work):
    upload(own)
    own.set_sentinels({"x": [-9.0]})
    table = session.open_table()
    own.tables.path(digest_of(table)).unlink()
    record = submit()
    assert runs.store().get_table(record.spec.table, own.id).equals(table.frame)
