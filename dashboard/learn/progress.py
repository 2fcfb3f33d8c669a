"""Which lessons a visitor has solved, and which questions are open."""

from __future__ import annotations

import secrets
from typing import Any, Literal

import streamlit as st

from dashboard.learn import LESSONS, Lesson
from dashboard.state import memory, session

SECTION = "learn"

Event = Literal["opened", "revealed"]

_EVENT_KEY = f"_{SECTION}:event"


def solved() -> list[str]:
    """Return the names of the lessons whose solution was shown."""
    kept = session.workspace().get(SECTION).get("done", [])
    if not isinstance(kept, list):
        return []
    return [lesson.name for lesson in LESSONS if lesson.name in kept]


def open_lesson(lesson: Lesson) -> None:
    """Go to a lesson."""
    memory.remember(SECTION, lesson=lesson.name)
    note("opened")


def revealed_answer(lesson: Lesson) -> str | None:
    """Return the guess of a visitor who asked for the solution; None while the question is open."""
    kept = session.workspace().get(SECTION)
    answer = kept.get(f"{lesson.name}_answer")
    is_revealed = kept.get(f"{lesson.name}_revealed") is True
    is_answer = isinstance(answer, str) and answer in lesson.answers
    return answer if is_revealed and is_answer else None


def reveal(lesson: Lesson) -> None:
    """Show the solution, and count the lesson as solved."""
    names = sorted({*solved(), lesson.name})
    memory.remember(SECTION, **{f"{lesson.name}_revealed": True, "done": names})
    memory.draw_anew(SECTION, "lesson")  # the list marks the lesson as solved
    note("revealed")


def start_again(lesson: Lesson, seed: int | None = None) -> None:
    """Open the question again, with another seed if one is given."""
    values = unanswered(lesson)
    if seed is not None:
        values[f"{lesson.name}_seed"] = seed
    memory.remember(SECTION, **values)


def unanswered(lesson: Lesson) -> dict[str, Any]:
    """Return the settings of a question that nobody has answered."""
    return {f"{lesson.name}_answer": None, f"{lesson.name}_revealed": False}


def note(event: Event) -> None:
    """Note what the reader just did, for the run of the page that follows."""
    st.session_state[_EVENT_KEY] = (event, secrets.token_hex(8))


def occasion(event: Event) -> str | None:
    """Return what tells this event from others of its kind; None if it was not the last one."""
    noted, which = st.session_state.get(_EVENT_KEY, (None, None))
    return which if noted == event else None
