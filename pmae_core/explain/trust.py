"""Which columns not to trust, from a comparison of methods."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from pmae_core.evaluation import Comparison
from pmae_core.words import percent

# Below this share of the mean's error avoided, a filling is hardly better than the mean.
LOW_SKILL = 0.1
# Below so many hidden cells a comparison says little about a column, ...
FEW_SCORED = 30
# ... and below so many observed ones no method can learn it.
FEW_OBSERVED = 30


def column_notes(
    comparison: Comparison | None, frame: pd.DataFrame | None = None
) -> dict[Hashable, str | None]:
    """Say for each column why its fillings are not to be trusted, if there is a reason.

    Parameters
    ----------
    comparison : Comparison or None
        Of methods on this table; without one, the table alone has to speak.
    frame : DataFrame, optional
        The table with its holes; then columns with few observed cells, and those with holes that
        the comparison did not judge, are noted too.

    Returns
    -------
    dict
        Column to a sentence, or to None where nothing speaks against it: first the columns of
        the comparison, then the others of the table.
    """
    notes = {} if comparison is None else _notes_on_results(comparison)
    for column, cells in () if frame is None else frame.items():
        is_judged = comparison is None or column in notes
        notes[column] = _note_on_cells(cells, is_judged) or notes.get(column)
    return notes


def _notes_on_results(comparison: Comparison) -> dict[Hashable, str | None]:
    scored = _scored_cells(comparison)
    return {
        column: _note_on_result(winner, scored.get(column, 0))
        for column, winner in comparison.column_winners().iterrows()
    }


def _scored_cells(comparison: Comparison) -> dict[Any, int]:
    """Return for each column on how many hidden cells methods were judged, over all seeds."""
    cells = comparison.per_column.groupby(["column", "seed"], sort=False)["n_scored"].max()
    return {column: int(count) for column, count in cells.groupby(level="column").sum().items()}


def _note_on_result(winner: pd.Series, n_scored: int) -> str | None:
    if winner["best"] is None:
        return "Do not trust: no method beats the mean here by more than chance."
    if n_scored < FEW_SCORED:
        return f"Take care: the methods were judged by {n_scored} hidden cells only."
    if winner["skill"] < LOW_SKILL:
        return (
            f"Take care: even {winner['best']}, the best here, avoids only "
            f"{percent(winner['skill'])} of the error that the mean makes."
        )
    return None


def _note_on_cells(cells: pd.Series, is_judged: bool) -> str | None:
    n_observed = int(cells.notna().sum())
    if n_observed == len(cells):
        return None
    if n_observed == 0:
        return "Do not trust: nothing is observed here."
    if n_observed < FEW_OBSERVED:
        return f"Take care: only {n_observed} cells are observed here."
    return None if is_judged else "Take care: no method was judged on this column."
