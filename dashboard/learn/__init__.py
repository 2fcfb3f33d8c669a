"""Short lessons on missing data: one per module, each a story, a question and its solution.

A lesson computes with the library itself on small tables made from a seed. It knows nothing of
Streamlit; ``dashboard.learn.exercises`` draws it.
"""

from dashboard.learn import (
    auxiliary,
    indicator,
    judge,
    leakage,
    masking,
    mechanisms,
    outcome,
    own,
    patterns,
    reasons,
    rubin,
    sensitivity,
    slopes,
    worlds,
)
from dashboard.learn.lesson import LARGEST_SEED, Lesson

LESSONS: tuple[Lesson, ...] = (
    reasons.LESSON,
    mechanisms.LESSON,
    patterns.LESSON,
    slopes.LESSON,
    own.LESSON,
    masking.LESSON,
    worlds.LESSON,
    sensitivity.LESSON,
    auxiliary.LESSON,
    judge.LESSON,
    outcome.LESSON,
    indicator.LESSON,
    rubin.LESSON,
    leakage.LESSON,
)
"""Each builds on those before it."""

__all__ = ["LARGEST_SEED", "LESSONS", "Lesson"]
