import numpy as np
import pandas as pd
import pytest

from dashboard.data import summary
from dashboard.state.table_state import OpenTable
from pmae_core.table import Schema


def opened(frame, **roles):
    return OpenTable("t", "digest", frame, Schema.infer(frame, roles), {}, "a test")


@pytest.fixture
def frame():
    n = 40
    return pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": [20 + i % 7 for i in range(n)],
            "income": [None] * 38 + [1.5, 2.5],
            "town": ["Ulm", None, "Bonn", None] * (n // 4),
            "same": ["x"] * n,
            "empty": [None] * n,
        }
    )


def test_the_answer_says_how_much_is_missing_and_where_most(frame):
    assert summary.answer(opened(frame)) == (
        "**40 rows and 6 columns; 98 cells (40.8%) are missing.** "
        "3 of 6 columns have missing values, `empty` the most (100%)."
    )


def test_remarkable_columns(frame):
    assert summary.remarkable_columns(opened(frame)) == (
        "`income` is almost empty; `empty` is empty; `same` is constant; "
        "`id` looks like an identifier."
    )
    assert summary.remarkable_columns(opened(frame[["age"]])) == ""


def test_many_labels_of_an_identifier_are_not_remarkable():
    labels = [f"k{i}" for i in range(200)]
    table = opened(pd.DataFrame({"id": labels, "label": [*labels[:120], *labels[:80]]}))

    assert summary.remarkable_columns(table) == (
        "`id` looks like an identifier; `label` has more than 100 labels."
    )


def test_nothing_missing(frame):
    answer = summary.answer(opened(frame[["age"]]))

    assert answer == "**40 rows and 1 column; nothing is missing.**"


def test_one_of_everything():
    table = opened(pd.DataFrame({"a": [1.0, None], "b": [None, 2.0]}))
    assert summary.answer(table).endswith("All 2 columns have missing values, `a` the most (50%).")

    table = opened(pd.DataFrame({"a": [1.0, None], "b": [1.0, 2.0]}))
    assert "1 cell (25%) is missing.** 1 of 2 columns has missing values: `a` (50%)." in (
        summary.answer(table)
    )


def test_names_are_shown_as_text():
    frame = pd.DataFrame({"*<b>x</b>*": [None, None], "b": [1, 2]})

    assert "`*<b>x</b>*` is empty" in summary.remarkable_columns(opened(frame))


def test_cautions_say_what_to_do(frame):
    def all_words(table):
        return " ".join(summary.cautions(table))

    assert summary.cautions(opened(frame)) == []
    assert "only one column" in all_words(opened(frame[["age"]]))
    assert "no column to learn from" in all_words(opened(frame[["id", "same", "empty"]]))
    assert "no column to learn from" in all_words(
        opened(frame[["age", "town"]], age="ignored", town="ignored")
    )
    assert "hardly" in all_words(opened(frame.head(5)))
    infinite = frame.assign(age=[np.inf, *range(39)])
    assert "`age` holds infinite numbers" in all_words(opened(infinite))


def test_remarks_on_columns(frame):
    table = opened(frame)

    assert {str(c.name): summary.remarks(c) for c in table.schema} == {
        "id": "looks like an identifier",
        "age": "",
        "income": "almost empty",
        "town": "",
        "same": "constant",
        "empty": "empty",
    }


def test_infinities_in_nullable_columns_are_found():
    frame = pd.DataFrame({"a": pd.array([1.0, None, np.inf], dtype="Float64"), "b": [1, 2, 3]})

    assert summary.infinite_columns(frame) == ["a"]
