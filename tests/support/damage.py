"""Files as a failing disk leaves them: one bit flipped, or the end cut off."""

from collections.abc import Iterator


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
