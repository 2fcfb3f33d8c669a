import numpy as np
import pandas as pd
import pytest

from dashboard.data import summary
from dashboard.state.table_state import OpenTable
from pmae_core.table import Schema, suggest_sentinels


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


def test_the_summary_in_words(frame):
    assert summary.sentence_about_holes(opened(frame)) == (
        "3 of 6 columns have holes; 1 is almost empty (`income`); `empty` is empty; "
        "`same` is constant; `id` looks like an identifier."
    )
    assert summary.sentence_about_cells(opened(frame)) == (
        "40 rows and 6 columns; 98 cells (40.8%) are missing."
    )


def test_a_table_without_holes(frame):
    table = opened(frame[["age"]])

    assert summary.sentence_about_holes(table) == "No column has holes."
    assert summary.sentence_about_cells(table) == "40 rows and 1 column; nothing is missing."


def test_one_of_everything():
    table = opened(pd.DataFrame({"a": [1.0, None], "b": [None, 2.0]}))

    assert summary.sentence_about_holes(table).startswith("All 2 columns have holes")
    table = opened(pd.DataFrame({"a": [1.0, None], "b": [1.0, 2.0]}))
    assert "1 cell (25%) is missing" in summary.sentence_about_cells(table)
    assert summary.sentence_about_holes(table).startswith("1 of 2 columns has holes")


def test_names_are_shown_as_text():
    frame = pd.DataFrame({"*<b>x</b>*": [None, None], "b": [1, 2]})

    assert "`*<b>x</b>*` is empty" in summary.sentence_about_holes(opened(frame))


def test_cautions_say_what_to_do(frame):
    def all_words(table, suggestions=()):
        return " ".join(summary.cautions(table, suggestions))

    assert summary.cautions(opened(frame)) == []
    assert "only one column" in all_words(opened(frame[["age"]]))
    assert "no column to learn from" in all_words(opened(frame[["id", "same", "empty"]]))
    assert "no column to learn from" in all_words(
        opened(frame[["age", "town"]], age="ignored", town="ignored")
    )
    assert "hardly" in all_words(opened(frame.head(5)))
    infinite = frame.assign(age=[np.inf, *range(39)])
    assert "`age` holds infinite numbers" in all_words(opened(infinite))
    coded = frame.assign(age=[-999, *range(20, 59)])
    words = all_words(opened(coded), suggest_sentinels(coded))
    assert "1 value may stand for missing ones, such as `-999` in `age`" in words


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
