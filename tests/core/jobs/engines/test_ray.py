"""Jobs on a real Ray cluster of two nodes on this machine."""

import os
import sys
import time

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

from benchmarks.service.ray_equals_local import (
    add_node,
    figures,
    kill_second_node,
    processes_of,
    two_nodes,
)
from pmae_core.errors import Cancelled, JobError
from pmae_core.evaluation import Comparison, Task, compare, parallel
from pmae_core.evaluation.holdout import HoldoutPlan
from pmae_core.jobs.engines import make_engine, ray_cluster
from pmae_core.jobs.engines.ray import RayEngine
from pmae_core.jobs.engines.ray_tasks import RayTaskPool
from pmae_core.jobs.spec import JobSpec, JobState, Resources, installed_versions
from pmae_core.jobs.store import JobStore
from pmae_core.jobs.worker.context import JobContext
from pmae_core.jobs.worker.run import fit_and_impute
from pmae_core.table import Schema

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

# Much more than needed; on a machine with much else to do, torch alone can take half a minute.
PATIENCE_SECONDS = 400


@pytest.fixture(scope="module")
def cluster():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PYTHONPATH", "RAY_USAGE_STATS_ENABLED"):
            patch.setenv(name, "")  # put back as they were
        with two_nodes() as cluster:
            yield cluster


@pytest.fixture
def driver(cluster):
    """Connect this process to the cluster."""
    ray.init(cluster.address, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()


@pytest.fixture
def engine(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    return RayEngine(JobStore(tmp_path), cancel_grace=60.0, estimate_seconds=0.0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    table = pd.DataFrame(
        {"x": x, "y": 2 * x + rng.normal(size=60), "kind": rng.choice(["a", "b"], 60)}
    )
    table.loc[::4, "y"] = np.nan
    table.loc[1::6, "kind"] = None
    return table


def submit(engine, table, kind, params, **options):
    digest = engine.store.put_table(table)
    return engine.submit(JobSpec.make(kind, params=params, table=digest, **options))


def events(engine, job, kind):
    return [event.data for event in engine.store.events(job.id) if event.kind == kind]


def wait_until(engine, job, condition):
    """Look after a job until a condition holds."""
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        engine.supervise()
        record = engine.store.job(job.id)
        assert not record.state.is_final, (record.state, record.error)
        assert time.monotonic() < give_up_at
        time.sleep(0.1)


def finished(engine, job):
    record = engine.wait(job.id, timeout=PATIENCE_SECONDS)
    log = (record.folder / "log.txt").read_text()
    assert record.state is JobState.SUCCEEDED, (record.state, record.error, log[-2000:])
    return record.folder / "result"


# ------------------------------------------------------------------ jobs


def test_a_comparison_survives_the_death_of_a_node(engine, cluster, table):
    params = {
        "methods": ["miceforest", "missforest", "em", "knn"],
        "seeds": [0, 1],
        "method_params": {"miceforest": {"n_datasets": 2}, "missforest": {"n_trees": 120}},
    }
    job = submit(engine, table, "compare", params)
    (second,) = cluster.worker_nodes

    def long_tasks_there():
        begun = events(engine, job, "BegunOnNode")
        return [e for e in begun if e["node"] == second.node_id and "forest" in e["method"]]

    wait_until(engine, job, long_tasks_there)
    kill_second_node(cluster)
    try:
        result = finished(engine, job)
    finally:
        add_node(cluster)

    there = Comparison.from_json((result / "comparison.json").read_text())
    assert figures(there) == figures(compare(table, **params))
    (lost,) = long_tasks_there()
    (again,) = (event for event in events(engine, job, "BegunOnNode") if event["again"])
    assert (again["method"], again["seed"]) == (lost["method"], lost["seed"])
    assert again["node"] == cluster.head_node.node_id


def test_a_training_goes_on_after_a_crash_and_after_a_cancel(engine, cluster, table, tmp_path):
    small = {"steps": 800, "width": 8, "encoder_depth": 1, "decoder_depth": 1, "patience": 0}
    params = {"method": "pmae-mix", "params": small}
    job = submit(engine, table, "train", params, seed=3)

    def first_steps():
        return [event["first_step"] for event in events(engine, job, "TrainingStarted")]

    checkpoint = job.folder / "checkpoint" / "checkpoint.safetensors"
    wait_until(engine, job, checkpoint.exists)
    # Only among the processes of this very cluster: others may train on the machine, too.
    ours = [process for node in cluster.list_all_nodes() for process in processes_of(node)]
    (fitting,) = (process for process in ours if process.cmdline()[:1] == ["ray::_fit"])
    fitting.kill()
    wait_until(engine, job, lambda: len(first_steps()) == 2)
    engine.cancel(job.id)
    assert engine.wait(job.id, timeout=PATIENCE_SECONDS).state is JobState.CANCELLED
    engine.resume(job.id)
    result = finished(engine, job)

    start, after_crash, after_cancel = first_steps()
    assert start == 0 < 200 <= after_crash <= after_cancel < 800
    assert [e["again"] for e in events(engine, job, "BegunOnNode")] == [False, True, False]
    saved = events(engine, job, "CheckpointSaved")
    assert {event["path"] for event in saved} == {str(checkpoint)}
    spec = engine.store.job(job.id).spec
    here = JobContext(
        folder=tmp_path / "here",
        load_table=lambda digest: table,
        model_path=lambda job_id: None,
        emit=lambda event: None,
        cancel=lambda: False,
    )
    out = tmp_path / "out"
    out.mkdir()
    fit_and_impute(spec, here, out)
    for name in ("imputed.parquet", "was_imputed.parquet"):
        assert (result / name).read_bytes() == (out / name).read_bytes(), name
    there, here = (load_file(folder / "model.safetensors") for folder in (result, out))
    assert there.keys() == here.keys()
    assert all(np.array_equal(there[name], here[name]) for name in here)


# ------------------------------------------------------------------ the pool


class Deadly:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (9,)


def task(table, method, seed, params=None, **options):
    plan, schema = HoldoutPlan(), Schema.infer(table)
    return Task(
        method=method,
        seed=seed,
        table=table,
        schema=schema,
        holdout=plan,
        params=params or {},
        **options,
    )


def run(pool, tasks):
    remaining = iter(tasks)
    return {result.seed: result for result in pool.run(lambda: next(remaining, None))}


def test_a_task_that_ends_its_process_or_outstays_its_time_costs_itself(driver, table, monkeypatch):
    monkeypatch.setattr(ray_cluster, "MAX_RETRIES", 0)
    monkeypatch.setattr(parallel, "GRACE_SECONDS", -90.0)
    slow = {"n_datasets": 50}
    results = run(
        RayTaskPool(),
        [
            task(table, "em", 0),
            task(table, "em", 1, {"deadly": Deadly()}),
            task(table, "miceforest", 2, slow, budget_seconds=90.0),
        ],
    )
    assert results[0].status == "done"
    assert results[1].status == "failed"
    assert "without a result" in results[1].error
    assert results[2].status == "stopped"
    assert "did not stop when asked to" in results[2].error

    with pytest.raises(JobError, match="miceforest needs more than the 1 MB"):
        run(RayTaskPool(resources=Resources(memory_mb=1)), [task(table, "miceforest", 0, slow)])

    heard = []
    pool = RayTaskPool(callbacks=[heard.append], cancel=lambda: bool(heard))
    with pytest.raises(Cancelled):
        run(pool, [task(table, "miceforest", 0, slow)])
    assert pool._running == {}


# ------------------------------------------------------------------ what users see


def test_who_lacks_ray_is_told_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    engine = make_engine(JobStore(tmp_path), "ray")
    spec = JobSpec.make("benchmark", params={"dataset": "diabetes", "methods": ["em"]})
    with pytest.raises(JobError, match=r"pip install 'pmae\[ray\]'"):
        engine.submit(spec)
    assert engine.store.jobs() == []


def test_an_address_where_nobody_listens_is_refused_at_once(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    with pytest.raises(JobError, match="no Ray cluster at RAY_ADDRESS"), ray_cluster.connected():
        pass


def test_a_node_with_another_version_is_refused():
    versions = installed_versions() | {"numpy": "1.0"}
    with pytest.raises(JobError, match=r"has numpy .* Install the same versions"):
        ray_cluster.TaskReporter(None, ("em", 0), versions, None)
