"""How large the batches of an Arrow file are, known before one of them is unpacked.

Arrow allocates what a compressed batch says it needs, and there is no limit to set from Python. So
the few numbers that matter are read from the messages themselves, whose layout is fixed: see
"Columnar Format" in Arrow's documentation and, for the metadata, FlatBuffers' binary format.
"""

import struct
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa

from pmae_core.table.io.limits import ReadingLimits

# The stream of messages begins after the magic bytes and their padding.
STREAM_START = 8

# Positions of the fields in the tables of Arrow's Message.fbs.
_HEADER_OF_MESSAGE = 2
_DATA_OF_DICTIONARY = 1
_LENGTH_OF_BATCH, _BUFFERS_OF_BATCH, _COMPRESSION_OF_BATCH = 0, 2, 3


def check_batches(handle: BinaryIO, limits: ReadingLimits, name: str) -> None:
    """Raise if the batches of an Arrow file would unpack to more than the limits allow."""
    handle.seek(STREAM_START)
    n_rows = n_bytes = 0
    for message in pa.ipc.MessageReader.open_stream(handle):
        if message.type == "schema":
            continue
        batch = _FlatTable.root(message.metadata.to_pybytes()).table(_HEADER_OF_MESSAGE)
        if message.type == "dictionary":
            batch = batch.table(_DATA_OF_DICTIONARY)
        else:
            n_rows += batch.number(_LENGTH_OF_BATCH)
        n_bytes += _unpacked_bytes(batch, message.body)
        limits.check_shape(n_rows, 1, name)
        limits.check_expanded(n_bytes, name)


def _unpacked_bytes(batch: "_FlatTable", body: pa.Buffer) -> int:
    """Add up the buffers of a batch; a packed one begins with its unpacked size, or -1."""
    is_packed = batch.has(_COMPRESSION_OF_BATCH)
    total = 0
    for offset, length in batch.pairs(_BUFFERS_OF_BATCH):
        unpacked = struct.unpack_from("<q", body, offset)[0] if is_packed and length else -1
        total += unpacked if unpacked >= 0 else length
    return total


@dataclass(frozen=True)
class _FlatTable:
    """A table of a FlatBuffer: the bytes, and where in them it begins."""

    data: bytes
    start: int

    @classmethod
    def root(cls, data: bytes) -> "_FlatTable":
        return cls(data, _unpack("<I", data, 0))

    def has(self, field: int) -> bool:
        return self._place(field) is not None

    def number(self, field: int) -> int:
        place = self._place(field)
        return 0 if place is None else _unpack("<q", self.data, place)

    def table(self, field: int) -> "_FlatTable":
        return _FlatTable(self.data, self._target(field))

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """Return a vector of structs of two 64-bit integers."""
        if not self.has(field):
            return []
        vector = self._target(field)
        end = vector + 4 + 16 * _unpack("<I", self.data, vector)
        return list(struct.iter_unpack("<qq", self.data[vector + 4 : end]))

    def _target(self, field: int) -> int:
        place = self._place(field)
        if place is None:
            raise ValueError("the metadata of a batch lacks a part")
        return place + _unpack("<I", self.data, place)

    def _place(self, field: int) -> int | None:
        """Return where the value of a field stands; the table's index (vtable) knows."""
        index = self.start - _unpack("<i", self.data, self.start)
        entry = 4 + 2 * field
        if entry >= _unpack("<H", self.data, index):
            return None
        offset = _unpack("<H", self.data, index + entry)
        return self.start + offset if offset else None


def _unpack(layout: str, data: bytes, at: int) -> int:
    (number,) = struct.unpack_from(layout, data, at)
    return int(number)
