"""The server cleans up its home: once per hour, whatever else shares the home."""

import threading
import time

import pandas as pd
import pytest

from dashboard.classroom.store import ClassQuestion, Classroom, Desk
from dashboard.shell import collection
from dashboard.state.one_time_codes import create_code
from dashboard.state.workspace import Workspace
from pmae_core.errors import PMAEError
from pmae_core.jobs import JobSpec, JobState, JobStore
from tests.support.aging import age
from tests.support.job_states import run_through
from tests.support.waiting import eventually

HOUR = 3600.0
QUESTION = ClassQuestion(lesson="patterns", seed=1, settings={}, right="a")
TABLE = pd.DataFrame({"a": [1.0, None], "b": [3.0, 4.0]})


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path))
    return tmp_path


def files_of(home):
    return [path for path in home.rglob("*") if path.is_file() and "jobs.sqlite" not in path.name]


def test_all_that_expired_goes_together(home):
    collection.collect_home(home)
    before = files_of(home)
    own = Workspace.create()
    own.save_table(TABLE, name="t", source="a test")
    create_code(own)
    Desk.start(QUESTION, rows=TABLE)
    store = JobStore(home)
    digest = store.put_table(TABLE, own.id)
    spec = JobSpec.make("impute", params={"method": "naive"}, table=digest)
    run_through(store, spec, JobState.SUCCEEDED, workspace=own.id)
    collection.collect_home(home)
    assert len(files_of(home)) > len(before) + 5

    age(home, 31 * 24 * HOUR)
    collection.collect_home(home)

    assert files_of(home) == before
    assert store.count() == 0


def test_a_class_that_students_use_stays(home):
    desk, _ = Desk.start(QUESTION)

    age(home, 23 * HOUR)
    collection.collect_home(home)

    assert Classroom.open(desk.classroom.code) is not None


def test_servers_that_share_a_home_clean_up_once(home):
    start, reports = threading.Barrier(4), []

    def server():
        start.wait()
        reports.append(collection.collect_if_due(home, HOUR))

    servers = [threading.Thread(target=server) for _ in range(4)]
    for one in servers:
        one.start()
    for one in servers:
        one.join()

    assert sum(report is not None for report in reports) == 1
    assert collection.collect_if_due(home, 0.0) is not None, "due again"


def test_it_runs_in_the_background_and_survives_a_failure(home, monkeypatch, caplog):
    monkeypatch.setenv("PMAE_COLLECTION_MINUTES", "0.001")
    collect_if_due, failures = collection.collect_if_due, [OSError("no room")]

    def fail_at_first(home, seconds):
        if failures:
            raise failures.pop()
        return collect_if_due(home, seconds)

    monkeypatch.setattr(collection, "collect_if_due", fail_at_first)
    own = Workspace.create()
    age(home, 31 * 24 * HOUR)
    background = collection.BackgroundCollection()

    background.start()
    thread = background.thread
    background.start()

    assert background.thread is thread
    assert eventually(lambda: not own.folder.exists())
    assert "The clean-up failed" in caplog.text
    background.stop()
    assert not thread.is_alive()


def test_it_can_be_switched_off(home, monkeypatch):
    monkeypatch.setenv("PMAE_COLLECTION_MINUTES", "0")
    background = collection.BackgroundCollection()

    background.start()

    assert background.thread is None


def test_minutes_that_are_none_are_refused(monkeypatch):
    monkeypatch.setenv("PMAE_COLLECTION_MINUTES", "often")

    with pytest.raises(PMAEError, match="a number of minutes"):
        collection.collection_minutes()


def test_a_clock_that_was_set_back_stops_no_clean_up(home, monkeypatch):
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 100 * 24 * HOUR)
    collection.collect_if_due(home, HOUR)
    monkeypatch.setattr(time, "time", lambda: now)

    assert collection.collect_if_due(home, HOUR) is not None
