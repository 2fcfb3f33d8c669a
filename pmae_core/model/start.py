"""A Gaussian's answer to the masked cells, for the network to improve on."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from pmae_core.model.tokens import ColumnLayout

# Keeps the solves stable in single precision where columns determine one another.
RIDGE = 1e-3
LEAST_PROBABILITY = 0.02
NUMBERS_PER_SOLVE = 4_000_000


class Start(NamedTuple):
    """What the Gaussian says about every cell; a kept cell is its own answer.

    Attributes
    ----------
    values : Tensor of shape (batch, columns)
        Standardised values; meaningless for categorical columns.
    probabilities : Tensor of shape (batch, categorical columns, most categories)
        Probability of each category, 0 in the padding.
    """

    values: Tensor
    probabilities: Tensor


class Expansion:
    """Columns of a table as coordinates of a Gaussian.

    A numerical column is one coordinate; a categorical one has an indicator for each category
    but the first, whose probability is what the others leave.

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
        """Return the coordinates of rows of standardised values and codes."""
        return expand(values, self.column, self.code, self.is_indicator)


def expand(values: Tensor, column: Tensor, code: Tensor, is_indicator: Tensor) -> Tensor:
    """Return one coordinate per entry of ``column``: its value, or whether it has that code."""
    cells = values[:, column]
    return torch.where(is_indicator, (cells == code).to(cells.dtype), cells)


class GaussianStart(nn.Module):
    """Conditional means of masked cells given the kept ones, under one joint Gaussian.

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
        """Return the start of a batch of standardised values and codes, in full precision."""
        with torch.autocast(values.device.type, enabled=False):
            return self._start(values, kept)

    def _start(self, values: Tensor, kept: Tensor) -> Start:
        rows = max(1, NUMBERS_PER_SOLVE // len(self.mean) ** 2)
        pieces = [
            self._conditional_mean(v, k)
            for v, k in zip(values.split(rows), kept.split(rows), strict=True)
        ]
        coordinates = torch.cat(pieces)
        started = values.clone()
        started[:, self.column[~self.is_indicator]] = coordinates[:, ~self.is_indicator]
        started = torch.where(kept, values, started)
        return Start(started, self._probabilities(coordinates))

    def _conditional_mean(self, values: Tensor, kept: Tensor) -> Tensor:
        coordinates = expand(values, self.column, self.code, self.is_indicator)
        known = kept[:, self.column].to(self.mean.dtype)
        # Unknown coordinates get a row of the identity and a zero: they solve to zero.
        matrix = self.covariance * known[:, :, None] * known[:, None, :]
        diagonal = matrix.diagonal(dim1=1, dim2=2)
        diagonal += RIDGE * self.covariance.diagonal() * known + (1 - known)
        factor = torch.linalg.cholesky_ex(matrix).L
        deviation = ((coordinates - self.mean) * known).unsqueeze(-1)
        weights = torch.cholesky_solve(deviation, factor).squeeze(-1)
        expected = self.mean + weights @ self.covariance
        return torch.where(known.bool(), coordinates, expected)

    def _probabilities(self, coordinates: Tensor) -> Tensor:
        cells = self.n_categorical * self.most_categories
        table = coordinates.new_zeros(len(coordinates), cells)
        table[:, self.indicator_cell] = coordinates[:, self.is_indicator].clamp(0, 1)
        table = table.view(len(table), self.n_categorical, self.most_categories)
        table[..., 0] = (1 - table[..., 1:].sum(dim=-1)).clamp(0, 1)
        return functional.normalize(table, p=1.0, dim=-1)


def log_probabilities(probabilities: Tensor) -> Tensor:
    """Return logits of the start, bounded so that the network can still change its mind."""
    return probabilities.clamp(min=LEAST_PROBABILITY).log()
