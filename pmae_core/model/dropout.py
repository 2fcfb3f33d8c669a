"""Dropout as a product with random factors, and a pool of such factors."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor, nn


class ProductDropout(nn.Dropout):
    """Dropout as a product with random factors.

    Torch cannot compile the gradient of ``nn.Dropout`` where a gradient arrives transposed.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop values during training and scale the others up."""
        if not self.training or self.p == 0:
            return x
        return x * torch.empty_like(x).bernoulli_(1 - self.p).div_(1 - self.p)


def dropout_factors(rate: float, n: int) -> Tensor:
    """Return ``n`` factors for values: 0 to drop one, ``1 / (1 - rate)`` to keep it.

    Drawing random numbers takes a third or more of a mixer's step. Here each call reads a slice
    of a pool of factors from a random offset. Every value is still dropped with probability
    ``rate``, and gradients are the same in expectation.
    """
    pool = _draw_pool(rate, max(20, (4 * n).bit_length()))
    start = int(torch.randint(len(pool) - n, (1,)))
    return pool[start : start + n]


@lru_cache(maxsize=8)
def _draw_pool(rate: float, log_size: int) -> Tensor:
    # Always the same pool, so that the randomness of a step depends on the offset alone.
    kept = torch.rand(2**log_size, generator=torch.Generator().manual_seed(0)) >= rate
    return kept.float() / (1 - rate)
