"""The network in its simplest form: batch first, ordinary layers, no optimization.

The reference for the fast network, which must equal it except for the random numbers of dropout.
"""

from __future__ import annotations

from timm.layers import Mlp
from torch import Tensor, nn

from pmae_core.model import MaskedAutoencoder


class PlainMixerBlock(nn.Module):
    """The mixer block with the batch first and with ordinary layers."""

    def __init__(self, *, width: int, n_tokens: int, mlp_ratio: float, dropout: float) -> None:
        super().__init__()
        self.norm_tokens = nn.LayerNorm(n_tokens)
        self.mlp_tokens = Mlp(n_tokens, int(n_tokens * mlp_ratio), drop=dropout)
        self.norm_channels = nn.LayerNorm(width)
        self.mlp_channels = Mlp(width, int(width * mlp_ratio), drop=dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Mix tokens, then channels; ``(batch, tokens, width)`` in and out."""
        x = x + self.mlp_tokens(self.norm_tokens(x.transpose(1, 2))).transpose(1, 2)
        return x + self.mlp_channels(self.norm_channels(x))


class PlainMixerNetwork(MaskedAutoencoder):
    """The paper's mixer network with plain blocks."""

    def _stack(self, depth: int, n_tokens: int) -> nn.ModuleList:
        config = self.config
        return nn.ModuleList(
            PlainMixerBlock(
                width=config.width,
                n_tokens=n_tokens,
                mlp_ratio=config.mlp_ratio,
                dropout=config.dropout,
            )
            for _ in range(depth)
        )

    def _through(self, blocks: nn.ModuleList, x: Tensor, attend: Tensor | None = None) -> Tensor:
        for block in blocks:
            x = block(x)
        return x
