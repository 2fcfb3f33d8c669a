"""Settings of the network."""

from dataclasses import dataclass
from typing import Literal

from pmae_core.checks import check_at_least, check_choices


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Shape of the network; the defaults are the paper's.

    Parameters
    ----------
    architecture : {"mixer", "transformer"}
        Which block is stacked.
    categorical : {"scalar", "softmax"}
        ``scalar`` encodes a category as a number in [0, 1] (the paper); ``softmax`` gives every
        category an embedding and a logit, and every column its own weights.
    width, encoder_depth, decoder_depth, heads, mlp_ratio, dropout
        Size of the blocks. Only the mixer has dropout.
    mixing_width : int, optional
        Upper bound on the hidden units of a mixer's MLP along the columns; ``None`` for none.
    drop_masked : bool
        Whether the encoder attends to kept cells only (ReMasker); transformer only.
    start : {"none", "gaussian"}
        ``gaussian`` gives the network a joint Gaussian's conditional means for the cells that are
        not kept, and lets it learn the difference; softmax only.
    """

    architecture: Literal["mixer", "transformer"] = "mixer"
    categorical: Literal["scalar", "softmax"] = "scalar"
    width: int = 32
    encoder_depth: int = 6
    decoder_depth: int = 4
    heads: int = 4
    mlp_ratio: float = 4.0
    dropout: float = 0.1
    mixing_width: int | None = None
    drop_masked: bool = False
    start: Literal["none", "gaussian"] = "none"

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for settings that no network can have."""
        check_choices(self)
        check_at_least(self, encoder_depth=0, decoder_depth=0, heads=1, mixing_width=1)
        if self.mlp_ratio <= 0:
            raise ValueError(f"mlp_ratio must be positive, got {self.mlp_ratio}.")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {self.dropout}.")
        if self.width % 2 or self.width < 2:
            raise ValueError(f"width must be an even number of at least 2, got {self.width}.")
        if self.architecture == "transformer" and self.width % self.heads:
            raise ValueError(f"heads ({self.heads}) must divide width ({self.width}).")
        if self.drop_masked and self.architecture != "transformer":
            raise ValueError("drop_masked needs architecture='transformer'.")
        if self.start == "gaussian" and self.categorical != "softmax":
            raise ValueError("start='gaussian' needs categorical='softmax'.")
