"""Which rows a step gets."""

import numpy as np

from pmae_core.training.batch import ShuffledRows


def test_an_epoch_has_every_row_once_in_an_order_of_its_own():
    rows = ShuffledRows(n_rows=10, batch_size=4, seed=1)
    first, second = (
        np.concatenate([rows.of_step(s) for s in steps]) for steps in ((0, 1, 2), (3, 4, 5))
    )
    assert sorted(first) == sorted(second) == list(range(10))
    assert list(first) != list(second)
    assert [len(rows.of_step(step)) for step in range(4)] == [4, 4, 2, 4]


def test_the_rows_of_a_step_do_not_depend_on_the_steps_before():
    rows = ShuffledRows(n_rows=10, batch_size=4, seed=1)
    expected = [rows.of_step(step).tolist() for step in range(6)]
    assert ShuffledRows(n_rows=10, batch_size=4, seed=1).of_step(5).tolist() == expected[5]
    assert ShuffledRows(n_rows=10, batch_size=4, seed=2).of_step(5).tolist() != expected[5]
