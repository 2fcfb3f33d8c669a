import pandas as pd
import pytest

from dashboard.data.questions import (
    dismiss,
    dismissed_topics,
    find_role_suggestions,
    open_questions,
)
from dashboard.state.workspace import Workspace
from pmae_core.table import SentinelSuggestion

N = 60


@pytest.fixture
def own(tmp_path):
    return Workspace.create(tmp_path)


def opened(own, **columns):
    own.save_table(pd.DataFrame(columns), name="t.csv", source="a test")
    return own.table()


def codes(first):
    """Return cells that look like codes and are read as numbers: whole, unordered, with gaps."""
    return [(first, first + 4, first + 5)[i % 3] for i in range(N)]


def questions(table, sentinels=(), dismissed=()):
    return open_questions(table, sentinels, find_role_suggestions(table), dismissed)


def sentinel(column, value, n=3):
    return SentinelSuggestion(column, value, n, "It is often written so.")


def test_a_plain_table_raises_no_question(own):
    assert questions(opened(own, x=[0.5 * i for i in range(N)])) == []


def test_a_value_that_may_mean_missing(own):
    table = opened(own, bmi=[0.5 * i for i in range(N)])

    (question,) = questions(table, [sentinel("bmi", -999.0, 12)])

    assert question.text == "`-999` appears in 12 cells of `bmi`: missing?"
    assert question.missing == (("bmi", -999.0),)
    assert (question.yes, question.no) == ("Yes", "No")
    assert questions(table, [sentinel("bmi", -999.0, 12)], question.topics) == []


def test_many_values_are_one_question_with_the_single_ones_behind_it(own):
    table = opened(own, x=[0.5 * i for i in range(N)])
    found = [sentinel("a", -999), sentinel("a", -9), sentinel("b", "?", 1)]

    (question,) = questions(table, found)

    assert question.text == (
        "3 values in 2 columns may mean missing, such as `-999` in `a`: count them as missing?"
    )
    assert question.missing == (("a", -999), ("a", -9), ("b", "?"))
    assert [part.text for part in question.parts][2] == "`?` appears in 1 cell of `b`: missing?"
    two = questions(table, found, question.topics[:1])
    assert [question.topics for question in two] == [(topic,) for topic in question.topics[1:]]


def test_two_values_a_category(own):
    (question,) = questions(opened(own, trt=[1, 2, 2, 1, 1, 2]))

    assert question.text == "`trt` has two values, 1 and 2: a category?"
    assert question.roles == {"trt": "categorical"}


def test_words_of_a_scale_are_levels(own):
    words = ["mild", "severe", "none", "none"] * 3

    (question,) = questions(opened(own, pain=words))
    assert question.text == "`pain` has the ordered levels none, mild and severe: ordinal?"
    assert question.roles == {"pain": "ordinal"}

    (together,) = questions(opened(own, a=words, b=words, c=words, d=words))
    assert together.text == (
        "4 columns hold levels in order (`a`, `b`, `c` and 1 more): make them ordinal?"
    )


def test_columns_that_look_like_codes(own):
    table = opened(own, zip=codes(11), region=codes(20), arm=codes(30), branch=codes(40))

    (question,) = questions(table)

    assert question.text == (
        "4 columns look like codes (`zip`, `region`, `arm` and 1 more): make them categories?"
    )
    assert question.roles == dict.fromkeys(("zip", "region", "arm", "branch"), "categorical")
    assert len(question.parts) == 4


def test_yes_and_no(own):
    table = opened(own, **dict.fromkeys(("a", "b", "c"), ["yes", "no"] * 30))

    (question,) = questions(table)

    assert question.text == (
        "3 columns hold only yes and no (`a`, `b` and `c`): make them boolean?"
    )
    assert set(question.roles.values()) == {"boolean"}
    assert question.parts[0].text == "`a` has two values, no and yes: a boolean?"


def test_whole_numbers_read_as_categories_may_be_amounts(own):
    table = opened(own, stage=[1 + i % 4 for i in range(N)])

    (question,) = questions(table)

    assert question.text == "`stage` holds few whole numbers: codes or amounts?"
    assert question.roles == {"stage": "numerical"}


def test_a_column_whose_role_was_chosen_is_not_asked_about(own):
    opened(own, zip=codes(11), stage=[1 + i % 4 for i in range(N)])
    own.set_roles({"zip": "numerical", "stage": "categorical"})

    assert questions(own.table()) == []


def test_names_and_values_are_shown_as_text(own):
    table = opened(own, **{"`a` **zip**": codes(11), "*b*": ["yes", "no"] * 30})

    texts = [question.text for question in questions(table, [sentinel("*b*", "**?**")])]

    assert "`**?**` appears in 3 cells of `*b*`: missing?" in texts
    assert any(text.startswith("`` `a` **zip** `` holds whole numbers") for text in texts)


def test_what_is_dismissed_is_kept_by_table(own):
    one = opened(own, x=[1, 2, 3]).state
    dismiss(own, one, ["role x", "missing x -9"])
    dismiss(own, one, ["role y"])

    other = opened(own, x=[1, 2, 4]).state

    assert dismissed_topics(own, one) == {"role x", "missing x -9", "role y"}
    assert dismissed_topics(own, other) == set()
