"""Choosing a filling: the same choice on every page that shows one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import jobs, session
from dashboard.impute.fillings import all_fillings, digest_of, stale_sentence
from dashboard.workspace import OpenTable
from pmae_core.jobs import JobRecord

SECTION = "impute"


def choose_filling(table: OpenTable) -> JobRecord | None:
    """Ask which filling to look at, the newest of the open table at first; None if there is none.

    What has changed since it was made is said below.
    """
    runs = all_fillings()
    if not runs:
        return None
    own = [run for run in runs if run.spec.table == digest_of(table)]
    return choose_run(
        runs,
        table,
        "Which filling?",
        section=SECTION,
        name="filling",
        first=(own or runs)[0],
        help_text="The newest comes first.",
    )


def choose_run(
    runs: Sequence[JobRecord],
    table: OpenTable,
    label: str,
    *,
    section: str,
    name: str,
    first: JobRecord,
    help_text: str,
) -> JobRecord:
    """Ask for one of several runs, and say what has changed since it was made.

    Parameters
    ----------
    runs : sequence of JobRecord
        The runs to choose from, the newest first.
    table : OpenTable
        The open table.
    label, help_text : str
        What is asked.
    section, name : str
        Under which the answer is remembered.
    first : JobRecord
        What is chosen at first.
    """
    by_id = {run.id: run for run in runs}
    chosen = session.remembered(
        st.selectbox,
        label,
        section=section,
        name=name,
        default=first.id,
        options=list(by_id),
        format_func=jobs.labels(list(runs)).get,
        help=help_text,
    )
    if changed := stale_sentence(by_id[chosen], table):
        st.warning(changed, icon=":material/history:")
    return by_id[chosen]
