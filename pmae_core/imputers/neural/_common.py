"""What the neural baselines share: seeding, minibatches, small networks, standardized columns.

Imports torch, so only the private network modules may import it at their top.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from pmae_core.table import EncodedTable, scalar_values, values_from_scalars

CELLS_PER_CHUNK = 2_000_000
SMALLEST_SPREAD = 1e-3


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Make everything that torch draws inside repeatable; the user's generators stay as they are.

    Only the CPU's generator is seeded: draw there and move the numbers, so that one seed gives the
    same numbers on every device.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def random_rows(n_rows: int, size: int) -> Tensor:
    """Return ``size`` different row numbers, or all of them where there are fewer."""
    return torch.randperm(n_rows)[:size]


def shuffled_batches(n_rows: int, size: int) -> tuple[Tensor, ...]:
    """Return all row numbers in random order, in batches."""
    return torch.randperm(n_rows).split(int(size))  # torch refuses integers of numpy here


def row_chunks(n_rows: int, cells_per_row: int) -> Iterator[slice]:
    """Yield slices over the rows, each small enough for one pass of a network."""
    size = max(1, CELLS_PER_CHUNK // cells_per_row)
    for start in range(0, n_rows, size):
        yield slice(start, start + size)


def dense_network(*widths: int, activation: type[nn.Module]) -> nn.Sequential:
    """Return linear layers with an activation between each two."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1])


def adam(parameters: Iterable[nn.Parameter], learning_rate: float) -> torch.optim.Adam:
    """Return Adam in one call for all parameters, which halves the time of a small step."""
    parameters = list(parameters)
    can_fuse = parameters[0].device.type in ("cpu", "cuda")
    return torch.optim.Adam(parameters, lr=learning_rate, fused=can_fuse)


def gradient_step(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    """Move the parameters of an optimizer one step down the gradient of a loss."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@dataclass(frozen=True)
class Standardizer:
    """Scales every column to mean 0 and standard deviation 1 over the fitted table's cells.

    Parameters
    ----------
    mean, spread : ndarray of shape (columns,)
        Mean and standard deviation of the observed cells, categories as numbers in [0, 1].
    """

    mean: np.ndarray
    spread: np.ndarray

    @classmethod
    def fit(cls, encoded: EncodedTable) -> Standardizer:
        """Measure the observed cells of a table, each column of which has at least one."""
        cells = np.ma.masked_array(scalar_values(encoded), ~encoded.observed)
        spread = np.maximum(np.asarray(cells.std(axis=0)), SMALLEST_SPREAD)
        return cls(np.asarray(cells.mean(axis=0), np.float32), spread.astype(np.float32))

    def apply(self, encoded: EncodedTable) -> Tensor:
        """Return standardized cells; 0, which is the mean, where they are missing."""
        values = (scalar_values(encoded) - self.mean) / self.spread
        return torch.from_numpy(np.where(encoded.observed, values, 0).astype(np.float32))

    def undo(self, values: Tensor, encoded: EncodedTable) -> np.ndarray:
        """Return standardized cells as encoded values of the table, inside the observed range."""
        scalars = values.cpu().numpy() * self.spread + self.mean
        return values_from_scalars(np.clip(scalars, 0, 1), encoded.columns)
