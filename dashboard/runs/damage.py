"""Runs that are damaged on disk: said in their place, so that the rest of a page goes on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from dashboard.errors import errors_as_notices, shown_errors
from dashboard.runs.drawing import show_buttons
from dashboard.runs.lookup import ACTIVE, listing
from dashboard.runs.service import engine, store
from dashboard.runs.submission import check_room
from dashboard.runs.wording import damaged_title, title
from dashboard.state import memory, session
from dashboard.state.notices import notify
from dashboard.text import code, plain
from pmae_core.errors import DamagedFileError
from pmae_core.jobs import JobKind, JobRecord
from pmae_core.jobs.store import DamagedJob

ICON = ":material/broken_image:"
REMOVAL = "This removes the run and its results. You cannot undo this."


# Results


@contextmanager
def shown_result(run: JobRecord, *, section: str, choice: str) -> Iterator[None]:
    """Show errors of a block that draws a run's result in its place; offer to redo a damaged one.

    Parameters
    ----------
    run
        The run.
    section, choice
        Under which the page remembers the chosen run: the new one is chosen then.
    """
    with shown_errors():
        try:
            yield
        except DamagedFileError as error:
            if error.path is None or not error.path.is_relative_to(run.folder):
                raise
            _show_damaged_result(run, error.path, section, choice)


def _show_damaged_result(run: JobRecord, file: Path, section: str, choice: str) -> None:
    st.error(
        f"**The result of {title(run)} is damaged.** Its file {code(file.name)} has changed "
        "since it was written. Run it again for a new result; other runs are not affected.",
        icon=ICON,
    )
    if run.state in ACTIVE:
        return
    place = f"{section}:{file.name}"
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Run again",
            icon=":material/replay:",
            key=f"{place}:{run.id}:again",
            on_click=errors_as_notices(_run_again),
            args=(run, section, choice),
            help="Starts a new run with the same table, settings and seed.",
        )
        show_buttons(run, key=place)


def _run_again(run: JobRecord, section: str, choice: str) -> None:
    check_room()
    again = engine().submit(run.spec, session.workspace().id, run.name)
    memory.remember(section, **{choice: again.id})
    notify("info", f"{title(run)} has been started again.")


# Records


def show_damaged(kinds: Collection[JobKind], *, key: str) -> None:
    """Draw the runs of some kinds whose record cannot be read, and offer to remove them."""
    for job in listing(kinds=kinds).damaged:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{damaged_title(job)}**", width="content")
            st.badge("Damaged", icon=ICON, color="red")
            st.caption(
                f"{plain(job.why)} The run cannot be shown; other runs are not affected.",
                width="content",
            )
            with st.popover("Remove", icon=":material/delete:", key=f"{key}:{job.number}:remove"):
                st.markdown(REMOVAL)
                remove_button(job, key=key)


def remove_button(job: DamagedJob, *, key: str) -> None:
    """Draw the button that removes a run whose record cannot be read."""
    st.button(
        "Remove permanently",
        key=f"{key}:{job.number}:remove-sure",
        on_click=errors_as_notices(_remove),
        args=(job.number,),
        help=REMOVAL,
    )


def _remove(number: int) -> None:
    store().delete_damaged(number, session.workspace().id)
