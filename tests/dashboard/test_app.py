"""The whole app: navigation, header, and that no page shows a traceback."""

from types import SimpleNamespace

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import runs
from dashboard.shell import header
from dashboard.state import one_time_codes, session
from dashboard.state.table_history import forget_recent
from dashboard.state.workspace import Workspace
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
    if token:
        app.session_state[session.TOKEN_KEY] = token
    app.query_params.update(query)
    return app.run()


def popover_labels(app):
    return {popover.proto.popover.label for popover in app.get("popover")}


def runs_label(app):
    """Return what the header says of runs; None if it says nothing."""
    return next((label for label in popover_labels(app) if "run" in label.lower()), None)


def words(app):
    return "\n".join(element.value for element in app.markdown)


def test_a_newcomer_sees_the_sample_table(workspace):
    app = open_app()

    assert not app.exception
    assert not app.error
    assert app.title[0].value == "Data"
    assert "418 rows × 20 columns, 12.4% missing" in words(app)
    assert app.dataframe[0].value.shape == (418, 20)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_the_sample_below_the_header(workspace, page):
    app = open_app(workspace.token)

    app.switch_page(f"../pages/{page}").run()

    assert not app.exception
    assert not app.error
    assert "418 rows × 20 columns" in words(app)


def test_every_page_is_in_the_navigation():
    text = (ROOT / "dashboard" / "app.py").read_text()

    assert all(f'"{page}"' in text for page in PAGES)


def test_the_header_shows_the_open_table(workspace):
    workspace.save_table(pd.DataFrame({"a": [1, None]}), name="*my* table.csv", source="a test")

    app = open_app(workspace.token)

    assert "2 rows × 1 column, 50% missing" in words(app)
    assert any(r"\*my\* table\.csv" in label for label in popover_labels(app))


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
    assert "This part of the page failed" in app.error[0].value
    assert "418 rows × 20 columns" in words(app)


def test_notices_are_shown_once(workspace):
    app = open_app("a" * 32)

    assert "no longer exists" in app.info[0].value
    assert "no longer exists" not in " ".join(info.value for info in app.run().info)


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

    assert "2 runs waiting" in runs_label(open_app(workspace.token))
    assert runs_label(open_app(other.token)) is None


def test_the_browser_asks_again_only_while_there_are_jobs(workspace, monkeypatch):
    asked = []
    monkeypatch.setattr(
        header.st, "fragment", lambda draw, run_every: asked.append(run_every) or draw
    )
    monkeypatch.setattr(header.session, "workspace", lambda: workspace)
    header.show_runs("Data")
    submit_job(workspace)
    header.show_runs("Data")

    assert asked == [None, header.POLL_SECONDS]


def test_each_look_at_the_runs_asks_the_store_once(workspace, monkeypatch):
    submit_job(workspace)
    fragments, asked = [], []
    monkeypatch.setattr(
        header.st, "fragment", lambda draw, run_every: fragments.append(draw) or draw
    )
    monkeypatch.setattr(header.session, "workspace", lambda: workspace)
    header.show_runs("Data")
    listing = JobStore.listing
    monkeypatch.setattr(
        JobStore, "listing", lambda *args, **kw: asked.append(kw) or listing(*args, **kw)
    )

    (poll,) = fragments
    poll()

    assert len(asked) == 1


def run_record(fraction=None, *, started=True):
    progress = None if fraction is None else SimpleNamespace(fraction=fraction)
    return SimpleNamespace(started_at=1.0 if started else None, progress=progress)


@pytest.mark.parametrize(
    ("active", "sentence"),
    [
        ([], "Runs"),
        ([run_record()], "1 run active"),
        ([run_record(0.434)], "1 run at 43%"),
        (
            [run_record(0.4), run_record(), run_record(started=False)],
            "2 runs active, 1 run waiting",
        ),
        ([run_record(started=False)] * 3, "3 runs waiting"),
    ],
)
def test_runs_in_words(active, sentence):
    assert header.runs_in_words(active) == sentence


def test_a_recent_table_is_opened_again_from_the_header(workspace):
    workspace.save_table(pd.DataFrame({"a": [1, None]}), name="first", source="a test")
    first = workspace.table_state()
    workspace.save_table(pd.DataFrame({"a": [1, 2, 3]}), name="second", source="a test")
    app = open_app(workspace.token)

    app.button(f"switch:{first.raw}").click().run()

    assert not app.error
    assert "2 rows × 1 column, 50% missing" in words(app)


def test_a_table_that_is_gone_is_said_in_a_sentence(workspace):
    workspace.save_table(pd.DataFrame({"a": [1, None]}), name="first", source="a test")
    first = workspace.table_state()
    workspace.save_table(pd.DataFrame({"a": [1, 2, 3]}), name="second", source="a test")
    app = open_app(workspace.token)
    for at in range(5):  # another tab opens many
        workspace.save_table(pd.DataFrame({"a": [at, 9]}), name=str(at), source="a test")

    app.button(f"switch:{first.raw}").click().run()

    assert "This table no longer exists" in app.error[0].value


# Another device


def show_link(app):
    """Return the link that the header shows; None if there is none."""
    return next((code.value for code in app.code if session.CODE_PARAMETER in code.value), None)


def test_a_link_for_another_device_is_made_on_demand_and_used_once(workspace):
    app = open_app(workspace.token)
    assert show_link(app) is None

    app.button("create-link").click().run()

    link = show_link(app)
    assert workspace.token not in link
    code = link.partition(f"{session.CODE_PARAMETER}=")[2]
    assert any("QR code of the link" in element.proto.body for element in app.get("html"))
    assert any("Works once, until" in caption.value for caption in app.caption)

    device = open_app(**{session.CODE_PARAMETER: code})
    assert device.session_state[session.TOKEN_KEY] == workspace.token
    stranger = open_app(**{session.CODE_PARAMETER: code})
    assert stranger.session_state[session.TOKEN_KEY] != workspace.token
    assert "This link no longer works" in stranger.warning[0].value

    app.run()
    assert show_link(app) is None
    assert any("was used or has expired" in caption.value for caption in app.caption)


def test_the_way_back_from_a_link_is_in_the_header(workspace):
    owner = Workspace.create()
    code = one_time_codes.create_code(owner).code
    app = open_app(workspace.token, **{session.CODE_PARAMETER: code})
    assert app.session_state[session.TOKEN_KEY] == owner.token

    app.button("previous-workspace").click().run()

    assert not app.exception
    assert app.session_state[session.TOKEN_KEY] == workspace.token
