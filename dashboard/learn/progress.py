"""Which lessons a visitor has solved, and which questions are open."""

from __future__ import annotations

from typing import Any

from dashboard.learn import LESSONS, Lesson
from dashboard.state import memory, session

SECTION = "learn"


def solved() -> list[str]:
    """Return the names of the lessons whose solution was shown."""
    kept = session.workspace().get(SECTION).get("done", [])
    if not isinstance(kept, list):
        return []
    return [lesson.name for lesson in LESSONS if lesson.name in kept]


def is_revealed(lesson: Lesson) -> bool:
    """Return whether the visitor asked for the solution."""
    return session.workspace().get(SECTION).get(f"{lesson.name}_revealed") is True


def reveal(lesson: Lesson) -> None:
    """Show the solution, and count the lesson as solved."""
    names = sorted({*solved(), lesson.name})
    memory.remember(SECTION, **{f"{lesson.name}_revealed": True, "done": names})


def start_again(lesson: Lesson, seed: int | None = None) -> None:
    """Open the question again, with another seed if one is given."""
    values = unanswered(lesson)
    if seed is not None:
        values[f"{lesson.name}_seed"] = seed
    memory.remember(SECTION, **values)


def unanswered(lesson: Lesson) -> dict[str, Any]:
    """Return the settings of a question that nobody has answered."""
    return {f"{lesson.name}_answer": None, f"{lesson.name}_revealed": False}
