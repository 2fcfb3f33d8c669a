"""The basic blocks that an encoder or decoder stacks."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from timm.layers import Attention, Mlp
from torch import Tensor, nn


class TransformerBlock(nn.Module):
    """Plain pre-norm transformer block.

    Parameters
    ----------
    width : int
        Channels of a token.
    heads : int
        Attention heads; must divide ``width``.
    mlp_ratio : float
        Hidden width of the MLP as a multiple of ``width``.

    Notes
    -----
    Shape: ``(batch, tokens, width)`` in and out.
    """

    def __init__(self, *, width: int, heads: int, mlp_ratio: float) -> None:
        super().__init__()
        self.norm_tokens = nn.LayerNorm(width)
        self.attention = Attention(width, num_heads=heads, qkv_bias=True)
        self.norm_channels = nn.LayerNorm(width)
        self.mlp_channels = Mlp(width, int(width * mlp_ratio))

    def forward(self, x: Tensor, attend: Tensor | None = None) -> Tensor:
        """Mix tokens by attention (only towards those in ``attend``), then channels."""
        x = x + self.attention(self.norm_tokens(x), attn_mask=attend)
        return x + self.mlp_channels(self.norm_channels(x))


class MixerBlock(nn.Module):
    """MLP-Mixer block: an MLP along the tokens, then an MLP along the channels.

    Parameters
    ----------
    width : int
        Channels of a token.
    n_tokens : int
        Tokens of a row; the first normalisation and MLP run along this axis.
    mlp_ratio : float
        Hidden width of both MLPs as a multiple of their input.
    dropout : float
        Dropout after the activation and after the output of both MLPs.
    mixing_width : int, optional
        Most hidden units of the MLP along the tokens, so that it grows with the tokens and not
        with their square; ``None`` for no bound.

    Notes
    -----
    Shape: ``(tokens, batch, width)`` in and out. With the tokens first, both MLPs are
    products with long contiguous rows, and nothing has to be transposed: on a CPU that makes
    products with as few tokens as a table has columns two to three times faster.
    """

    def __init__(
        self,
        *,
        width: int,
        n_tokens: int,
        mlp_ratio: float,
        dropout: float,
        mixing_width: int | None = None,
    ) -> None:
        super().__init__()
        hidden_tokens = int(n_tokens * mlp_ratio)
        if mixing_width is not None:
            hidden_tokens = min(hidden_tokens, mixing_width)
        self.norm_tokens = FirstAxisNorm(n_tokens)
        self.mlp_tokens = FirstAxisMlp(n_tokens, hidden_tokens)
        self.norm_channels = nn.LayerNorm(width)
        self.mlp_channels = Mlp(width, int(width * mlp_ratio))
        for mlp in (self.mlp_tokens, self.mlp_channels):
            mlp.drop1, mlp.drop2 = PooledDropout(dropout), PooledDropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Mix tokens, then channels."""
        tokens = x.flatten(1)
        x = x + self.mlp_tokens(self.norm_tokens(tokens)).view_as(x)
        return x + self.mlp_channels(self.norm_channels(x))


class FirstAxisNorm(nn.Module):
    """Layer normalisation along the first axis.

    Parameters
    ----------
    size : int
        Length of that axis.
    eps : float
        Added to the variance.

    Notes
    -----
    Shape: ``(size, n)`` in and out.
    """

    def __init__(self, size: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise every column of ``x``."""
        normed: Tensor = _NormaliseFirstAxis.apply(x, self.weight, self.bias, self.eps)
        return normed


class _NormaliseFirstAxis(torch.autograd.Function):
    """The normalisation with its gradient written out, in few passes over the data."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
        centred = x - x.mean(dim=0)
        inverse_deviation = centred.square().mean(dim=0).add_(eps).rsqrt_()
        normed = centred.mul_(inverse_deviation)
        ctx.save_for_backward(normed, inverse_deviation, weight)
        return torch.addcmul(bias[:, None], normed, weight[:, None])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        normed, inverse_deviation, weight = ctx.saved_tensors
        weighted = grad * weight[:, None]
        along = (weighted * normed).mean(dim=0)
        grad_x = weighted.sub_(weighted.mean(dim=0)).addcmul_(normed, along, value=-1)
        return grad_x.mul_(inverse_deviation), (grad * normed).sum(dim=1), grad.sum(dim=1), None


class FirstAxisMlp(Mlp):
    """An MLP along the first axis; timm's is along the last.

    Notes
    -----
    Shape: ``(features, n)`` in and out.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Map every column of ``x``."""
        hidden = self.drop1(self.act(_linear_first_axis(self.fc1, x)))
        out: Tensor = self.drop2(_linear_first_axis(self.fc2, hidden))
        return out


def _linear_first_axis(layer: nn.Module, x: Tensor) -> Tensor:
    weight, bias = layer.parameters()
    return torch.addmm(bias[:, None], weight, x)


class PooledDropout(nn.Dropout):
    """Dropout that reads its random numbers from a pool instead of drawing them.

    On a CPU, drawing takes a third or more of a mixer's step. Here each call takes a
    run of a pool of ready masks from a random place on, so every cell is dropped with the same
    probability as ever and gradients are the same in expectation. Other devices draw. The input
    is overwritten, which is for layers before it whose gradient does not need their output.

    Parameters
    ----------
    p : float
        Probability that a value is dropped.
    """

    def __init__(self, p: float) -> None:
        super().__init__(p, inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        """Drop values while training and scale the others up."""
        if not self.training or self.p == 0.0:
            return x
        if x.device.type != "cpu":
            return super().forward(x)
        pool = _pool(self.p, x.numel())
        start = int(torch.randint(len(pool) - x.numel(), (1,)))
        return x.mul_(pool[start : start + x.numel()].view_as(x))


def _pool(rate: float, needed: int) -> Tensor:
    """Return a pool at least four times as long as what is needed at a time."""
    return _draw_pool(rate, max(20, (4 * needed).bit_length()))


@lru_cache(maxsize=8)
def _draw_pool(rate: float, log_size: int) -> Tensor:
    # Always the same pool, so that a step's randomness depends on where it is read alone.
    kept = torch.rand(2**log_size, generator=torch.Generator().manual_seed(0)) >= rate
    return kept.float() / (1 - rate)
