"""Columns that are computed from others: in order, after imputation, and against the table."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import ExpressionError, ImputationWarning, SchemaError
from pmae_core.expressions import Expression, parse_expression
from pmae_core.names import nearest_name
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table.cells import CellKind, cell_kind, impute_cells, observed_cells
from pmae_core.table.encoded_columns import NumericalColumn, cells_from_dict
from pmae_core.table.number_cells import NumberCells
from pmae_core.words import cell_text, count, listed

# What float64 loses in a few steps of arithmetic, relative to the numbers.
_ARITHMETIC_ERROR = 1e-9
# More decimals than this are arithmetic errors of numbers that were not rounded.
_DECIMALS_OF_EXACT = 12
# Where between the ends of a column a straight line is checked: at no round number.
_INNER_POINT = 0.381966


def order_expressions(
    texts: Mapping[Any, str], names: Collection[Hashable]
) -> dict[Any, Expression]:
    """Return the expressions of derived columns, each after those that it depends on.

    Parameters
    ----------
    texts
        The expression of each derived column, by its name.
    names
        Names of all columns of the table.

    Raises
    ------
    SchemaError
        If an expression cannot be read, names an unknown column, or depends on its own result.

    Examples
    --------
    >>> found = order_expressions({"c": "b + 1", "b": "a / 2"}, ["a", "b", "c"])
    >>> list(found), found["b"].columns
    (['b', 'c'], ('a',))
    """
    waiting = {name: _parsed(name, text, names) for name, text in texts.items()}
    ordered: dict[Any, Expression] = {}
    while waiting:
        ready = [name for name, e in waiting.items() if not set(e.columns) & set(waiting)]
        if not ready:
            raise SchemaError(
                f"{_derived_columns(waiting)} depend on each other in a circle."
                if len(waiting) > 1
                else f"The derived column {next(iter(waiting))!r} depends on itself.",
                advice="Compute each derived column from other columns.",
            )
        ordered |= {name: waiting.pop(name) for name in ready}
    return ordered


def _parsed(name: Hashable, text: str, names: Collection[Hashable]) -> Expression:
    try:
        expression = parse_expression(text)
    except ExpressionError as error:
        raise _refused(name, error) from None
    if not expression.columns:
        raise SchemaError(
            f"The expression of {name!r} names no column.",
            advice="Write it with columns, such as weight / height ** 2.",
        )
    for used in expression.columns:
        if used not in names:
            near = nearest_name(used, [known for known in names if isinstance(known, str)])
            raise SchemaError(
                f"The expression of {name!r} uses {used!r}, but the table has no such column.",
                advice=f"Did you mean {near!r}?" if near else "",
            )
    return expression


def _refused(name: Hashable, error: ExpressionError) -> SchemaError:
    return SchemaError(f"The expression of {name!r}: {error.problem}", advice=error.advice)


def _derived_columns(names: Collection[Hashable]) -> str:
    return f"The derived columns {listed(map(repr, names))}"


@dataclass(frozen=True, eq=False)
class DerivedColumn:
    """A column that is computed from others, and how its numbers are written.

    Parameters
    ----------
    name
        Name of the column.
    expression
        What it is computed from.
    cells
        How a computed number is written: as observed ones are.
    """

    name: Hashable
    expression: Expression
    cells: NumberCells

    @classmethod
    def fit(cls, df: pd.DataFrame, name: Hashable, expression: Expression) -> DerivedColumn:
        """Learn from the observed cells whether computed numbers are rounded, and how.

        Raises
        ------
        SchemaError
            If the column or one that it is computed from holds no numbers where they are needed.
        """
        series = df[name]
        observed = observed_cells(series)
        expected = _evaluate(name, expression, _operands(df, expression))[observed]
        if not observed.any():
            return cls(name, expression, NumberCells(integer=False, written_as="float"))
        cells = NumberCells.fit(series)
        found = cells.read(series)[observed]
        differs = np.abs(expected - found) > _ARITHMETIC_ERROR * np.abs(found)
        if cells.written_as == "float" and not differs.any() and np.isfinite(expected).any():
            # Observed ones were not rounded, even if by chance they have few decimals.
            decimals = None if cells.decimals is None else _DECIMALS_OF_EXACT
            cells = replace(cells, integer=False, decimals=decimals)
        return cls(name, expression, cells)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON-able data."""
        return {
            "name": to_json_value(self.name),
            "expression": str(self.expression),
            **self.cells.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DerivedColumn:
        """Return the column that `to_dict` wrote."""
        content = {key: data[key] for key in data if key not in ("name", "expression")}
        cells = cells_from_dict(content)
        assert isinstance(cells, NumberCells)
        return cls(from_json_value(data["name"]), parse_expression(data["expression"]), cells)


def _operands(
    df: pd.DataFrame, expression: Expression, rows: Any = slice(None)
) -> dict[str, np.ndarray]:
    """Return the columns that an expression uses, in some rows; infinite numbers are missing."""
    cells = NumberCells(integer=False, written_as="float")
    parts = {name: df[name][rows] for name in expression.columns}
    return {
        name: cells.read(part) if cell_kind(part) is CellKind.NUMBER else part.to_numpy()
        for name, part in parts.items()
    }


def _evaluate(
    name: Hashable, expression: Expression, operands: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return the values of an expression, NaN where it has no finite one.

    A SchemaError says that it computes with cells that are no numbers.
    """
    try:
        values = expression.evaluate(operands)
    except ExpressionError as error:
        raise _refused(name, error) from None
    return np.where(np.isfinite(values), values, np.nan)


# ---------------------------------------------------------------- after imputation


def complete_derived(
    imputed: pd.DataFrame,
    df: pd.DataFrame,
    derived: Sequence[DerivedColumn],
    learned: Mapping[Any, NumericalColumn],
) -> None:
    """Make an imputed table consistent with its derived columns, in place.

    Missing cells of a derived column are computed from their row. Before that, where a derived
    cell is observed and exactly one of the columns it is computed from is missing, that one is
    solved for if the expression is a straight line in it (``weight`` in ``weight / height ** 2``).

    Parameters
    ----------
    imputed
        The imputed table, whose columns are replaced.
    df
        The table with its missing cells.
    derived
        The derived columns, in the order in which they are computed.
    learned
        The columns that can be solved for.
    """
    names = {column.name for column in derived}
    for column in derived:
        for used in column.expression.columns:
            if used in learned and used not in names:
                _solve(imputed, df, column, learned[used])
    for column in derived:
        _compute(imputed, df, column)


def _compute(imputed: pd.DataFrame, df: pd.DataFrame, column: DerivedColumn) -> None:
    missing = ~observed_cells(df[column.name])
    if not missing.any():
        return
    operands = _operands(imputed, column.expression, missing)
    values = _evaluate(column.name, column.expression, operands)
    usable = ~np.isnan(values)
    if not usable.all():
        kept = imputed[column.name][missing][~usable].notna().all()
        warnings.warn(
            f"The expression of {column.name!r} gives no number in "
            f"{count(int((~usable).sum()), 'row')} with a missing cell. "
            f"{'The imputed value of the method is kept' if kept else 'Cells stay missing'} there.",
            ImputationWarning,
            stacklevel=5,
        )
    missing[missing] = usable
    _put(imputed, column.name, missing, column.cells, values[usable])


def _solve(
    imputed: pd.DataFrame, df: pd.DataFrame, column: DerivedColumn, unknown: NumericalColumn
) -> None:
    """Put in what follows from an observed derived cell for the one missing cell it depends on."""
    cells = unknown.cells
    rows = observed_cells(df[column.name]) & ~observed_cells(df[unknown.name])
    for other in set(column.expression.columns) - {unknown.name}:
        rows &= observed_cells(df[other])
    if not rows.any() or not isinstance(cells, NumberCells):
        return
    wanted = column.cells.read(df[column.name])[rows]
    operands = _operands(df, column.expression, rows)

    def at(numbers: Any) -> np.ndarray:
        tried = {str(unknown.name): np.broadcast_to(numbers, len(wanted))}
        return _evaluate(column.name, column.expression, operands | tried)

    low, high = unknown.scaler.unscale(np.array(unknown.scaler.bounds))
    first, inner, last = (at(low + share * (high - low)) for share in (0, _INNER_POINT, 1))
    is_line = _near(inner, first + _INNER_POINT * (last - first), np.abs(first) + np.abs(last))
    with np.errstate(all="ignore"):
        solved = low + (high - low) * (wanted - first) / (last - first)
    lower, upper = cells.bounds
    fits = is_line & _near(at(solved), wanted, np.abs(wanted))
    fits &= (lower <= solved) & (solved <= upper)
    rows[rows] = fits
    _put(imputed, unknown.name, rows, cells, solved[fits])


def _near(values: np.ndarray, others: np.ndarray, size: np.ndarray) -> np.ndarray:
    return np.abs(values - others) <= _ARITHMETIC_ERROR * size


def _put(
    imputed: pd.DataFrame, name: Hashable, rows: np.ndarray, cells: NumberCells, values: np.ndarray
) -> None:
    if rows.any():
        series = imputed[name]
        imputed[name] = impute_cells(series, rows, cells.write(values, series))


# ---------------------------------------------------------------- does the table agree?


def derived_findings(df: pd.DataFrame, expressions: Mapping[Any, Expression]) -> list[str]:
    """Return a sentence for each derived column whose observed cells contradict its expression.

    Differences that rounding explains, of the column or of the numbers it is computed from, are
    none. Whole numbers count as exact.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1.5, 2.0, 3.0], "b": [3.0, 4.0, 7.0]})
    >>> print(*derived_findings(df, order_expressions({"b": "2 * a"}, df.columns)))
    In 1 of 3 rows, 'b' differs from 2 * a by more than rounding, for example 7 instead of 6. \
Nothing was changed.
    """
    sentences = []
    for name, expression in expressions.items():
        found = NumberCells(integer=False, written_as="float").read(df[name])
        operands = _operands(df, expression)
        expected = _evaluate(name, expression, operands)
        known = ~np.isnan(found) & ~np.isnan(expected)
        tolerance = _rounding(df, name, expression, operands) + _ARITHMETIC_ERROR * np.abs(found)
        differs = known & ~(np.abs(found - expected) <= tolerance)
        if differs.any():
            first = int(np.argmax(differs))
            sentences.append(
                f"In {int(differs.sum()):,} of {count(int(known.sum()), 'row')}, {name!r} differs "
                f"from {expression} by more than rounding, for example {cell_text(found[first])} "
                f"instead of {cell_text(expected[first])}. Nothing was changed."
            )
    return sentences


def _rounding(
    df: pd.DataFrame, name: Hashable, expression: Expression, operands: dict[str, np.ndarray]
) -> np.ndarray:
    """Return how far rounding of a column and of what it is computed from may move it."""
    decimals = NumberCells.fit(df[name]).decimals
    moved = np.full(len(df), 0.0 if decimals is None else 0.5 * 10.0**-decimals)
    expected = _evaluate(name, expression, operands)
    for used, numbers in operands.items():
        cells = NumberCells.fit(df[used]) if cell_kind(df[used]) is CellKind.NUMBER else None
        if cells is None or cells.integer or cells.decimals is None:
            continue
        half = 0.5 * 10.0**-cells.decimals
        moved += np.maximum(
            *(
                np.abs(np.nan_to_num(_evaluate(name, expression, operands | shifted) - expected))
                for shifted in ({used: numbers - half}, {used: numbers + half})
            )
        )
    return moved
