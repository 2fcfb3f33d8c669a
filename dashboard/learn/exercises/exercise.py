"""What all exercises have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dashboard.components.stage.scene import Scene
from dashboard.learn import Lesson
from dashboard.learn.progress import SECTION, start_again
from dashboard.state import memory
from dashboard.text import plain

_FIXED_SETTINGS: ContextVar[Mapping[str, Any] | None] = ContextVar("fixed_settings", default=None)


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
    """

    right: str
    question: Scene
    solution: Scene
    sentence: str
    luck: Scene | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def choose_setting(
    widget: Callable[..., Any], label: str, lesson: Lesson, name: str, **kwargs: Any
) -> Any:
    """Draw a control that changes the exercise and opens the question again.

    Within `fixed_settings` it only says what the setting is.
    """
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
def fixed_settings(settings: Mapping[str, Any]) -> Iterator[None]:
    """Let exercises have these settings instead of asking: for classes and on paper.

    No workspace is read or written.
    """
    token = _FIXED_SETTINGS.set(settings)
    try:
        yield
    finally:
        _FIXED_SETTINGS.reset(token)


def _show_fixed(label: str, value: Any, *, default: Any, **kwargs: Any) -> Any:
    fitted = memory.fitted(value, default, kwargs)
    words = kwargs.get("format_func", str)(fitted)
    st.caption(f"{label}{'' if label.endswith('?') else ':'} **{plain(words)}**")
    return fitted
