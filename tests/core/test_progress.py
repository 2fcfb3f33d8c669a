"""A bar for work, in a terminal and in a notebook, and a clean end on an interrupt."""

import os
import signal
import threading

import numpy as np
import pandas as pd
import pytest

from pmae_core import progress
from pmae_core.errors import Cancelled
from pmae_core.evaluation import compare
from pmae_core.evaluation.tasks import TaskFinished, TaskProgress, TaskResult, TaskStarted
from pmae_core.events import (
    AnswerImproved,
    Event,
    FitProgress,
    ProgressUpdate,
    TrainingProgress,
    TrainingStarted,
)
from pmae_core.imputers import make_imputer
from pmae_core.progress import interruptible, progress_bar, watched
from tests.support.html_page import assert_safe_in_a_notebook

NASTY = "<script>alert(1)</script>"
ROUND = FitProgress(done=1, total=4, unit="round", eta_seconds=86.0)


def training(step, **changes):
    given = {
        "step": step,
        "total_steps": 2000,
        "prediction_loss": 1.25,
        "reconstruction_loss": None,
        "column_losses": [],
        "validation_score": 0.59649,
        "learning_rate": 0.1,
        "rows_per_second": 1.0,
        "eta_seconds": 0.2,
    }
    return TrainingProgress(**{**given, **changes})


def finished(n_done, eta_seconds=None):
    result = TaskResult(method="em", seed=0, status="done")
    return TaskFinished(
        result=result, n_done=n_done, n_tasks=6, from_disk=False, eta_seconds=eta_seconds
    )


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x", "y", "z"])
    frame.loc[::4, "y"] = np.nan
    return frame


# What events say


def test_events_say_how_far_the_work_is():
    assert Event().progress_update() is None
    assert ROUND.progress_update() == ProgressUpdate(
        done=1, total=4, unit="round", eta_seconds=86.0
    )
    assert training(9).progress_update().note == "held-out error 0.596"
    assert training(9, validation_score=None).progress_update().note == "error 1.25"
    assert training(9, validation_score=None, prediction_loss=None).progress_update().note == ""
    assert finished(2, 9.0).progress_update() == ProgressUpdate(
        done=2, total=6, unit="run", eta_seconds=9.0
    )


def test_some_events_bring_a_note_only():
    answer = AnswerImproved(members=["trees"], skill=0.514, column_skill={}, seconds=1.0)
    inner = TaskProgress(method="em", seed=1, progress=ROUND)
    notes = [event.progress_update() for event in (answer, TaskStarted(method="em", seed=1), inner)]

    assert [note.note for note in notes] == [
        "skill so far 0.51",
        "em, seed 1",
        "em, seed 1: 1 of 4 rounds",
    ]
    assert {note.total for note in notes} == {None}
    silent = AnswerImproved(members=["trees"], skill=None, column_skill={}, seconds=1.0)
    assert silent.progress_update() is None
    assert TaskProgress(method="em", seed=1, progress=silent).progress_update() is None


# In a terminal


@pytest.fixture
def terminal(monkeypatch, capsys):
    """A terminal of 80 letters; calling it returns the lines that were written to stderr."""
    monkeypatch.setenv("COLUMNS", "80")
    return lambda: [line for line in capsys.readouterr().err.splitlines() if line]


def never():
    return False


def test_progress_of_training_fits_a_terminal(terminal):
    started = TrainingStarted(
        first_step=0, total_steps=2000, device="cpu", precision="f", n_rows=9, n_parameters=9
    )

    with progress_bar("Fitting", never) as show:
        show(started)
        show(training(1999))

    (line,) = terminal()
    assert line.startswith("Fitting")
    assert "1999/2000 steps less than 1 s left held-out error 0.596" in line
    assert len(line.rstrip()) <= 80


def test_a_note_stays_with_the_count_it_came_after(terminal):
    with progress_bar("Comparing", never) as show:
        show(finished(2))
        show(TaskStarted(method="[red]em[/]", seed=1))

    (line,) = terminal()
    assert line.startswith("Comparing")
    assert "2/6 runs" in line and "[red]em[/], seed 1" in line
    assert "left" not in line


def test_nothing_is_shown_before_the_first_count_or_unasked(terminal):
    with progress_bar("Comparing", never) as show:
        show(TaskStarted(method="em", seed=1))
    with progress_bar("Fitting", never, is_shown=False) as show:
        show(ROUND)

    assert terminal() == []


# In a notebook


class Cell:
    """The output of a cell: what was displayed, and what has replaced it."""

    def __init__(self):
        self.contents = []

    def display(self, content, *, raw, display_id):
        assert raw and display_id
        self.contents.append(content)
        return self

    def update(self, content, *, raw):
        assert raw
        self.contents.append(content)


@pytest.fixture
def cell(monkeypatch):
    output = Cell()
    monkeypatch.setattr("IPython.display.display", output.display)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    return output


def test_a_notebook_shows_one_bar_with_its_end(cell, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_UPDATES", 0.0)

    with progress_bar("Fitting", never) as show:
        show(ROUND)
        show(training(1000))

    words = [content["text/plain"] for content in cell.contents]
    assert words == [
        "Fitting: 1 of 4 rounds, about 1 min 26 s left",
        "Fitting: 1,000 of 2,000 steps, less than 1 s left, held-out error 0.596",
        "Fitting: 1,000 of 2,000 steps, done in less than 1 s",
    ]
    page = assert_safe_in_a_notebook(cell.contents[0]["text/html"])
    assert "1 of 4 rounds, about 1 min 26 s left" in page.texts
    assert any("width: 25%" in value for _, value in page.attributes)


def test_updates_of_a_notebook_are_few_and_the_last_is_the_newest(cell):
    with progress_bar("Fitting", never) as show:
        for done in range(1, 1001):
            show(FitProgress(done=done, total=1000, unit="tree", eta_seconds=1.0))

    assert len(cell.contents) < 10
    assert cell.contents[-1]["text/plain"].startswith("Fitting: 1,000 of 1,000 trees, done")


def test_a_notebook_says_that_work_was_stopped(cell):
    with progress_bar("Fitting", lambda: True) as show:
        show(ROUND)
    with pytest.raises(RuntimeError), progress_bar("Fitting", never) as show:
        show(ROUND)
        raise RuntimeError

    ends = [content["text/plain"] for content in cell.contents if "stopped" in str(content)]
    assert ends == ["Fitting: 1 of 4 rounds, stopped after less than 1 s"] * 2


def test_names_are_escaped_in_a_notebook(cell, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_UPDATES", 0.0)

    with progress_bar("Comparing", never) as show:
        show(finished(2))
        show(TaskStarted(method=NASTY, seed=1))

    page = assert_safe_in_a_notebook(cell.contents[1]["text/html"])
    assert any(NASTY in text for text in page.texts)


# Interrupts


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_interrupt_is_noted_and_the_second_stops_at_once():
    before = signal.getsignal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), interruptible() as is_interrupted:
        assert not is_interrupted()
        interrupt()
        assert is_interrupted()
        interrupt()

    assert signal.getsignal(signal.SIGINT) is before


def test_work_in_another_thread_leaves_signals_alone():
    asked = []

    def work():
        with interruptible() as is_interrupted:
            asked.append(is_interrupted())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert asked == [False]


def test_without_progress_work_is_as_it_was(terminal):
    before, events = signal.getsignal(signal.SIGINT), []

    with watched(
        "Fitting", progress=False, callbacks=(events.append,), cancel=lambda: True
    ) as work:
        assert signal.getsignal(signal.SIGINT) is before
        assert work.callbacks == (events.append,)
        assert work.cancel()
    with watched("Fitting", progress=False, callbacks=(), cancel=None) as work:
        assert not work.cancel()

    assert terminal() == []


def test_own_callbacks_and_cancellation_stay_beside_the_bar(terminal):
    events = []

    with watched(
        "Fitting", progress=True, callbacks=(events.append,), cancel=lambda: bool(events)
    ) as work:
        assert not work.cancel()
        for callback in work.callbacks:
            callback(ROUND)
        assert work.cancel()

    assert events == [ROUND]
    assert "1/4 rounds" in terminal()[0]


# The work itself


def test_fits_imputations_and_comparisons_show_a_bar_if_asked(table, terminal):
    imputer = make_imputer("em", random_state=0).fit(table)
    imputer.sample(table, 2)
    compare(table, ["naive", "em"], seeds=[0])
    assert terminal() == []

    imputer.fit(table, progress=True)
    imputer.sample(table, 2, progress=True)
    compare(table, ["naive", "em"], seeds=[0], progress=True)
    make_imputer("em").fit_transform(table, progress=True)

    titles = [line.split()[0] for line in terminal()]
    assert titles == ["Fitting", "Imputing", "Comparing", "Fitting"]


@pytest.mark.parametrize(
    "work",
    [
        lambda table, stop: make_imputer("em", random_state=0).fit(
            table, callbacks=[stop], progress=True
        ),
        lambda table, stop: (
            make_imputer("em", random_state=0)
            .fit(table)
            .sample(table, 9, callbacks=[stop], progress=True)
        ),
        lambda table, stop: compare(
            table, ["naive", "em"], seeds=[0], callbacks=[stop], progress=True
        ),
    ],
)
def test_an_interrupt_ends_work_cleanly(table, terminal, work):
    events = []

    def stop(event):
        events.append(event)
        if len(events) == 1:
            interrupt()

    with pytest.raises(Cancelled):
        work(table, stop)
    assert 1 <= len(events) <= 3


def test_an_interrupted_blend_keeps_its_last_answer(table, terminal):
    def stop(event):
        if isinstance(event, AnswerImproved):
            interrupt()

    imputer = make_imputer("pmae", preset="fast", random_state=0)
    with pytest.raises(Cancelled):
        imputer.fit(table, callbacks=[stop], progress=True)

    assert imputer.transform(table).notna().all(axis=None)
