"""Read a table in a process of its own, which can be stopped and has limits of time and memory.

A file from a stranger may take minutes or all memory, whatever its size. A server that reads it in
a process of its own stays responsive, and survives.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pmae_core.errors import Cancelled, TableError, TableTooLargeError, UnreadableFileError
from pmae_core.table.io.crossing import read_answer
from pmae_core.table.io.limits import DEFAULT_LIMITS, ReadingLimits, _bytes
from pmae_core.table.io.reading import TableFile
from pmae_core.threads import THREAD_VARIABLES
from pmae_core.words import duration

_PACKAGE_FOLDER = Path(__file__).parents[3]
_MOST_LOGGED = 4_000  # characters of a traceback


@dataclass(frozen=True)
class ProcessLimits:
    """What reading one file may take.

    Parameters
    ----------
    seconds : float
        Time on the clock; 0 for no limit.
    memory_bytes : int
        Memory on top of the libraries; 0 for no limit. Only Linux enforces it.
    """

    seconds: float = 60.0
    memory_bytes: int = 4_000_000_000


DEFAULT_PROCESS_LIMITS = ProcessLimits()


class ReadingProcess:
    r"""A process that reads one file, from its start on. It needs a POSIX system.

    Parameters
    ----------
    path : path
        The file.
    name : str
        What the file is called in messages, and whose ending tells its format.
    limits : ReadingLimits
        How large the table may be.
    process_limits : ProcessLimits
        What reading it may take.
    **options
        Further arguments of :func:`~pmae_core.table.read_table_file`.

    Raises
    ------
    TableError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"age;height\n41;1,75\n;1,68\n")
    ...     file.flush()
    ...     ReadingProcess(file.name, name="people.csv").result().frame.shape
    (2, 2)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        name: str,
        limits: ReadingLimits = DEFAULT_LIMITS,
        process_limits: ProcessLimits = DEFAULT_PROCESS_LIMITS,
        **options: Any,
    ) -> None:
        self._name = name
        self._limits = process_limits
        self._is_cancelled = False
        # Without names: nothing has to be removed, also after a crash.
        self._answer = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            file = open(path, "rb")  # noqa: SIM115 - closed below
        except OSError as error:
            raise TableError(f"{name!r} cannot be opened: {error.strerror or error}.") from error
        with file, tempfile.TemporaryFile() as request:
            content = {
                "descriptor": file.fileno(),
                "options": {"name": name, **options},
                "limits": asdict(limits),
                **asdict(process_limits),
            }
            request.write(json.dumps(content).encode())
            request.seek(0)
            self._process = subprocess.Popen(
                # -P: modules in the current folder must not be imported.
                [sys.executable, "-P", "-m", "pmae_core.table.io.reading_child"],
                stdin=request,
                stdout=self._answer,
                stderr=self._errors,
                env=_environment(),
                pass_fds=[file.fileno()],
            )

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most so long; say whether the process has ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def cancel(self) -> None:
        """End the process; nothing happens if it has ended already."""
        self._is_cancelled = self._process.poll() is None
        self._process.kill()
        self._process.wait()

    def result(self) -> TableFile:
        """Wait for the end and return the table, exactly as it was read.

        Raises
        ------
        TableError
            As :func:`~pmae_core.table.read_table_file` does; a ``TableTooLargeError`` also if the
            time or the memory is used up.
        Cancelled
            After :meth:`cancel`.
        RuntimeError
            If the program itself failed; its message has the traceback.
        """
        self.wait()
        if self._is_cancelled:
            raise Cancelled(f"Reading {self._name!r} was cancelled.")
        if code := self._process.returncode:
            raise self._failure(code)
        self._answer.seek(0)
        try:
            return read_answer(self._answer)
        except TableTooLargeError as error:
            most = self._limits.memory_bytes
            if error.code != "memory" or not most:
                raise
            raise TableTooLargeError(
                f"{self._name!r} needs more than {_bytes(most)} of memory to read.",
                code="memory",
                advice="Take fewer rows or columns, or raise the limit.",
            ) from error

    def _failure(self, code: int) -> Exception:
        if code > 0:
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace")
            return RuntimeError(f"The reading process failed:\n{text[-_MOST_LOGGED:]}")
        if code == -signal.SIGALRM:
            return TableTooLargeError(
                f"{self._name!r} needs more than {duration(self._limits.seconds)} to read.",
                code="seconds",
                advice="Take fewer rows or columns, or raise the limit.",
            )
        return UnreadableFileError(
            f"Reading {self._name!r} ended unexpectedly ({signal.Signals(-code).name}), as happens "
            "with damaged files or when memory is short.",
            code="crash",
        )


def _environment() -> dict[str, str]:
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(_PACKAGE_FOLDER), *filter(None, inherited)]),
        # Threads and other allocators reserve memory that they never use, but that counts.
        **dict.fromkeys(THREAD_VARIABLES, "1"),
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }
