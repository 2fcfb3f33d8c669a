"""Validation on held-out cells."""

import numpy as np
import torch

from pmae_core.masking import HeldOut
from pmae_core.model import MaskedAutoencoder, NetworkConfig
from pmae_core.training.validation import BestWeights, Validator


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


def test_the_best_weights_are_a_copy_of_those_with_the_lowest_score():
    network = MaskedAutoencoder(NetworkConfig(encoder_depth=0, decoder_depth=0), [0, 0])
    best = BestWeights()
    for step, score in enumerate([3.0, 1.0, 2.0, 1.0]):
        torch.nn.init.constant_(network.mask_token, step)
        best.offer(score, step, network)
    assert best.weights["mask_token"].unique().item() == 1
    assert best.state() == {"step": 1, "score": 1.0, "last_score": 1.0, "validations_since": 2}
