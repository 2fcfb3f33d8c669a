"""Where the columns of aligned text begin."""

import pytest

from pmae_core.table.io.aligned import aligned_column_starts, split_at


@pytest.mark.parametrize(
    ("lines", "starts"),
    [
        (["a   b", "1   2", "    3"], (0, 4)),
        ([" a  b", " 1  2"], (0, 4)),
        # Names of rows need no name, words of one cell no column.
        (["    x", "r1  1", "r2  2"], (0, 4)),
        (["name   x", "Bo Li  1", "Ada    2"], (0, 7)),
        (["   nm  x", "Bo Li  1", "   Al  2"], (0, 7)),
    ],
)
def test_columns_that_can_be_decided(lines, starts):
    assert aligned_column_starts(lines) == starts
    assert all("  " not in cell for line in lines for cell in split_at(line, starts))


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["a   b"],
        ["a\tb", "1\t2"],
        ["name", "Anna Maria", "Bert"],
        ["x         y", "      1         2"],
        ["a   b", "10  20  30"],
        ["full name  x", "Anna Lee   1", "Hans Bo    2"],
        ["b c  x", "10 2 3", "1 20 3"],
        ["a  b" + " " * 20_000 + "c", "1  2"],
    ],
    ids=lambda lines: lines[0][:20] if lines else "nothing",
)
def test_columns_that_cannot_be_decided(lines):
    assert aligned_column_starts(lines) == ()


def test_blocks_of_lines_give_the_columns_of_all(monkeypatch):
    lines = ["a    b", *["1    2"] * 50, "123  4", *["5    6"] * 50]
    whole = aligned_column_starts(lines)
    monkeypatch.setattr("pmae_core.table.io.aligned._BLOCK_CHARACTERS", 20)
    assert aligned_column_starts(lines) == whole == (0, 5)
