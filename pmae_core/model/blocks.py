"""The two basic blocks that an encoder or decoder stacks."""

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

    Notes
    -----
    Shape: ``(batch, tokens, width)`` in and out.
    """

    def __init__(self, *, width: int, n_tokens: int, mlp_ratio: float, dropout: float) -> None:
        super().__init__()
        self.norm_tokens = nn.LayerNorm(n_tokens)
        self.mlp_tokens = Mlp(n_tokens, int(n_tokens * mlp_ratio), drop=dropout)
        self.norm_channels = nn.LayerNorm(width)
        self.mlp_channels = Mlp(width, int(width * mlp_ratio), drop=dropout)

    def forward(self, x: Tensor, attend: Tensor | None = None) -> Tensor:
        """Mix tokens, then channels; a mixer has no attention to restrict."""
        x = x + self.mlp_tokens(self.norm_tokens(x.transpose(1, 2))).transpose(1, 2)
        return x + self.mlp_channels(self.norm_channels(x))
