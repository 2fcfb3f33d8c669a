"""Which imputed tables there are, and what they are called."""

from types import SimpleNamespace

import pytest

from dashboard.impute import completed_tables
from pmae_core.jobs import JobKind, JobState

TABLE = "0" * 64


def completed(
    job_id, method, *, seed=0, table=TABLE, state=JobState.SUCCEEDED, kind=JobKind.IMPUTE
):
    """As much of a job as the list of imputations asks for."""
    spec = SimpleNamespace(params={"method": method}, seed=seed, table=table)
    result = {"method": method, "n_imputed": 3} if state is JobState.SUCCEEDED else None
    return SimpleNamespace(id=job_id, spec=spec, state=state, result=result, kind=kind)


@pytest.fixture
def listed(monkeypatch):
    def be(*found):
        monkeypatch.setattr(completed_tables.runs, "records", lambda **_: list(found))

    return be


def test_every_imputation_of_the_same_cells_has_a_name_of_its_own(listed):
    one, two, three = (
        completed(job_id, "em", seed=seed) for job_id, seed in zip("abc", (0, 0, 7), strict=True)
    )
    mean = completed("d", "naive")
    listed(three, two, mean, one, completed("e", "knn", table="1" * 64))

    named = completed_tables.by_method(SimpleNamespace(record=one))

    assert {name: record.id for name, record in named.items()} == {
        "Expectation maximization": "a",
        "Expectation maximization, seed 7": "c",
        "Expectation maximization, seed 0": "b",
        "Mean / mode": "d",
    }


def test_many_of_one_kind_are_numbered(listed):
    same = [completed(job_id, "em") for job_id in "abcd"]
    listed(*same)

    named = completed_tables.by_method(SimpleNamespace(record=same[0]))

    assert list(named)[1:] == [
        "Expectation maximization, seed 0",
        "Expectation maximization, seed 0 (2)",
        "Expectation maximization, seed 0 (3)",
    ]


def test_a_training_is_listed_once_it_has_imputed(listed):
    running = completed("a", "pmae-mix", kind=JobKind.TRAIN, state=JobState.RUNNING)
    trained = completed("b", "pmae-mix", kind=JobKind.TRAIN)
    unimputed = completed("c", "pmae-mix", kind=JobKind.TRAIN)
    unimputed.result = {"method": "pmae-mix"}
    waiting = completed("d", "em", state=JobState.QUEUED)
    listed(running, trained, unimputed, waiting)

    assert [one.id for one in completed_tables.imputation_runs()] == ["b", "d"]
