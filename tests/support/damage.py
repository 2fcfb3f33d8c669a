"""Damage to files and rows on disk, as a bad sector or a careless hand makes it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


def flip_byte(path: Path, place: int) -> None:
    """Change one byte of a file."""
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 0x15
    path.write_bytes(content)


def scramble(path: Path, seed: int = 0) -> None:
    """Overwrite a file by random bytes of the same number."""
    path.write_bytes(np.random.default_rng(seed).bytes(path.stat().st_size))


def set_column(home: Path, job_id: str, column: str, value: Any) -> None:
    """Write any value into a column of a job's row; bytes become a text as they are."""
    place = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
    with sqlite3.connect(home / "jobs.sqlite") as connection:
        connection.execute(f"UPDATE jobs SET {column} = {place} WHERE id = ?", (value, job_id))
    connection.close()


def damaged_copies(content: bytes, every: int = 1) -> Iterator[bytes]:
    """Yield copies of a file: at each `every`-th place once with a flipped bit, once cut off."""
    for place in range(0, len(content), every):
        yield with_flipped_bit(content, place)
        yield content[:place]


def with_flipped_bit(content: bytes, place: int) -> bytes:
    """Return a copy of a file with one bit flipped; which one depends on the place."""
    flipped = bytearray(content)
    flipped[place] ^= 1 << place % 8
    return bytes(flipped)
