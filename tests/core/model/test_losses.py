"""The three losses, against sums written out by hand."""

import pytest
import torch

from pmae_core.model import LOSSES, reduce_errors

ERRORS = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
OBSERVED = torch.tensor([[True, True], [True, False], [True, True]])
MASKED = torch.tensor([[True, False], [False, False], [False, True]])


def test_paper_divides_each_column_by_its_observed_cells():
    expected = (1 + 3 + 5) / 3 + (2 + 6) / 2
    assert reduce_errors("paper", ERRORS, OBSERVED, MASKED).item() == pytest.approx(expected)


def test_grouped_separates_complete_from_partial_columns():
    expected = (1 + 3 + 5) / 3 + (2 + 6) / 2
    assert reduce_errors("grouped", ERRORS, OBSERVED, MASKED).item() == pytest.approx(expected)
    partial = OBSERVED.clone()
    partial[2, 0] = False
    expected = (1 + 3 + 2 + 6) / 4
    assert reduce_errors("grouped", ERRORS, partial, MASKED).item() == pytest.approx(expected)


def test_remasker_separates_masked_from_kept_cells():
    expected = (1 + 6) / 2 + (3 + 5 + 2) / 3
    assert reduce_errors("remasker", ERRORS, OBSERVED, MASKED).item() == pytest.approx(expected)


@pytest.mark.parametrize("name", LOSSES)
def test_unobserved_cells_never_count(name):
    spoiled = torch.where(OBSERVED, ERRORS, torch.inf)
    assert reduce_errors(name, spoiled, OBSERVED, MASKED) == reduce_errors(
        name, ERRORS, OBSERVED, MASKED
    )


@pytest.mark.parametrize("name", LOSSES)
def test_a_batch_with_nothing_observed_costs_nothing(name):
    nothing = torch.zeros_like(OBSERVED)
    assert reduce_errors(name, ERRORS, nothing, nothing).item() == 0.0
