"""Cells set aside to judge methods by: hidden from them, known to us."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from pmae_core.amputation import ampute, ampute_like
from pmae_core.errors import ScoringError
from pmae_core.table.schema import Schema

BoolArray = npt.NDArray[np.bool_]
HoldoutKind = Literal["like-mine", "amputation", "known-truth"]

# Below this many cells a column's score is mostly noise ...
MIN_CELLS = 30
# ... but a column with few cells keeps at least three quarters of them to learn from.
MIN_CELLS_SHARE = 0.25
MAX_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Holdout:
    """One table with hidden cells.

    Attributes
    ----------
    truth : DataFrame
        The table before cells were hidden.
    incomplete : DataFrame
        What the methods see.
    missing : DataFrame of bool
        True where a cell is hidden and its truth known: the cells that are scored.
    """

    truth: pd.DataFrame
    incomplete: pd.DataFrame
    missing: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class HoldoutPlan:
    """How cells are set aside; with a seed it gives the same cells to every method.

    Attributes
    ----------
    kind : {"like-mine", "amputation", "known-truth"}
        - like-mine: observed cells of the user's own table, see :func:`hold_out_like_mine`;
        - amputation: holes made by :func:`pmae_core.amputation.ampute`;
        - known-truth: the table's own holes, whose truth is given. The same for all seeds.
    share : float
        For "like-mine": about which share of the observed cells to hide.
    amputation : dict
        For "amputation": settings of ``ampute`` besides seed and schema.
    """

    kind: HoldoutKind = "like-mine"
    share: float = 0.1
    amputation: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in get_args(HoldoutKind):
            raise ScoringError(
                f"There is no hold-out {self.kind!r}; choose one of: "
                f"{', '.join(get_args(HoldoutKind))}."
            )
        if not 0 < self.share <= MAX_SHARE:
            raise ScoringError(
                f"The share of cells to hold out must be above 0 and at most {MAX_SHARE}, "
                f"not {self.share}."
            )
        reserved = sorted({"seed", "schema"} & set(self.amputation))
        if reserved:
            raise ScoringError(
                f"Leave {' and '.join(reserved)} out of the amputation's settings: the comparison "
                "brings its own seeds and schema."
            )

    @property
    def varies_with_seed(self) -> bool:
        """Whether another seed hides other cells."""
        return self.kind != "known-truth"

    def make(
        self, table: pd.DataFrame, schema: Schema, seed: int, truth: pd.DataFrame | None = None
    ) -> Holdout:
        """Hide cells of a table.

        Parameters
        ----------
        table : DataFrame
            The user's table.
        schema : Schema
            Its roles.
        seed : int
            The same seed hides the same cells.
        truth : DataFrame, optional
            The complete table, for "known-truth".
        """
        if self.kind == "amputation":
            holes = ampute(table, **self.amputation, seed=seed, schema=schema)
            return Holdout(holes.truth, holes.incomplete, holes.missing)
        if self.kind == "known-truth":
            if truth is None:
                raise ScoringError("To judge by a known truth the complete table is needed.")
            return known_truth_holdout(table, truth)
        return hold_out_like_mine(table, schema, share=self.share, seed=seed)


def known_truth_holdout(table: pd.DataFrame, truth: pd.DataFrame) -> Holdout:
    """Take the holes of a table as the cells to score, against the complete table."""
    if not table.index.equals(truth.index):
        raise ScoringError(
            f"The table and its truth have different rows ({len(table)} and {len(truth)}, "
            "compared by index)."
        )
    absent = [str(name) for name in table.columns if name not in truth.columns]
    if absent:
        raise ScoringError(f"The truth lacks the column(s) {', '.join(absent)}.")
    truth = truth[list(table.columns)]
    missing = table.isna() & truth.notna()
    if not missing.to_numpy().any():
        raise ScoringError("There is nothing to score: the truth fills no hole of the table.")
    return Holdout(truth, table, missing)


def hold_out_like_mine(
    table: pd.DataFrame, schema: Schema, *, share: float = 0.1, seed: int = 0
) -> Holdout:
    """Hide observed cells of a table in the way in which its own cells are missing.

    Random rows, one after the other, get the missing pattern of another random row that has
    holes, until about `share` of the observed cells in columns with holes are hidden. So what is
    hidden together is what tends to miss together, and only columns that need filling are judged.

    - A column with holes has at least ``MIN_CELLS`` hidden cells (or a quarter of its
      observed ones if these are few), and at most twice `share` or half of them.
    - No row loses its last cell.
    - Where the table has no holes at all, cells are hidden at random in every column.
    - Identifiers, ignored, empty and constant columns are left alone.

    Parameters
    ----------
    table : DataFrame
        The table with its holes.
    schema : Schema
        Its roles.
    share : float, default 0.1
        About which share of the observed cells to hide.
    seed : int, default 0
        The same seed hides the same cells.

    Returns
    -------
    Holdout
        The table, the table with more holes, and the cells hidden.

    Raises
    ------
    ScoringError
        If there is no cell that could be hidden.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    >>> table.loc[:39, ["b", "c"]] = np.nan
    >>> hidden = hold_out_like_mine(table, Schema.infer(table), seed=1).missing
    >>> hidden.sum().tolist(), bool((hidden["b"] == hidden["c"]).all())
    ([0, 30, 30], True)
    """
    names = _learnable_columns(table, schema)
    rng = np.random.default_rng(seed)
    missing = table[names].isna().to_numpy()
    if missing.any():
        hidden = _copy_patterns(missing, share, rng)
    else:
        hidden = _random_cells(missing.shape, share, rng)
    if not hidden.any():
        raise ScoringError(
            "No cell can be held out: the table needs a column with at least two observed cells, "
            "in rows that have others. Add rows, or judge by a table whose truth is known."
        )
    cells = pd.DataFrame(hidden, index=table.index, columns=names)
    holes = ampute_like(table, cells, shuffle=False, drop_empty_rows=False)
    return Holdout(holes.truth, holes.incomplete, holes.missing)


def _learnable_columns(table: pd.DataFrame, schema: Schema) -> list[Any]:
    learned = set(schema.learned())
    names = [name for name in table.columns if name in learned]
    if not names:
        raise ScoringError(
            "No column can be judged: all are empty, constant, identifiers or ignored."
        )
    return names


def _copy_patterns(missing: BoolArray, share: float, rng: np.random.Generator) -> BoolArray:
    observed = ~missing
    with_holes = missing.any(axis=0)
    n_observed = observed.sum(axis=0)
    least = np.where(with_holes, _least_cells(n_observed), 0)
    most = np.minimum(np.ceil(2 * share * n_observed).astype(int), n_observed // 2)
    most = np.maximum(least, most)
    donors = np.flatnonzero(missing.any(axis=1))

    rows = rng.permutation(len(missing))
    copied = observed[rows] & missing[rng.choice(donors, size=len(rows))]
    wanted = share * n_observed[with_holes].sum()
    enough = int(np.searchsorted(np.cumsum(copied.sum(axis=1)), wanted)) + 1
    hidden = np.zeros_like(missing)
    hidden[rows[:enough]] = copied[:enough]

    _give_back_surplus(hidden, most, rng)
    _give_back_last_cells(hidden, observed, rng)
    for column in np.flatnonzero(least).tolist():
        _hide_more(hidden, missing, column, least=int(least[column]), most=most, rng=rng)
    return hidden


def _random_cells(shape: tuple[int, ...], share: float, rng: np.random.Generator) -> BoolArray:
    n_rows, n_columns = shape
    size = max(int(_least_cells(np.array(n_rows))), math.ceil(share * n_rows))
    hidden = np.zeros(shape, dtype=bool)
    for column in range(n_columns):
        hidden[rng.choice(n_rows, size=size, replace=False), column] = True
    _give_back_last_cells(hidden, np.ones(shape, dtype=bool), rng)
    return hidden


def _least_cells(n_observed: npt.NDArray[Any]) -> npt.NDArray[np.int_]:
    """Return how many cells of a column must be hidden: none if it has a single one."""
    quarter = np.maximum(1, (MIN_CELLS_SHARE * n_observed).astype(int))
    return np.where(n_observed > 1, np.minimum(MIN_CELLS, quarter), 0)


def _give_back_surplus(
    hidden: BoolArray, most: npt.NDArray[np.int_], rng: np.random.Generator
) -> None:
    for column in np.flatnonzero(hidden.sum(axis=0) > most):
        rows = np.flatnonzero(hidden[:, column])
        surplus = rng.choice(rows, size=len(rows) - most[column], replace=False)
        hidden[surplus, column] = False


def _give_back_last_cells(hidden: BoolArray, observed: BoolArray, rng: np.random.Generator) -> None:
    """Show one hidden cell again in each row that would have nothing left."""
    for row in np.flatnonzero(hidden.any(axis=1) & ~(observed & ~hidden).any(axis=1)):
        hidden[row, rng.choice(np.flatnonzero(hidden[row]))] = False


def _hide_more(
    hidden: BoolArray,
    missing: BoolArray,
    column: int,
    *,
    least: int,
    most: npt.NDArray[np.int_],
    rng: np.random.Generator,
) -> None:
    """Copy patterns that miss a column until it has its minimum, in rows with cells to spare."""
    left = ~missing & ~hidden
    donors = np.flatnonzero(missing[:, column])
    for row in rng.permutation(np.flatnonzero(left[:, column] & (left.sum(axis=1) > 1))):
        if hidden[:, column].sum() >= least:
            break
        copied = left[row] & missing[rng.choice(donors)] & (hidden.sum(axis=0) < most)
        if copied.sum() == left[row].sum():
            copied = np.arange(len(copied)) == column
        hidden[row] |= copied
