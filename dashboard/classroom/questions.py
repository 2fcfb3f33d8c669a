"""Exercises as questions of a class, and back."""

from __future__ import annotations

import json

import streamlit as st

from dashboard.classroom.answers import lesson_named
from dashboard.classroom.store import ClassQuestion, Classroom, ClassState
from dashboard.learn import Lesson
from dashboard.learn.exercises import EXERCISES
from dashboard.learn.exercises.exercise import Exercise, fixed_settings


def question_of(lesson: Lesson, seed: int, exercise: Exercise) -> ClassQuestion:
    """Return an exercise as a question for a class."""
    return ClassQuestion(
        lesson=lesson.name, seed=seed, settings=dict(exercise.settings), right=exercise.right
    )


def present_exercise(classroom: Classroom, state: ClassState) -> Exercise:
    """Return the exercise of the present question, and draw what it says about its settings."""
    return _exercise(json.dumps(state.question.model_dump()), state.number, classroom)


# Once for all students; what is drawn meanwhile is drawn again for each of them.
@st.cache_resource(
    max_entries=64, show_spinner=False, hash_funcs={Classroom: lambda room: room.code}
)
def _exercise(content: str, number: int, classroom: Classroom) -> Exercise:
    question = ClassQuestion.read(json.loads(content))
    lesson = lesson_named(question.lesson)
    with fixed_settings(question.settings, classroom.rows(number)):
        return EXERCISES[lesson.name](lesson, question.seed)
