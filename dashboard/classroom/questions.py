"""Exercises as questions of a class, and back."""

from __future__ import annotations

from dashboard.classroom.answers import lesson_named
from dashboard.classroom.store import Question
from dashboard.learn import Lesson
from dashboard.learn.exercises import EXERCISES
from dashboard.learn.exercises.exercise import Exercise, fixed_settings


def question_of(lesson: Lesson, seed: int, exercise: Exercise) -> Question:
    """Return an exercise as a question for a class."""
    return Question(
        lesson=lesson.name, seed=seed, settings=dict(exercise.settings), right=exercise.right
    )


def exercise_of(question: Question) -> Exercise:
    """Return the exercise of a question, and draw what it says about its settings."""
    lesson = lesson_named(question.lesson)
    with fixed_settings(question.settings):
        return EXERCISES[lesson.name](lesson, question.seed)
