"""Jobs as the browser sees them: submit runs, find and watch them, hear of their end."""

from dashboard.runs.announcing import (
    PAGE_OF,
    announce,
    announce_restoration,
    announcement,
    latest,
    unannounced,
)
from dashboard.runs.damage import remove_button, show_damaged, shown_result
from dashboard.runs.drawing import show_buttons, show_job, show_progress
from dashboard.runs.lookup import ACTIVE, listing, record, records
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
    damaged_title,
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
    "announce_restoration",
    "announcement",
    "browser_moment",
    "check_room",
    "damaged_title",
    "engine",
    "job_name",
    "labels",
    "latest",
    "listing",
    "make_spec",
    "origin",
    "prepare",
    "put_table",
    "record",
    "records",
    "remove_button",
    "seconds_taken",
    "sentence",
    "show_buttons",
    "show_damaged",
    "show_job",
    "show_progress",
    "shown_result",
    "store",
    "submit",
    "supervise",
    "title",
    "unannounced",
    "watch",
]
