"""A scenario: holes made on purpose, kept by name and made again wherever they are needed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from dashboard.text import count
from pmae_core.amputation import Amputation, ampute, ampute_like
from pmae_core.amputation.patterns import Coupling, Mechanism, Pattern
from pmae_core.errors import AmputationError
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table import Schema

Kind = Literal["pattern", "like-mine"]
Base = Literal["complete-rows", "completed"]

FEWEST_COMPLETE_ROWS = 30
_BASE_SEED = 0


@dataclass(frozen=True)
class Scenario:
    """How to make holes in a table.

    Attributes
    ----------
    kind : {"pattern", "like-mine"}
        By pattern and mechanism, or by replaying the table's own missing patterns.
    base : {"complete-rows", "completed"}
        What holes are made in where the table has holes of its own: its complete rows, or all
        rows with each hole filled by a value drawn from its column.
    pattern, mechanism, coupling, columns, column_share, proportions, seed
        As in :func:`pmae_core.amputation.ampute`; "like-mine" uses the seed alone.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [0.5, 1.5] * 50, "y": [1.0, 2.0] * 50})
    >>> scenario = Scenario(pattern="monotone", mechanism="MCAR", columns=("y",))
    >>> made = Scenario.from_dict(scenario.to_dict()).make(table, Schema.infer(table))
    >>> made.missing.sum().tolist()
    [0, 56]
    """

    kind: Kind = "pattern"
    base: Base = "complete-rows"
    pattern: Pattern = "general"
    mechanism: Mechanism = "MNAR"
    coupling: Coupling | None = None
    columns: tuple[Any, ...] | None = None
    column_share: float | None = None
    proportions: float | Mapping[Any, float] | None = None
    seed: int = 0

    def make(self, frame: pd.DataFrame, schema: Schema) -> Amputation:
        """Make the holes in a table."""
        return self.make_in(base_table(frame, schema, self.base), frame, schema)

    def make_in(self, truth: pd.DataFrame, frame: pd.DataFrame, schema: Schema) -> Amputation:
        """Make the holes in rows whose truth is known; `frame` is the table with its own holes."""
        if self.kind == "like-mine":
            own_holes = frame[content_columns(schema)].isna()
            if not own_holes.to_numpy().any():
                raise AmputationError(
                    "The table has no holes that could be copied. Make holes by pattern and "
                    "mechanism instead."
                )
            return ampute_like(truth, own_holes, seed=self.seed)
        return ampute(
            truth,
            self.pattern,
            self.mechanism,
            self.coupling,
            columns=None if self.columns is None else list(self.columns),
            column_share=self.column_share,
            proportions=self.proportions,
            seed=self.seed,
            schema=schema,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario as JSON-able data."""
        proportions: Any = self.proportions
        if isinstance(proportions, Mapping):
            proportions = [[to_json_value(name), share] for name, share in proportions.items()]
        columns = None if self.columns is None else [to_json_value(name) for name in self.columns]
        return {
            "kind": self.kind,
            "base": self.base,
            "pattern": self.pattern,
            "mechanism": self.mechanism,
            "coupling": self.coupling,
            "columns": columns,
            "column_share": self.column_share,
            "proportions": proportions,
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scenario:
        """Return the scenario that `to_dict` wrote; an unknown word or number is an error."""
        try:
            return cls(
                kind=_one_of(data.get("kind", "pattern"), Kind),
                base=_one_of(data.get("base", "complete-rows"), Base),
                pattern=_one_of(data.get("pattern", "general"), Pattern),
                mechanism=_one_of(data.get("mechanism", "MNAR"), Mechanism),
                coupling=_one_of(data["coupling"], Coupling) if data.get("coupling") else None,
                columns=_names(data.get("columns")),
                column_share=_share(data.get("column_share")),
                proportions=_proportions(data.get("proportions")),
                seed=_seed(data.get("seed", 0)),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise AmputationError(
                "These settings of a scenario cannot be read. Make the scenario again in the "
                "Amputation lab."
            ) from None


def _one_of(value: Any, words: Any) -> Any:
    if value not in get_args(words):
        raise ValueError(value)
    return value


def _names(value: Any) -> tuple[Any, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise TypeError(value)
    return tuple(from_json_value(name) for name in value)


def _share(value: Any) -> float | None:
    if value is None:
        return None
    if not math.isfinite(share := float(value)):
        raise ValueError(value)
    return share


def _proportions(value: Any) -> float | dict[Any, float] | None:
    if isinstance(value, list):
        return {from_json_value(name): _share(share) for name, share in value}  # type: ignore[misc]
    return _share(value)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(value)
    return value


def content_columns(schema: Schema) -> list[Any]:
    """Return the columns that can get holes: no identifiers, ignored or empty ones."""
    return schema.imputable()


@dataclass(frozen=True)
class TableFacts:
    """What the lab asks of a table before any hole is made: counts over its columns with content.

    Attributes
    ----------
    columns : tuple of names
        The columns that can get holes.
    n_rows, n_complete, n_missing : int
        Rows, complete rows among them, and missing cells.
    """

    columns: tuple[Any, ...]
    n_rows: int
    n_complete: int
    n_missing: int

    @classmethod
    def of(cls, frame: pd.DataFrame, schema: Schema) -> TableFacts:
        columns = content_columns(schema)
        missing = frame[columns].isna().to_numpy()
        return cls(
            columns=tuple(columns),
            n_rows=len(frame),
            n_complete=int((~missing.any(axis=1)).sum()),
            n_missing=int(missing.sum()),
        )

    @property
    def default_base(self) -> Base:
        """Complete rows where enough of them are left, else all rows completed."""
        enough = min(self.n_rows, max(FEWEST_COMPLETE_ROWS, self.n_rows // 2))
        return "complete-rows" if self.n_complete >= enough else "completed"

    def n_base_rows(self, base: Base) -> int:
        """Return in how many rows holes are made."""
        return self.n_complete if base == "complete-rows" else self.n_rows


def base_table(
    frame: pd.DataFrame, schema: Schema, base: Base, *, most_rows: int | None = None
) -> pd.DataFrame:
    """Return a table whose truth is known everywhere: what holes are made in.

    Parameters
    ----------
    frame, schema
        The table. Columns that are empty, ignored or identifiers stay as they are.
    base : {"complete-rows", "completed"}
        Which rows, see :class:`Scenario`.
    most_rows : int, optional
        Take that many of the rows at random.
    """
    missing = frame[content_columns(schema)].isna()
    rows = np.arange(len(frame))
    if base == "complete-rows":
        rows = np.flatnonzero(~missing.to_numpy().any(axis=1))
        if not len(rows):
            raise AmputationError(
                "No row of the table is complete. Use all rows, with the holes filled first."
            )
    rng = np.random.default_rng(_BASE_SEED)
    if most_rows is not None and len(rows) > most_rows:
        rows = np.sort(rng.choice(rows, most_rows, replace=False))
    truth = frame.iloc[rows]
    for name in missing.columns[missing.any()]:
        holes = missing[name].to_numpy()
        if holes[rows].any():
            # Each hole takes the cell of a row drawn from those observed in this column; taking
            # rows keeps the dtype, whatever it is.
            donors = np.where(holes[rows], rng.choice(np.flatnonzero(~holes), len(rows)), rows)
            truth = truth.assign(**{name: frame[name].take(donors).set_axis(truth.index)})
    return truth


def base_sentence(facts: TableFacts, base: Base) -> str:
    """Say in words what holes are made in."""
    rows = count(facts.n_rows, "row")
    if not facts.n_missing:
        return f"The table is complete: holes are made in its {rows}, and every truth is known."
    if base == "complete-rows":
        return (
            f"Holes are made in the {count(facts.n_complete)} complete of {rows}: every truth is "
            "real, but complete rows may differ from the others."
        )
    return (
        f"All {rows} are used: {count(facts.n_missing, 'hole was', 'holes were')} filled first, "
        "each with a value drawn from its own column. Such a value fits the column, but not the "
        "rest of its row."
    )
