"""Uploads that are being read, each in a process of its own, while the pages go on.

The server has one list of them: a visitor who reloads the page finds the reading again, and many
uploads at once wait in a queue instead of using up the memory.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from pmae_core.table import TableFile
from pmae_core.table.io.reading_process import ReadingProcess

MOST_AT_ONCE = 2
# A table that nobody asks for is forgotten after so long; its file stays and can be read again.
KEPT_SECONDS = 600.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class ReadingOptions:
    """How a file is written, where the user knows better; None is inferred."""

    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None  # "" says that there is none
    encoding: str | None = None
    header: bool | None = None
    sheet: int | str = 0  # digits in a text count from 1


class Reading:
    """One file on its way to a table.

    Parameters
    ----------
    name
        Of the file.
    options
        How it is read.
    start
        Starts the process that reads it.
    """

    def __init__(
        self, name: str, options: ReadingOptions, start: Callable[[], ReadingProcess]
    ) -> None:
        self.name = name
        self.options = options
        self._start = start
        self._since = time.monotonic()
        self._ended: float | None = None
        self._process: ReadingProcess | None = None
        self._failure: Exception | None = None

    @property
    def seconds(self) -> float:
        """How long it has been going on, or waiting to begin."""
        return time.monotonic() - self._since

    @property
    def is_waiting(self) -> bool:
        """Whether it has not begun, because other files are being read."""
        return self._process is None and self._failure is None

    @property
    def has_ended(self) -> bool:
        """Whether there is a table, or a reason why there is none."""
        return self._failure is not None or (self._process is not None and self._process.wait(0))

    @property
    def is_forgotten(self) -> bool:
        """Whether it ended so long ago that nobody will ask for the table."""
        if self.has_ended and self._ended is None:
            self._ended = time.monotonic()
        return self._ended is not None and time.monotonic() - self._ended > KEPT_SECONDS

    def begin(self) -> None:
        """Start the process."""
        self._since = time.monotonic()
        try:
            self._process = self._start()
        except Exception as error:  # for the visitor who asked, not for the one who looked
            self._failure = error

    def cancel(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.cancel()

    def result(self) -> TableFile:
        """Return the table of a reading that has ended, or raise why there is none."""
        if self._failure is not None:
            raise self._failure
        assert self._process is not None
        return self._process.result()


class Readings:
    """All readings of this server, at most one per workspace."""

    def __init__(self) -> None:
        self._of_owner: dict[str, Reading] = {}  # the first in the queue comes first
        self._lock = threading.Lock()

    def add(self, owner: str, reading: Reading) -> None:
        """Read a file as soon as there is room; what the owner had read before is cancelled."""
        self.cancel(owner)
        with self._lock:
            self._of_owner[owner] = reading
        self.find(owner)

    def find(self, owner: str) -> Reading | None:
        """Return the reading of an owner, after looking after all of them."""
        with self._lock:
            for other, reading in list(self._of_owner.items()):
                if reading.is_forgotten:
                    del self._of_owner[other]
            readings = self._of_owner.values()
            n_free = MOST_AT_ONCE - sum(
                not reading.is_waiting and not reading.has_ended for reading in readings
            )
            waiting = [reading for reading in readings if reading.is_waiting]
            for reading in waiting[: max(n_free, 0)]:
                reading.begin()
            return self._of_owner.get(owner)

    def wait(self, owner: str, seconds: float | None = None) -> bool:
        """Wait for the end of an owner's reading, at most so long; say whether it has ended."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            reading = self.find(owner)
            if reading is None or reading.has_ended:
                return True
            if deadline is not None and time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)

    def take_ended(self, owner: str) -> Reading | None:
        """Return the reading of an owner if it has ended, and forget it: one tab opens it once."""
        with self._lock:
            reading = self._of_owner.get(owner)
            return self._of_owner.pop(owner) if reading and reading.has_ended else None

    def cancel(self, owner: str) -> Reading | None:
        """End the reading of an owner and return it; None if there is none."""
        with self._lock:
            reading = self._of_owner.pop(owner, None)
        if reading is not None:
            reading.cancel()
        return reading


READINGS = Readings()
