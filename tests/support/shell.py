"""Running commands of ``pmae`` in this process."""

from click.testing import Result
from typer.testing import CliRunner

from pmae_core.cli.app import app


def run(*args: object, code: int = 0) -> Result:
    """Run a command and check its exit code; only unforeseen errors show as tracebacks."""
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, result.output + repr(result.exception)
    assert "Traceback" not in result.output
    return result


def run_jobs(*args: object, code: int = 0) -> Result:
    """Run a command of ``pmae jobs``."""
    return run("jobs", *args, code=code)


def submitted(*args: object) -> str:
    """Submit a job and return its id."""
    return run_jobs("submit", *args).stdout.strip()


def one_line(text: str) -> str:
    """Return text as one line, however it was wrapped or framed."""
    return " ".join(text.replace("│", " ").split())
