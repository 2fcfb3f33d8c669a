"""What a server behind a login refuses before any page runs."""

import asyncio

import pytest

from dashboard.shell import gate
from dashboard.state.recent import Recent

UPLOAD = "/_stcore/upload_file/{}/a-file"


@pytest.fixture(autouse=True)
def no_admissions(monkeypatch):
    monkeypatch.setattr(gate, "_admissions", Recent(2))
    monkeypatch.setattr(gate.Gate, "is_in_place", False)


def request(path, kind="http"):
    """Send a request through the gate; return its status, 200 if it reached the server behind."""
    sent = []

    async def server(scope, receive, send):
        sent.append({"status": 200})

    async def receive():
        raise AssertionError("the body of a refused request is not read")

    async def send(message):
        sent.append(message)

    asyncio.run(gate.Gate(server)({"type": kind, "path": path}, receive, send))
    return sent[0]["status"]


@pytest.mark.parametrize("path", ["/", "/data", "/_stcore/health", "/media/x.csv", "/static/a.js"])
def test_pages_and_their_parts_are_open(path):
    assert request(path) == 200


def test_the_stream_of_a_page_is_open():
    assert request("/_stcore/stream", kind="websocket") == 200


def test_uploads_are_taken_only_of_sessions_that_were_let_in():
    assert request(UPLOAD.format("jane")) == 403
    gate.note_admission("jane", admitted=True)

    assert request(UPLOAD.format("jane")) == 200
    assert request("/studio" + UPLOAD.format("jane")) == 200
    assert request(UPLOAD.format("mallory")) == 403
    assert request("/studio" + UPLOAD.format("mallory")) == 403
    assert request("/_stcore/upload_file//x") == 403


def test_a_session_that_is_let_in_no_longer_uploads_no_longer():
    gate.note_admission("jane", admitted=True)
    gate.note_admission("jane", admitted=False)

    assert request(UPLOAD.format("jane")) == 403


def test_the_oldest_sessions_are_forgotten():
    for name in ("one", "two", "three"):
        gate.note_admission(name, admitted=True)

    assert [request(UPLOAD.format(name)) for name in ("one", "two", "three")] == [403, 200, 200]


def test_strangers_push_out_nobody():
    gate.note_admission("jane", admitted=True)
    for number in range(9):
        gate.note_admission(f"stranger {number}", admitted=False)

    assert request(UPLOAD.format("jane")) == 200


def test_metrics_are_closed():
    assert request("/_stcore/metrics") == 403
