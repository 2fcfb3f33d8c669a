"""The class that is simulated speaks with the real server, and its failures are counted."""

import json

import pytest
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.service import classroom_load
from benchmarks.service.classroom_load import (
    LAB,
    class_at_work,
    class_by_code,
    many_reruns,
    parsed,
    release_sliders,
    summary,
)
from tests.support.studio import StudioServer
from tests.support.wire import VisitFailed, WireVisitor


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with StudioServer(tmp_path_factory.mktemp("class")) as running:
        yield running


@pytest.fixture
def hasty(monkeypatch):
    """Let everybody think and wait for a fraction of the time, as no class would."""
    monkeypatch.setattr(classroom_load, "THINK_SECONDS", (0.1, 0.2))
    for name in ("POLL_SECONDS", "QUESTION_SECONDS", "SOLUTION_SECONDS"):
        monkeypatch.setattr(classroom_load, name, 0.5)


@pytest.mark.slow
def test_a_small_class_works_without_failures(server, hasty):
    result = class_at_work(server, parsed(["--students=2", "--training=0", "--minutes=0.1"]))

    assert result["failures"] == []
    assert server.failures() == []
    assert result["interactions_by_kind"]["learn opens"]["count"] >= 2
    assert result["memory_mb"]["most"] >= result["memory_mb"]["before"]


@pytest.mark.slow
def test_reruns_of_one_session_are_counted(server):
    result = many_reruns(server, 5)

    assert result["seconds"]["count"] == 5
    assert server.failures() == []


@pytest.mark.slow
def test_a_widget_does_what_it_does_in_a_browser(server):
    with WireVisitor(server.url) as visitor:
        visitor.open("train")
        assert "b: overall masking rate" in visitor.labels("slider")
        visitor.set("Masking function", "Constant")
        assert "a: effect of missingness" not in shown_after(visitor)


@pytest.mark.slow
def test_a_live_figure_is_let_go_as_in_a_browser(server):
    with WireVisitor(server.url) as visitor:
        visitor.open("masking_lab")
        release_sliders(visitor, a=0.25, b=0.4)
        visitor.open("masking_lab")
        values = json.loads(visitor.widgets[LAB].proto.json)["settings"]["values"]
        assert (values["a"], values["b"]) == (0.25, 0.4)


def shown_after(visitor: WireVisitor) -> list[str]:
    """Open the page again: the workspace remembers, and only what is shown now is there."""
    visitor.open("train")
    return visitor.labels("slider")


@pytest.mark.slow
def test_a_class_by_its_code_works_without_failures(server, hasty):
    options = parsed(["--students=2", "--training=0", "--minutes=0.15"])

    result = class_by_code(server, options)

    assert result["failures"] == []
    assert server.failures() == []
    waits = result["interactions_by_kind"]
    assert waits["joins"]["count"] == 2
    assert waits["student's poll"]["count"] >= 2
    assert waits["reveal"]["count"] >= 1


def test_a_folder_that_is_no_checkout_is_refused(tmp_path):
    for option in ("--tree", "--before"):
        with pytest.raises(SystemExit):
            parsed([option, str(tmp_path)])


@pytest.mark.parametrize("kind", ["exception", "alert"])
def test_a_failed_page_is_a_failed_visit(kind):
    message = ForwardMsg()
    element = message.delta.new_element
    if kind == "exception":
        element.exception.message = "no"
    else:
        element.alert.body = "This part of the page failed. Your table and settings are safe."
    assert isinstance(element, Element)

    with pytest.raises(VisitFailed):
        WireVisitor("http://localhost")._take_in(message)


@pytest.mark.parametrize("option", ["--students=301", "--minutes=0", "--reruns=0", "--training=-1"])
def test_a_benchmark_has_bounds(option):
    with pytest.raises(SystemExit):
        parsed([option])


def test_summary():
    assert summary([0.1]) == {"count": 1}
    assert summary([float(n) for n in range(1, 101)]) == {
        "count": 100,
        "median_seconds": 50.5,
        "p95_seconds": 95.05,
        "longest_seconds": 100.0,
    }


@pytest.mark.slow
def test_a_file_is_sent_as_a_browser_sends_it(server):
    with WireVisitor(server.url) as visitor:
        visitor.open("")
        visitor.upload("Open your file", "small.csv", b"a,b\n1,2\n3,4\n")
        while visitor.is_refreshing:
            visitor.refresh()
        visitor.open("")
        assert any("small" in label for label in visitor.labels("button"))
    assert server.failures() == []
