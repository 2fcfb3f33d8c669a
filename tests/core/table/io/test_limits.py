"""Limits on the size of tables."""

import pytest

from pmae_core.errors import TableTooLargeError
from pmae_core.table.io.limits import DEFAULT_LIMITS, ReadingLimits


def test_defaults():
    assert (
        DEFAULT_LIMITS
        == ReadingLimits()
        == ReadingLimits(2_000_000_000, 5_000_000, 10_000, 200_000_000, 4_000_000_000)
    )


def test_limits_are_inclusive():
    limits = ReadingLimits(
        max_bytes=10, max_rows=4, max_columns=3, max_cells=8, max_expanded_bytes=20
    )
    limits.check_file_size(10, "t")
    limits.check_expanded(20, "t")
    limits.check_shape(4, 2, "t")
    for check, arguments in [
        (limits.check_file_size, (11, "t")),
        (limits.check_expanded, (21, "t")),
        (limits.check_columns, (4, "t")),
        (limits.check_shape, (5, 1, "t")),
        (limits.check_shape, (1, 4, "t")),
        (limits.check_shape, (3, 3, "t")),
    ]:
        with pytest.raises(TableTooLargeError, match=r"^t .* limit"):
            check(*arguments)


def test_most_rows_follow_from_rows_and_cells():
    limits = ReadingLimits(max_rows=10, max_cells=30)
    assert [limits.most_rows(width) for width in (0, 1, 3, 6)] == [10, 10, 10, 5]


def test_a_limit_below_one_makes_no_sense():
    with pytest.raises(ValueError, match="max_rows"):
        ReadingLimits(max_rows=0)


def test_sizes_are_written_for_people():
    with pytest.raises(TableTooLargeError, match=r"3\.0 GB.*2\.0 GB"):
        ReadingLimits().check_file_size(3_000_000_000, "t")
