"""Codes of classes: easy to type, and not to be found by trying."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

# No vowels, so that no words come out; none of 0, 1, 2, 5 and 8, which look like letters.
ALPHABET = "BCDFGHJKLMNPQRSTVWXYZ34679"
LENGTH = 8

_CODE = re.compile(f"[{ALPHABET}]{{{LENGTH}}}")
_BETWEEN = re.compile(r"[\s-]+")


def new_code() -> str:
    """Return a code at random."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def typed_code(text: str) -> str | None:
    """Return the code that somebody typed; None if it cannot be one.

    Examples
    --------
    >>> typed_code(" bcdf-ghjk "), typed_code("hello")
    ('BCDFGHJK', None)
    """
    code = _BETWEEN.sub("", text).upper()
    return code if _CODE.fullmatch(code) else None


def spaced(code: str) -> str:
    """Return a code as it is read out and written on a board.

    Examples
    --------
    >>> spaced("BCDFGHJK")
    'BCDF GHJK'
    """
    return f"{code[: LENGTH // 2]} {code[LENGTH // 2 :]}"


@dataclass
class _Bucket:
    """How many wrong codes are left, and when that was counted."""

    left: float
    at: float


class WrongCodes:
    """How many wrong codes visitors may try: some at once, then a few per minute.

    All students of a school may come from one address, so an address may make several mistakes.
    The limit over all addresses is what keeps somebody with many addresses from guessing: there
    are 26 to the power of 8 codes.

    Parameters
    ----------
    most, per_second
        Of one address: how many at once, and how fast they come back.
    most_of_all, per_second_of_all
        The same over all addresses.
    clock
        Returns seconds.
    """

    def __init__(
        self,
        most: int = 50,
        per_second: float = 0.5,
        most_of_all: int = 300,
        per_second_of_all: float = 3.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._of_one = (float(most), per_second)
        self._of_all = (float(most_of_all), per_second_of_all)
        self._clock = clock
        self._all = _Bucket(float(most_of_all), clock())
        self._by_address: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def allows(self, address: str) -> bool:
        """Say whether a visitor from this address may try another code."""
        with self._lock:
            return min(self._bucket(address).left, self._refilled_all().left) >= 1

    def note(self, address: str) -> None:
        """Count a wrong code."""
        with self._lock:
            self._forget_full()
            bucket = self._by_address.setdefault(address, self._bucket(address))
            bucket.left -= 1
            self._refilled_all().left -= 1

    def _bucket(self, address: str) -> _Bucket:
        full = _Bucket(self._of_one[0], self._clock())
        return self._refill(self._by_address.get(address, full), *self._of_one)

    def _refilled_all(self) -> _Bucket:
        return self._refill(self._all, *self._of_all)

    def _refill(self, bucket: _Bucket, most: float, per_second: float) -> _Bucket:
        now = self._clock()
        bucket.left = min(most, bucket.left + (now - bucket.at) * per_second)
        bucket.at = now
        return bucket

    def _forget_full(self) -> None:
        """Keep no address whose mistakes are long ago."""
        most = self._of_one[0]
        self._by_address = {
            address: bucket
            for address in self._by_address
            if (bucket := self._bucket(address)).left < most
        }
