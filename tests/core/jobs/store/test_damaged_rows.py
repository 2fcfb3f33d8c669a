"""One damaged row is one damaged job: lists, the queue and clean-ups go on."""

import json
import sqlite3

import numpy as np
import pytest

from pmae_core.errors import JobError
from pmae_core.jobs.engines import LocalEngine
from pmae_core.jobs.spec import JobState
from pmae_core.jobs.store import DAMAGED_EVENT
from tests.support.damage import set_column
from tests.support.job_states import claim, run_through

DAMAGES = [
    ("state", "rxnning"),
    ("kind", "dance"),
    ("spec", "{"),
    ("spec", "[]"),
    ("spec", '{"kind": "impute"}'),
    ("spec", b"\xff\xfe"),
    ("progress", "{"),
    ("progress", '{"fraction": "half"}'),
    ("progress", "[1, 2]"),
    ("result", "\x00\x01"),
    ("result", "[]"),
    ("result", '{"n_imputed": "many"}'),
    ("result", '{"notes": 3}'),
    ("estimate", "nan?"),
    ("worker", '{"pid": 1}'),
    ("starter", "5"),
    ("attempt", "often"),
    ("threads", "many"),
    ("created_at", "yesterday"),
    ("queued_at", "soon"),
    ("heartbeat_at", b"\x80"),
    ("name", b"na\xffme"),
    ("error", b"\xff"),
    ("id", "0123"),
]


WORDS = {
    "spec": "specification",
    "attempt": "number of attempts",
    "threads": "number of threads",
    "created_at": "time of submission",
    "queued_at": "time of queuing",
    "heartbeat_at": "last report",
}


@pytest.fixture
def two(store, spec):
    """Two finished jobs; the tests damage the first."""
    return [run_through(store, spec) for _ in range(2)]


@pytest.mark.parametrize(("column", "value"), DAMAGES)
def test_a_damaged_row_is_shown_as_damaged_and_the_rest_as_it_is(store, two, column, value):
    bad, good = two
    set_column(store.home, bad, column, value)

    listing = store.listing()

    assert [job.id for job in listing.jobs] == [good]
    (damaged,) = listing.damaged
    assert damaged.why == f"Its {WORDS.get(column, column)} cannot be read."
    assert damaged.id == (None if column == "id" else bad)
    assert damaged.created_at is None or column != "created_at"
    assert [job.id for job in store.jobs()] == [good]
    assert store.find(good[:12]).id == good


@pytest.mark.parametrize(
    ("column", "value"), [("progress", "{"), ("spec", b"\xff\xfe"), ("id", "0123")]
)
def test_a_damaged_row_can_be_removed(store, two, column, value):
    bad, good = two
    set_column(store.home, bad, column, value)
    (damaged,) = store.listing().damaged

    store.delete_damaged(damaged.number, "another-workspace")
    assert store.listing().damaged == [damaged]
    store.delete_damaged(damaged.number, "local")
    store.delete_damaged(damaged.number)  # again, in another tab

    assert store.listing().damaged == []
    assert [job.id for job in store.jobs()] == [good]
    assert store.paths.job(good).exists()
    assert store.paths.job(bad).exists() is (column == "id")


def test_a_sound_row_is_not_removed_as_damaged(store, two):
    with pytest.raises(JobError, match="not damaged"):
        store.delete_damaged(1)
    assert len(store.jobs()) == 2


def test_to_ask_for_a_damaged_job_is_a_sentence(store, two):
    set_column(store.home, two[0], "progress", "{")
    for ask in (store.job, store.find):
        with pytest.raises(JobError, match=r"is damaged\. Its progress cannot be read\."):
            ask(two[0])


@pytest.mark.parametrize(("column", "value"), [one for one in DAMAGES if one[0] != "state"])
def test_the_queue_goes_on_behind_a_damaged_job(store, spec, column, value):
    bad, good = store.submit(spec).id, store.submit(spec).id
    set_column(store.home, bad, column, value)

    record, _ = claim(store, thread_limit=4)

    assert record.id == good
    assert claim(store, thread_limit=4) is None
    assert len(store.listing().damaged) == 1


def test_a_damaged_running_job_gives_its_place_back(store, spec):
    bad, good = store.submit(spec).id, store.submit(spec).id
    _, token = claim(store, running_limit=1)
    set_column(store.home, bad, "starter", "{")
    engine = LocalEngine(store, concurrency=1)
    engine._start_queued = lambda: None  # no worker is started here

    engine.supervise()

    assert not store.heartbeat(bad, token).holds_claim
    assert claim(store, running_limit=1)[0].id == good


@pytest.mark.parametrize(("column", "value"), DAMAGES)
def test_clean_ups_go_on(store, two, column, value):
    bad, good = two
    set_column(store.home, bad, column, value)
    report = store.collect_garbage(max_age_days=0.0, now=4e9)
    assert good in report.jobs
    assert store.jobs() == []


def test_a_damaged_event_is_told_from_the_others(store, spec):
    job_id = store.submit(spec).id
    _, token = claim(store)
    store.append_events(job_id, token, [("Note", {"n": n}) for n in range(3)])
    with sqlite3.connect(store.home / "jobs.sqlite") as connection:
        connection.execute("UPDATE events SET data = '{\"n\": ' WHERE seq = 4")
        connection.execute("UPDATE events SET data = '[1]' WHERE seq = 3")
    kinds = [event.kind for event in store.events(job_id)]
    assert kinds == ["state", "state", DAMAGED_EVENT, DAMAGED_EVENT, "Note"]


def test_flipped_bytes_in_a_row_touch_no_other(store, spec):
    """Property: whatever byte of whatever text changes, all jobs are listed, one maybe damaged."""
    jobs = [run_through(store, spec, JobState.SUCCEEDED) for _ in range(3)]
    result = {"n_imputed": 3, "notes": ["a"], "seconds": {"fit": 0.5}, "files": ["x.parquet"]}
    for column, content in (("result", result), ("progress", {"fraction": 0.5, "message": "m"})):
        for job_id in jobs:
            set_column(store.home, job_id, column, json.dumps(content))
    rng = np.random.default_rng(0)
    others = set(jobs[1:])
    columns = ("spec", "result", "progress", "state", "kind", "workspace", "name", "id")
    for _ in range(150):
        column = str(rng.choice(columns))
        with sqlite3.connect(store.home / "jobs.sqlite") as connection:
            query = f"SELECT CAST({column} AS BLOB) FROM jobs WHERE number = 1"
            (text,) = connection.execute(query).fetchone()
            changed = bytearray(text or b"a name")
            changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
            query = f"UPDATE jobs SET {column} = CAST(? AS TEXT) WHERE number = 1"
            connection.execute(query, (bytes(changed),))
            connection.commit()
            listing = store.listing()
            assert len(listing.jobs) + len(listing.damaged) == 3
            assert others <= {job.id for job in listing.jobs}
            for job in listing.jobs:
                job.spec.read_schema()
            connection.execute(
                f"UPDATE jobs SET {column} = CAST(? AS TEXT) WHERE number = 1", (text,)
            )
