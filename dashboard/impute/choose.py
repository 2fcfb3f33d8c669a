"""Choosing an imputation: the same choice on every page that shows one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import runs
from dashboard.impute.completed_tables import imputation_runs
from dashboard.runs.staleness import digest_of, stale_sentence
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from pmae_core.jobs import JobRecord

SECTION = "impute"
_CHOICE = "imputation"


def choose_imputation(
    table: OpenTable, notice_place: DeltaGenerator | None = None
) -> JobRecord | None:
    """Ask which imputation to show, at first the newest of the open table; None without any.

    What has changed since it was made is shown in `notice_place`, by default below.
    """
    found = imputation_runs()
    if not found:
        return None
    own = [run for run in found if run.spec.table == digest_of(table)]
    return choose_run(
        found,
        table,
        "Imputation",
        section=SECTION,
        name=_CHOICE,
        first=(own or found)[0],
        help_text="The newest comes first.",
        notice_place=notice_place,
    )


def choose_run(
    found: Sequence[JobRecord],
    table: OpenTable,
    label: str,
    *,
    section: str,
    name: str,
    first: JobRecord,
    help_text: str,
    notice_place: DeltaGenerator | None = None,
) -> JobRecord:
    """Ask for one of several runs, and say what has changed since it was made.

    Parameters
    ----------
    found : sequence of JobRecord
        The runs to choose from, the newest first.
    table : OpenTable
        The open table.
    label, help_text : str
        What is asked.
    section, name : str
        Under which the answer is remembered.
    first : JobRecord
        What is chosen at first.
    notice_place : DeltaGenerator, optional
        Where to show what has changed; by default below the choice.
    """
    by_id = {run.id: run for run in found}
    chosen = memory.remembered(
        st.selectbox,
        label,
        section=section,
        name=name,
        default=first.id,
        options=list(by_id),
        format_func=runs.labels(found).get,
        help=help_text,
    )
    if changed := stale_sentence(by_id[chosen], table):
        with notice_place or st.container():
            st.warning(changed, icon=":material/history:")
    return by_id[chosen]


def shown_imputation(record: JobRecord) -> AbstractContextManager[None]:
    """Show errors of a block that draws an imputation; offer to redo a damaged one."""
    return runs.shown_result(record, section=SECTION, choice=_CHOICE)
