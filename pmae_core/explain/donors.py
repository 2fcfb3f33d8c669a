"""Similar rows: what they say about a cell, and how much the table knows about it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.table import ColumnSchema, Role, Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.ordinal_cells import OrdinalCells
from pmae_core.table.roles import NUMBER_ROLES
from pmae_core.table.time_cells import TimeCells
from pmae_core.words import count, listed, percent

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
SupportLevel = Literal["good", "thin", "none"]

# Numbers are alike if at most this share of the column lies between them.
ALIKE = 0.1
# With fewer observed cells, a column says little about its missing ones.
FEW_OBSERVED = 30
# With a smaller share of observed cells, a row says little about its missing ones.
FEW_IN_ROW = 0.25
# Donors are far if this share of rows has nearer ones.
FAR = 0.95
_REFERENCE_ROWS = 200
_REFERENCE_DONORS = 2000


@dataclass(frozen=True)
class Support:
    """How much information a table has about one of its cells.

    Attributes
    ----------
    level : {"good", "thin", "none"}
        "none": nothing but the column itself is informative.
    sentence : str
        Why.
    """

    level: SupportLevel
    sentence: str

    def to_dict(self) -> dict[str, str]:
        """Return the support as JSON-able data."""
        return asdict(self)


class Neighborhood:
    """The rows of a table and the distances between them; made once, used for many cells.

    The distance of two rows is the mean over the cells observed in the first one: between numbers
    or dates the share of the column that lies between them, between categories 0 or 1. A
    cell that is missing in the other row counts as the mean distance of two random rows, so that
    rows with few cells in common are not near by accident.

    Parameters
    ----------
    frame : DataFrame
        The table with its missing values; it must not change later.
    schema : Schema, optional
        Roles of the columns; inferred if not given. Identifiers, ignored and constant
        columns are not used.
    rows : sequence of int, optional
        Positions of the rows to use if a table is too large to use them all; only these can be
        queried and be donors.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 21, 70, 71], "town": ["A", "A", "B", "B"]})
    >>> table["income"] = [1000.0, None, 3000.0, 3100.0]
    >>> Neighborhood(table).donors(1, "income", k=1)["value"].tolist()
    [1000.0]
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        schema: Schema | None = None,
        *,
        rows: Sequence[int] | IntArray | None = None,
    ) -> None:
        self.schema = Schema.infer(frame) if schema is None else schema
        self.frame = frame if rows is None else frame.iloc[np.unique(rows)]
        self._positions = np.arange(len(frame)) if rows is None else np.unique(rows)
        self._n_rows = len(frame)
        imputable = self.schema.imputable(self.frame)
        self._coordinates: dict[Hashable, _Coordinate] = {
            name: _Coordinate.of(self.frame[name], self.schema[name])
            for name in self.schema.learned()
            if name in imputable
        }

    def donors(self, row: int, column: Hashable, k: int = 5) -> pd.DataFrame:
        """Return the rows most similar to a row among those in which a column is observed.

        Parameters
        ----------
        row : int
            Position of the row, from 0.
        column
            The column of the cell.
        k : int, default 5
            How many rows at most.

        Returns
        -------
        DataFrame
            By the donors' labels, the nearest first: ``row`` (position), ``distance`` (0 to 1),
            ``n_shared`` (cells observed in both), ``value`` of the column, and the names of the
            columns in which the two ``agree`` and ``differ`` (lists).
        """
        row = self._place(row, column)
        candidates = self._rows_observing(row, column)
        observed = self._observed_columns(row, column)
        distances = self._distances([row], candidates, observed)[0]
        nearest = np.argsort(distances, kind="stable")[:k]
        return self._described(row, column, observed, candidates[nearest], distances[nearest])

    def support(self, row: int, column: Hashable, k: int = 5) -> Support:
        """Say how much information the table has about a cell.

        It is thin if few cells of the row are observed, if the column has few observed cells, or if
        the nearest donors are farther away than is usual in this table.

        Parameters
        ----------
        row, column, k
            As for :meth:`donors`.
        """
        row = self._place(row, column)
        candidates = self._rows_observing(row, column)
        observed = self._observed_columns(row, column)
        n_others = len(self._coordinates) - (column in self._coordinates)
        if not len(candidates):
            return Support("none", f"{column} is observed in no other row.")
        if not observed:
            return Support("none", "No other cell of this row is observed.")
        reasons = []
        if len(candidates) < FEW_OBSERVED:
            reasons.append(f"{column} is observed in only {count(len(candidates), 'other row')}")
        if len(observed) < FEW_IN_ROW * n_others:
            reasons.append(
                f"only {len(observed)} of the {n_others} other cells of this row are observed"
            )
        nearer = self._share_of_nearer(row, candidates, observed, k)
        if nearer > FAR:
            reasons.append(f"few similar rows ({percent(nearer)} of rows have closer matches)")
        if reasons:
            return Support("thin", f"Little information here: {listed(reasons)}.")
        return Support(
            "good",
            f"{len(observed)} of {n_others} other cells of this row are observed, and {column} is "
            "observed in similar rows.",
        )

    def _place(self, row: int, column: Hashable) -> int:
        """Return the position of a row among those in use."""
        if column not in self.frame.columns:
            raise SchemaError(f"The table has no column {column!r}.")
        if not 0 <= row < self._n_rows:
            raise SchemaError(f"The table has no row {row}; rows go from 0 to {self._n_rows - 1}.")
        place = int(np.searchsorted(self._positions, row))
        if place == len(self._positions) or self._positions[place] != row:
            raise SchemaError(f"Row {row} is not among the rows of this neighborhood.")
        return place

    def _rows_observing(self, row: int, column: Hashable) -> IntArray:
        """Return the positions of the other rows in which a column is observed."""
        observed = self.frame[column].notna().to_numpy(copy=True)
        observed[row] = False
        return np.flatnonzero(observed)

    def _observed_columns(self, row: int, column: Hashable) -> list[Hashable]:
        """Return the other columns that are observed in a row."""
        return [
            name
            for name, coordinate in self._coordinates.items()
            if name != column and not np.isnan(coordinate.places[row])
        ]

    def _distances(
        self, rows: list[int] | IntArray, others: IntArray, observed: list[Hashable]
    ) -> FloatArray:
        total = np.zeros((len(rows), len(others)), dtype=np.float32)
        for name in observed:
            total += self._coordinates[name].distances(rows, others)
        total /= max(len(observed), 1)
        return total

    def _share_of_nearer(
        self, row: int, candidates: IntArray, observed: list[Hashable], k: int
    ) -> float:
        """Return the share of rows whose donors, by the same columns, are nearer than this row's.

        Both are found in the same sample, because more donors are nearer donors.
        """
        rng = np.random.default_rng(0)
        sample = rng.permutation(candidates)[:_REFERENCE_DONORS]
        rows = np.concatenate([[row], sample[:_REFERENCE_ROWS]])
        distances = self._distances(rows, sample, observed)
        distances[np.arange(1, len(rows)), np.arange(len(rows) - 1)] = np.inf  # not its own donor
        k = min(k, len(sample) - 1)
        if k < 1:
            return 0.0
        own, *usual = np.partition(distances, k - 1, axis=1)[:, :k].mean(axis=1)
        # Differences near the resolution of single precision do not count.
        return float(np.mean(np.array(usual) < own - 1e-6))

    def _described(
        self,
        row: int,
        column: Hashable,
        observed: list[Hashable],
        donors: IntArray,
        distances: FloatArray,
    ) -> pd.DataFrame:
        agree: list[list[Hashable]] = [[] for _ in donors]
        differ: list[list[Hashable]] = [[] for _ in donors]
        for name in observed:
            coordinate = self._coordinates[name]
            apart = coordinate.distances([row], donors)[0]
            for i in np.flatnonzero(~np.isnan(coordinate.places[donors])):
                (agree if apart[i] <= ALIKE else differ)[i].append(name)
        return pd.DataFrame(
            {
                "row": self._positions[donors],
                "distance": distances.astype(float),
                "n_shared": [len(a) + len(d) for a, d in zip(agree, differ, strict=True)],
                "value": self.frame[column].iloc[donors].to_numpy(dtype=object),
                "agree": pd.Series(agree, dtype=object),
                "differ": pd.Series(differ, dtype=object),
            }
        ).set_index(self.frame.index[donors])


def nearest_donors(
    frame: pd.DataFrame, row: int, column: Hashable, k: int = 5, schema: Schema | None = None
) -> pd.DataFrame:
    """Return the rows most similar to a row; see :meth:`Neighborhood.donors`.

    For many cells of one table, make a :class:`Neighborhood` once.
    """
    return Neighborhood(frame, schema).donors(row, column, k)


def support(
    frame: pd.DataFrame, row: int, column: Hashable, k: int = 5, schema: Schema | None = None
) -> Support:
    """Say how much information a table has about a cell; see :meth:`Neighborhood.support`."""
    return Neighborhood(frame, schema).support(row, column, k)


@dataclass(frozen=True)
class _Coordinate:
    """Where the cells of one column lie.

    Numbers and levels are placed by their rank from 0 to 1, categories by a code.

    ``typical`` is the mean distance of two random rows.
    """

    places: FloatArray
    is_kind: bool
    typical: float

    @classmethod
    def of(cls, cells: pd.Series, column: ColumnSchema) -> _Coordinate:
        numbers = _ordered_numbers(cells, column)
        if numbers is not None:
            ranks = pd.Series(numbers).rank().to_numpy()
            n_observed = int(np.isfinite(numbers).sum())
            places = (ranks - 1) / max(n_observed - 1, 1)
            sorted_places = np.sort(places[np.isfinite(places)])
            # The mean absolute difference from the sorted values alone (Gini).
            weights = 2 * np.arange(1, n_observed + 1) - n_observed - 1
            typical = 2 * float(weights @ sorted_places) / n_observed**2
            return cls(places.astype(np.float32), False, typical)
        codes, values = pd.factorize(cells)
        shares = np.bincount(codes[codes >= 0], minlength=len(values)) / (codes >= 0).sum()
        places = np.where(codes >= 0, codes, np.nan)
        return cls(places.astype(np.float32), True, 1 - float(np.sum(shares**2)))

    def distances(self, rows: Any, others: IntArray) -> FloatArray:
        """Return distances of rows (down) to others (across)."""
        apart = np.abs(self.places[rows][:, None] - self.places[others][None, :])
        if self.is_kind:
            apart = np.where(np.isnan(apart), apart, apart > 0)
        return np.nan_to_num(apart, nan=self.typical)


def _ordered_numbers(cells: pd.Series, column: ColumnSchema) -> FloatArray | None:
    """Return the cells as numbers in their order, or None where they have no order."""
    kind = cell_kind(cells)
    if column.role is Role.ORDINAL:
        return OrdinalCells.fit(cells, column.rules.levels).read(cells)
    if column.role not in NUMBER_ROLES or kind is CellKind.BOOLEAN:
        return None
    is_time = kind in (CellKind.DATETIME, CellKind.DURATION)
    return (TimeCells if is_time else NumberCells).fit(cells).read(cells)
