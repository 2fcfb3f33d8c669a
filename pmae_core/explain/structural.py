"""Holes that are no loss: cells that are empty because another column says that there is nothing.

The number of cigarettes a day is empty for those who do not smoke. Such cells have no true value,
and filling them would invent one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from pmae_core.errors import SchemaError
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table import ColumnSchema, Role, Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.time_cells import TimeCells
from pmae_core.words import listed

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
Relation = Literal["is", "is not", "<=", ">", "is missing"]

# A condition that names more values than this explains nothing to a reader.
MOST_VALUES = 5
# Values of fewer rows are empty by chance too often, and many of them are names, not kinds.
ROWS_PER_VALUE = 10
# A threshold is looked for among so many blocks of rows before it is looked for row by row.
BLOCKS = 256
# Numbers with so few different values may be codes of kinds.
MOST_CODES = 12


@dataclass(frozen=True)
class Condition:
    """What the cell of a column must be.

    Attributes
    ----------
    column
        Name of the column.
    relation : {"is", "is not", "<=", ">", "is missing"}
        Of a missing cell only "is missing" is true.
    values : tuple
        The values that it may or may not be, or the threshold; empty for "is missing".

    Examples
    --------
    >>> table = pd.DataFrame({"smoker": ["no", "yes", None]})
    >>> Condition("smoker", "is not", ("yes",)).holds(table).tolist()
    [True, False, False]
    """

    column: Hashable
    relation: Relation
    values: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise SchemaError(
                f"There is no relation {self.relation!r}; choose one of: "
                f"{', '.join(get_args(Relation))}."
            )

    def holds(self, frame: pd.DataFrame) -> BoolArray:
        """Return True for the rows in which it is so."""
        if self.column not in frame.columns:
            raise SchemaError(f"The table has no column {self.column!r}, which a condition names.")
        cells = frame[self.column]
        observed = cells.notna().to_numpy()
        if self.relation == "is missing":
            return ~observed
        if self.relation in ("is", "is not"):
            among = cells.isin(list(self.values)).to_numpy(dtype=bool)
            return observed & (among if self.relation == "is" else ~among)
        found = np.zeros(len(frame), dtype=bool)
        (threshold,) = self.values
        below = cells[observed] <= threshold
        found[observed] = (below if self.relation == "<=" else ~below).to_numpy(dtype=bool)
        return found

    @property
    def words(self) -> str:
        """The condition in words."""
        if self.relation == "is missing":
            return f"{self.column} is empty"
        verb = {"<=": "is at most", ">": "is above"}.get(self.relation, self.relation)
        return f"{self.column} {verb} {listed(self.values, most=MOST_VALUES, last='or')}"

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as JSON-able data."""
        return {
            "column": to_json_value(self.column),
            "relation": self.relation,
            "values": [to_json_value(value) for value in self.values],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Condition:
        """Return the condition that `to_dict` wrote."""
        values = tuple(from_json_value(value) for value in data["values"])
        return cls(from_json_value(data["column"]), data["relation"], values)


@dataclass(frozen=True)
class StructuralMissingness:
    """A column that is empty wherever a condition on another column holds.

    Attributes
    ----------
    column
        The column with the holes.
    condition : Condition
        When it is empty.
    n_rows : int
        Rows in which the condition holds.
    n_exceptions : int
        Those among them in which the column is observed all the same.
    n_other_missing : int
        Holes in the other rows, which the condition does not explain.
    """

    column: Hashable
    condition: Condition
    n_rows: int
    n_exceptions: int = 0
    n_other_missing: int = 0

    @property
    def condition_column(self) -> Hashable:
        """The column that explains the holes."""
        return self.condition.column

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if self.n_exceptions:
            rows = f"{self.n_rows - self.n_exceptions:,} of the {self.n_rows:,} rows"
        else:
            rows = f"all {self.n_rows:,} rows"
        n_else = self.n_other_missing
        rest = f"in {n_else:,} other row{'s' * (n_else > 1)}" if n_else else "nowhere else"
        found = f"{self.column} is empty in {rows} where {self.condition.words}, and {rest}."
        if self.condition.relation == "is missing":
            found += " The two may have been left out together, which is no reason to leave them."
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-able data."""
        return {
            "column": to_json_value(self.column),
            "condition": self.condition.to_dict(),
            "n_rows": self.n_rows,
            "n_exceptions": self.n_exceptions,
            "n_other_missing": self.n_other_missing,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StructuralMissingness:
        """Return the finding that `to_dict` wrote."""
        try:
            return cls(
                column=from_json_value(data["column"]),
                condition=Condition.from_dict(data["condition"]),
                n_rows=int(data["n_rows"]),
                n_exceptions=int(data["n_exceptions"]),
                n_other_missing=int(data["n_other_missing"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise SchemaError(f"This is no saved structural hole: {error!r}.") from None


def find_structural_missingness(
    frame: pd.DataFrame,
    schema: Schema | None = None,
    *,
    min_rows: int = 20,
    max_exceptions: float = 0.01,
    max_other_missing: float = 0.05,
    by_holes: bool = False,
    max_rows: int | None = None,
) -> list[StructuralMissingness]:
    """Find columns that are empty because of what another column says.

    The column must be empty (almost) whenever a condition holds, and (almost) never otherwise. What
    is found is an offer: whether a cell has no value at all is for people to say.

    Parameters
    ----------
    frame : DataFrame
        The table with its holes.
    schema : Schema, optional
        Roles of the columns; inferred where not given. Identifiers explain nothing.
    min_rows : int, default 20
        The condition must hold in as many rows, and as many others must have the column observed.
    max_exceptions : float, default 0.01
        Share of the rows of a condition that may be observed all the same.
    max_other_missing : float, default 0.05
        Share of the other rows that may be empty. They never are more than those explained.
    by_holes : bool, default False
        Also report columns that are empty whenever another one is. That alone is no reason: cells
        that were left out together have values all the same.
    max_rows : int, optional
        Of a larger table look for conditions in so many rows, taken at random, and then whether
        they hold in all.

    Returns
    -------
    list of StructuralMissingness
        At most one for each column, in the table's order: by a value rather than by
        another hole, then with the fewest exceptions, then the simplest.

    Examples
    --------
    >>> table = pd.DataFrame({"smoker": ["no", "yes"] * 30, "packs": [None, 1.5] * 30})
    >>> [hole.sentence for hole in find_structural_missingness(table)]
    ['packs is empty in all 30 rows where smoker is no, and nowhere else.']
    """
    schema = Schema.infer(frame) if schema is None else schema
    limits = _RuleLimits(min_rows, max_exceptions, max_other_missing, by_holes)
    if max_rows is not None and len(frame) > max_rows:
        rows = np.sort(np.random.default_rng(0).choice(len(frame), max_rows, replace=False))
        found = _found_in(frame.iloc[rows], schema, limits)
        measured = (
            _measured(
                hole.column,
                hole.condition,
                hole.condition.holds(frame),
                frame[hole.column].isna().to_numpy(),
            )
            for hole in found
        )
        return [hole for hole in measured if limits.allow(hole, len(frame))]
    return _found_in(frame, schema, limits)


def leave_alone(frame: pd.DataFrame, holes: Iterable[StructuralMissingness]) -> pd.DataFrame:
    """Return a table that is True for the missing cells which these findings explain.

    ``filled.mask(leave_alone(frame, holes))`` gives the filled table with these cells empty again.

    Parameters
    ----------
    frame : DataFrame
        The table with its holes.
    holes : iterable of StructuralMissingness
        The findings that hold, as :func:`find_structural_missingness` gives them.
    """
    left = pd.DataFrame(False, index=frame.index, columns=frame.columns)
    for hole in holes:
        if hole.column not in frame.columns:
            raise SchemaError(f"The table has no column {hole.column!r} to leave alone.")
        explained = hole.condition.holds(frame) & frame[hole.column].isna().to_numpy()
        left[hole.column] = left[hole.column].to_numpy() | explained
    return left


def _found_in(
    frame: pd.DataFrame, schema: Schema, limits: _RuleLimits
) -> list[StructuralMissingness]:
    min_rows = limits.min_rows
    missing = frame.isna()
    n_missing = missing.sum()
    most = len(frame) - min_rows
    columns = [name for name in frame.columns if min_rows <= n_missing[name] <= most]
    if not columns:
        return []
    holes = missing[columns].to_numpy()
    best: dict[Hashable, tuple[tuple[int, ...], StructuralMissingness]] = {}
    imputable = set(schema.imputable())
    for reason in schema:
        if reason.name not in imputable:
            continue
        for j, condition in _proposals(frame[reason.name], reason, holes, limits):
            column = columns[j]
            if column == reason.name:
                continue
            hole = _measured(column, condition, condition.holds(frame), holes[:, j])
            if limits.allow(hole, len(frame)):
                rank = _rank(hole)
                if column not in best or rank < best[column][0]:
                    best[column] = (rank, hole)
    return [best[column][1] for column in columns if column in best]


@dataclass(frozen=True)
class _RuleLimits:
    """What still counts as a rule."""

    min_rows: int
    max_exceptions: float
    max_other_missing: float
    by_holes: bool

    def allow(self, hole: StructuralMissingness, n_rows: int) -> bool:
        n_others = n_rows - hole.n_rows
        return (
            hole.n_rows >= self.min_rows
            and n_others - hole.n_other_missing >= self.min_rows
            and hole.n_exceptions <= self.max_exceptions * hole.n_rows
            and hole.n_other_missing <= self.max_other_missing * n_others
            and hole.n_other_missing <= hole.n_rows - hole.n_exceptions
        )


def _measured(
    column: Hashable, condition: Condition, holds: BoolArray, holes: BoolArray
) -> StructuralMissingness:
    n_rows, n_explained = int(holds.sum()), int((holds & holes).sum())
    return StructuralMissingness(
        column=column,
        condition=condition,
        n_rows=n_rows,
        n_exceptions=n_rows - n_explained,
        n_other_missing=int(holes.sum()) - n_explained,
    )


def _rank(hole: StructuralMissingness) -> tuple[int, ...]:
    """Return what orders findings for one column, the best first."""
    condition = hole.condition
    by_a_hole = condition.relation == "is missing"
    words = {"is": len(condition.values), "is not": 1 + len(condition.values)}
    return by_a_hole, hole.n_exceptions + hole.n_other_missing, words.get(condition.relation, 2)


def _proposals(
    cells: pd.Series, reason: ColumnSchema, holes: BoolArray, limits: _RuleLimits
) -> Iterator[tuple[int, Condition]]:
    """Yield (number of a column of holes, condition) for all that deserves a closer look."""
    numbers = _numbers(cells, reason.role)
    if numbers is not None:
        yield from _thresholds(cells, numbers, holes, limits)
    most = MOST_CODES if numbers is not None else len(cells) // ROWS_PER_VALUE
    if reason.n_unique <= most:
        yield from _kinds(cells, holes, limits)
    gone = cells.isna().to_numpy()
    if limits.by_holes and gone.sum() >= limits.min_rows:
        share = holes[gone].mean(axis=0)
        for j in np.flatnonzero(share >= 1 - limits.max_exceptions):
            yield int(j), Condition(cells.name, "is missing")


def _numbers(cells: pd.Series, role: Role) -> FloatArray | None:
    """Return the cells as numbers in their order, or None where they have no order."""
    if role not in (Role.NUMERICAL, Role.DATETIME):
        return None
    kind = cell_kind(cells)
    if kind is CellKind.NUMBER:
        return NumberCells.fit(cells).read(cells)
    if kind in (CellKind.DATETIME, CellKind.DURATION):
        return TimeCells.fit(cells).read(cells)
    return None


def _kinds(
    cells: pd.Series, holes: BoolArray, limits: _RuleLimits
) -> Iterator[tuple[int, Condition]]:
    """Propose the values for which a column is empty, or those for which it is not."""
    codes, values = pd.factorize(cells)
    seen = np.flatnonzero(codes >= 0)
    n_rows = np.bincount(codes[seen], minlength=len(values))
    indicator = sparse.csr_array(
        (np.ones(len(seen), dtype=np.float32), (codes[seen], seen)), (len(values), len(cells))
    )
    n_empty = indicator @ holes.astype(np.float32)
    is_empty = n_empty >= (1 - limits.max_exceptions) * n_rows[:, None]
    is_empty &= (n_rows >= min(ROWS_PER_VALUE, limits.min_rows))[:, None]
    for j in np.flatnonzero(is_empty.any(axis=0) & ~is_empty.all(axis=0)):
        for relation, chosen in (("is", is_empty[:, j]), ("is not", ~is_empty[:, j])):
            if chosen.sum() <= MOST_VALUES:
                # A list holds Python's own values, which read better and go into JSON.
                named = tuple(pd.Index(values)[chosen].tolist())
                yield int(j), Condition(cells.name, relation, named)  # type: ignore[arg-type]


def _thresholds(
    cells: pd.Series, numbers: FloatArray, holes: BoolArray, limits: _RuleLimits
) -> Iterator[tuple[int, Condition]]:
    """Propose for each column of holes the threshold with the fewest misfits on either side."""
    order = np.argsort(numbers)[: int(np.isfinite(numbers).sum())]
    last_of_value = np.flatnonzero(np.diff(numbers[order]) > 0)
    if not len(last_of_value):
        return
    ends = np.unique(np.linspace(0, len(order), BLOCKS + 1).astype(int))[1:]
    starts = np.concatenate([[0], ends[:-1]])
    n_below = np.add.reduceat(holes[order], starts, axis=0, dtype=np.int64).cumsum(axis=0)
    n_holes = holes.sum(axis=0)
    most_exceptions = limits.max_exceptions / (1 - limits.max_exceptions) * n_holes
    allowed = np.minimum(limits.max_other_missing * len(cells), n_holes / 2) + most_exceptions
    slack = (ends - starts).max()  # between two ends of blocks the misfits are at most so far off
    for relation, coarse in _misfits(n_below, ends[:, None]).items():
        for j in np.flatnonzero(coarse.min(axis=0) <= allowed + slack):
            below = np.cumsum(holes[order, j], dtype=np.int64)
            misfits = _misfits(below, np.arange(1, len(order) + 1))[relation]
            best = last_of_value[misfits[last_of_value].argmin()]
            threshold = cells.iloc[order[best]]
            plain = threshold.item() if isinstance(threshold, np.generic) else threshold
            yield int(j), Condition(cells.name, relation, (plain,))


def _misfits(n_below: npt.NDArray[Any], n_rows: npt.NDArray[Any]) -> dict[Relation, Any]:
    """Count exceptions and other holes if all up to a row, or all after it, were to be empty.

    ``n_below`` are the holes among the first ``n_rows`` rows; the last entry is of all rows.
    """
    n_above, n_rows_above = n_below[-1] - n_below, n_rows[-1] - n_rows
    return {"<=": n_rows - n_below + n_above, ">": n_below + n_rows_above - n_above}
