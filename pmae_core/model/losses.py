"""Losses: from the errors of single cells to the one number that training lowers."""

from collections.abc import Callable

import torch
from torch import Tensor

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


def _mean_over(errors: Tensor, cells: Tensor) -> Tensor:
    """Mean error over the given cells; zero where there are none."""
    return torch.where(cells, errors, 0.0).sum() / cells.sum().clamp(min=1)


def paper_loss(errors: Tensor, observed: Tensor, masked: Tensor) -> Tensor:
    """Sum over columns of the mean error over the column's observed cells, kept or masked."""
    per_column = torch.where(observed, errors, 0.0).sum(0) / observed.sum(0).clamp(min=1)
    return per_column.sum()


def grouped_loss(errors: Tensor, observed: Tensor, masked: Tensor) -> Tensor:
    """Mean error over partially observed columns plus mean error over fully observed ones."""
    complete = observed.all(dim=0)
    return _mean_over(errors, observed & ~complete) + _mean_over(errors, observed & complete)


def remasker_loss(errors: Tensor, observed: Tensor, masked: Tensor) -> Tensor:
    """Mean error over masked cells plus mean error over kept cells."""
    return _mean_over(errors, observed & masked) + _mean_over(errors, observed & ~masked)


LOSSES: dict[str, Loss] = {
    "paper": paper_loss,
    "grouped": grouped_loss,
    "remasker": remasker_loss,
}
"""The losses by name; each reduces the errors of a batch."""


def reduce_errors(name: str, errors: Tensor, observed: Tensor, masked: Tensor) -> Tensor:
    """Reduce the errors of a batch by the loss of that name.

    Parameters
    ----------
    name : {"paper", "grouped", "remasker"}
        Which loss.
    errors : Tensor of shape (batch, columns)
        Error of every cell.
    observed, masked : bool Tensor of shape (batch, columns)
        Which cells are observed, and which of these are masked.
    """
    return LOSSES[name](errors, observed, masked)
