"""The blocks that an encoder or decoder stacks."""

from __future__ import annotations

from timm.layers import Attention, Mlp
from torch import Tensor, nn

from pmae_core.model.dropout import ProductDropout
from pmae_core.model.residual_mlp import add_mlp, can_add_mlp


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
        Upper bound on the hidden units of the MLP along the tokens, so that it grows with the
        tokens and not with their square; ``None`` for no bound.

    Notes
    -----
    Shape: ``(tokens, batch, width)`` in and out. With the tokens first, both MLPs are
    products with long contiguous rows, and nothing is transposed: on a CPU this makes
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
        if can_add_mlp(x):
            channels = x.flatten(0, 1).t()
            return add_mlp(channels, self.norm_channels, self.mlp_channels).t().view_as(x)
        return x + self.mlp_channels(self.norm_channels(x))

    def mix_tokens(self, x: Tensor) -> Tensor:
        """Return the first half of the block, before channels are mixed."""
        if can_add_mlp(x):
            return add_mlp(x.flatten(1), self.norm_tokens, self.mlp_tokens).view_as(x)
        mixed: Tensor = x + self.mlp_tokens(self.norm_tokens(x.movedim(0, -1))).movedim(-1, 0)
        return mixed
