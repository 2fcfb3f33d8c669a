"""A training among others: all of them in a table, two of them in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.figures.training import overlay_figure
from dashboard.state import memory
from dashboard.text import code, plain
from dashboard.train import learning
from dashboard.train.caches import read_curves
from dashboard.train.curves import MEAN, Curves
from dashboard.train.settings import differences
from dashboard.train.settings_view import SECTION
from dashboard.widgets import show_figure
from pmae_core.jobs import JobRecord
from pmae_core.words import duration

# All runs


def show_all_runs(found: Sequence[JobRecord]) -> None:
    """Draw a table of all trainings, the newest first."""
    st.dataframe(
        pd.DataFrame([_history_row(run) for run in found]),
        hide_index=True,
        width="stretch",
        key=f"{SECTION}:history",
        alt="All trainings of this workspace",
        column_config={
            "Held-out error": st.column_config.NumberColumn(format="%.4f"),
            "Steps": st.column_config.NumberColumn(format="localized"),
            "Imputed": st.column_config.NumberColumn(format="localized"),
        },
    )


def _history_row(run: JobRecord) -> dict[str, Any]:
    result = run.result or {}
    training = result.get("training") or {}
    taken = runs.seconds_taken(run)
    return {
        "Run": run.name,
        "State": runs.STATE_WORDS[run.state].label,
        "Held-out error": training.get("best_score"),
        "Steps": training.get("step"),
        "Imputed": result.get("n_imputed"),
        "Took": None if taken is None else duration(taken),
        "Started": runs.browser_moment(run.created_at),
    }


# Two runs in one figure


def show_two_runs(run: JobRecord, curves: Curves, found: Sequence[JobRecord]) -> None:
    """Ask for another training, and draw its curve over that of this one."""
    labels = runs.labels([one for one in found if one.id != run.id])
    if not labels:
        st.caption("There is only one run. Start another one to compare them.")
        return
    other_id = memory.remembered(
        st.selectbox,
        "Compare with",
        section=SECTION,
        name="other",
        default=next(iter(labels)),
        options=list(labels),
        format_func=labels.get,
    )
    other = runs.record(other_id)
    if other is None:
        st.caption("This run was removed. Choose another one.")
        return
    both = (run, other)
    tables, axis, is_share = _comparable_curves([curves, read_curves(other.id)])
    if tables is None:
        st.caption("One of the two runs has no curve yet.")
        return
    names = [f"{number}. {one.name or one.id[:8]}" for number, one in enumerate(both, start=1)]
    named = dict(zip(names, tables, strict=True))
    show_figure(
        overlay_figure(named, axis=axis, is_share=is_share),
        question="Which of the two learns better?",
        key="train-overlay",
        data=lambda: pd.concat(named, names=["run"]).reset_index("run"),
        caption=_differences_sentence(*both),
    )


def _comparable_curves(
    curves: Sequence[Curves],
) -> tuple[list[pd.DataFrame] | None, str, bool]:
    """Return a curve of each run, all of the best kind that all have, and what it is."""
    kinds = (
        (lambda one: learning.reduction_curve(one, MEAN), "share"),
        (Curves.validation, "score"),
        (Curves.losses, "prediction"),
    )
    axes = {
        "share": "held-out error below mean imputation",
        "score": "error on held-out cells",
        "prediction": "training error on masked cells",
    }
    for make, name in kinds:
        tables = [make(one).rename(columns={name: "value"}) for one in curves]
        if all(len(table) for table in tables):
            return [table[["step", "value"]] for table in tables], axes[name], name == "share"
    return None, "", False


def _differences_sentence(first: JobRecord, second: JobRecord) -> str:
    found = differences(first.spec, second.spec)
    if not found:
        return "Both have the same table, settings and seed."
    if any(name == "table" for name, *_ in found):
        beginning = "The tables differ, so compare the shapes, not the heights. "
    elif any(name in ("loss", "numeric", "categorical", "validation_share") for name, *_ in found):
        beginning = "The errors are measured differently: compare the shapes, not the heights. "
    else:
        beginning = ""
    words = [
        f"{code(name)} ({plain(one)} and {plain(other)})"
        for name, one, other in (_with_words(row) for row in found)
        if name != "table"
    ]
    return beginning + (f"The runs differ in {'; '.join(words)}." if words else "")


def _with_words(row: tuple[str, Any, Any]) -> tuple[str, str, str]:
    name, *values = row
    first, second = ("as in the preset" if value is None else str(value) for value in values)
    return name, first, second
