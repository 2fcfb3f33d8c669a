"""The column networks of MIRACLE, their penalties and the refinement."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, elu

from pmae_core.imputers.neural._common import (
    Standardizer,
    adam,
    gradient_step,
    seeded,
    shuffled_batches,
)
from pmae_core.imputers.run import ProgressMeter
from pmae_core.table import EncodedTable
from pmae_core.training.device import choose_device, threads_for

SMALLEST_PROPENSITY = 0.05
# The authors sum the squared error over batches of 32 rows and add the penalties once.
PENALTY_ROWS = 32


class ColumnNetworks(nn.Module):
    """A network per output: first ``width`` columns, then ``n_indicators`` of being observed.

    All first layers are one tensor of shape (outputs, inputs, hidden), so that all networks are
    computed at once; a column's own cells are no input to its network.
    """

    is_input: Tensor

    def __init__(self, width: int, n_indicators: int, hidden_width: int) -> None:
        super().__init__()
        outputs = width + n_indicators
        self.width = width
        self.first = nn.Parameter(0.01 * torch.randn(outputs, width, hidden_width))
        self.first_bias = nn.Parameter(torch.zeros(outputs, hidden_width))
        self.shared = nn.Linear(hidden_width, hidden_width)
        self.last = nn.Parameter(torch.randn(outputs, hidden_width) / hidden_width**0.5)
        self.last_bias = nn.Parameter(torch.zeros(outputs))
        self.register_buffer("is_input", 1 - torch.eye(outputs, width).unsqueeze(-1))

    def forward(self, cells: Tensor) -> tuple[Tensor, Tensor]:
        """Return predicted cells, and logits of being observed."""
        weights = self.first * self.is_input
        hidden = elu(torch.einsum("nd,pdh->nph", cells, weights) + self.first_bias)
        hidden = elu(self.shared(hidden))
        out = torch.einsum("nph,ph->np", hidden, self.last) + self.last_bias
        return out[:, : self.width], out[:, self.width :]

    def penalties(self) -> tuple[Tensor, Tensor]:
        """Return the group lasso, and how far the graph of columns is from having no circle."""
        squares = ((self.first * self.is_input) ** 2).sum(dim=-1)
        lasso = (squares + 1e-12).sqrt().sum()
        circles = torch.matrix_exp(squares[: self.width]).trace() - self.width
        return lasso, circles + circles**2 / 2


@dataclass(frozen=True)
class PenaltyWeights:
    """Weights of the three penalties."""

    sparsity: float
    acyclicity: float
    moment: float


def refine(
    encoded: EncodedTable,
    *,
    batch_size: int,
    hidden_width: int,
    window: int,
    weights: PenaltyWeights,
    learning_rate: float,
    device: str,
    seed: int,
    progress: ProgressMeter,
) -> tuple[np.ndarray, list[float]]:
    """Return encoded values for every cell, and the squared error on observed ones per step."""
    where = choose_device(device)
    standardizer = Standardizer.fit(encoded)
    cells = standardizer.apply(encoded).to(where)
    observed = torch.from_numpy(encoded.observed).to(where, torch.float32)
    with_missing = torch.from_numpy(np.flatnonzero(~encoded.observed.all(axis=0))).to(where)
    imputed = cells
    newest: deque[Tensor] = deque(maxlen=int(window))
    losses: list[Tensor] = []

    with seeded(seed), threads_for(min(batch_size, len(cells)) * cells.shape[1]):
        networks = ColumnNetworks(cells.shape[1], len(with_missing), hidden_width).to(where)
        optimizer = adam(networks.parameters(), learning_rate)
        for _ in range(progress.total):
            for batch in shuffled_batches(len(cells), batch_size):
                rows = batch.to(where)
                outputs = networks(imputed[rows])
                loss = _cell_loss(outputs, cells[rows], observed[rows], with_missing, weights)
                lasso, circles = networks.penalties()
                penalty = weights.sparsity * lasso + weights.acyclicity * circles
                loss = loss + penalty / PENALTY_ROWS
                gradient_step(optimizer, loss)
                progress.check()
            with torch.no_grad():
                predicted = networks(imputed)[0]
            losses.append((observed * (predicted - cells) ** 2).sum() / observed.sum())
            newest.append(predicted)
            if len(newest) == window:
                imputed = torch.lerp(torch.stack(tuple(newest)).mean(dim=0), cells, observed)
            progress.advance()
    answer = torch.stack(tuple(newest)).mean(dim=0)
    return standardizer.undo(answer, encoded), torch.stack(losses).tolist()


def _cell_loss(
    outputs: tuple[Tensor, Tensor],
    truth: Tensor,
    is_observed: Tensor,
    with_missing: Tensor,
    weights: PenaltyWeights,
) -> Tensor:
    """Return the loss on the cells of a batch: values, missingness and moments."""
    predicted, logits = outputs
    loss = (is_observed * (predicted - truth) ** 2).sum() / len(truth)
    if len(with_missing):
        is_observed, truth = is_observed[:, with_missing], truth[:, with_missing]
        gap = _moment_gap(predicted[:, with_missing], truth, is_observed, logits)
        loss = loss + _missingness_loss(logits, is_observed) + weights.moment * gap
    return loss


def _missingness_loss(logits: Tensor, is_observed: Tensor) -> Tensor:
    """Return the cross-entropy of being observed, summed over columns."""
    return binary_cross_entropy_with_logits(logits, is_observed, reduction="sum") / len(is_observed)


def _moment_gap(predicted: Tensor, truth: Tensor, is_observed: Tensor, logits: Tensor) -> Tensor:
    """Return how far mean predictions are from observed means weighted by inverse propensity."""
    # Detached: the propensities are fitted to missingness alone, not to the means.
    propensity = logits.detach().sigmoid().clamp(min=SMALLEST_PROPENSITY)
    weights = is_observed / propensity
    means = (weights * truth).sum(dim=0) / weights.sum(dim=0).clamp(min=1e-6)
    # A batch without any observed cell of a column has no mean to compare with.
    known = is_observed.any(dim=0)
    return (known * (predicted.mean(dim=0) - means) ** 2).sum()
