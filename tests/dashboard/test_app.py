"""The whole app: navigation, header, and that no page shows a traceback."""

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import runs
from dashboard.shell import header
from dashboard.state.workspace import Workspace, forget_recent
from pmae_core.jobs import JobSpec, JobStore
from tests.support.paths import ROOT

PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    monkeypatch.setattr(runs, "supervise", lambda: None)  # jobs of tests are not started
    st.cache_data.clear()
    st.cache_resource.clear()
    return Workspace.create()


def open_app(token=None, **query):
    app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60)
    app.query_params.update({**({"w": token} if token else {}), **query})
    return app.run()


def words(app):
    return "\n".join(element.value for element in app.markdown)


def test_a_newcomer_sees_the_sample_table(workspace):
    app = open_app()

    assert not app.exception
    assert not app.error
    assert app.title[0].value == "Data"
    assert "344 rows × 8 columns, 0.7% missing" in words(app)
    assert app.dataframe[0].value.shape == (344, 8)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_the_sample_below_the_header(workspace, page):
    app = open_app(workspace.token)

    app.switch_page(f"../pages/{page}").run()

    assert not app.exception
    assert not app.error
    assert "344 rows × 8 columns" in words(app)
    assert app.query_params["w"] == workspace.token


def test_every_page_is_in_the_navigation():
    text = (ROOT / "dashboard" / "app.py").read_text()

    assert all(f'"{page}"' in text for page in PAGES)


def test_the_header_shows_the_open_table(workspace):
    workspace.save_table(pd.DataFrame({"a": [1, None]}), name="*my* table.csv", source="a test")

    app = open_app(workspace.token)

    assert "2 rows × 1 column, 50% missing" in words(app)
    assert any(r"\*my\* table\.csv" in link.label for link in app.get("page_link"))


def test_the_header_says_when_nothing_is_missing(workspace):
    workspace.save_table(pd.DataFrame({"a": [1, 2]}), name="t", source="a test")

    assert "2 rows × 1 column, nothing missing" in words(open_app(workspace.token))


def test_a_damaged_table_leaves_a_way_out(workspace):
    workspace.save_table(pd.DataFrame({"a": [1, 2]}), name="t", source="a test")
    for file in (workspace.folder / "tables").iterdir():
        file.write_bytes(b"nonsense")
    forget_recent()

    app = open_app(workspace.token)

    assert not app.exception
    assert "Open it again" in app.error[0].value
    assert len(app.file_uploader) == 1
    for page in ("impute.py", "export.py"):
        app = open_app(workspace.token).switch_page(f"../pages/{page}").run()
        assert not app.exception
        assert "Open it again" in app.error[0].value


def test_a_page_that_fails_is_no_traceback(workspace, monkeypatch):
    monkeypatch.setattr("dashboard.data.uploads.waiting_file", lambda own: 1 / 0)

    app = open_app(workspace.token)

    assert not app.exception
    assert "not your fault" in app.error[0].value
    assert "344 rows × 8 columns" in words(app)


def test_notices_are_shown_once(workspace):
    app = open_app("a" * 32)

    assert "does not exist" in app.info[0].value
    assert "does not exist" not in " ".join(info.value for info in app.run().info)


# Jobs


def submit_job(workspace):
    spec = JobSpec.make(
        "benchmark",
        params={
            "dataset": "diabetes",
            "pattern": "monotone",
            "mechanism": "MCAR",
            "coupling": "nested",
            "methods": ["naive"],
            "seeds": [0],
        },
    )
    return JobStore().submit(spec, workspace.id)


def test_the_header_counts_the_jobs_of_this_workspace_alone(workspace):
    other = Workspace.create()
    submit_job(workspace)
    submit_job(workspace)

    assert "2 jobs waiting" in words(open_app(workspace.token))
    assert "waiting" not in words(open_app(other.token))


def test_the_browser_asks_again_only_while_there_are_jobs(workspace, monkeypatch):
    asked = []
    monkeypatch.setattr(
        header.st, "fragment", lambda draw, run_every: asked.append(run_every) or draw
    )
    header.show_jobs(workspace)
    submit_job(workspace)
    header.show_jobs(workspace)

    assert asked == [None, header.POLL_SECONDS]


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((1, 0), "1 job running"),
        ((2, 1), "2 jobs running, 1 job waiting"),
        ((0, 3), "3 jobs waiting"),
    ],
)
def test_jobs_in_words(counts, sentence):
    assert runs.JobCounts(*counts).sentence() == sentence
