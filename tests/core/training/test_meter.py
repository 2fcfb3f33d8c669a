"""Mean losses between two progress events."""

import torch

from pmae_core.training.meter import LossMeter


def test_means_are_of_masked_and_kept_cells_and_start_again():
    meter = LossMeter(2, torch.device("cpu"))
    errors = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    observed = torch.tensor([[True, True], [True, False]])
    masked = torch.tensor([[True, False], [True, False]])
    meter.add(errors, observed, masked)
    assert meter.read() == (2.0, 2.0, [(2.0, None), (None, 2.0)])
    assert meter.read() == (None, None, [(None, None), (None, None)])
