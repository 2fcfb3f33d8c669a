"""The basic blocks that an encoder or decoder stacks."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch
from timm.layers import Attention, Mlp
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional


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
        """Mix tokens by attention (only toward those in ``attend``), then channels."""
        x = self.mix_tokens(x, attend)
        return x + self.mlp_channels(self.norm_channels(x))

    def mix_tokens(self, x: Tensor, attend: Tensor | None = None) -> Tensor:
        """Return the first half of the block, before channels are mixed."""
        mixed: Tensor = x + self.attention(self.norm_tokens(x), attn_mask=attend)
        return mixed


class MixerBlock(nn.Module):
    """MLP-Mixer block: an MLP along the tokens, then an MLP along the channels.

    Parameters
    ----------
    width : int
        Channels of a token.
    n_tokens : int
        Tokens of a row; the first normalization and MLP run along this axis.
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
        self.norm_tokens = nn.LayerNorm(n_tokens)
        self.mlp_tokens = Mlp(n_tokens, hidden_tokens)
        self.norm_channels = nn.LayerNorm(width)
        self.mlp_channels = Mlp(width, int(width * mlp_ratio))
        for mlp in (self.mlp_tokens, self.mlp_channels):
            mlp.drop1 = mlp.drop2 = ProductDropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Mix tokens, then channels."""
        x = self.mix_tokens(x)
        if _by_hand(x):
            channels = x.flatten(0, 1).t()
            return _add_mlp(channels, self.norm_channels, self.mlp_channels).t().view_as(x)
        return x + self.mlp_channels(self.norm_channels(x))

    def mix_tokens(self, x: Tensor) -> Tensor:
        """Return the first half of the block, before channels are mixed."""
        if _by_hand(x):
            return _add_mlp(x.flatten(1), self.norm_tokens, self.mlp_tokens).view_as(x)
        mixed: Tensor = x + self.mlp_tokens(self.norm_tokens(x.movedim(0, -1))).movedim(-1, 0)
        return mixed


def _by_hand(x: Tensor) -> bool:
    """Whether a block's gradient is the one written here: not for a compiler or other devices."""
    return (
        x.device.type == "cpu"
        and not torch.compiler.is_compiling()
        and not torch.is_autocast_enabled("cpu")
    )


class ProductDropout(nn.Dropout):
    """Dropout as a product with random factors.

    Torch cannot compile the gradient of its own where a gradient arrives transposed.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drop values while training and scale the others up."""
        if not self.training or self.p == 0:
            return x
        return x * torch.empty_like(x).bernoulli_(1 - self.p).div_(1 - self.p)


def _add_mlp(x: Tensor, norm: nn.LayerNorm, mlp: Mlp) -> Tensor:
    """Return ``x + mlp(norm(x))`` along the first axis of a matrix, on a CPU."""
    first, second, rate = mlp.fc1, mlp.fc2, mlp.drop1.p
    hidden_factors = out_factors = None
    if mlp.training and rate > 0:
        shape = (len(first.weight), x.shape[1])
        hidden_factors = _dropout_factors(rate, math.prod(shape)).view(shape)
        out_factors = _dropout_factors(rate, x.numel()).as_strided(x.shape, x.stride())
    out: Tensor = _AddMlp.apply(
        x,
        norm.weight,
        norm.bias,
        first.weight,
        first.bias,
        second.weight,
        second.bias,
        hidden_factors,
        out_factors,
        norm.eps,
    )
    return out


class _AddMlp(torch.autograd.Function):
    """Normalization, MLP with dropout, and residual in as few passes over memory as can be.

    The layers one after the other are mostly busy with memory: every one writes a matrix and
    keeps it for its gradient. Here the weights of the normalization go into the first product,
    and what can be overwritten is.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        norm_weight: Tensor,
        norm_bias: Tensor,
        weight_in: Tensor,
        bias_in: Tensor,
        weight_out: Tensor,
        bias_out: Tensor,
        hidden_factors: Tensor | None,
        out_factors: Tensor | None,
        eps: float,
    ) -> Tensor:
        centered = x - x.mean(dim=0)
        inverse_deviation = centered.square().mean(dim=0).add_(eps).rsqrt_()
        normed = centered.mul_(inverse_deviation)
        bias = torch.addmv(bias_in, weight_in, norm_bias)
        weight = weight_in * norm_weight
        # What enters is centered, so this changes nothing; and then the gradient is centered, too.
        weight = weight.sub_(weight.mean(dim=1, keepdim=True))
        hidden = torch.addmm(bias[:, None], weight, normed)
        active = _dropped(functional.gelu(hidden), hidden_factors)
        # Laid out in memory as the input is, which may be the transpose of a matrix.
        out = torch.addmm(bias_out[:, None], weight_out, active, out=torch.empty_like(x))
        ctx.save_for_backward(
            normed,
            inverse_deviation,
            hidden,
            active,
            weight,
            norm_weight,
            norm_bias,
            weight_in,
            weight_out,
            hidden_factors,
            out_factors,
        )
        return out.add_(x) if out_factors is None else torch.addcmul(x, out, out_factors)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        normed, inverse_deviation, hidden, active, weight, *rest = ctx.saved_tensors
        norm_weight, norm_bias, weight_in, weight_out, hidden_factors, out_factors = rest
        grad_out = grad if out_factors is None else grad * out_factors
        grad_weight_out = grad_out @ active.t()
        grad_active = _dropped(weight_out.t() @ grad_out, hidden_factors)
        grad_hidden = torch.ops.aten.gelu_backward.grad_input(
            grad_active, hidden, grad_input=grad_active
        )
        grad_bias = grad_hidden.sum(dim=1)
        grad_weight = (normed @ grad_hidden.t()).t()  # the faster way round for few features
        grad_normed = torch.mm(weight.t(), grad_hidden, out=torch.empty_like(normed))
        along = (grad_normed * normed).mean(dim=0)
        grad_centered = grad_normed.addcmul_(normed, along, value=-1)
        return (
            torch.addcmul(grad, grad_centered, inverse_deviation),
            (grad_weight * weight_in).sum(dim=0),
            grad_bias @ weight_in,
            torch.addr(grad_weight * norm_weight, grad_bias, norm_bias),
            grad_bias,
            grad_weight_out,
            grad_out.sum(dim=1),
            None,
            None,
            None,
        )


def _dropped(x: Tensor, factors: Tensor | None) -> Tensor:
    """Return ``x``, overwritten by its product with the factors of a dropout, if there is one."""
    return x if factors is None else x.mul_(factors)


def _dropout_factors(rate: float, n: int) -> Tensor:
    """Return what values are multiplied with: 0 for those to drop, more than 1 for the others.

    Drawing random numbers takes a third or more of a mixer's step. Here each call takes a run of
    a pool of ready factors from a random place on, so every value is dropped with the same
    probability as ever and gradients are the same in expectation.
    """
    pool = _draw_pool(rate, max(20, (4 * n).bit_length()))
    start = int(torch.randint(len(pool) - n, (1,)))
    return pool[start : start + n]


@lru_cache(maxsize=8)
def _draw_pool(rate: float, log_size: int) -> Tensor:
    # Always the same pool, so that a step's randomness depends on where it is read alone.
    kept = torch.rand(2**log_size, generator=torch.Generator().manual_seed(0)) >= rate
    return kept.float() / (1 - rate)
