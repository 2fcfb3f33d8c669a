"""``x + mlp(norm(x))`` with a hand-written gradient, the fast way to compute it on a CPU."""

from __future__ import annotations

import math
from typing import Any

import torch
from timm.layers import Mlp
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from pmae_core.model.dropout import dropout_factors


def can_add_mlp(x: Tensor) -> bool:
    """Return whether :func:`add_mlp` works here: on a CPU, neither compiled nor in autocast."""
    return (
        x.device.type == "cpu"
        and not torch.compiler.is_compiling()
        and not torch.is_autocast_enabled("cpu")
    )


def add_mlp(x: Tensor, norm: nn.LayerNorm, mlp: Mlp) -> Tensor:
    """Return ``x + mlp(norm(x))`` along the first axis of a matrix, on a CPU."""
    first, second, rate = mlp.fc1, mlp.fc2, mlp.drop1.p
    hidden_factors = out_factors = None
    if mlp.training and rate > 0:
        shape = (len(first.weight), x.shape[1])
        hidden_factors = dropout_factors(rate, math.prod(shape)).view(shape)
        out_factors = dropout_factors(rate, x.numel()).as_strided(x.shape, x.stride())
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
    """Normalization, MLP with dropout, and residual in as few passes over memory as possible.

    Separate layers spend most of their time on memory: each writes a matrix and keeps it for its
    gradient. Here the weights of the normalization go into the first product, and matrices that
    are no longer needed are overwritten.
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
        # The input is centered, so this changes nothing; and it makes the gradient centered, too.
        weight = weight.sub_(weight.mean(dim=1, keepdim=True))
        hidden = torch.addmm(bias[:, None], weight, normed)
        active = _dropped(functional.gelu(hidden), hidden_factors)
        # With the memory layout of the input, which may be the transpose of a matrix.
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
        grad_weight = (normed @ grad_hidden.t()).t()  # the faster order for few features
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
    """Multiply ``x`` in place by the factors of a dropout, if there are any; return it."""
    return x if factors is None else x.mul_(factors)
