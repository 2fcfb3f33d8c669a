"""``pmae jobs resume``."""

from __future__ import annotations

from pmae_core.cli.jobs.access import JobId, engine_of, find_job, open_store
from pmae_core.cli.jobs.wait import Wait, report
from pmae_core.cli.options import AsJson

HELP = "Continue a job that was interrupted or cancelled, or that failed."


def resume(job: JobId, wait: Wait = False, as_json: AsJson = False) -> None:
    """Resume a job."""
    store = open_store()
    record = find_job(store, job)
    engine = engine_of(store, record.engine)
    report(store, engine, engine.resume(record.id), wait=wait, as_json=as_json)
