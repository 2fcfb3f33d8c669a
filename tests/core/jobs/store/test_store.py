"""One store for all: opened again, by many processes and threads at once."""

import threading

from pmae_core.jobs.store import JobStore
from tests.support.job_states import claim, in_processes


def test_a_store_is_opened_again(home, spec, store):
    job_id = store.submit(spec).id
    assert JobStore(home).job(job_id) == store.job(job_id)


def test_the_default_home_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("PMAE_HOME", str(tmp_path / "mine"))
    assert JobStore().home == tmp_path / "mine"
    assert (tmp_path / "mine" / "jobs.sqlite").exists()


def test_eight_processes_writing_at_once_lose_nothing(store, spec):
    """They share a store over the fork, and one job's events between them."""
    shared = store.submit(spec).id
    _, token = claim(store)

    def write(number):
        own = store.submit(spec, name=f"writer {number}").id
        for step in range(25):
            store.append_events(shared, token, [("step", {"writer": number, "step": step})] * 2)
            store.heartbeat(shared, token, memory_mb=float(step))
        return own

    ids = in_processes(write, 8)

    assert len(set(ids)) == 8
    assert {record.id for record in store.jobs()} == {shared, *ids}
    events = store.events(shared)
    assert [event.seq for event in events] == list(range(1, 2 + 8 * 50 + 1))
    for number in range(8):
        steps = [event.data["step"] for event in events[2:] if event.data["writer"] == number]
        assert steps == [step for step in range(25) for _ in range(2)]
    assert store.submit(spec).id  # the parent's connection still works


def test_many_processes_may_open_a_new_home(tmp_path):
    def open_new(number):
        return JobStore(tmp_path / "new").count()

    assert in_processes(open_new, 8) == [0] * 8


def test_threads_have_connections_of_their_own(store, spec):
    def submit():
        for _ in range(5):
            store.submit(spec)

    threads = [threading.Thread(target=submit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count() == 20
