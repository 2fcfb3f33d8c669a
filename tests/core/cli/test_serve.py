"""``pmae serve`` becomes the server of the dashboard."""

import importlib.util
import os

import pytest
from typer.testing import CliRunner

from pmae_core.cli import serve
from pmae_core.cli.app import app


@pytest.fixture
def started(monkeypatch):
    """Collect what would be started instead of becoming it."""
    calls = []
    monkeypatch.setattr(os, "execve", lambda *call: calls.append(call))
    return calls


def test_the_dashboard_of_a_clone(started):
    assert CliRunner().invoke(app, ["serve"]).exit_code == 0

    (path, command, environment) = started[0]
    assert path == command[0]
    script = command[command.index("run") + 1]
    assert script.endswith("/dashboard/app.py")
    assert os.path.isfile(script)
    assert "--server.address=localhost" in command
    assert "--server.headless=false" in command
    assert environment["PYTHONPATH"].split(os.pathsep)[0] == os.path.dirname(
        os.path.dirname(script)
    )


def test_behind_a_login_the_server_knows_who_may_upload(started, monkeypatch):
    monkeypatch.setenv("PMAE_LOGIN", "oidc")

    assert CliRunner().invoke(app, ["serve"]).exit_code == 0

    command = started[0][1]
    script = command[command.index("run") + 1]
    assert script.endswith("/dashboard/server.py")
    assert os.path.isfile(script)


def test_options(started):
    arguments = ["serve", "--port", "8080", "--address", "0.0.0.0", "--no-browser"]
    assert CliRunner().invoke(app, arguments).exit_code == 0

    command = started[0][1]
    assert command[-3:] == [
        "--server.headless=true",
        "--server.address=0.0.0.0",
        "--server.port=8080",
    ]


def test_without_streamlit_a_sentence_says_what_to_install(started, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "streamlit" else found(name)
    )

    result = CliRunner().invoke(app, ["serve"])

    assert result.exit_code == 1
    assert "pip install 'pmae[dashboard]'" in result.output
    assert not started


def test_without_a_dashboard_a_sentence_says_so(started, monkeypatch, tmp_path):
    monkeypatch.setattr(serve, "_HOMES", (tmp_path,))

    result = CliRunner().invoke(app, ["serve"])

    assert result.exit_code == 1
    assert "no dashboard" in result.output
    assert not started
