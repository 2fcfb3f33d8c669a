import base64
import contextlib
import json
import os
import shutil
import time
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from dashboard.state import links, one_time_codes, session
from dashboard.state.workspace import Workspace


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    st.cache_data.clear()
    st.cache_resource.clear()
    return tmp_path


def run(script, *, token=None, **query):
    """Run a script in a new session: of a newcomer, or of a browser that keeps a token."""
    app = AppTest.from_function(script, default_timeout=30)
    if token:
        app.session_state[session.TOKEN_KEY] = token
    app.query_params.update(query)
    return app.run()


def token_of(app):
    return app.session_state[session.TOKEN_KEY]


def notices_of(app):
    return " ".join(notice.value for notice in (*app.info, *app.warning))


def show_workspace():
    import streamlit as st

    from dashboard.state import links, notices, session
    from dashboard.state.allowed_values import AnyText

    links.apply_shared_settings(lambda section: {"a": AnyText()} if section == "lab" else {})
    st.text(session.workspace().token)
    st.text(session.open_table().name)
    for kind, sentence in notices.take_notices():
        getattr(st, kind)(sentence)


def show_widgets():
    import streamlit as st

    from dashboard.state import links, memory, notices
    from dashboard.state.allowed_values import Choice, NumberWithin, TrueOrFalse

    allowed = {
        "a": NumberWithin(0.0, 1.0),
        "n": NumberWithin(1, 9),
        "column": Choice(["x", "y"]),
        "on": TrueOrFalse(),
    }
    links.apply_shared_settings(lambda section: allowed if section == "lab" else {})
    notices.show_notices()
    options = st.session_state.get("options", ["x", "y"])
    values = {
        "a": memory.remembered(
            st.slider,
            "a",
            section="lab",
            name="a",
            default=0.25,
            min_value=0.0,
            max_value=1.0,
            on_change=lambda: st.session_state.update(told=True),
        ),
        "n": memory.remembered(
            st.number_input, "n", section="lab", name="n", default=3, min_value=1, max_value=9
        ),
        "column": memory.remembered(
            st.selectbox, "column", section="lab", name="column", default="x", options=options
        ),
        "many": memory.remembered(
            st.multiselect, "many", section="lab", name="many", default=["x"], options=options
        ),
        "on": memory.remembered(st.toggle, "on", section="lab", name="on", default=False),
        "range": memory.remembered(
            st.slider,
            "range",
            section="lab",
            name="range",
            default=(2, 5),
            min_value=0,
            max_value=10,
        ),
    }
    st.button("preset", on_click=memory.remember, args=("lab",), kwargs={"a": 0.75, "on": True})
    st.json(values)


def values_of(app):
    assert not app.exception
    return json.loads(app.json[0].value)


# The workspace


def test_a_newcomer_gets_a_workspace_with_the_sample():
    app = run(show_workspace)

    assert not app.exception
    token, name = (text.value for text in app.text)
    assert name == session.FIRST_SAMPLE
    assert token_of(app) == token
    assert Workspace.open(token).table_state().name == name


def test_an_old_link_with_the_token_opens_its_workspace_and_leaves_the_address():
    token = run(show_workspace).text[0].value

    app = run(show_workspace, w=token)

    assert app.text[0].value == token
    assert "w" not in app.query_params
    assert "for the last time" in notices_of(app)


def test_an_old_link_lets_in_one_browser_and_always_its_owner(monkeypatch):
    token = run(show_workspace).text[0].value
    run(show_workspace, w=token)

    late = run(show_workspace, w=token)
    assert late.text[0].value != token
    assert "no longer works" in late.warning[0].value
    assert "w" not in late.query_params

    cookies = {session.cookie_name(): token}
    monkeypatch.setattr(
        session.st, "context", SimpleNamespace(cookies=cookies, url=None, timezone_offset=None)
    )
    owner = run(show_workspace, w=token)
    assert owner.text[0].value == token
    assert notices_of(owner) == ""


def test_an_address_that_is_sent_twice_is_the_same_visit():
    """A browser may send its address again before it hears that the link has left it."""
    owner = Workspace.create()
    made = one_time_codes.create_code(owner)
    for link in ({"w": owner.token}, {"enter": made.code}):
        app = run(show_workspace, **link)
        app.query_params.update(link)
        app.run()

        assert app.text[0].value == owner.token
        assert "no longer works" not in notices_of(app)
        assert not set(link) & set(app.query_params)


def test_a_one_time_link_opens_the_workspace_and_leaves_the_address():
    owner = Workspace.create()
    made = one_time_codes.create_code(owner)

    app = run(show_workspace, enter=made.code)

    assert app.text[0].value == owner.token
    assert "enter" not in app.query_params
    assert notices_of(app) == ""


@pytest.mark.parametrize("spoil", ["used", "expired", "tampered", "workspace removed"])
def test_a_one_time_link_that_is_no_longer_good_opens_the_visitor_s_own_workspace(spoil):
    owner, visitor = Workspace.create(), Workspace.create()
    made = one_time_codes.create_code(owner, now=0.0 if spoil == "expired" else None)
    code = made.code
    if spoil == "used":
        run(show_workspace, enter=code)
    elif spoil == "tampered":
        code = code.swapcase()
    elif spoil == "workspace removed":
        shutil.rmtree(owner.folder)

    app = run(show_workspace, token=visitor.token, enter=code)

    assert not app.exception
    assert app.text[0].value == visitor.token
    assert "This link no longer works" in app.warning[0].value
    assert "enter" not in app.query_params


def show_workspace_with_return():
    import streamlit as st

    from dashboard.state import session

    st.text(session.workspace().token)
    if session.has_previous_workspace():
        st.button("Return", on_click=session.return_to_previous_workspace)


def test_a_link_leaves_a_way_back_to_the_workspace_that_the_browser_had():
    owner, visitor = Workspace.create(), Workspace.create()
    made = one_time_codes.create_code(owner)
    app = run(show_workspace_with_return, token=visitor.token, enter=made.code)
    app.session_state["lab:a"] = "a setting of the owner"
    assert app.text[0].value == owner.token

    app.button[0].click().run()

    assert app.text[0].value == visitor.token
    assert "lab:a" not in app.session_state
    assert not app.button


def test_a_link_to_the_own_workspace_needs_no_way_back():
    own = Workspace.create()
    made = one_time_codes.create_code(own)

    assert not run(show_workspace_with_return, token=own.token, enter=made.code).button


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://localhost:8501/compare", "pmae_workspace_8501"),
        ("https://studio.example.org/", "pmae_workspace"),
    ],
)
def test_a_reload_finds_the_workspace_in_the_browser(monkeypatch, url, name):
    token = run(show_workspace).text[0].value
    browser = SimpleNamespace(cookies={name: token}, url=url, timezone_offset=None)
    monkeypatch.setattr(session.st, "context", browser)

    assert run(show_workspace).text[0].value == token


def test_each_visit_writes_the_token_into_the_browser_once(monkeypatch):
    written = []
    monkeypatch.setattr(session, "write_cookie", lambda *args, **_: written.append(args))
    browser = SimpleNamespace(cookies={}, url="http://localhost:8501/")
    monkeypatch.setattr(session.st, "context", browser)
    own = Workspace.create()
    monkeypatch.setattr(session, "workspace", lambda: own)

    monkeypatch.setattr(session.st, "session_state", {})

    session.keep_token_in_browser()
    browser.cookies = {"pmae_workspace_8501": own.token}
    session.keep_token_in_browser()

    assert written == [("pmae_workspace_8501", own.token)]

    session.st.session_state.clear()  # the next visit
    session.keep_token_in_browser()
    session.keep_token_in_browser()

    assert written == [("pmae_workspace_8501", own.token)] * 2


def test_two_visitors_get_two_workspaces():
    assert run(show_workspace).text[0].value != run(show_workspace).text[0].value


def test_a_page_switch_keeps_the_workspace():
    app = run(show_workspace)
    token = app.text[0].value

    app.run()

    assert app.text[0].value == token


@pytest.mark.parametrize("token", ["a" * 32, "../../etc/passwd"])
def test_an_unknown_token_gives_a_new_workspace_and_says_so(token):
    app = run(show_workspace, w=token)

    assert not app.exception
    assert app.text[0].value != token
    assert "no longer exists" in app.info[0].value


def test_a_workspace_removed_meanwhile_is_replaced():
    app = run(show_workspace)
    shutil.rmtree(Workspace.open(app.text[0].value).folder)

    app.run()

    assert not app.exception
    assert app.text[1].value == session.FIRST_SAMPLE
    assert "no longer exists" in app.info[0].value


def test_an_expired_workspace_is_replaced_by_a_new_one():
    token = run(show_workspace).text[0].value
    long_ago = time.time() - 31 * 86400
    os.utime(Workspace.open(token).folder / "last_used", (long_ago, long_ago))

    app = run(show_workspace, w=token)

    assert app.text[0].value != token
    assert "no longer exists" in app.info[0].value


# Remembered widgets


def test_widgets_begin_with_their_defaults():
    assert values_of(run(show_widgets)) == {
        "a": 0.25,
        "n": 3,
        "column": "x",
        "many": ["x"],
        "on": False,
        "range": [2, 5],
    }


def test_values_are_there_again_in_a_new_session():
    app = run(show_widgets)
    app.slider[0].set_value(0.5).run()
    app.number_input[0].set_value(7).run()
    app.selectbox[0].set_value("y").run()
    app.multiselect[0].set_value(["x", "y"]).run()
    app.toggle[0].set_value(True).run()
    app.slider[1].set_value((1, 9)).run()

    again = run(show_widgets, token=token_of(app))

    assert values_of(again) == values_of(app)
    assert values_of(again)["range"] == [1, 9]
    assert app.session_state["told"]


def test_values_that_do_not_fit_any_more_are_replaced():
    token = token_of(run(show_widgets))
    Workspace.open(token).update(
        "lab", a=7, n="three", column="gone", many=["gone", "y", "y"], on="yes", range=[1, 2, 3]
    )

    assert values_of(run(show_widgets, token=token)) == {
        "a": 1.0,
        "n": 3,
        "column": "x",
        "many": ["y"],
        "on": False,
        "range": [2, 5],
    }


@pytest.mark.parametrize("value", [10**400, [10**400, 2], {"x": 1}], ids=["huge", "list", "object"])
def test_a_workspace_with_values_that_no_widget_can_show_opens(value):
    token = token_of(run(show_widgets))
    names = ("a", "n", "column", "many", "on", "range")
    Workspace.open(token).update("lab", **dict.fromkeys(names, value))

    values_of(run(show_widgets, token=token))


def test_options_may_change_while_the_page_is_open():
    app = run(show_widgets)
    app.selectbox[0].set_value("y").run()
    app.session_state["options"] = ["p", "q"]

    app.run()

    assert values_of(app)["column"] == "p"
    assert values_of(app)["many"] == []


def test_a_tab_with_old_values_does_not_overwrite_those_of_another():
    old = run(show_widgets)
    token = token_of(old)
    new = run(show_widgets, token=token)
    new.slider[0].set_value(0.9).run()

    old.toggle[0].set_value(True).run()

    assert Workspace.open(token).get("lab") == {"a": 0.9, "on": True}


def test_presets_move_widgets_and_are_kept():
    app = run(show_widgets)

    app.button[0].click().run()

    assert values_of(app)["a"] == 0.75
    assert values_of(app)["on"] is True
    assert Workspace.open(token_of(app)).get("lab") == {"a": 0.75, "on": True}


def test_a_message_sent_before_a_preset_arrived_does_not_take_it_back():
    app = run(show_widgets)
    app.slider[0].set_value(0.5).run()
    sent_before = app._tree.get_widget_states()
    app.button[0].click().run()

    app._run(sent_before)

    assert values_of(app)["a"] == 0.75
    assert Workspace.open(token_of(app)).get("lab") == {"a": 0.75, "on": True}


# Links


def shared_part(link):
    return parse_qs(urlsplit(link).query)["s"][0]


def test_a_link_carries_the_settings_and_not_the_workspace():
    link = links.share_link("masking_lab", {"a": 0.5}, section="lab")

    assert set(parse_qs(urlsplit(link).query)) == {links.SHARED_PARAMETER}
    app = run(show_widgets, s=shared_part(link))
    assert values_of(app)["a"] == 0.5
    assert "s" not in app.query_params
    assert Workspace.open(token_of(app)).get("lab") == {"a": 0.5}


def test_a_link_is_applied_once_in_the_visitor_s_own_workspace():
    token = token_of(run(show_widgets))
    app = run(show_widgets, token=token, s=shared_part(links.share_link("lab", {"a": 0.5})))
    app.slider[0].set_value(0.1).run()

    assert token_of(app) == token
    assert values_of(app)["a"] == 0.1


def encoded(content):
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "shared",
    [
        "",
        "%%%",
        "eyJ",
        "é",
        "a" * 9000,
        encoded({"a": 1}),
        encoded(["lab", ["a"]]),
        encoded([["lab"], {"a": 1}]),
        base64.urlsafe_b64encode(b"[" * 6000).decode(),
        base64.urlsafe_b64encode(b'["lab",{"a":' + b"1" * 5000 + b"}]").decode(),
    ],
)
def test_a_link_that_cannot_be_read_changes_nothing(shared):
    app = run(show_workspace, s=shared)

    assert not app.exception
    assert "cannot be read" in app.warning[0].value
    assert Workspace.open(token_of(app)).get("lab") == {}


def test_strange_values_of_a_link_are_neither_used_nor_kept():
    strange = {"a": "<b>", "n": 10**400, "column": ["x"], "on": 1}
    app = run(show_widgets, s=encoded(["lab", strange]))

    assert values_of(app) == values_of(run(show_widgets))
    assert app.warning[0].value == (
        "This link had settings we could not use: `a`, `n`, `column` and `on`."
    )
    assert Workspace.open(token_of(app)).get("lab") == {}


def test_what_a_link_has_besides_strange_values_is_used():
    app = run(show_widgets, s=encoded(["lab", {"a": 0.5, "n": 0, "*x*": 1, "section": 2}]))

    assert values_of(app)["a"] == 0.5
    assert values_of(app)["n"] == 3
    assert Workspace.open(token_of(app)).get("lab") == {"a": 0.5}
    (refused,) = app.warning
    assert refused.value == ("This link had settings we could not use: `n` and 2 unknown settings.")
    assert "This page has the settings of the link." in app.info[-1].value


def test_a_link_changes_no_section_of_which_no_links_are_made():
    app = run(show_widgets, s=encoded(["jobs", {"heard_until": "x"}]))

    assert app.warning[0].value == "This link had settings we could not use: 1 unknown setting."
    assert not app.info
    assert Workspace.open(token_of(app)).get("jobs") == {}


settings = some.dictionaries(
    some.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True),
    some.none()
    | some.booleans()
    | some.integers()
    | some.text()
    | some.floats(allow_nan=False, allow_infinity=False),
    max_size=5,
)


@given(settings)
def test_settings_survive_a_link(settings):
    shared = shared_part(links.share_link("lab", settings))

    assert links.decoded(shared) == ("lab", settings)


@given(some.text() | some.text("abcdefgh0123-_=", max_size=40))
def test_whatever_an_address_contains_it_is_read_or_refused(shared):
    with contextlib.suppress(ValueError):
        links.read_shared(shared, lambda section: {})
