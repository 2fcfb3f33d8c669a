"""Estimates of cells: numbers on their own scale, and probabilities of classes."""

import numpy as np

from pmae_core.imputers.masked._estimates import encoded_cells, true_cells, wanted_columns
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.table.scaling import fit_scaler


def test_cells_become_estimates_and_come_back():
    column = np.array([3.0, 1.0, 7.0, 20.0])
    scaler = fit_scaler(column, "rank")
    scores, both = scaler.scale(column), OwnNumbers([scaler, None])
    codes = np.array([2, 0, 1, 2])

    as_numbers = true_cells(scores, 0, both, 0)
    as_shares = true_cells(codes, 1, both, 3)

    assert as_numbers.shape == (4, 1)
    assert as_shares.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_allclose(encoded_cells(as_numbers, 0, both), scores, atol=1e-6)
    assert encoded_cells(as_shares, 1, both).tolist() == codes.tolist()


def test_columns_with_a_wanted_cell():
    wanted = np.array([[True, False, False], [False, False, True]])

    assert wanted_columns(wanted) == [0, 2]
