"""A scenario: settings that simulate the same missing values wherever they are used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import ConfigDict, Field, field_serializer, field_validator

from pmae_core.amputation import Amputation, ampute, ampute_like
from pmae_core.amputation.patterns import Coupling, Mechanism, Pattern
from pmae_core.documents import Document
from pmae_core.errors import AmputationError
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table import Schema
from pmae_core.words import count

Kind = Literal["pattern", "like-mine"]
Base = Literal["complete-rows", "completed"]

FEWEST_COMPLETE_ROWS = 30
_BASE_SEED = 0


class Scenario(Document):
    """How to simulate missing values in a table.

    Attributes
    ----------
    kind : {"pattern", "like-mine"}
        By pattern and mechanism, or by replaying the table's own missing patterns.
    base : {"complete-rows", "completed"}
        Which rows lose values if the table has missing cells of its own: its complete rows, or
        all rows, with each missing cell imputed by a random observed value of its column.
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

    model_config = ConfigDict(extra="ignore")
    error_class = AmputationError
    document_name = "A scenario"

    kind: Kind = "pattern"
    base: Base = "complete-rows"
    pattern: Pattern = "general"
    mechanism: Mechanism = "MNAR"
    coupling: Coupling | None = None
    columns: Annotated[tuple[Any, ...] | None, Field(description="a list of columns")] = None
    column_share: Annotated[float | None, Field(description="a number")] = None
    proportions: Annotated[
        float | dict[Any, float] | None,
        Field(description="a number or a list of pairs of a column and a number"),
    ] = None
    seed: Annotated[int, Field(ge=0, description="a whole number that is not negative")] = 0

    @field_validator("columns", mode="before")
    @classmethod
    def _read_columns(cls, value: Any) -> Any:
        return tuple(map(_column, value)) if isinstance(value, list | tuple) else value

    @field_validator("proportions", mode="before")
    @classmethod
    def _read_proportions(cls, value: Any) -> Any:
        if isinstance(value, list):
            try:
                return {_column(name): share for name, share in value}
            except TypeError as error:  # no pair, or no name of a column
                raise ValueError(str(error)) from error
        return dict(value) if isinstance(value, Mapping) else value

    @field_serializer("columns")
    def _write_columns(self, columns: tuple[Any, ...] | None) -> list[Any] | None:
        return None if columns is None else [to_json_value(name) for name in columns]

    @field_serializer("proportions")
    def _write_proportions(self, proportions: float | dict[Any, float] | None) -> Any:
        if isinstance(proportions, dict):
            return [[to_json_value(name), share] for name, share in proportions.items()]
        return proportions

    def make(self, frame: pd.DataFrame, schema: Schema) -> Amputation:
        """Simulate the missing values in a table."""
        return self.make_in(base_table(frame, schema, self.base), frame, schema)

    def make_in(self, truth: pd.DataFrame, frame: pd.DataFrame, schema: Schema) -> Amputation:
        """Simulate them in rows whose truth is known; `frame` is the table as it is."""
        if self.kind == "like-mine":
            own_missing = frame[content_columns(schema)].isna()
            if not own_missing.to_numpy().any():
                raise AmputationError(
                    "The table has no missing cells to copy. Simulate missing values by pattern "
                    "and mechanism instead."
                )
            return ampute_like(truth, own_missing, seed=self.seed)
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
        return self.model_dump()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scenario:
        """Return the scenario that `to_dict` wrote; an unknown word or number is an error."""
        try:
            return cls.read(data)
        except AmputationError as error:
            raise AmputationError(
                f"These settings of a scenario cannot be read: {error} Make the scenario again in "
                "the Amputation lab."
            ) from None


def _column(data: Any) -> Any:
    """Return a column name as it is, or as `to_json_value` wrote it."""
    try:
        return from_json_value(data)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no column name: {data!r}") from error


def content_columns(schema: Schema) -> list[Any]:
    """Return the columns that can lose cells: no identifiers, ignored or empty ones."""
    return schema.imputable()


@dataclass(frozen=True)
class TableFacts:
    """Counts of a table over its columns with content, before any cell is lost.

    Attributes
    ----------
    columns : tuple of names
        The columns that can lose cells.
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
        """Complete rows where there are enough of them, else all rows completed."""
        enough = min(self.n_rows, max(FEWEST_COMPLETE_ROWS, self.n_rows // 2))
        return "complete-rows" if self.n_complete >= enough else "completed"

    def n_base_rows(self, base: Base) -> int:
        """Return how many rows can lose cells."""
        return self.n_complete if base == "complete-rows" else self.n_rows


def base_table(
    frame: pd.DataFrame, schema: Schema, base: Base, *, most_rows: int | None = None
) -> pd.DataFrame:
    """Return the rows that lose cells, with a known value in every cell.

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
                "No row of the table is complete. Use all rows, with missing cells imputed first."
            )
    rng = np.random.default_rng(_BASE_SEED)
    if most_rows is not None and len(rows) > most_rows:
        rows = np.sort(rng.choice(rows, most_rows, replace=False))
    truth = frame.iloc[rows]
    for name in missing.columns[missing.any()]:
        absent = missing[name].to_numpy()
        if absent[rows].any():
            # Each missing cell takes the value of a random row observed in this column; taking
            # rows keeps the dtype.
            donors = np.where(absent[rows], rng.choice(np.flatnonzero(~absent), len(rows)), rows)
            truth = truth.assign(**{name: frame[name].take(donors).set_axis(truth.index)})
    return truth


def base_sentence(facts: TableFacts, base: Base) -> str:
    """Say which rows lose values."""
    rows = count(facts.n_rows, "row")
    if not facts.n_missing:
        return f"The table is complete: values are removed from its {rows}, and all are known."
    if base == "complete-rows":
        return (
            f"Values are removed from the {count(facts.n_complete)} complete of {rows}. Their true "
            "values are known, but complete rows may differ from the others."
        )
    return (
        f"All {rows} are used: {count(facts.n_missing, 'missing cell was', 'missing cells were')} "
        "imputed first, each with a random observed value of its column. Such a value fits the "
        "column but not the rest of its row."
    )
