"""``pmae jobs cancel``."""

from __future__ import annotations

from pmae_core.cli.jobs.access import WORKSPACE, JobId, engine_of, open_store, short_id
from pmae_core.cli.jobs.words import state_sentence
from pmae_core.cli.options import AsJson
from pmae_core.cli.terminal import print_json, say
from pmae_core.errors import JobError

HELP = "Stop a job. Finished work is kept; pmae jobs resume continues from there."


def cancel(job: JobId, as_json: AsJson = False) -> None:
    """Cancel a job."""
    store = open_store()
    record = store.find(job, WORKSPACE)
    if record.state.is_final:
        raise JobError(f"The job {short_id(record)} has already ended: {record.state}.")
    record = engine_of(store, record.engine).cancel(record.id)
    if as_json:
        print_json(record.to_dict())
    else:
        has_stopped = record.state != "running"
        say(state_sentence(store, record) if has_stopped else "Asked to stop.")
