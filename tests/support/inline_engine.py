"""An engine that runs jobs in this process."""

from pmae_core.errors import Cancelled, PMAEError
from pmae_core.jobs import JobState, ProcessId, Resources
from pmae_core.jobs.worker.context import JobContext
from pmae_core.jobs.worker.run import run_job


class InlineEngine:
    """Runs jobs when somebody waits for them, in this process."""

    name = "local"

    def __init__(self, store):
        self.store = store

    def default_resources(self):
        return Resources(threads=1)

    def submit(self, spec, workspace="local", name=None):
        return self.store.submit(spec, workspace, engine=self.name, name=name)

    def cancel(self, job_id):
        return self.store.request_cancel(job_id)

    def resume(self, job_id):
        return self.store.resume(job_id)

    def tend(self):
        pass

    def claim(self):
        return self.store.claim_next(
            self.name, running_limit=1, gpu_limit=0, owner=ProcessId.current()
        )

    def wait(self, job_id, timeout=None):
        record, token = self.claim()
        context = JobContext(
            folder=record.folder,
            load_table=self.store.get_table,
            model_path=lambda one: self.store.job(one).folder / "result" / "model.safetensors",
            emit=lambda event: None,
            cancel=lambda: False,
        )
        try:
            result = run_job(record.spec, context)
            self.store.finish(record.id, token, JobState.SUCCEEDED, result=result)
        except Cancelled:
            self.store.finish(record.id, token, JobState.CANCELLED)
        except PMAEError as error:
            self.store.finish(record.id, token, JobState.FAILED, error=str(error))
        return self.store.job(job_id)
