"""A Gaussian's estimate of the cells that are not kept, for the network to improve on."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from pmae_core.gaussian import MIN_VARIANCE
from pmae_core.model.tokens import ColumnLayout

# Keeps the solution stable in single precision where columns determine one another.
RIDGE = 1e-3
MIN_PROBABILITY = 0.02
# On the tables of the paper the solution no longer changes after 10 to 20 iterations.
MAX_ITERATIONS = 20


class Start(NamedTuple):
    """The Gaussian's estimate of every cell; a kept cell keeps its value.

    Attributes
    ----------
    values : Tensor of shape (batch, columns)
        Standardized values; meaningless for categorical columns.
    probabilities : Tensor of shape (batch, categorical columns, most categories)
        Probability of each category, 0 in the padding.
    """

    values: Tensor
    probabilities: Tensor


class Expansion:
    """Columns of a table as coordinates of a Gaussian.

    A numerical column is one coordinate; a categorical one has an indicator for each category
    except the first, whose probability is 1 minus that of the others.

    Parameters
    ----------
    n_categories : sequence of int
        Categories of each column, 0 for a numerical one.
    """

    def __init__(self, n_categories: Sequence[int]) -> None:
        coordinates = [
            (column, code)
            for column, count in enumerate(n_categories)
            for code in (range(1, count) if count else [0])
        ]
        self.column = torch.tensor([column for column, _ in coordinates], dtype=torch.long)
        self.code = torch.tensor([code for _, code in coordinates], dtype=torch.float32)
        self.is_indicator = torch.tensor([n_categories[c] > 0 for c, _ in coordinates])

    def __len__(self) -> int:
        return len(self.column)

    def expand(self, values: Tensor) -> Tensor:
        """Return the coordinates of rows of standardized values and codes."""
        return expand(values, self.column, self.code, self.is_indicator)


def expand(values: Tensor, column: Tensor, code: Tensor, is_indicator: Tensor) -> Tensor:
    """Return one coordinate per entry of ``column``: its value, or whether it has that code."""
    cells = values[:, column]
    return torch.where(is_indicator, (cells == code).to(cells.dtype), cells)


class GaussianStart(nn.Module):
    """Conditional means of all other cells given the kept ones, under one joint Gaussian.

    Parameters
    ----------
    n_categories : sequence of int
        Categories of each column, 0 for a numerical one.
    mean : Tensor of shape (coordinates,)
    covariance : Tensor of shape (coordinates, coordinates)
        The Gaussian, on the coordinates of :class:`Expansion`.
    """

    mean: Tensor
    covariance: Tensor
    column: Tensor
    code: Tensor
    is_indicator: Tensor
    indicator_cell: Tensor

    def __init__(
        self,
        n_categories: Sequence[int],
        mean: Tensor | None = None,
        covariance: Tensor | None = None,
    ) -> None:
        super().__init__()
        expansion = Expansion(n_categories)
        size = len(expansion)
        self.register_buffer("mean", torch.zeros(size) if mean is None else mean)
        self.register_buffer("covariance", torch.eye(size) if covariance is None else covariance)
        for name in ("column", "code", "is_indicator"):
            self.register_buffer(name, getattr(expansion, name), persistent=False)
        layout = ColumnLayout.of(n_categories)
        self.n_categorical = len(layout.categorical)
        self.most_categories = max(layout.n_categories, default=1)
        rank = {column: index for index, column in enumerate(layout.categorical)}
        places = [
            rank[int(column)] * self.most_categories + int(code)
            for column, code in zip(expansion.column, expansion.code, strict=True)
            if n_categories[int(column)] > 0
        ]
        self.register_buffer("indicator_cell", torch.tensor(places).long(), persistent=False)

    @torch.no_grad()
    def forward(self, values: Tensor, kept: Tensor) -> Start:
        """Return the start of a batch of standardized values and codes, in full precision."""
        with torch.autocast(values.device.type, enabled=False):
            return self._start(values, kept)

    def _start(self, values: Tensor, kept: Tensor) -> Start:
        coordinates = self._conditional_mean(values, kept)
        started = values.clone()
        started[:, self.column[~self.is_indicator]] = coordinates[:, ~self.is_indicator]
        started = torch.where(kept, values, started)
        return Start(started, self._probabilities(coordinates))

    def _conditional_mean(self, values: Tensor, kept: Tensor) -> Tensor:
        """Return coordinates; those of cells not kept at their mean given the kept ones."""
        coordinates = expand(values, self.column, self.code, self.is_indicator)
        given = kept[:, self.column]
        deviation = self.covariance.diagonal().clamp(min=MIN_VARIANCE).sqrt()
        correlation = self.covariance / deviation / deviation[:, None]
        weights = _solve_given(correlation, (coordinates - self.mean) / deviation, given)
        expected = self.mean + (weights @ correlation) * deviation
        return torch.where(given, coordinates, expected)

    def _probabilities(self, coordinates: Tensor) -> Tensor:
        cells = self.n_categorical * self.most_categories
        table = coordinates.new_zeros(len(coordinates), cells)
        table[:, self.indicator_cell] = coordinates[:, self.is_indicator].clamp(0, 1)
        table = table.view(len(table), self.n_categorical, self.most_categories)
        table[..., 0] = (1 - table[..., 1:].sum(dim=-1)).clamp(0, 1)
        return functional.normalize(table, p=1.0, dim=-1)


def _solve_given(correlation: Tensor, scores: Tensor, given: Tensor) -> Tensor:
    """Return weights ``w`` that solve ``C[g, g] @ w[g] = scores[g]`` and are zero elsewhere.

    Every row has its own given coordinates ``g``, but all share the correlation ``C`` (with a
    small ridge). So conjugate gradients need no matrix per row: an iteration is one product of
    all rows with ``C``, and the cost grows with the square of the coordinates, not the cube.
    """
    mask = given.to(scores.dtype)
    residual = scores * mask
    direction = residual
    weights = torch.zeros_like(residual)
    size = residual.square().sum(dim=1, keepdim=True)
    tiny = torch.finfo(size.dtype).tiny
    for _ in range(min(MAX_ITERATIONS, len(correlation))):
        product = torch.addcmul(RIDGE * direction, direction @ correlation, mask)
        step = size / (direction * product).sum(dim=1, keepdim=True).clamp(min=tiny)
        weights = torch.addcmul(weights, step, direction)
        residual = torch.addcmul(residual, step, product, value=-1)
        before, size = size, residual.square().sum(dim=1, keepdim=True)
        direction = torch.addcmul(residual, size / before.clamp(min=tiny), direction)
    return weights


def log_probabilities(probabilities: Tensor) -> Tensor:
    """Return logits of the start, bounded so that the network can still correct them."""
    return probabilities.clamp(min=MIN_PROBABILITY).log()
