"""Who may enter; by default everybody."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.errors import StreamlitAuthError
from streamlit.testing.v1 import AppTest

from dashboard.shell import access, gate
from dashboard.state.recent import Recent

APP = Path(__file__).parents[3] / "dashboard" / "app.py"
JANE = {"is_logged_in": True, "email": "Jane@example.org", "email_verified": True}


@pytest.fixture
def visit(tmp_path, monkeypatch):
    """Return a function that opens the app as a user that the provider tells of."""
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    monkeypatch.setenv(access.LOGIN, "oidc")
    monkeypatch.setattr(gate.Gate, "is_in_place", True)
    monkeypatch.setattr(gate, "_admissions", Recent(9))
    st.cache_data.clear()
    st.cache_resource.clear()

    def open_app(**user):
        monkeypatch.setattr(access.st, "user", SimpleNamespace(to_dict=lambda: user))
        return AppTest.from_file(str(APP), default_timeout=60).run()

    return open_app


def labels(app):
    return [button.label for button in app.button]


def test_nobody_is_asked_by_default(visit, monkeypatch):
    monkeypatch.delenv(access.LOGIN)

    app = visit()

    assert app.title[0].value == "Data"
    assert "Log out" not in labels(app)


def test_who_is_not_logged_in_sees_only_the_way_to_log_in(visit, monkeypatch):
    asked = []
    monkeypatch.setattr(access.st, "login", lambda: asked.append(True))

    app = visit(is_logged_in=False)

    assert labels(app) == ["Log in"]
    assert not app.dataframe
    app.button[0].click().run()
    assert asked == [True]


def test_who_is_logged_in_sees_the_pages(visit):
    app = visit(**JANE)

    assert app.title[0].value == "Data"
    assert "Log out" in labels(app)


def test_a_stranger_is_told_so_and_sees_nothing(visit, monkeypatch):
    monkeypatch.setenv(access.ALLOW, "@example.com")

    app = visit(**JANE)

    assert "has no access. Log in with" in app.error[0].value
    assert not app.dataframe


def test_who_has_no_verified_address_is_told_so_unless_that_is_allowed(visit, monkeypatch):
    monkeypatch.setenv(access.ALLOW, "@example.org")
    jane = {**JANE, "email_verified": "false"}

    app = visit(**jane)
    assert "has no access because the login provider has not verified" in app.error[0].value
    assert not app.dataframe

    monkeypatch.setenv(access.UNVERIFIED, "allow")
    assert visit(**jane).title[0].value == "Data"


@pytest.mark.parametrize(("user", "is_refused"), [({"is_logged_in": False}, True), (JANE, False)])
def test_only_who_sees_the_pages_may_upload(visit, user, is_refused):
    visit(**user)

    # AppTest gives all sessions this name.
    assert gate.is_refused("/_stcore/upload_file/test session id/x") == is_refused


def test_a_server_that_would_take_uploads_of_strangers_lets_nobody_in(visit, monkeypatch):
    monkeypatch.setattr(gate.Gate, "is_in_place", False)

    app = visit(**JANE)

    assert "Start it with: pmae serve" in app.error[0].value.replace("\\", "")
    assert not app.dataframe


@pytest.mark.parametrize(
    ("variable", "value", "user", "sentence"),
    [
        (access.LOGIN, "oidc", {}, "no provider is configured"),
        (access.LOGIN, "yes", JANE, "must be 'oidc' or empty"),
        (access.UNVERIFIED, "1", JANE, "must be 'allow' or empty"),
    ],
)
def test_what_cannot_work_lets_nobody_in(visit, monkeypatch, variable, value, user, sentence):
    monkeypatch.setenv(variable, value)

    app = visit(**user)

    assert sentence in app.error[0].value.replace("\\", "")
    assert not app.dataframe


def test_a_provider_that_fails_is_said_in_a_sentence(visit, monkeypatch):
    def fail():
        raise StreamlitAuthError("Authlib is missing.")

    monkeypatch.setattr(access.st, "login", fail)

    app = visit(is_logged_in=False).button[0].click().run()

    assert "Nobody can log in" in app.error[0].value
    assert not app.exception


@pytest.mark.parametrize(
    ("allowed", "user", "may"),
    [
        ("", {}, True),
        (" , ", JANE, True),
        ("jane@example.org", JANE, True),
        ("bob@example.org, @Example.org", JANE, True),
        ("example.org", JANE, False),
        ("@ample.org", JANE, False),
        ("@example.org", {**JANE, "email": "jane@evil.org"}, False),
        ("@example.org", {**JANE, "email": "jane@example.org@evil.org"}, False),
        ("@example.org", {"name": "Jane", "email_verified": True}, False),
    ],
)
def test_who_is_allowed(allowed, user, may):
    assert access.is_allowed(user, allowed) == may


@pytest.mark.parametrize(
    "said", [{}, *({"email_verified": v} for v in (False, 0, 1, "false", "true", None))]
)
def test_an_address_counts_only_if_it_is_verified(said):
    user = {"email": "jane@example.org", **said}

    assert not access.is_allowed(user, "@example.org")
    assert access.is_allowed(user, "@example.org", unverified=True)
    assert not access.is_allowed(user, "@example.com", unverified=True)
