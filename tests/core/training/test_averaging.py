"""The moving average of weights."""

import pytest
import torch

from pmae_core.model import MaskedAutoencoder, NetworkConfig
from pmae_core.training.averaging import WeightAverage


def test_the_average_moves_toward_new_weights_faster_at_first():
    network = MaskedAutoencoder(NetworkConfig(encoder_depth=0, decoder_depth=0), [0, 0])
    torch.nn.init.zeros_(network.mask_token)
    average = WeightAverage(network, 0.9)
    torch.nn.init.ones_(network.mask_token)
    average.update(network, step=0)
    assert average.network.mask_token.mean().item() == pytest.approx(0.9)
    torch.nn.init.zeros_(network.mask_token)
    average.update(network, step=1000)
    assert average.network.mask_token.mean().item() == pytest.approx(0.81)
    assert not any(parameter.requires_grad for parameter in average.network.parameters())
