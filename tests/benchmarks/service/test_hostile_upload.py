"""The files of the benchmark are what it says they are."""

import pytest

from benchmarks.service.hostile_upload import (
    far_cells_workbook,
    parsed,
    percentile,
    slow_workbook,
)
from pmae_core.table import read_table_file


def test_the_far_cells_are_small_and_have_no_value():
    content = far_cells_workbook(1_000)
    assert len(content) < 20_000
    assert b"ZZZ" not in content  # packed
    assert read_table_file(content).frame.shape == (1, 1)


def test_the_slow_workbook_is_a_table():
    assert read_table_file(slow_workbook(10)).frame.shape == (9, 20)


def test_percentiles_are_of_all_spans():
    assert percentile([[1.0] * 50, [2.0] * 50], 50) == 1.5
    assert percentile([[1.0] * 50, [2.0] * 50]) == 2.0


def test_the_number_of_rounds_is_limited():
    with pytest.raises(SystemExit):
        parsed(["--rounds=1000"])
