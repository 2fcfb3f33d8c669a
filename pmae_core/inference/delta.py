"""What if missing values differ systematically? Shift imputed values until a conclusion changes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation.sources import name_imputations
from pmae_core.inference.estimands import Estimand
from pmae_core.inference.odds import OddsShift
from pmae_core.inference.shift import Scale, imputed_cells, shift_numbers
from pmae_core.inference.stability import conclusion_stability
from pmae_core.names import make_unique
from pmae_core.table import Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.roles import CODED_ROLES
from pmae_core.words import cell_text, count, percent

DEFAULT_DELTAS = tuple(np.linspace(-2, 2, 21).round(2).tolist())
# Halvings between two deltas of the grid: to a thousandth of their distance.
_HALVINGS = 10


@dataclass(frozen=True, eq=False)
class DeltaCurve:
    """How an estimate changes as the imputed values of a column are shifted.

    Attributes
    ----------
    table : DataFrame
        One row per shift: ``delta``, ``estimate``, ``low``, ``high`` (its confidence interval)
        and ``conclusion``: the interval lies "above" the null value, "below" it, or is "open"
        because it includes the null value.
    null : float
        The null value.
    tipping_down, tipping_up : float, optional
        The delta nearest to 0, below and above it, at which the conclusion changes; None
        if it holds at all deltas.
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
        """The smallest shift, in either direction, at which the conclusion changes."""
        found = [delta for delta in (self.tipping_down, self.tipping_up) if delta is not None]
        return min(found, key=abs, default=None)


def tipping_point(
    frame: pd.DataFrame,
    imputed: pd.DataFrame | Sequence[pd.DataFrame],
    column: Hashable,
    conclusion: Estimand | Sequence[Any],
    *,
    deltas: Sequence[float] = DEFAULT_DELTAS,
    null: float = 0.0,
    scale: Scale = "sd",
    category: Any = None,
    probabilities: pd.DataFrame | Sequence[pd.DataFrame] | None = None,
    schema: Schema | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> DeltaCurve:
    """Find how far off the imputed values of a column must be before a conclusion changes.

    Imputation assumes that missing values resemble observed ones in rows that are otherwise
    alike (missing at random, MAR). The data cannot test this assumption; a tipping point says
    how large a departure from it the conclusion survives.

    Parameters
    ----------
    frame : DataFrame
        The table with its missing values.
    imputed : DataFrame or sequence of DataFrame
        The imputed table, or several imputations, which are pooled by Rubin's rules.
    column
        The column whose imputed values are shifted; one of those of the conclusion.
    conclusion : Estimand or tuple
        As in :func:`~pmae_core.inference.conclusion_stability`: ``("mean", column)``,
        ``("correlation", a, b)`` or ``("slope", y, x, *controls)``.
    deltas : sequence of float
        The shifts to try; between two of them the tipping point is found by bisection.
    null : float, default 0
        The conclusion is whether the confidence interval lies above this value, below it, or
        includes it.
    scale, category, seed
        As in :func:`shifted`. Here numbers are shifted exactly, whole ones too.
    probabilities : DataFrame or sequence of DataFrame, optional
        For a category, each row's probabilities as in :func:`shifted`, for each imputed table.
        Without them they are estimated, once per table, from all columns that `imputed` has.
    schema : Schema, optional
        Roles of the columns; inferred if not given.
    confidence : float, default 0.95
        Nominal coverage of the confidence interval.

    Returns
    -------
    DeltaCurve

    Notes
    -----
    Only the column itself is shifted. Values imputed in other columns stay as they are, even
    if they were predicted from this column.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 2.0, None, None]})
    >>> curve = tipping_point(table, table.fillna(2.0), "x", ("mean", "x"), scale="units",
    ...                       deltas=[-6, -3, 0, 3])
    >>> curve.table["estimate"].tolist()
    [0.0, 1.0, 2.0, 3.0]
    >>> curve.sentence.split(". ")[1]
    'This changes if the imputed values of x are lower by 2.08.'
    """
    asked = conclusion if isinstance(conclusion, Estimand) else Estimand.read(tuple(conclusion))
    tables = [imputed] if isinstance(imputed, pd.DataFrame) else list(imputed)
    _check(frame, tables, column, asked)
    odds = _odds(frame, tables, column, category, probabilities, schema, seed)
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
        odds=odds,
        schema=schema.for_table(own),
        confidence=confidence,
    )
    grid = sorted({0.0, *map(float, deltas)})
    rows = {delta: probe.at(delta) for delta in grid}
    down = _first_change(probe, [delta for delta in reversed(grid) if delta <= 0], rows)
    up = _first_change(probe, [delta for delta in grid if delta >= 0], rows)
    curve = DeltaCurve(pd.DataFrame(list(rows.values())), null, down, up, "")
    return replace(curve, sentence=probe.sentence(curve))


@dataclass(frozen=True, eq=False)
class _Probe:
    """Estimates the same quantity under any shift."""

    frame: pd.DataFrame
    tables: list[pd.DataFrame]
    column: Hashable
    estimand: Estimand
    spec: tuple[Any, ...]
    null: float
    scale: Scale
    category: Any
    odds: list[OddsShift]
    schema: Schema
    confidence: float

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
        result = table.copy()
        if self.odds:
            result[self.column] = self.odds[number].at(delta)
        else:
            moved = imputed_cells(table[self.column], self.frame[self.column].isna())
            result[self.column] = shift_numbers(table[self.column], moved, delta, self.scale)
        return result

    def sentence(self, curve: DeltaCurve) -> str:
        null = cell_text(self.null)
        base = dict(zip(curve.table["delta"], curve.table["conclusion"], strict=True))[0.0]
        place = {"open": "includes"}.get(base, f"lies {base}")
        interval = f"The {percent(self.confidence)} confidence interval of the "
        conclusion = f"{interval}{self.estimand.label} {place} {null}"
        if curve.tipping is None:
            low, high = curve.table["delta"].min(), curve.table["delta"].max()
            return f"{conclusion} for all {self._range(low, high)}."
        return f"{conclusion}. This changes if {self._shift(curve.tipping)}."

    def _shift(self, delta: float) -> str:
        if self.category is not None:
            return (
                f"the odds of {cell_text(self.category)} in each imputed cell of {self.column} "
                f"are {cell_text(math.exp(delta))} times as high"
            )
        way = "higher" if delta > 0 else "lower"
        return f"the imputed values of {self.column} are {way} by {self._amount(abs(delta))}"

    def _range(self, low: float, high: float) -> str:
        if self.category is not None:
            factors = f"{cell_text(math.exp(low))} to {cell_text(math.exp(high))}"
            return f"odds of {cell_text(self.category)} from {factors} times the imputed odds"
        return f"shifts from {cell_text(low)} to {self._amount(high)}"

    def _amount(self, delta: float) -> str:
        unit = " standard deviations" if self.scale == "sd" else ""
        return f"{float(f'{delta:.3g}'):g}{unit}"


def _check(
    frame: pd.DataFrame, tables: Sequence[pd.DataFrame], column: Hashable, estimand: Estimand
) -> None:
    estimand.check_columns(frame)
    if column not in estimand.columns:
        raise ScoringError(
            f"The {estimand.label} does not depend on {column}. Shift one of its own columns."
        )
    if not tables:
        raise ScoringError("There is no imputed table to shift.")
    name_imputations({"imputed": tables}, frame)


def _odds(
    frame: pd.DataFrame,
    tables: Sequence[pd.DataFrame],
    column: Hashable,
    category: Any,
    probabilities: pd.DataFrame | Sequence[pd.DataFrame] | None,
    schema: Schema | None,
    seed: int,
) -> list[OddsShift]:
    """Find each imputed cell's odds of the category, once per table; nothing for numbers."""
    if category is None:
        return []
    known: Sequence[pd.DataFrame | None] = (
        [probabilities] if isinstance(probabilities, pd.DataFrame) else list(probabilities or [])
    )
    known = known or [None] * len(tables)
    if len(known) != len(tables):
        raise ScoringError(
            f"There are {count(len(tables), 'imputed table')}, but probabilities for {len(known)}. "
            "Give one table of probabilities for each."
        )
    was_missing = frame[column].isna()
    return [
        OddsShift.fit(
            table,
            column,
            imputed_cells(table[column], was_missing),
            category,
            probabilities=of_rows,
            schema=schema,
            seed=seed + number,
        )
        for number, (table, of_rows) in enumerate(zip(tables, known, strict=True))
    ]


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
        is_kind = schema.role(name) in CODED_ROLES or cell_kind(frame[name]) is CellKind.LABEL
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
    """Return the delta nearest to 0 at which the conclusion differs from that at 0."""
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
