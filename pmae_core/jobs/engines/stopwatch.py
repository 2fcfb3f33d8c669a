"""How long something has looked the same to this process, whatever happens to the clock."""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable


class Stopwatch:
    """Measures since when values have been as they are, on a clock that nobody can set.

    Times in the store come from clocks that may be set, and that differ between machines: they
    tell that a worker reported again, not how long ago it did.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> watch.seconds("job", "heartbeat", 1.0)
    0.0
    >>> watch.seconds("job", "heartbeat", 1.0) >= 0.0, watch.seconds("job", "heartbeat", 2.0)
    (True, 0.0)
    """

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], tuple[Hashable, float]] = {}

    def seconds(self, job_id: str, what: str, value: Hashable) -> float:
        """Return for how long a value of a job has not changed, as far as was asked here."""
        now = time.monotonic()
        seen, since = self._since.get((job_id, what), (None, now))
        if seen != value:
            since = now
        self._since[job_id, what] = value, since
        return now - since

    def keep_only(self, job_ids: Collection[str]) -> None:
        """Forget all other jobs."""
        known = self._since.copy()  # another thread may add one meanwhile
        self._since = {key: seen for key, seen in known.items() if key[0] in job_ids}
