"""An exponential moving average of a network's weights."""

import copy

import torch
from torch import Tensor

from pmae_core.model import MaskedAutoencoder


class WeightAverage:
    """Hold a copy of a network whose weights are averaged over the steps.

    Parameters
    ----------
    network : MaskedAutoencoder
        The network in training; its first weights start the average.
    decay : float
        Share of the average that a step keeps.

    Attributes
    ----------
    network : MaskedAutoencoder
        The copy; it takes no gradients.
    """

    def __init__(self, network: MaskedAutoencoder, decay: float) -> None:
        self.network = copy.deepcopy(network).requires_grad_(False).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, network: MaskedAutoencoder, step: int) -> None:
        """Move the average toward the weights after a step."""
        # A lower decay in the first steps, or the random first weights would count too long.
        decay = min(self.decay, (1 + step) / (10 + step))
        averaged: list[Tensor] = list(self.network.parameters())
        current: list[Tensor] = list(network.parameters())
        torch._foreach_lerp_(averaged, current, 1 - decay)
