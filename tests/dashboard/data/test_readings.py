"""The queue of files that are being read."""

import pytest

from dashboard.data import readings
from dashboard.data.readings import MOST_AT_ONCE, Reading, ReadingOptions, Readings


class Process:
    """Reads until it is told to end."""

    def __init__(self):
        self.has_ended = self.is_cancelled = False

    def wait(self, seconds):
        return self.has_ended

    def cancel(self):
        self.is_cancelled = self.has_ended = True

    def result(self):
        return "the table"


@pytest.fixture
def queue():
    return Readings()


def add(queue, owner):
    process = Process()
    queue.add(owner, Reading(f"{owner}.csv", ReadingOptions(), lambda: process))
    return process


def test_what_was_read_is_taken_once(queue):
    process = add(queue, "one")
    assert queue.take_ended("one") is None
    assert not queue.wait("one", 0)
    process.has_ended = True
    assert queue.wait("one")
    assert queue.take_ended("one").result() == "the table"
    assert queue.take_ended("one") is None
    assert queue.wait("one")  # there is nothing to wait for


def test_more_files_wait_for_their_turn(queue):
    owners = [f"visitor {number}" for number in range(MOST_AT_ONCE + 2)]
    processes = [add(queue, owner) for owner in owners]
    waiting = [queue.find(owner).is_waiting for owner in owners]
    assert waiting == [False] * MOST_AT_ONCE + [True, True]
    processes[0].has_ended = True
    assert not queue.find(owners[MOST_AT_ONCE]).is_waiting
    assert queue.find(owners[-1]).is_waiting
    queue.cancel(owners[1])
    assert not queue.find(owners[-1]).is_waiting


def test_another_upload_ends_the_reading_before(queue):
    first = add(queue, "one")
    second = add(queue, "one")
    assert first.is_cancelled
    assert not second.is_cancelled


def test_one_that_waits_can_be_cancelled(queue):
    for number in range(MOST_AT_ONCE):
        add(queue, f"other {number}")
    process = add(queue, "one")
    assert queue.cancel("one").name == "one.csv"
    assert queue.find("one") is None
    assert queue.cancel("one") is None
    assert not process.is_cancelled  # it never began


def test_a_process_that_does_not_start_is_told_to_who_asked(queue):
    def fail():
        raise OSError(24, "Too many open files")

    queue.add("one", Reading("one.csv", ReadingOptions(), fail))
    assert queue.find("two") is None
    with pytest.raises(OSError, match="Too many open files"):
        queue.take_ended("one").result()


def test_a_table_that_nobody_fetches_is_forgotten(queue, monkeypatch):
    monkeypatch.setattr(readings, "KEPT_SECONDS", 0.0)
    process = add(queue, "one")
    assert queue.find("one") is not None  # however long it takes
    process.has_ended = True
    queue.find("two")
    assert queue.find("one") is None
