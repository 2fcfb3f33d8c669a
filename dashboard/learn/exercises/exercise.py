"""What all exercises have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dashboard.figures import lessons as figures
from dashboard.learn import Lesson
from dashboard.learn.progress import SECTION, start_again
from dashboard.shell.theme import IMPUTED, NEUTRAL
from dashboard.state import memory
from dashboard.widgets import show_figure


@dataclass(frozen=True)
class Exercise:
    """A lesson with its present settings.

    Attributes
    ----------
    right
        The key of the right answer.
    show
        Draws the picture of the question or, if it is given True, that of the solution.
    solve
        Draws the rest of the solution, below.
    settings
        What the exercise depends on besides the seed; links contain it.
    """

    right: str
    show: Callable[[bool], None]
    solve: Callable[[], None]
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


def show_repetitions(
    lesson: Lesson,
    estimate: str,
    *,
    of: str,
    repeated: np.ndarray,
    truth: float,
    imputed: tuple[str, float],
    how: str,
) -> None:
    """Draw an estimate in many repetitions: chance scatters it, bias moves it."""
    name, value = imputed
    marks = {"truth": (truth, NEUTRAL, "dash"), name: (value, IMPUTED, "solid")}
    show_figure(
        figures.repetitions_figure(repeated, marks, f"{estimate} of {of}"),
        question="Was it chance?",
        key=f"lesson-{lesson.name}-repetitions",
        data=pd.DataFrame({estimate: repeated}),
        caption=f"{how} Chance scatters the {estimate}; bias moves all of it away from the truth.",
    )
