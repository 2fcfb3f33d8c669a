import pandas as pd
import pytest

from dashboard.data import columns
from dashboard.state.table_state import OpenTable
from pmae_core.table import Schema, suggest_sentinels


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [41, 37, -999, 52, 29, 33],
            "town": ["Ulm", "?", "Bonn", None, "?", "Ulm"],
            "when": pd.to_datetime(["2024-01-05"] * 5 + [None]),
        }
    )


def test_the_table_of_roles(frame):
    table = OpenTable("t", "", frame, Schema.infer(frame), {}, "a test")

    shown = columns.role_table(table)

    assert shown[columns.ROLE].tolist() == ["numerical", "categorical", "datetime"]
    assert shown[columns.OBSERVED].tolist() == pytest.approx([100, 500 / 6, 500 / 6])
    assert shown[columns.DIFFERENT].tolist() == [6, 3, 1]
    assert shown[columns.EXAMPLES].tolist() == ["41, 37, -999, …", "Ulm, ?, Bonn", "2024-01-05"]


def test_the_table_of_rules_has_the_columns_of_numbers(frame):
    rules = {"age": {"upper": 99, "whole": True}}
    table = OpenTable("t", "", frame, Schema.infer(frame, rules=rules), {}, "a test")

    shown = columns.rule_table(table)

    assert shown[columns.COLUMN].tolist() == ["age"]
    assert shown[columns.UPPER].tolist() == [99]
    assert shown[columns.LOWER].isna().all()
    assert shown[columns.WHOLE].tolist() == ["yes"]


def test_declared_and_suggested_values_stand_in_one_table(frame):
    shown = columns.sentinel_table(frame, {"town": ("?", "Ulm")}, suggest_sentinels(frame))

    assert shown[
        [columns.MISSING, columns.COLUMN, columns.VALUE, columns.CELLS]
    ].values.tolist() == [
        [True, "town", "?", 2],
        [True, "town", "Ulm", 2],
        [False, "age", -999, 1],
    ]
    assert "often written" in shown[columns.WHY][0]
    assert shown[columns.WHY][1] == columns.BY_HAND


def test_suggestions_of_a_long_table_are_counted_in_all_rows(frame, monkeypatch):
    long = pd.concat([frame] * 50, ignore_index=True)
    monkeypatch.setattr(columns, "SUGGESTION_ROWS", 100)

    assert columns.find_suggestions(long) == suggest_sentinels(long)


def test_columns_with_a_value(frame):
    assert columns.columns_with(frame, frame.columns, "-999") == ["age"]
    assert columns.columns_with(frame, frame.columns, "2024-01-05") == ["when"]
    assert columns.columns_with(frame, frame.columns, "nowhere") == []


def test_dates_without_a_time_of_day(frame):
    frame["moment"] = pd.to_datetime("2024-01-05 12:30")

    assert columns.whole_days(frame) == ["when"]


def test_what_columns_mean_is_shown_where_it_is_known(frame):
    table = OpenTable("t", "", frame, Schema.infer(frame), {}, "a test")

    shown = columns.role_table(table, {"age": "age in years"})

    assert shown[columns.MEANING].tolist() == ["age in years", "", ""]
    assert columns.MEANING not in columns.role_table(table)


def test_roles_stand_above_the_names(frame):
    shown = columns.under_roles(frame, Schema.infer(frame, {"age": "ignored"}))

    assert shown.columns.tolist() == [
        ("ignored", "age"),
        ("categorical", "town"),
        ("datetime", "when"),
    ]


def test_columns_are_wide_enough_for_roles_and_not_wider_than_the_window(frame):
    narrow, *_, wide = columns.widths(frame.assign(text="word " * 100)).values()

    assert narrow == columns.widths(frame[["age"]])["age"] > 8 * len("categorical")
    assert narrow < wide < 400


@pytest.mark.parametrize(
    ("value", "text"), [(-999.0, "-999"), ("-999 ", "-999"), (99.9, "99.9"), ("?", "?")]
)
def test_one_spelling_of_a_value(value, text):
    assert columns.spelling(value) == text
