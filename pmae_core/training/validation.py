"""Judging a network on held-out cells while it trains."""

import numpy as np
import torch

from pmae_core.masking import HeldOut, hold_out_cells
from pmae_core.model import MaskedAutoencoder, Prediction
from pmae_core.model.start import Start

__all__ = ["HeldOut", "Validator", "hold_out_cells"]


class Validator:
    """Scores a network on held-out cells; lower is better."""

    def __init__(self, held_out: HeldOut, values: np.ndarray, device: torch.device) -> None:
        self.values = torch.from_numpy(values[held_out.rows]).to(device)
        self.kept = torch.from_numpy(held_out.kept).to(device)
        self.cells = torch.from_numpy(held_out.cells).to(device)
        self._start: Start | None = None

    @torch.no_grad()
    def score(self, network: MaskedAutoencoder) -> float:
        """Return the mean over columns of the mean error over their held-out cells."""
        errors = network.cell_errors(self.predict(network), self.values)
        counts = self.cells.sum(dim=0)
        per_column = torch.where(self.cells, errors, 0.0).sum(dim=0) / counts.clamp(min=1)
        return float(per_column[counts > 0].mean())

    def predict(self, network: MaskedAutoencoder) -> Prediction:
        """Predict the validation rows with dropout switched off."""
        was_training = network.training
        network.eval()
        with torch.no_grad():
            if self._start is None:  # training does not change it
                self._start = network.first_guess(self.values, self.kept)
            prediction: Prediction = network(self.values, self.kept, self._start)
        network.train(was_training)
        return prediction
