"""Short lessons on missing data: one a module, each a story, a question and its solution.

A lesson computes with the library itself on small tables that a seed makes. It knows nothing of
Streamlit; ``pages/learn.py`` draws it.
"""

from dashboard.learn import masking, mechanisms, patterns, reasons, slopes, worlds
from dashboard.learn.lesson import LARGEST_SEED, Lesson

LESSONS: tuple[Lesson, ...] = (
    reasons.LESSON,
    mechanisms.LESSON,
    patterns.LESSON,
    slopes.LESSON,
    masking.LESSON,
    worlds.LESSON,
)
"""In the order in which they build on each other."""

__all__ = ["LARGEST_SEED", "LESSONS", "Lesson"]
