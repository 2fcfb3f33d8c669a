"""An engine for tests whose jobs only pretend to work."""

from pmae_core.jobs.engines import LocalEngine


class ShellEngine(LocalEngine):
    """Starts a line of shell instead of a worker; the real ones are in test_process.py."""

    line = "exec sleep 300"

    def _command(self, record):
        return ["sh", "-c", f"cd {record.folder}; {self.line}"]
