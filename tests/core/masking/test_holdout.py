"""Held-out cells."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from pmae_core.masking import hold_out_cells


@settings(max_examples=60)
@given(
    npst.arrays(bool, npst.array_shapes(min_dims=2, max_dims=2, max_side=60)),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
def test_held_out_cells_are_observed_and_every_row_keeps_a_cell(observed, share, seed):
    held_out = hold_out_cells(observed, share, np.random.default_rng(seed))
    if held_out is None:
        return
    given_cells = observed[held_out.rows]
    assert len(set(held_out.rows)) == len(held_out.rows)
    assert (held_out.cells <= given_cells).all()
    assert np.array_equal(held_out.kept, given_cells & ~held_out.cells)
    assert held_out.kept.any(axis=1).all()
    assert held_out.cells.any(axis=1).all()
    remaining = held_out.remove_from(observed)
    assert remaining.sum() == observed.sum() - held_out.cells.sum()


def test_cells_are_held_out_in_the_patterns_of_the_table():
    rng = np.random.default_rng(0)
    observed = np.ones((1000, 4), dtype=bool)
    observed[:, 2] = rng.random(1000) < 0.3
    held_out = hold_out_cells(observed, 0.5, rng)
    shares = held_out.cells.mean(axis=0)
    assert shares[2] > 0.2
    # Where the pattern holds out nothing, one random cell is held out instead.
    assert held_out.cells.sum(axis=1).max() == 1


def test_too_few_cells_are_not_held_out():
    assert hold_out_cells(np.ones((20, 3), dtype=bool), 0.2, np.random.default_rng(0)) is None


def test_a_complete_table_can_be_held_out_too():
    held_out = hold_out_cells(np.ones((400, 3), dtype=bool), 0.2, np.random.default_rng(0))
    assert held_out.cells.sum() == 80
