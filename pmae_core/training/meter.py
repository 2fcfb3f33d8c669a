"""Mean losses between two progress events."""

from typing import NamedTuple

import torch
from torch import Tensor


class MeanLosses(NamedTuple):
    """Mean error over masked cells and over kept cells; ``None`` where there were none.

    Attributes
    ----------
    prediction, reconstruction : float or None
        Mean over masked cells, and over kept cells, of all columns.
    columns : list of pairs
        The same two numbers for each column.
    """

    prediction: float | None
    reconstruction: float | None
    columns: list[tuple[float | None, float | None]]


class LossMeter:
    """Sum errors of masked and kept cells per column on the device, without waiting for it.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    device : torch.device
        Where the errors are.
    """

    def __init__(self, n_columns: int, device: torch.device) -> None:
        self.sums = torch.zeros(2, n_columns, device=device)
        self.counts = torch.zeros(2, n_columns, device=device)

    def add(self, errors: Tensor, observed: Tensor, masked: Tensor) -> None:
        """Add the errors of a batch."""
        for kind, cells in enumerate((masked, observed & ~masked)):
            self.sums[kind] += torch.where(cells, errors, 0.0).sum(dim=0)
            self.counts[kind] += cells.sum(dim=0)

    def read(self) -> MeanLosses:
        """Return the means since the last call, and start again from zero."""
        sums, counts = self.sums.cpu().numpy(), self.counts.cpu().numpy()
        prediction, reconstruction = map(_mean, sums.sum(axis=1), counts.sum(axis=1))
        pairs = zip(sums.T, counts.T, strict=True)
        columns = [(_mean(s[0], n[0]), _mean(s[1], n[1])) for s, n in pairs]
        self.sums.zero_()
        self.counts.zero_()
        return MeanLosses(prediction, reconstruction, columns)


def _mean(total: float, count: float) -> float | None:
    return float(total / count) if count else None
