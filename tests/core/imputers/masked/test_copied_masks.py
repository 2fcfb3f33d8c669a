"""Rows that a column is learned from, and what is masked in them."""

import numpy as np
import pytest

from pmae_core.imputers.masked._copied_masks import copied_masks
from pmae_core.masking import MaskSampler


def test_rows_lack_the_column_and_what_other_rows_lack_with_it():
    observed = np.ones((60, 3), dtype=bool)
    observed[:20, :2] = False  # column 0 is missing together with column 1, never with column 2

    rows, kept = copied_masks(observed, 0, np.random.default_rng(0))

    assert set(rows) == set(range(20, 60))
    assert not kept[:, :2].any()
    assert kept[:, 2].all()


def test_cells_that_a_row_lacks_itself_are_never_kept():
    rng = np.random.default_rng(0)
    observed = rng.random((80, 4)) < 0.6

    rows, kept = copied_masks(observed, 2, rng)

    assert not (kept & ~observed[rows]).any()
    assert observed[rows, 2].all()


def test_a_column_that_nobody_misses_takes_the_patterns_of_all_rows():
    observed = np.array([[True, True], [True, False]] * 50)

    _, kept = copied_masks(observed, 0, np.random.default_rng(0))

    assert not kept[:, 0].any()
    assert 0 < kept[:, 1].mean() < 1


@pytest.mark.parametrize(("n_rows", "n_copies"), [(100, 8), (4_000, 4), (9_000, 1)])
def test_few_rows_are_shown_with_several_masks(n_rows, n_copies):
    observed = np.ones((n_rows, 2), dtype=bool)

    rows, _ = copied_masks(observed, 0, np.random.default_rng(0))

    assert len(rows) == n_copies * n_rows


def test_fewer_rows_can_be_wanted():
    observed = np.ones((1_000, 2), dtype=bool)

    rows, _ = copied_masks(observed, 0, np.random.default_rng(0), wanted_rows=4_000)

    assert len(rows) == 4_000


def test_copies_can_be_given():
    observed = np.ones((10, 2), dtype=bool)

    rows, kept = copied_masks(observed, 0, np.random.default_rng(0), n_copies=7)

    assert np.bincount(rows).tolist() == [7] * 10
    assert kept.shape == (70, 2)


def test_no_more_rows_than_allowed_are_learned_from():
    observed = np.ones((500, 2), dtype=bool)

    rows, kept = copied_masks(observed, 0, np.random.default_rng(0), most_rows=200)

    assert len(set(rows)) == len(rows) == len(kept) == 200


def two_patterns():
    """Return a table in which column 0 is missing together with 1, and column 2 by itself."""
    observed = np.ones((900, 3), dtype=bool)
    observed[:300, :2] = False
    observed[300:600, 2] = False
    return observed


@pytest.mark.parametrize("copy_share", [0.0, 0.25, 1.0])
def test_rows_without_a_copied_mask_are_masked_by_the_function(copy_share):
    rows, kept = copied_masks(
        two_patterns(),
        0,
        np.random.default_rng(0),
        sampler=MaskSampler(function="logit"),
        copy_share=copy_share,
    )

    # A copy always masks column 1, and never column 2. The function masks only columns of which
    # cells are missing in these rows: column 2.
    complete = kept[rows >= 600]
    assert complete[:, 1].mean() == pytest.approx(1 - copy_share, abs=0.05)
    assert (~complete[:, 2]).any() == (copy_share < 1)
    assert not kept[:, 0].any()


def test_a_sampler_is_not_asked_where_all_masks_are_copied():
    class Refusing:
        def sample(self, observed, rng):
            raise AssertionError("asked")

    copied_masks(two_patterns(), 0, np.random.default_rng(0), sampler=Refusing(), copy_share=1.0)
    with pytest.raises(AssertionError, match="asked"):
        copied_masks(
            two_patterns(), 0, np.random.default_rng(0), sampler=Refusing(), copy_share=0.0
        )
