"""Validation on held-out cells during training, and the best weights it finds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pmae_core.masking import HeldOut
from pmae_core.model import MaskedAutoencoder
from pmae_core.model.start import Start


class Validator:
    """Score a network on held-out cells; lower is better.

    Parameters
    ----------
    held_out : HeldOut
        The held-out cells.
    values : float32 array of shape (rows, columns)
        Encoded cells of the whole table.
    device : torch.device
        Where the network is.
    """

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


@dataclass
class BestWeights:
    """The weights with the lowest validation score so far.

    Attributes
    ----------
    weights : dict of Tensor or None
        Copy of the weights; ``None`` before the first validation.
    step, score : int, float or None
        Their step and score.
    last_score : float or None
        Score of the newest validation.
    validations_since : int
        Validations since the best one.
    """

    weights: dict[str, Tensor] | None = None
    step: int = 0
    score: float | None = None
    last_score: float | None = None
    validations_since: int = 0

    def offer(self, score: float, step: int, network: MaskedAutoencoder) -> None:
        """Take note of a validation; copy the weights if their score is the best."""
        self.last_score = score
        if self.score is None or score < self.score:
            weights = network.state_dict()
            self.weights = {name: tensor.detach().clone() for name, tensor in weights.items()}
            self.step, self.score, self.validations_since = step, score, 0
        else:
            self.validations_since += 1

    def state(self) -> dict[str, Any]:
        """Return all but the weights as JSON-able data."""
        names = ("step", "score", "last_score", "validations_since")
        return {name: getattr(self, name) for name in names}
