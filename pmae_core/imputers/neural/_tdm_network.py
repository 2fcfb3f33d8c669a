"""The flow of TDM, and the transport between batches that moves the imputed values."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

from pmae_core.imputers.neural._common import (
    Standardizer,
    dense_network,
    gradient_step,
    random_rows,
    seeded,
)
from pmae_core.imputers.run import ProgressMeter
from pmae_core.table import EncodedTable
from pmae_core.training.device import choose_device, threads_for

SHORTEST_WINDOW = 100
VISITS_PER_WINDOW = 20
# At first the network shrinks its output, and the imputed values hardly move until that is done.
FEWEST_WINDOWS = 10


class Coupling(nn.Module):
    """A RealNVP block: each half of the columns is scaled and shifted by the other half."""

    def __init__(self, width: int, hidden_width: int) -> None:
        super().__init__()
        self.n_left = width // 2
        rest = width - self.n_left
        hidden = (hidden_width, hidden_width)
        self.for_left = dense_network(rest, *hidden, 2 * self.n_left, activation=nn.SELU)
        self.for_right = dense_network(self.n_left, *hidden, 2 * rest, activation=nn.SELU)

    def forward(self, cells: Tensor) -> Tensor:
        """Return the transformed cells, an invertible function of the given ones."""
        left, right = cells[:, : self.n_left], cells[:, self.n_left :]
        left = _scale_and_shift(left, self.for_left(right))
        right = _scale_and_shift(right, self.for_right(left))
        return torch.cat([left, right], dim=1)


def _scale_and_shift(cells: Tensor, by: Tensor) -> Tensor:
    raw_scale, shift = by.chunk(2, dim=1)
    # The arc tangent keeps scales between exp(-2) and exp(2).
    return cells * torch.exp(4 / torch.pi * torch.atan(raw_scale)) + shift


def match_batches(
    encoded: EncodedTable,
    *,
    batch_size: int,
    tolerance: float,
    blocks: int,
    width_factor: int,
    noise: float,
    learning_rate: float,
    device: str,
    seed: int,
    progress: ProgressMeter,
) -> tuple[np.ndarray, list[float]]:
    """Return encoded values for every cell, and the cost of transport per iteration."""
    where = choose_device(device)
    standardizer = Standardizer.fit(encoded)
    cells = standardizer.apply(encoded).to(where)
    missing = torch.from_numpy(~encoded.observed).to(where)
    n_rows, width = cells.shape
    size = min(int(batch_size), 2 ** int(np.log2(n_rows // 2)))
    window = max(SHORTEST_WINDOW, VISITS_PER_WINDOW * n_rows // (2 * size))

    with seeded(seed), threads_for(2 * size * width):
        # One column has no other half to be coupled with: it is compared as it is.
        flow = nn.Sequential(
            *(Coupling(width, width_factor * width) for _ in range(blocks if width > 1 else 0))
        ).to(where)
        imputed = (noise * torch.randn(cells.shape)).to(where).requires_grad_()
        optimizer = torch.optim.RMSprop([imputed, *flow.parameters()], lr=learning_rate)
        average = WindowAverage(imputed, missing, window)
        losses: list[Tensor] = []
        while progress.done < progress.total and not average.settled(tolerance):
            rows = torch.cat([random_rows(n_rows, size) for _ in range(2)]).to(where)
            # index_select, because its gradient is summed in a fixed order.
            batch = torch.where(missing[rows], imputed.index_select(0, rows), cells[rows])
            loss = transport_cost(*flow(batch).split(size))
            gradient_step(optimizer, loss)
            average.add(imputed)
            losses.append(loss.detach())
            progress.advance()
    return standardizer.undo(average.value(), encoded), torch.stack(losses).tolist()


def transport_cost(first: Tensor, second: Tensor) -> Tensor:
    """Return the mean Euclidean distance of the cheapest pairing of two batches of one size."""
    with torch.no_grad():
        distances = torch.cdist(first, second).cpu().numpy()
    partner = torch.from_numpy(linear_sum_assignment(distances)[1]).to(first.device)
    pairs = first - second.index_select(0, partner)
    return torch.linalg.vector_norm(pairs, dim=1).mean()


class WindowAverage:
    """The mean of the imputed values over windows of iterations, and how far it moved."""

    def __init__(self, start: Tensor, missing: Tensor, window: int) -> None:
        self.missing = missing
        self.window = window
        self.mean = start.detach().clone()
        self.move = float("inf")
        self.windows = 0
        self._restart()

    def _restart(self) -> None:
        self.sum = torch.zeros_like(self.mean)
        self.count = 0

    def add(self, imputed: Tensor) -> None:
        """Take one more iteration into account."""
        self.sum += imputed.detach()
        self.count += 1
        if self.count == self.window:
            mean = self.sum / self.count
            moves = (mean - self.mean)[self.missing]
            self.move = float(moves.square().mean().sqrt()) if len(moves) else 0.0
            self.mean = mean
            self.windows += 1
            self._restart()

    def settled(self, tolerance: float) -> bool:
        """Whether there were enough windows and the newest move is below ``tolerance``."""
        return self.windows >= FEWEST_WINDOWS and self.move < tolerance

    def value(self) -> Tensor:
        """Return the mean over the last full window, or over the part of the first so far."""
        if self.windows == 0 and self.count:
            return self.sum / self.count
        return self.mean
