"""Which table is open, and what was declared about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from pmae_core.storage.json_values import from_json_value
from pmae_core.table import Schema


@dataclass(frozen=True)
class TableState:
    """Which table is open and what was declared about it; the frame itself is not loaded."""

    name: str
    source: str
    raw: str  # digest of the table as it was read
    decimal: str = "."
    thousands: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # as `Schema.rules`
    sentinels: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # as JSON values
    what: str = ""  # the step that led here, in words

    @property
    def digest(self) -> str:
        """Text that changes with everything that a computation on the table depends on."""
        rules = [dict(self.rules)] if self.rules else []
        return _digest([self.cells_digest, dict(self.roles), *rules])

    @property
    def cells_digest(self) -> str:
        """Text that changes with the cells, not with roles and rules."""
        return _digest([self.raw, self.decimal, self.thousands, dict(self.sentinels)])

    def declared(self) -> dict[str, tuple[Any, ...]]:
        """Return the values declared missing, by column."""
        return {name: tuple(map(from_json_value, v)) for name, v in self.sentinels.items()}


@dataclass(frozen=True, eq=False)
class OpenTable:
    """The table that the pages work on: declared values are missing, roles are the user's.

    ``digest`` changes with the content, the sentinels, the roles and the rules: the key of all
    caches.
    ``state`` is what it was loaded from.
    """

    name: str
    digest: str
    frame: pd.DataFrame
    schema: Schema
    sentinels: Mapping[str, tuple[Any, ...]]
    source: str
    state: TableState | None = None


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
