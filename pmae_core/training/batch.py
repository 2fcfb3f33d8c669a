"""What goes into a training step, and what comes out."""

import math
from typing import NamedTuple

import numpy as np
from torch import Tensor


class Batch(NamedTuple):
    """Rows of one step, each of shape ``(rows, columns)``.

    Attributes
    ----------
    values : Tensor
        Encoded cells.
    observed, masked : bool Tensor
        Which cells are observed, and which of these are masked in this step.
    """

    values: Tensor
    observed: Tensor
    masked: Tensor

    def split(self, n_rows: int) -> list["Batch"]:
        """Return the batch in pieces of at most ``n_rows`` rows."""
        return [Batch(*parts) for parts in zip(*(t.split(n_rows) for t in self), strict=True)]


class StepOutput(NamedTuple):
    """What a training step computes.

    Attributes
    ----------
    loss : Tensor of shape ()
        What the optimizer lowers.
    errors : Tensor of shape (rows, columns)
        Error of every cell, for the reported losses.
    """

    loss: Tensor
    errors: Tensor


class ShuffledRows:
    """Give every step its rows, in a new random order each epoch.

    Parameters
    ----------
    n_rows, batch_size : int
        Rows of the table, and of a batch.
    seed : int
        The order of an epoch depends on this seed and the number of the epoch alone.
    """

    def __init__(self, n_rows: int, batch_size: int, seed: int) -> None:
        self.n_rows, self.batch_size, self.seed = n_rows, batch_size, seed
        self._epoch, self._order = -1, np.empty(0, dtype=np.int64)

    def of_step(self, step: int) -> np.ndarray:
        """Return the row numbers of a step; the last batch of an epoch may be smaller."""
        epoch, position = divmod(step, max(1, math.ceil(self.n_rows / self.batch_size)))
        if self._epoch != epoch:
            rng = np.random.default_rng([self.seed, 0, epoch])
            self._epoch, self._order = epoch, rng.permutation(self.n_rows)
        start = position * self.batch_size
        return self._order[start : start + self.batch_size]
