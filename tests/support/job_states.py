"""Jobs in every state, and many processes at once, for tests of the store."""

import multiprocessing

from pmae_core.jobs.spec import JobSpec, JobState
from pmae_core.jobs.store import ProcessId

ME = ProcessId(pid=1, birth="boot 2", host="here")


def claim(store, *, running_limit=1000, gpu_limit=0, **limits):
    return store.claim_next(
        limits.pop("engine", "local"),
        running_limit=running_limit,
        gpu_limit=gpu_limit,
        owner=ME,
        **limits,
    )


def with_resources(spec, **resources):
    return JobSpec.from_dict({**spec.to_dict(), "resources": resources})


def run_through(store, spec, state=JobState.SUCCEEDED, workspace="local"):
    """Submit a job and bring it to a state; return its id."""
    record = store.submit(spec, workspace)
    if state is JobState.QUEUED:
        return record.id
    claimed, token = claim(store)
    assert claimed.id == record.id
    if state is JobState.INTERRUPTED:
        assert store.interrupt(record.id, token, "killed")
    elif state is not JobState.RUNNING:
        assert store.finish(record.id, token, state)
    return record.id


def states_of(store, job_id):
    return [event.data["state"] for event in store.events(job_id) if event.kind == "state"]


def in_processes(target, n_processes, *args):
    """Run a function in so many forked processes; return what each gives back."""
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()

    def run(number):
        try:
            results.put(target(number, *args))
        except BaseException:
            results.put(None)  # or the parent would wait for ever
            raise

    workers = [fork.Process(target=run, args=(number,)) for number in range(n_processes)]
    for worker in workers:
        worker.start()
    returned = [results.get() for _ in workers]
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * n_processes
    return returned
