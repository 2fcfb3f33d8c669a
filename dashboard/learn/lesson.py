"""What all lessons have in common: a story, a question with answers, and what to remember."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

LARGEST_SEED = 9_999


def luck(seed: int) -> np.random.Generator:
    """Return random numbers that have nothing to do with those of a table of the same seed.

    With one generator for both, the first rows drawn would also be the first to get holes.
    """
    return np.random.default_rng([seed, 1])


@dataclass(frozen=True)
class Lesson:
    """The words of one lesson.

    Attributes
    ----------
    name
        Short and lasting: it stands in links.
    title
        What the lesson is called.
    story
        The situation, before anything is asked (Markdown).
    question
        What the reader predicts (Markdown).
    answers
        The answers to choose from: a lasting key, and words.
    takeaways
        What to remember, shown with the solution (Markdown).
    """

    name: str
    title: str
    story: str
    question: str
    answers: Mapping[str, str]
    takeaways: tuple[str, ...]
