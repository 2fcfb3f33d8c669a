"""An imputation in sentences: the answer, what qualifies it, and a line of the history."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard import runs
from dashboard.impute.completed_tables import CompletedTable, method_of, title_of
from dashboard.text import listing, plain
from pmae_core.jobs import JobRecord
from pmae_core.words import count, duration


def answer(completed: CompletedTable, *, n_care: int, is_judged: bool) -> str:
    """Return what the run did and how far to trust it, as Markdown.

    Parameters
    ----------
    completed : CompletedTable
        Of a finished run.
    n_care : int
        How many columns deserve care.
    is_judged : bool
        Whether a comparison has scored methods on held-out cells of the table.
    """
    n_imputed = (completed.record.result or {})["n_imputed"]
    method = plain(title_of(method_of(completed.record) or ""))
    taken = runs.seconds_taken(completed.record)
    time = "" if taken is None else f" in {duration(taken)}"
    done = f"**{count(n_imputed, 'cell')} imputed by {method}**{time}"
    if n_care:
        return f"{done}; **{count(n_care, 'column')} to read with care**."
    if is_judged:
        return f"{done}; no column needs special care."
    return f"{done}; not scored on held-out cells yet."


def qualification(completed: CompletedTable) -> str:
    """Return how many columns and imputations there are, and what stays missing, as Markdown."""
    result = completed.record.result or {}
    columns = count(len(completed.imputed_columns), "column has", "columns have")
    sentences = [f"{columns} imputed cells."]
    if completed.n_imputations:
        several = count(completed.n_imputations, "imputation is", "imputations are")
        sentences.append(f"{several} kept in addition to the best guesses shown here.")
    if result.get("n_left_alone"):
        sentences.append(f"{count(result['n_left_alone'], 'cell')} left missing, as you chose.")
    if still_missing := result.get("still_missing"):
        sentences.append(
            f"Still missing, because they cannot be learned: {listing(still_missing)}."
        )
    return " ".join(sentences)


def notes(record: JobRecord) -> list[str]:
    """Return the warnings of the method, without those on columns that stay missing."""
    result = record.result or {}
    still_missing = result.get("still_missing") or {}
    return [
        note for note in result.get("notes", []) if not any(name in note for name in still_missing)
    ]


def member_shares(record: JobRecord) -> Mapping[str, Mapping[str, float]]:
    """Return how much each member of a blend counts, by column; empty for other methods."""
    return (record.result or {}).get("shares") or {}


def column_table(
    completed: CompletedTable,
    names: Sequence[Hashable],
    notes: Mapping[Hashable, str],
    *,
    is_judged: bool,
) -> pd.DataFrame:
    """Return the columns with missing values, those with a note first.

    Parameters
    ----------
    completed : CompletedTable
        The imputed table.
    names : sequence
        Its columns with missing values.
    notes : mapping of column to str
        Why to read a column with care.
    is_judged : bool
        Whether a comparison has scored the columns.
    """
    otherwise = "No problem found." if is_judged else "Not scored yet."
    rows = [
        {
            "Column": str(name),
            "Note": notes.get(name, otherwise),
            "Imputed": int(completed.n_imputed[name]),
            "Share of rows": 100 * float(completed.n_imputed[name] / len(completed.frame)),
        }
        for name in sorted(names, key=lambda name: name not in notes)
    ]
    return pd.DataFrame(rows)


def history_row(run: JobRecord) -> dict[str, Any]:
    """Return a run as a line of the table of all imputations."""
    taken = runs.seconds_taken(run)
    return {
        "Run": run.name,
        "State": runs.STATE_WORDS[run.state].label,
        "Table": runs.origin(run.spec.table or "").name,
        "Imputed cells": (run.result or {}).get("n_imputed"),
        "Imputations": run.spec.params.get("imputations", 0),
        "Seed": run.spec.seed,
        "Time": None if taken is None else duration(taken),
        "Started": runs.browser_moment(run.created_at),
    }
