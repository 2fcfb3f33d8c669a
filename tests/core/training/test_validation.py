"""Judging a network on held-out cells."""

import numpy as np
import torch

from pmae_core.masking import HeldOut
from pmae_core.model import MaskedAutoencoder, NetworkConfig
from pmae_core.training.validation import Validator


def test_score_is_the_mean_over_columns_of_mean_errors():
    network = MaskedAutoencoder(NetworkConfig(encoder_depth=1, decoder_depth=1), [0, 0, 0]).eval()
    values = np.random.default_rng(0).random((3, 3)).astype("float32")
    cells = np.array([[True, False, False], [True, True, False]])
    held_out = HeldOut(rows=np.array([0, 2]), kept=~cells, cells=cells)
    predicted = network(torch.from_numpy(values[[0, 2]]), torch.from_numpy(~cells)).values
    squares = (predicted.detach().numpy() - values[[0, 2]]) ** 2
    expected = np.mean([squares[:, 0].mean(), squares[1, 1]])
    score = Validator(held_out, values, torch.device("cpu")).score(network)
    assert np.isclose(score, expected)
    assert not network.training
