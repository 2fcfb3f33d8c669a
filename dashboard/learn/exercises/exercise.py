"""What all exercises have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.components.stage.scene import Scene
from dashboard.learn import LARGEST_SEED, Lesson
from dashboard.learn.progress import SECTION, start_again
from dashboard.state import memory
from dashboard.state.allowed_values import AllowedValues
from dashboard.text import plain
from dashboard.widgets import choose_seed

_FIXED_SETTINGS: ContextVar[Mapping[str, Any] | None] = ContextVar("fixed_settings", default=None)
_FIXED_ROWS: ContextVar[pd.DataFrame | None] = ContextVar("fixed_rows", default=None)


@dataclass(frozen=True)
class Exercise:
    """A lesson with its present settings.

    Attributes
    ----------
    right
        The key of the right answer.
    question
        The picture of the question; often ``solution.first()``.
    solution
        The picture that the question's becomes: its last state is the answer. With a slider,
        the reader moves through it.
    sentence
        The result in numbers (Markdown), shown with the verdict.
    luck
        The same in many repetitions: was it luck?
    settings
        What the exercise depends on besides the seed; links contain it.
    rows
        The rows of the reader's own table that it is made from; none if it simulates a table.
    """

    right: str
    question: Scene
    solution: Scene
    sentence: str
    luck: Scene | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    rows: pd.DataFrame | None = None


def choose_lesson_seed(lesson: Lesson) -> int:
    """Ask for the seed of a lesson's table; another one opens the question again."""
    return choose_seed(
        section=SECTION,
        name=f"{lesson.name}_seed",
        default=lesson.first_seed,
        largest=LARGEST_SEED,
        on_change=lambda: start_again(lesson),
        help="The same seed makes the same table for everyone.",
    )


def choose_setting(
    widget: Callable[..., Any],
    label: str,
    lesson: Lesson,
    name: str,
    allowed: AllowedValues,
    **kwargs: Any,
) -> Any:
    """Draw a control that changes the exercise and opens the question again.

    Within `fixed_settings` it only says what the setting is.
    """
    kwargs = allowed.limits() | kwargs
    fixed = _FIXED_SETTINGS.get()
    if fixed is not None:
        return _show_fixed(label, fixed.get(name, kwargs["default"]), **kwargs)
    return memory.remembered(
        widget,
        label,
        section=SECTION,
        name=f"{lesson.name}_{name}",
        on_change=lambda: start_again(lesson),
        **kwargs,
    )


def link_settings(lesson: Lesson, seed: int, exercise: Exercise) -> dict[str, Any]:
    """Return what a link has to carry so that it opens this exercise."""
    return {
        "lesson": lesson.name,
        f"{lesson.name}_seed": seed,
        **{f"{lesson.name}_{name}": value for name, value in exercise.settings.items()},
    }


@contextmanager
def fixed_settings(settings: Mapping[str, Any], rows: pd.DataFrame | None = None) -> Iterator[None]:
    """Let exercises have these settings instead of asking: for classes and on paper.

    With the `rows` of an exercise on somebody's own table, no workspace is needed.
    """
    tokens = _FIXED_SETTINGS.set(settings), _FIXED_ROWS.set(rows)
    try:
        yield
    finally:
        _FIXED_SETTINGS.reset(tokens[0])
        _FIXED_ROWS.reset(tokens[1])


def fixed_rows() -> pd.DataFrame | None:
    """Return the rows that an exercise on somebody's own table is to have, if they are fixed."""
    return _FIXED_ROWS.get()


def _show_fixed(label: str, value: Any, *, default: Any, **kwargs: Any) -> Any:
    fitted = memory.fitted(value, default, kwargs)
    words = kwargs.get("format_func", str)(fitted)
    st.caption(f"{label}{'' if label.endswith('?') else ':'} **{plain(words)}**")
    return fitted
