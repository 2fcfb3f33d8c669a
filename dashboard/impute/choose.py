"""Choosing a filling: the same choice on every page that shows one."""

from __future__ import annotations

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
    by_id = {run.id: run for run in runs}
    own = [run.id for run in runs if run.spec.table == digest_of(table)]
    chosen = session.remembered(
        st.selectbox,
        "Which filling?",
        section=SECTION,
        name="filling",
        default=(own or list(by_id))[0],
        options=list(by_id),
        format_func=jobs.labels(runs).get,
        help="The newest comes first.",
    )
    changed = stale_sentence(by_id[chosen], table)
    if changed:
        st.warning(changed, icon=":material/history:")
    return by_id[chosen]
