"""The lessons on the page: each module draws the settings, picture and solution of one lesson."""

from collections.abc import Callable, Mapping

from dashboard.learn import Lesson
from dashboard.learn.exercises import (
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
from dashboard.learn.exercises.exercise import Exercise

EXERCISES: Mapping[str, Callable[[Lesson, int], Exercise]] = {
    "reasons": reasons.exercise,
    "mechanisms": mechanisms.exercise,
    "patterns": patterns.exercise,
    "slopes": slopes.exercise,
    "own": own.exercise,
    "masking": masking.exercise,
    "worlds": worlds.exercise,
    "sensitivity": sensitivity.exercise,
    "auxiliary": auxiliary.exercise,
    "judge": judge.exercise,
    "outcome": outcome.exercise,
    "indicator": indicator.exercise,
    "rubin": rubin.exercise,
    "leakage": leakage.exercise,
}
"""Draws the settings of a lesson for a seed and returns the exercise, by name."""
