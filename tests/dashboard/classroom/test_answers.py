import io

import pandas as pd
import pytest

from dashboard.classroom.answers import answer_table, answers_csv, counts, lesson_named
from dashboard.classroom.store import ClassQuestion, Desk

QUESTION = ClassQuestion(lesson="slopes", seed=3, settings={"cause": "outcome"}, right="flatter")
NEXT = ClassQuestion(lesson="worlds", seed=0, settings={}, right="neither")


@pytest.fixture
def desk(tmp_path):
    """Give a class of three in which two answered the first question, and one the second."""
    opened, _ = Desk.start(QUESTION, tmp_path)
    room = opened.classroom
    ada, bob, _ = room.join("=1+1"), room.join(), room.join("late")
    opened.begin()
    room.answer(ada, 0, "flatter")
    room.answer(bob, 0, "same")
    opened.ask(NEXT, after=0)
    room.answer(bob, 1, "neither")
    return opened


def test_every_possible_answer_is_counted(desk):
    found = counts(desk.classroom, 0, lesson_named("slopes"))

    assert list(found) == list(lesson_named("slopes").answers)
    assert found["flatter"] == found["same"] == 1
    assert sum(found.values()) == 2


def test_the_table_has_all_answers_to_all_questions(desk):
    table = answer_table(desk.classroom)

    assert table[["question", "student", "correct"]].values.tolist() == [
        [1, 1, True],
        [1, 2, False],
        [2, 2, True],
    ]
    assert table["lesson"].tolist()[::2] == [
        lesson_named("slopes").title,
        lesson_named("worlds").title,
    ]
    assert table["answer"][0] == lesson_named("slopes").answers["flatter"]


def test_a_spreadsheet_runs_no_name_as_a_formula(desk):
    read = pd.read_csv(io.BytesIO(answers_csv(desk.classroom)), keep_default_na=False)

    assert read["name"].tolist() == ["'=1+1", "", ""]


def test_a_class_without_answers_has_an_empty_table(tmp_path):
    opened, _ = Desk.start(QUESTION, tmp_path)

    assert answers_csv(opened.classroom).decode().strip().split(",")[0] == "question"
    assert answer_table(opened.classroom).empty
