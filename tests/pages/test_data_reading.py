"""The Data page while a file is read in its own process, and what it says when that ends."""

import io
import time

import openpyxl
import pytest

from dashboard.data import uploads
from tests.core.table.io.test_excel import cell, sheet_of

PAGE = "data.py"
SMALL = b"a,b\n1,2\n3,4\n"
PATIENCE_SECONDS = 60


@pytest.fixture
def app(open_page, monkeypatch):
    # So short that the page does not wait for the end, but shows how far the reading is.
    monkeypatch.setattr("dashboard.data.opening_view.QUICK_SECONDS", 0.0)
    return open_page(PAGE)


def upload(app, name, content):
    app.file_uploader[0].upload(name, content)
    return app.run()


def words(app):
    waiting = app.session_state.get("_notices", [])
    # Without what keeps Markdown from reading the sentence in another way.
    return " ".join(sentence.replace("\\", "").replace("\u2060", "") for _, sentence in waiting)


def after_reading(app, workspace):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not uploads.wait_for_reading(workspace, 0.05):
        assert time.monotonic() < deadline
    return app.run()


def buttons(app):
    return [button.label for button in app.button]


def test_a_file_is_opened_when_its_process_has_read_it(app, workspace):
    upload(app, "small.csv", SMALL)
    assert workspace.table_state().name == "cirrhosis"
    assert "Cancel" in buttons(app)

    after_reading(app, workspace)

    assert not app.exception
    assert workspace.table().frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    assert "small.csv is open" in words(app)
    assert "Cancel" not in buttons(app)


def test_a_reading_is_cancelled_and_can_be_started_again(app, workspace):
    upload(app, "small.csv", SMALL)
    app.button(key="data:cancel_reading").click().run()

    assert not app.exception
    assert words(app) == "Reading small.csv was cancelled. cirrhosis stays open."
    assert uploads.current_reading(workspace) is None
    assert "Cancel" not in buttons(app)

    next(button for button in app.button if button.label == "Read it again").click().run()
    after_reading(app, workspace)
    assert workspace.table_state().name == "small.csv"


def test_a_file_that_takes_too_long_gets_a_sentence(app, workspace, monkeypatch):
    monkeypatch.setenv("PMAE_UPLOAD_SECONDS", "0.001")
    upload(app, "slow.csv", SMALL)
    monkeypatch.setenv("PMAE_UPLOAD_SECONDS", "60")
    after_reading(app, workspace)

    assert "'slow.csv' needs more than" in words(app)
    assert "The administrator of this server can raise the limit. cirrhosis stays open." in words(
        app
    )


def test_a_workbook_with_a_far_cell_is_refused_soon_and_told_where(open_page, read_inline):
    app = open_page(PAGE)
    upload(app, "far.xlsx", sheet_of((1, cell("A1", 1)), (2, cell("ZZZ2", 1))))

    assert "(cell ZZZ2 has a value), more than the limit of 10,000. Keep only" in words(app)


def test_merged_cells_are_remarked_on(open_page, read_inline):
    book = openpyxl.Workbook()
    for row in (["group", "n"], ["x", 1], [None, 2]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    content = io.BytesIO()
    book.save(content)
    app = upload(open_page(PAGE), "merged.xlsx", content.getvalue())

    assert "merged over several rows is repeated in each row: A2:A3." in words(app)
    assert app.dataframe[0].value.iloc[:, 0].tolist() == ["x", "x"]


def test_one_waits_while_others_are_read(app, workspace, monkeypatch):
    monkeypatch.setattr("dashboard.data.readings.MOST_AT_ONCE", 0)
    upload(app, "small.csv", SMALL)

    assert any("is waiting until other files have been read" in line.value for line in app.markdown)
    app.button(key="data:cancel_reading").click().run()
    assert "was cancelled" in words(app)
