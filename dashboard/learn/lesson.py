"""What all lessons have in common: a story, a question with answers, and points to remember."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

LARGEST_SEED = 9_999


def independent_numbers(seed: int) -> np.random.Generator:
    """Return random numbers independent of those of a table made from the same seed.

    With one generator for both, missingness would depend on the values of the table.
    """
    return np.random.default_rng([seed, 1])


@dataclass(frozen=True)
class Lesson:
    """The words of one lesson.

    Attributes
    ----------
    name
        Short and permanent: links contain it.
    title
        The title of the lesson.
    story
        The situation, before anything is asked (Markdown).
    question
        What the reader has to predict (Markdown).
    answers
        The answers to choose from, by a permanent key.
    points
        What to remember, shown with the solution (Markdown).
    simplified
        What the lesson leaves out or makes simpler than it is (Markdown).
    first_seed
        Makes the table that a reader meets first: a typical one, so that chance is not the lesson.
    """

    name: str
    title: str
    story: str
    question: str
    answers: Mapping[str, str]
    points: tuple[str, ...]
    simplified: str = ""
    first_seed: int = 0
