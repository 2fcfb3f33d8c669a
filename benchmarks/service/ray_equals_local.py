"""The same comparison on the local engine and on a Ray cluster of two nodes, one of them killed.

python -m benchmarks.service.ray_equals_local
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from benchmarks.recording import write_result
from pmae_core.evaluation import Comparison
from pmae_core.jobs.engines import make_engine
from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store import JobRecord, JobStore
from pmae_core.table import load_dataset

METHODS = {
    "pmae-mix": {"steps": 300},
    "pmae-trf": {"steps": 300},
    "mice": {},
    "missforest": {"n_trees": 10},
    "em": {},
    "knn": {},
    "naive": {},
}
# Times and memory differ between runs; everything else must be equal.
COSTS = ("fit_seconds", "impute_seconds", "sample_seconds", "peak_memory_mb")
# A dead node is detected within seconds, not after half a minute.
_HEALTH_CHECKS = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 5000,
    "health_check_failure_threshold": 3,
}
_NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Yield a cluster of a head and one more node, on loopback addresses only."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Nodes import the library from this clone.
    clone = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join([clone, os.environ.get("PYTHONPATH", "")])
    from ray.cluster_utils import Cluster

    # Ray replaces 127.0.0.1 by the address of the network card, but not its siblings.
    head = {"node_ip_address": "127.0.0.2", "include_dashboard": False, **_NODE}
    cluster = Cluster(
        initialize_head=True, head_node_args={**head, "_system_config": _HEALTH_CHECKS}
    )
    try:
        add_node(cluster)
        yield cluster
    finally:
        cluster.shutdown()


def add_node(cluster: Any) -> Any:
    """Add one more node to the cluster; return it."""
    return cluster.add_node(node_ip_address="127.0.0.3", **_NODE)


def processes_of(node: Any) -> list[psutil.Process]:
    """Return the processes of a node of our own cluster: its raylet and all that it started."""
    (raylet,) = (info.process.pid for info in node.all_processes["raylet"])
    return [psutil.Process(raylet), *psutil.Process(raylet).children(recursive=True)]


def kill_second_node(cluster: Any) -> None:
    """Kill the node that is not the head with all its processes, as when a machine fails."""
    (node,) = cluster.worker_nodes
    for process in processes_of(node):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    cluster.remove_node(node, allow_graceful=False)


def figures(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the results of a comparison without times and memory."""
    tasks = [task.to_dict() for task in comparison.tasks]
    return [{name: task[name] for name in task if name not in COSTS} for task in tasks]


def wait_for_training_on(node: str, store: JobStore, job: JobRecord) -> None:
    """Wait until a training of a comparison has begun on a node."""
    while True:
        begun = [event.data for event in store.events(job.id) if event.kind == "BegunOnNode"]
        if any(data["node"] == node and data["method"].startswith("pmae") for data in begun):
            return
        if store.job(job.id).state.is_final:
            raise RuntimeError("The comparison ended before a node could be killed.")
        time.sleep(0.2)


def run_on(name: str, store: JobStore, spec: JobSpec, cluster: Any = None) -> dict[str, Any]:
    """Run the job with an engine; with a cluster, kill one of its nodes in the middle."""
    started = time.perf_counter()
    engine = make_engine(store, name)
    job = engine.submit(spec)
    if cluster is not None:
        wait_for_training_on(next(iter(cluster.worker_nodes)).node_id, store, job)
        kill_second_node(cluster)
    job = engine.wait(job.id)
    if job.state is not JobState.SUCCEEDED:
        raise RuntimeError(f"The job on the {name} engine: {job.state}, {job.error}")
    text = (job.folder / "result" / "comparison.json").read_text(encoding="utf-8")
    begun = [event.data for event in store.events(job.id) if event.kind == "BegunOnNode"]
    again = [data for data in begun if data["again"]]
    return {
        "comparison": Comparison.from_json(text),
        "seconds": round(time.perf_counter() - started, 1),
        "begun_again": [f"{data['method']}, seed {data['seed']}" for data in again],
    }


def run_both(seeds: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the comparison on the local engine and on the cluster."""
    table = load_dataset("penguins")
    with tempfile.TemporaryDirectory() as home:
        store = JobStore(Path(home))
        spec = JobSpec.make(
            "compare",
            params={
                "methods": list(METHODS),
                "seeds": list(range(seeds)),
                "method_params": {name: given for name, given in METHODS.items() if given},
            },
            table=store.put_table(table.frame),
            schema=table.schema,
        )
        local = run_on("local", store, spec)
        with two_nodes() as cluster:
            os.environ["RAY_ADDRESS"] = cluster.address
            ray = run_on("ray", store, spec, cluster)
        store.close()
    return local, ray


def main(arguments: list[str] | None = None) -> int:
    """Run both, compare, print and write; return 1 if a result differs, or no task was lost."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=2, help="number of seeds (default 2)")
    options = parser.parse_args(arguments)
    local, ray = run_both(options.seeds)
    here, there = figures(local["comparison"]), figures(ray["comparison"])
    differing = [
        f"{one['method']}, seed {one['seed']}"
        for one, other in zip(here, there, strict=True)
        if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)
    ]
    scores = [{"method": one["method"], "seed": one["seed"], **one["scores"]} for one in here]
    result = {
        "what": "one comparison on the local engine, and on two Ray nodes of which one is killed",
        "command": shlex.join(
            ["python", "-m", "benchmarks.service.ray_equals_local", f"--seeds={options.seeds}"]
        ),
        "dataset": "penguins",
        "n_tasks": len(here),
        "n_done": {
            "local": sum(one["status"] == "done" for one in here),
            "ray": sum(one["status"] == "done" for one in there),
        },
        "equal_bit_for_bit": not differing,
        "differing": differing,
        "begun_again_on_ray": ray["begun_again"],
        "seconds": {"local": local["seconds"], "ray": ray["seconds"]},
        "scores": scores,
    }
    write_result("ray_equals_local", result)
    print({name: value for name, value in result.items() if name != "scores"})
    return 0 if ray["begun_again"] and not differing else 1


if __name__ == "__main__":
    sys.exit(main())
