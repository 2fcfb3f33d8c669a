"""Jobs as the browser sees them: submit runs, find and watch them, hear of their end."""

from dashboard.runs.announcing import PAGE_OF, announce, announcement, latest, unheard
from dashboard.runs.drawing import show_buttons, show_job, show_progress
from dashboard.runs.lookup import ACTIVE, record, records
from dashboard.runs.service import POLL_SECONDS, engine, prepare, store, supervise
from dashboard.runs.submission import (
    Origin,
    check_room,
    job_name,
    make_spec,
    origin,
    put_table,
    submit,
)
from dashboard.runs.watching import watch
from dashboard.runs.wording import (
    STATE_WORDS,
    browser_moment,
    labels,
    seconds_taken,
    sentence,
    title,
)

__all__ = [
    "ACTIVE",
    "PAGE_OF",
    "POLL_SECONDS",
    "STATE_WORDS",
    "Origin",
    "announce",
    "announcement",
    "browser_moment",
    "check_room",
    "engine",
    "job_name",
    "labels",
    "latest",
    "make_spec",
    "origin",
    "prepare",
    "put_table",
    "record",
    "records",
    "seconds_taken",
    "sentence",
    "show_buttons",
    "show_job",
    "show_progress",
    "store",
    "submit",
    "supervise",
    "title",
    "unheard",
    "watch",
]
