"""Widgets that remember, also when the disk does not."""

import errno

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.errors import DISK_TROUBLE
from dashboard.state import session
from dashboard.state.workspace import Workspace
from pmae_core.storage.disk_trouble import DiskTrouble
from tests.support.disks import broken_disk


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    own = Workspace.create()
    own.update("lab", a=0.1)
    return own


def ask():
    import streamlit as st

    from dashboard.state import memory, notices

    notices.show_notices()
    memory.remembered(
        st.slider,
        "a",
        section="lab",
        name="a",
        default=0.5,
        min_value=0.0,
        max_value=1.0,
        on_change=lambda: st.session_state.update(told=True),
    )
    st.button("Preset", on_click=memory.remember, args=("lab",), kwargs={"a": 0.9})


def open_page(own):
    app = AppTest.from_function(ask, default_timeout=30)
    app.session_state[session.TOKEN_KEY] = own.token
    return app.run()


@pytest.mark.parametrize(
    ("number", "trouble"),
    [(errno.ENOSPC, DiskTrouble.FULL), (errno.EROFS, DiskTrouble.NOT_WRITABLE)],
)
def test_a_slider_on_a_broken_disk_keeps_its_value_and_says_so(
    own, tmp_path, caplog, number, trouble
):
    app = open_page(own)
    with broken_disk(tmp_path, number):
        app.slider[0].set_value(0.7).run()

        assert not app.exception
        assert [error.value for error in app.error] == [DISK_TROUBLE[trouble]]
        assert app.slider[0].value == 0.7
        assert app.session_state["told"]
        assert own.token not in caplog.text
        assert "Traceback" not in caplog.text
        # Another page, another tab: nothing of it is lost.
        assert open_page(own).slider[0].value == 0.7

    app.run()
    assert not app.error, "it is said once"
    own.update("lab", b=1)
    on_disk = (own.folder / "settings" / "lab.json").read_text()
    assert on_disk == '{"a": 0.7, "b": 1}', "what waited is written with the next change"


def test_what_another_tab_writes_later_wins_once_it_is_written(own, tmp_path):
    with broken_disk(tmp_path), pytest.raises(OSError, match="No space left"):
        own.update("lab", a=0.7, b=2)
    own.update("lab", a=0.2)
    assert own.get("lab") == {"a": 0.2, "b": 2}
    own.update("lab", b=3)
    assert own.get("lab") == {"a": 0.2, "b": 3}


def test_a_workspace_opens_on_a_disk_that_cannot_be_written(own, tmp_path):
    (own.folder / "last_used").unlink()
    with broken_disk(tmp_path, errno.EROFS):
        assert Workspace.open(own.token).get("lab") == {"a": 0.1}


def ask_in_every_way():
    import streamlit as st

    from dashboard.state import memory

    def ask(widget, name, default, **kwargs):
        memory.remembered(widget, name, section="ways", name=name, default=default, **kwargs)

    options = ["x", "y", "z"]
    ask(st.slider, "slider", 0.0, min_value=-2.0, max_value=2.0)
    ask(st.number_input, "number", 0.0)
    ask(st.toggle, "toggle", False)
    ask(st.text_input, "text", "")
    ask(st.selectbox, "list", "x", options=options)
    ask(st.radio, "radio", "x", options=options)
    ask(st.multiselect, "several", ["x"], options=options)
    ask(st.segmented_control, "segments", "x", options=options)


def test_every_run_tells_the_browser_the_kept_value_as_the_default(own):
    kept = {
        "slider": 0.5, "number": 370.0, "toggle": True, "text": "words", "list": "z",
        "radio": "y", "several": ["y", "z"], "segments": "y",
    }  # fmt: skip
    own.update("ways", **kept)
    app = AppTest.from_function(ask_in_every_way, default_timeout=30)
    app.session_state[session.TOKEN_KEY] = own.token

    for _ in range(2):  # the session state is news to the browser in the first run only
        app.run()
        assert not app.exception
        assert list(app.slider[0].proto.default) == [0.5]
        assert app.number_input[0].proto.default == 370.0
        assert app.toggle[0].proto.default is True
        assert app.text_input[0].proto.default == "words"
        assert app.selectbox[0].proto.default == 2
        assert app.radio[0].proto.default == 1
        assert list(app.multiselect[0].proto.default) == [1, 2]
        assert list(app.get("button_group")[0].proto.default) == [1]
