"""What a job will cost, asked before it starts.

An estimate runs the methods for a moment, and their libraries are heavy. So a process of its own
does it, and the page looks in now and then. It writes one line of JSON; the server keeps the
answers in memory, by everything that the question depends on.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import runs
from dashboard.state import session
from dashboard.state.recent import Recent
from dashboard.text import plain
from pmae_core.errors import JobError
from pmae_core.jobs import JobSpec, Resources
from pmae_core.jobs.environment import process_environment
from pmae_core.words import duration, expected_duration

MOST_AT_ONCE = 2
MOST_ANSWERS = 256
MOST_SECONDS = 90.0
BUDGET_SECONDS = 5.0
# From this factor on, the user is told that other work slows the machine down.
BUSY = 1.5


@dataclass(frozen=True)
class Question:
    """What is asked: a job on the open table, without its seed."""

    table: str  # digest of the open table
    kind: str
    params: str  # as JSON
    resources: Resources

    @classmethod
    def make(cls, kind: str, params: Mapping[str, Any], resources: Resources) -> Question:
        """Return the question what a job on the open table will cost."""
        text = json.dumps(dict(params), sort_keys=True)
        return cls(session.open_table().digest, str(kind), text, resources)

    def spec(self) -> JobSpec:
        """Return the job; the table is put into the store."""
        return runs.make_spec(self.kind, json.loads(self.params), resources=self.resources)


@dataclass(frozen=True)
class Answer:
    """What is known: still running, an estimate as plain data, or a sentence why there is none."""

    running: bool = False
    estimate: Mapping[str, Any] | None = None
    error: str | None = None


class _EstimateRun:
    """A process that makes an estimate."""

    def __init__(self, spec: JobSpec, workspace_id: str) -> None:
        self.workspace_id = workspace_id
        # A file, not a pipe: nobody reads while it runs.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object
        self._started = time.monotonic()
        environment = process_environment(spec.resources.threads)
        if not spec.resources.gpus:
            environment["CUDA_VISIBLE_DEVICES"] = ""
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "pmae_core.jobs.cost"),
                *(str(runs.store().home), workspace_id, str(BUDGET_SECONDS)),
            ],
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as pipe:
            pipe.write(spec.to_json().encode())

    def answer(self) -> Answer:
        """Look in."""
        if self._process.poll() is None:
            if time.monotonic() - self._started < MOST_SECONDS:
                return Answer(running=True)
            self.stop()
            return Answer(error=f"The estimate timed out after {duration(MOST_SECONDS)}.")
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").splitlines()
        try:
            return Answer(**json.loads(lines[-1]))
        except (IndexError, ValueError, TypeError):
            return Answer(
                error="The process that estimates the time ended unexpectedly. Try again."
            )

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


class _Estimator:
    """All estimates of this server."""

    def __init__(self) -> None:
        self._runs: dict[Question, _EstimateRun] = {}
        self._answers: Recent[Answer] = Recent(MOST_ANSWERS)
        self._lock = threading.Lock()

    def start(self, question: Question) -> None:
        with self._lock:
            self._collect()
            if question in self._runs:
                return
            if len(self._runs) >= MOST_AT_ONCE:
                raise JobError("Other estimates are still running. Try again in a few seconds.")
            self._runs[question] = _EstimateRun(question.spec(), session.workspace().id)

    def answer(self, question: Question) -> Answer:
        with self._lock:
            self._collect()
            if question in self._runs:
                return Answer(running=True)
            return self._answers.known(question) or Answer()

    def stop(self, workspace_id: str) -> None:
        with self._lock:
            for question, run in list(self._runs.items()):
                if run.workspace_id == workspace_id:
                    run.stop()
                    del self._runs[question]

    def _collect(self) -> None:
        for question, run in list(self._runs.items()):
            answer = run.answer()
            if not answer.running:
                self._answers.put(question, answer)
                del self._runs[question]


@st.cache_resource(show_spinner=False)
def _estimator() -> _Estimator:
    return _Estimator()


def start(question: Question) -> None:
    """Begin an estimate, unless it is being made.

    Raises
    ------
    JobError
        If there is no such job, or the server makes too many estimates already.
    """
    _estimator().start(question)


def answer(question: Question) -> Answer:
    """Return what is known so far; an empty answer if nobody asked."""
    return _estimator().answer(question)


def stop(workspace_id: str) -> None:
    """End the estimates that a workspace asked for."""
    _estimator().stop(workspace_id)


def start_buttons(
    label: str, *, section: str, asking: str | None, disabled: bool = False
) -> tuple[bool, bool]:
    """Draw the buttons that start a job and that ask what it will cost.

    A worker process is prepared meanwhile, so that the first button works at once.

    Parameters
    ----------
    label
        Of the first button.
    section
        The page's; the keys of the buttons begin with it.
    asking
        What happens when asked, in words; there is no second button where it is None.
    disabled
        If the job cannot be done as it is set.

    Returns
    -------
    bool, bool
        Whether to start, and whether to estimate.
    """
    runs.prepare()
    with st.container(horizontal=True, gap="small"):
        is_started = st.button(
            label,
            type="primary",
            icon=":material/play_arrow:",
            key=f"{section}:start",
            disabled=disabled,
        )
        is_asked = asking is not None and st.button(
            "How long will it take?",
            icon=":material/timer:",
            key=f"{section}:estimate",
            disabled=disabled,
            help=asking,
        )
    return is_started, is_asked


def show(
    question: Question,
    *,
    trying: str,
    whole: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict,
) -> None:
    """Draw what a job will cost; look again every second while that is being estimated.

    Parameters
    ----------
    question
        The job; nothing is drawn if nobody has asked.
    trying
        What happens meanwhile, in words.
    whole
        Makes the estimate of the whole job of what was asked.
    """

    def draw() -> None:
        found = answer(question)
        if found.running:
            st.markdown(f":material/timer: {trying} …")
        elif is_running:
            st.rerun()
        elif found.estimate is not None:
            st.markdown(f":material/timer: {sentence(whole(found.estimate))}")
        elif found.error is not None:
            st.warning(f"No estimate is available. {plain(found.error)}")

    is_running = answer(question).running
    st.fragment(draw, run_every=runs.POLL_SECONDS if is_running else None)()


def sentence(estimate: Mapping[str, Any]) -> str:
    """Return an estimate in words, as Markdown.

    Examples
    --------
    >>> cost = {"total_seconds": 60, "total_low": 30, "total_high": 120, "memory_mb": 512.3}
    >>> sentence({**cost, "per_method": []})
    'This will take **about 1 min** and 512 MB of memory.'
    >>> sentence({**cost, "total_high": 230, "per_method": []})
    'This will take **30 s to 4 min** and 512 MB of memory.'
    """
    failed = [cost for cost in estimate["per_method"] if cost["seconds"] is None]
    if failed and len(failed) == len(estimate["per_method"]):
        return f"No estimate is available. {plain(failed[0]['error'] or '')}"
    memory = estimate["memory_mb"]
    text = f"This will take **{time_expected(estimate)}**"
    text += f" and {memory:,.0f} MB of memory." if memory is not None else "."
    if max((cost["busy"] for cost in estimate["per_method"]), default=1.0) > BUSY:
        text += " This machine is busy with other work. The run will be faster once that ends."
    return text


def time_expected(estimate: Mapping[str, Any]) -> str:
    """Return the time that a job will take, in words: a range where it is not certain."""
    return expected_duration(*(estimate[f"total_{end}"] for end in ("seconds", "low", "high")))
