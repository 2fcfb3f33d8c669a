"""The lessons on the page: each module draws the settings, picture and solution of one lesson."""

from collections.abc import Callable, Mapping

from dashboard.learn import LARGEST_SEED, LESSONS, Lesson
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
from dashboard.learn.progress import unanswered
from dashboard.state.allowed_values import AllowedValues, Choice, NumberWithin

_MODULES = {
    "reasons": reasons,
    "mechanisms": mechanisms,
    "patterns": patterns,
    "slopes": slopes,
    "own": own,
    "masking": masking,
    "worlds": worlds,
    "sensitivity": sensitivity,
    "auxiliary": auxiliary,
    "judge": judge,
    "outcome": outcome,
    "indicator": indicator,
    "rubin": rubin,
    "leakage": leakage,
}

EXERCISES: Mapping[str, Callable[[Lesson, int], Exercise]] = {
    name: module.exercise for name, module in _MODULES.items()
}
"""Draws the settings of a lesson for a seed and returns the exercise, by name."""


def lesson_settings() -> dict[str, AllowedValues]:
    """Return the settings of all lessons that links may carry, with the values each may have."""
    allowed: dict[str, AllowedValues] = {"lesson": Choice([lesson.name for lesson in LESSONS])}
    for lesson in LESSONS:
        allowed |= {name: Choice([value]) for name, value in unanswered(lesson).items()}
        allowed[f"{lesson.name}_seed"] = NumberWithin(0, LARGEST_SEED)
        for name, values in _MODULES[lesson.name].SETTINGS.items():
            allowed[f"{lesson.name}_{name}"] = values
    return allowed
