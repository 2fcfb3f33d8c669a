"""What it costs to drop all incomplete rows: rows, and means that move."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.missingness._columns import (
    chi_squared_bound,
    has_meaningful_mean,
    places_of,
    read_labels,
    read_numbers,
    schema_of,
)
from pmae_core.missingness.blocks import find_blocks
from pmae_core.missingness.patterns import BoolArray, IntArray, MissingPatterns, find_patterns
from pmae_core.table.roles import LABEL_ROLES, NUMBER_ROLES, Role
from pmae_core.table.schema import Schema


def count_complete_rows(
    table: pd.DataFrame | MissingPatterns, columns: Iterable[Hashable] | None = None
) -> int:
    """Count the rows in which none of some columns (of all, if not given) is missing.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, 2, None], "b": [None, 5, 6]})
    >>> count_complete_rows(df), count_complete_rows(df, ["a"])
    (1, 2)
    """
    patterns = find_patterns(table)
    needed = places_of(patterns.columns, columns)
    return int(patterns.counts[~patterns.missing[:, needed].any(axis=1)].sum())


def dropping_path(
    table: pd.DataFrame | MissingPatterns, columns: Iterable[Hashable] | None = None
) -> pd.DataFrame:
    """Leave out columns step by step so that the number of complete rows grows fastest.

    Columns that are missing in the same rows, exactly or nearly, are left out together: one alone
    would complete no row. Each step leaves out the block without which most rows become complete;
    if no single one completes a row, the one with most missing cells among the incomplete rows.
    This is a greedy search: it need not find the best set of columns of each size.

    Parameters
    ----------
    table : DataFrame or MissingPatterns
        The table, or its patterns if they were found before.
    columns : iterable of hashables, optional
        The columns to begin with; all if not given.

    Returns
    -------
    DataFrame
        One row per step: ``left_out``, a tuple of columns (none at the beginning), ``n_columns``
        that remain, ``n_complete_rows`` and ``n_gained``, the rows that this step completed. It
        ends when all rows are complete.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, 2, 3], "b": [None, None, 6], "c": [None, 2, 3]})
    >>> dropping_path(df)["n_complete_rows"].tolist()
    [1, 2, 3]
    """
    patterns = find_patterns(table)
    needed = places_of(patterns.columns, columns)
    blocks = [block.columns for block in find_blocks(patterns, patterns.columns[needed])]
    misses = np.stack([_misses_any(patterns, block) for block in blocks], axis=1)
    kept = list(range(len(blocks)))
    n_columns, n_missing = len(needed), misses.sum(axis=1)
    steps: list[tuple[tuple[Any, ...], int, int]] = [
        ((), n_columns, int(patterns.counts[n_missing == 0].sum()))
    ]
    while steps[-1][2] < patterns.n_rows:
        worst = _most_costly(patterns.counts, misses, kept, n_missing)
        kept.remove(worst)
        n_columns -= len(blocks[worst])
        n_missing = n_missing - misses[:, worst]
        n_complete = int(patterns.counts[n_missing == 0].sum())
        steps.append((blocks[worst], n_columns, n_complete))
    path = pd.DataFrame(steps, columns=["left_out", "n_columns", "n_complete_rows"])
    path["n_gained"] = path["n_complete_rows"].diff().fillna(0).astype(int)
    return path


def _misses_any(patterns: MissingPatterns, columns: tuple[Any, ...]) -> BoolArray:
    places = places_of(patterns.columns, columns)
    return np.asarray(patterns.missing[:, places].any(axis=1))


def _most_costly(counts: IntArray, misses: BoolArray, kept: list[int], n_missing: IntArray) -> int:
    for rows in (n_missing == 1, n_missing > 1):
        cost = counts[rows] @ misses[rows][:, kept]
        if cost.any():
            break
    return kept[int(np.argmax(cost))]


def dropping_shift(
    df: pd.DataFrame,
    columns: Iterable[Hashable] | None = None,
    *,
    schema: Schema | None = None,
) -> pd.DataFrame:
    """Say how far each column moves if all rows are dropped in which some columns are missing.

    Parameters
    ----------
    df : DataFrame
        The table.
    columns : iterable of hashables, optional
        The columns that must be complete; all if not given.
    schema : Schema, optional
        Roles of the columns; inferred if not given. Identifiers and ignored columns are left out.

    Returns
    -------
    DataFrame
        For each column, the largest shift first:

        - ``kind``: numerical (numbers and dates) or categorical;
        - ``shift``: numerical, mean of the rows that stay minus mean of all observed cells, in
          standard deviations of all observed cells. Categorical, the share of rows that
          would have to change their label to undo the change. NaN where no cell stays;
        - ``by_chance``: what the shift (without its sign) exceeds once in twenty times if as
          many cells are dropped at random (for categories, once in twenty times or less);
        - ``n_observed``, ``n_kept``: observed cells before and after;
        - ``mean_observed``, ``mean_kept`` of numbers (NaN for dates and categories).

    Examples
    --------
    >>> df = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [5.0, 6.0, None, None]})
    >>> dropping_shift(df, ["y"]).loc["x", ["mean_observed", "mean_kept"]].tolist()
    [2.5, 1.5]
    """
    schema = schema_of(df, schema)
    needed = df.columns[places_of(df.columns, columns)]
    stays = ~df[needed].isna().any(axis=1).to_numpy()
    names = schema.names(*NUMBER_ROLES, *LABEL_ROLES)
    found = [
        _shift_of_labels(df[name], stays)
        if schema.role(name) in LABEL_ROLES
        else _shift_of_numbers(df[name], schema.role(name), stays)
        for name in names
    ]
    columns_of_result = [
        "kind",
        "shift",
        "by_chance",
        "n_observed",
        "n_kept",
        "mean_observed",
        "mean_kept",
    ]
    table = pd.DataFrame(
        found, index=pd.Index(names, dtype=object), columns=columns_of_result
    ).astype({"shift": float})
    order = np.argsort(-table["shift"].abs().fillna(-1).to_numpy(), kind="stable")
    return table.iloc[order]


def _shift_of_numbers(series: pd.Series, role: Role, stays: BoolArray) -> dict[str, Any]:
    values = read_numbers(series, role)
    observed = ~np.isnan(values)
    before, after = values[observed], values[observed & stays]
    result = {"kind": "numerical", "n_observed": len(before), "n_kept": len(after)}
    if not len(after):
        return result
    mean_before, mean_after = float(before.mean()), float(after.mean())
    if has_meaningful_mean(series, role):
        result |= {"mean_observed": mean_before, "mean_kept": mean_after}
    deviation = before.std(ddof=1) if len(before) > 1 else 0.0
    result["shift"] = float((mean_after - mean_before) / deviation) if deviation > 0 else 0.0
    variance = 1 / len(after) - 1 / len(before)
    result["by_chance"] = float(np.sqrt(chi_squared_bound(1) * variance))
    return result


def _shift_of_labels(series: pd.Series, stays: BoolArray) -> dict[str, Any]:
    codes, labels = read_labels(series)
    observed = codes >= 0
    before = np.bincount(codes[observed], minlength=len(labels))
    after = np.bincount(codes[observed & stays], minlength=len(labels))
    n_before, n_after = int(before.sum()), int(after.sum())
    result = {"kind": "categorical", "n_observed": n_before, "n_kept": n_after}
    if not n_after:
        return result
    share = before / n_before
    result["shift"] = float(np.abs(after / n_after - share).sum() / 2)
    # Half the sum of absolute differences is at most half the root of chi-squared.
    variance = 1 / n_after - 1 / n_before
    n_labels = int((before > 0).sum())
    bound = chi_squared_bound(n_labels - 1) if n_labels > 1 else 0.0
    result["by_chance"] = float(np.sqrt(bound * variance) / 2)
    return result
