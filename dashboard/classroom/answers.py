"""What a class answered: counts for the board, and a table for a spreadsheet."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pandas as pd

from dashboard.classroom.store import Classroom
from dashboard.learn import LESSONS, Lesson
from dashboard.text import spoken
from pmae_core.table.io.formulas import escape_formulas

COLUMNS = ("question", "lesson", "seed", "student", "name", "answer", "correct", "answered_at")

_BY_NAME = {lesson.name: lesson for lesson in LESSONS}


def lesson_named(name: str) -> Lesson:
    """Return a lesson by its name."""
    return _BY_NAME[name]


def counts(classroom: Classroom, number: int, lesson: Lesson) -> dict[str, int]:
    """Return how many students gave each answer to a question, by its key."""
    given = Counter(answer.key for answer in classroom.answers(number).values())
    return {key: given[key] for key in lesson.answers}


def answer_table(classroom: Classroom) -> pd.DataFrame:
    """Return one row per question and student who answered it, in the order of joining."""
    students = list(enumerate(classroom.students(), start=1))
    rows = []
    for number, question in enumerate(classroom.state().questions):
        lesson, answers = lesson_named(question.lesson), classroom.answers(number)
        for place, student in students:
            if student.id in answers:
                answer = answers[student.id]
                rows.append(
                    (
                        number + 1,
                        spoken(lesson.title),
                        question.seed,
                        place,
                        student.name,
                        spoken(lesson.answers.get(answer.key, answer.key)),
                        answer.key == question.right,
                        datetime.fromtimestamp(answer.at, UTC).isoformat(timespec="seconds"),
                    )
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def answers_csv(classroom: Classroom) -> bytes:
    """Return the table as CSV in which no name is run as a formula."""
    return escape_formulas(answer_table(classroom)).to_csv(index=False).encode()
