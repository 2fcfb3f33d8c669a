"""How a text file is written: what can be said, and how its lines are split."""

import csv

import pytest

from pmae_core.errors import TableError
from pmae_core.table.io.dialect import LONGEST_CELL, TextDialect
from pmae_core.table.io.reading import read_table


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"delimiter": ";;"}, "one ASCII character"),
        ({"delimiter": "§"}, "one ASCII character"),
        ({"delimiter": '"'}, "one ASCII character"),
        ({"decimal": "x"}, "decimal mark"),
        ({"thousands": "abc"}, "thousands separator"),
        ({"decimal": ",", "thousands": ","}, "cannot both be"),
    ],
)
def test_impossible_dialects(parts, sentence):
    with pytest.raises(TableError, match=sentence):
        TextDialect(**parts)
    with pytest.raises(TableError, match=sentence):
        read_table(b"a,b\n1,2\n", **parts)


@pytest.mark.parametrize(
    ("dialect", "cells"),
    [
        (TextDialect(" "), ["1", "", "2", ""]),
        (TextDialect(" ", skip_initial_space=True), ["1", "2"]),
        (TextDialect(" ", column_starts=(0, 2)), ["1", "2"]),
    ],
)
def test_spaces_separate_cells_in_three_ways(dialect, cells):
    records = dialect.records(["1  2 \n", "\n"])
    assert next(records) == cells
    assert next(records) == []
    assert records.line_num == 2


def test_the_limit_of_the_csv_module_is_only_raised():
    next(TextDialect().records(["a"]))
    assert csv.field_size_limit() == LONGEST_CELL
    before = csv.field_size_limit(LONGEST_CELL + 1)
    try:
        next(TextDialect().records(["a"]))
        assert csv.field_size_limit() == LONGEST_CELL + 1
    finally:
        csv.field_size_limit(before)
