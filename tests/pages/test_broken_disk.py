"""The app on a disk that is full or read-only: a true sentence, no traceback, no key in the log."""

import errno
import io
import logging

import pytest

from dashboard.errors import DISK_TROUBLE
from dashboard.state import session
from dashboard.state.workspace import workspaces_folder
from pmae_core.storage.disk_trouble import DiskTrouble
from tests.support.disks import broken_disk
from tests.support.seen import words

TROUBLES = pytest.mark.parametrize(
    ("number", "trouble"),
    [(errno.ENOSPC, DiskTrouble.FULL), (errno.EROFS, DiskTrouble.NOT_WRITABLE)],
)


@pytest.fixture
def server_log():
    """All that handlers of the server write."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    before = logging.getLogRecordFactory()
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)
    logging.setLogRecordFactory(before)


@TROUBLES
def test_settings_of_a_page_stay_on_screen(
    open_app, workspace, tmp_path, server_log, number, trouble
):
    app = open_app().switch_page("../pages/compare.py").run()
    with broken_disk(tmp_path, number):
        app.selectbox(key="compare:budget").set_value(60).run()

        assert not app.exception
        assert DISK_TROUBLE[trouble] in [error.value for error in app.error]
        assert app.selectbox(key="compare:budget").value == 60
        app.switch_page("../pages/data.py").run()
        app.switch_page("../pages/compare.py").run()
        assert app.selectbox(key="compare:budget").value == 60
    assert workspace.token not in server_log.getvalue()
    assert "Traceback" not in server_log.getvalue()


@TROUBLES
def test_a_table_opens_and_its_roles_stay_as_they_were(
    open_app, workspace, tmp_path, server_log, number, trouble
):
    open_app()
    before = workspace.table_state()
    with broken_disk(tmp_path, number):
        app = open_app()
        assert "418 rows × 20 columns" in words(app)
        app.selectbox(key="data:sample").set_value("penguins").run()
        assert not app.exception
        assert DISK_TROUBLE[trouble] in [error.value for error in app.error]
        assert "are safe" not in words(app)
    assert workspace.table_state() == before
    assert workspace.token not in server_log.getvalue()


@TROUBLES
def test_a_newcomer_is_told_and_leaves_no_folder_behind(open_app, tmp_path, number, trouble):
    with broken_disk(tmp_path / "workspaces", number):
        app = open_app()
        before = sorted(workspaces_folder().iterdir())
        del app.session_state[session.TOKEN_KEY]
        app.run()
        app.run()
        assert not app.exception
        assert app.error
        assert "are safe" not in words(app)
    assert sorted(workspaces_folder().iterdir()) == before
