"""Judging a network on held-out cells while it trains."""

import numpy as np
import torch
from torch import Tensor

from pmae_core.masking import HeldOut, hold_out_cells
from pmae_core.model import MaskedAutoencoder
from pmae_core.model.start import Start

__all__ = ["HeldOut", "Validator", "hold_out_cells"]

# Rows are predicted in pieces of so many cells: more would leave the processor's cache, and on a
# wide table fill the memory.
CELLS_PER_PIECE = 20_000


class Validator:
    """Scores a network on held-out cells; lower is better."""

    def __init__(self, held_out: HeldOut, values: np.ndarray, device: torch.device) -> None:
        rows = max(1, CELLS_PER_PIECE // values.shape[1])
        arrays = (values[held_out.rows], held_out.kept, held_out.cells)
        pieces = (torch.from_numpy(array).to(device).split(rows) for array in arrays)
        self._pieces: list[tuple[Tensor, Tensor, Tensor]] = list(zip(*pieces, strict=True))
        self._starts: list[Start | None] = []

    @torch.no_grad()
    def score(self, network: MaskedAutoencoder) -> float:
        """Return the mean over columns of the mean error over their held-out cells."""
        was_training = network.training
        network.eval()
        if not self._starts:  # training does not change them
            self._starts = [network.first_guess(values, kept) for values, kept, _ in self._pieces]
        sums = torch.zeros_like(network.center)
        for (values, kept, cells), start in zip(self._pieces, self._starts, strict=True):
            errors = network.cell_errors(network(values, kept, start), values)
            sums += torch.where(cells, errors, 0.0).sum(dim=0)
        network.train(was_training)
        counts = torch.stack([cells.sum(dim=0) for _, _, cells in self._pieces]).sum(dim=0)
        return float((sums / counts.clamp(min=1))[counts > 0].mean())
