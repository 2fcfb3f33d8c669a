import os
import time

import pytest

from pmae_core.errors import Cancelled
from pmae_core.evaluation import parallel
from pmae_core.evaluation.holdout import HoldoutPlan
from pmae_core.evaluation.parallel import TaskPool
from pmae_core.evaluation.tasks import Task, run_task
from pmae_core.table import Schema


class Deadly:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (9,)


class Sleepy:
    """Keeps the process that unpickles it busy for a minute."""

    def __reduce__(self):
        return time.sleep, (60,)


def task(table, seed, params, **kwargs):
    return Task(
        method="naive",
        seed=seed,
        table=table,
        schema=Schema.infer(table),
        holdout=HoldoutPlan(),
        params=params,
        **kwargs,
    )


def run(tasks, n_jobs=2, cancel=lambda: False):
    remaining = list(tasks)
    pool = TaskPool(n_jobs, cancel)
    return {r.seed: r for r in pool.run(lambda: remaining.pop(0) if remaining else None)}


def test_processes_give_the_same_and_a_crash_costs_one_task(incomplete, monkeypatch):
    monkeypatch.setattr(parallel, "GRACE_SECONDS", 0.0)
    good = task(incomplete, 0, {})
    results = run(
        [
            good,
            task(incomplete, 1, {"deadly": Deadly()}),
            task(incomplete, 2, {"sleepy": Sleepy()}, budget_seconds=0.1),
        ]
    )
    assert results[0].error is None
    assert results[0].scores == run_task(good).scores
    assert results[1].status == "failed"
    assert "exit code 9" in results[1].error
    assert results[2].status == "stopped"
    assert "did not stop when asked to" in results[2].error


def test_cancel_ends_the_processes(incomplete):
    started = time.monotonic()
    pool = TaskPool(1, lambda: time.monotonic() - started > 0.3)
    with pytest.raises(Cancelled):
        list(pool.run(lambda: task(incomplete, 0, {"sleepy": Sleepy()})))
    assert pool._running == []
    assert time.monotonic() - started < 55


def test_cores_are_shared_unless_the_user_has_said_how(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    with parallel._shared_cores(2):
        assert os.environ["OMP_NUM_THREADS"] == "4"
        assert os.environ["MKL_NUM_THREADS"] == "3"
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["MKL_NUM_THREADS"] == "3"
