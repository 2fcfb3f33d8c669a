"""One training: whether it learns, its columns and held-out cells, its settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import runs
from dashboard.figures.blend import member_shares_figure, shares_by_column
from dashboard.figures.training import (
    MOST_COLUMNS,
    cells_figure,
    labels_figure,
    loss_figure,
    reduction_figure,
    skills_figure,
)
from dashboard.runs import estimates
from dashboard.state import memory
from dashboard.text import code, plain
from dashboard.train import learning
from dashboard.train.caches import read_curves
from dashboard.train.curves import GAUSSIAN, MEAN, Curves, column_names
from dashboard.train.other_runs_view import show_all_runs, show_two_runs
from dashboard.train.settings import chosen_params, method_title, preset_title
from dashboard.train.settings_view import SECTION
from dashboard.widgets import choose_view, show_figure
from pmae_core.jobs import JobRecord, JobState
from pmae_core.jobs.worker.held_out import read_held_out
from pmae_core.jobs.worker.results import RESULT_FOLDER
from pmae_core.words import count, duration, listed

CURVE, COLUMNS, CELLS, MEMBERS = "Learning curve", "Columns", "Held-out cells", "Members"
SETTINGS, ALL_RUNS, TWO_RUNS = "Settings of this run", "All runs", "Compare two runs"
FIGURE_HEIGHT = 270
MOST_LABELS = 20


def show_run(run: JobRecord, others: Sequence[JobRecord]) -> None:
    """Draw a training; call it inside `runs.watch`, so that it follows a running one.

    Parameters
    ----------
    run
        The training.
    others
        All trainings of the workspace, the newest first.
    """
    curves = read_curves(run.id)
    if sentence := learning.verdict(curves, is_running=run.state in runs.ACTIVE):
        st.markdown(sentence)
    _show_state(run)
    if curves.n_damaged:
        entries = count(curves.n_damaged, "entry", "entries")
        st.warning(f"{entries} of this run’s history cannot be read, so curves may be incomplete.")
    view = choose_view("What do you want to see?", _views(run), section=SECTION)
    {
        CURVE: lambda: _show_curves(run, curves),
        COLUMNS: lambda: _show_columns(run, curves),
        CELLS: lambda: _show_cells(run),
        MEMBERS: lambda: _show_members(run),
        SETTINGS: lambda: _show_settings(run, curves),
        ALL_RUNS: lambda: show_all_runs(others),
        TWO_RUNS: lambda: show_two_runs(run, curves, others),
    }[view]()


def _views(run: JobRecord) -> list[str]:
    is_blend = bool((run.result or {}).get("shares"))
    members = [MEMBERS] if is_blend else []
    return [CURVE, COLUMNS, CELLS, *members, SETTINGS, ALL_RUNS, TWO_RUNS]


# Where it stands


def _show_state(run: JobRecord) -> None:
    """Draw where the run stands or how it ended, and what can be done with it, in one line."""
    words, result = runs.STATE_WORDS[run.state], run.result or {}
    with st.container(key=f"{SECTION}-state"):
        state, what, buttons = st.columns([1, 5, 2], gap="small", vertical_alignment="center")
    state.badge(words.label, icon=words.icon, color=words.color)
    with what:
        if run.state is JobState.SUCCEEDED:
            st.caption(f"{runs.sentence(run)} {learning.ended_sentence(result)}".strip())
        else:
            runs.show_progress(run)
    with buttons:
        runs.show_buttons(run, key=SECTION)
    for note in result.get("notes", []):
        st.warning(plain(note))


# Learning curve


def _show_curves(run: JobRecord, curves: Curves) -> None:
    references = curves.references
    if references is None and (len(curves) or not _holds_cells_out(run)):
        _show_losses(curves)
        return
    left, right = st.columns(2, gap="large")
    with left:
        _show_reduction(
            curves,
            MEAN,
            relative_to="mean imputation",
            question="How much better than the mean?",
            key="train-skill",
            caption="Higher is better. The ring is the kept model; it is chosen on these held-out "
            "cells, so its score is slightly optimistic.",
        )
    with right:
        has_start = references is None or GAUSSIAN in references.scores
        if has_start:
            _show_reduction(
                curves,
                GAUSSIAN,
                relative_to="its Gaussian start",
                question="How much does training add?",
                key="train-gain",
                caption="The same curve, relative to the network’s start at step 0. The gain is "
                "clear if the band stays above 0.",
            )
        else:
            _show_losses(curves)
    if has_start and len(curves):
        with st.expander("Training error", icon=":material/show_chart:"):
            _show_losses(curves)


def _holds_cells_out(run: JobRecord) -> bool:
    """Return whether a training that has not begun will hold cells out."""
    params = chosen_params(run.spec)
    is_paper = str(params.get("preset", "")).startswith("paper")
    return bool(params.get("validation_share", not is_paper))


def _show_reduction(
    curves: Curves,
    reference: str,
    *,
    relative_to: str,
    question: str,
    key: str,
    caption: str,
) -> None:
    """Draw the held-out error relative to that of a reference."""
    curve = learning.reduction_curve(curves, reference)
    lines = {learning.REFERENCE_WORDS[reference]: 0.0}
    if curves.references is not None:
        lines = learning.reference_lines(curves.references, reference)
    figure = reduction_figure(
        curve,
        lines,
        relative_to=relative_to,
        total_steps=curves.total_steps,
        height=FIGURE_HEIGHT,
    )
    show_figure(figure, question=question, key=key, data=curve, caption=caption)


def _show_losses(curves: Curves) -> None:
    losses = curves.losses()
    show_figure(
        loss_figure(losses, total_steps=curves.total_steps, height=FIGURE_HEIGHT),
        question="Does the training error fall?",
        key="train-losses",
        data=losses,
        caption="Errors on cells that the network trains on: predicting masked ones and "
        "reconstructing observed ones. Held-out cells show whether it generalizes.",
    )


# Columns


def _show_columns(run: JobRecord, curves: Curves) -> None:
    n_columns = len(curves.references.n_cells) if curves.references else 0
    skills = learning.column_skills(curves, column_names(run.spec.table_schema, n_columns))
    if not len(skills):
        st.caption(_nothing_held_out(run, curves))
        return
    left, right = st.columns(2, gap="large")
    with left:
        model = "network of the blend" if curves.answers else "kept model"
        certain = skills[skills["cells"] >= learning.ENOUGH_CELLS]
        n_left_out = len(skills) - min(len(certain), MOST_COLUMNS)
        show_figure(
            skills_figure(certain),
            question=f"Which columns does the {model} predict?",
            key="train-columns",
            data=skills,
            caption="A column at 0 is predicted no better than by its mean."
            + (f" {count(n_left_out, 'more column')} in the table." if n_left_out else ""),
        )
    with right:
        st.dataframe(
            skills.assign(**{name: 100 * skills[name] for name in skills.columns[2:]}),
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:skills",
            alt="Held-out error below mean imputation, per column",
            column_config={
                "column": st.column_config.TextColumn("Column", pinned=True),
                "cells": st.column_config.NumberColumn(
                    "Cells", format="localized", help="Held out."
                ),
                "kept": st.column_config.NumberColumn("Kept model", format="%.0f%%"),
                "start": st.column_config.NumberColumn("Start", format="%.0f%%"),
            },
        )
        if len(certain) < len(skills):
            st.caption(
                f"Fewer than {learning.ENOUGH_CELLS} held-out cells say little about a column: "
                "such columns come last and are not drawn."
            )


def _nothing_held_out(run: JobRecord, curves: Curves) -> str:
    if run.state in runs.ACTIVE:
        return "The columns appear with the first validation."
    return learning.OLD_RUN if len(curves.validation()) else learning.NO_HELD_OUT


# Held-out cells


def _show_cells(run: JobRecord) -> None:
    if run.state is not JobState.SUCCEEDED:
        st.caption("Held-out cells appear when the training has ended.")
        return
    with runs.shown_result(run, section=SECTION, choice="run"):
        _show_held_out(_held_out_cells(run.id, run.finished_at, run))


def _show_held_out(cells: dict[str, dict[str, Any]] | None) -> None:
    if not cells:
        st.caption("This run has no sample of held-out cells.")
        return
    chosen, figure = st.columns([1, 3], gap="large")
    with chosen:
        column = memory.remembered(
            st.selectbox,
            "Column",
            section=SECTION,
            name="focus",
            default=max(cells, key=lambda name: cells[name]["n_cells"]),
            options=list(cells),
        )
        found = cells[column]
        shown = len(found["truth"])
        st.caption(f"{shown:,} of {count(found['n_cells'], 'held-out cell')} of this column.")
    with figure:
        _show_cells_of(column, found)


@st.cache_data(max_entries=8, show_spinner=False)
def _held_out_cells(
    job_id: str, finished_at: float | None, _run: JobRecord
) -> dict[str, dict[str, Any]] | None:
    return read_held_out(_run.folder / RESULT_FOLDER)


def _show_cells_of(column: str, found: dict[str, Any]) -> None:
    cells = pd.DataFrame({"truth": found["truth"], "predicted": found["predicted"]})
    question = f"How close are the predictions of {code(column)}?"
    if found["kind"] != "label":
        show_figure(
            cells_figure(found["truth"], found["predicted"], column),
            question=question,
            key="train-cells",
            data=cells,
            caption="Each point is a held-out cell, imputed by the finished model. On the dotted "
            "line, prediction and truth agree.",
        )
        return
    common = cells["truth"].value_counts().index[:MOST_LABELS]
    known = cells[cells["truth"].isin(common) & cells["predicted"].isin(common)]
    counts = pd.crosstab(known["truth"], known["predicted"])
    labels = sorted(common)
    share = (cells["truth"] == cells["predicted"]).mean()
    show_figure(
        labels_figure(counts.reindex(index=labels, columns=labels, fill_value=0), column),
        question=question,
        key="train-cells",
        data=cells,
        caption=f"Held-out cells by true and predicted category; {share:.0%} of the sample are on "
        "the diagonal, where they agree.",
    )


# Members of a blend


def _show_members(run: JobRecord) -> None:
    result = run.result or {}
    shares = shares_by_column(result["shares"]).head(MOST_COLUMNS)
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_figure(
            member_shares_figure(shares, revision=run.id),
            question="How much does each member count?",
            key="train-members",
            data=lambda: shares_by_column(result["shares"]).rename_axis("column").reset_index(),
            caption="Shares are learned per column on held-out cells; equal shares mean that no "
            "member stands out.",
        )
    with right:
        answers = pd.DataFrame(
            [
                {
                    "Member": learning.MEMBER_WORDS.get(answer["members"][-1], "").capitalize(),
                    "Skill": answer["skill"],
                    "After": duration(answer["seconds"]),
                }
                for answer in result.get("answers", [])
            ]
        )
        st.dataframe(
            answers,
            hide_index=True,
            width="stretch",
            key=f"{SECTION}:answers",
            alt="Skill of the blend after each member",
            column_config={
                "Skill": st.column_config.NumberColumn(
                    format="%.3f",
                    help="Share of the variance of held-out cells that the blend explains, in the "
                    "columns’ own units.",
                )
            },
        )
        st.caption("Skill of the blend after each member, in the order in which they are fitted.")


# Settings of this run


def _show_settings(run: JobRecord, curves: Curves) -> None:
    params = chosen_params(run.spec)
    preset = params.pop("preset", "balanced")
    chosen = {
        "Model": method_title(run.spec.params["method"]),
        "Preset": preset_title(preset),
        "Seed": run.spec.seed,
        **{name: value for name, value in params.items() if value is not None},
    }
    rows = {**chosen, **_facts(run, curves)}
    st.dataframe(
        pd.DataFrame({"Setting": list(rows), "Value": [_words(value) for value in rows.values()]}),
        hide_index=True,
        width=560,
        key=f"{SECTION}:settings",
        alt="Settings of this run",
    )
    st.caption("Settings that are not listed are those of the preset.")


def _words(value: Any) -> str:
    return listed(value) if isinstance(value, list) else str(value)


def _facts(run: JobRecord, curves: Curves) -> dict[str, str]:
    """Return what the run runs on, and what was expected."""
    facts: dict[str, str] = {}
    if curves.device is not None:
        place = "a node of the Ray cluster" if run.engine == "ray" else "this computer"
        device = "processor" if curves.device == "cpu" else f"GPU ({curves.device})"
        facts["Device"] = f"{device} of {place}"
        facts["Number format"] = str(curves.precision)
        facts["Network size"] = count(curves.n_parameters or 0, "weight")
    if curves.rows_per_second:
        facts["Speed"] = f"{curves.rows_per_second:,.0f} rows per second"
    if run.memory_mb:
        facts["Memory"] = f"{run.memory_mb:,.0f} MB"
    if run.estimate and run.estimate.get("total_seconds"):
        facts["Estimated time"] = estimates.time_expected(run.estimate)
    if curves.batch_size is not None:
        facts["Rows per step"] = f"reduced to {curves.batch_size:,} because memory ran out"
    return facts
