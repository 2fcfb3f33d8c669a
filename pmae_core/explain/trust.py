"""Columns whose imputed values deserve doubt, from a comparison of methods."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from pmae_core.evaluation import Comparison
from pmae_core.words import count, percent

# A method that avoids less of the mean's error than this is hardly better than the mean.
LOW_SKILL = 0.1
# With fewer held-out cells a comparison says little about a column, ...
FEW_SCORED = 30
# ... and with fewer observed ones no method can learn it.
FEW_OBSERVED = 30


def column_notes(
    comparison: Comparison | None, frame: pd.DataFrame | None = None
) -> dict[Hashable, str | None]:
    """Say for each column why its imputed values deserve doubt, if there is a reason.

    Parameters
    ----------
    comparison : Comparison or None
        Of methods on this table; without one, only the table itself is used.
    frame : DataFrame, optional
        The table with its missing values. Columns with few observed cells, and incomplete columns
        that the comparison did not score, then get a note too.

    Returns
    -------
    dict
        Column to a sentence, or to None if there is no reason for doubt: first the columns of
        the comparison, then the others of the table.
    """
    notes = {} if comparison is None else _notes_on_results(comparison)
    for column, cells in () if frame is None else frame.items():
        is_scored = comparison is None or column in notes
        notes[column] = _note_on_cells(cells, is_scored) or notes.get(column)
    return notes


def _notes_on_results(comparison: Comparison) -> dict[Hashable, str | None]:
    scored = _scored_cells(comparison)
    return {
        column: _note_on_result(winner, scored.get(column, 0))
        for column, winner in comparison.column_winners().iterrows()
    }


def _scored_cells(comparison: Comparison) -> dict[Any, int]:
    """Return for each column on how many held-out cells methods were scored, over all seeds."""
    cells = comparison.per_column.groupby(["column", "seed"], sort=False)["n_scored"].max()
    return {column: int(number) for column, number in cells.groupby(level="column").sum().items()}


def _note_on_result(winner: pd.Series, n_scored: int) -> str | None:
    if winner["best"] is None:
        return "Caution: no method is shown to beat the mean on held-out cells."
    if n_scored < FEW_SCORED:
        return f"Caution: methods were scored on only {count(n_scored, 'held-out cell')}."
    if winner["skill"] < LOW_SKILL:
        return (
            f"Caution: the best method, {winner['best']}, avoids only "
            f"{percent(winner['skill'])} of the mean's error on held-out cells."
        )
    return None


def _note_on_cells(cells: pd.Series, is_scored: bool) -> str | None:
    n_observed = int(cells.notna().sum())
    if n_observed == len(cells):
        return None
    if n_observed == 0:
        return "Unreliable: no cell is observed."
    if n_observed < FEW_OBSERVED:
        return f"Caution: only {count(n_observed, 'cell is', 'cells are')} observed."
    return None if is_scored else "Caution: no method was scored on this column."
