"""What all exercises have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.components.stage.scene import Scene
from dashboard.learn import Lesson
from dashboard.learn.progress import SECTION, start_again
from dashboard.state import memory


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
    """Draw a control that changes the exercise and opens the question again."""
    return memory.remembered(
        widget,
        label,
        section=SECTION,
        name=f"{lesson.name}_{name}",
        on_change=lambda: start_again(lesson),
        **kwargs,
    )
