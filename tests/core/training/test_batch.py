"""Rows of a step."""

import numpy as np
import torch

from pmae_core.training.batch import Batch, ShuffledRows


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


def test_a_batch_is_split_without_losing_a_row():
    cells = torch.arange(10.0).reshape(5, 2)
    pieces = Batch(cells, cells > 2, cells > 4).split(2)
    assert [len(piece.values) for piece in pieces] == [2, 2, 1]
    assert torch.equal(torch.cat([piece.masked for piece in pieces]), cells > 4)
