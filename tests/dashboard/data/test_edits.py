import pandas as pd

from dashboard.data import columns, edits
from pmae_core.errors import SchemaError


def test_only_roles_that_change_are_kept():
    shown = pd.DataFrame({columns.COLUMN: ["age", "town"], columns.ROLE: ["numerical"] * 2})
    edited = {0: {columns.ROLE: "ignored"}, "1": {columns.ROLE: "categorical"}, 2: {}}
    current = {"age": "numerical", "town": "categorical"}

    assert edits.changed_roles(shown, edited, current) == {"age": "ignored"}


def test_edited_rules_are_added_changed_and_removed():
    shown = pd.DataFrame({columns.COLUMN: ["a", "b", "c", "d"]})
    current = {"a": {"lower": 0.0, "upper": 9.0}, "b": {"derived": "a"}, "c": {"whole": True}}
    edited = {
        0: {columns.UPPER: None, columns.WHOLE: "no"},
        "1": {columns.DERIVED: "  "},
        2: {columns.WHOLE: "yes"},
        3: {columns.DERIVED: " a / 2 ", columns.LOWER: None},
    }

    assert edits.changed_rules(shown, edited, current) == {
        "a": {"lower": 0.0, "whole": False},
        "b": {},
        "d": {"derived": "a / 2"},
    }


def test_a_value_is_declared_once_however_it_is_written():
    assert edits.with_value({"age": [-999]}, ["age", "n"], "-999") == {
        "age": [-999],
        "n": ["-999"],
    }
    assert edits.with_value({"age": [-999.0]}, ["age"], "-999") == {"age": [-999.0]}


def test_a_cell_with_its_first_value_again_counts_as_edited():
    shown = pd.DataFrame(
        {columns.COLUMN: ["a", "b"], columns.ROLE: ["numerical"] * 2, columns.LOWER: [None, 1.0]}
    )
    before = {0: {columns.ROLE: "ignored", columns.LOWER: 3}, 1: {columns.ROLE: "boolean"}}
    now = {1: {columns.ROLE: "categorical"}}

    assert edits.with_reversals(shown, now, before) == {
        0: {columns.ROLE: "numerical", columns.LOWER: None},
        1: {columns.ROLE: "categorical"},
    }
    assert now == {1: {columns.ROLE: "categorical"}}


def test_one_refused_change_stops_no_other():
    kept = {}

    def keep(changes):
        if "bad" in changes:
            raise SchemaError("It does not fit.")
        kept.update(changes)

    assert edits.keep_each(keep, {"a": 1, "bad": 2, "c": 3}) == ["It does not fit."]
    assert kept == {"a": 1, "c": 3}
    assert edits.keep_each(keep, {"d": 4}) == []


def test_changes_that_fit_are_kept_in_one_step():
    steps = []

    assert edits.keep_each(steps.append, {"a": 1, "b": 2}) == []
    assert edits.keep_each(steps.append, {}) == []
    assert steps == [{"a": 1, "b": 2}]


def test_only_ticks_that_change_count():
    shown = pd.DataFrame({columns.COLUMN: ["town", "age"], columns.VALUE: ["?", -999]})
    ticked = {0: {columns.MISSING: True}, 1: {columns.MISSING: True}}

    assert edits.changed_ticks(shown, ticked, {"town": ("?",)}) == [("age", -999, True)]
    unticked = {0: {columns.MISSING: False}, 1: {columns.MISSING: False}}
    assert edits.changed_ticks(shown, unticked, {"town": ("?",)}) == [("town", "?", False)]


def test_ticks_declare_and_take_back():
    ticks = [("town", "?", False), ("age", -999.0, True)]

    assert edits.with_ticks({"town": ("?", "Ulm")}, ticks) == {"town": ["Ulm"], "age": [-999.0]}
    assert edits.ticks_in_words(ticks) == (
        "stop treating ? in town as missing, declare -999 in age missing"
    )
