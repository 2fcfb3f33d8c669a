"""Cells held out to score methods: removed from the table, their values kept."""

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
from pmae_core.words import listed

BoolArray = npt.NDArray[np.bool_]
HoldoutKind = Literal["like-mine", "amputation", "known-truth"]

# Below this many cells a column's score is mostly noise ...
MIN_CELLS = 30
# ... but a column with few cells keeps at least three quarters of them for training.
MIN_CELLS_SHARE = 0.25
MAX_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Holdout:
    """One table with held-out cells.

    Attributes
    ----------
    truth : DataFrame
        The table before cells were held out.
    incomplete : DataFrame
        The table that methods impute.
    missing : DataFrame of bool
        True where a cell is held out and its true value known: the cells that are scored.
    """

    truth: pd.DataFrame
    incomplete: pd.DataFrame
    missing: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class HoldoutPlan:
    """How cells are held out; with the same seed, every method gets the same cells.

    Attributes
    ----------
    kind : {"like-mine", "amputation", "known-truth"}
        - like-mine: observed cells of the user's own table, see :func:`hold_out_like_mine`;
        - amputation: cells removed by :func:`pmae_core.amputation.ampute`;
        - known-truth: the table's own missing cells, whose true values are given. The same for
          all seeds.
    share : float
        For "like-mine": about which share of the observed cells to hold out.
    amputation : dict
        For "amputation": settings of ``ampute`` other than seed and schema.
    """

    kind: HoldoutKind = "like-mine"
    share: float = 0.1
    amputation: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in get_args(HoldoutKind):
            raise ScoringError(
                f"There is no hold-out {self.kind!r}. Choose "
                f"{listed(get_args(HoldoutKind), last='or')}."
            )
        if not 0 < self.share <= MAX_SHARE:
            raise ScoringError(
                f"The share of cells to hold out must be above 0 and at most {MAX_SHARE}, "
                f"not {self.share}."
            )
        reserved = sorted({"seed", "schema"} & set(self.amputation))
        if reserved:
            raise ScoringError(
                f"Leave {listed(reserved)} out of the settings of the amputation: the comparison "
                "sets them itself."
            )

    def make(
        self, table: pd.DataFrame, schema: Schema, seed: int, truth: pd.DataFrame | None = None
    ) -> Holdout:
        """Hold out cells of a table.

        Parameters
        ----------
        table : DataFrame
            The user's table.
        schema : Schema
            Its roles.
        seed : int
            The same seed holds out the same cells.
        truth : DataFrame, optional
            The complete table, for "known-truth".
        """
        if self.kind == "amputation":
            made = ampute(table, **self.amputation, seed=seed, schema=schema)
            return Holdout(made.truth, made.incomplete, made.missing)
        if self.kind == "known-truth":
            if truth is None:
                raise ScoringError("The hold-out 'known-truth' needs `truth`, the complete table.")
            return known_truth_holdout(table, truth)
        return hold_out_like_mine(table, schema, share=self.share, seed=seed)


def known_truth_holdout(table: pd.DataFrame, truth: pd.DataFrame) -> Holdout:
    """Score the missing cells of a table against the complete table.

    Parameters
    ----------
    table, truth : DataFrame
        The table with its missing values, and the complete one.
    """
    if not table.index.equals(truth.index):
        raise ScoringError(
            f"The table and its truth have different rows ({len(table)} and {len(truth)}, "
            "compared by index)."
        )
    absent = [str(name) for name in table.columns if name not in truth.columns]
    if absent:
        raise ScoringError(f"The truth lacks the column(s) {listed(absent)}.")
    truth = truth[list(table.columns)]
    missing = table.isna() & truth.notna()
    if not missing.to_numpy().any():
        raise ScoringError(
            "There is nothing to score: the truth has no value for any missing cell of the table."
        )
    return Holdout(truth, table, missing)


def hold_out_like_mine(
    table: pd.DataFrame, schema: Schema, *, share: float = 0.1, seed: int = 0
) -> Holdout:
    """Hold out observed cells of a table in the patterns of its own missing values.

    Random rows get, one after the other, the missing pattern of another random row that has
    missing values, until about `share` of the observed cells in incomplete columns are held out.
    So cells are held out together if they are often missing together, and only columns that
    need imputation are scored.

    - An incomplete column has at least ``MIN_CELLS`` held-out cells (or a quarter of its
      observed ones if these are few), and at most twice `share` or half of them.
    - Every row keeps at least one cell.
    - If nothing is missing in the table, cells are held out at random in every column.
    - Identifiers, ignored, empty and constant columns are left out.

    Parameters
    ----------
    table : DataFrame
        The table with its missing values.
    schema : Schema
        Its roles.
    share : float, default 0.1
        About which share of the observed cells to hold out.
    seed : int, default 0
        The same seed holds out the same cells.

    Returns
    -------
    Holdout
        The table, the table with fewer observed cells, and the cells held out.

    Raises
    ------
    ScoringError
        If no cell can be held out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    >>> table.loc[:39, ["b", "c"]] = np.nan
    >>> held_out = hold_out_like_mine(table, Schema.infer(table), seed=1).missing
    >>> held_out.sum().tolist(), bool((held_out["b"] == held_out["c"]).all())
    ([0, 30, 30], True)
    """
    names = _learnable_columns(table, schema)
    rng = np.random.default_rng(seed)
    missing = table[names].isna().to_numpy()
    if missing.any():
        held_out = _copy_patterns(missing, share, rng)
    else:
        held_out = _random_cells(missing.shape, share, rng)
    if not held_out.any():
        raise ScoringError(
            "No cell can be held out: the table needs a column with at least two observed cells, "
            "in rows that have others. Add rows, or use a table whose true values are known."
        )
    cells = pd.DataFrame(held_out, index=table.index, columns=names)
    made = ampute_like(table, cells, shuffle=False, drop_empty_rows=False)
    return Holdout(made.truth, made.incomplete, made.missing)


def _learnable_columns(table: pd.DataFrame, schema: Schema) -> list[Any]:
    learned = set(schema.learned())
    names = [name for name in table.columns if name in learned]
    if not names:
        raise ScoringError(
            "No column can be scored: all are empty, constant, identifiers or ignored."
        )
    return names


def _copy_patterns(missing: BoolArray, share: float, rng: np.random.Generator) -> BoolArray:
    observed = ~missing
    incomplete = missing.any(axis=0)
    n_observed = observed.sum(axis=0)
    least = np.where(incomplete, _least_cells(n_observed), 0)
    most = np.minimum(np.ceil(2 * share * n_observed).astype(int), n_observed // 2)
    most = np.maximum(least, most)
    donors = np.flatnonzero(missing.any(axis=1))

    rows = rng.permutation(len(missing))
    copied = observed[rows] & missing[rng.choice(donors, size=len(rows))]
    wanted = share * n_observed[incomplete].sum()
    enough = int(np.searchsorted(np.cumsum(copied.sum(axis=1)), wanted)) + 1
    held_out = np.zeros_like(missing)
    held_out[rows[:enough]] = copied[:enough]

    _return_surplus(held_out, most, rng)
    _return_last_cells(held_out, observed, rng)
    for column in np.flatnonzero(least).tolist():
        _hold_out_more(held_out, missing, column, least=int(least[column]), most=most, rng=rng)
    return held_out


def _random_cells(shape: tuple[int, ...], share: float, rng: np.random.Generator) -> BoolArray:
    n_rows, n_columns = shape
    size = max(int(_least_cells(np.array(n_rows))), math.ceil(share * n_rows))
    held_out = np.zeros(shape, dtype=bool)
    for column in range(n_columns):
        held_out[rng.choice(n_rows, size=size, replace=False), column] = True
    _return_last_cells(held_out, np.ones(shape, dtype=bool), rng)
    return held_out


def _least_cells(n_observed: npt.NDArray[Any]) -> npt.NDArray[np.int_]:
    """Return how many cells of a column must be held out: none if it has a single one."""
    quarter = np.maximum(1, (MIN_CELLS_SHARE * n_observed).astype(int))
    return np.where(n_observed > 1, np.minimum(MIN_CELLS, quarter), 0)


def _return_surplus(
    held_out: BoolArray, most: npt.NDArray[np.int_], rng: np.random.Generator
) -> None:
    for column in np.flatnonzero(held_out.sum(axis=0) > most):
        rows = np.flatnonzero(held_out[:, column])
        surplus = rng.choice(rows, size=len(rows) - most[column], replace=False)
        held_out[surplus, column] = False


def _return_last_cells(held_out: BoolArray, observed: BoolArray, rng: np.random.Generator) -> None:
    """Return one held-out cell to each row that would have none left."""
    for row in np.flatnonzero(held_out.any(axis=1) & ~(observed & ~held_out).any(axis=1)):
        held_out[row, rng.choice(np.flatnonzero(held_out[row]))] = False


def _hold_out_more(
    held_out: BoolArray,
    missing: BoolArray,
    column: int,
    *,
    least: int,
    most: npt.NDArray[np.int_],
    rng: np.random.Generator,
) -> None:
    """Copy patterns in which a column is missing until enough of its cells are held out."""
    observed = ~missing & ~held_out
    donors = np.flatnonzero(missing[:, column])
    for row in rng.permutation(np.flatnonzero(observed[:, column] & (observed.sum(axis=1) > 1))):
        if held_out[:, column].sum() >= least:
            break
        copied = observed[row] & missing[rng.choice(donors)] & (held_out.sum(axis=0) < most)
        if copied.sum() == observed[row].sum():
            copied = np.arange(len(copied)) == column
        held_out[row] |= copied
