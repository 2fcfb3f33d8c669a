"""From cells to tokens, and from tokens back to predictions."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn


def sincos_positions(n_positions: int, width: int) -> Tensor:
    """Return fixed sine-cosine positions, ``(n_positions, width)``, sines first."""
    half = width // 2
    frequencies = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = torch.arange(n_positions, dtype=torch.float64)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


class ColumnLayout(NamedTuple):
    """Positions of the categorical columns, and how many categories they have."""

    categorical: list[int]
    n_categories: list[int]

    @classmethod
    def of(cls, n_categories: Sequence[int]) -> "ColumnLayout":
        """Build the layout from one count per column, 0 for a numerical one."""
        positions = [j for j, count in enumerate(n_categories) if count > 0]
        return cls(positions, [n_categories[j] for j in positions])


class SharedTokenizer(nn.Module):
    """The paper's token: one weight and one bias shared by all columns.

    Cells that are not kept enter as value 0.

    Notes
    -----
    Shape: ``(batch, columns)`` to ``(batch, columns, width)``.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(1, width)

    def forward(self, values: Tensor, kept: Tensor) -> Tensor:
        """Tokenize the kept cells; all others count as zero."""
        return self.project((values * kept).unsqueeze(-1))


class ColumnTokenizer(nn.Module):
    """One token per column, category and missing cell.

    A numerical cell is ``value * weight_j + bias_j``, a categorical one the embedding of
    its category, and a cell that is not kept the learned missing token of its column.

    Parameters
    ----------
    n_categories : sequence of int
        Categories of each column, 0 for a numerical one.
    width : int
        Channels of a token.
    start : bool
        Whether cells that are not kept come with a first guess, which is added to their token.

    Notes
    -----
    Shape: ``(batch, columns)`` to ``(batch, columns, width)``. Categorical values are codes.
    """

    categorical: Tensor
    offsets: Tensor
    category_rows: Tensor

    def __init__(self, *, n_categories: Sequence[int], width: int, start: bool = False) -> None:
        super().__init__()
        n_columns = len(n_categories)
        layout = ColumnLayout.of(n_categories)
        self.weight = nn.Parameter(torch.randn(n_columns, width) * 0.5)
        self.bias = nn.Parameter(torch.zeros(n_columns, width))
        self.missing = nn.Parameter(torch.randn(n_columns, width) * 0.02)
        self.register_buffer("categorical", torch.tensor(layout.categorical), persistent=False)
        starts = torch.tensor([0, *layout.n_categories]).cumsum(0)[:-1]
        self.register_buffer("offsets", starts, persistent=False)
        self.categories = nn.Embedding(max(1, sum(layout.n_categories)), width)
        nn.init.normal_(self.categories.weight, std=0.5)
        most = max(layout.n_categories, default=1)
        within = torch.arange(most) < torch.tensor(layout.n_categories).view(-1, 1)
        rows = torch.where(within, starts.view(-1, 1) + torch.arange(most), 0)
        self.register_buffer("category_rows", rows, persistent=False)
        self.start_weight = nn.Parameter(torch.randn(n_columns, width) * 0.5) if start else None

    def forward(
        self,
        values: Tensor,
        kept: Tensor,
        guess: Tensor | None = None,
        probabilities: Tensor | None = None,
    ) -> Tensor:
        """Tokenize the kept cells; every other cell becomes its column's missing token."""
        tokens = values.unsqueeze(-1) * self.weight + self.bias
        if len(self.categorical):
            codes = values[:, self.categorical].long() + self.offsets
            tokens[:, self.categorical] = (self.categories(codes) + self.bias[self.categorical]).to(
                tokens.dtype
            )
        missing: Tensor = self.missing
        if guess is not None and probabilities is not None and self.start_weight is not None:
            missing = missing + guess.unsqueeze(-1) * self.start_weight
            if len(self.categorical):
                embeddings = self.categories.weight[self.category_rows]
                expected = torch.einsum("bjk,jkw->bjw", probabilities, embeddings)
                missing = missing.index_copy(
                    1, self.categorical, self.missing[self.categorical] + expected
                )
        return torch.where(kept.unsqueeze(-1), tokens, missing)


class CategoryHeads(nn.Module):
    """Softmax heads of all categorical columns as one padded product.

    Parameters
    ----------
    n_categories : sequence of int
        Categories of each categorical column.
    width : int
        Channels of a token.

    Notes
    -----
    Shape: ``(batch, categorical columns, width)`` to
    ``(batch, categorical columns, most categories)``; the padding has logit ``-inf``.
    """

    padding: Tensor

    def __init__(self, *, n_categories: Sequence[int], width: int) -> None:
        super().__init__()
        most = max(n_categories)
        self.weight = nn.Parameter(torch.randn(len(n_categories), most, width) * width**-0.5)
        self.bias = nn.Parameter(torch.zeros(len(n_categories), most))
        beyond = torch.arange(most) >= torch.tensor(n_categories)[:, None]
        self.register_buffer("padding", beyond, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits of every category of every categorical column."""
        logits = torch.einsum("bjw,jkw->bjk", tokens, self.weight) + self.bias
        return logits.masked_fill(self.padding, float("-inf"))
