"""Jobs on the pages: hand them in, watch them, stop them, and hear of their end.

Pages never do long work. They hand in a job, which a process of its own does; the store knows
how far it is, whoever asks and however often the browser or the server starts anew. There is no
daemon: whoever looks at jobs looks after them, too.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.text import plain, shorten
from dashboard.widgets.errors import calm, shown_errors
from dashboard.workspace import OpenTable
from pmae_core.errors import JobError
from pmae_core.jobs import JobKind, JobRecord, JobSpec, JobState, JobStore, Resources
from pmae_core.jobs.engines import Engine, make_engine
from pmae_core.jobs.store import RESUMABLE
from pmae_core.storage.home import pmae_home
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table import Schema
from pmae_core.words import count, duration, moment, time_left

POLL_SECONDS = 1.0
SPARE_MINUTES = 10.0
MOST_UNFINISHED = 50
MOST_TOASTS = 3
ACTIVE = (JobState.QUEUED, JobState.RUNNING)
PAGE_OF = {JobKind.TRAIN: "Train", JobKind.COMPARE: "Compare", JobKind.IMPUTE: "Impute"}

_SECTION = "jobs"
_ORIGINS = "origins"
_HEARD_KEY = "_jobs_heard_until"


# The store and the engine of this process


class _Keeper:
    """A store with its engine, and when it was looked after last."""

    def __init__(self, home: Path, engine_name: str) -> None:
        self.store = JobStore(home)
        self.engine = make_engine(
            self.store, engine_name or None, spare_seconds=60 * spare_minutes()
        )
        self._lock = threading.Lock()
        self._supervised_at = 0.0

    def supervise(self) -> None:
        """Look after the jobs of all users; once a second is enough, however many ask."""
        if self._lock.acquire(blocking=False):
            try:
                if time.monotonic() - self._supervised_at >= POLL_SECONDS / 2:
                    self.engine.supervise()
                    self._supervised_at = time.monotonic()
            finally:
                self._lock.release()


@st.cache_resource(max_entries=4, show_spinner=False)
def _keeper(home: Path, engine_name: str) -> _Keeper:
    return _Keeper(home, engine_name)


def _current() -> _Keeper:
    return _keeper(pmae_home(), os.environ.get("PMAE_ENGINE", ""))


def store() -> JobStore:
    """Return the store of all jobs."""
    return _current().store


def engine() -> Engine:
    """Return what runs the jobs that are handed in here."""
    return _current().engine


def supervise() -> None:
    """Notice workers that died, and start what waits; without a store there is nothing to do."""
    if _exists():
        _current().supervise()


def prepare() -> None:
    """Have a worker process ready, so that a job that the user may start soon starts at once."""
    engine().prepare()


def spare_minutes() -> float:
    """Return how many minutes a spare worker process waits for a job; 0 for none."""
    text = os.environ.get("PMAE_SPARE_MINUTES", "")
    try:
        minutes = float(text) if text.strip() else SPARE_MINUTES
    except ValueError:
        minutes = -1.0
    if not 0 <= minutes < float("inf"):
        raise JobError(
            f"PMAE_SPARE_MINUTES is {text!r}. Give a number of minutes, or 0 for no spare process."
        )
    return minutes


def _exists() -> bool:
    return (pmae_home() / "jobs.sqlite").exists()


# Handing in


def submit(
    kind: JobKind | str,
    params: Mapping[str, Any],
    *,
    name: str,
    seed: int = 0,
    resources: Resources | None = None,
    frame: pd.DataFrame | None = None,
    schema: Schema | None = None,
    estimate: Mapping[str, Any] | None = None,
) -> JobRecord:
    """Hand in a job on the open table.

    Parameters
    ----------
    kind, params, seed
        As :meth:`JobSpec.make` takes them. Other tables in `params` go through `put_table`.
    name
        What to call it, in words: "PMAE on penguins, seed 0". Too long a name is shortened.
    resources
        What it takes of the machine; the engine's default where not given.
    frame, schema
        Another table than the open one.
    estimate
        What it is expected to cost, if that is known; else the job begins by estimating it.

    Raises
    ------
    JobError
        If it cannot be done as asked; a sentence.
    """
    check_room()
    spec = make_spec(kind, params, seed=seed, resources=resources, frame=frame, schema=schema)
    own = session.workspace()
    record = engine().submit(spec, own.id, job_name(name))
    if estimate is not None:
        store().set_estimate(record.id, estimate)
    return record


def make_spec(
    kind: JobKind | str,
    params: Mapping[str, Any],
    *,
    seed: int = 0,
    resources: Resources | None = None,
    frame: pd.DataFrame | None = None,
    schema: Schema | None = None,
) -> JobSpec:
    """Return the document of a job on the open table, which is put into the store."""
    if frame is None:
        table = session.open_table()
        schema = schema or table.schema
        own = session.workspace()
        digest = store().copy_table(own.tables, own.store_content(table), own.id)
        _keep_origin(digest, table)
    else:
        digest = put_table(frame)
    return JobSpec.make(
        kind,
        params=params,
        table=digest,
        schema=schema,
        seed=seed,
        resources=resources or engine().default_resources(),
    )


def put_table(frame: pd.DataFrame) -> str:
    """Keep a table for jobs of this workspace and return its digest."""
    return store().put_table(frame, session.workspace().id)


@dataclass(frozen=True)
class Origin:
    """Where the table of a job came from: jobs know its content alone."""

    name: str = "a table"
    sentinels: tuple[Any, ...] = ()


def origin(digest: str) -> Origin:
    """Return where the table of a job came from, as far as it is known."""
    kept = session.workspace().get(_ORIGINS).get(digest)
    if kept is None:
        return Origin()
    return Origin(kept["name"], tuple(map(from_json_value, kept["sentinels"])))


def _keep_origin(digest: str, table: OpenTable) -> None:
    values = [to_json_value(value) for some in table.sentinels.values() for value in some]
    kept = {"name": table.name, "sentinels": list({str(value): value for value in values}.values())}
    own = session.workspace()
    if own.get(_ORIGINS).get(digest) != kept:
        own.update(_ORIGINS, **{digest: kept})


def check_room() -> None:
    """Refuse a job of a workspace that has very many unfinished ones."""
    if _exists() and store().count(session.workspace().id, states=ACTIVE) >= MOST_UNFINISHED:
        raise JobError(
            f"{MOST_UNFINISHED} of your jobs wait or run already. "
            "Let some of them end, or cancel them, before you start another one."
        )


def job_name(words: str) -> str:
    """Return a name that the store takes: one line, not too long, nothing invisible.

    Examples
    --------
    >>> job_name("PMAE on  my\\ntable")
    'PMAE on my table'
    """
    visible = "".join(sign if sign.isprintable() else " " for sign in words)
    return shorten(visible, 120) or "A job"


# Looking


def records(
    kinds: Collection[JobKind | str] | None = None,
    states: Collection[JobState | str] | None = None,
    limit: int = 50,
) -> list[JobRecord]:
    """Return jobs of this workspace, newest first."""
    if not _exists():
        return []
    return store().jobs(session.workspace().id, states=states, kinds=kinds, limit=limit)


def record(job_id: str) -> JobRecord | None:
    """Return a job of this workspace; None if there is none (any more)."""
    if not _exists():
        return None
    try:
        return store().job(job_id, session.workspace().id)
    except JobError:
        return None


@dataclass(frozen=True)
class JobCounts:
    """How many jobs of a workspace are not finished."""

    running: int = 0
    queued: int = 0

    def __bool__(self) -> bool:
        return bool(self.running or self.queued)

    def sentence(self) -> str:
        """Return them in words."""
        parts = {"running": self.running, "waiting": self.queued}
        return ", ".join(f"{count(n, 'job')} {word}" for word, n in parts.items() if n)


def unfinished(workspace_id: str) -> JobCounts:
    """Count the jobs that wait or run; without a store there are none."""
    if not _exists():
        return JobCounts()
    return JobCounts(
        running=store().count(workspace_id, states=[JobState.RUNNING]),
        queued=store().count(workspace_id, states=[JobState.QUEUED]),
    )


# Watching


def watch(draw: Callable[[list[JobRecord]], None], job_ids: Sequence[str]) -> None:
    """Draw a part of a page about jobs, and again every second while one of them goes on.

    When the state of one changes, the whole page is drawn anew, once. Without a job that waits
    or runs, the browser does not ask again.

    Parameters
    ----------
    draw
        Gets the records as they are now, in the order of the ids; those removed meanwhile are
        left out. What it draws stays in its place.
    job_ids
        Jobs of this workspace.
    """
    supervise()
    before = _states(_found(job_ids))
    is_active = any(state in ACTIVE for state in before.values())
    part = functools.partial(_draw_watched, draw, tuple(job_ids), before)
    st.fragment(part, run_every=POLL_SECONDS if is_active else None)()


def _draw_watched(
    draw: Callable[[list[JobRecord]], None], job_ids: Sequence[str], before: Mapping[str, JobState]
) -> None:
    with shown_errors():
        supervise()
        found = _found(job_ids)
        if _states(found) != before:
            st.rerun()
        draw(found)


def _found(job_ids: Sequence[str]) -> list[JobRecord]:
    return [found for job_id in job_ids if (found := record(job_id)) is not None]


def _states(found: Sequence[JobRecord]) -> dict[str, JobState]:
    return {one.id: one.state for one in found}


# Announcing: a job that ended says so on whatever page the user is


def announce() -> None:
    """Tell of the jobs that ended since this browser tab last heard of any; called by the header.

    What ended while no page was open is told when one opens again.
    """
    ended = unheard()
    if not ended:
        return
    for one in ended[-MOST_TOASTS:]:
        words = STATE_WORDS[one.state]
        st.toast(announcement(one), icon=words.icon, duration="long")
    until = max(one.finished_at or 0.0 for one in ended)
    st.session_state[_HEARD_KEY] = until
    if session.workspace().get(_SECTION).get("heard_until", 0.0) < until:
        session.workspace().update(_SECTION, heard_until=until)


def unheard() -> list[JobRecord]:
    """Return the jobs whose end was not told in this tab, the earliest first."""
    ended = [one for one in records(limit=2 * MOST_UNFINISHED) if one.state not in ACTIVE]
    if _HEARD_KEY not in st.session_state:  # from now on, what another tab hears is its own
        st.session_state[_HEARD_KEY] = session.workspace().get(_SECTION).get("heard_until", 0.0)
    until = st.session_state[_HEARD_KEY]
    new = [one for one in ended if (one.finished_at or 0.0) > until]
    return sorted(new, key=lambda one: one.finished_at or 0.0)


def announcement(ended: JobRecord) -> str:
    """Return what to say of a job that ended, as Markdown."""
    words = {
        JobState.SUCCEEDED: "is done.",
        JobState.FAILED: "failed.",
        JobState.CANCELLED: "is cancelled.",
        JobState.INTERRUPTED: "was interrupted.",
    }[ended.state]
    page = PAGE_OF.get(ended.kind)
    see = f" See the page {page}." if page and ended.state is not JobState.CANCELLED else ""
    return f"**{title(ended)}** {words}{see}"


# Words


@dataclass(frozen=True)
class StateWords:
    """How a state is called and what it looks like."""

    label: str
    icon: str
    color: str


STATE_WORDS: Mapping[JobState, StateWords] = {
    JobState.QUEUED: StateWords("Waiting", ":material/hourglass_empty:", "gray"),
    JobState.RUNNING: StateWords("Running", ":material/progress_activity:", "blue"),
    JobState.SUCCEEDED: StateWords("Done", ":material/check_circle:", "green"),
    JobState.FAILED: StateWords("Failed", ":material/error:", "red"),
    JobState.CANCELLED: StateWords("Cancelled", ":material/cancel:", "gray"),
    JobState.INTERRUPTED: StateWords("Interrupted", ":material/warning:", "orange"),
}


def title(job: JobRecord) -> str:
    """Return a job's name as Markdown."""
    return plain(job.name or f"{str(job.kind).capitalize()} {job.id[:8]}")


def labels(jobs: Sequence[JobRecord]) -> dict[str, str]:
    """Return jobs by id as lines of a list: the name, and when it was handed in.

    A browser knows an option by its line. So no two are the same, and a job keeps its own
    whatever becomes of it: else the choice would jump to another job when its state changes.
    """
    lines = {
        job.id: f"{job.name or job.id[:8]} · {browser_moment(job.created_at, '%d %b %H:%M:%S')}"
        for job in jobs
    }
    times = Counter(lines.values())
    return {
        job_id: line if times[line] == 1 else f"{line} · {job_id[:4]}"
        for job_id, line in lines.items()
    }


def browser_moment(timestamp: float, form: str = "%d %b %H:%M") -> str:
    """Return a time as the clock of the browser shows it."""
    offset = st.context.timezone_offset
    zone = None if offset is None else timezone(timedelta(minutes=-offset))
    return moment(timestamp, form, zone)


def seconds_taken(job: JobRecord, now: float | None = None) -> float | None:
    """Return how long the last attempt took, or takes by now; None before the first."""
    if job.started_at is None:
        return None
    return max(0.0, (job.finished_at or now or time.time()) - job.started_at)


def sentence(job: JobRecord, position: int | None = None, now: float | None = None) -> str:
    """Say in words where a job stands, as Markdown.

    Parameters
    ----------
    job
        The job.
    position
        Of a waiting job in the queue.
    now
        The time; that of the clock by default.
    """
    taken = seconds_taken(job, now)
    after = "" if taken is None else f" after {duration(taken)}"
    match job.state:
        case JobState.QUEUED:
            return _waiting_sentence(position)
        case JobState.RUNNING if job.cancel_requested_at is not None:
            return "It was asked to stop, and will in a few seconds. What it has done stays."
        case JobState.RUNNING:
            return _running_sentence(job, now)
        case JobState.SUCCEEDED:
            return f"Done in {duration(taken or 0.0)}."
        case JobState.FAILED:
            return f"It failed{after}. {plain(job.error or 'No reason is known.')}"
        case JobState.CANCELLED:
            return f"You cancelled it{after}. {_kept_sentence(job)}"
        case _:
            why = plain(job.error or "Its worker ended.")
            return f"It was interrupted{after}. {why} {_kept_sentence(job)}"


def _waiting_sentence(position: int | None) -> str:
    if position is None:
        return "It waits for its turn."
    if position == 1:
        return "It is the next in the queue, and starts as soon as there is room."
    return f"It waits: {count(position - 1, 'job')} before it in the queue. You may close this tab."


def _running_sentence(job: JobRecord, now: float | None) -> str:
    progress = job.progress
    parts = [plain(progress.message) if progress and progress.message else "Starting"]
    if progress is not None and progress.eta_seconds is not None:
        parts.append(time_left(progress.eta_seconds))
    taken = seconds_taken(job, now)
    if taken is not None:
        parts.append(f"running for {duration(taken)}")
    return f"{', '.join(parts)}. You may close this tab."


def _kept_sentence(job: JobRecord) -> str:
    if job.attempt == 0:
        return "It had not begun."
    if job.kind in (JobKind.COMPARE, JobKind.BENCHMARK):
        return "The runs that ended are kept; Resume does the others."
    return "Resume goes on from its last checkpoint, if it has one."


# Drawing one job


def show_job(job: JobRecord, *, key: str) -> None:
    """Draw a job: its name, its state in a sentence, how far it is, and what can be done.

    Call it inside `watch`, so that it moves. `key` parts it from the same job elsewhere.
    """
    words = STATE_WORDS[job.state]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{title(job)}**", width="content")
        st.badge(words.label, icon=words.icon, color=words.color)
    show_progress(job)
    show_buttons(job, key=key)


def show_progress(job: JobRecord) -> None:
    """Draw where a job stands: a sentence, and a bar while it runs."""
    position = store().queue_position(job.id) if job.state is JobState.QUEUED else None
    text = sentence(job, position)
    if job.state is JobState.RUNNING:
        fraction = job.progress.fraction if job.progress else None
        st.progress(min(1.0, max(0.0, fraction or 0.0)), text=text)
    elif job.state is JobState.FAILED:
        st.error(text, icon=STATE_WORDS[job.state].icon)
    elif job.state is JobState.INTERRUPTED:
        st.warning(text, icon=STATE_WORDS[job.state].icon)
    else:
        st.markdown(text)


def show_buttons(job: JobRecord, *, key: str) -> None:
    """Draw what can be done with a job: cancel or resume it, remove it when it ended."""
    with st.container(horizontal=True, gap="small", key=f"{key}:{job.id}:buttons"):
        if job.state in ACTIVE:
            is_asked = job.cancel_requested_at is not None
            pressed = st.button(
                "Stopping …" if is_asked else "Cancel",
                icon=":material/stop_circle:",
                key=f"{key}:{job.id}:cancel",
                disabled=is_asked,
                help="It stops within seconds. What it has done stays, and you can resume it.",
            )
            return _do_if(pressed, _cancel, job.id)
        if job.state in RESUMABLE:
            pressed = st.button(
                "Resume",
                icon=":material/play_circle:",
                key=f"{key}:{job.id}:resume",
                help=_kept_sentence(job),
            )
            _do_if(pressed, _resume, job.id)
        with st.popover("Remove", icon=":material/delete:", key=f"{key}:{job.id}:remove"):
            st.markdown("This removes the job and all that it made. It cannot be undone.")
            pressed = st.button("Remove for good", key=f"{key}:{job.id}:remove-sure")
            _do_if(pressed, _remove, job.id)


def _do_if(pressed: bool, action: Callable[[str], None], job_id: str) -> None:
    """Do what a button says and draw the whole page anew, with a notice where that failed."""
    if pressed:
        calm(action)(job_id)
        st.rerun()


def _own(job_id: str) -> JobRecord:
    """Return a job of this workspace; a sentence if it is gone."""
    found = record(job_id)
    if found is None:
        raise JobError("This job does not exist any more: it was removed, perhaps in another tab.")
    return found


def _cancel(job_id: str) -> None:
    if _own(job_id).state in ACTIVE:  # it may have ended since the button was drawn
        engine().cancel(job_id)


def _resume(job_id: str) -> None:
    check_room()
    if _own(job_id).state in RESUMABLE:
        engine().resume(job_id)


def _remove(job_id: str) -> None:
    if record(job_id) is not None:
        store().delete(job_id)
