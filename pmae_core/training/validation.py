"""Judging a network on held-out cells while it trains."""

import numpy as np
import torch

from pmae_core.masking import HeldOut
from pmae_core.model import MaskedAutoencoder
from pmae_core.model.start import Start


class Validator:
    """Scores a network on held-out cells; lower is better."""

    def __init__(self, held_out: HeldOut, values: np.ndarray, device: torch.device) -> None:
        arrays = (values[held_out.rows], held_out.kept, held_out.cells)
        self._tensors = [torch.from_numpy(array).to(device) for array in arrays]
        self._counts = self._tensors[2].sum(dim=0)
        self._starts: list[Start | None] = []

    @torch.no_grad()
    def score(self, network: MaskedAutoencoder) -> float:
        """Return the mean over columns of the mean error over their held-out cells."""
        was_training = network.training
        network.eval()
        tensors = (tensor.split(network.rows_at_a_time) for tensor in self._tensors)
        pieces = list(zip(*tensors, strict=True))
        if not self._starts:  # training does not change them
            self._starts = [network.first_guess(values, kept) for values, kept, _ in pieces]
        sums = torch.zeros_like(network.center)
        for (values, kept, cells), start in zip(pieces, self._starts, strict=True):
            errors = network.cell_errors(network(values, kept, start), values)
            sums += torch.where(cells, errors, 0.0).sum(dim=0)
        network.train(was_training)
        return float((sums / self._counts.clamp(min=1))[self._counts > 0].mean())
