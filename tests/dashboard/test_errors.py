import pytest
from streamlit.testing.v1 import AppTest

from dashboard.errors import DISK_TROUBLE, NO_MEMORY, OUR_MISTAKE
from pmae_core.storage.disk_trouble import DiskTrouble


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))


def fail():
    import errno

    import streamlit as st

    from dashboard.state import notices
    from dashboard.widgets import errors_as_notices, fragment, shown_errors
    from pmae_core.errors import TableError

    errors = {
        "ours": TableError("The *table* is <b>too</b> large. Take less."),
        "bug": KeyError("secret detail"),
        "memory": MemoryError(),
        "full": OSError(errno.ENOSPC, "No space left", "/workspaces/secret detail/a.json"),
        "quota": OSError(errno.EDQUOT, "Quota exceeded", "/workspaces/secret detail/a.json"),
        "read-only": OSError(errno.EROFS, "Read-only", "/workspaces/secret detail/a.json"),
        "closed": PermissionError(errno.EACCES, "Denied", "/workspaces/secret detail/a.json"),
        "broken": OSError(errno.EIO, "Input/output error"),
        "key": TableError("There is no file /w/Wm0-zd9sT4c_x3QyB1uV7nKe5RhGa2Lf/upload."),
    }

    def raise_error():
        raise errors[st.session_state.get("which", "ours")]

    for kind, sentence in notices.take_notices():
        getattr(st, kind)(sentence)
    with shown_errors():
        raise_error()
    fragment(raise_error)()
    st.button("fail", on_click=errors_as_notices(raise_error))
    st.text("the rest of the page")


@pytest.mark.parametrize(
    ("which", "sentence"),
    [
        ("ours", r"The \*table\* is \<b\>too\</b\> large\. Take less\."),
        ("bug", OUR_MISTAKE),
        ("memory", NO_MEMORY),
        ("full", DISK_TROUBLE[DiskTrouble.FULL]),
        ("quota", DISK_TROUBLE[DiskTrouble.FULL]),
        ("read-only", DISK_TROUBLE[DiskTrouble.NOT_WRITABLE]),
        ("closed", DISK_TROUBLE[DiskTrouble.NOT_WRITABLE]),
        ("broken", DISK_TROUBLE[DiskTrouble.OTHER]),
        ("key", r"There is no file /w/\[key\]/upload\."),
    ],
)
def test_errors_are_sentences_and_the_page_goes_on(which, sentence, caplog):
    app = AppTest.from_function(fail, default_timeout=30)
    app.session_state["which"] = which
    app.run()

    assert not app.exception
    assert [error.value for error in app.error] == [sentence, sentence]
    assert app.text[0].value == "the rest of the page"
    assert ("secret detail" in caplog.text) == (which == "bug")
    assert ("Traceback" in caplog.text) == (which in ("bug", "memory", "broken"))

    app.button[0].click().run()
    assert [error.value for error in app.error] == [sentence] * 3
