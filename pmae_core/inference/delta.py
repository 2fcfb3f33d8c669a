"""What if the missing ones are different: shift the filled cells and see when a conclusion tips."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, logit

from pmae_core.errors import ScoringError
from pmae_core.evaluation._fillings import name_imputations
from pmae_core.inference.stability import Estimand, conclusion_stability
from pmae_core.names import make_unique
from pmae_core.table import Role, Schema
from pmae_core.table.cells import CellKind, cell_kind, impute_cells
from pmae_core.table.number_cells import NumberCells
from pmae_core.words import cell_text

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
Scale = Literal["sd", "units"]

DEFAULT_DELTAS = tuple(np.linspace(-2, 2, 21).round(2).tolist())
# Halvings between two deltas of the grid: to a thousandth of their distance.
_HALVINGS = 10


def shifted(
    filled: pd.DataFrame,
    missing: pd.DataFrame,
    column: Hashable,
    delta: float,
    *,
    scale: Scale = "sd",
    category: Any = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the filled table with the filled cells of one column moved.

    Parameters
    ----------
    filled : DataFrame
        The filled table.
    missing : DataFrame of bool
        True where a cell was missing; only these cells move.
    column
        A column of numbers, or of categories with `category`.
    delta : float
        How far: numbers get so much added; of categories, it is added to the logarithm of the odds
        of `category` among the filled cells (0.7 doubles the odds).
    scale : {"sd", "units"}, default "sd"
        For numbers, whether `delta` counts standard deviations of the observed cells or units of
        the column. Whole numbers stay whole.
    category
        Of a column of categories, the one that becomes more or less frequent: cells are
        turned at random; those that leave it take others as frequent as these are.
    seed : int, default 0
        For categories. With one seed, cells that turn at some delta stay turned at larger ones.

    Returns
    -------
    DataFrame
        A new table; observed cells, index and dtypes are as they were.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.2, 3.0, 2.0]})
    >>> holes = pd.DataFrame({"x": [False, False, True]})
    >>> shifted(table, holes, "x", 0.5, scale="units")["x"].tolist()
    [1.2, 3.0, 2.5]
    """
    cells = filled[column]
    moved = _filled_cells(cells, missing[column])
    result = filled.copy()
    if category is not None:
        result[column] = _with_odds(cells, moved, category, delta, seed)
    else:
        numbers = _moved_numbers(cells, moved, delta, scale)
        written = NumberCells.fit(cells).write(numbers[moved], cells)
        result[column] = impute_cells(cells, moved, written)
    return result


@dataclass(frozen=True, eq=False)
class DeltaCurve:
    """How an estimate moves with the filled cells of a column.

    Attributes
    ----------
    table : DataFrame
        By row: ``delta``, ``estimate``, ``low``, ``high`` (its interval) and ``conclusion``: the
        interval lies "above" the null value, "below" it, or is "open".
    null : float
        The null value.
    tipping_down, tipping_up : float, optional
        The delta nearest to 0, below and above it, at which the conclusion is another; None
        where it stands over all deltas.
    sentence : str
        The result in words.
    """

    table: pd.DataFrame
    null: float
    tipping_down: float | None
    tipping_up: float | None
    sentence: str

    @property
    def tipping(self) -> float | None:
        """The smallest shift, in either direction, at which the conclusion is another."""
        found = [delta for delta in (self.tipping_down, self.tipping_up) if delta is not None]
        return min(found, key=abs, default=None)


def tipping_point(
    frame: pd.DataFrame,
    filled: pd.DataFrame | Sequence[pd.DataFrame],
    column: Hashable,
    conclusion: Estimand | Sequence[Any],
    *,
    deltas: Sequence[float] = DEFAULT_DELTAS,
    null: float = 0.0,
    scale: Scale = "sd",
    category: Any = None,
    schema: Schema | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> DeltaCurve:
    """Say how far the filled cells of a column must be off for a conclusion to be another.

    All methods assume that missing cells are like observed ones with the same other cells. No data
    can tell; this asks how wrong the assumption may be.

    Parameters
    ----------
    frame : DataFrame
        The table with its holes.
    filled : DataFrame or sequence of DataFrame
        The filled table, or several draws, which are pooled by Rubin's rules.
    column
        The column whose filled cells are shifted; one of those of the conclusion.
    conclusion : Estimand or tuple
        As in :func:`~pmae_core.evaluation.conclusion_stability`: ``("mean", column)``,
        ``("correlation", a, b)`` or ``("slope", y, x, *controls)``.
    deltas : sequence of float
        The shifts to look at; between two of them the tipping point is found by halving.
    null : float, default 0
        The conclusion is on which side of this value the interval lies, if on one.
    scale, category, seed
        As in :func:`shifted`. Numbers move exactly here, also whole ones.
    schema : Schema, optional
        Roles of the columns; inferred where not given.
    confidence : float, default 0.95
        Coverage of the interval.

    Returns
    -------
    DeltaCurve

    Notes
    -----
    Only the column itself moves: what other columns were filled with because of it stays.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 2.0, None, None]})
    >>> curve = tipping_point(table, table.fillna(2.0), "x", ("mean", "x"), scale="units",
    ...                       deltas=[-6, -3, 0, 3])
    >>> curve.table["estimate"].tolist()
    [0.0, 1.0, 2.0, 3.0]
    >>> curve.sentence
    'The mean of x lies above 0; no longer if the filled cells of x are lower by 2.08.'
    """
    asked = conclusion if isinstance(conclusion, Estimand) else Estimand.read(tuple(conclusion))
    tables = [filled] if isinstance(filled, pd.DataFrame) else list(filled)
    _check(frame, tables, column, asked)
    schema = Schema.infer(frame[list(asked.columns)]) if schema is None else schema
    spec, (own, *tables) = _with_indicators(asked, column, [frame, *tables], schema)
    probe = _Probe(
        frame=own,
        tables=tables,
        column=column,
        estimand=asked,
        spec=spec,
        null=null,
        scale=scale,
        category=category,
        schema=Schema.infer(
            own, {name: schema.role(name) for name in asked.columns if name in own}
        ),
        confidence=confidence,
        seed=seed,
    )
    grid = sorted({0.0, *map(float, deltas)})
    rows = {delta: probe.at(delta) for delta in grid}
    down = _first_change(probe, [delta for delta in reversed(grid) if delta <= 0], rows)
    up = _first_change(probe, [delta for delta in grid if delta >= 0], rows)
    curve = DeltaCurve(pd.DataFrame(list(rows.values())), null, down, up, "")
    return replace(curve, sentence=probe.sentence(curve))


@dataclass(frozen=True, eq=False)
class _Probe:
    """Estimates the same figure under any shift."""

    frame: pd.DataFrame
    tables: list[pd.DataFrame]
    column: Hashable
    estimand: Estimand
    spec: tuple[Any, ...]
    null: float
    scale: Scale
    category: Any
    schema: Schema
    confidence: float
    seed: int

    def at(self, delta: float) -> dict[str, Any]:
        """Return the row of the curve for one shift."""
        moved = [self._moved(table, delta, number) for number, table in enumerate(self.tables)]
        stability = conclusion_stability(
            self.frame,
            self.spec,
            {"shifted": moved},
            complete_cases=False,
            schema=self.schema,
            confidence=self.confidence,
        )
        found = stability.iloc[0].to_dict()
        if found["status"] != "done":
            raise ScoringError(str(found["error"]))
        side = "above" if found["low"] > self.null else "below"
        is_open = found["low"] <= self.null <= found["high"]
        return {
            "delta": delta,
            "estimate": float(found["estimate"]),
            "low": float(found["low"]),
            "high": float(found["high"]),
            "conclusion": "open" if is_open else side,
        }

    def _moved(self, table: pd.DataFrame, delta: float, number: int) -> pd.DataFrame:
        cells = table[self.column]
        moved = _filled_cells(cells, self.frame[self.column].isna())
        result = table.copy()
        if self.category is not None:
            result[self.column] = _with_odds(cells, moved, self.category, delta, self.seed + number)
        else:
            result[self.column] = _moved_numbers(cells, moved, delta, self.scale)
        return result

    def sentence(self, curve: DeltaCurve) -> str:
        null = cell_text(self.null)
        base = dict(zip(curve.table["delta"], curve.table["conclusion"], strict=True))[0.0]
        words = {
            "above": (f"lies above {null}", "no longer"),
            "below": (f"lies below {null}", "no longer"),
            "open": (f"cannot be told from {null}", "but it can"),
        }
        stands, changes = words[base]
        if curve.tipping is None:
            low, high = curve.table["delta"].min(), curve.table["delta"].max()
            return f"The {self.estimand.label} {stands}{self._for_all(low, high)}."
        return f"The {self.estimand.label} {stands}; {changes} if {self._if(curve.tipping)}."

    def _if(self, delta: float) -> str:
        if self.category is not None:
            return (
                f"the odds of {cell_text(self.category)} among the filled cells of {self.column} "
                f"are {cell_text(math.exp(delta))} times as high"
            )
        way = "higher" if delta > 0 else "lower"
        return f"the filled cells of {self.column} are {way} by {self._amount(abs(delta))}"

    def _for_all(self, low: float, high: float) -> str:
        if self.category is not None:
            odds = f"{cell_text(math.exp(low))} to {cell_text(math.exp(high))} times"
            return f", whatever the odds of {cell_text(self.category)} from {odds} those filled in"
        return f" for all shifts from {cell_text(low)} to {self._amount(high)}"

    def _amount(self, delta: float) -> str:
        unit = " standard deviations" if self.scale == "sd" else ""
        return f"{float(f'{delta:.3g}'):g}{unit}"


def _check(
    frame: pd.DataFrame, tables: Sequence[pd.DataFrame], column: Hashable, estimand: Estimand
) -> None:
    absent = [str(name) for name in estimand.columns if name not in frame.columns]
    if absent:
        raise ScoringError(f"The table has no column {', '.join(absent)}.")
    if column not in estimand.columns:
        raise ScoringError(f"The {estimand.label} does not depend on {column}: nothing can tip.")
    if not tables:
        raise ScoringError("There is no filled table to shift.")
    name_imputations({"filled": tables}, frame)


def _with_indicators(
    estimand: Estimand, column: Hashable, tables: Sequence[pd.DataFrame], schema: Schema
) -> tuple[tuple[Any, ...], list[pd.DataFrame]]:
    """Turn categories that are controls into columns of 0 and 1 once, not for every shift.

    Returns the estimand in these columns, and the tables with these columns alone.
    """
    frame = tables[0]
    kept = [table[list(estimand.columns)] for table in tables]
    taken = [str(name) for name in estimand.columns]
    columns: list[Any] = []
    for place, name in enumerate(estimand.columns):
        is_kind = schema.role(name) is Role.CATEGORICAL or cell_kind(frame[name]) is CellKind.LABEL
        if place < 2 or name == column or not is_kind:
            columns.append(name)
            continue
        for label in sorted(frame[name].dropna().astype(str).unique())[1:]:
            *taken, indicator = make_unique([*taken, f"{name} is {label}"])
            taken.append(indicator)
            columns.append(indicator)
            for table in kept:
                table[indicator] = _indicator(table[name], label)
    return (estimand.kind, *columns), [table[columns] for table in kept]


def _indicator(cells: pd.Series, label: str) -> pd.Series:
    return (cells.astype(str) == label).astype(float).mask(cells.isna())


def _first_change(
    probe: _Probe, outwards: Sequence[float], rows: dict[float, dict[str, Any]]
) -> float | None:
    """Return the delta nearest to 0 at which the conclusion is another than at 0."""
    base = rows[0.0]["conclusion"]
    for near, far in pairwise(outwards):
        if rows[far]["conclusion"] != base:
            for _ in range(_HALVINGS):
                middle = (near + far) / 2
                if probe.at(middle)["conclusion"] == base:
                    near = middle
                else:
                    far = middle
            return far
    return None


def _filled_cells(cells: pd.Series, missing: pd.Series) -> BoolArray:
    """Return True for the cells that were missing and are filled."""
    moved = missing.to_numpy(dtype=bool) & cells.notna().to_numpy()
    if not moved.any():
        raise ScoringError(f"Column {cells.name!r} has no filled cells to shift.")
    return moved


def _moved_numbers(cells: pd.Series, moved: BoolArray, delta: float, scale: Scale) -> FloatArray:
    if cell_kind(cells) is not CellKind.NUMBER:
        raise ScoringError(
            f"Column {cells.name!r} holds {cell_kind(cells)}s. Only numbers can be shifted; "
            "for categories name the category whose odds to shift."
        )
    numbers = NumberCells.fit(cells).read(cells)
    step = 1.0
    if scale == "sd":
        observed = numbers[~moved & np.isfinite(numbers)]
        step = float(observed.std(ddof=1)) if len(observed) > 1 else 0.0
        if step == 0:
            raise ScoringError(
                f"The observed cells of column {cells.name!r} do not vary: shift it in units."
            )
    elif scale != "units":
        raise ScoringError(f"scale must be 'sd' or 'units', not {scale!r}.")
    numbers[moved] += delta * step
    return numbers


def _with_odds(
    cells: pd.Series, moved: BoolArray, category: Any, delta: float, seed: int
) -> pd.Series:
    """Return the cells with the odds of one category among the filled ones changed by a factor."""
    is_category = (cells == category).fillna(False).to_numpy(dtype=bool)
    others = cells[moved & ~is_category]
    if others.empty:
        others = cells[cells.notna().to_numpy() & ~is_category]
    if not is_category.any() or others.empty:
        raise ScoringError(
            f"Column {cells.name!r} needs cells that are {cell_text(category)} and cells that are "
            "not: there are no odds to shift."
        )
    rng = np.random.default_rng(seed)
    turns = rng.random(int(moved.sum()))
    replacements = others.iloc[rng.integers(len(others), size=len(turns))]
    inside = is_category[moved]
    # Half a cell on either side, so that no share is beyond the reach of a factor.
    share = (inside.sum() + 0.5) / (len(inside) + 1)
    wanted = float(expit(logit(share) + delta))
    enters = ~inside & (turns < (wanted - share) / (1 - share))
    leaves = inside & (turns < (share - wanted) / share)
    result = cells.copy()
    positions = np.flatnonzero(moved)
    result.iloc[positions[enters]] = category
    result.iloc[positions[leaves]] = replacements.iloc[np.flatnonzero(leaves)].array
    return result
