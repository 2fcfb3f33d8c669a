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


def test_only_roles_that_change_are_kept(frame):
    shown = pd.DataFrame({columns.COLUMN: ["age", "town"], columns.ROLE: ["numerical"] * 2})
    edits = {0: {columns.ROLE: "ignored"}, "1": {columns.ROLE: "categorical"}, 2: {}}
    current = {"age": "numerical", "town": "categorical"}

    assert columns.changed_roles(shown, edits, current) == {"age": "ignored"}


def test_the_table_of_rules_has_the_columns_of_numbers(frame):
    rules = {"age": {"upper": 99, "whole": True}}
    table = OpenTable("t", "", frame, Schema.infer(frame, rules=rules), {}, "a test")

    shown = columns.rule_table(table)

    assert shown[columns.COLUMN].tolist() == ["age"]
    assert shown[columns.UPPER].tolist() == [99]
    assert shown[columns.LOWER].isna().all()
    assert shown[columns.WHOLE].tolist() == ["yes"]


def test_edited_rules_are_added_changed_and_removed():
    shown = pd.DataFrame({columns.COLUMN: ["a", "b", "c", "d"]})
    current = {"a": {"lower": 0.0, "upper": 9.0}, "b": {"derived": "a"}, "c": {"whole": True}}
    edits = {
        0: {columns.UPPER: None, columns.WHOLE: "no"},
        "1": {columns.DERIVED: "  "},
        2: {columns.WHOLE: "yes"},
        3: {columns.DERIVED: " a / 2 ", columns.LOWER: None},
    }

    assert columns.changed_rules(shown, edits, current) == {
        "a": {"lower": 0.0, "whole": False},
        "b": {},
        "d": {"derived": "a / 2"},
    }


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


def test_ticks_declare_and_take_back(frame):
    declared = {"town": ("?",)}
    shown = columns.sentinel_table(frame, declared, suggest_sentinels(frame))

    assert columns.with_edits(declared, shown, {0: {columns.MISSING: False}}) == {"town": []}
    assert columns.with_edits(declared, shown, {1: {columns.MISSING: True}}) == {
        "town": ["?"],
        "age": [-999],
    }
    assert columns.with_edits(declared, shown, {0: {}}) == {"town": ["?"]}
    assert columns.edits_in_words(
        shown, {0: {columns.MISSING: False}, 1: {columns.MISSING: True}}
    ) == ("let ? in town count again, declare -999 in age missing")


def test_a_value_is_declared_once_however_it_is_written():
    assert columns.with_value({"age": [-999]}, ["age", "n"], "-999") == {
        "age": [-999],
        "n": ["-999"],
    }
    assert columns.with_value({"age": [-999.0]}, ["age"], "-999") == {"age": [-999.0]}


def test_columns_with_a_value(frame):
    assert columns.columns_with(frame, frame.columns, "-999") == ["age"]
    assert columns.columns_with(frame, frame.columns, "2024-01-05") == ["when"]
    assert columns.columns_with(frame, frame.columns, "nowhere") == []


def test_dates_without_a_time_of_day(frame):
    frame["moment"] = pd.to_datetime("2024-01-05 12:30")

    assert columns.whole_days(frame) == ["when"]
